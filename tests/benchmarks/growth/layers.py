"""Layers: many of one kind, wrong ones, names, constants, variables."""

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ir_tools.builder import Builder
from tests.benchmarks.growth.attributes import pool
from tests.benchmarks.growth.pieces import Sample, built, chain, constant, sample
from tests.ir_text import DIMS, edge, layer, net, parameter, port, relu, result

__all__ = ["LAYERS"]

SMALL = (1, 8)
SHAPED: Mapping[str, Any] = {"variable_type": "f32", "variable_shape": DIMS}


def more(write: Callable[[int], str], weights: int = 0) -> Callable[[int], Sample]:
    """As many layers more as are asked for, fed by nothing; `weights`: bytes for each."""

    def make(count: int) -> Sample:
        return sample(layers=(write(at) for at in range(3, count + 3)), weights=bytes(weights * count))

    return make


def fed(write: Callable[[int], str]) -> Callable[[int], Sample]:
    """As many layers more, each fed by the Parameter."""

    def make(count: int) -> Sample:
        numbers = range(3, count + 3)
        return sample(layers=map(write, numbers), edges=(edge(0, 0, at, 0) for at in numbers))

    return make


@built()
def parameters(builder: Builder, count: int) -> None:
    for at in range(count):
        builder.parameter(f"in{at}", SMALL)


@built()
def results(builder: Builder, count: int) -> None:
    data = builder.parameter("data", SMALL)
    for _ in range(count):
        builder.result(data)


def results_of_one(name: Callable[[int], str]) -> Callable[[int], Sample]:
    """As many Results that read what a ReLU gives, a tensor with as many names."""

    def make(count: int) -> Sample:
        ends = (result(at + 2, SMALL) for at in range(count))
        wires = [edge(0, 0, 1, 0), *(edge(1, 1, at + 2, 0) for at in range(count))]
        names = ",".join(dict.fromkeys(map(name, range(count))))
        start = relu(1, dims=SMALL, tag=f' names="{names}"')
        return Sample(net([parameter(0, SMALL), start, *ends], wires))

    return make


def constants(
    place: Callable[[int, int], int], weights: Callable[[int], int], size: int = 4
) -> Callable[[int], Sample]:
    """As many constants; `place`: where each of how many begins; `weights`: how many bytes there are."""

    def make(count: int) -> Sample:
        found = sample(layers=(constant(at + 3, place(at, count), size) for at in range(count)))
        return found._replace(weights=bytes(weights(count)))

    return make


@built()
def constants_read(builder: Builder, count: int) -> None:
    """Constants of shape that a Reshape reads."""
    data, _ = builder.parameter("data", DIMS), builder.constant([1, 2048])
    for _ in range(count):
        builder.call("Reshape", data, builder.stored(0, "i64", [2]), special_zero=True)
    builder.result(data)


def lists_that_overlap(count: int) -> Sample:
    """Lists of lengths, each from another byte of the `.bin` on, for as many VariadicSplits."""
    length, small = 4096, port(0, SMALL)
    inputs = [small, port(1, (), precision="I64"), port(2, [length], precision="I64")]
    data = 'element_type="i64" shape="" offset="0" size="8"'
    inner, wires = [layer(3, "Const", data=data, outputs=[port(0, (), precision="I64")])], []
    for at in range(4, 2 * count + 4, 2):
        data = f'element_type="i64" shape="{length}" offset="{4 * at}" size="{8 * length}"'
        inner.append(layer(at, "Const", data=data, outputs=[port(0, [length], precision="I64")]))
        inner.append(layer(at + 1, "VariadicSplit", inputs=inputs, outputs=[port(3, SMALL)]))
        wires += [edge(0, 0, at + 1, 0), edge(3, 0, at + 1, 1), edge(at, 0, at + 1, 2)]
    return sample(layers=inner, edges=wires, weights=bytes(8 * (length + count + 4)))


def strings_that_overlap(count: int) -> Sample:
    """Constants of strings that read the same bytes."""
    data, inner = strings(20_000).weights, []
    for at in range(3, count + 3):
        kind = f'element_type="string" shape="20000" offset="0" size="{len(data)}" more="{at}"'
        inner.append(layer(at, "Const", data=kind, outputs=[port(0, [20_000], precision="STRING")]))
    return sample(layers=inner, weights=data)


