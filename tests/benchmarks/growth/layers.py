"""Layers: many of one kind, wrong ones, names, constants, variables."""

import struct
from collections.abc import Callable, Mapping

from tests.benchmarks.growth.attributes import POOL, pool
from tests.benchmarks.growth.pieces import Sample, chain, constant, sample
from tests.ir_text import edge, layer, net, parameter, port, relu, result

__all__ = ["LAYERS"]

SMALL = (1, 8)
SHAPED = ' variable_type="f32" variable_shape="1,8,16,16"'


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


def parameters(count: int) -> Sample:
    return Sample(net((parameter(at, SMALL, tag=f' names="in{at}"') for at in range(count)), ()))


def results(count: int) -> Sample:
    ends = (result(at + 1, SMALL) for at in range(count))
    return Sample(net([parameter(0, SMALL), *ends], (edge(0, 0, at + 1, 0) for at in range(count))))


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


def constants_read(count: int) -> Sample:
    """Constants of shape that a Reshape reads."""
    kind = 'element_type="i64" shape="2" offset="0" size="16" '
    inner = []
    for at in range(3, 2 * count + 3, 2):
        inner.append(layer(at, "Const", data=kind, outputs=[port(0, [2], precision="I64")]))
        inputs = [port(0), port(1, [2], precision="I64")]
        inner.append(layer(at + 1, "Reshape", data='special_zero="true"', inputs=inputs, outputs=[port(2, (1, 2048))]))
    wires = (text for at in range(3, 2 * count + 3, 2) for text in (edge(0, 0, at + 1, 0), edge(at, 0, at + 1, 1)))
    return sample(layers=inner, edges=wires, weights=struct.pack("<2q", 1, 2048))


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


def strings(count: int) -> Sample:
    """One constant of as many strings."""
    text = b"word" * count
    data = struct.pack(f"<{count + 2}i", count, *range(0, 4 * count + 1, 4)) + text
    kind = f'element_type="string" shape="{count}" offset="0" size="{len(data)}"'
    made = layer(3, "Const", data=kind, outputs=[port(0, [count], precision="STRING")])
    return sample(layers=[made], weights=data)


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

    def make(count: int) -> Sample:
        inner, wires = list[str](), list[str]()
        for at in range(3, 2 * count + 3, 2):
            ends = [port(0)], [port(1)]
            for number, kind, more in ((at, "ReadValue", SHAPED), (at + 1, "Assign", "")):
                data = f'variable_id="{name(at)}"{more}'
                inner.append(layer(number, kind, version="opset6", data=data, inputs=ends[0], outputs=ends[1]))
            wires += [edge(0, 0, at, 0), edge(at, 1, at + 1, 0)]
        return sample(layers=inner, edges=wires)

    return make


def one_variable(kind: str) -> Callable[[int], Sample]:
    """As many layers that store or read one variable."""

    def make(count: int) -> Sample:
        data = f'variable_id="state"{SHAPED}'
        numbers = range(3, count + 3)
        inner = (layer(at, kind, version="opset6", data=data, inputs=[port(0)], outputs=[port(1)]) for at in numbers)
        return sample(layers=inner, edges=(edge(0, 0, at, 0) for at in numbers))

    return make


def remainders(count: int) -> Sample:
    """A chain of Mod, each with the same divisor."""
    data = 'element_type="f32" shape="1" offset="0" size="4"'
    inner = [layer(1, "Const", data=data, outputs=[port(0, [1])])]
    wires = [edge(0, 0, 2, 0)]
    for at in range(2, count + 2):
        ends = [port(0, SMALL), port(1, [1])], [port(2, SMALL)]
        inner.append(layer(at, "Mod", data='auto_broadcast="pdpd"', inputs=ends[0], outputs=ends[1]))
        wires += [edge(1, 0, at, 1), edge(at, 2, at + 1, 0)]
    ends_with = result(count + 2, SMALL)
    return Sample(net([parameter(0, SMALL), *inner, ends_with], wires), struct.pack("<f", 2))


