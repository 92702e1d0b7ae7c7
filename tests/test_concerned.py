"""The table of tests concerned with a file is complete, and selects what there is."""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests import concerned

MODULES = [str(path.relative_to(concerned.ROOT)) for path in sorted((concerned.ROOT / "ir_tools").rglob("*.py"))]


@pytest.mark.parametrize("file", MODULES)
def test_each_module_has_tests(file: str) -> None:
    """By file: pytest does not keep the order of files that are named beside their folder."""
    tests = concerned.tests_of(file)
    assert tests != []
    assert [test for test in tests if not (concerned.ROOT / test.partition("::")[0]).is_file()] == []


@pytest.mark.sweep
def test_tests_run_in_the_order_in_which_they_are_named() -> None:
    """The first file has fewer tests than the second."""
    chosen = "test_a_second_variable_needs_the_sizes_of_the_first or test_states_that_do_not_fit"
    command = [sys.executable, "-m", "pytest", "-v", "-n1", "--concerning=ir_tools/states.py", "-k", chosen]
    done = subprocess.run(command, cwd=concerned.ROOT, capture_output=True, text=True, check=False)
    files = re.findall(r"PASSED (tests/\S+)::", done.stdout)
    assert list(dict.fromkeys(files)) == ["tests/ops/test_state.py", "tests/test_session.py"], done.stdout
    assert files.count("tests/ops/test_state.py") < files.count("tests/test_session.py")


@pytest.mark.sweep
def test_tests_of_several_files_are_those_of_each() -> None:
    found = []
    for files in (["files.py"], ["weights.py"], ["files.py", "weights.py"]):
        options = (f"--concerning=ir_tools/{file}" for file in files)
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", *options]
        done = subprocess.run(command, cwd=concerned.ROOT, capture_output=True, text=True, check=False)
        found.append(re.findall(r"^tests/\S+::.*", done.stdout, re.MULTILINE))
    first, second, both = found
    assert first
    assert second
    assert both == [*first, *second]


def test_each_pattern_is_the_first_that_fits_a_module() -> None:
    used = {next(pattern for pattern in concerned.TESTS if fnmatch(file, pattern)) for file in MODULES}
    assert sorted(concerned.TESTS.keys() - used) == []


def test_each_row_names_tests_that_there_are() -> None:
    fixed = {row.partition("::")[0] for rows in concerned.TESTS.values() for row in rows if "{" not in row}
    assert sorted(row for row in fixed if not (concerned.ROOT / row).exists()) == []


def test_each_part_is_a_module_and_each_of_their_families_has_tests() -> None:
    names = {Path(file).stem.lstrip("_") for file in MODULES if file.startswith("ir_tools/ops/")}
    parts = {part for text in concerned.PARTS.values() for part in text.split()}
    assert parts - names == set()
    assert sorted(f for f in concerned.PARTS if not (concerned.ROOT / f"tests/ops/test_{f}.py").exists()) == []


def test_tests_of_what_only_a_module_uses_come_first() -> None:
    assert concerned.tests_of("ir_tools/format/constants.py")[0] == "tests/test_weights.py"


def test_tests_of_other_operations_are_left_out() -> None:
    operations = concerned.operations_of("ir_tools/ops/pooling.py")
    assert "AvgPool-16" in operations
    assert "Convolution-1" not in operations
    table = "tests/ops/test_table.py::test_words"
    assert concerned.is_concerned(f"{table}[AvgPool-1]", operations)
    assert not concerned.is_concerned(f"{table}[Convolution-1]", operations)
    assert concerned.is_concerned("tests/ops/test_table.py::test_all", operations)
    recorded = "tests/ops/test_recorded.py::test_what_was_recorded"
    assert concerned.is_concerned(
        f"{recorded}[table shapes Pad-12]", concerned.operations_of("ir_tools/ops/padding.py")
    )
    assert not concerned.is_concerned(f"{recorded}[table shapes Pad-12]", operations)


def test_a_helper_concerns_the_operations_of_all_that_import_it() -> None:
    convolutions = concerned.operations_of("ir_tools/ops/convolution.py")
    assert convolutions < concerned.operations_of("ir_tools/ops/_values.py")
    assert concerned.operations_of("ir_tools/ops/checks.py") == concerned.operations_of("ir_tools/format/write.py")
