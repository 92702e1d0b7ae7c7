"""Pieces of models that openvino builds: parameters, constants, weights, and the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset15 as op

__all__ = ["F32", "I32", "I64", "constant", "model", "parameter", "weights"]

F32, I64, I32 = np.float32, np.int64, np.int32


def parameter(shape: Sequence[object], kind: object = F32, name: str = "x") -> Any:
    node = op.parameter(ov.PartialShape(list(shape)), kind, name=name)
    node.output(0).get_tensor().set_names({name})
    return node


def constant(values: object, kind: Any = F32) -> Any:
    return op.constant(np.asarray(values, kind))


def weights(*shape: int, kind: Any = F32) -> Any:
    rng = np.random.default_rng(sum(shape))
    return op.constant((rng.standard_normal(shape) * 0.3).astype(kind))


def model(outputs: Sequence[Any], parameters: Sequence[Any], name: str, sinks: Sequence[Any] = ()) -> Any:
    results = [
        node if isinstance(node, ov.Node) and node.get_type_name() == "Result" else op.result(node) for node in outputs
    ]
    return ov.Model(results, list(sinks), list(parameters), name)
