"""Which tests concern a file of the package, the most telling first: what `pytest --concerning=FILE` runs.

Of tests that go through all operations, it runs those of the operations that the file is part of.
"""

import re
from collections.abc import Mapping, Sequence, Set
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORDED = "tests/ops/test_recorded.py"
TESTS: Mapping[str, tuple[str, ...]] = {
    "ir_tools/ops/_windows.py": (
        "tests/ops/test_windows.py",
        "tests/ops/test_equivalence.py",
        "tests/ops/test_pooling.py",
    ),
    "ir_tools/ops/_equivalence.py": ("tests/ops/test_equivalence.py", "tests/ops/test_lowering.py"),
    "ir_tools/ops/_by_blocks.py": ("tests/ops/test_by_blocks.py", RECORDED),
    "ir_tools/ops/_convolution.py": (
        "tests/ops/test_lowering.py",
        "tests/rewrite/test_versions.py",
        "tests/rewrite/test_recorded.py",
    ),
    "ir_tools/ops/_versions.py": (
        "tests/rewrite/test_recorded.py",
        "tests/rewrite/test_versions.py",
        "tests/rewrite/test_migration.py",
        "tests/rewrite/test_opset_steps.py",
    ),
    "ir_tools/ops/*rewrites.py": (
        "tests/rewrite/test_recorded.py",
        "tests/rewrite/test_versions.py",
        "tests/ops/test_lowering.py",
        "tests/rewrite/test_opset_steps.py",
        "tests/rewrite",
    ),
    "ir_tools/rewrite/migration.py": (
        "tests/rewrite/test_planning.py",
        "tests/rewrite/test_migration.py",
        "tests/made",
        "tests/rewrite",
        "tests/test_display.py",
    ),
    "ir_tools/rewrite/[er]*.py": (
        "tests/rewrite/test_{name}.py",
        "tests/rewrite/test_migration.py",
        "tests/made/test_made.py",
        "tests/rewrite/test_target.py",
        "tests/rewrite",
        "tests/made",
    ),
    "ir_tools/ops/replacements.py": (
        "tests/rewrite/test_places.py",
        "tests/rewrite/test_release_answers.py",
        "tests/rewrite/test_target.py",
    ),
    "ir_tools/rewrite/[fjpst]*.py": (
        "tests/rewrite/test_{name}.py",
        "tests/made/test_made.py",
        "tests/rewrite/test_target.py",
        "tests/rewrite/test_fitting.py",
        "tests/rewrite/test_release_answers.py",
        "tests/rewrite/test_migration.py",
    ),
    "ir_tools/known_differences/releases/*": (
        "tests/releases/test_page.py",
        "tests/releases/test_beside_rows.py",
        "tests/releases/test_differences.py",
        "tests/releases/test_verdicts.py",
        "tests/releases",
        "tests/rewrite/test_release_answers.py",
        "tests/rewrite/test_target.py",
    ),
    "ir_tools/known_differences/[!_]*.py": (
        "tests/releases/test_verdicts.py",
        "tests/releases/test_beside_rows.py",
        "tests/releases/test_borders.py",
        "tests/releases/test_compatibility.py",
        "tests/releases",
        "tests/cli/test_compat.py",
        "tests/rewrite/test_release_answers.py",
        "tests/rewrite/test_target.py",
        "tests/rewrite/test_fitting.py",
    ),
    "ir_tools/infer/*": (
        "tests/rules/test_graph.py",
        "tests/test_infer.py",
        "tests/test_consistency.py",
        "tests/rules/test_recorded.py",
        "tests/test_relaxed.py",
        "tests/ops/test_control_flow.py",
        "tests/rewrite/test_facts.py",
        "tests/rules/test_rules.py",
        "tests/faults/test_recorded.py",
        "tests/made",
    ),
    "ir_tools/rewrite/legacy*.py": ("tests/legacy/test_recorded.py", "tests/legacy"),
    "ir_tools/ops/legacy/*": ("tests/legacy/test_recorded.py", "tests/legacy"),
    "ir_tools/runtime/environments.py": (
        "tests/runtime/test_environments.py",
        "tests/cli/test_runtimes.py",
        "tests/cli/test_releases.py",
        "tests/runtime/test_release.py",
        "tests/cli/test_other_releases.py",
    ),
    "ir_tools/runtime/*": (
        "tests/runtime/test_requests.py",
        "tests/runtime/test_messages.py",
        "tests/runtime/test_frames.py",
        "tests/runtime/test_tensors.py",
        "tests/runtime/test_parts.py",
        "tests/runtime/test_{name}.py",
        "tests/runtime",
    ),
    "ir_tools/importers/onnx/*": ("tests/importers/onnx/test_{name}.py", "tests/importers/onnx"),
    "ir_tools/importers/*": ("tests/importers/test_{name}.py", "tests/importers"),
    "ir_tools/comparison/*saved*.py": ("tests/cli/test_saved_runs.py",),
    "ir_tools/comparison/dumping.py": (
        "tests/comparison/test_dumping.py",
        "tests/cli/test_outputs.py",
        "tests/cli/test_compare.py",
        "tests/cli/test_kills.py",
        "tests/comparison/onnx",
    ),
    "ir_tools/comparison/onnx*.py": ("tests/comparison/onnx",),
    "ir_tools/comparison/*": (
        "tests/comparison/test_decisions.py",
        "tests/comparison/test_{name}.py",
        "tests/made/test_made.py",
        "tests/comparison/test_judgement.py",
        "tests/cli/test_{name}.py",
        "tests/comparison",
    ),
    "ir_tools/compatibility.py": (
        "tests/releases/test_compatibility.py",
        "tests/cli/test_compat.py",
        "tests/cli/test_other_releases.py",
        "tests/cli/test_releases.py",
        "tests/releases",
    ),
    "ir_tools/files.py": ("tests/test_files.py",),
    "ir_tools/weights.py": ("tests/test_weights.py", "tests/test_pickling.py"),
    "ir_tools/format/write.py": (
        "tests/format/test_write.py",
        "tests/cli/test_outputs.py::test_a_link_that_is_written_works",
    ),
    "ir_tools/format/*": (
        "tests/format/test_{name}.py",
        "tests/format/test_write.py",
        "tests/format",
        "tests/rules",
        "tests/faults/test_recorded.py",
    ),
    "ir_tools/graph/*": ("tests/graph", "tests/made"),
    "ir_tools/source/*": ("tests/source", "tests/format/test_write.py", "tests/rules", "tests/faults/test_recorded.py"),
    "ir_tools/checks/bad_rt_info.py": ("tests/rules/test_rt_info.py", "tests/rules"),
    "ir_tools/checks/*": ("tests/rules", "tests/faults/test_recorded.py"),
    "ir_tools/validation.py": ("tests/rules", "tests/cli/test_validate.py"),
    "ir_tools/known_differences/_*.py": (
        "tests/test_beside_known_differences.py",
        "tests/test_known_differences.py",
        "tests/releases",
    ),
    "ir_tools/execut*.py": ("tests/test_execute.py", "tests/ops/test_state.py", "tests/ops/test_control_flow.py"),
    "ir_tools/cli/*": ("tests/cli/test_recorded.py", "tests/cli/test_{name}.py", "tests/cli"),
    "ir_tools/ops/checks.py": (
        "tests/ops/test_checks.py",
        "tests/legacy/test_findings.py",
        "tests/rules/test_rules.py",
        "tests/ops/test_layer_faults.py",
        "tests/rules/test_recorded.py",
        "tests/faults/test_recorded.py",
        RECORDED,
    ),
    "ir_tools/ops/*": (
        RECORDED,
        "tests/rewrite/test_recorded.py",
        "tests/ops/test_{family}.py",
        "tests/ops/test_without_elements.py",
        "tests/ops/test_checks.py",
        "tests/ops/test_corners.py",
        "tests/ops/test_edges.py",
        "tests/ops/test_moving_edges.py",
        "tests/ops/test_reference_cases.py",
        "tests/ops/test_unreleased.py",
        "tests/ops/test_double.py",
        "tests/ops/test_taken_types.py",
        "tests/ops/test_layer_faults.py",
        "tests/ops/test_less_known.py",
        "tests/ops/test_empty_boxes.py",
        "tests/ops/test_any_facts.py",
        "tests/ops/test_every_type.py",
        "tests/ops/test_vision_settings.py",
        "tests/ops/test_rare_kernels.py",
        "tests/ops/test_rare_shapes.py",
        "tests/ops/test_attribute_reads.py",
        "tests/ops/test_table.py",
        "tests/ops/test_adaptive_sizes.py",
        "tests/ops/test_promotion.py",
        "tests/ops/test_traits.py",
    ),
    "ir_tools/types/*": ("tests/types", "tests/ops/test_packed_types.py"),
    "ir_tools/*/*": ("tests/{folder}",),
    "ir_tools/states.py": ("tests/ops/test_state.py", "tests/test_session.py", "tests/test_execute.py"),
    "ir_tools/onnx.py": ("tests/importers/onnx/test_reading.py",),
    "ir_tools/ngraph.py": ("tests/importers/test_ngraph.py",),
    "ir_tools/*": (
        "tests/test_{name}.py",
        "tests/test_public.py",
        "tests/test_arguments.py",
        "tests/rules/test_rules.py",
    ),
}
"""The tests concerned with a file: the first pattern that fits; those that there are, the most telling first."""
PARTS: Mapping[str, str] = {
    "suppression": "class_suppression overlaps rotated",
    "convolution": "convolution_kernels convolution_shapes patches",
    "detection": "detection_output prior_boxes",
    "image": "grid_sample interpolate resizing_limits",
    "roi": "proposals regions",
    "pooling": "window_kernels",
    "elementwise": "activations broadcast conversion structure",
    "control_flow": "bodies",
    "philox": "sampling",
    "attribute_texts": "fields",
}
"""Modules of `ops/` by the tests of the family that they are part of."""


