"""An attribute of a tag is almost called like one that the runtime reads.

Why: the runtime reads past it: tensor names are lost, a layer keeps no name.

Bad:
    <port id="1" precision="FP32" name="r">

Good:
    <port id="1" precision="FP32" names="r">
"""

from collections.abc import Iterator

from ir_tools.diagnostics import Severity
from ir_tools.rules._define import Finding, Rule
from ir_tools.rules._file import IrFile
from ir_tools.types import closest

__all__ = ["RULE"]


OPTIONAL = {"layer": "output_names", "port": "names"}
"""The attributes that may be absent, so that nothing else tells of their misspelling."""
OWN = {"layer": {"id", "name", "type", "version"}, "port": {"id", "precision"}}


def check(file: IrFile) -> Iterator[Finding]:
    """One finding for each attribute; none where the right one is there too."""
    usual = {"layer": file.usual.layers, "port": file.usual.ports}
    for tag, name in OPTIONAL.items():
        for element in () if usual[tag] else file.document.root.iter(tag):
            parent = element.getparent()
            if element.get(name) is not None or (tag == "port" and (parent is None or parent.tag != "output")):
                continue
            for word in map(str, element.attrib):
                if word not in OWN[tag] and closest(word, [name]):
                    message = f"<{tag}> has an attribute {word}; did you mean {name}?"
                    yield Finding(file.place_of(element), message, f'write {name}="..."')


RULE = Rule("IR136", "misspelled-attribute", Severity.WARNING, __doc__, check)
