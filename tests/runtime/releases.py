"""Environments of releases for tests, and a small model of both IR versions."""

import pytest

from ir_tools.errors import RuntimeFailure
from ir_tools.releases.table import find_release
from ir_tools.runtime.release import ReleaseClient, release_client

__all__ = ["IR11", "MEASURED", "client_of", "small"]

MEASURED = ("2021.4", "2022.1", "2022.3", "2023.3", "2024.6", "2025.4", "2026.4")
IR11 = MEASURED[1:]


def client_of(version: str) -> ReleaseClient:
    """Return a client of a release; skips if its environment is not here: tests install nothing."""
    try:
        return release_client(find_release(f"openvino-{version}"), timeout=60.0)
    except RuntimeFailure as why:
        pytest.skip(str(why))


def small(version: int = 10, layer: str = 'type="ReLU" version="opset1"') -> bytes:
    """Parameters `x` (f32) and `n` (i64); `sum` of x and `relu`, `twice` n; Results `y` and `z`."""
    x, n = (_port(number, sizes, kind) for number, sizes, kind in ((0, (2, 3), "FP32"), (0, (2,), "I64")))
    return (
        f'<?xml version="1.0"?><net name="small" version="{version}"><layers>'
        f'<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2,3" element_type="f32"/>'
        f"<output>{x}</output></layer>"
        f'<layer id="1" name="n" type="Parameter" version="opset1"><data shape="2" element_type="i64"/>'
        f"<output>{n}</output></layer>"
        f'<layer id="2" name="relu" {layer}><input>{x}</input>'
        f"<output>{_port(1, (2, 3), 'FP32')}</output></layer>"
        '<layer id="3" name="twice" type="Add" version="opset1"><data auto_broadcast="numpy"/>'
        f"<input>{n}{_port(1, (2,), 'I64')}</input><output>{_port(2, (2,), 'I64')}</output></layer>"
        '<layer id="4" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/>'
        f"<input>{x}{_port(1, (2, 3), 'FP32')}</input><output>{_port(2, (2, 3), 'FP32')}</output></layer>"
        f'<layer id="5" name="y" type="Result" version="opset1"><input>{x}</input></layer>'
        f'<layer id="6" name="z" type="Result" version="opset1"><input>{n}</input></layer>'
        "</layers><edges>"
        + "".join(
            f'<edge from-layer="{start}" from-port="{out}" to-layer="{end}" to-port="{into}"/>'
            for start, out, end, into in (
                (0, 0, 2, 0),
                (1, 0, 3, 0),
                (1, 0, 3, 1),
                (0, 0, 4, 0),
                (2, 1, 4, 1),
                (4, 2, 5, 0),
                (3, 2, 6, 0),
            )
        )
        + "</edges></net>"
    ).encode()


def _port(number: int, sizes: tuple[int, ...], kind: str) -> str:
    dims = "".join(f"<dim>{size}</dim>" for size in sizes)
    return f'<port id="{number}" precision="{kind}">{dims}</port>'