def tests_of(file: str) -> list[str]:
    """Return the tests concerned with a file of the package."""
    path = Path(file)
    rows = next(rows for pattern, rows in TESTS.items() if fnmatch(file, pattern))
    name = path.stem.lstrip("_")
    family = next((family for family, names in PARTS.items() if name in names.split()), name)
    named = [*_testing_parts_of(path), *(row.format(folder=path.parent.name, name=name, family=family) for row in rows)]
    return list(dict.fromkeys(test for row in named for test in _files_of(row)))


def _files_of(row: str) -> list[str]:
    """Return the test files of a folder: pytest drops the order of files that are named beside their folder."""
    path = ROOT / row.partition("::")[0]
    if path.is_dir():
        return [str(file.relative_to(ROOT)) for file in sorted(path.rglob("test_*.py"))]
    return [row] if path.exists() else []


def _testing_parts_of(path: Path) -> Sequence[str]:
    """Return the tests that import what only the module itself uses: names with an underscore."""
    return _testing_parts().get(".".join(path.with_suffix("").parts), ())


@cache
def _testing_parts() -> Mapping[str, Sequence[str]]:
    imports = re.compile(r"^from (ir_tools[\w.]*) import (?:\([^)]*\b|.*\b)_\w", re.MULTILINE)
    found: dict[str, list[str]] = {}
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        for module in imports.findall(test.read_text()):
            found.setdefault(module, []).append(str(test.relative_to(ROOT)))
    return found


