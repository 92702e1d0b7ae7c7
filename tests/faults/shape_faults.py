"""Recorded element types and dims that contradict what the layers compute."""

from __future__ import annotations

import random
from collections.abc import Callable

from tests.faults.define import Case, CaseLayer, Fault, Guilt, NotHere, convert_input, fault, is_type, pick
from tests.faults.markup import Node

__all__ = ["FAULTS"]

FAULTS: list[Fault] = []
Edit = Callable[[Node, random.Random], None]
BODIED = ("TensorIterator", "Loop", "If")


# --- dims ---------------------------------------------------------------------------------------------------------


def _dim(port: Node, rng: random.Random) -> Node:
    """A static dim of a port."""
    return pick(rng, [dim for dim in port.all("dim") if int(dim.text) >= 0])


def _scaled(change: Callable[[int], object]) -> Edit:
    def edit(port: Node, rng: random.Random) -> None:
        dim = _dim(port, rng)
        old = dim.text
        dim.text = str(change(int(old)))
        if dim.text == old:
            raise NotHere

    return edit


def _lost(port: Node, rng: random.Random) -> None:
    dim = pick(rng, port.all("dim"))
    port.children = [child for child in port.children if child is not dim]


def _all_lost(port: Node, rng: random.Random) -> None:
    if not port.all("dim") or any(dim.text == "-1" for dim in port.all("dim")):
        raise NotHere
    port.children = []


def _added(port: Node, rng: random.Random) -> None:
    port.children.insert(rng.randrange(len(port.children) + 1), Node("dim", [], [rng.choice(("1", "2", "7"))]))


def _exchanged(port: Node, rng: random.Random) -> None:
    dims = [dim for dim in port.all("dim") if dim.text != "-1"]
    pairs = [(a, b) for a in dims for b in dims if a.text != b.text]
    a, b = pick(rng, pairs)
    a.children, b.children = b.children, a.children


def _doubled(port: Node, rng: random.Random) -> None:
    dim = pick(rng, port.all("dim"))
    port.children.insert(port.children.index(dim), dim.copy())


EDITS: dict[str, Edit] = {
    "one-more": _scaled(lambda dim: dim + 1),
    "one-less": _scaled(lambda dim: max(dim - 1, 0)),
    "doubled": _scaled(lambda dim: dim * 2),
    "large": _scaled(lambda dim: dim + 1000),
    "zero": _scaled(lambda dim: 0),
    "2-to-31": _scaled(lambda dim: 2**31),
    "2-to-62": _scaled(lambda dim: 2**62),
    "lost": _lost,
    "all-lost": _all_lost,
    "added": _added,
    "repeated": _doubled,
    "exchanged": _exchanged,
}
UNREADABLE: dict[str, Edit] = {
    "text": _scaled(lambda dim: "abc"),
    "empty": _scaled(lambda dim: ""),
    "fraction": _scaled(lambda dim: f"{dim}.5"),
    "with-letter": _scaled(lambda dim: f"{dim}x"),
    "minus-5": _scaled(lambda dim: -5),
    "2-to-63": _scaled(lambda dim: 2**63),
    "2-to-64": _scaled(lambda dim: 2**64),
    "question-mark": _scaled(lambda dim: "?x"),
    "two-numbers": _scaled(lambda dim: f"{dim} 1"),
}


def _port_fault(kind: str, side: str, edit: Edit, fits: Callable[[CaseLayer], bool], group: str = "shapes") -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        rows = [(place, port) for place in case.places() if fits(place) for port in place.ports(side)]
        rows = [row for row in rows if row[1].all("dim")]
        place, port = pick(rng, rows)
        edit(port, rng)
        lines = [port, *port.all("dim")]
        return Guilt([place.spot], at=lines)

    FAULTS.append(Fault(kind, group, "error", change))


def _any(place: CaseLayer) -> bool:
    return True


def _inner(place: CaseLayer) -> bool:
    return place.type not in ("Parameter", "Const", "Result", *BODIED)


for _name, _edit in EDITS.items():
    _port_fault(f"output-dim-{_name}", "output", _edit, _inner)
    _port_fault(f"input-dim-{_name}", "input", _edit, _inner)
