"""Stateful models made through OpenVINO's own opset functions: an accumulator, an LSTM, a decoder with a KV-cache."""

from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as ops
from openvino.op.util import Variable, VariableInfo


def variable(name: str, shape: list[int], kind: ov.Type = ov.Type.f32) -> Variable:
    """A variable; -1 is a size that is not known."""
    info = VariableInfo()
    info.variable_id, info.data_shape, info.data_type = name, ov.PartialShape(shape), kind
    return Variable(info)


def _parameter(name: str, shape: list[int], kind: Any = np.float32) -> Any:
    node = ops.parameter(shape, kind, name=name)
    node.output(0).set_names({name})
    return node


def _result(node: Any, name: str) -> Any:
    node.output(0).set_names({name})
    return ops.result(node)


def accumulator(kind: Any = np.float32, stored: ov.Type = ov.Type.f32, name: str = "sum") -> ov.Model:
    """`y = 2 * (sum + x)`, which stores `sum + x`; `sum` is 3 at first."""
    x = _parameter("x", [1, 2], kind)
    total = ops.add(ops.read_value(ops.constant(np.full([1, 2], 3, kind)), variable(name, [1, 2], stored)), x)
    stores = ops.assign(total, variable(name, [1, 2], stored))
    return ov.Model([_result(ops.multiply(total, ops.constant(np.array(2, kind))), "y")], [stores], [x], "accumulator")


def lstm(hidden: int = 4, batch: int = 2) -> ov.Model:
    """One LSTMCell whose hidden and cell state are variables, static."""
    random = np.random.default_rng(1)
    x = _parameter("x", [batch, 3])
    weights = [random.standard_normal(shape).astype(np.float32) for shape in ((16, 3), (16, 4), (16,))]
    stored = [variable(name, [batch, hidden]) for name in ("h", "c")]
    zeros = ops.constant(np.zeros([batch, hidden], np.float32))
    cell = ops.lstm_cell(x, *(ops.read_value(zeros, each) for each in stored), *map(ops.constant, weights), hidden)
    # assign takes nodes alone, no outputs of nodes.
    stores = [ops.assign(ops.clamp(cell.output(at), -9.0, 9.0), each) for at, each in enumerate(stored)]
    return ov.Model([_result(ops.relu(cell.output(0)), "y")], stores, [x], "lstm")


def growing() -> ov.Model:
    """`y = all x so far + mask`, both `[1, ?]`; nothing at first."""
    x, mask = _parameter("x", [1, -1]), _parameter("mask", [1, -1])
    own = variable("all", [1, -1])
    total = ops.concat([ops.read_value(ops.constant(np.zeros([1, 0], np.float32)), own), x], 1)
    return ov.Model([_result(ops.add(total, mask), "y")], [ops.assign(total, own)], [x, mask], "growing")


def decoder(layers: int = 2, heads: int = 2, size: int = 8, words: int = 50) -> ov.Model:
    """Attention over a KV-cache that grows; batch and lengths are not known, initial values computed."""
    random = np.random.default_rng(2)
    width = heads * size

    def weight(*shape: int) -> Any:
        return ops.constant((random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32))

    def ints(*values: int) -> Any:
        return ops.constant(np.array(values, np.int64))

    def split(data: Any) -> Any:
        return ops.transpose(ops.reshape(data, ints(0, 0, heads, size), True), ints(0, 2, 1, 3))

    ids, beams = _parameter("input_ids", [-1, -1], np.int64), _parameter("beam_idx", [-1], np.int32)
    x, stores = ops.gather(weight(words, width), ids, ints(0)), []
    batch = ops.gather(ops.shape_of(ids), ints(0), ints(0))
    empty = ops.broadcast(ops.constant(np.float32(0)), ops.concat([batch, ints(heads), ints(0), ints(size)], 0))
    for layer in range(layers):
        query, *new = (split(ops.matmul(x, weight(width, width), False, False)) for _ in range(3))
        cache = []
        for name, values in zip(("key", "value"), new, strict=True):
            kept = variable(f"past.{layer}.{name}", [-1, heads, -1, size])
            cache.append(ops.concat([ops.gather(ops.read_value(empty, kept), beams, ints(0)), values], 2))
            stores.append(ops.assign(cache[-1], kept))
        attended = ops.scaled_dot_product_attention(query, *cache, causal=False)
        flat = ops.reshape(ops.transpose(attended, ints(0, 2, 1, 3)), ints(0, 0, width), True)
        x = ops.add(x, ops.matmul(flat, weight(width, width), False, False))
    logits = _result(ops.matmul(x, weight(width, words), False, False), "logits")
    return ov.Model([logits], stores, [ids, beams], "decoder")
