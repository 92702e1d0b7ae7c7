"""List which releases of OpenVINO run a model, by the tables of `ir_tools.releases`; the model is not run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from ir_tools.checks import IrFile
from ir_tools.collection import gc_paused
from ir_tools.diagnostics import Severity
from ir_tools.display import brief_fields, listing, notebook_table, plural
from ir_tools.errors import IrToolsError, RuntimeFailure
from ir_tools.graph import Graph, Layer, Located, Model, Source
from ir_tools.infer import AnswerTable, Propagation
from ir_tools.known_differences.neighbours import sources_of
from ir_tools.known_differences.releases import Seen
from ir_tools.known_differences.surroundings import Surroundings, idle_bodies, quantized_note
from ir_tools.known_differences.verdicts import Answer, Unread, decisive, verdict
from ir_tools.ops import find_op
from ir_tools.ops.definition import UNKNOWN, Fact
from ir_tools.releases.measured import is_measured
from ir_tools.releases.table import OPENVINO, Release
from ir_tools.rewrite.legacy import migrate_legacy
from ir_tools.rewrite.migration import migrate
from ir_tools.rules import RULES
from ir_tools.rules.compatibility import UNCOMPILED_LAYER
from ir_tools.rules.shapes import CONTRADICTING_RECORD, WRONG_PORT_PRECISION
from ir_tools.runtime.client import sources
from ir_tools.runtime.environments import found_python
from ir_tools.runtime.release import release_client
from ir_tools.runtime.trial import COMPILE, READ
from ir_tools.source import Document
from ir_tools.validation import findings_in, opened

__all__ = [
    "Answer",
    "Compatibility",
    "CompatibilityReport",
    "Migrated",
    "Obstacle",
    "after_migration",
    "compatibility",
    "report",
    "summary",
]

SHOWN = 2
"""Layers that a line names."""
FAILED = {
    ("rejected", READ): Answer.STOPPED,
    ("crashed", READ): Answer.STOPPED,
    ("rejected", COMPILE): Answer.READS,
    ("crashed", COMPILE): Answer.READS,
}
"""The answer for a model whose check fails so. One that takes too long or too much memory may still run elsewhere."""
HEADER, ANY_HEADER = 513, (2024, 5)
"""How many bytes at the beginning of a file releases look for the IR version in, and the first one that goes on.

