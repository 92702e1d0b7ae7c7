"""Large IR files, written as text: a long network with an AvgPool-14 at its start, or with many of them."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np

import ir_tools
from tests.ir_text import edge

DIMS = "".join(f"\t\t\t\t\t<dim>{size}</dim>\n" for size in (1, 8, 16, 16))
TENSOR = f'precision="FP32">\n{DIMS}\t\t\t\t</port>\n'
POOL = (
    '<data kernel="3, 3" strides="1, 1" pads_begin="1, 1" pads_end="1, 1" exclude-pad="true" auto_pad="explicit"'
    ' rounding_type="floor" />'
)
ADD = '<data auto_broadcast="numpy" />'
POOLS = {
    "opset14": POOL,
    "ceil_torch": POOL.replace("floor", "ceil_torch").replace('"true"', '"false"'),
    "opset1": POOL.replace("floor", "ceil"),
}
"""Poolings to migrate to opset8, by what is special: version and attributes change, or the stamp alone."""
BLOCK = bytes(range(256)) * 4096


def write_large(
    path: Path, layers: int, *, weights: int = 4, poolings: int = 1, kind: str = "opset14", names: bool = False
) -> Path:
    """Write a network of about `layers` layers, `poolings` of them AvgPool; its first constant has `weights` bytes.

    Args:
        path: of the `.xml`.
        layers: how many.
        weights: of the first constant, in bytes.
        poolings: how many AvgPools.
        kind: of the poolings, see `POOLS`.
        names: whether outputs have tensor names, as in files that were converted.
    """
    blocks, version = layers // 3, kind if kind in {"opset1", "opset14"} else "opset14"
    texts = (
        text.replace(POOL, POOLS[kind]).replace('version="opset14"', f'version="{version}"')
        for text in _layers(blocks, weights, poolings)
    )
    with path.open("w") as file:
        file.write('<?xml version="1.0"?>\n<net name="large" version="11">\n\t<layers>\n')
        file.writelines(map(_named, texts, count()) if names else texts)
        file.write("\t</layers>\n\t<edges>\n")
        file.writelines(_edges(blocks))
        file.write("\t</edges>\n\t<rt_info />\n</net>\n")
    with path.with_suffix(".bin").open("wb") as file:
        for _ in range(weights // len(BLOCK)):
            file.write(BLOCK)
        file.write(bytes(weights + 4 * blocks - file.tell()))
    return path


def write_with_sizes(path: Path, layers: int) -> Path:
    """Write a network of about `layers` layers that computes the sizes of its tensors: a Gather-1 in every block."""
    builder = ir_tools.Builder(opset=3)
    end = builder.parameter("data", [1, 8, 256], "f32")
    places, axis, rest = (builder.constant(np.array(values)) for values in ([0, 1], 0, [256]))
    for block in range(layers // 5):
        end = builder.call("ReLU", end, name=f"relu_{block}")
        kept = builder.call(
            "Gather", builder.call("ShapeOf", end, output_type="i64"), places, axis, name=f"kept_{block}"
        )
        end = builder.call("Reshape", end, builder.call("Concat", kept, rest, axis=0), special_zero=True)
    builder.result(end)
    ir_tools.write(builder.model, path)
    return path


def _layers(blocks: int, weights: int, poolings: int) -> Iterator[str]:
    """Layer 0 is the input, 1 the weights, 2 a pooling; block n is 3n + 3 (Const), + 1 (Add), + 2 (ReLU or AvgPool).

    Two Results read the end of the chain, and the weights.
    """
    yield _layer(0, "data", "Parameter", '<data shape="1,8,16,16" element_type="f32" />', 0)
    yield _constant(1, "weights", "u8", weights, 0, weights)
    yield _layer(2, "pool", "AvgPool", POOL, 1, version="opset14")
    for block in range(blocks):
        first = 3 * block + 3
        yield _constant(first, f"bias_{block}", "f32", 1, weights + 4 * block, 4)
        yield _layer(first + 1, f"add_{block}", "Add", ADD, 2)
        if block < poolings - 1:
            yield _layer(first + 2, f"pool_{block}", "AvgPool", POOL, 1, version="opset14")
        else:
            yield _layer(first + 2, f"relu_{block}", "ReLU", "", 1)
    yield _layer(3 * blocks + 3, "result", "Result", "", 1, outputs=False)
    port = f'<port id="0" precision="U8">\n\t\t\t\t\t<dim>{weights}</dim>\n\t\t\t\t</port>'
    yield (
        f'\t\t<layer id="{3 * blocks + 4}" name="weights_result" type="Result" version="opset1">\n'
        f"\t\t\t<input>\n\t\t\t\t{port}\n\t\t\t</input>\n\t\t</layer>\n"
    )


def _layer(
    number: int, name: str, kind: str, data: str, inputs: int, *, version: str = "opset1", outputs: bool = True
) -> str:
    ports = [f'\t\t\t\t<port id="{port}" {TENSOR}' for port in range(inputs)]
    if kind == "Add":
        ports[1] = '\t\t\t\t<port id="1" precision="FP32">\n\t\t\t\t\t<dim>1</dim>\n\t\t\t\t</port>\n'
    text = f'\t\t<layer id="{number}" name="{name}" type="{kind}" version="{version}">\n'
    text += f"\t\t\t{data}\n" if data else ""
    text += f"\t\t\t<input>\n{''.join(ports)}\t\t\t</input>\n" if inputs else ""
    text += f'\t\t\t<output>\n\t\t\t\t<port id="{inputs}" {TENSOR}\t\t\t</output>\n' if outputs else ""
    return text + "\t\t</layer>\n"


def _constant(number: int, name: str, kind: str, count: int, offset: int, size: int) -> str:
    return (
        f'\t\t<layer id="{number}" name="{name}" type="Const" version="opset1">\n'
        f'\t\t\t<data element_type="{kind}" shape="{count}" offset="{offset}" size="{size}" />\n'
        f'\t\t\t<output>\n\t\t\t\t<port id="0" precision="{"FP32" if kind == "f32" else "U8"}">\n'
        f"\t\t\t\t\t<dim>{count}</dim>\n\t\t\t\t</port>\n\t\t\t</output>\n\t\t</layer>\n"
    )


def _named(text: str, number: int) -> str:
    """Return the layer with a tensor name at its output."""
    before, output, behind = text.partition("<output>")
    return before + output + behind.replace('">', f'" names="tensor_{number}">', 1)


def _edges(blocks: int) -> Iterator[str]:
    yield edge(0, 0, 2, 0)
    for block in range(blocks):
        first = 3 * block + 3
        yield edge(first - 1, 1, first + 1, 0)
        yield edge(first, 0, first + 1, 1)
        yield edge(first + 1, 2, first + 2, 0)
    yield edge(3 * blocks + 2, 1, 3 * blocks + 3, 0)
    yield edge(1, 0, 3 * blocks + 4, 0)