def sizes_computed(count: int) -> Sample:
    """A long way of ShapeOf and Broadcast, where sizes travel as values."""
    inner, wires, last = [], [], (0, 0)
    for at in range(3, 2 * count + 3, 2):
        inner.append(
            layer(
                at,
                "ShapeOf",
                version="opset3",
                data='output_type="i64"',
                inputs=[port(0, ["-1"] * 4)],
                outputs=[port(1, [4], precision="I64")],
            )
        )
        inputs = [port(0, ["-1"] * 4), port(1, [4], precision="I64")]
        data = 'mode="numpy"'
        inner.append(
            layer(at + 1, "Broadcast", version="opset3", data=data, inputs=inputs, outputs=[port(2, ["-1"] * 4)])
        )
        wires += [edge(*last, at, 0), edge(*last, at + 1, 0), edge(at, 1, at + 1, 1)]
        last = (at + 1, 2)
    start = layer(0, "Parameter", data='shape="1..4,?,16,16" element_type="f32"', outputs=[port(0, [-1, -1, 16, 16])])
    return Sample(net([start, *inner, result(1, ["-1"] * 4)], [*wires, edge(*last, 1, 0)]))


def growing(count: int) -> Sample:
    """A chain in which each layer has another shape: paddings by one."""
    wires, last = [], (0, 0)
    pads = 'element_type="i64" shape="4" offset="0" size="32"'
    inner = [layer(number, "Const", data=pads, outputs=[port(0, [4], precision="I64")]) for number in (1, 2)]
    for at in range(3, count + 3):
        size = at - 3
        before, after = [1, 8, 16, 16 + 2 * size], [1, 8, 16, 18 + 2 * size]
        inputs = [port(0, before), port(1, [4], precision="I64"), port(2, [4], precision="I64")]
        inner.append(layer(at, "Pad", data='pad_mode="edge"', inputs=inputs, outputs=[port(3, after)]))
        wires += [edge(*last, at, 0), edge(1, 0, at, 1), edge(2, 0, at, 2)]
        last = (at, 3)
    end = result(count + 3, [1, 8, 16, 16 + 2 * count])
    return Sample(net([parameter(0), *inner, end], [*wires, edge(*last, count + 3, 0)]), struct.pack("<4q", 0, 0, 0, 1))


def pieces_of_a_product(count: int) -> Sample:
    """StridedSlices that are multiplied, one after the other."""
    mask = 'begin_mask="0" end_mask="0" new_axis_mask="" shrink_axis_mask="" ellipsis_mask=""'
    small, one = port(0, [8]), [1]
    data = 'element_type="i64" shape="1" offset="{}" size="8"'
    ends = [layer(at + 1, "Const", data=data.format(8 * at), outputs=[port(0, one, precision="I64")]) for at in (0, 1)]
    inner, wires, last = [], [], (0, 0)
    for at in range(3, 2 * count + 3, 2):
        inputs = [small, *(port(number, one, precision="I64") for number in (1, 2))]
        inner.append(layer(at, "StridedSlice", data=mask, inputs=inputs, outputs=[port(3, [8])]))
        inputs = [small, port(1, [8])]
        inner.append(layer(at + 1, "Multiply", data='auto_broadcast="numpy"', inputs=inputs, outputs=[port(2, [8])]))
        wires += [
            edge(0, 0, at, 0),
            edge(1, 0, at, 1),
            edge(2, 0, at, 2),
            edge(at, 3, at + 1, 0),
            edge(*last, at + 1, 1),
        ]
        last = (at + 1, 2)
    layers = [parameter(0, [8]), *ends, *inner, result(2 * count + 3, [8])]
    return Sample(net(layers, [*wires, edge(*last, 2 * count + 3, 0)]), struct.pack("<2q", 0, 8))