for _name, _edit in UNREADABLE.items():
    _port_fault(f"output-dim-{_name}", "output", _edit, _any)
    _port_fault(f"input-dim-{_name}", "input", _edit, _any)
for _name in ("one-more", "lost", "added", "zero"):
    _port_fault(f"parameter-port-dim-{_name}", "output", EDITS[_name], is_type("Parameter"))
    _port_fault(f"const-port-dim-{_name}", "output", EDITS[_name], is_type("Const"))
    _port_fault(f"result-port-dim-{_name}", "input", EDITS[_name], is_type("Result"))
    _port_fault(f"bodied-output-dim-{_name}", "output", EDITS[_name], is_type(*BODIED), "bodies")
    _port_fault(f"bodied-input-dim-{_name}", "input", EDITS[_name], is_type(*BODIED), "bodies")
    _port_fault(
        f"dim-in-a-body-{_name}",
        "output",
        EDITS[_name],
        lambda place: bool(place.prefix) and _inner(place),
        "bodies",
    )


def _per_type(types: list[str]) -> None:
    for type_ in types:
        _port_fault(f"dim-of-{type_}", "output", EDITS["one-more"], is_type(type_))
        _port_fault(f"rank-of-{type_}", "output", EDITS["added"], is_type(type_))


_per_type(
    [
        "Convolution",
        "GroupConvolution",
        "ConvolutionBackpropData",
        "MatMul",
        "Reshape",
        "Transpose",
        "Concat",
        "Split",
        "VariadicSplit",
        "Gather",
        "StridedSlice",
        "Slice",
        "ShapeOf",
        "Squeeze",
        "Unsqueeze",
        "Tile",
        "Broadcast",
        "Range",
        "ReduceMean",
        "ReduceSum",
        "ReduceMax",
        "SoftMax",
        "Interpolate",
        "Pad",
        "DepthToSpace",
        "SpaceToDepth",
        "ShuffleChannels",
        "ReverseSequence",
        "TopK",
        "OneHot",
        "GatherElements",
        "GatherND",
        "ScatterNDUpdate",
        "ScatterElementsUpdate",
        "CumSum",
        "PriorBox",
        "DetectionOutput",
        "FakeQuantize",
        "BatchNormInference",
        "LRN",
        "NormalizeL2",
        "MVN",
        "Gelu",
        "LSTMSequence",
        "GRUSequence",
        "RNNSequence",
        "GRUCell",
        "LSTMCell",
        "RNNCell",
        "Select",
        "Convert",
        "ReadValue",
        "AvgPool",
        "MaxPool",
        "AdaptiveAvgPool",
        "AdaptiveMaxPool",
        "Add",
        "Multiply",
        "Relu",
        "PReLU",
        "Clamp",
        "Elu",
        "Equal",
        "LogicalAnd",
        "ConvertLike",
        "Loop",
        "If",
        "TensorIterator",
    ]
)


@fault(FAULTS, "shapes", "error")
def dims_of_a_whole_edge_changed(case: Case, rng: random.Random) -> Guilt:
    """Output and the inputs that it feeds agree with each other, but not with the operation."""
    place = pick(rng, [place for place in case.places() if _inner(place) and place.ports("output")])
    port = pick(rng, [port for port in place.ports("output") if port.all("dim")])
    dims = [index for index, dim in enumerate(port.all("dim")) if int(dim.text) > 0]
    index = pick(rng, dims)
    new = str(int(port.all("dim")[index].text) + 1)
    port.all("dim")[index].text = new
    spots = [place.spot]
    at = [port, *port.all("dim"), place.node, *([place.data] if place.data else [])]
    for edge, start, end in case.edges():
        if start.node is place.node and edge.get("from-port") == port.get("id"):
            into = end.port("input", edge.get("to-port"))
            into.all("dim")[index].text = new
    return Guilt(spots, at=at)


# --- element types ------------------------------------------------------------------------------------------------

OTHERS = ("FP32", "FP16", "I64", "I32", "BOOL", "U8", "FP64", "I8", "STRING", "U4")


