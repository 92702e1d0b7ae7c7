"""Environments of releases for tests, and a small model of both IR versions."""

from functools import lru_cache, partial

import pytest

from ir_tools.errors import RuntimeFailure
from ir_tools.releases.table import find_release
from ir_tools.runtime.release import ReleaseClient, release_client
from tests import ir_text
from tests.ir_text import edge, net, parameter, port, relu, result

__all__ = ["IR11", "MEASURED", "client_of", "kept_client", "small"]

MEASURED = ("2021.4", "2022.1", "2022.3", "2023.3", "2024.6", "2025.4", "2026.4")
IR11 = MEASURED[1:]


def client_of(version: str) -> ReleaseClient:
    """Return a client of a release; skips if its environment cannot start: tests install nothing."""
    try:
        return release_client(find_release(f"openvino-{version}"), timeout=60.0)
    except RuntimeFailure as why:
        pytest.skip(str(why))


@lru_cache(maxsize=3)
def kept_client(version: str) -> ReleaseClient:
    """Return a client of a release that later calls get, too: its process goes on until those of three others start."""
    return client_of(version)


def small(version: int = 10, layer: str = 'type="ReLU" version="opset1"') -> bytes:
    """Parameters `x` (f32) and `n` (i64); `sum` of x and `relu`, `twice` n; Results `y` and `z`."""
    x, n = (2, 3), (2,)
    numbers = partial(port, precision="I64")
    add = partial(ir_text.layer, kind="Add", data='auto_broadcast="numpy"')
    layers = [
        parameter(0, x, name="x"),
        parameter(1, n, kind="i64", name="n"),
        relu(2, dims=x, name="relu").replace('type="ReLU" version="opset1"', layer),
        add(3, name="twice", inputs=[numbers(0, n), numbers(1, n)], outputs=[numbers(2, n)]),
        add(4, name="sum", inputs=[port(0, x), port(1, x)], outputs=[port(2, x)]),
        result(5, x, name="y"),
        result(6, n, precision="I64", name="z"),
    ]
    wires = ((0, 0, 2, 0), (1, 0, 3, 0), (1, 0, 3, 1), (0, 0, 4, 0), (2, 1, 4, 1), (4, 2, 5, 0), (3, 2, 6, 0))
    return net(layers, [edge(*wire) for wire in wires], name="small", version=version)
