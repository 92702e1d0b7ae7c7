"""Small valid models of every kind: built here and serialised by openvino, or written by hand as of old."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset1, opset8
from openvino import opset15 as op
from openvino import opset16 as op16
from openvino.op import Constant

from ir_tools.ops import find_op
from ir_tools.types import element_type
from tests.faults.define import Base
from tests.faults.handmade import HANDMADE
from tests.faults.markup import MODEL_OPTIMIZER, Node, parse
from tests.faults.nodes import F32, I32, I64
from tests.faults.nodes import constant as _c
from tests.faults.nodes import model as _model
from tests.faults.nodes import parameter as _x
from tests.faults.nodes import weights as _w
from tests.ops.samples import sample_of
from tests.ops.single import Slot, several

__all__ = ["bases"]

Array = np.ndarray[Any, Any]


def pooling() -> Any:
    x = _x([1, 3, 16, 16])
    a = opset1.avg_pool(x, [1, 1], [1, 1], [1, 1], [3, 3], True, "floor", "explicit")
    b = opset1.max_pool(a, [2, 2], [0, 0], [1, 1], [3, 3], "ceil", "explicit")
    c = op.avg_pool(b, [2, 2], [0, 0], [0, 0], [3, 3], False, "ceil_torch", "explicit")
    d = opset8.max_pool(c, [1, 1], [1, 1], [0, 0], [0, 0], [2, 2], "floor", "same_upper", "i64", 0)
    e = opset8.adaptive_avg_pool(d.output(0), _c([2, 2], I64))
    return _model([e, d.output(1)], [x], "pooling")


def new_pooling() -> Any:
    x, y = _x([2, 3, 12, 10]), _x([1, 2, 9], name="y")
    a = op16.avg_pool(x, [1, 2], [1, 0], [1, 0], [3, 2], True, "floor", "explicit", [2, 1])
    b = op.max_pool(a, [2, 1], [1, 2], [0, 1], [1, 1], [2, 2], "ceil_torch", "explicit", "i32", 2)
    c = opset8.adaptive_max_pool(b.output(0), _c([2, 3], I64), "i32")
    d = op16.avg_pool(y, [2], [0], [0], [2], False, "ceil", "valid", [1])
    e = opset1.max_pool(d, [1], [0], [0], [2], "floor", "same_lower")
    z = _x([1, 1, 4, 6, 5], name="z")
    f = op.avg_pool(z, [1, 2, 1], [0, 1, 0], [1, 0, 1], [2, 3, 2], False, "floor", "explicit")
    return _model([c.output(0), c.output(1), b.output(1), e, f], [x, y, z], "new_pooling")


def convolutions() -> Any:
    x = _x([1, 3, 12, 12])
    a = op.convolution(x, _w(4, 3, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1])
    b = op.add(a, _w(1, 4, 1, 1))
    c = op.batch_norm_inference(b, _w(4), _w(4), _w(4), _c([1.0, 0.5, 2.0, 1.5]), 1e-5)
    d = op.relu(c)
    e = op.fake_quantize(d, _c(0.0), _c(2.5), _c(0.0), _c(2.5), 256)
    f = op.group_convolution(e, _w(2, 2, 2, 3, 3), [1, 1], [0, 0], [0, 0], [1, 1], "same_upper")
    g = op.clamp(f, -1.0, 6.0)
    h = op.prelu(g, _w(4))
    i = op.convolution_backprop_data(h, _w(4, 2, 2, 2), strides=[2, 2])
    j = op.elu(i, 1.0)
    k = op.reduce_mean(j, _c([2, 3], I64), True)
    m = op.matmul(op.reshape(k, _c([0, -1], I64), True), _w(5, 2), False, True)
    n = op.softmax(m, 1)
    o = op.lrn(d, _c([1], I64), 1e-4, 0.75, 1.0, 3)
    p = op.normalize_l2(o, _c([1], I64), 1e-6, "add")
    return _model([n, p], [x], "convolutions")


def attention() -> Any:
    x = _x([1, 6, 8])
    q, k, v = (op.add(op.matmul(x, _w(8, 8), False, True), _w(1, 1, 8)) for _ in range(3))
    heads = [op.transpose(op.reshape(t, _c([0, 0, 2, 4], I64), True), _c([0, 2, 1, 3], I64)) for t in (q, k, v)]
    scores = op.softmax(op.multiply(op.matmul(heads[0], heads[1], False, True), _c(0.5)), -1)
    out = op.reshape(
        op.transpose(op.matmul(scores, heads[2], False, False), _c([0, 2, 1, 3], I64)), _c([0, 0, 8], I64), True
    )
    norm = op.mvn(op.add(out, x), _c([2], I64), True, 1e-5, "inside_sqrt")
    grown = op.gelu(op.matmul(norm, _w(8, 16), False, False), "tanh")
    back = op.matmul(grown, _w(16, 8), False, False)
    total = op.sqrt(op.power(op.subtract(back, norm), _c(2.0)))
    sums = op.reduce_sum(total, _c([-1], I64), False)
    return _model([op.swish(total, _c(1.0)), op.log_softmax(sums, 1)], [x], "attention")


def shape_arithmetic() -> Any:
    x = _x([-1, 3, ov.Dimension(4, 16), 8])
    size = op.shape_of(x, "i64")
    batch = op.gather(size, _c([0], I64), _c(0, I64))
    rest = op.reduce_prod(op.slice(size, _c([1], I64), _c([4], I64), _c([1], I64)), _c([0], I64), True)
    flat = op.reshape(x, op.concat([batch, rest], 0), False)
    back = op.reshape(flat, op.concat([batch, _c([3, -1, 8], I64)], 0), False)
    parts = op.split(back, _c(3, I64), 2)
    more = op.variadic_split(parts.output(0), _c(1, I64), _c([1, 2], I64))
    cut = op.strided_slice(
        more.output(1),
        _c([0, 0, 0, 0], I64),
        _c([0, 2, 3, 4], I64),
        _c([1, 1, 1, 2], I64),
        [1, 0, 0, 0],
        [1, 0, 0, 0],
        [],
        [],
        [],
    )
    wide = op.unsqueeze(cut, _c([1], I64))
    thin = op.squeeze(wide, _c([1], I64))
    tiled = op.tile(thin, _c([1, 1, 2, 1], I64))
    like = op.broadcast(_c(1.0), op.shape_of(tiled, "i32"))
    last = op.add(op.transpose(tiled, _c([0, 3, 1, 2], I64)), op.transpose(like, _c([0, 3, 1, 2], I64)))
    index = op.range(_c(0, I64), op.squeeze(batch, _c([0], I64)), _c(1, I64), "i64")
    return _model([last, more.output(0), parts.output(1), index], [x], "shape_arithmetic")


def iterator() -> Any:
    x, h, c = _x([2, 5, 3]), _x([2, 4], name="h"), _x([2, 4], name="c")
    part, hi, ci = _x([2, 1, 3], name="part"), _x([2, 4], name="hi"), _x([2, 4], name="ci")
    flat = op.squeeze(part, _c([1], I64))
    cell = op.lstm_cell(flat, hi, ci, _w(16, 3), _w(16, 4), _w(16), 4)
    wide = op.unsqueeze(cell.output(0), _c([1], I64))
    body = _model([wide, cell.output(0), cell.output(1)], [part, hi, ci], "body")
    results = body.get_results()
    node = op.tensor_iterator()
    node.set_body(body)
    node.set_sliced_input(part, x.output(0), 0, 1, 1, -1, 1)
    node.set_merged_input(hi, h.output(0), results[1].output(0))
    node.set_merged_input(ci, c.output(0), results[2].output(0))
    outs = [
        node.get_concatenated_slices(results[0].output(0), 0, 1, 1, -1, 1),
        node.get_iter_value(results[1].output(0), -1),
    ]
    return _model([op.relu(outs[0]), outs[1]], [x, h, c], "iterator")


def loop() -> Any:
    x, trips = _x([1, 4]), _x([], I64, "trips")
    number, inner = _x([], I64, "number"), _x([1, 4], name="inner")
    scale = _x([1], name="scale")
    grown = op.add(op.multiply(inner, scale), op.convert(number, "f32"))
    go = op.less(op.reduce_sum(grown, _c([0, 1], I64), False), _c(1e6))
    body = _model([op.result(go), op.result(grown)], [number, inner, scale], "body")
    node = op.loop(trips, _c(True, np.bool_))
    node.set_function(body)
    node.set_special_body_ports([0, 0])
    node.set_invariant_input(scale, _c([0.5]).output(0))
    node.set_merged_input(inner, x.output(0), body.get_results()[1].output(0))
    last = node.get_iter_value(body.get_results()[1].output(0), -1)
    every = node.get_concatenated_slices(body.get_results()[1].output(0), 0, 1, 1, -1, 0)
    return _model([op.relu(last), every], [x, trips], "loop")


def _choice(flag: Any, data: Any, yes: Callable[[Any], Any], no: Callable[[Any], Any], shape: Sequence[object]) -> Any:
    a, b = _x(shape, name="a"), _x(shape, name="b")
    then, other = _model([yes(a)], [a], "then"), _model([no(b)], [b], "else")
    node = op.if_op(flag)
    node.set_then_body(then)
    node.set_else_body(other)
    node.set_input(data.output(0), a, b)
    return node.set_output(then.get_results()[0], other.get_results()[0])


def branches() -> Any:
    x, flag = _x([2, 3]), _x([1], np.bool_, "flag")
    out = _choice(
        flag.output(0), x, lambda a: op.multiply(a, _c([2.0])), lambda b: op.subtract(op.abs(b), _c([1.0])), [2, 3]
    )
    return _model([op.exp(out)], [x, flag], "branches")


def nested() -> Any:
    """A Loop whose body holds an If, whose branch holds a Loop."""
    x, flag = _x([2, 2]), _x([1], np.bool_, "flag")

    def inner_loop(data: Any) -> Any:
        inner = _x([2, 2], name="in2")
        body = _model([_c(True, np.bool_), op.add(inner, _c([[1.0, 2.0], [3.0, 4.0]]))], [inner], "deep")
        node = op.loop(_c(3, I64), _c(True, np.bool_))
        node.set_function(body)
        node.set_special_body_ports([-1, 0])
        node.set_merged_input(inner, data.output(0), body.get_results()[1].output(0))
        return op.relu(node.get_iter_value(body.get_results()[1].output(0), -1))

    state, again = _x([2, 2], name="state"), _x([1], np.bool_, "again")
    chosen = _choice(again.output(0), state, inner_loop, lambda b: op.sigmoid(b), [2, 2])
    body = _model([op.result(_c(True, np.bool_)), op.result(op.tanh(chosen))], [state, again], "outer")
    node = op.loop(_c(2, I64), _c(True, np.bool_))
    node.set_function(body)
    node.set_special_body_ports([-1, 0])
    node.set_invariant_input(again, flag.output(0))
    node.set_merged_input(state, x.output(0), body.get_results()[1].output(0))
    return _model([op.negative(node.get_iter_value(body.get_results()[1].output(0), -1))], [x, flag], "nested")


def state() -> Any:
    x = _x([1, 3])
    read = op.read_value(_c([[0.0, 0.0, 0.0]]), "memory", ov.Type.f32, ov.PartialShape([1, 3]))
    total = op.add(x, read)
    kept = op.assign(total, "memory")
    return _model([op.relu(total)], [x], "state", [kept])


def detection() -> Any:
    x = _x([1, 4, 6, 6])
    image = _x([1, 3, 48, 48], name="image")
    attrs = {
        "min_size": np.array([12.0], F32),
        "max_size": np.array([20.0], F32),
        "aspect_ratio": np.array([2.0], F32),
        "flip": True,
        "clip": False,
        "step": 8.0,
        "offset": 0.5,
        "variance": np.array([0.1, 0.1, 0.2, 0.2], F32),
        "scale_all_sizes": True,
    }
    sizes = [op.slice(op.shape_of(t, "i64"), _c([2], I64), _c([4], I64), _c([1], I64)) for t in (x, image)]
    prior = op.unsqueeze(op.prior_box(sizes[0], sizes[1], attrs), _c([0], I64))
    boxes = op.reshape(op.convolution(x, _w(16, 4, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1]), _c([1, -1], I64), False)
    scores = op.reshape(op.convolution(x, _w(8, 4, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1]), _c([1, -1], I64), False)
    found = opset8.detection_output(
        boxes,
        scores,
        prior,
        {
            "background_label_id": 0,
            "top_k": 20,
            "keep_top_k": np.array([10], I32),
            "nms_threshold": 0.45,
            "confidence_threshold": 0.3,
            "code_type": "caffe.PriorBoxParameter.CENTER_SIZE",
            "share_location": True,
            "variance_encoded_in_target": False,
            "normalized": True,
        },
    )
    return _model([found], [x, image], "detection")


def logic() -> Any:
    a, b, mask = _x([2, 3], name="a,b"), _x([1, 3], I32, "b"), _x([2, 1], np.bool_, "mask")
    as_int = op.convert(a, "i32")
    bigger, same = op.greater(as_int, b), op.equal(as_int, b)
    both = op.logical_and(op.logical_or(bigger, same), op.logical_not(mask))
    picked = op.select(both, as_int, b)
    low = op.minimum(op.maximum(picked, b), _c([[7, 8, 9]], I32))
    rest = op.floor_mod(op.divide(low, _c([2], I32)), _c([3], I32))
    parts = op.split(op.concat([rest, low], 1), _c(1, I64), 3)
    parts.output(0).get_tensor().set_names({"first", "a,1"})
    parts.output(2).get_tensor().set_names({"third \u00e4 <&>"})
    return _model(
        [parts.output(0), parts.output(2), op.reduce_logical_or(both, _c([1], I64), True)], [a, b, mask], "logic"
    )


def element_types() -> Any:
    x = _x([4], np.float16)
    total = op.convert(x, "f32")
    for constant in (
        op.constant(np.array([1, 2, 3, 4], np.float16)),
        op.constant(np.array([1, 2, 3, 4]), dtype=ov.Type.bf16),
        op.constant(np.array([1, 2, 3, 4], np.float64)),
        op.constant(np.array([1, 2, 3, 4], np.uint8)),
        op.constant(np.array([1, 2, 3, 4], np.int8)),
        op.constant(np.array([1, -2, 3, 4]), dtype=ov.Type.i4),
        op.constant(np.array([1, 2, 3, 4]), dtype=ov.Type.u4),
        op.constant(np.array([1, 0, 1, 1]), dtype=ov.Type.u1),
    ):
        total = op.add(total, op.convert(constant, "f32"))
    return _model([op.convert(total, "f16"), op.convert_like(total, _c([1], I32))], [x], "element_types")


def strings() -> Any:
    x = op.parameter(ov.PartialShape([3]), ov.Type.string, name="x")
    x.output(0).get_tensor().set_names({"x"})
    words = Constant(ov.Tensor(["one", "two \u00fc", ""]))
    return _model([op.result(op.gather(words, _c([2, 0], I64), _c(0, I64))), op.result(x)], [x], "strings")


def dynamic() -> Any:
    x, y = _x([ov.Dimension(), 3, ov.Dimension(8, 32), ov.Dimension(8, 32)]), _x([-1, -1], name="y")
    a = opset1.avg_pool(x, [2, 2], [0, 0], [0, 0], [2, 2], True, "floor", "explicit")
    b = op.relu(op.convolution(a, _w(4, 3, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1]))
    c = op.reduce_max(b, _c([2, 3], I64), False)
    d = op.matmul(op.softmax(y, 1), y, False, True)
    e = op.non_zero(y, "i64")
    return _model([c, d, e], [x, y], "dynamic")


def informed() -> Any:
    x = _x([1, 6])
    shared = _c(np.arange(6).reshape(1, 6))
    first = op.add(x, shared)
    first.set_friendly_name('sum <1>, "a"')
    first.get_rt_info()["fused_names_0"] = "sum,x"
    second = op.multiply(first, shared)
    out = op.hswish(op.hsigmoid(op.mish(second)))
    model = _model([out], [x], "informed")
    model.set_rt_info("a & <b>", ["framework", "deep", "name"])
    model.set_rt_info("2,3", ["conversion_parameters", "mean"])
    return model


SAMPLES = """
Asinh-4 Atan-1 BatchNormInference-1 BatchToSpace-2 BitwiseAnd-13 Broadcast-1 Bucketize-3 CTCGreedyDecoder-1
CTCGreedyDecoderSeqLen-6 Ceiling-1 Cos-1 Cosh-1 CumSum-3 DFT-7 DeformableConvolution-8 DepthToSpace-1 Einsum-7
EmbeddingBagOffsetsSum-3 EmbeddingBagPackedSum-3 EmbeddingSegmentsSum-3 Erf-1 ExtractImagePatches-3 Eye-9 Floor-1
GRUCell-3 GRUSequence-5 Gather-1 GatherElements-6 GatherND-8 GatherTree-1 Gelu-2 GreaterEqual-1 GridSample-9
GroupNormalization-12 HardSigmoid-1 Interpolate-1 Interpolate-4 Interpolate-11 IsNaN-10 LSTMSequence-5 LessEqual-1
LogicalXor-2 MVN-2 Mod-1 NonMaxSuppression-3 NonMaxSuppression-9 NotEqual-1 OneHot-1 PSROIPooling-1 Pad-1 Pad-12
PriorBoxClustered-1 RNNSequence-5 ROIAlign-9 ROIPooling-2 ReduceL1-4 ReduceL2-4 ReduceMin-1 RegionYolo-1 ReorgYolo-2
ReverseSequence-1 Roll-7 Round-5 ScaledDotProductAttention-13 ScatterElementsUpdate-12 ScatterNDUpdate-15
SearchSorted-15 Selu-1 ShapeOf-1 ShuffleChannels-1 Sign-1 Sin-1 Sinh-1 SoftPlus-4 SoftSign-9 SpaceToBatch-2
SpaceToDepth-1 SquaredDifference-1 TopK-1 TopK-11 Unique-10
"""
"""Types and opsets of the layers of a model of one layer of each, beside each other."""
FIRST_OF_EACH = ("GatherElements", "HardSigmoid", "PSROIPooling", "ROIAlign", "ScatterElementsUpdate", "Selu")
"""Types whose later inputs are constants of zeros: they are indices or boxes, or the CPU plugin takes nothing else."""


def samples() -> Any:
    """The layers that other tests have of each operation."""
    layers = []
    for type, _, opset in (name.partition("-") for name in SAMPLES.split()):
        op = find_op(type, f"opset{opset}")
        sample = sample_of(op) if op else None
        assert sample is not None
        slots = [_zeros(slot) if number and type in FIRST_OF_EACH else slot for number, slot in enumerate(sample.slots)]
        layers.append((type, int(opset), sample.raw, slots))
    return several(layers)


def _zeros(slot: Slot) -> Slot:
    """A constant in place of a parameter."""
    if not isinstance(slot, tuple):
        return slot
    kind, shape = slot
    return np.zeros([int(size) for size in shape.split(",") if size], element_type(kind).dtype)


BUILT = (
    pooling,
    new_pooling,
    convolutions,
    attention,
    shape_arithmetic,
    iterator,
    loop,
    branches,
    nested,
    state,
    detection,
    logic,
    element_types,
    strings,
    dynamic,
    informed,
    samples,
)
OLD_STYLE = ("pooling", "convolutions", "iterator", "logic")
"""Those that exist in the manner of Model Optimizer too."""


def _name_all(model: Any) -> None:
    """Names that do not depend on what was built before."""
    counts: dict[str, int] = {}
    for node in model.get_ordered_ops():
        kind = node.get_type_name()
        number = counts[kind] = counts.get(kind, -1) + 1
        if node.get_friendly_name().rpartition("_")[0] == kind:
            node.set_friendly_name(f"{kind}_{number}")
        bodies = {"If": ("get_then_body", "get_else_body"), "Loop": ("get_function",), "TensorIterator": ("get_body",)}
        for body in bodies.get(kind, ()):
            _name_all(getattr(node, body)())


def _serialised(build: Callable[[], Any], folder: str) -> Base:
    model = build()
    _name_all(model)
    path = Path(folder) / f"{build.__name__}.xml"
    ov.serialize(model, path, path.with_suffix(".bin"))
    return Base(build.__name__, parse(path.read_bytes()), path.with_suffix(".bin").read_bytes())


def _old_style(base: Base) -> Base:
    """The same as IR v10 in the style of Model Optimizer: `2,2` lists, no rt_info, no names, no type at inputs."""
    root = base.root.copy()
    root.set("version", "10")
    root.children = [child for child in root.children if not isinstance(child, Node) or child.tag != "rt_info"]
    for node in root.walk():
        node.children = [child for child in node.children if not isinstance(child, Node) or child.tag != "rt_info"]
        if node.tag == "data":
            node.attrs = [(name, value.replace(", ", ",")) for name, value in node.attrs]
        if node.tag == "layer":
            node.drop("output_names")
        if node.tag == "input":
            for port in node.all("port"):
                port.drop("precision")
        if node.tag == "port":
            node.drop("names")
    return Base(f"{base.name}_v10", root, base.weights, MODEL_OPTIMIZER)


def base_names() -> list[str]:
    """The names of `bases`, without making them."""
    return [*(build.__name__ for build in BUILT), *(f"{name}_v10" for name in OLD_STYLE), *HANDMADE]


@cache
def bases() -> dict[str, Base]:
    """Every base model by name."""
    with tempfile.TemporaryDirectory() as folder:
        built = {build.__name__: _serialised(build, folder) for build in BUILT}
    old = [_old_style(built[name]) for name in OLD_STYLE]
    hand = [Base(name, parse(text), weights, MODEL_OPTIMIZER) for name, (text, weights) in HANDMADE.items()]
    return {**built, **{base.name: base for base in (*old, *hand)}}