@built()
def strings(builder: Builder, count: int) -> None:
    """One constant of as many strings."""
    builder.result(builder.constant(["word"] * count))


def long_constant(count: int) -> Sample:
    """A list of sizes of as many numbers that a Reshape reads."""
    data = struct.pack(f"<{count}q", *[1] * count)
    kind = f'element_type="i64" shape="{count}" offset="0" size="{len(data)}"'
    made = layer(3, "Const", data=kind, outputs=[port(0, [count], precision="I64")])
    inputs = [port(0, SMALL), port(1, [count], precision="I64")]
    reshape = layer(4, "Reshape", data='special_zero="true"', inputs=inputs, outputs=[port(2, [1] * count)])
    return sample(layers=[made, reshape], edges=[edge(0, 0, 4, 0), edge(3, 0, 4, 1)], weights=data)


def variables(name: Callable[[int], str]) -> Callable[[int], Sample]:
    """Pairs of ReadValue and Assign."""

    @built()
    def make(builder: Builder, count: int) -> None:
        data = builder.parameter("data", DIMS)
        for at in range(count):
            read = builder.call("ReadValue", data, variable_id=name(at), **SHAPED)
            builder.call("Assign", read, variable_id=name(at))
        builder.result(data)

    return make


def one_variable(type: str, **shaped: Any) -> Callable[[int], Sample]:
    """As many layers that store or read one variable."""

    @built()
    def make(builder: Builder, count: int) -> None:
        data = builder.parameter("data", DIMS)
        for _ in range(count):
            builder.call(type, data, variable_id="state", **shaped)
        builder.result(data)

    return make


@built()
def remainders(builder: Builder, count: int) -> None:
    """A chain of Mod, each with the same divisor."""
    end, divisor = builder.parameter("data", SMALL), builder.constant(np.array([2], np.float32))
    for _ in range(count):
        end = builder.call("Mod", end, divisor, auto_broadcast="pdpd")
    builder.result(end)


@built()
def sizes_computed(builder: Builder, count: int) -> None:
    """A long way of ShapeOf and Broadcast, where sizes travel as values."""
    end = builder.parameter("data", "1..4,?,16,16")
    for _ in range(count):
        end = builder.call("Broadcast", end, builder.call("ShapeOf", end, output_type="i64"))
    builder.result(end)


@built()
def growing(builder: Builder, count: int) -> None:
    """A chain in which each layer has another shape: paddings by one."""
    end, pads = builder.parameter("data", DIMS), builder.constant([0, 0, 0, 1])
    for _ in range(count):
        end = builder.call("Pad", end, pads, pads, pad_mode="edge")
    builder.result(end)


@built()
def pieces_of_a_product(builder: Builder, count: int) -> None:
    """StridedSlices that are multiplied, one after the other."""
    end = data = builder.parameter("data", [8])
    start, stop = builder.constant([0]), builder.constant([8])
    for _ in range(count):
        part = builder.call("StridedSlice", data, start, stop, begin_mask=0, end_mask=0)
        end = builder.call("Multiply", part, end)
    builder.result(end)


@built()
def weights_behind_a_chain(builder: Builder, count: int) -> None:
    """Products with weights of 8 bits, all with data from behind a chain of Reshapes."""
    row, sizes = builder.parameter("data", SMALL), builder.constant(SMALL)
    for _ in range(count):
        row = builder.call("Reshape", row, sizes, special_zero=True)
    offset, _ = builder.model.weights.append(bytes(64))
    for _ in range(count):
        numbers = builder.stored(offset, "i8", (8, 8))
        matrix = builder.call("Convert", numbers, destination_type="f32")
        builder.result(builder.call("MatMul", row, matrix, transpose_b=True))


@built()
def factors_of_bytes(builder: Builder, count: int) -> None:
    """A chain of products with numbers that are stored in 8 bits."""
    end = builder.parameter("data", SMALL)
    for _ in range(count):
        numbers = builder.constant(np.zeros(SMALL, np.int8))
        end = builder.call("Multiply", builder.call("Convert", numbers, destination_type="f32"), end)
    builder.result(end)


