"""Trying a file out: the runtime reads, compiles and runs it in a child process, and what goes wrong is a diagnostic.

The runtime names the offending layer in one of six cases, and often under a name that is not in the file. So the layer
is found by asking about parts of the model.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

from ir_tools.diagnostics import Diagnostic, Severity
from ir_tools.errors import IrToolsError, ReadError, RuntimeFailure, ShapeError, UsageError
from ir_tools.format.read import load, model_of, read, weights_of
from ir_tools.graph import Model
from ir_tools.infer import propagate_shapes
from ir_tools.inputs import plan_inputs
from ir_tools.ops import Array
from ir_tools.rules.running import NOT_TRIED
from ir_tools.runtime._parts import Parts, element_of
from ir_tools.runtime._places import FailurePlace, mentioned, named, place_of
from ir_tools.runtime._search import Found, Search
from ir_tools.runtime.ask import LayerOracle
from ir_tools.runtime.client import STAGES, Attempt, RuntimeClient, TensorInfo, sources
from ir_tools.runtime.extensions import Extensions
from ir_tools.runtime.messages import remedy_for
from ir_tools.runtime.outcomes import COMPILING, CRASHED, ENDLESS, READING, RUNNING, TOO_LARGE
from ir_tools.runtime.release import ReleaseClient
from ir_tools.source import Document
from ir_tools.types import Shapes, element_type, id_number

__all__ = ["MEMORY", "try_model"]

MEMORY = 4 << 30
"""Bytes that the runtime may allocate, by default."""
SHORT = (1.0, 5.0)
"""Seconds that a part may take while that layer is searched which never ends: the second if the first are not enough.
"""
READ, COMPILE, MAKE, RUN = STAGES
REJECTED = {READ: READING, COMPILE: COMPILING, MAKE: RUNNING, RUN: RUNNING}
KINDS = {"crashed": CRASHED, "timeout": ENDLESS, "memory": TOO_LARGE}
OWN_INPUTS = "run it with valid arrays: ir-tools run --engine runtime --input NAME=FILE"
OTHER_SHAPES = "set sizes that it accepts with --set NAME=SHAPE"
MAX_ELEMENTS = 1 << 24
"""Elements of all inputs; more are made in the child, whose memory is limited."""


def try_model(
    source: Model | str | Path | bytes,
    weights: bytes | str | Path | None = None,
    *,
    seconds: float = 30.0,
    search_seconds: float = 60.0,
    memory: int = MEMORY,
    device: str = "CPU",
    client: RuntimeClient | None = None,
    extensions: Extensions = (),
    shapes: Shapes | None = None,
) -> list[Diagnostic]:
    """Let the installed runtime read, compile and run a model; empty where all went well.

    Args:
        source: path or bytes of the `.xml`, or a model.
        weights: path or bytes of the `.bin`; by default the file beside the `.xml`.
        seconds: of processor time for the whole; three times as much by the clock.
        search_seconds: by the clock, for finding the layer afterwards.
        memory: bytes that the runtime may allocate.
        device: as openvino calls it.
        client: a runtime to use, with its own memory limit and extensions; by default one is started and ended.
        extensions: libraries with operations of others, for the runtime to load.
        shapes: new shapes of inputs, with which all layers are recomputed first.

    Raises:
        UsageError: an extension cannot be loaded; the model has no such input, or there is no such shape.
    """
    with contextlib.ExitStack() as stack:
        runtime = client or stack.enter_context(RuntimeClient(memory=memory, extensions=extensions))
        path = source.path if isinstance(source, Model) else None if isinstance(source, bytes) else Path(source)
        file = None if path is None else str(path)
        if shapes:
            try:
                source = _reshaped(source, weights, shapes, runtime)
            except ShapeError as why:
                reason = f"the model does not accept the new shapes: {why.diagnostics[0].message}"
                return [_untried(file, reason, OTHER_SHAPES)]
        inputs, unfit = _made_inputs(source, weights)
        if isinstance(source, Model):
            source, weights = stack.enter_context(sources(source))
        trial = _Trial(runtime, source, weights, file, seconds, search_seconds, device, inputs, unfit)
        return list(trial.findings())


def _reshaped(
    source: Model | str | Path | bytes, weights: bytes | str | Path | None, shapes: Shapes, client: RuntimeClient
) -> Model | str | Path | bytes:
    """Return the model with new input shapes; the source as it is if it cannot be read."""
    try:
        model = source.copy() if isinstance(source, Model) else read(source, weights)
    except ReadError:
        return source
    propagate_shapes(model, shapes, ask=LayerOracle(client), in_place=True)
    return model


def _made_inputs(
    source: Model | str | Path | bytes, weights: bytes | str | Path | None
) -> tuple[Mapping[str, Array], str]:
    """Return inputs that suit the model, none if they are not known or large; and why no sizes suit, if none do.

    Packed elements have no shape of their own, so that the child makes them if sizes are open.
    """
    try:
        plan = plan_inputs(source if isinstance(source, Model) else read(source, weights))
        shapeless = any(entry.sizes_chosen and 0 < entry.dtype.bits < 8 for entry in plan.inputs)
        if shapeless or sum(prod(entry.shape) for entry in plan.inputs) > MAX_ELEMENTS:
            return {}, ""
        return plan.arrays(), ""
    except ReadError:
        return {}, ""
    except IrToolsError as why:
        return {}, str(why)


@dataclass(frozen=True, slots=True)
class _Trial:
    """One file and the runtime; the arguments of `try_model`."""

    client: RuntimeClient
    source: str | Path | bytes
    weights: bytes | str | Path | None
    file: str | None
    seconds: float
    search_seconds: float
    device: str
    inputs: Mapping[str, Array]
    unfit: str

    def findings(self) -> Iterator[Diagnostic]:
        """Try it."""
        for path in (self.source, self.weights):
            if isinstance(path, str | Path) and not Path(path).is_file():
                yield _untried(self.file, f"there is no file {path}", "check the path")
                return
        try:
            attempt = self._whole()
        except UsageError as error:
            yield _untried(self.file, str(error), None)
        except RuntimeFailure as failure:
            if failure.kind == "missing":
                raise
            yield self._diagnostic(failure)
        else:
            if attempt.unfit:
                yield _untried(
                    self.file, self.unfit or f"no input sizes were found that it accepts: {attempt.unfit}", OTHER_SHAPES
                )

    def _whole(self) -> Attempt:
        """Run the whole model; once more on zeros where it crashes over ones, which may be indices beyond the end.

        Also once more where the child may have died of an earlier model.
        """
        used = self.client.used
        try:
            return self._attempt(self.source, RUN, self.seconds, inputs=self.inputs)
        except RuntimeFailure as failure:
            doubtful = used or (failure.stage == RUN and any(map(_is_whole, self._inputs())))
            if failure.kind != "crashed" or not doubtful:
                raise
        return self._attempt(self.source, RUN, self.seconds, fills=(0,))

    def _attempt(
        self,
        source: str | Path | bytes,
        until: str,
        seconds: float,
        fills: tuple[int, ...] = (1, 0),
        inputs: Mapping[str, Array] | None = None,
    ) -> Attempt:
        weights = self.weights
        if weights is None and isinstance(source, bytes) and isinstance(self.source, str | Path):
            beside = Path(self.source).with_suffix(".bin")
            weights = beside if beside.is_file() else None
        return self.client.attempt(
            source, weights, until=until, seconds=seconds, inputs=inputs, fills=fills, device=self.device
        )

    # --- from failure to diagnostic ---

    def _diagnostic(self, failure: RuntimeFailure) -> Diagnostic:
        """Return the diagnostic of a failure."""
        remedy = remedy_for(failure.reason)
        if remedy:
            return _untried(self.file, failure.reason, remedy)
        if unread := self._unread(failure):
            return unread
        inputs = self._inputs() if failure.stage in {MAKE, RUN} else ()
        if failure.kind == "rejected" and any(map(_is_whole, inputs)):
            return _untried(self.file, f"it does not accept the generated inputs: {failure.reason}", OWN_INPUTS)
        self.client.check_sound(failure, self.device)
        made_up = any(map(_is_dynamic, inputs))
        outcome = KINDS.get(failure.kind) or REJECTED.get(failure.stage, RUNNING)
        smallest, place = self._place(failure)
        reason = (smallest if smallest.kind == failure.kind else failure).reason
        message = outcome.message.format(
            reason=reason,
            stage=failure.stage,
            seconds=self.seconds,
            memory=self.client.memory / 2**30,
            words=f": {reason}" if reason else "",
        ).replace("the runtime", self.client.name, 1)
        notes = [note for note in ("the sizes of its inputs were generated" if made_up else "", place.note) if note]
        return Diagnostic(
            code=outcome.rule.code,
            severity=Severity.WARNING if made_up else outcome.rule.severity,
            message="; ".join([message, *notes]),
            file=self.file,
            line=place.line,
            layer_id=place.layer_id,
            layer_name=place.layer_name,
            path=place.path,
            help=outcome.help,
        )

    def _unread(self, failure: RuntimeFailure) -> Diagnostic | None:
        """Return the diagnostic of an IR version that a release does not read, if that is why it rejects the file."""
        if failure.stage != READ or not isinstance(self.client, ReleaseClient):
            return None
        with contextlib.suppress(ReadError):
            data = self.source if isinstance(self.source, bytes) else load(Path(self.source))
            root = Document(data, self.file).root
            if message := self.client.unread(id_number(root.get("version"))):
                return Diagnostic(
                    code=READING.rule.code,
                    severity=READING.rule.severity,
                    message=message,
                    file=self.file,
                    help=f"migrate it: {self.client.migration}",
                )
        return None

    def _inputs(self) -> tuple[TensorInfo, ...]:
        with contextlib.suppress(IrToolsError):
            return self.client.describe(self.source, self.weights).inputs
        return ()

    # --- places ---

    def _place(self, failure: RuntimeFailure) -> tuple[RuntimeFailure, FailurePlace]:
        """Return where the fault is, and the failure of the smallest part of the model that has it."""
        try:
            data = self.source if isinstance(self.source, bytes) else load(Path(self.source))
            document = Document(data, self.file)
        except ReadError as unreadable:
            return failure, _unread(unreadable)
        try:
            model = model_of(document, weights_of(b"", None), None)
        except ReadError as unreadable:
            said = named(document, failure.reason, {}) or mentioned(document, failure.reason, {})
            return failure, said or _unread(unreadable)
        paths = {element_of(entry.layer): entry.path for entry in model.walk()}
        said = named(document, failure.reason, paths)
        if said is None:
            found = self._search(Parts(document, model.graph, model.version), failure)
            if found is not None and found.layer is not None:
                return found.failure, place_of(document, element_of(found.layer), paths)
            said = mentioned(document, failure.reason, paths) or FailurePlace(note=found.note if found else "")
        return failure, said

    def _search(self, parts: Parts, failure: RuntimeFailure) -> Found | None:
        """Find the layer; where it is time that runs out, with little time for each part at first."""
        deadline = time.monotonic() + self.search_seconds
        limits = [limit for limit in SHORT if limit < self.seconds] if failure.kind == "timeout" else []
        until = READ if failure.stage == READ else RUN
        found = None
        for seconds in [*limits, self.seconds]:
            ask = functools.partial(self._attempt, until=until, seconds=seconds)
            found = Search(ask, seconds, self.client.memory, deadline).find(parts, failure)
            if found is None or found.layer is not None:
                break
        return found


def _untried(file: str | None, reason: str, remedy: str | None) -> Diagnostic:
    message = f"the model could not be run: {reason}"
    return Diagnostic(code=NOT_TRIED.code, severity=NOT_TRIED.severity, message=message, file=file, help=remedy)


def _is_whole(info: TensorInfo) -> bool:
    return not element_type(info.element_type).is_float


def _is_dynamic(info: TensorInfo) -> bool:
    return any(not dim.static for dim in info.shape or ())


def _unread(error: ReadError) -> FailurePlace:
    """Return where reading stops here, for a file that no parts can be made of."""
    first = error.diagnostics[0]
    note = f"ir_tools cannot read it either: {first.message}"
    return FailurePlace(first.line, first.layer_id, first.layer_name, first.path, note)
