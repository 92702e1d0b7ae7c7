"""Layers beside the rows of normalizations."""

from dataclasses import replace

import ml_dtypes
import numpy as np

from ir_tools.known_differences._model import Call, Fixed, Given, counted, floats, whole
from tests.releases.beside import Beside, Feed, beside

LOCAL = {"alpha": "0.5", "beta": "0.75", "bias": "1", "size": "3"}
PLAIN = {"transpose_a": "false", "transpose_b": "false"}


def _normalized_last(data: Feed, axis: int) -> Call:
    return Call("MVN-6", (data, Fixed(whole(axis))), SMALL)


def _local(data: Feed, *axes: int) -> Call:
    return Call("LRN-1", (data, Fixed(whole(*axes))), LOCAL)


def _moved(data: Feed, *order: int) -> Call:
    return Call("Transpose-1", (data, Fixed(whole(*order))))


def _globally(data: Feed) -> Call:
    return Call("GRN-1", (data,), {"bias": "1"})


def _in_groups(data: Feed, count: int) -> Call:
    scale, shift = Fixed(counted(4)), Fixed(counted(4))
    return Call("GroupNormalization-12", (data, scale, shift), {"num_groups": str(count), "epsilon": "0.1"})


def _of_output(given: Call, *sizes: int, shown: bool = True) -> Call:
    """A MVN along the last axis of what another layer gives, in another shape; that is an output if it is shown."""
    data = replace(given, results=(0,)) if shown else given
    flat = Call("Reshape-1", (data, Fixed(whole(*sizes))), {"special_zero": "false"})
    return _normalized_last(flat, len(sizes) - 1)


def normalized(data: Feed, axes: Feed, *, variance: bool = True) -> Call:
    raw = {"eps": "0.001", "eps_mode": "inside_sqrt", "normalize_variance": str(variance).lower()}
    return Call("MVN-6", (data, axes), raw)


def _of_bytes(axes: Feed, *sizes: int, between: str = "", highest: float = 12.75) -> Call:
    """An MVN of quantized data; `between`: the type of a layer in front of it."""
    limits = (Fixed(floats(limit)) for limit in (0, highest, 0, highest))
    data = Call("FakeQuantize-1", (counted(*sizes), *limits), {"levels": "256"})
    return Call("MVN-6", (Call(between, (data,)) if between else data, axes), SMALL)


def _of_old_bytes(*sizes: int, across: bool = True) -> Call:
    """The same by MVN-1, across channels or not."""
    (data, _) = _of_bytes(Fixed(whole(2)), *sizes).inputs
    raw = {"eps": "1e-6", "normalize_variance": "true", "across_channels": str(across).lower()}
    return Call("MVN-1", (data,), raw)


SMALL = {"eps": "1e-6", "eps_mode": "inside_sqrt", "normalize_variance": "true"}


def of_length_one(data: Feed, *axes: int, eps: str = "0.001") -> Call:
    return Call("NormalizeL2-1", (data, Fixed(whole(*axes))), {"eps": eps, "eps_mode": "add"})


def grouped(data: Feed, scale: Feed, bias: Feed) -> Call:
    """All channels in one group."""
    return Call("GroupNormalization-12", (data, scale, bias), {"num_groups": "1", "epsilon": "0.001"})


def _best(*sizes: int, axis: int = 1, along: int | None = None, shape: str = "", between: str = "") -> Call:
    """The index of the largest element of a SoftMax; `along`: the axis of the TopK, if it is another."""
    data = np.sin(counted(*sizes))
    soft = Call("SoftMax-8", (Given(data, shape) if shape else data,), {"axis": str(axis)})
    raw = {"axis": str(axis if along is None else along), "mode": "max", "sort": "value"}
    return Call("TopK-3", (Call(between, (soft,)) if between else soft, Fixed(np.array(1))), raw, (1,))