def is_concerned(test: str, operations: Set[str]) -> bool:
    """Return whether a test is of one of these operations, or of none in particular."""
    named = _operations_of(test)
    return not named or not named.isdisjoint(operations)


@cache
def operations_of(file: str) -> Set[str]:
    """Return the operations that a family or a helper of `ops/` is part of, by imports; all, for other files."""
    from ir_tools.ops import FAMILIES

    path = ROOT / file
    texts = {each.stem: each.read_text() for each in (ROOT / "ir_tools/ops").glob("*.py")}
    families = {family.__name__.rpartition(".")[2]: family for family in FAMILIES}
    is_part = path.parent == ROOT / "ir_tools/ops" and (path.stem in families or path.stem.startswith("_"))
    concerned = {path.stem} if is_part and path.stem != "__init__" else {*texts}
    while added := {
        name
        for name, text in texts.items()
        if name not in {*concerned, "__init__"}
        and re.search(rf"ir_tools\.ops(\.| import .*\b)({'|'.join(concerned)})\b", text)
    }:
        concerned |= added
    return frozenset(str(op) for name in families.keys() & concerned for op in families[name].OPS)


def _operations_of(test: str) -> Set[str]:
    """Return the operations, of those that there are, that a test is named after."""
    path, _, name = test.partition("::")
    if path == RECORDED and "[" in name:
        return _recorded()[name.partition("[")[2].removesuffix("]")]
    return {*re.findall(r"\b[A-Z]\w*-\d+\b", name)} & operations_of("")


@cache
def _recorded() -> Mapping[str, Set[str]]:
    """Return the operations of the first layers of each kind that is recorded."""
    from tests.ops.recorded import RECORDED as KINDS

    return {name: {str(kind.layer(number).op) for number in range(4)} for name, kind in KINDS.items()}
