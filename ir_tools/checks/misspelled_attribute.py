"""Attributes of tags that are almost called like one that the runtime reads."""

from collections.abc import Iterator
from itertools import islice

from ir_tools.checks.define import Check
from ir_tools.checks.file import IrFile
from ir_tools.format.problems import MAX_IN_ELEMENT, ElementProblem
from ir_tools.rules.structure import MISSPELLED_ATTRIBUTE
from ir_tools.source.grammar import GRAMMAR
from ir_tools.types import closest

__all__ = ["CHECK"]


def find(file: IrFile) -> Iterator[ElementProblem]:
    """Yield one problem for each attribute that may be a misspelling of the optional one of its tag."""
    usual = {"layer": file.usual.layers, "port": file.usual.ports}
    for tag, is_usual in usual.items():
        name, others = GRAMMAR[tag].optional, GRAMMAR[tag].attributes
        for element in () if is_usual else file.document.root.iter(tag):
            parent = element.getparent()
            if element.get(name) is not None or (tag == "port" and (parent is None or parent.tag != "output")):
                continue
            for word in islice(map(str, element.attrib), MAX_IN_ELEMENT):
                if word not in others and closest(word, [name]):
                    message = f"<{tag}> has an attribute {word}; did you mean {name}?"
                    yield ElementProblem(MISSPELLED_ATTRIBUTE, element, message, f'write {name}="..."')


CHECK = Check(find, (MISSPELLED_ATTRIBUTE,))