BESIDE = [
    *(
        Beside(
            "GroupNormalization of bf16",
            falls,
            Call("GroupNormalization-12", (data, *parameters), {"num_groups": "2", "epsilon": "0.1"}),
        )
        for four in [counted(4).astype(ml_dtypes.bfloat16)]
        for images in [np.sin(counted(2, 4, 3, 3)).astype(ml_dtypes.bfloat16)]
        for falls, data, parameters in (
            (True, images, (Fixed(four), Fixed(four))),
            (True, Call("ReLU-1", (images,)), (four, four)),
            (False, Given(images, "?,?,?,?"), (Fixed(four), Fixed(four))),
            (False, Given(images, "2,4,?,3"), (four, four)),
            (False, Given(images, "?,4,3,3"), (Given(four, "?"), Given(four, "?"))),
            (False, images.astype(np.float32), (Fixed(counted(4)), Fixed(counted(4)))),
        )
    ),
    *beside(
        "SoftMax of more than five dimensions",
        falling=[Call("SoftMax-1", (counted(2, 1, 2, 1, 1, 2, 3),), {"axis": "6"})],
        others=[Call("SoftMax-1", (counted(2, 1, 2, 2, 3),), {"axis": "2"})],
    ),
    *beside(
        "GroupNormalization of an output, in groups",
        falling=[_in_groups(Call("ReLU-1", (counted(2, 4, 3, 3),), results=(0,)), 4)],
        others=[
            _in_groups(Call("ReLU-1", (counted(2, 4, 3, 3),)), 2),
            _in_groups(Call("ReLU-1", (Given(counted(2, 4, 3, 3), "?,4,3,3"),), results=(0,)), 2),
        ],
    ),
    *beside(
        "GroupNormalization of an output, as a whole",
        falling=[_in_groups(Call("SoftMax-1", (counted(2, 4, 3),), {"axis": "1"}, results=(0,)), 1)],
        others=[_in_groups(Call("ReLU-1", (counted(2, 4, 3),)), 1)],
    ),
    *beside(
        "MVN of an output in another shape",
        falling=[
            _of_output(Call("MatMul-1", (counted(1, 3, 4), Fixed(counted(4, 4))), PLAIN), 1, 2, -1),
            _of_output(Call("SoftMax-1", (counted(1, 3, 4),), {"axis": "1"}), 1, -1),
        ],
        others=[
            _of_output(Call("ReLU-1", (counted(1, 3, 4),)), 1, 3, 2, 2),
            _of_output(Call("ReLU-1", (Given(counted(1, 3, 4), "?,3,4"),)), 1, -1),
            _of_output(Call("ReLU-1", (counted(1, 3, 4),)), 1, -1, shown=False),
            _normalized_last(Call("ReLU-1", (counted(1, 3, 4),), results=(0,)), 2),
        ],
    ),
    *beside(
        "SoftMax of 8 channels of a row before a TopK",
        falling=[
            _best(1, 8, 2),
            _best(2, 24, 3, axis=-2),
            _best(3, 8, 17),
            _best(1, 8, 3, shape="?,8,?"),
        ],
        others=[
            _best(1, 16, 3),
            _best(1, 4, 3),
            _best(1, 8, 1),
            _best(1, 8, 2, 2),
            _best(8, 3, axis=0),
            _best(1, 3, 8, axis=2),
            _best(1, 8, 3, axis=2, along=1),
            _best(1, 8, 3, shape="1,?,3"),
            _best(1, 8, 3, between="ReLU-1"),
        ],
    ),
    *beside(
        "MVN of quantized data",
        falling=[
            _of_bytes(Fixed(whole(2)), 1, 2, 5, between="ReLU-1"),
            _of_bytes(Fixed(whole(1, 2)), 1, 2, 5),
            _of_bytes(Fixed(whole(2, 3)), 1, 1, 2, 3),
            _of_bytes(Fixed(whole(1, 2)), 1, 4, 3),
            _of_bytes(Fixed(whole(1)), 4, 6),
            *(_of_old_bytes(1, 4, 3, across=across) for across in (True, False)),
            _of_old_bytes(1, 8, across=False),
        ],
        others=[
            _of_bytes(Fixed(whole(1, 2)), 1, 3, 4),
            _of_bytes(Fixed(whole(1)), 1, 8),
            *(_of_old_bytes(1, 3, 4, across=across) for across in (True, False)),
            _of_old_bytes(1, 8),
            _of_bytes(Fixed(whole(2)), 1, 2, 8),
            _of_bytes(Fixed(whole(3)), 1, 1, 2, 5),
            _of_bytes(Fixed(whole(2)), 1, 2, 5, between="Sqrt-1"),
        ],
    ),
    *beside(
        "NormalizeL2 along the last of three axes with more rows than channels",
        falling=[
            of_length_one(counted(4, 3, 1), -1),
            of_length_one(counted(3, 1, 4), 2),
            of_length_one(Given(counted(3, 2, 4), "?,2,4"), 2),
            of_length_one(Given(counted(3, 2, 4), "3,?,4"), 2),
        ],
        others=[
            of_length_one(counted(3, 3, 4), 2),
            of_length_one(counted(3, 2, 4), 1),
            of_length_one(counted(3, 2, 4), 0),
            of_length_one(counted(3, 2), 1),
            of_length_one(counted(4, 3, 2, 5), 3),
            Call("NormalizeL2-1", (counted(3, 2, 4), Fixed(whole(2))), {"eps": "0.001", "eps_mode": "max"}),
        ],
    ),
    *beside(
        "NormalizeL2 of integers over the channels",
        falling=[of_length_one(np.arange(1, 25, dtype=np.int32).reshape(2, 3, 4), 2, 1)],
    ),
    *beside(
        "GroupNormalization of one channel",
        falling=[grouped(counted(3, 1, 8), Fixed(counted(1)), counted(1) * 0)],
        others=[
            grouped(Given(counted(3, 1, 8), "?,1,8"), Fixed(counted(1)), Fixed(counted(1) * 0)),
            grouped(counted(1, 1, 8), Fixed(counted(1)), Fixed(counted(1) * 0)),
            grouped(counted(3, 2, 8), Fixed(counted(2)), Fixed(counted(2) * 0)),
            grouped(counted(3, 1, 8), counted(1), counted(1) * 0),
        ],
    ),
    *beside(
        "GroupNormalization of a matrix of unknown size",
        others=[
            grouped(counted(2, 4), Fixed(counted(4)), Fixed(counted(4) * 0)),
            grouped(Given(counted(2, 4, 3), "?,4,3"), Fixed(counted(4)), Fixed(counted(4) * 0)),
        ],
    ),
    *beside(
        "GroupNormalization of two dimensions",
        others=[grouped(counted(2, 6, 3), Fixed(counted(6)), Fixed(counted(6) * 0))],
    ),
    *beside(
        "MVN-1 of more than five dimensions",
        others=[Call("MVN-1", (counted(1, 1, 1, 2, 3),), {"eps": "0.1", "normalize_variance": "true"})],
    ),
    *beside(
        "MVN of booleans over other axes than those after the batch or the channels",
        others=[
            normalized(np.arange(12).reshape(2, 3, 2) % 2 == 0, Fixed(whole(2))),
            normalized(np.arange(4).reshape(4) % 2 == 0, Fixed(counted(1).astype(np.int64))),
        ],
    ),
    *beside(
        "MVN along the middle axis",
        others=[
            normalized(counted(1, 3, 4), Fixed(whole(1))),
            normalized(counted(2, 3, 4, 2), Fixed(whole(1))),
            normalized(counted(2, 3, 4), Fixed(whole(2))),
            normalized(counted(2, 3, 4), Fixed(whole(1)), variance=False),
        ],
    ),
    *beside(
        "MVN-6 with sizes of 1 over computed axes",
        others=[normalized(counted(2, 3), whole(1)), normalized(counted(1, 3), Fixed(whole(1)))],
    ),
    *beside(
        "normalizations of i8, u8, boolean over computed axes, 2022.1 to 2026.4",
        others=[normalized(counted(2, 3).astype(np.int8), Fixed(whole(1)))],
    ),
    *beside("NormalizeL2 over some axes", others=[of_length_one(counted(2, 3, 4), 1, 2, eps="1e-9")]),
    *beside(
        "NormalizeL2 over all axes but the first with a large eps, 2021.2 to 2021.3",
        others=[of_length_one(counted(2, 3, 4), 1, 2, eps="1e-9")],
    ),
    *beside(
        "NormalizeL2 over all axes but the first with a large eps, 2021.2 to 2022.2",
        others=[
            of_length_one(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), 1, eps="0.5"),
            of_length_one(counted(2, 3, 4), 1, eps="0.5"),
        ],
    ),
    *beside("NormalizeL2 of more than 4 dimensions", others=[of_length_one(counted(1, 2, 2, 2), 1)]),
    *beside(
        "NormalizeL2 over other axes than the channels",
        falling=[of_length_one(counted(2, 3, 4), 2, 1)],
        others=[of_length_one(counted(2, 3, 4), 1)],
    ),
    *beside(
        "NormalizeL2 of boolean over other axes than the channels",
        others=[of_length_one(np.arange(6).reshape(2, 3) % 2 == 0)],
    ),
    *beside(
        "GRN of channels that a Transpose moves",
        falling=[
            _globally(_moved(counted(1, 3, 4, 4), 0, 3, 1, 2)),
            _globally(_moved(counted(2, 3), 1, 0)),
            _globally(Call("Abs-1", (_moved(Given(counted(1, 3, 4, 4), "?,3,?,?"), 0, 2, 3, 1),))),
        ],
        others=[
            _globally(_moved(counted(2, 3, 4, 5), 0, 1, 3, 2)),
            _globally(replace(_moved(counted(1, 3, 4, 4), 0, 3, 1, 2), results=(0,))),
            _globally(counted(1, 3, 4, 4)),
        ],
    ),
    *beside(
        "LRN with a fractional bias",
        falling=[replace(_local(counted(1, 3, 4, 4), 1), raw=LOCAL | {"bias": bias}) for bias in ("0.25", "3e9")],
        others=[replace(_local(counted(1, 3, 4, 4), 1), raw=LOCAL | {"bias": bias}) for bias in ("2", "7")],
    ),
    *beside(
        "LRN of more than five dimensions, 2021.4 to 2026.4",
        falling=[_local(counted(1, 3, 1, 1, 4, 4), 2, 3, 4, 5), _local(counted(2, 3, 1, 2, 1, 1, 4), 1)],
        others=[_local(counted(1, 3, 2, 4, 4), 1)],
    ),
    *beside(
        "LRN over other axes than the channels or all behind them",
        falling=[_local(counted(1, 3, 4, 4), 3), _local(counted(1, 2, 3, 4, 4), 2, 3), _local(counted(5), 0)],
        others=[
            _local(counted(1, 3, 4, 4), 1),
            _local(counted(1, 3, 4, 4), 3, 2),
            _local(counted(1, 3, 4), 2),
            _local(counted(1, 2, 3, 4, 4), 2, 3, 4),
        ],
    ),
    *beside(
        "LRN over all axes behind the channels and others",
        falling=[_local(counted(2, 3, 4), 1, 2), _local(counted(2, 3), 0), _local(counted(1, 3, 4, 4), 0, 1, 2, 3)],
        others=[_local(counted(2, 3), 1), _local(counted(1, 3, 4, 4), 2, 3)],
    ),
    *beside(
        "LRN over places of an unknown number of channels",
        falling=[_local(Given(counted(2, 3, 4, 4), "?,?,4,4"), 3, 2)],
        others=[
            _local(Given(counted(2, 3, 4, 4), "?,3,?,?"), 2, 3),
            _local(Given(counted(2, 3, 4, 4), "2,1..8,4,4"), 2, 3),
            _local(Given(counted(1, 3, 4, 3, 3), "1,?,4,3,3"), 2, 3, 4),
        ],
    ),
]
