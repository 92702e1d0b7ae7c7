"""Whether something works on the runtime."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ir_tools.errors import RuntimeFailure, ShapeError
from ir_tools.graph import Model
from ir_tools.infer import propagate_shapes
from ir_tools.runtime.ask import LayerOracle
from ir_tools.runtime.client import RuntimeClient

__all__ = ["shapes_unless_refused", "works"]


def works(function: Callable[..., object], *arguments: object, **options: object) -> bool:
    """Whether a function returns, and does not fail as the runtime does, in a process of its own or in this one."""
    try:
        function(*arguments, **options)
    except (RuntimeFailure, RuntimeError):
        return False
    return True


def shapes_unless_refused(
    client: RuntimeClient, path: Path, weights: bytes | None, model: Model, inputs: Mapping[str, str]
) -> dict[tuple[str, int], tuple[str, str]] | None:
    """The runtime's shapes of a model with these inputs; None if it refuses them, as they are refused here then."""
    try:
        return client.shapes(path, weights, inputs)
    except RuntimeFailure:
        with pytest.raises(ShapeError):
            propagate_shapes(model, inputs, ask=LayerOracle(client))
        return None
