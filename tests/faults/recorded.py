"""What is found in one file of each family of faults, so that any other finding is noticed; the sweeps judge them.

`python -m tests.faults.recorded` writes `recorded.json`, in seconds: needed after a change that means to find something
else, or of the faults. Look at the difference before it is committed.
"""

import re
from pathlib import Path
from zlib import crc32

from ir_tools.diagnostics import Diagnostic
from ir_tools.rules.storage import WRONG_ENCODING
from ir_tools.validation import validate
from tests.faults.catalogue import mutants
from tests.faults.sweep import one_of_each_family
from tests.rules.recorded import FACTS
from tests.tables import save

FILE = Path(__file__).with_name("recorded.json")
GROUPS = ("bodies", "constants", "edges", "element types", "layers", "rt_info", "shapes", "structure", "xml")
"""Those of operations, and files that are valid, have tests of their own."""
CUT = {"beginning-lost", "middle-lost", "random-half-lost"}
"""Faults whose place in the file depends on how long names are."""
COUNTED = re.compile(r"(?<=\w)_\d+")
"""The end of a name that OpenVINO gives to a layer: it counts all that a process has made."""


def found(group: str) -> dict[str, str]:
    """What is found, by the kind of fault."""
    faults = tuple(fault for fault in one_of_each_family() if fault.group == group and fault.kind not in CUT)
    return {
        mutant.kind: " ".join(map(_words_of, validate(mutant.xml, mutant.weights))) for mutant in mutants(5, 1, faults)
    }


def _words_of(one: Diagnostic) -> str:
    """Code, severity and line of a finding, and a digest of what it names.

    Columns and places of bytes depend on how long names are.
    """
    named = FACTS.findall(COUNTED.sub("", f"{one.message} {one.help or ''}"))
    facts = one.layer_id, one.attribute, [] if one.code == WRONG_ENCODING.code else named
    return f"{one.code}{str(one.severity)[0]}{one.line}#{crc32(repr(facts).encode()) & 0xFFFF:04x}"


if __name__ == "__main__":
    save(FILE, {group: found(group) for group in GROUPS})
