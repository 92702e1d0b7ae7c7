"""Writes small models with the OpenVINO of the interpreter that runs it: `python sample_models.py FOLDER`.

Bodies, strings, rt_info, dynamic dimensions, every constant; works with each release since 2022.1 (Python 3.8).
"""

import sys
import warnings
from typing import Any

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        import openvino as ov
        import openvino.opset8 as op

        ov.Model  # noqa: B018  # an AttributeError in older releases, which have it in openvino.runtime
    except (ImportError, AttributeError):
        import openvino.runtime as ov  # type: ignore[no-redef, import-not-found, unused-ignore]  # in older releases alone
        from openvino.runtime import opset8 as op  # type: ignore[no-redef, unused-ignore]  # in older releases alone


def pooled() -> Any:
    """Dynamic dimensions, tensor names with commas, an average pooling."""
    x = op.parameter(
        ov.PartialShape([ov.Dimension(), ov.Dimension(3), ov.Dimension(16, 64), ov.Dimension(8)]), np.float32, "x"
    )
    x.output(0).get_tensor().set_names({"in, put", "x"})
    pool = op.avg_pool(x, [2, 2], [0, 0], [1, 1], [3, 3], True, "ceil", "explicit", 'pool <&> "1"')
    pool.output(0).get_tensor().set_names({"pooled"})
    return ov.Model([pool], [x], "pooled")


def looped() -> Any:
    """A Loop whose body counts up."""
    x = op.parameter([3], np.float32, "x")
    inner = op.parameter([3], np.float32, "inner")
    body = ov.Model([op.add(inner, op.constant(np.ones(3, np.float32))), op.constant(np.array(True))], [inner], "body")
    loop = op.loop(op.constant(np.array(4, np.int64)), op.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(inner, x.output(0), body.get_results()[0].output(0))
    out = loop.get_iter_value(body.get_results()[0].output(0), -1)
    return ov.Model([op.relu(out)], [x], "looped")


def iterated() -> Any:
    """A TensorIterator over slices."""
    x = op.parameter([2, 5, 3], np.float32, "x")
    piece, state = op.parameter([2, 1, 3], np.float32, "piece"), op.parameter([2, 1, 3], np.float32, "state")
    total = op.add(piece, state)
    body = ov.Model([total], [piece, state], "body")
    iterator = op.tensor_iterator()
    iterator.set_body(body)
    iterator.set_sliced_input(piece, x.output(0), 0, 1, 1, -1, 1)
    start = op.constant(np.zeros((2, 1, 3), np.float32))
    iterator.set_merged_input(state, start.output(0), body.get_results()[0].output(0))
    out = iterator.get_concatenated_slices(body.get_results()[0].output(0), 0, 1, 1, -1, 1)
    return ov.Model([out], [x], "iterated")


def branched() -> Any:
    """An If with another If in its then-branch."""

    def branch(inner: Any, value: float) -> Any:
        return ov.Model([op.multiply(inner, op.constant(np.array([value], np.float32)))], [inner], "branch")

    def choose(condition: Any, data: Any, yes: Any, no: Any, yes_in: Any, no_in: Any) -> Any:
        node = op.if_op(condition.output(0))
        node.set_then_body(yes)
        node.set_else_body(no)
        node.set_input(data.output(0), yes_in, no_in)
        return node.set_output(yes.get_results()[0], no.get_results()[0])

    a, b, c = (op.parameter([2], np.float32, name) for name in "abc")
    deep = choose(op.constant(np.array(True)), a, branch(b, 2.0), branch(c, 3.0), b, c)
    x, flag = op.parameter([2], np.float32, "x"), op.parameter([1], ov.Type.boolean, "flag")
    d = op.parameter([2], np.float32, "d")
    out = choose(flag, x, ov.Model([deep], [a], "outer"), branch(d, 4.0), a, d)
    return ov.Model([out], [x, flag], "branched")


def informed() -> Any:
    """rt_info of layers and of the model; constants of several types; ports that are scalars."""
    x = op.parameter([], np.float32, "x")
    total = x
    for dtype in (np.float16, np.float64, np.int8, np.uint8, np.int64):
        total = op.add(total, op.convert(op.constant(np.array(3, dtype)), "f32"))
    model = ov.Model([total], [x], "informed")
    if hasattr(model, "set_rt_info"):
        model.set_rt_info("a & <b>", ["framework", "deep", "name"])
    return model


MODELS = (pooled, looped, iterated, branched, informed)


def serialize(model: Any, xml: str) -> None:
    """Write one model; the name of the function moved from release to release."""
    if hasattr(ov, "serialize"):
        ov.serialize(model, xml)
        return
    from openvino.offline_transformations import serialize as write  # type: ignore[import-not-found, unused-ignore]  # in older releases alone

    write(model, xml, xml[:-3] + "bin")


if __name__ == "__main__":
    for build in MODELS:
        serialize(build(), f"{sys.argv[1]}/{build.__name__}.xml")
