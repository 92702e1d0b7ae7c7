"""The grammar of IR: which element holds which, and the attributes of their tags."""

from collections.abc import Mapping
from typing import NamedTuple

__all__ = [
    "BLOBS",
    "BODIES",
    "EDGE_ENDS",
    "GRAMMAR",
    "LEGACY",
    "LEGACY_VERSIONS",
    "MAPS",
    "NOTES",
    "SIDES",
    "Tag",
]

LEGACY_VERSIONS = range(2, 8)
"""The versions of IR that releases up to 2020 wrote, with layer types of their own in place of operations."""

EDGE_ENDS = ("from-layer", "from-port", "to-layer", "to-port")
"""The attributes of an `<edge>`; integers."""
SIDES = ("input", "output")
"""What holds the ports of a layer."""
BODIES = ("body", "then_body", "else_body")
"""The graphs inside a layer."""
MAPS = ("port_map", "back_edges", "then_port_map", "else_port_map")
"""The elements whose rows tie a layer to its bodies."""
BLOBS = ("weights", "biases", "custom")
"""The elements of a legacy layer that name bytes of the `.bin`; in the earliest files they are not in `<blobs>`."""
NOTES = ("rt_info", "meta_data", "quantization_parameters", "cli_parameters", "statistics")
"""What says something about a model or layer; it may hold anything."""


class Tag(NamedTuple):
    """What an element holds.

    Attributes:
        children: the elements that the runtime reads in it.
        once: whether each of them may be there once, and other tools may add elements of their own, which nobody reads.
        attributes: those that the tag has; the runtime ignores others, but for `optional`.
        optional: an attribute that may be absent.
    """

    children: frozenset[str] = frozenset()
    once: bool = False
    attributes: tuple[str, ...] = ()
    optional: str = ""


_GRAPH = Tag(frozenset({"layers", "edges", *NOTES}), once=True)
_LAYER = Tag(
    frozenset({*BODIES, *MAPS, *SIDES, "data", "rt_info"}), True, ("id", "name", "type", "version"), "output_names"
)
_PORTS = Tag(frozenset({"port"}))
_ROWS = Tag(frozenset({"input", "output"}))

GRAMMAR: Mapping[str, Tag] = {
    "net": _GRAPH._replace(children=_GRAPH.children | {"pre-process"}),
    **dict.fromkeys(BODIES, _GRAPH),
    "layers": Tag(frozenset({"layer"})),
    "layer": _LAYER,
    "data": Tag(),
    **dict.fromkeys(SIDES, _PORTS),
    "port": Tag(frozenset({"dim", "rt_info"}), False, ("id", "precision"), "names"),
    "dim": Tag(),
    **dict.fromkeys(MAPS, _ROWS),
    "back_edges": Tag(frozenset({"edge"})),
    "edges": Tag(frozenset({"edge"})),
    "edge": Tag(attributes=EDGE_ENDS),
    "blobs": Tag(frozenset(BLOBS)),
}
"""By the name of the element."""
LEGACY = {
    "layer": _LAYER._replace(children=_LAYER.children | {*BLOBS, "blobs"}),
    "data": Tag(frozenset({"crop", "dim"})),
}
"""Elements that hold others in a file of IR v2 to v7: early layers have rows of numbers in `<data>`."""
