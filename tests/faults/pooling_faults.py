"""Pooling: settings that contradict each other, settings that surprise, settings that are ignored."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests import ir_text
from tests.faults.define import Case, CaseLayer, Expect, Fault, Guilt, NotHere, fault, pick
from tests.faults.markup import Node, parse

__all__ = ["FAULTS"]

GROUP = "pooling"
FAULTS: list[Fault] = []
WINDOWS = ("AvgPool", "MaxPool")
Edit = Callable[[Node, list[int]], None]


def _sizes(place: CaseLayer) -> list[int]:
    return [int(dim.text) for dim in place.ports("input")[0].all("dim")][2:]


def _pool(
    kind: str,
    edit: Edit,
    types: tuple[str, ...] = WINDOWS,
    *,
    explicit: bool = False,
) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        found = [place for place in case.places() if place.type in types]
        place = pick(rng, [one for one in found if not explicit or one.need_data().get("auto_pad") == "explicit"])
        edit(place.need_data(), _sizes(place))
        return Guilt([place.spot], at=[place.need_data()], within=place.ports_within())

    FAULTS.append(Fault(kind, GROUP, "error", change))


def _all(name: str, number: int) -> Edit:
    def edit(data: Node, sizes: list[int]) -> None:
        data.set(name, ",".join([str(number)] * len(sizes)))

    return edit


def _each(name: str, make: Callable[[int, int], int]) -> Edit:
    def edit(data: Node, sizes: list[int]) -> None:
        old = [int(part) for part in data.get(name).split(",")]
        data.set(name, ",".join(str(make(a, b)) for a, b in zip(old, sizes, strict=True)))

    return edit


def _first(name: str, number: int) -> Edit:
    def edit(data: Node, sizes: list[int]) -> None:
        old = [part.strip() for part in data.get(name).split(",")]
        data.set(name, ",".join([str(number), *old[1:]]))

    return edit


def _contradicted(place: CaseLayer, least: int) -> None:
    """Only where all recorded sizes are known and at least so large, so that another setting must contradict them."""
    sizes = [int(dim.text) for dim in place.ports("output")[0].all("dim")][2:]
    if min(sizes) < least:
        raise NotHere


@fault(FAULTS, GROUP, "error")
def recorded_size_of_other_strides(case: Case, rng: random.Random) -> Guilt:
    """With strides beyond the input there are at most two windows."""
    place = pick(rng, [one for one in case.places() if one.type in WINDOWS])
    _contradicted(place, 3)
    _all("strides", 60)(place.need_data(), _sizes(place))
    return Guilt([place.spot], at=[place.need_data()], within=place.ports_within())


@fault(FAULTS, GROUP, "error")
def recorded_size_of_another_kernel(case: Case, rng: random.Random) -> Guilt:
    """With strides of 1 or 2 a kernel that is wider by two gives fewer windows."""
    places = [one for one in case.places() if one.type in WINDOWS and one.need_data().get("auto_pad") == "explicit"]
    fitting = [
        one
        for one in places
        if "3" not in one.need_data().get("strides") and "torch" not in one.need_data().get("rounding_type")
    ]
    place = pick(rng, fitting)
    _contradicted(place, 1)
    _each("kernel", lambda old, size: old + 2)(place.need_data(), _sizes(place))
    return Guilt([place.spot], at=[place.need_data()], within=place.ports_within())


@fault(FAULTS, GROUP, "error")
def strides_of_10_to_9(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [one for one in case.places() if one.type in WINDOWS])
    _contradicted(place, 3)
    _all("strides", 10**9)(place.need_data(), _sizes(place))
    return Guilt([place.spot], at=[place.need_data()], within=place.ports_within())


def _dilation_zero(data: Node, sizes: list[int]) -> None:
    if not data.has("dilations") or "0" in data.get("dilations"):
        raise NotHere
    _first("dilations", 0)(data, sizes)


_pool("kernel-larger-than-input", _each("kernel", lambda old, size: abs(size) + 40), explicit=True)
_pool("kernel-10-to-9", _all("kernel", 10**9))
_pool("kernel-2-to-62", _all("kernel", 2**62))
_pool("kernel-zero", _first("kernel", 0))
_pool("kernel-negative", _first("kernel", -3))
_pool("stride-zero", _first("strides", 0))
_pool("stride-negative", _first("strides", -1))
_pool("stride-2-to-31", _all("strides", 2**31))
_pool("stride-2-to-62", _all("strides", 2**62))
_pool("pads-begin-10-to-9", _all("pads_begin", 10**9), explicit=True)
_pool("pads-end-10-to-9", _all("pads_end", 10**9), explicit=True)
_pool("pads-2-to-62", _all("pads_end", 2**62), explicit=True)
_pool("pad-negative", _first("pads_begin", -1), explicit=True)
_pool("pads-not-smaller-than-kernel", _all("pads_begin", 9), explicit=True)
_pool("pads-end-not-smaller-than-kernel", _all("pads_end", 9), explicit=True)
_pool("dilation-zero", _dilation_zero, ("AvgPool", "MaxPool"))


@fault(FAULTS, GROUP, "error")
def dilations_lost_in_opset16(case: Case, rng: random.Random) -> Guilt:
    """Optional by the specification, but the runtime is killed."""
    place = pick(rng, [one for one in case.places("AvgPool") if one.node.get("version") == "opset16"])
    place.need_data().drop("dilations")
    return Guilt([place.spot], at=[place.need_data()])


@fault(FAULTS, GROUP, "error")
def opset16_without_dilations(case: Case, rng: random.Random) -> Guilt:
    place = pick(rng, [one for one in case.places("AvgPool") if not one.need_data().has("dilations")])
    place.node.set("version", "opset16")
    return Guilt([place.spot], at=[place.need_data(), place.node])


@fault(FAULTS, GROUP, "error")
def ceil_torch_too_early(case: Case, rng: random.Random) -> Guilt:
    place = pick(
        rng, [one for one in case.places() if one.type in WINDOWS and one.node.get("version") in ("opset1", "opset8")]
    )
    place.need_data().set("rounding_type", "ceil_torch")
    return Guilt([place.spot], at=[place.need_data()], within=place.ports_within())


@fault(FAULTS, GROUP, "error")
def input_of_rank_two(case: Case, rng: random.Random) -> Guilt:
    """A Parameter of rank 2, recorded everywhere, in front of a pooling."""
    rows = [
        (start, end, edge)
        for edge, start, end in case.edges()
        if end.type in ("AvgPool", "MaxPool", "AdaptiveAvgPool") and start.type == "Parameter"
    ]
    start, end, edge = pick(rng, rows)
    if len([row for row in case.edges() if row[1].node is start.node]) > 1:
        raise NotHere
    start.need_data().set("shape", "4,6")
    for port in (start.ports("output")[0], end.ports("input")[0]):
        port.children = [Node("dim", [], ["4"]), Node("dim", [], ["6"])]
    return Guilt([end.spot], at=[end.node, *([end.data] if end.data else []), edge], within=end.ports_within())


# --- what runs, but surprises -------------------------------------------------------------------------------------


def _single(
    kind: str,
    type_: str,
    version: str,
    size: str,
    out: str,
    raw: dict[str, str],
    expect: Expect = "warning",
    extra: str = "",
) -> None:
    """One pooling layer on its own, written in place of the model."""

    def change(case: Case, rng: random.Random) -> Guilt:
        if case.base.name not in ("pooling", "classifier"):
            raise NotHere

        before, after = size.split(","), out.split(",")
        read = [ir_text.port(0, before)]
        made = [ir_text.port(1, after), *([ir_text.port(2, after, precision=extra)] if extra else [])]
        data = " ".join(f'{name}="{text}"' for name, text in raw.items())
        layers = [
            ir_text.parameter(0, before, name="x"),
            ir_text.layer(1, type_, name="pool", version=version, data=data, inputs=read, outputs=made),
            ir_text.result(2, after, name="y"),
        ]
        case.root = parse(
            ir_text.net(layers, [ir_text.edge(0, 0, 1, 0), ir_text.edge(1, 1, 2, 0)], name="single", after="")
        )
        case.weights = b""
        pool = case.main()[1]
        return Guilt([pool.spot], at=[pool.need_data(), pool.node], within=pool.ports_within())

    FAULTS.append(Fault(kind, GROUP, expect, change))


SLIDING = {
    "kernel": "3",
    "strides": "2",
    "pads_begin": "1",
    "pads_end": "1",
    "rounding_type": "floor",
    "auto_pad": "explicit",
}


def _avg(exclude_pad: str = "true", **more: str) -> dict[str, str]:
    return {**SLIDING, "exclude-pad": exclude_pad, **more}


def _max(**more: str) -> dict[str, str]:
    return {**SLIDING, **more}


_single(
    "ceil-counts-beyond-the-padding",
    "AvgPool",
    "opset1",
    "1,1,6",
    "1,1,4",
    _avg(exclude_pad="false", rounding_type="ceil"),
)
_single(
    "ceil-counts-beyond-the-padding-14",
    "AvgPool",
    "opset14",
    "1,1,6",
    "1,1,4",
    _avg(exclude_pad="false", rounding_type="ceil"),
)
_single(
    "ceil-torch-counts-beyond-the-padding",
    "AvgPool",
    "opset14",
    "1,1,6",
    "1,1,4",
    _avg(exclude_pad="false", rounding_type="ceil_torch"),
)
_single(
    "average-window-in-the-padding",
    "AvgPool",
    "opset1",
    "1,1,4",
    "1,1,3",
    _avg(kernel="2", strides="3", pads_end="4", exclude_pad="false"),
)
_single(
    "ceil-window-in-the-padding",
    "AvgPool",
    "opset1",
    "1,1,5",
    "1,1,4",
    _avg(kernel="2", pads_end="1", pads_begin="1", rounding_type="ceil"),
    "warning",
)
_single("pads-ignored-with-same-upper", "AvgPool", "opset1", "1,1,8", "1,1,4", _avg(auto_pad="same_upper"))
_single("pads-ignored-with-same-lower", "AvgPool", "opset14", "1,1,8", "1,1,4", _avg(auto_pad="same_lower"))
_single("pads-ignored-with-valid", "AvgPool", "opset1", "1,1,9", "1,1,4", _avg(auto_pad="valid"))
_single("pads-of-maximum-ignored-with-same-upper", "MaxPool", "opset1", "1,1,8", "1,1,4", _max(auto_pad="same_upper"))
_single("pads-of-maximum-ignored-with-valid", "MaxPool", "opset1", "1,1,9", "1,1,4", _max(auto_pad="valid"))
_single(
    "same-and-ceil-with-kernel-below-stride",
    "AvgPool",
    "opset1",
    "1,1,4",
    "1,1,2",
    _avg(kernel="1", strides="4", pads_begin="0", pads_end="0", auto_pad="same_upper", rounding_type="ceil"),
)
_single(
    "exclude-pad-misspelled",
    "AvgPool",
    "opset1",
    "1,1,7",
    "1,1,4",
    {("exclude_pad" if name == "exclude-pad" else name): text for name, text in _avg(exclude_pad="false").items()},
    "error",
)
_single(
    "exclude-pad-missing",
    "AvgPool",
    "opset1",
    "1,1,7",
    "1,1,4",
    {name: text for name, text in _avg().items() if name != "exclude-pad"},
)
_single("exclude-pad-no", "AvgPool", "opset1", "1,1,7", "1,1,4", _avg(exclude_pad="no"))
_single("exclude-pad-off", "AvgPool", "opset1", "1,1,7", "1,1,4", _avg(exclude_pad="off"))
_single(
    "pads-as-wide-as-kernel-excluded",
    "AvgPool",
    "opset1",
    "1,1,7",
    "1,1,6",
    _avg(kernel="2", pads_begin="2", pads_end="2", strides="2"),
    "error",
)
_single("kernel-one-too-large", "AvgPool", "opset1", "1,1,4", "1,1,1", _avg(kernel="7"), "error")
_single("dilated-kernel-too-large", "AvgPool", "opset16", "1,1,4", "1,1,1", _avg(dilations="3"), "error")
_single("dilations-too-long", "AvgPool", "opset16", "1,1,9", "1,1,5", _avg(dilations="1,1"), "error")
_single("floor-recorded-as-ceil", "AvgPool", "opset1", "1,1,6", "1,1,4", _avg(), "error")
_single("ceil-recorded-as-floor", "AvgPool", "opset1", "1,1,6", "1,1,3", _avg(rounding_type="ceil"), "error")
_single("same-recorded-as-explicit", "AvgPool", "opset1", "1,1,8", "1,1,5", _avg(auto_pad="same_upper"), "error")
_single("maximum-recorded-too-long", "MaxPool", "opset1", "1,1,8", "1,1,5", _max(), "error")
_single("average-of-opset17", "AvgPool", "opset17", "1,1,7", "1,1,4", _avg(dilations="1"), "error")
_single("kernel-of-two-for-one-axis", "AvgPool", "opset1", "1,1,8", "1,1,4", _avg(kernel="3,3"), "error")
_single(
    "maximum-window-in-the-padding", "MaxPool", "opset1", "1,1,4", "1,1,3", _max(kernel="2", strides="3", pads_end="4")
)