Measured.
"""
BAD_HEADER = f"the first {HEADER} bytes of the file hold no start tag <net> with its version, or all of the file"
CUT_HEADER = f"the first {HEADER} bytes of the file end within the version of <net>; shorten what is before it"
FOREIGN = "releases read this operation only with an extension library that adds it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """A reason why a release does not run a model, or computes other values.

    Attributes:
        path, line: the layer; `path` is empty if the reason is about the whole model.
        layer: its type and version, `AvgPool opset14`.
        reason: what the release does not support, or computes differently.
        answer: the answer for this layer alone.
    """

    path: str
    line: int | None
    layer: str
    reason: str
    answer: Answer

    __repr__ = brief_fields

    def __str__(self) -> str:
        """Return `pool (line 12, AvgPool opset14): is not read`."""
        where = ", ".join(filter(None, (f"line {self.line}" if self.line else "", self.layer)))
        return f"{self.path} ({where}): {self.reason}" if self.path else self.reason


@dataclass(frozen=True, slots=True)
class Migrated:
    """Whether a release runs a model after a migration for it; `why` is the number of steps, or the reason."""

    runs: bool
    why: str

    def __str__(self) -> str:
        """Return `yes: 3 steps`."""
        return f"{'yes' if self.runs else 'no'}: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """The answer for one release: whether it runs a model.

    Attributes:
        release: the release; `release.name` is its name on the command line.
        answer: `runs`, `reads`, `stopped`, `differs` or `unknown`.
        obstacles: the reasons, in the order of the layers in the model; empty if it runs the model.
        migrated: whether it runs the model after a migration for it; None if that was not requested or it runs the
            model unchanged.
        checked: the result of reading and compiling the model on the release: `compiles`, `rejected`, `crashed`,
            `timeout` or `memory`; `not installed`; `missing` if its files are damaged; None if that
            was not requested.

    Example:
        >>> oldest = ir_tools.compat("model.xml")[0]
        >>> oldest.release.name, str(oldest.answer), oldest.why
        ('openvino-2021.2', 'stopped', 'it does not read IR v11')
    """

    release: Release
    answer: Answer
    obstacles: tuple[Obstacle, ...] = ()
    migrated: Migrated | None = None
    checked: str | None = None

    __repr__ = brief_fields

    @property
    def runs(self) -> bool:
        """Whether the release runs the model and computes the right values."""
        return self.answer is Answer.RUNS

    @property
    def why(self) -> str:
        """The first obstacles, and the number of others; empty if the release runs the model."""
        more = [f"and {len(self.obstacles) - SHOWN} more"] if len(self.obstacles) > SHOWN else []
        return "; ".join([*map(str, self.obstacles[:SHOWN]), *more]).replace(".; ", "; ")


class CompatibilityReport(list[Compatibility]):
    """A list with the answer of each release, the oldest first. Its repr is a summary; a notebook shows a table.

    Attributes:
        badge: the releases that run the model, in one line.
        note: a remark that applies to all releases; may be empty.

    Example:
        >>> report = ir_tools.compat("model.xml")
        >>> report.runs, report.badge
        (True, 'OpenVINO 2022.1 to 2026.4')
        >>> [one.release.name for one in report if not one.runs]
        ['openvino-2021.2', 'openvino-2021.3', 'openvino-2021.4']
    """

    def __init__(self, releases: Iterable[Compatibility], badge: str, note: str = "") -> None:
        """Make a report from the answers of the releases, the line that summarises them, and a note."""
        super().__init__(releases)
        self.badge, self.note = badge, note

    @property
    def runs(self) -> bool:
        """Whether at least one of the releases runs the model."""
        return any(one.runs for one in self)

    @property
    def spans(self) -> list[tuple[str, Compatibility]]:
        """Ranges of consecutive releases with equal answers (`2022.1 to 2024.0`), each with the answer of the first."""
        groups: list[list[Compatibility]] = []
        for one in self:
            if groups and _goes_on(groups[-1][-1], one):
                groups[-1].append(one)
            else:
                groups.append([one])
        return [(_span([one.release for one in group]), group[0]) for group in groups]

    def __repr__(self) -> str:
        """Return the badge, and a line for each of the first ranges of releases that do not run the model."""
        others = [f"{span}: {one.answer}: {one.why}" for span, one in self.spans if not one.runs]
        return "\n".join([listing(self.badge, others), *filter(None, [self.note])])

    def _repr_html_(self) -> str:
        """Return the badge, and a table of the releases."""
        given = {"migrated": "after migration", "checked": "checked"}
        more = [key for key in given if any(getattr(one, key) for one in self)]
        rows = [(span, one.answer, one.why, *(getattr(one, key) for key in more)) for span, one in self.spans]
        title = f"{self.badge}; {self.note}" if self.note else self.badge
        return notebook_table(title, ("OpenVINO", "answer", "why", *map(given.__getitem__, more)), rows)


SEVERITY = (Answer.STOPPED, Answer.UNKNOWN, Answer.READS, Answer.DIFFERS)
"""The answers for a layer. The first of these that a layer has is the answer for the model."""
IGNORED = (WRONG_PORT_PRECISION, CONTRADICTING_RECORD, UNCOMPILED_LAYER)
"""Rules about what ports record, which the runtime computes itself."""
ERRORS = frozenset(rule for rule in RULES if rule.severity is Severity.ERROR and rule not in IGNORED)


@gc_paused()
def compatibility(
    model: Model, releases: Sequence[Release] = OPENVINO, file: IrFile | None = None
) -> tuple[Compatibility, ...]:
    """Return the answer of each release for a model.

    No release reads IR v2 to v7. If `validate` finds errors in the model, the answer is `unknown`.

    Args:
        model: the model.
        releases: the releases to answer for.
        file: the file from which the model was read, if both are unchanged; by default, the model is rendered and read
            again for the check.
    """
    if model.is_legacy:
        reason = (
            f"IR v{model.version} runs on Inference Engine releases up to 2020; ir-tools migrate converts it to IR v11"
        )
        return tuple(_whole(release, Answer.STOPPED, reason) for release in releases)
    file = file or opened(model)
    problem = _problem(file)
    if problem is not None:
        return tuple(_whole(release, Answer.UNKNOWN, problem) for release in releases)
    layers, problem = _Layers(model), _header_problem(file.document)
    return tuple(
        layers.on(release)
        if problem is None or (problem is BAD_HEADER and release.number >= ANY_HEADER)
        else _whole(release, Answer.STOPPED, problem)
        for release in releases
    )


def summary(found: Sequence[Compatibility]) -> str:
    """Return the releases that run the model in one line: `OpenVINO 2022.1 to 2024.0, 2024.2 to 2026.4`.

    Return `unknown` if all answers are unknown, and `not OpenVINO 2021.4` if only that release was asked for and does
    not run the model.
    """
    runs: list[list[Release]] = []
    answers = {one.release.name: one.answer for one in found}
    before = False
    for release in OPENVINO:
        here = answers.get(release.name) is Answer.RUNS
        if here and before:
            runs[-1].append(release)
        elif here:
            runs.append([release])
        before = here
    if not runs:
        if {*answers.values()} == {Answer.UNKNOWN}:
            return "unknown"
        asked = ", ".join(_span([one.release]) for one in found)
        return f"not OpenVINO {asked}" if len(found) < len(OPENVINO) else "no release of OpenVINO"
    return "OpenVINO " + ", ".join(map(_span, runs))


def _goes_on(before: Compatibility, one: Compatibility) -> bool:
    """Return whether `one` is about the next release and has the same answer."""
    same = all(getattr(one, key) == getattr(before, key) for key in ("answer", "why", "migrated", "checked"))
    return same and OPENVINO.index(one.release) == OPENVINO.index(before.release) + 1


def _span(releases: Sequence[Release]) -> str:
    """Return `2022.1 to 2024.0` for consecutive releases."""
    first, last = (release.short for release in (releases[0], releases[-1]))
    return first if first == last else f"{first} to {last}"


def report(
    source: Model | str | Path | bytes,
    releases: Sequence[Release] = OPENVINO,
    *,
    weights: Path | None = None,
    migrated: bool = False,
    check: bool = False,
) -> CompatibilityReport:
    """Return the answer of each release for a model, with a summary.

    Args:
        source: the model, or the path or the bytes of its `.xml`.
        releases: the releases to answer for.
        weights: the path of its `.bin`, if it is not the one beside the `.xml`.
        migrated: also answer for the model after a migration, for each release that does not run it.
        check: also let the installed releases read and compile it, and what a migration makes of it; a release that
            rejects it does not run it.

    Raises:
        ReadError: the file cannot be read.
    """
    with gc_paused():
        if isinstance(source, Model):
            model, file = source, None
        else:
            file = opened(source, weights)
            model = file.whole_model()
        found = compatibility(model, releases, file)
    if check:
        found = tuple(_checked(model, one) for one in found)
    badge = f"Inference Engine up to 2020 (IR v{model.version})" if model.is_legacy else summary(found)
    if migrated:
        ask = partial(after_migration, model, check=check)
        found = tuple(one if one.runs else replace(one, migrated=ask(one.release)) for one in found)
    return CompatibilityReport(found, badge, "" if model.is_legacy else quantized_note(model))


def _checked(model: Model, one: Compatibility) -> Compatibility:
    """Return an answer with the result of reading and compiling the model on the release, which overrides tables."""
    if found_python(one.release) is None:
        return replace(one, checked="not installed")
    with release_client(one.release) as client, sources(model) as files:
        try:
            client.check(*files)
        except RuntimeFailure as failure:
            answer = FAILED.get((failure.kind, failure.stage))
            if answer is not None and one.answer in {Answer.RUNS, Answer.DIFFERS}:
                try:
                    client.check_sound(failure)
                except RuntimeFailure as damaged:
                    return replace(one, checked=damaged.kind)
                one = _whole(one.release, answer, f"{failure} (no known difference explains it)")
            return replace(one, checked=failure.kind)
    return replace(one, checked="compiles")


def after_migration(model: Model, release: Release, *, check: bool = False) -> Migrated:
    """Return whether a release runs a model after `migrate --for` this release; with `check`, if it compiles it too."""
    migration = migrate_legacy if model.is_legacy else migrate
    try:
        found = migration(model, release.name)
    except IrToolsError as why:
        return Migrated(False, _of_any(release, str(why)))
    if found.refused:
        more = f" and {len(found.refused) - 1} more" if len(found.refused) > 1 else ""
        return Migrated(False, _of_any(release, f"{found.refused[0]}{more}"))
    after = _Layers(found.model).on(release)
    if check:
        after = _checked(found.model, after)
    if after.answer is Answer.RUNS:
        return Migrated(True, plural(len(found.steps), "step"))
    return Migrated(False, f"{after.answer}: {after.obstacles[0]}")


def _of_any(release: Release, text: str) -> str:
    """Return a reason without the name of the release, so that releases with the same reason share a line."""
    return text.replace(release.title, "the release")


def _whole(release: Release, answer: Answer, reason: str) -> Compatibility:
    obstacle = Obstacle(path="", line=None, layer="", reason=reason, answer=answer)
    return Compatibility(release=release, answer=answer, obstacles=(obstacle,))


def _problem(file: IrFile) -> str | None:
    """Return why nothing can be said of a model; None if there is no reason."""
    errors = findings_in(file, ERRORS)
    if not errors:
        return None
    more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
    return f"{errors[0].code}: {errors[0].message}{more} (ir-tools validate)"


def _header_problem(document: Document) -> str | None:
    """Return why releases do not find the IR version in the first bytes of a file, None if they do.

    All look there first, and stop if they find a part of it.
    """
    text, version = document.text, document.attributes(document.root)[b"version"]
    end = text.find(b">", text.rfind(b"</")) + 1
    if version.end(1) < HEADER < version.end():
        return CUT_HEADER
    return None if version.end() <= HEADER <= end else BAD_HEADER


# --- what is asked about ------------------------------------------------------------------------------------------


def _layers(model: Model) -> Iterator[tuple[Located, Seen | Unread | None]]:
    """Yield the layers with what decides about releases; None for an unknown operation."""
    work = Propagation(model)
    facts: Mapping[int, Mapping[tuple[int, int], Fact]] = {}
    with suppress(IrToolsError):
        work.walk(model.graph, {})
        facts = {} if work.errors else work.facts

    def known(graph: Graph, sources: Iterable[Source | None]) -> tuple[Fact, ...]:
        inner = facts.get(id(graph), {})
        return tuple([UNKNOWN if source is None else inner.get(source, UNKNOWN) for source in sources])

    def inputs_of(graph: Graph, layer: Layer) -> tuple[Fact, ...]:
        return known(graph, sources_of(graph, layer))

    around = Surroundings(model, idle_bodies(model, inputs_of))
    found, examples = dict[object, Seen | Unread](), AnswerTable[Seen | Unread]()
    for located in model.walk():
        _, layer, graph = located
        if not around.is_read(located):
            unread = Unread.of(layer)
            yield located, found.setdefault(unread, unread)
            continue
        op = find_op(layer.type, layer.version)
        if op is None:
            yield located, None
            continue
        outputs = known(graph, (Source(layer.id, port.id) for port in layer.common.outputs))
        seen = around.seen(located, op, inputs_of(graph, layer), outputs, model.version)
        about = work.signatures.of(layer)[0].kind, *seen.around
        yield located, examples.of(about, (*seen.inputs, *seen.outputs), _example, found, seen)


def _example(found: dict[object, Seen | Unread], seen: Seen) -> Seen | Unread:
    """Return the first layer that no release tells apart from this one."""
    return found.setdefault(decisive(seen), seen)


# --- one release --------------------------------------------------------------------------------------------------


def _verdict(release: Release, layer: Seen | Unread | None) -> tuple[Answer, str] | None:
    match layer:
        case None:
            return Answer.STOPPED, FOREIGN
        case Unread():
            return layer.verdict(release)
        case Seen():
            return verdict(release, layer)


class _Layers:
    """The layers of a model, which several releases are asked about; equal obstacles of theirs are one object."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._layers = [*_layers(model)]
        self._kinds = {id(seen): seen for _, seen in self._layers}
        self._obstacles: dict[tuple[int, str, Answer], Obstacle] = {}

    def on(self, release: Release) -> Compatibility:
        """Return the answer of a release."""
        if not is_measured(release):
            return _whole(release, Answer.UNKNOWN, "it was not measured")
        if not release.reads[0] <= self._model.version <= release.reads[1]:
            return _whole(release, Answer.STOPPED, f"it does not read IR v{self._model.version}")
        verdicts = {number: _verdict(release, seen) for number, seen in self._kinds.items()}
        answers = {found[0] for found in verdicts.values() if found is not None}
        answer = next((one for one in SEVERITY if one in answers), Answer.RUNS)
        reasons = {number: found[1] for number, found in verdicts.items() if found is not None and found[0] is answer}
        offending = ((located, seen) for located, seen in (self._layers if reasons else ()) if id(seen) in reasons)
        obstacles = tuple(self._obstacle(located, reasons[id(seen)], answer) for located, seen in offending)
        return Compatibility(release=release, answer=answer, obstacles=obstacles)

    def _obstacle(self, located: Located, reason: str, answer: Answer) -> Obstacle:
        path, layer, graph = located
        key = id(layer), reason, answer
        found = self._obstacles.get(key)
        if found is None:
            line, type = self._model.line_of(graph, layer.id), f"{layer.type} {layer.version}"
            found = self._obstacles[key] = Obstacle(path=path, line=line, layer=type, reason=reason, answer=answer)
        return found
