"""What is found in one file of each family of faults, so that any other finding is noticed; the sweeps judge them.

`python -m tests.faults.recorded` writes `recorded.json`, in seconds: needed after a change that means to find something
else, or of the faults. Look at the difference before it is committed.
"""

import json
from pathlib import Path

from tests.faults.catalogue import mutants
from tests.faults.sweep import one_of_each_family
from tests.rules.recorded import words_of_file

FILE = Path(__file__).with_name("recorded.json")
GROUPS = ("bodies", "constants", "edges", "element types", "layers", "rt_info", "shapes", "structure", "xml")
"""Those of operations, and files that are valid, have tests of their own."""


def found(group: str) -> dict[str, str]:
    """What is found, by the kind of fault."""
    faults = tuple(fault for fault in one_of_each_family() if fault.group == group)
    return {mutant.kind: words_of_file(mutant.xml, mutant.weights) for mutant in mutants(5, 1, faults)}


def load() -> dict[str, dict[str, str]]:
    """What was recorded, by group and kind."""
    table: dict[str, dict[str, str]] = json.loads(FILE.read_text())
    return table


if __name__ == "__main__":
    FILE.write_text(json.dumps({group: found(group) for group in GROUPS}, indent=1, ensure_ascii=False) + "\n")
