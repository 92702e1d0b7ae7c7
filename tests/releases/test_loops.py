"""States of loops that become others: what compat says of them, and what OpenVINO does."""

from itertools import product

import numpy as np
import pytest

import ir_tools
from ir_tools.compatibility import compatibility
from ir_tools.errors import RuntimeFailure
from ir_tools.execute import run
from ir_tools.graph import Model
from ir_tools.known_differences.verdicts import Answer
from ir_tools.releases.table import OPENVINO, find_release
from ir_tools.runtime.client import RuntimeClient
from tests.ops.test_control_flow import Text
from tests.runtime.releases import client_of

PART = 'axis="0" start="0" end="-1" stride="1" part_size="1"'


def loop(type: str, *, by_port: bool, by_row: bool, fixed: bool, read: bool, given: str) -> Model:
    """A loop with two states, of which the second becomes the first.

    Args:
        type: TensorIterator, over four parts, or Loop, three times.
        by_port: whether the first state is in front by the number of the port.
        by_row: whether it is in front in the port map.
        fixed: whether the second state becomes an input that stays the same instead.
        read: whether the body reads the second state.
        given: the port map of an output of what the second state becomes; empty if there is none.
    """
    blob = bytearray()
    outer, body = Text(blob), Text(blob)
    if type == "Loop":
        sources = [(outer.constant(np.array(value)), 0) for value in (3, True)]
    else:
        sources = [(outer.parameter("f32", "4,3"), 0)]
    kept, *ports = range(len(sources), len(sources) + 3)
    sources += [(outer.parameter("f32", "1,3"), 0) for _ in range(3)]
    first, second, same = (body.parameter("f32", "1,3") for _ in range(3))
    total = body.layer("Add", 1, "", [(first, 0), (second if read else first, 0)], "f32")
    results = [body.result(same if fixed else first, 0)]
    rows = [
        f'<input external_port_id="{port}" internal_layer_id="{layer}"/>'
        for port, layer in zip(ports if by_port else ports[::-1], (first, second), strict=True)
    ]
    rows = [*(rows if by_row else rows[::-1]), f'<input external_port_id="{kept}" internal_layer_id="{same}"/>']
    if type == "Loop":
        results.insert(0, body.result(total, 2))
        goes_on = body.result(body.constant(np.array(True)), 0)
        rows.append(f'<output external_port_id="-1" internal_layer_id="{goes_on}" purpose="execution_condition"/>')
    else:
        part = body.parameter("f32", "1,3")
        results.insert(0, body.result(body.layer("Add", 1, "", [(total, 2), (part, 0)], "f32"), 2))
        rows.append(f'<input external_port_id="0" internal_layer_id="{part}" {PART}/>')
    outputs = [(results[0], ""), *([(results[1], PART if given == "joined" else "")] if given else [])]
    for port, (result, more) in enumerate(outputs, len(sources)):
        rows.append(f'<output external_port_id="{port}" internal_layer_id="{result}" {more}/>')
    pairs = zip(results, (first, second), strict=True)
    edges = "".join(f'<edge from-layer="{start}" to-layer="{end}"/>' for start, end in pairs)
    mapping = f"<port_map>{''.join(rows)}</port_map><back_edges>{edges}</back_edges>"
    kinds = " ".join("f32" for _ in outputs)
    version = 5 if type == "Loop" else 1
    own = outer.layer(type, version, "", sources, kinds, mapping=mapping, body=body.inner("body"))
    for port, _ in enumerate(outputs, len(sources)):
        outer.result(own, port)
    return ir_tools.read(outer.model(), bytes(blob))


def runs(client: RuntimeClient, model: Model) -> bool:
    fed = {
        end.name: np.full([int(size) for size in end.layer.raw["shape"].split(",")], number, np.float32)
        for number, end in enumerate(model.inputs, 1)
    }
    try:
        found = client.infer_model(model, fed).outputs
    except RuntimeFailure:
        return False
    return all(np.allclose(found[name], wanted) for name, wanted in run(model, fed).items())


CASE = pytest.mark.parametrize(
    ("type", "by_port", "by_row", "fixed", "read", "given"),
    [
        *product(("Loop", "TensorIterator"), (True, False), (True, False), (False,), (True,), ("",)),
        *product(("Loop", "TensorIterator"), (True, False), (True,), (False, True), (True, False), ("last", "joined")),
    ],
)


@CASE
def test_compat_says_what_the_installed_openvino_does(
    client: RuntimeClient, type: str, by_port: bool, by_row: bool, fixed: bool, read: bool, given: str
) -> None:
    model = loop(type, by_port=by_port, by_row=by_row, fixed=fixed, read=read, given=given)
    (said,) = compatibility(model, [OPENVINO[-1]])
    assert (said.answer is Answer.RUNS) is runs(client, model)


@pytest.mark.sweep
@pytest.mark.parametrize("release", ["2022.1", "2023.1", "2024.2", "2024.3"])
@CASE
def test_compat_says_what_releases_do(
    release: str, type: str, by_port: bool, by_row: bool, fixed: bool, read: bool, given: str
) -> None:
    model = loop(type, by_port=by_port, by_row=by_row, fixed=fixed, read=read, given=given)
    (said,) = compatibility(model, [find_release(f"openvino-{release}")])
    with client_of(release) as client:
        assert (said.answer is Answer.RUNS) is runs(client, model)