def poolings(version: str, to_migrate: str = "floor", **changed: str) -> Callable[[int], Sample]:
    """A chain of poolings."""

    def make(count: int) -> Sample:
        inner = (pool(at, version, rounding_type=to_migrate, **changed) for at in range(1, count + 1))
        return chain(inner, (), count)

    return make


def different_poolings(*sizes: int) -> Callable[[int], Sample]:
    """Poolings of one input, no two of which have the same settings."""

    @built(14)
    def make(builder: Builder, count: int) -> None:
        data = builder.parameter("data", (1, 8, *sizes))
        for at in range(count):
            wide, high = at % 37 + 1, at // 37 + 1
            pads = wide // 2, high // 2
            kernel, strides = (wide, high), (high % 7 + 1, wide)
            lists: Mapping[str, Any] = {"kernel": kernel, "strides": strides, "pads_begin": pads, "pads_end": pads}
            builder.call("AvgPool", data, exclude_pad=True, rounding_type="ceil_torch", **lists)

    return make


@built()
def adaptive(builder: Builder, count: int) -> None:
    """A chain of AdaptiveAvgPool that keep the size."""
    end, sizes = builder.parameter("data", DIMS), builder.constant([16, 16])
    for _ in range(count):
        end = builder.call("AdaptiveAvgPool", end, sizes)
    builder.result(end)


@built(1)
def gathers(builder: Builder, count: int) -> None:
    """A chain of Gather-1 that read the same constants."""
    end, first, axis = builder.parameter("data", DIMS), builder.constant([0]), builder.constant(0)
    for _ in range(count):
        end = builder.call("Gather", end, first, axis)
    builder.result(end)


def poolings_of_one_name(count: int) -> Sample:
    """Poolings that become several layers, and layers with the names that those would get."""
    inner = (pool(at, "opset16", dilations="2, 2").replace(f"AvgPool_{at}", "pool") for at in range(1, count + 1))
    taken = (relu(count + 1 + at, name=f"pool/pad/{at}") for at in range(1, count + 1))
    wires = (edge(0, 0, count + 1 + at, 0) for at in range(1, count + 1))
    base = chain(inner, wires, count)
    return base._replace(xml=base.xml.replace(b"\t</layers>", "".join(taken).encode() + b"\t</layers>"))


@built()
def spread(builder: Builder, count: int) -> None:
    """Numbers that become large tensors of one value, which are added up."""
    one, size = builder.constant([1]), builder.constant([60_000])
    end = builder.call("Broadcast", one, size)
    for _ in range(count):
        end = builder.call("Add", builder.call("Broadcast", one, size), end)
    builder.result(end)


@built()
def parts_of_strides(builder: Builder, count: int) -> None:
    """StridedSlices that one Concat reads."""
    data = builder.parameter("data", SMALL)
    ends = [builder.constant(values) for values in ([0, 0], [1, 2])]
    parts = (builder.call("StridedSlice", data, *ends, begin_mask=[0, 0], end_mask=[0, 0]) for _ in range(count))
    builder.result(builder.call("Concat", *parts, axis=1))


@built()
def constants_joined(builder: Builder, count: int) -> None:
    """Constants that one Concat reads."""
    parts = (builder.constant(np.ones(SMALL, np.int8)) for _ in range(count))
    builder.result(builder.call("Concat", builder.parameter("data", SMALL, "i8"), *parts, axis=1))


@built()
def convolutions_joined(builder: Builder, count: int) -> None:
    """Convolutions of one tensor that one Concat reads."""
    data, weights = builder.parameter("data", [1, 2, 4]), builder.constant(np.ones([2, 1, 1, 1], np.float32))
    windows: Mapping[str, Any] = {"strides": 1, "pads_begin": 0, "pads_end": 0, "dilations": 1}
    made = (builder.call("GroupConvolution", data, weights, **windows) for _ in range(count))
    builder.result(builder.call("Concat", *made, axis=1))


@built()
def joined_with_one(builder: Builder, count: int) -> None:
    """SoftMaxes of one tensor, each with another one behind it."""
    data = builder.call("ReLU", builder.parameter("data", SMALL))
    for _ in range(count):
        joined = builder.call("Concat", data, builder.call("Abs", data), axis=1)
        builder.result(builder.call("SoftMax", joined, axis=1))


