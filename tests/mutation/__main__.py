"""Change the package in small ways, one at a time, and see which changes the tests notice.

    python -m tests.mutation                                       the files that differ from the branch `main`
    python -m tests.mutation ir_tools/weights.py                   these files
    python -m tests.mutation --record ir_tools/weights.py          and their shares in docs/mutation.md
    python -m tests.mutation --sample 100 --seed 2 FILE...         100 changes of each file, drawn at random

mutmut makes the changes and runs the tests, in a copy of the checkout. Changes that mean the same are listed in
`equal.toml`, with the reason. The command ends with 1 if a change that is not listed there goes unnoticed.
"""

import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "mutation.md"
EQUAL = Path(__file__).with_name("equal.toml")
UNNOTICED = {0: "survived", 33: "no test reaches it", 5: "no test reaches it"}
"""mutmut's codes of changes that no test noticed; None stands for one that was not tried."""
SETTINGS = """
[tool.mutmut]
source_paths = ["ir_tools"]
only_mutate = [{file}]
also_copy = ["tests", "samples", "docs", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", ".ci"]
pytest_add_cli_args = ["-n", "0", "-p", "no:cacheprovider"]
pytest_add_cli_args_test_selection = [{tests}]
process_isolation = "forkserver"
type_check_command = [{python}, "-m", "mypy", "ir_tools", "--output", "json", "--disable-error-code", "unused-ignore"]
"""
SHOW = "import sys, mutmut.__main__ as tool; [print(end='\\0') or tool.show.callback(name) for name in sys.argv[1:]]"
"""Prints what `mutmut show` prints of each change, behind a NUL."""
LIST = """
import pathlib, sys
from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name
path = pathlib.Path(sys.argv[1])
print(*(get_mutant_name(path, name) for name in mutate_file_contents(str(path), path.read_text()).mutant_names))
"""
"""Prints the names that `mutmut run` gives to the changes of a file."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change that no test noticed: where, the lines taken away and put in, and what mutmut says of it."""

    function: str
    removed: str
    added: str
    state: str

    def __str__(self) -> str:
        return f"{self.function}: {self.state}\n  - {self.removed}\n  + {self.added}"


@dataclass(frozen=True, slots=True)
class Score:
    """What became of the changes to one file, or of a sample of them."""

    file: str
    total: int
    tried: int
    unnoticed: tuple[Mutant, ...]
    equal: int

    @property
    def share(self) -> float:
        """Noticed changes among those that do not mean the same."""
        counted = self.tried - self.equal
        return 1.0 if counted == 0 else 1 - len(self.unnoticed) / counted


def score(file: str, sample: int | None = None, seed: int = 1) -> Score:
    """Run mutmut on one file, in a copy of the checkout; with all changes or a sample of them."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        _copy_checkout(copy)
        texts = SETTINGS.format(
            file=json.dumps(file), tests=json.dumps(f"--concerning={file}"), python=json.dumps(sys.executable)
        )
        with (copy / "pyproject.toml").open("a") as settings:
            settings.write(texts)
        names = _python(copy, "-c", LIST, file).split()
        chosen = [] if sample is None or sample >= len(names) else random.Random(seed).sample(names, sample)
        _python(copy, "-m", "mutmut", "run", *chosen)
        codes = json.loads((copy / "mutants" / f"{file}.meta").read_text())["exit_code_by_key"]
        missed = _mutants(copy, {name: UNNOTICED[code] for name, code in codes.items() if code in UNNOTICED})
    equal = _equal(file)
    unnoticed = tuple(mutant for mutant in missed if (mutant.function, mutant.removed, mutant.added) not in equal)
    tried = sum(code is not None for code in codes.values())
    return Score(file, len(names), tried, unnoticed, len(missed) - len(unnoticed))


def record(scores: Sequence[Score]) -> None:
    """Put the shares into the table of docs/mutation.md, in place of older rows of the same files."""
    rows = {f"| `{score.file}` ": _row(score) for score in scores}
    head, *old = re.split(r"^(?=\| `)", PAGE.read_text(), flags=re.MULTILINE)
    kept = {row[: row.index("|", 1)]: row for row in old}
    PAGE.write_text(head + "".join(text for _, text in sorted((kept | rows).items())))


def _row(score: Score) -> str:
    tried = f"{score.tried}" if score.tried == score.total else f"sample: {score.tried} of {score.total}"
    return f"| `{score.file}` | {tried} | {score.equal} | {len(score.unnoticed)} | {100 * score.share:.1f} % |\n"


def _copy_checkout(target: Path) -> None:
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in files.rstrip("\0").split("\0"):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    subprocess.run(["git", "init", "-q"], cwd=target, check=True)


def _python(copy: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=copy, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed:\n{done.stdout[-2000:]}\n{done.stderr}")
    return done.stdout


def _mutants(copy: Path, states: Mapping[str, str]) -> list[Mutant]:
    parts = _python(copy, "-c", SHOW, *states).split("\0") if states else []
    return [_mutant(name, state, diff) for (name, state), diff in zip(states.items(), parts[1:], strict=True)]


def _mutant(name: str, state: str, diff: str) -> Mutant:
    function = re.sub(r"__mutmut_\d+$", "", name.rpartition(".")[2]).removeprefix("x_").replace("ǁ", ".")
    return Mutant(function.removeprefix("x."), _lines(diff, "-"), _lines(diff, "+"), state)


def _lines(diff: str, sign: str) -> str:
    return " / ".join(line[1:].strip() for line in diff.splitlines() if re.match(rf"\{sign}(?!\{sign})", line))


def _equal(file: str) -> set[tuple[str, str, str]]:
    rows = tomllib.loads(EQUAL.read_text()).get(file, [])
    return {(row["function"], row["removed"], row["added"]) for row in rows}


def _changed() -> list[str]:
    command = ["git", "diff", "--name-only", "--diff-filter=d", "main", "--", "ir_tools/*.py"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()


def main() -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", help="files of the package; without one, those that differ from main")
    parser.add_argument("--record", action="store_true", help="write the shares into docs/mutation.md")
    parser.add_argument("--sample", type=int, metavar="N", help="try N changes of each file, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the sample (default 1)")
    options = parser.parse_args()
    scores = []
    for file in options.files or _changed():
        scores.append(score(str(Path(file).resolve().relative_to(ROOT)), options.sample, options.seed))
        print(_row(scores[-1]), *scores[-1].unnoticed, sep="\n", flush=True)
        if options.record:
            record(scores[-1:])
    return int(any(score.unnoticed for score in scores))


if __name__ == "__main__":
    sys.exit(main())
