"""Known findings: what `validate --baseline` leaves out, and which of them are gone."""

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ir_tools import __version__
from ir_tools.diagnostics import Diagnostic
from ir_tools.errors import UsageError
from ir_tools.files import check_readable, write_file

__all__ = ["Baseline", "Known"]


class Known(NamedTuple):
    """What makes a finding the same one after lines were added or removed: its rule, layer and message."""

    code: str
    layer: str | None
    message: str

    @classmethod
    def of(cls, finding: Diagnostic) -> "Known":
        """Return the entry of a finding."""
        return cls(finding.code, finding.path or finding.layer_name, finding.message)


Counts = Mapping[Known, int]


@dataclass(frozen=True, slots=True)
class Baseline:
    """The findings that are known, with their numbers, by file; files are relative to the folder of the baseline."""

    file: Path
    known: Mapping[str, Counts] = field(default_factory=dict)

    def unknown(self, file: Path, findings: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Return the findings in a file that are not known; of an entry that is found more often than known, all."""
        known, found = self.known.get(self._name(file), {}), list(findings)
        counts = Counter(map(Known.of, found))
        return [finding for finding in found if counts[Known.of(finding)] > known.get(Known.of(finding), 0)]

    def gone(self, file: Path, findings: Iterable[Diagnostic], codes: Collection[str]) -> list[Known]:
        """Return the entries of a file, of rules that were checked, that are found less often than known."""
        counts = Counter(map(Known.of, findings))
        known = self.known.get(self._name(file), {})
        return [entry for entry, number in known.items() if entry.code in codes and counts[entry] < number]

    def gone_files(self) -> list[str]:
        """Return the files that do not exist any more."""
        return [name for name in self.known if not (self.file.parent / name).exists()]

    def updated(self, found: Mapping[Path, Iterable[Diagnostic]]) -> "Baseline":
        """Return a baseline with all findings of these files, and the entries of other files that exist."""
        gone = {*self.gone_files(), *map(self._name, found)}
        kept = {name: known for name, known in self.known.items() if name not in gone}
        new = {self._name(file): Counter(map(Known.of, findings)) for file, findings in found.items()}
        return Baseline(self.file, {**kept, **{name: counts for name, counts in new.items() if counts}})

    def write(self) -> None:
        """Write the file, in an order that keeps differences small.

        Raises:
            WriteError: it cannot be written.
        """
        entries = {
            name: [{**entry._asdict(), "count": number} for entry, number in sorted(counts.items(), key=_order)]
            for name, counts in sorted(self.known.items())
        }
        text = json.dumps({"ir_tools": __version__, "files": entries}, indent=2, ensure_ascii=True)
        write_file(self.file, lambda file: file.write(f"{text}\n".encode()))

    @classmethod
    def read(cls, file: Path) -> "Baseline":
        """Read a file.

        Raises:
            UsageError: it cannot be read, or is not a baseline.
        """
        check_readable(file)
        try:
            document = json.loads(file.read_bytes())
            known = {
                str(name): {Known(row["code"], row["layer"], row["message"]): int(row["count"]) for row in rows}
                for name, rows in document["files"].items()
            }
        except OSError as error:
            raise UsageError(f"{file}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UsageError(f"{file} is not a baseline; create one with --write-baseline") from None
        return cls(file, known)

    def _name(self, file: Path) -> str:
        """Return the name of a file in the baseline, which does not depend on where the command runs."""
        return Path(os.path.relpath(file, self.file.parent)).as_posix()


def _order(item: tuple[Known, int]) -> tuple[str, str, str]:
    entry, _ = item
    return entry.code, entry.layer or "", entry.message
