"""What can be wrong from one iteration of a body to the next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from ir_tools.graph import Graph, Layer, Source
from ir_tools.infer._differences import are_apart, text_of
from ir_tools.infer._engine import Tensors
from ir_tools.infer._problems import Problem
from ir_tools.ops.bodies import PortMap, PortMapRow, check_slices
from ir_tools.ops.definition import Fact
from ir_tools.rules import Rule
from ir_tools.rules.operations import CONTRADICTING_LAYER, FATAL_SETTING
from ir_tools.rules.structure import BAD_BACK_EDGE, BAD_SLICE, WRONG_PORT_MAP_ROW
from ir_tools.types import Shape, format_shape, is_static

__all__ = ["problems_of_iterations"]

MAX_ITERATIONS = 1 << 31
"""Of a loop whose condition is not known to end it."""


def problems_of_iterations(
    layer: Layer,
    body: Graph,
    ports: PortMap,
    inputs: Mapping[int, Fact],
    known: Tensors,
    results: Mapping[int, Fact],
) -> Iterator[Problem]:
    """Yield what is wrong with what a body hands on, with its parts, its condition and the number of iterations.

    Args:
        layer: that has the body.
        body: the body.
        ports: its port map.
        inputs: of the layer, by port.
        known: what the body's tensors are.
        results: what each of its Results takes.
    """
    for row, (parameter, result) in enumerate(ports.back_edges.items()):
        before, after = known[Source(parameter, body.layer(parameter).outputs[0].id)], results[result]
        if are_apart(before, after):
            taken = f"to '{body.layer(parameter).name}', which records {text_of(before)}"
            message, remedy = (
                f"a back edge passes {text_of(after)} {taken}",
                "the value that an iteration passes on must match the Parameter of the next one",
            )
            yield Problem(BAD_BACK_EDGE, layer, message, remedy, "back_edges", row=row)
    end = ports.purpose("execution_condition") if layer.type.lower() == "loop" else None
    count, begins = (None, None) if end is None else [_single(inputs[port]) for port in sorted(inputs)[:2]]
    certain = count if end is not None and _single(results[end.layer]) == 1 else None
    for cut, message, remedy in check_slices(ports, inputs, results, 0 if begins == 0 else certain):
        yield Problem(BAD_SLICE, layer, message, remedy, "port_map", row=_place_of(layer, cut))
    if end is None:
        return
    for cut in ports.outputs:
        part = None if cut.axis is None else results[cut.layer].shape
        for rule, message, remedy in _joined_of_none(part, cut.axis, count, begins):
            yield Problem(rule, layer, message, remedy, "port_map", row=_place_of(layer, cut))
    condition = results[end.layer]
    if condition.dtype.kind not in {"boolean", "dynamic"}:
        purposes = [entry.get("purpose") for _, entry in layer.content.mapping["port_map"]]
        message, remedy = (
            f"the execution condition has element type {condition.dtype}",
            "name a Result of element type boolean",
        )
        row = purposes.index("execution_condition")
        yield Problem(WRONG_PORT_MAP_ROW, layer, message, remedy, "port_map", row=row)
    lasts = _single(condition)
    if count is None or 0 in {lasts, begins} or (count >= -1 if lasts is None else count in range(MAX_ITERATIONS)):
        return
    message = f"the number of iterations is {count}, so the loop does not end"
    yield Problem(
        FATAL_SETTING,
        layer,
        message,
        "write a positive number of iterations, or a condition that ends the loop",
        "layer",
    )


def _joined_of_none(
    part: Shape, axis: int | None, count: int | None, begins: int | None
) -> Iterator[tuple[Rule, str, str]]:
    """Yield why the CPU plugin does not compile an output that joins the parts of no iteration: rule, message, remedy.

    Of parts with one dimension, with an unknown size, or with one element besides those along the axis, it makes an
    empty tensor. Measured.

    Args:
        part: the shape of what one iteration adds.
        axis: along which it is added.
        count: the number of iterations, if known.
        begins: the first condition, if known.
    """
    others = [dim for place, dim in enumerate(part or ()) if place != axis]
    if part is None or len(part) < 2 or not is_static(tuple(others)):
        return
    remedy = "do not join its parts, or remove the loop"
    if begins == 0:
        message = f"the first condition is false, but parts have {len(part)} dimensions; expected 1"
        yield CONTRADICTING_LAYER, message, remedy
    elif count == 0 and prod(dim.size for dim in others) > 1:
        message = f"the number of iterations is 0, and the runtime divides by zero for parts of {format_shape(part)}"
        yield FATAL_SETTING, message, remedy


def _place_of(layer: Layer, row: PortMapRow) -> int:
    """Return the number of a row among those of its port map."""
    rows = layer.content.mapping["port_map"]
    ends = str(row.port), str(row.layer)
    found = [(raw.get("external_port_id"), raw.get("internal_layer_id")) == ends for _, raw in rows]
    return found.index(True) if True in found else 0


def _single(fact: Fact) -> int | None:
    """Return the one number of a tensor, if it is known."""
    known = fact.integers() or ()
    return known[0] if len(known) == 1 else None
