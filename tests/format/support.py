"""Models and comparisons for the tests of reading and writing."""

import difflib
from collections.abc import Iterator
from typing import NamedTuple

from ir_tools.format.read import read
from ir_tools.graph import Graph, LayerContent, Model

SMALL = b"""<?xml version="1.0"?>
<net name="small" version="11">
	<layers>
		<!-- where it starts: <layer> -->
		<layer id="0" name="x" type="Parameter" version="opset1">
			<data shape="1,8,?" element_type="f32" />
			<output>
				<port id="0" precision="FP32" names="x,a\\,b">
					<dim>1</dim>
					<dim>8</dim>
					<dim>-1</dim>
				</port>
			</output>
		</layer>
		<layer id="1" name="pool" type="AvgPool" version="opset14" origin="kept">
			<data kernel="3" strides="1" pads_begin="1" pads_end="1" exclude-pad="true" rounding_type="ceil_torch" />
			<rt_info>
				<attribute name="fused_names" version="0" value="pool" />
			</rt_info>
			<input>
				<port id="0" precision="FP32"><!-- in -->
					<dim>1</dim>
					<dim>8</dim>
					<dim>-1</dim>
				</port>
			</input>
			<output>
				<port id="1" precision="FP32" names="pooled">
					<dim>1</dim>
					<dim>8</dim>
					<dim>-1</dim>
				</port>
			</output>
			<unknown a='1'/>
		</layer>
		<layer id="2" name="y" type="Result" version="opset1" output_names="pooled">
			<input>
				<port id="0" precision="FP32">
					<dim>1</dim>
					<dim>8</dim>
					<dim>-1</dim>
				</port>
			</input>
		</layer>
	</layers>
	<edges>
		<edge from-layer="0" from-port="0" to-layer="1" to-port="0" />
		<edge from-layer="1" from-port="1" to-layer="2" to-port="0" />
	</edges>
	<meta_data><made by="hand"/></meta_data>
	<rt_info />
</net>
"""


class Told(NamedTuple):
    """Everything that a model says about one layer."""

    tag: dict[str, str]
    content: LayerContent
    sources: dict[int, tuple[str, int]]


def told(model: Model) -> dict[str, Told]:
    """What a model says, by path; two models that say the same are equal whatever their ids."""
    return {
        path: Told(
            {name: value for name, value in layer.tag.items() if name != "id"}, layer.content, _sources(graph, layer.id)
        )
        for path, layer, graph in model.walk()
    }


def _sources(graph: Graph, layer_id: int) -> dict[int, tuple[str, int]]:
    return {port: (graph.layer(source.layer).name, source.port) for port, source in graph.sources(layer_id).items()}


def small() -> Model:
    return read(SMALL)


def changed_lines(before: bytes, after: bytes) -> Iterator[int]:
    """The lines of `before`, from 1, that were changed or removed, or behind which lines were added."""
    old, new = before.split(b"\n"), after.split(b"\n")
    start = _alike(old, new)
    end = _alike(old[:start:-1], new[:start:-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    for kind, first, last, *_ in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from range(start + first + 1, start + last + 1) if last > first else (start + first,)


def _alike(old: list[bytes], new: list[bytes]) -> int:
    """How many lines both begin with."""
    return next(
        (at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )
