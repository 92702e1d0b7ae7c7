"""What `migrate` prints for people: the steps, what was refused, the comparison of both models, the verdict."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ir_tools.cli._onnx import show_engines
from ir_tools.cli.app import Row, rows_of
from ir_tools.display import number, plural, sufficient, without_build

if TYPE_CHECKING:
    from ir_tools.cli.screen import Screen
    from ir_tools.rewrite.migration import Migration
    from ir_tools.rewrite.steps import MigrationStep

__all__ = ["difference_of", "show_migration"]


def show_migration(screen: "Screen", migration: "Migration", data: Row, every: bool) -> None:
    _show_steps(screen, migration, every)
    _show_remaining(screen, migration)
    checked = data["verified"]
    if isinstance(checked, dict):
        _show_verification(screen, checked)
    rounded = data["int8"]
    if isinstance(rounded, dict):
        _show_measured(screen, rounded)
    _show_verdict(screen, migration, data)


def _show_measured(screen: "Screen", rounded: Row) -> None:
    if "error" in rounded:
        screen.line(f"the effect of INT8 was not measured: {rounded['error']}", style="yellow")
        return
    screen.heading("INT8 against floats")
    _show_outputs(screen, rows_of(rounded["outputs"]))


def _show_steps(screen: "Screen", migration: "Migration", every: bool) -> None:
    from ir_tools.cli.screen import Column

    if migration.steps:
        line = [Column("line", right=True)] if every else []
        columns = [Column("layer", fold=True), *line, Column("before"), Column("after", keep=True)]
        columns.append(Column("why the result is the same", fold=True))
        groups = [[step] for step in migration.steps] if every else _grouped(migration)
        screen.table(columns, [_step_row(group, every) for group in groups])
    notes = [(step.path, step.notes) for step in migration.steps] + [
        (step.path, step.notes) for step in migration.refused
    ]
    for note in migration.notes:
        screen.line(f"note: {note}", style="yellow")
    for path, remarks in notes:
        for note in remarks:
            screen.line(f"note: {path}: {note}", style="yellow")
    if migration.refused:
        screen.heading("Refused")
        columns = [
            Column("layer", fold=True),
            Column("line", right=True),
            Column("operation"),
            Column("why", fold=True),
        ]
        rows = [
            [
                step.path,
                str(step.line or ""),
                step.before,
                f"{step.attribute}: {step.reason}" if step.attribute else step.reason,
            ]
            for step in migration.refused
        ]
        screen.table(columns, rows)


def _grouped(migration: "Migration") -> list[list["MigrationStep"]]:
    """Return the steps by what became of a layer and its proof: usually a few kinds for a whole network."""
    groups: dict[tuple[str, ...], list[MigrationStep]] = {}
    for step in migration.steps:
        groups.setdefault((step.before, step.after, step.strategy, step.proof), []).append(step)
    return [*groups.values()]


def _step_row(steps: Sequence["MigrationStep"], every: bool) -> list[str]:
    """Return the row of steps of one kind; `every`: with the line of the layer."""
    first = steps[0]
    name = f"{first.path} and {len(steps) - 1} more" if len(steps) > 1 else first.path
    line = [str(first.line or "")] if every else []
    return [
        name,
        *line,
        first.before,
        first.after,
        first.proof if first.strategy == first.after else f"{first.strategy}: {first.proof}",
    ]


def _show_remaining(screen: "Screen", migration: "Migration") -> None:
    if not migration.remaining:
        return
    kinds = sorted({f"{entry.type} {entry.version}" for entry in migration.remaining})
    screen.line()
    screen.line(
        f"{plural(len(migration.remaining), 'layer')} with an opset above the target that ir_tools cannot migrate: "
        + ", ".join(kinds),
        style="yellow",
    )


def _show_verification(screen: "Screen", checked: Row) -> None:
    for entry in rows_of(checked["inputs"]):
        screen.line(f"input {entry['text']}", style="dim")
    if "error" in checked and "engines" not in checked:
        return
    if "engines" in checked:
        show_engines(screen, rows_of(checked["engines"]), rows_of(checked["outputs"]))
        for remark in rows_of(checked["remarks"]):
            screen.line(str(remark["text"]), style="yellow")
        asked = checked.get("release")
        if isinstance(asked, dict) and "error" not in asked:
            screen.heading(f"{asked['new']}, against {asked['old']}")
            _show_outputs(screen, rows_of(asked["outputs"]))
        return
    now = f"OpenVINO {without_build(str(checked['runtime']))} on {checked['device']}, seed {checked['seed']}"
    new = checked.get("new", f"the new model on {now}")
    screen.heading(f"{checked['old']}, against {new}" if "old" in checked else f"Both models on {now}")
    _show_outputs(screen, rows_of(checked["outputs"]))
    if "fault" in checked:
        screen.line(str(checked["fault"]), style="yellow")
    weak = checked["weak"]
    assert isinstance(weak, list)
    for text in weak:
        screen.line(str(text), style="yellow")
    if checked.get("layers"):
        screen.line(f"{checked['layers']} tensors of layers compared")


def _show_outputs(screen: "Screen", outputs: Sequence[Mapping[str, Any]]) -> None:
    from ir_tools.cli.screen import Column

    columns = [Column("output", fold=True), Column("max abs", right=True), Column("max rel", right=True)]
    rows = [[str(entry["name"]), number(entry["max_abs"]), number(entry["max_rel"])] for entry in outputs]
    screen.table(columns, rows, ["" if entry["ok"] else "red" for entry in outputs])
    for entry in outputs:
        if entry.get("reason"):
            screen.line(f"{entry['name']}: {entry['reason']}", style="yellow")


def difference_of(checked: Row) -> str:
    """Return which tensor of a migrated model differs, and by how much; of several, the first."""
    from ir_tools.comparison import LayerComparison

    asked, first = checked.get("release"), checked.get("first_difference")
    if isinstance(asked, dict):
        return difference_of(asked)
    outputs = rows_of(checked["outputs"])
    if "engines" in checked:
        alone = next(entry for entry in outputs if not entry["supported"])
        return f"no other engine agrees on output '{alone['name']}': {alone['verdict']}"
    if isinstance(first, LayerComparison):
        gap = first.difference
        how = f": {first.reason}" if gap is None else _gap_words(gap.max_abs, gap.needed, gap.tolerance)
        return f"layer '{first.path}' ({first.op}, line {first.line}) is the first that differs{how}"
    wrong: list[dict[str, Any]] = [entry for entry in outputs if not entry["ok"]]
    worst = wrong[0]
    how = f": {worst['reason']}" if worst["reason"] else _gap_words(worst["max_abs"], worst["needed"], worst["allowed"])
    others = f"; {plural(len(wrong) - 1, 'more output')} beyond it" if len(wrong) > 1 else ""
    hint = "" if first is None or checked["layers"] else "; add --layers to find the first layer that differs"
    return f"output '{worst['name']}' differs{how}{others}{hint}"


def _gap_words(largest: float, needed: float, allowed: float) -> str:
    """Return how far a tensor is off, in a sentence."""
    return f" by {number(largest)}, which needs a tolerance of {sufficient(needed)}, but {number(allowed)} is allowed"


def _show_unverified(screen: "Screen", checked: Row, why: str) -> None:
    screen.verdict(f"Not verified: {why}. Nothing was written.", good=False)
    if checked.get("help"):
        screen.spans(("help: ", "bold cyan"), (str(checked["help"]), ""))


def _show_verdict(screen: "Screen", migration: "Migration", data: Row) -> None:
    count = len({step.path for step in migration.steps})
    checked = data["verified"]
    if migration.refused:
        screen.verdict(f"{len(migration.refused)} refused; nothing was written.", good=False)
    elif isinstance(checked, dict) and "error" in checked:
        _show_unverified(screen, checked, str(checked["error"]))
    elif isinstance(checked, dict) and not checked["ok"]:
        _show_unverified(screen, checked, difference_of(checked))
    elif data["written"]:
        done = f"Migrated {plural(count, 'layer')}" if count else "No layer had to be changed"
        screen.verdict(f"{done}; wrote {data['written']} (IR v{migration.model.version}).", good=True)
    else:
        todo = f"Would migrate {plural(count, 'layer')}" if count else "No layer has to be changed"
        screen.verdict(f"{todo}; nothing was written.", good=True)
