"""Ports and dimensions: many on one layer, many in one port, wrong ones."""

from collections.abc import Callable, Mapping

import numpy as np

from ir_tools.builder import Builder
from tests.benchmarks.growth.pieces import Sample, built, sample
from tests.ir_text import edge, layer, net, parameter, port, relu, result

__all__ = ["PORTS"]

SMALL = (1, 8)


@built()
def inputs_fed(builder: Builder, count: int) -> None:
    """A Concat of as many inputs, all fed by one Parameter."""
    data = builder.parameter("data", SMALL)
    builder.result(builder.call("Concat", *[data] * count, axis=0))


def inputs_unfed(count: int) -> Sample:
    ports = [port(at, SMALL) for at in range(count)]
    return sample(layers=[layer(3, "Concat", data='axis="0"', inputs=ports, outputs=[port(count, SMALL)])])


def inputs_too_many(count: int) -> Sample:
    """A ReLU with as many inputs, all fed."""
    many = layer(3, "ReLU", inputs=[port(at) for at in range(count)], outputs=[port(count)])
    return sample(layers=[many], edges=(edge(0, 0, 3, at) for at in range(count)))


def outputs_read(count: int, step: int = 1) -> Sample:
    """A Split into as many parts, each read; their ids are `step` apart."""
    whole, part = (count, 8), (1, 8)
    axis = layer(
        1,
        "Const",
        data='element_type="i64" shape="" offset="0" size="8"',
        outputs=[port(0, (), precision="I64")],
    )
    outputs = [port(2 + step * at, part) for at in range(count)]
    inputs = [port(0, whole), port(1, (), precision="I64")]
    split = layer(2, "Split", data=f'num_splits="{count}"', inputs=inputs, outputs=outputs)
    ends = (result(3 + at, part) for at in range(count))
    wires = [edge(0, 0, 2, 0), edge(1, 0, 2, 1), *(edge(2, 2 + step * at, 3 + at, 0) for at in range(count))]
    return Sample(net([parameter(0, whole), axis, split, *ends], wires), bytes(8))


@built()
def outputs_joined(builder: Builder, count: int) -> None:
    """A Split into as many parts, which a Concat joins."""
    data = builder.parameter("data", (count, 8))
    builder.result(builder.call("Concat", *builder.outputs("Split", data, np.int64(0), num_splits=count), axis=0))


def outputs_unread(count: int) -> Sample:
    many = layer(3, "ReLU", inputs=[port(0)], outputs=[port(at + 1) for at in range(count)])
    return sample(layers=[many], edges=[edge(0, 0, 3, 0)])


def outputs_wrong(count: int) -> Sample:
    """Outputs of a Split that all say another size, each read by two layers that agree with it."""
    base = outputs_read(count)
    return base._replace(xml=base.xml.replace(b"<dim>8</dim>", b"<dim>9</dim>").replace(b'shape="', b'shape="1,', 1))


def ids(change: Callable[[int], object]) -> Callable[[int], Sample]:
    """Outputs with other ids than 0, 1, 2."""

    def make(count: int) -> Sample:
        return sample(layers=[layer(3, "ReLU", outputs=[port(str(change(at)), SMALL) for at in range(count)])])

    return make


def falling(count: int) -> Sample:
    return sample(layers=[layer(3, "Concat", data='axis="0"', inputs=[port(count - at, SMALL) for at in range(count)])])


def dims(size: str) -> Callable[[int], Sample]:
    """One tensor of as many dimensions."""

    def make(count: int) -> Sample:
        sizes = [size] * count
        shape = ",".join("?" if size == "-1" else size for size in sizes)
        start = layer(0, "Parameter", data=f'shape="{shape}" element_type="f32"', outputs=[port(0, sizes)])
        return Sample(net([start, relu(1, dims=sizes), result(2, sizes)], [edge(0, 0, 1, 0), edge(1, 1, 2, 0)]))

    return make