def weights_behind_a_chain(count: int) -> Sample:
    """Products with weights of 8 bits, all with data from behind a chain of Reshapes."""
    row, square, last = [1, 8], [8, 8], (0, 0)
    data = 'element_type="i64" shape="2" offset="0" size="16"'
    inner, wires = [layer(1, "Const", data=data, outputs=[port(0, [2], precision="I64")])], []
    for at in range(2, count + 2):
        inputs = [port(0, row), port(1, [2], precision="I64")]
        inner.append(layer(at, "Reshape", data='special_zero="true"', inputs=inputs, outputs=[port(2, row)]))
        wires += [edge(*last, at, 0), edge(1, 0, at, 1)]
        last = (at, 2)
    weights = port(0, square, precision="I8")
    for at in range(count + 2, 5 * count + 2, 4):
        data = 'element_type="i8" shape="8,8" offset="16" size="64"'
        inner.append(layer(at, "Const", data=data, outputs=[weights]))
        data = 'destination_type="f32"'
        inner.append(layer(at + 1, "Convert", data=data, inputs=[weights], outputs=[port(1, square)]))
        data, inputs = 'transpose_a="false" transpose_b="true"', [port(0, row), port(1, square)]
        inner += [layer(at + 2, "MatMul", data=data, inputs=inputs, outputs=[port(2, row)]), result(at + 3, row)]
        wires += [
            edge(at, 0, at + 1, 0),
            edge(at + 1, 1, at + 2, 1),
            edge(*last, at + 2, 0),
            edge(at + 2, 2, at + 3, 0),
        ]
    return Sample(net([parameter(0, row), *inner], wires), struct.pack("<2q", 1, 8) + bytes(64))


def factors_of_bytes(count: int) -> Sample:
    """A chain of products with numbers that are stored in 8 bits."""
    inner, wires, last = [], [], (0, 0)
    numbers = port(0, SMALL, precision="I8")
    for at in range(1, 3 * count + 1, 3):
        data = 'element_type="i8" shape="1,8" offset="0" size="8"'
        inner.append(layer(at, "Const", data=data, outputs=[numbers]))
        data = 'destination_type="f32"'
        inner.append(layer(at + 1, "Convert", data=data, inputs=[numbers], outputs=[port(1, SMALL)]))
        data, inputs = 'auto_broadcast="numpy"', [port(0, SMALL), port(1, SMALL)]
        inner.append(layer(at + 2, "Multiply", data=data, inputs=inputs, outputs=[port(2, SMALL)]))
        wires += [edge(at, 0, at + 1, 0), edge(*last, at + 2, 0), edge(at + 1, 1, at + 2, 1)]
        last = (at + 2, 2)
    end = 3 * count + 1
    return Sample(net([parameter(0, SMALL), *inner, result(end, SMALL)], [*wires, edge(*last, end, 0)]), bytes(8))


def poolings(version: str, to_migrate: str = "floor", **changed: str) -> Callable[[int], Sample]:
    """A chain of poolings."""

    def make(count: int) -> Sample:
        inner = (pool(at, version, rounding_type=to_migrate, **changed) for at in range(1, count + 1))
        return chain(inner, (), count)

    return make


def different_poolings(sizes: tuple[int, int]) -> Callable[[int], Sample]:
    """Poolings of one input, no two of which have the same settings."""
    dims = (1, 8, *sizes)

    def made(number: int) -> str:
        wide, high = number % 37 + 1, number // 37 + 1
        pads = f"{wide // 2}, {high // 2}"
        own = {"kernel": f"{wide}, {high}", "strides": f"{high % 7 + 1}, {wide}", "pads_begin": pads, "pads_end": pads}
        data = " ".join(f'{name}="{text}"' for name, text in (POOL | own | {"rounding_type": "ceil_torch"}).items())
        ports = [port(0, dims)], [port(1, dims)]
        return layer(number + 1, "AvgPool", version="opset14", data=data, inputs=ports[0], outputs=ports[1])

    def make(count: int) -> Sample:
        inner = [parameter(0, dims), *map(made, range(count))]
        return Sample(net(inner, (edge(0, 0, at + 1, 0) for at in range(count))))

    return make


def adaptive(count: int) -> Sample:
    """A chain of AdaptiveAvgPool that keep the size."""
    data = 'element_type="i64" shape="2" offset="0" size="16"'
    const = layer(count + 9, "Const", data=data, outputs=[port(0, [2], precision="I64")])
    numbers = range(1, count + 1)
    inner = (
        layer(
            at,
            "AdaptiveAvgPool",
            version="opset8",
            inputs=[port(0), port(2, [2], precision="I64")],
            outputs=[port(1)],
        )
        for at in numbers
    )
    found = chain([const, *inner], (edge(count + 9, 0, at, 2) for at in numbers), count)
    return found._replace(weights=struct.pack("<2q", 16, 16))


