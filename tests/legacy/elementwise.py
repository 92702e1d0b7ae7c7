"""Random legacy layers of two or more inputs, quantization, selection and images of another size."""

from dataclasses import replace

import numpy as np

from ir_tools.ops.fields import listed
from tests.legacy.activation import number
from tests.legacy.net import (
    LegacyCase,
    Maker,
    Net,
    Rng,
    chance,
    dims,
    kind_of,
    optional,
    pick,
    quantize_type,
    single,
)

OPERATIONS = (
    *("sum", "sum", "sum", "prod", "mul", "max", "min", "sub", "div", "squared_diff", "pow"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("logical_and", "logical_or", "logical_xor"),
)


def eltwise(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 4)
    if chance(rng, 0.1):
        values = [rng.integers(1, 9, shape).astype(np.int32) * pick(rng, 1, -1) for _ in range(2)]
        data = {"operation": pick(rng, "sum", "sub", "mul", "max", "min", "floor_mod")}
        net.layer("Eltwise", [net.input(array) for array in values], [shape], data, precision="I32")
        return net.case()
    operation = pick(rng, *OPERATIONS)
    count = pick(rng, 2, 2, 3, 4) if operation in ("sum", "prod", "mul", "max", "min") else 2
    broadcast = chance(rng, 0.3) and count == 2
    shapes = [shape] * count
    if broadcast:
        small = tuple(1 if chance(rng, 0.5) else size for size in shape)
        shapes = pick(rng, [shape, small], [small, shape])
    values = [net.values(*sizes) for sizes in shapes]
    if operation == "div":
        values[1] = np.sign(values[1] + np.float32(1e-3)) * (np.abs(values[1]) + np.float32(0.2))
    if operation == "pow":
        values[0] = np.abs(values[0]) + np.float32(0.2)
    inputs = [net.input(array.astype(np.float32)) for array in values]
    data = optional(rng, {"operation": operation}, operation="sum")
    if operation == "sum" and chance(rng, 0.4):
        data["coeff"] = pick(rng, "", listed([number(rng) for _ in inputs]))
    net.layer(kind_of(rng, "Eltwise"), inputs, [shape], data)
    return net.case()


def gemm(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    rows, inner, columns = (int(size) for size in rng.integers(1, 7, 3))
    outer = tuple(int(size) for size in rng.integers(1, 4, pick(rng, 0, 1, 2)))
    turned = [int(chance(rng, 0.4)) for _ in range(2)]
    left = (*outer, inner, rows) if turned[0] else (*outer, rows, inner)
    right = (*outer, columns, inner) if turned[1] else (*outer, inner, columns)
    inputs = [net.input(net.values(*left)), net.input(net.values(*right))]
    if chance(rng, 0.4):
        inputs.append(net.input(net.values(*outer, rows, columns)))
    data: dict[str, object] = {
        "alpha": pick(rng, "1", number(rng)),
        "beta": pick(rng, "1", number(rng)),
        "transpose_a": turned[0],
        "transpose_b": turned[1],
    }
    data = optional(rng, data, alpha=1, beta=1, transpose_a=0, transpose_b=0)
    net.layer(pick(rng, "Gemm", "GEMM", "gemm"), inputs, [(*outer, rows, columns)], data or pick(rng, None, {}))
    return net.case()


def fake_quantize(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 2, 4)
    levels = pick(rng, 2, 2, 4, 16, 255, 256)
    by_channel = shape[0] != shape[1] and chance(rng, 0.5)
    ranges = (1, shape[1], *[1] * (len(shape) - 2)) if by_channel else (1,) * len(shape)
    low = net.values(*ranges) - np.float32(1)
    width = np.abs(net.values(*ranges)) + np.float32(0.5)
    out_low = net.values(*ranges)
    if levels == 2 and chance(rng, 0.6):
        least, end = pick(rng, (0, 1), (0, 2), (-1, 2))
        width *= rng.integers(least, end, width.shape)
    edges = [low, low + width, out_low, out_low + width + np.float32(1)]
    source = net.input(net.values(*shape))
    if chance(rng, 0.2):
        edges = [edge.reshape(-1) for edge in edges]
    inputs = [source, *(net.const(edge) for edge in edges)]
    data = {"levels": pick(rng, levels, f"{levels}.0") if version > 3 else levels}
    net.layer(quantize_type(version), inputs, [shape], data)
    bits = levels == 2 and all(np.isin(net.rounded(edge), (0, 1)).all() for edge in edges[2:])
    return net.case(undefined="the old runtime makes bits" if bits else "")


def select(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 4)
    condition = tuple(1 if chance(rng, 0.2) else size for size in shape)
    chosen = net.input(rng.integers(0, 2, condition).astype(np.int32))
    net.layer("Select", [chosen, net.input(net.values(*shape)), net.input(net.values(*shape))], [shape])
    return net.case()


def const(rng: Rng, version: int) -> LegacyCase:
    net = Net(rng, version)
    shape = dims(rng, 1, 4)
    inputs = [net.input(net.values(*shape)), net.const(net.values(*shape))]
    net.layer("Eltwise", inputs, [shape], {"operation": "sum"})
    return net.case()


def preprocess(rng: Rng, version: int) -> LegacyCase:
    """Make a net whose input has mean values, or mean images, in `<pre-process>`."""
    net = Net(rng, version)
    shape = (int(rng.integers(1, 3)), 3, int(rng.integers(2, 6)), int(rng.integers(2, 6)))
    source = net.input(net.values(*shape, scale=20), "FP32")
    net.layer("ReLU", [source], [shape])
    image = chance(rng, 0.4)
    scaled = chance(rng, 0.4)
    channels = ""
    for channel in range(3):
        if image:
            mean = net.values(*shape[2:])
            place = f'offset="{len(net.weights)}" size="{mean.nbytes}"'
            net.weights += mean.tobytes()
        else:
            place = f'value="{number(rng, 0, 20)}"'
        scale = f'<scale value="{number(rng, 1, 5)}"/>' if scaled else ""
        channels += f'<channel id="{channel}"><mean {place}/>{scale}</channel>\n'
    name = pick(rng, ' reference-layer-name="in0"', "")
    net.extra = f'<pre-process mean-precision="FP32"{name}>\n{channels}</pre-process>\n'
    return net.case()


def interp(rng: Rng, version: int) -> LegacyCase:
    shape = (int(rng.integers(1, 3)), pick(rng, 1, 3, 8, 19), *(int(size) for size in rng.integers(1, 8, 2)))
    aligned = int(chance(rng, 0.6))
    begin, end = (pick(rng, 0, 0, 0, -1) if min(shape[2:]) > 2 else 0 for _ in range(2))
    sizes = [int(size) for size in rng.integers(1, 14, 2)]
    style: dict[str, object] = pick(rng, {"height": sizes[0], "width": sizes[1]}, {"factor": "2.0"}, {"zoom_factor": 2})
    if "factor" in style or "zoom_factor" in style:
        sizes = [size * 2 for size in shape[2:]]
    data: dict[str, object] = {"align_corners": aligned, "pad_beg": begin, "pad_end": end} | style
    data = optional(rng, data, align_corners=1)
    return single(rng, version, "Interp", shape, data, (*shape[:2], *sizes))


def resample(rng: Rng, version: int) -> LegacyCase:
    mode = pick(rng, "caffe.ResampleParameter.NEAREST", "caffe.ResampleParameter.LINEAR")
    axes = 3 if mode.endswith("NEAREST") and chance(rng, 0.2) else 2
    shape = (int(rng.integers(1, 3)), pick(rng, 1, 3, 8, 19), *(int(size) for size in rng.integers(3, 8, axes)))
    if chance(rng, 0.6):
        factor = pick(rng, 2, 2, 3, 4)
        sizes = [size * factor for size in shape[2:]]
    else:
        sizes = [int(size) for size in rng.integers(2, 14, axes)]
        factor = 0
    data: dict[str, object] = {"type": mode, "antialias": int(chance(rng, 0.3)), "factor": f"{factor}.0"}
    if not factor:
        data |= {"height": sizes[-2], "width": sizes[-1]}
    made = single(rng, version, "Resample", shape, optional(rng, data, antialias=0), (*shape[:2], *sizes))
    past = mode.endswith("LINEAR") and sizes == [size * 4 for size in shape[2:]]
    return replace(made, undefined="the old runtime may read past the end") if past else made


MAKERS: dict[str, Maker] = {
    "Eltwise": eltwise,
    "GEMM": gemm,
    "FakeQuantize": fake_quantize,
    "Select": select,
    "Const": const,
    "PreProcess": preprocess,
    "Interp": interp,
    "Resample": resample,
}