def dims_wrong(count: int) -> Sample:
    """A port that says many dimensions more than its tensor has."""
    return sample(layers=[layer(3, "ReLU", inputs=[port(0, [1] * count)], outputs=[port(1)])], edges=[edge(0, 0, 3, 0)])


def dims_apart(count: int) -> Sample:
    """A tensor of many dimensions, each of which its reader says to be another."""
    ones, twos = [1] * count, [2] * count
    wrong = layer(1, "ReLU", inputs=[port(0, twos)], outputs=[port(1, ones)])
    return Sample(net([parameter(0, ones), wrong, result(2, twos)], [edge(0, 0, 1, 0), edge(1, 1, 2, 0)]))


@built()
def flattened(builder: Builder, count: int) -> None:
    """A Reshape of a tensor of many large dimensions into one of any size."""
    data = builder.parameter("data", [1000] * count)
    builder.result(builder.call("Reshape", data, builder.constant([-1]), special_zero=False))


@built()
def reduced(builder: Builder, count: int) -> None:
    """A ReduceSum over all of many large dimensions."""
    data = builder.parameter("data", [1000] * count)
    builder.result(builder.call("ReduceSum", data, np.arange(count, dtype=np.int32)))


@built()
def broadcast(builder: Builder, count: int) -> None:
    """Add of two tensors of many dimensions."""
    builder.result(builder.call("Add", *(builder.parameter("data", [size] * count) for size in (1, 2))))


@built()
def many_shapes(builder: Builder, count: int) -> None:
    """Layers of which each has another shape."""
    for at in range(count):
        builder.result(builder.call("ReLU", builder.parameter("data", [1, at + 1])))


def names(change: Callable[[int], str]) -> Callable[[int], Sample]:
    """One port with as many tensor names."""

    def make(count: int) -> Sample:
        words = ",".join(change(at) for at in range(count))
        return sample(middle=relu(1, tag=f' names="{words}"'))

    return make


def names_in_many(change: Callable[[int], str]) -> Callable[[int], Sample]:
    """A name at each of many ports."""

    def make(count: int) -> Sample:
        inner = (relu(at + 3, dims=SMALL, tag=f' names="{change(at)}"') for at in range(count))
        return sample(layers=inner, edges=(edge(0, 0, at + 3, 0) for at in range(count)))

    return make


def output_names(count: int) -> Sample:
    words = ",".join(f"name{at}" for at in range(count))
    return sample(
        layers=[layer(3, "Result", tag=f' output_names="{words}"', inputs=[port(0)])], edges=[edge(1, 1, 3, 0)]
    )


PORTS: Mapping[str, Callable[[int], Sample]] = {
    "inputs of one Concat": inputs_fed,
    "inputs that nothing feeds": inputs_unfed,
    "inputs of a ReLU": inputs_too_many,
    "outputs of one Split": outputs_read,
    "outputs of one Split that one Concat reads": outputs_joined,
    "outputs of one Split with gaps between ids": lambda count: outputs_read(count, step=2),
    "outputs of a ReLU": outputs_unread,
    "outputs that contradict their layer": outputs_wrong,
    "equal port ids": ids(lambda at: 1),
    "port ids that are not numbers": ids(lambda at: f"p{at}"),
    "port ids that fall": falling,
    "dimensions of one tensor": dims("1"),
    "dimensions of one large tensor": dims("1000"),
    "dimensions of any size": dims("-1"),
    "dimensions that are not numbers": dims("x"),
    "dimensions of one wrong port": dims_wrong,
    "dimensions that contradict": dims_apart,
    "dimensions of an Add": broadcast,
    "dimensions of a Reshape": flattened,
    "dimensions of a reduction": reduced,
    "different shapes": many_shapes,
    "tensor names of one port": names(lambda at: f"name{at}"),
    "equal tensor names of one port": names(lambda at: "name"),
    "tensor names with escaped commas": names(lambda at: "a\\,"),
    "tensor names of many ports": names_in_many(lambda at: f"name{at}"),
    "one tensor name at many ports": names_in_many(lambda at: "name"),
    "names of one Result": output_names,
}