def _precision(
    kind: str, side: str, make: Callable[[str, random.Random], str | None], fits: Callable[[CaseLayer], bool]
) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        rows = [
            (place, port)
            for place in case.places()
            if fits(place)
            for port in place.ports(side)
            if port.has("precision")
        ]
        place, port = pick(rng, rows)
        new = make(port.get("precision"), rng)
        if new is None:
            port.drop("precision")
        else:
            port.set("precision", new)
        return Guilt([place.spot], at=[port])

    FAULTS.append(Fault(kind, "element types", "error", change))


def _other(old: str, rng: random.Random) -> str:
    return rng.choice([name for name in OTHERS if name != old])


_PRECISIONS: dict[str, Callable[[str, random.Random], str]] = {
    "another": _other,
    "misspelled": lambda old, rng: old + "X",
    "empty": lambda old, rng: "",
    "unknown": lambda old, rng: "FP31",
    "a-number": lambda old, rng: "32",
}
for _name, _make in _PRECISIONS.items():
    _precision(f"output-precision-{_name}", "output", _make, _any)
    _precision(f"input-precision-{_name}", "input", _make, _any)
for _name, _types in {
    "parameter": ("Parameter",),
    "const": ("Const",),
    "convert": ("Convert",),
    "shape-of": ("ShapeOf",),
    "comparison": ("Equal", "Greater", "Less"),
    "pooling": ("AvgPool", "MaxPool", "AdaptiveAvgPool"),
    "bodied": BODIED,
}.items():
    _precision(f"{_name}-precision-another", "output", _other, is_type(*_types))
_precision("result-precision-another", "input", _other, is_type("Result"))


def _parameter_type(kind: str, value: str | None) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, case.places("Parameter"))
        data, port = place.need_data(), place.ports("output")[0]
        if value is None:
            data.drop("element_type")
        else:
            if data.get("element_type") == value:
                raise NotHere
            data.set("element_type", value)
        return Guilt([place.spot], at=[data, port])

    FAULTS.append(Fault(f"parameter-type-{kind}", "element types", "error", change))


for _text in ("i64", "f16", "boolean", "u8", "string"):
    _parameter_type(_text, _text)
for _text in ("float32", "f33", "", "FLOAT", "FP32", "int", "f32 f32"):
    _parameter_type(_text.replace(" ", "-") or "empty", _text)
_parameter_type("missing", None)


def _mixed(kind: str, types: tuple[str, ...], index: int, to: str, precision: str) -> None:
    """A Convert in front of one input gives an element type that the operation does not take there."""

    def change(case: Case, rng: random.Random) -> Guilt:
        rows = [
            (edge, start, end)
            for edge, start, end in case.edges()
            if end.type in types
            and len(end.ports("input")) > index
            and end.ports("input")[index].get("id") == edge.get("to-port")
        ]
        edge, start, end = pick(rng, rows)
        convert_input(edge, start, end, to, precision)
        at = [end.node, *([end.data] if end.data else []), edge]
        return Guilt([end.spot], at=at, within=end.ports_within())

    FAULTS.append(Fault(f"input-type-{kind}", "element types", "error", change))


