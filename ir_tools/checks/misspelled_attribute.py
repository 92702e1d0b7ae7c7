"""Attributes of tags, and of rows of port maps, that are misplaced, or almost called like one that is read."""

from collections.abc import Iterator
from itertools import islice

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile, element_of
from ir_tools.format.problems import MAX_IN_ELEMENT, ElementProblem
from ir_tools.format.rows import SLICES
from ir_tools.ops import find_op
from ir_tools.rules.structure import MISSPELLED_ATTRIBUTE
from ir_tools.source import Element
from ir_tools.source.grammar import GRAMMAR, MAPS, SIDES
from ir_tools.types import closest

__all__ = ["CHECK"]

OF_INPUT = "precision"
"""What a port that is an input need not say, unlike an output."""
OF_LAYER = {*GRAMMAR["layer"].attributes, "precision"}
"""What the tag of a layer may say, some of it in IR v2 to v7 alone."""
IN_ROWS = (*SLICES, "purpose")
"""What a row of a port map may say."""


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each attribute that may be a misspelling of the optional one of its tag."""
    usual = {"layer": file.usual.layers, "port": file.usual.ports}
    for tag, is_usual in usual.items():
        for element in () if is_usual else file.document.root.iter(tag):
            parent = element.getparent()
            of_input = tag == "port" and (parent is None or parent.tag != "output")
            name = OF_INPUT if of_input else GRAMMAR[tag].optional
            if element.get(name) is not None:
                continue
            for word in islice(map(str, element.attrib), MAX_IN_ELEMENT):
                if word not in GRAMMAR[tag].attributes and closest(word, [name]):
                    message = f"<{tag}> has an unknown attribute {word}; did you mean {name}?"
                    yield ElementProblem(MISSPELLED_ATTRIBUTE, element, message, f'write {name}="..."')
    if not file.usual.layers:
        yield from _of_operations(file)
    for net in file.nets:
        for layer in net.bodied:
            yield from _in_rows(layer)


def _of_operations(file: IrFile) -> Iterator[ElementProblem]:
    """Yield the attributes of operations that are in the tag of the layer, where the runtime does not read them."""
    for _, layer, _ in file.model.walk():
        element, op = element_of(layer), find_op(layer.type, layer.version)
        own = {spec.xml or name for name, spec in op.attrs.items()} if op is not None else set[str]()
        for word in sorted(own.intersection(map(str, element.attrib)) - OF_LAYER - layer.common.raw.keys()):
            message = f"<layer> has the attribute {word}, which is read in <data> only"
            yield ElementProblem(MISSPELLED_ATTRIBUTE, element, message, f"move {word} to <data>")


def _in_rows(layer: Element) -> Iterator[ElementProblem]:
    """Yield the misspelled ones of what a row of a port map need not say; reading finds what it lacks."""
    for table in layer.iterchildren(*MAPS):
        for row in table.iterchildren(*SIDES):
            free = [name for name in IN_ROWS if row.get(name) is None]
            for word in islice(map(str, row.attrib), MAX_IN_ELEMENT):
                meant = None if word in IN_ROWS else closest(word, free)
                if meant is not None:
                    message = f"<{row.tag}> has an unknown attribute {word}; did you mean {meant}?"
                    yield ElementProblem(MISSPELLED_ATTRIBUTE, row, message, f'write {meant}="{row.get(word)}"')


CHECK = Check(find, (MISSPELLED_ATTRIBUTE,))