def gathers(count: int) -> Sample:
    """A chain of Gather-1 that read the same constants."""
    consts = (
        layer(
            count + at,
            "Const",
            data=f'element_type="i64" shape="{dims}" offset="0" size="8"',
            outputs=[port(0, [dims] if dims else [], precision="I64")],
        )
        for at, dims in ((9, 1), (10, ""))
    )
    inputs = [port(0), port(2, [1], precision="I64"), port(3, [], precision="I64")]
    inner = (layer(at, "Gather", inputs=inputs, outputs=[port(1)]) for at in range(1, count + 1))
    wires = (edge(count + 9 + at, 0, to, 2 + at) for to in range(1, count + 1) for at in (0, 1))
    return chain([*consts, *inner], wires, count)._replace(weights=bytes(8))


def poolings_of_one_name(count: int) -> Sample:
    """Poolings that become several layers, and layers with the names that those would get."""
    inner = (pool(at, "opset16", dilations="2, 2").replace(f"AvgPool_{at}", "pool") for at in range(1, count + 1))
    taken = (relu(count + 1 + at, name=f"pool/pad/{at}") for at in range(1, count + 1))
    wires = (edge(0, 0, count + 1 + at, 0) for at in range(1, count + 1))
    base = chain(inner, wires, count)
    return base._replace(xml=base.xml.replace(b"\t</layers>", "".join(taken).encode() + b"\t</layers>"))


def spread(count: int) -> Sample:
    """Numbers that become large tensors of one value, which are added up."""
    one, large = port(0, (1,), precision="I64"), (60_000,)
    ends = [port(at, large, precision="I64") for at in range(3)]
    numbers = [
        layer(at, "Const", data=f'element_type="i64" shape="1" offset="{8 * at}" size="8"', outputs=[one])
        for at in range(2)
    ]
    broadcast = [one, port(1, (1,), precision="I64")], ends[2:]
    first = layer(2, "Broadcast", version="opset3", data='mode="numpy"', inputs=broadcast[0], outputs=broadcast[1])
    inner, wires = [*numbers, first], [edge(0, 0, 2, 0), edge(1, 0, 2, 1)]
    for at in range(3, 2 * count + 3, 2):
        inner.append(first.replace('id="2"', f'id="{at}"', 1).replace("Broadcast_2", f"Broadcast_{at}"))
        inner.append(layer(at + 1, "Add", data='auto_broadcast="numpy"', inputs=ends[:2], outputs=ends[2:]))
        wires += [edge(0, 0, at, 0), edge(1, 0, at, 1), edge(at, 2, at + 1, 0), edge(at - 1, 2, at + 1, 1)]
    last = 2 * count + 3
    inner.append(result(last, large, precision="I64"))
    return Sample(net(inner, [*wires, edge(last - 1, 2, last, 0)]), struct.pack("<2q", 1, *large))


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
    "layers that read one variable": one_variable("ReadValue"),
    "a chain of remainders": remainders,
    "sizes that are computed": sizes_computed,
    "a chain of other shapes": growing,
    "numbers that are spread": spread,
    "pieces of a product": pieces_of_a_product,
    "weights behind a chain": weights_behind_a_chain,
    "factors of 8 bits in a chain": factors_of_bytes,
    "poolings that stay": poolings("opset1"),
    "poolings to restamp": poolings("opset14"),
    "poolings in ceil_torch": poolings("opset14", "ceil_torch", strides="1, 1"),
    "poolings with dilations": poolings("opset16", dilations="2, 2", pads_begin="2, 2", pads_end="2, 2"),
    "poolings that all differ": different_poolings((16, 16)),
    "poolings of any size that all differ": different_poolings((-1, -1)),
    "poolings that contradict themselves": poolings("opset14", strides="2", pads_begin="x"),
    "adaptive poolings": adaptive,
    "layers to migrate that read one constant": gathers,
    "names that new layers want": poolings_of_one_name,
}
