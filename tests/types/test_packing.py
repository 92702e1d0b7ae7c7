"""Packed elements against the runtime, which unpacks them with Convert."""

import numpy as np
import pytest

from ir_tools.runtime.client import RuntimeClient
from ir_tools.types import element_type, from_dtype
from ir_tools.types.packing import element_type_of, in_element_type, pack, unpack

MODEL = """<net name="packed" version="11"><layers>
<layer id="0" name="packed" type="Const" version="opset1">
<data element_type="{kind}" shape="{count}" offset="0" size="{size}"/>
<output><port id="0" precision="{precision}"><dim>{count}</dim></port></output></layer>
<layer id="1" name="wide" type="Convert" version="opset1"><data destination_type="f32"/>
<input><port id="0" precision="{precision}"><dim>{count}</dim></port></input>
<output><port id="1" precision="FP32"><dim>{count}</dim></port></output></layer>
<layer id="2" name="out" type="Result" version="opset1">
<input><port id="0" precision="FP32"><dim>{count}</dim></port></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""


@pytest.mark.parametrize("name", ["u1", "u2", "u3", "u4", "u6", "i4", "nf4", "f4e2m1"])
@pytest.mark.parametrize("count", [1, 7, 16, 1001])
def test_unpacked_as_the_runtime_has_them(client: RuntimeClient, name: str, count: int) -> None:
    kind = element_type(name)
    size = kind.byte_size(count)
    data = np.random.default_rng(count).integers(0, 256, size, dtype=np.uint8)
    text = MODEL.format(kind=name, count=count, size=size, precision=kind.precision)
    (expected,) = client.infer(text.encode(), data.tobytes(), {}).outputs.values()
    np.testing.assert_array_equal(unpack(data, kind, count).astype(np.float32), expected)


@pytest.mark.parametrize("name", ["u1", "u2", "u3", "u4", "u6", "i4", "nf4", "f4e2m1"])
@pytest.mark.parametrize("count", [0, 1, 7, 16, 1001])
def test_packed_again(name: str, count: int) -> None:
    """What is packed again is unpacked to the same values, in as many bytes as the type takes."""
    kind = element_type(name)
    data = np.random.default_rng(count).integers(0, 256, kind.byte_size(count), dtype=np.uint8)
    values = unpack(data, kind, count)
    assert len(pack(values)) == kind.byte_size(count)
    again = unpack(pack(values), kind, count)
    np.testing.assert_array_equal(again, values)
    np.testing.assert_array_equal(np.signbit(again), np.signbit(values))


def test_only_moved_elements_keep_their_packed_type() -> None:
    """What is computed of i4, or converted, is of the type that numpy gives it."""
    stored = in_element_type(np.array([[1, -8], [3, 7]]), element_type("i4"))
    for moved in (stored.T, stored[:, 1], stored.reshape(-1), np.take(stored, [0], 1), stored.copy()):
        assert str(element_type_of(moved)) == "i4"
    for computed in (stored + stored, stored * np.float32(0.5), -stored, stored.astype(np.float32), stored.sum()):
        assert element_type_of(computed) == from_dtype(computed.dtype)