LAYERS: Mapping[str, Callable[[int], Sample]] = {
    "Parameters": parameters,
    "Results": results,
    "Results of a layer": results_of_one(lambda at: "one"),
    "Results of a tensor of many names": results_of_one(str),
    "layers that nothing feeds": more(relu),
    "layers without content": more(lambda at: f'<layer id="{at}" name="l{at}" type="ReLU" version="opset1"/>\n'),
    "layers of unknown types": fed(lambda at: relu(at).replace("ReLU", f"Foo{at}")),
    "layers of misspelled types": fed(lambda at: relu(at).replace("ReLU", f"Convolution{at}")),
    "layers of extensions": fed(
        lambda at: relu(at).replace('type="ReLU" version="opset1"', f'type="Foo{at}" version="extension"')
    ),
    "layers of unknown opsets": fed(lambda at: relu(at).replace("opset1", f"opset{at + 99}")),
    "layers without type": fed(lambda at: relu(at).replace(' type="ReLU"', "")),
    "layers without id": fed(lambda at: relu(at).replace(f'id="{at}" ', "")),
    "layers of one id": fed(lambda at: relu(3, name=f"l{at}")),
    "layers whose ids are not numbers": fed(lambda at: relu(at).replace(f'id="{at}"', f'id="x{at}"')),
    "layers of one name": fed(lambda at: relu(at, name="same")),
    "layers without a name": fed(lambda at: relu(at).replace(f'name="ReLU_{at}"', 'name=""')),
    "names that end in numbers": fed(lambda at: relu(at, name=f"same/{at}")),
    "constants of the same bytes": constants(lambda at, count: 0, lambda count: 4),
    "constants beside each other": constants(lambda at, count: 4 * at, lambda count: 4 * count),
    "constants that overlap": constants(lambda at, count: at, lambda count: count + 64, 64),
    "lists that overlap": lists_that_overlap,
    "strings that overlap": strings_that_overlap,
    "constants in the opposite order": constants(lambda at, count: 4 * (count - at), lambda count: 4 * count + 4),
    "constants outside the .bin": constants(lambda at, count: 4 * at, lambda count: 4),
    "constants without elements": constants(lambda at, count: at, lambda count: count, 0),
    "constants of a wrong size": more(lambda at: constant(at, 0, 4).replace('size="4"', f'size="{at + 9}"'), 9),
    "constants that cannot be read": more(lambda at: constant(at, 0, 4).replace('"u8"', f'"u8_{at}"'), 4),
    "constants that are read": constants_read,
    "strings of one constant": strings,
    "numbers of one constant": long_constant,
    "variables": variables(lambda at: f"state{at}"),
    "variables with long names": variables(lambda at: f"{'state' * 200}{at}"),
    "layers that store one variable": one_variable("Assign"),
    "layers that read one variable": one_variable("ReadValue", **SHAPED),
    "a chain of remainders": remainders,
    "sizes that are computed": sizes_computed,
    "a chain of other shapes": growing,
    "numbers that are spread": spread,
    "parts that are joined": parts_of_strides,
    "constants that are joined": constants_joined,
    "convolutions that are joined": convolutions_joined,
    "tensors joined with one": joined_with_one,
    "pieces of a product": pieces_of_a_product,
    "weights behind a chain": weights_behind_a_chain,
    "factors of 8 bits in a chain": factors_of_bytes,
    "poolings that stay": poolings("opset1"),
    "poolings to restamp": poolings("opset14"),
    "poolings in ceil_torch": poolings("opset14", "ceil_torch", strides="1, 1"),
    "poolings with dilations": poolings("opset16", dilations="2, 2", pads_begin="2, 2", pads_end="2, 2"),
    "poolings that all differ": different_poolings(16, 16),
    "poolings of any size that all differ": different_poolings(-1, -1),
    "poolings that contradict themselves": poolings("opset14", strides="2", pads_begin="x"),
    "adaptive poolings": adaptive,
    "layers to migrate that read one constant": gathers,
    "names that new layers want": poolings_of_one_name,
}