ARITHMETIC = ("Add", "Multiply", "Subtract", "Divide", "Maximum", "Minimum", "Power")
_mixed("arithmetic-i32-with-f32", ARITHMETIC, 1, "i64", "I64")
_mixed("arithmetic-f64", ARITHMETIC, 0, "f64", "FP64")
_mixed("comparison-mixed", ("Equal", "Greater", "Less"), 1, "f16", "FP16")
_mixed("logical-of-floats", ("LogicalAnd", "LogicalOr", "LogicalNot"), 0, "f32", "FP32")
_mixed("select-condition-float", ("Select",), 0, "f32", "FP32")
_mixed("select-branches-differ", ("Select",), 2, "f16", "FP16")
_mixed("convolution-weights-f64", ("Convolution", "GroupConvolution"), 1, "f64", "FP64")
_mixed("convolution-weights-i64", ("Convolution", "GroupConvolution"), 1, "i64", "I64")
_mixed("matmul-mixed", ("MatMul",), 1, "i32", "I32")
_mixed("concat-mixed", ("Concat",), 1, "f16", "FP16")
_mixed("gather-indices-float", ("Gather", "GatherElements", "GatherND"), 1, "f32", "FP32")
_mixed("reshape-pattern-float", ("Reshape",), 1, "f32", "FP32")
_mixed("transpose-order-float", ("Transpose",), 1, "f32", "FP32")
_mixed("reduce-axes-float", ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceProd"), 1, "f32", "FP32")
_mixed("split-axis-float", ("Split", "VariadicSplit"), 1, "f32", "FP32")
_mixed("slice-bounds-float", ("Slice", "StridedSlice"), 1, "f32", "FP32")
_mixed("topk-k-float", ("TopK",), 1, "f32", "FP32")
_mixed("batch-norm-mixed", ("BatchNormInference",), 2, "f16", "FP16")
_mixed("cell-weights-mixed", ("LSTMCell", "RNNCell"), 2, "f16", "FP16")
_mixed("if-condition-float", ("If",), 0, "f32", "FP32")
_mixed("loop-condition-float", ("Loop",), 1, "f32", "FP32")
_mixed("pad-begin-float", ("Pad",), 1, "f32", "FP32")
_mixed("one-hot-depth-float", ("OneHot",), 1, "f32", "FP32")
_mixed("read-value-other-type", ("ReadValue",), 0, "i64", "I64")
_mixed("assign-other-type", ("Assign",), 0, "i64", "I64")


# --- shapes of Parameters -----------------------------------------------------------------------------------------


def _parameter_shape(kind: str, make: Callable[[list[str]], str | None]) -> None:
    def change(case: Case, rng: random.Random) -> Guilt:
        place = pick(rng, [place for place in case.places("Parameter") if place.need_data().get("shape")])
        data = place.need_data()
        old = data.get("shape")
        new = make([part.strip() for part in old.split(",")])
        if new is None:
            data.drop("shape")
        elif new.replace(" ", "") == old.replace(" ", ""):
            raise NotHere
        else:
            data.set("shape", new)
        return Guilt([place.spot], at=[data, *place.ports("output")], within=place.ports_within())

    FAULTS.append(Fault(f"parameter-shape-{kind}", "shapes", "error", change))


def _static(dims: list[str]) -> list[str]:
    if not all(dim.isdigit() for dim in dims):
        raise NotHere
    return dims


_parameter_shape("dim-one-more", lambda dims: ",".join([*_static(dims)[:-1], str(int(dims[-1]) + 1)]))
_parameter_shape("batch-doubled", lambda dims: ",".join([str(int(_static(dims)[0]) * 2), *dims[1:]]))
_parameter_shape("dim-lost", lambda dims: ",".join(_static(dims)[1:]))
_parameter_shape("dim-added", lambda dims: ",".join([*dims, "1"]))
_parameter_shape("missing", lambda dims: None)
_parameter_shape("text", lambda dims: "abc")
_parameter_shape("letters-in-a-dim", lambda dims: ",".join([*dims[:-1], "w"]))
_parameter_shape("fraction", lambda dims: ",".join([*dims[:-1], "2.5"]))
_parameter_shape("semicolons", lambda dims: ";".join([*dims, "1"]))
_parameter_shape("interval-backwards", lambda dims: ",".join([*dims[:-1], "9..3"]))
_parameter_shape("interval-with-letters", lambda dims: ",".join([*dims[:-1], "1..n"]))
_parameter_shape("three-dots", lambda dims: ",".join([*dims[:-1], "1...8"]))
_parameter_shape("empty-dim", lambda dims: ",".join([*dims[:-1], "", dims[-1]]))
_parameter_shape("minus-7", lambda dims: ",".join([*dims[:-1], "-7"]))
_parameter_shape("2-to-64", lambda dims: ",".join([*dims[:-1], str(2**64)]))
_parameter_shape(
    "interval-elsewhere", lambda dims: ",".join([*_static(dims)[:-1], f"{int(dims[-1]) + 3}..{int(dims[-1]) + 9}"])
)
