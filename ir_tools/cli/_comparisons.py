"""Print comparisons: the layers and outputs of each, what is known of them, and how to repeat them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ir_tools.cli.app import Row
from ir_tools.cli.arrays import show_plan
from ir_tools.cli.screen import number, plural
from ir_tools.display import sufficient

if TYPE_CHECKING:
    from ir_tools.cli.screen import Column, Screen
    from ir_tools.comparison import Comparison, Difference, LayerComparison
    from ir_tools.inputs import InputPlan

__all__ = ["known_words", "show_comparison", "show_comparisons", "show_layers"]

SHOWN = 12
"""Layers that are listed without `--all`."""


def show_comparison(screen: "Screen", found: "Comparison", data: Row, plan: "InputPlan", *, everything: bool) -> None:
    """Print one comparison; `everything`: with all layers."""
    from ir_tools.comparison import narrow_note, place, weak_notes

    screen.line(f"{found.mode}: {place(found)}, against {found.second}", style="dim")
    compared = [entry for entry in found.layers if entry.status != "skipped"]
    shown = found.layers if everything or len(found.layers) <= SHOWN else _worst(found)
    if shown:
        heading = f"Largest differences: {plural(len(shown), 'layer')} (--all lists {len(found.layers)})"
        screen.heading("Layers" if len(shown) == len(found.layers) else heading)
        show_layers(screen, found, shown)
    screen.heading(f"Outputs of the model: {' against '.join(found.output_sides)}")
    _show_outputs(screen, found)
    show_plan(screen, plan)
    note = narrow_note(found)
    if note is not None:
        screen.line()
        screen.line(note, style="yellow")
    for text in weak_notes(found):
        screen.line()
        screen.line(text, style="yellow")
    _show_verdict(screen, found, len(compared))
    for text in known_words(data):
        screen.line(text, style="yellow")
    part = data.get("part")
    if "part" in data and part is None:
        screen.line("no part was written, because nothing differs")
    if isinstance(part, dict):
        screen.line(f"smallest part that differs ({plural(part['layers'], 'layer')}): {part['written']}")
        screen.line(f"to compare only this part: {part['replay']}", style="dim")
    _show_end(screen, data)


def show_comparisons(
    screen: "Screen", made: "Sequence[tuple[Comparison, Row]]", data: Row, plan: "InputPlan", *, everything: bool
) -> None:
    """Print each comparison, and a table of all."""
    from ir_tools.cli.screen import Column
    from ir_tools.comparison import first_name

    for at, (found, one) in enumerate(made):
        if at:
            screen.line()
        show_comparison(screen, found, {**one, "replay": None}, plan, everything=everything)
    columns = [Column("against", fold=True), Column("needs", right=True), Column("first difference", fold=True)]
    rows = [
        [found.second, sufficient(found.needed), first_name(found), "ok" if found.ok else "differs"]
        for found, _ in made
    ]
    screen.heading("Summary")
    screen.table([*columns, Column("result", keep=True)], rows, ["" if found.ok else "red" for found, _ in made])
    _show_end(screen, data)


def _show_end(screen: "Screen", data: Row) -> None:
    """Print what was written, and the command to repeat it."""
    for key in ("report", "saved"):
        if key in data:
            screen.line(f"wrote {data[key]}")
    if data["replay"]:
        screen.line(f"again: {data['replay']}", style="dim")


def _worst(found: "Comparison") -> "Sequence[LayerComparison]":
    """Return the layers that differ or need the largest part of their tolerance, in the order of execution."""
    first = found.first_difference
    unequal = [entry for entry in found.layers if entry.share > 0]
    worst = sorted(unequal, key=lambda entry: entry.share, reverse=True)[:SHOWN]
    return [entry for entry in found.layers if entry in worst or entry is first]


def _columns() -> "list[Column]":
    from ir_tools.cli.screen import Column

    spare = ("at", "allowed", "undefined")
    names = ("max abs", "at", "max rel", "needs", "allowed", "undefined")
    return [Column(name, right=True, spare=name in spare) for name in names]


def _closer_column(closer: bool) -> "list[Column]":
    from ir_tools.cli.screen import Column

    return [Column("closer to f64")] if closer else []


def _cells(difference: "Difference | None") -> list[str]:
    if difference is None:
        return ["-"] * len(_columns())
    return [
        number(difference.max_abs),
        ",".join(map(str, difference.max_abs_at)) if difference.max_abs_at is not None else "-",
        number(difference.max_rel),
        sufficient(difference.needed),
        number(difference.tolerance),
        str(difference.undefined),
    ]


def show_layers(screen: "Screen", found: "Comparison", layers: "Sequence[LayerComparison]") -> None:
    """Print a table of layers, and what is noted of them."""
    from ir_tools.cli.screen import Column
    from ir_tools.comparison import closer_words, f64_note

    renamed = any(entry.counterpart != entry.path for entry in layers) if found.other else False
    other = [Column("in the other model", fold=True)] if renamed else []
    columns = [Column("layer", fold=True), *other, Column("operation"), Column("type", spare=True)]
    closer = any(entry.f64 for entry in layers)
    columns += [Column("shape", spare=True), *_columns(), *_closer_column(closer), Column("result", keep=True)]
    rows = [
        [
            entry.path + (f".{entry.output}" if entry.output else ""),
            *([entry.counterpart or "-"] if renamed else []),
            entry.op,
            entry.element_type or "-",
            "-" if entry.shape is None else ",".join(map(str, entry.shape)),
            *_cells(entry.difference),
            *([closer_words(entry.f64, found.layer_sides) or "-"] if closer else []),
            entry.status,
        ]
        for entry in layers
    ]
    screen.table(columns, rows, [_STYLES[entry.status] for entry in layers])
    for entry in layers:
        if entry.reason:
            screen.line(f"{entry.path}: {entry.status}: {entry.reason}", style="yellow")
        if entry.f64:
            screen.line(f"{entry.path}: {f64_note(entry.f64, found.layer_sides)}", style="yellow")


_STYLES: Mapping[str, str] = {"ok": "", "differs": "red", "skipped": "dim"}


def _show_outputs(screen: "Screen", found: "Comparison") -> None:
    from ir_tools.cli.screen import Column
    from ir_tools.comparison import closer_words, f64_note

    renamed = any(entry.counterpart != entry.name for entry in found.outputs) if found.other else False
    other = [Column("in the other model", fold=True)] if renamed else []
    columns = [Column("output", fold=True), *other, Column("type", spare=True), Column("shape", spare=True)]
    closer = any(entry.f64 for entry in found.outputs)
    columns += [*_columns(), *_closer_column(closer), Column("result", keep=True)]
    rows = [
        [
            entry.name,
            *([entry.counterpart or "-"] if renamed else []),
            entry.element_type,
            ",".join(map(str, entry.shape)) or "[]",
            *_cells(entry.difference),
            *([closer_words(entry.f64, found.output_sides) or "-"] if closer else []),
            "ok" if entry.ok else "differs",
        ]
        for entry in found.outputs
    ]
    screen.table(columns, rows, ["" if entry.ok else "red" for entry in found.outputs])
    for entry in found.outputs:
        if entry.reason:
            screen.line(f"{entry.name}: {entry.reason}", style="yellow")
        if entry.f64:
            screen.line(f"{entry.name}: {f64_note(entry.f64, found.output_sides)}", style="yellow")


def _show_verdict(screen: "Screen", found: "Comparison", compared: int) -> None:
    from ir_tools.comparison import compared_words, difference_words, first_name, outputs_words, rounding_note

    layers = plural(compared, "tensor")
    if found.without_kernel:
        screen.line()
        what = plural(found.without_kernel, "tensor")
        screen.line(f"{what} computed by the runtime, one layer at a time, because the reference has no kernel.")
    first = found.first_difference
    if first is None:
        beyond = " beyond the tolerance" if found.needed else ""
        text = f"No difference{beyond} in {compared_words(found)}"
        text += f", {found.samples} samples" if found.samples > 1 else ""
        text += f"; a tolerance of {sufficient(found.needed)} would pass" if found.needed else ""
        screen.verdict(f"{text}.", good=True)
        return
    name = first_name(found)
    text = f"{outputs_words(found)}. " if found.outputs and found.mode != "isolated" else ""
    text += f"{rounding_note(found)}; the first is '{name}'" if found.ok else f"The first difference is '{name}'"
    if found.mode == "isolated" and first in found.outputs:
        text = f"{layers} agree, but making their tensors outputs changed the output '{name}' of the runtime"
    if getattr(first, "iteration", None) is not None:
        text += f" in iteration {getattr(first, 'iteration', 0) + 1} of its body"
    if found.samples > 1:
        text += f" in sample {first.sample + 1} of {found.samples}"
    if first.difference is not None:
        text += f": {difference_words(first, found)}"
    screen.verdict(f"{text}.", good=found.ok)


def known_words(data: Row) -> list[str]:
    """Return a sentence for each known difference of a release, with its first layer."""
    known, groups = data.get("known"), dict[tuple[str, str], list[Row]]()
    for one in known if isinstance(known, list) else ():
        groups.setdefault((one["release"], one["reason"]), []).append(one)
    here = ", which this comparison does not show" if data["ok"] else ""
    return [f"known of {release}{here}: {_layer_words(rows)}: {reason}" for (release, reason), rows in groups.items()]


def _layer_words(rows: Sequence[Row]) -> str:
    first = rows[0]
    more = f" and {plural(len(rows) - 1, 'more layer')}" if len(rows) > 1 else ""
    return f"'{first['path']}' (line {first['line']}){more}" if first["path"] else "the model"
