"""Runs in files: what a model gave on one machine, release or device, to be compared with what it gives elsewhere.

A file is a zip without compression of `.npy` members and `run.json`, so that `numpy.load` reads it: `input/NAME`,
`output/NAME` and `tensor/LAYER:N` (output N of a layer of the main graph), of further samples with `sample1/`,
`sample2/`, ... before that, and `state/ID`, what the variables started with. Elements that numpy has no type for are
bytes, as in a `.bin`; texts are their lengths as i64, then their bytes in UTF-8. `run.json` has element type, shape and
digest of each member, and what ran what. Arrays are mapped when they are read.
"""

import errno
import hashlib
import re
import struct
import tokenize
import zipfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np

from ir_tools.comparison._bodies import BodyRunner
from ir_tools.comparison._differences import coarser, rounding_of
from ir_tools.comparison._evidence import outputs_on_other_inputs
from ir_tools.comparison._gold import GoldRun
from ir_tools.comparison._layers import Rows, Sink
from ir_tools.comparison._outputs import Outputs
from ir_tools.comparison._pairing import Pairs
from ir_tools.comparison._partners import SecondRun
from ir_tools.comparison._results import Comparison, LayerComparison, Sides
from ir_tools.comparison._samples import merged
from ir_tools.comparison._saved_table import TABLE, Member, Table, written_table
from ir_tools.comparison._tensors import (
    Batch,
    Choice,
    batches,
    decided_by_rounding,
    groups,
    input_taps,
    living,
    require_layers,
)
from ir_tools.comparison._whole import infer
from ir_tools.display import quoted_names
from ir_tools.errors import UsageError
from ir_tools.files import write_file
from ir_tools.format.write import render
from ir_tools.graph import Located, Model
from ir_tools.inputs import by_input, plan_inputs
from ir_tools.ops import Array
from ir_tools.ops.fields import listed
from ir_tools.runtime.client import Inference, RuntimeClient, Tap
from ir_tools.runtime.frames import Blob, from_array, to_array
from ir_tools.runtime.one_layer import LayerRunner
from ir_tools.runtime.setting import Setting
from ir_tools.states import checked_states
from ir_tools.types import parse_shape

__all__ = ["ENDING", "SavedRun", "compare_saved", "save_run"]

ENDING = ".irrun"
PART = re.compile(r"((?:sample\d+/)?(?:input|output|tensor)|state)/")
NATIVE = "fiub"
"""Kinds of element types that numpy has."""
DEFAULT = Setting("CPU", "f32")
NOT_A_RUN = (
    zipfile.BadZipFile,
    struct.error,
    EOFError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    OverflowError,
    MemoryError,
    tokenize.TokenError,
)
"""What reading a file that is none of ours, or is damaged, may raise."""
REMEDY = "copy it again, or save the run again with ir-tools compare --save"
Row: TypeAlias = Mapping[str, object]
"""Of the table: name, element type, shape and digest of a member."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one sample of the inputs gave.

    Attributes:
        inputs: by name.
        outputs: by name, in the order of the model.
        tensors: inside the model.
    """

    inputs: Mapping[str, Array]
    outputs: Mapping[str, Array]
    tensors: Mapping[Tap, Array]


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A run in a file.

    Attributes:
        path: of the file.
        table: what ran on what, and with which settings.
        states: values of variables by id before the run; the others had their initial ones.
        samples: of the inputs, one or more, and what they gave.
    """

    path: Path
    table: Table
    states: Mapping[str, Array]
    samples: Sequence[Sample]

    @classmethod
    def open(cls, path: Path) -> "SavedRun":
        """Map a file, and check all that is in it.

        Raises:
            UsageError: it cannot be read, is not a run, or is damaged.
        """
        if path.exists() and not path.is_file():
            raise UsageError(f"{path} is not a regular file; copy the saved run to a file")
        try:
            return cls._read(path)
        except UsageError as why:
            problem = str(why)
        except OSError as why:
            if why.errno != errno.EINVAL:
                raise UsageError(f"{path} cannot be read: {why.strerror or why}") from None
            problem = "bytes are missing"
        except NOT_A_RUN:
            problem = "it is not a zip archive, or bytes of it are missing or have changed"
        raise UsageError(f"{path} is not a saved run, or is damaged: {problem}; {REMEDY}")

    @classmethod
    def _read(cls, path: Path) -> "SavedRun":
        with zipfile.ZipFile(path) as archive, path.open("rb") as file:
            if TABLE not in archive.namelist():
                raise UsageError(f"it has no {TABLE}")
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise UsageError("it is compressed")
            table = Table.read(archive.read(TABLE))
            if table.samples > len(table.members) + 1:
                raise UsageError(f"it has {len(table.members)} arrays for {table.samples} samples")
            whole = np.memmap(path, np.uint8, "r")
            parts = _parts({row.name: _array(whole, file, _place(archive, row), row) for row in table.members})
        samples = [_sample(parts, number) for number in range(table.samples)]
        for number, sample in enumerate(samples):
            if [{*sample.inputs}, {*sample.outputs}] != [{*samples[0].inputs}, {*samples[0].outputs}]:
                raise UsageError(f"sample {number + 1} has other inputs or outputs than sample 1")
        return cls(path, table, parts["state"], tuple(samples))

    def shapes_for(self, model: Model) -> Mapping[str, str]:
        """Return the shapes of inputs that replaced those in the file of the model.

        Raises:
            UsageError: the model has no such input, or one of them is not a shape.
        """
        try:
            for text in by_input(model, self.table.shapes).values():
                parse_shape(text)
        except UsageError as why:
            raise UsageError(f"{self.path} is not a run of this model: {why}") from None
        return self.table.shapes

    @property
    def title(self) -> str:
        """What ran, and where it is saved."""
        return f"OpenVINO {self.table.runtime.partition('-')[0]}: {self.table.setting} ({self.path})"

    def is_of(self, model: Model) -> bool:
        """Return whether a model has the bytes of the one that ran."""
        return self.table.digest == digest_of(model)


def save_run(
    path: Path,
    model: Model,
    samples: Sequence[Mapping[str, Array]],
    layers: bool | str | Collection[str] = True,
    *,
    client: RuntimeClient,
    setting: Setting = DEFAULT,
    shapes: Mapping[str, str] | None = None,
    seed: int = 0,
    states: Mapping[str, Array] | None = None,
) -> None:
    """Run a model and write what it gave, completely or not at all.

    Args:
        path: of the file.
        model: the model, with `shapes` if there are any.
        samples: of the inputs, arrays by name, at least one.
        layers: whose tensors are written beside the outputs, as in `compare`.
        client: the runtime.
        setting: device and precision.
        shapes: of inputs that replace those in the file of the model, for the record.
        seed: of the inputs, for the record.
        states: values of variables by id before the run, as in `compare`.

    Raises:
        UsageError: a state that the model does not have or take.
        RuntimeFailure: the runtime rejects the model, crashes, or takes too long.
        WriteError: the file cannot be written.
    """
    choice = Choice.of(layers)
    require_layers(model, choice)
    before = checked_states(model, states or {})
    alive = living(model.graph)
    top = [located for located in choice.located(model.graph) if located.layer.id in alive]

    def ran(archive: zipfile.ZipFile, start: str, inputs: Mapping[str, Array], whole: Inference) -> Iterator[Row]:
        """Write what one sample gave, and yield the rows of the table."""
        yield from (_written(archive, f"{start}input/{name}", array) for name, array in inputs.items())
        yield from (_written(archive, f"{start}output/{name}", array) for name, array in whole.outputs.items())
        seen: set[Tap] = set()
        for batch in batches(client, model, inputs, top, setting, with_inputs=False):
            for tap, array in batch.tensors.items():
                if tap not in seen:
                    yield _written(archive, f"{start}tensor/{tap.layer_name}:{tap.output_index}", array)
                    seen.add(tap)

    def fill(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w") as archive, client.starting_from(before):
            rows = [_written(archive, f"state/{name}", array) for name, array in before.items()]
            for number, inputs in enumerate(samples):
                whole = infer(client, model, inputs, setting)
                rows += ran(archive, f"sample{number}/" if number else "", inputs, whole)
            table = {
                "runtime": whole.version,
                "device": whole.device,
                "setting": list(setting),
                "precision": whole.precision,
                "shapes": dict(shapes or {}),
                "seed": seed,
                "samples": len(samples),
                "model": {"name": model.name, "digest": digest_of(model)},
                "arrays": rows,
            }
            archive.writestr(TABLE, written_table(table))

    write_file(path, fill)


def compare_saved(
    run: SavedRun,
    model: Model,
    layers: bool | str | Collection[str] = True,
    *,
    client: RuntimeClient | None = None,
    setting: Setting | None = None,
    tolerance: float | None = None,
    sink: Sink | None = None,
    advance: Callable[[], None] | None = None,
) -> Comparison:
    """Compare what a model gives now with a saved run, on the inputs of that.

    Args:
        run: what is expected.
        model: the model, with the shapes of the run.
        layers: of those in the run, as in `compare`.
        client: a runtime to use; by default the installed one is started and ended here.
        setting: device and precision; by default those of the run.
        tolerance: instead of the table `TOLERANCES`.
        sink: takes every pair of tensors that is compared.
        advance: called after every layer, for a progress bar.

    Raises:
        UsageError: a model with other inputs or outputs.
        RuntimeFailure: the runtime rejects the model, crashes, or takes too long.
    """
    choice, now = Choice.of(layers), setting or run.table.setting
    require_layers(model, choice)
    before, same = _fitting_states(run, model), run.is_of(model)

    def compared(sample: Sample) -> Comparison:
        """Compare on one sample of the inputs."""
        plan = plan_inputs(model, sample.inputs)
        fed = plan.arrays()
        bodies = BodyRunner(runtime, now)
        gold = GoldRun(model, fed, LayerRunner(runtime), before) if same else None
        precision = coarser(run.table.setting.precision, now.precision)
        rows = Rows(model, choice, bodies, gold, precision, tolerance, sink, advance, before)
        second = SecondRun(model, model.graph, {}, replace(Pairs.identical(model.graph), layers={}), bodies, None)
        whole = infer(runtime, model, fed, now)
        outputs = Outputs.of(model, rows.coarse(model.graph), precision, tolerance)
        again = outputs_on_other_inputs(runtime, model, plan, 0, now)
        expected = {end.name: sample.outputs[end.name] for end in model.outputs}
        sides = Sides(run.title, f"{runtime.title}: {now}")
        return Comparison(
            mode="runtime against runtime",
            layers=tuple(_layers(sample, rows, second, fed)),
            outputs=outputs.compared(expected, whole.outputs, None, gold, (whole.outputs, again)),
            rounding=rounding_of(precision),
            runtime=whole.version,
            device=whole.device,
            precision=now.computed_in(whole.precision),
            second=sides.expected,
            layer_sides=sides,
            output_sides=sides,
            inputs=fed,
        )

    with nullcontext(client) if client else RuntimeClient() as runtime, runtime.starting_from(before):
        return merged([compared(sample) for sample in run.samples])


def _fitting_states(run: SavedRun, model: Model) -> Mapping[str, Array]:
    """Return the values that the variables of the run started with.

    Raises:
        UsageError: the model has other inputs, outputs or variables than the one that ran.
    """
    names = {end.name for end in model.outputs}
    try:
        for sample in run.samples:
            absent = [entry.name for entry in plan_inputs(model, sample.inputs).inputs if entry.values_chosen]
            if absent:
                raise UsageError(f"it has no values for the input '{absent[0]}'")
            if names != set(sample.outputs):
                known, there = map(quoted_names, (sample.outputs, sorted(names)))
                raise UsageError(f"its outputs are {known}, but those of the model are {there}")
        return checked_states(model, run.states)
    except UsageError as why:
        raise UsageError(f"{run.path} is not a run of this model: {why}") from None


def _layers(sample: Sample, rows: Rows, second: SecondRun, fed: Mapping[str, Array]) -> Iterator[LayerComparison]:
    """Yield the rows of the layers; those whose tensors are not in the run are skipped."""
    graph, labels, alive = second.graph, second.pairs.labels, living(second.graph)
    chosen = [located for located in rows.choice.located(graph) if rows.choice.takes(located.layer)]
    alive_ones = [one for one in chosen if one.layer.id in alive]
    held = [one for one in alive_ones if all(tap in sample.tensors for tap in _needed(one, labels))]
    for group in groups(held, {}, with_inputs=False):
        taps = [Tap(labels[one.layer.id], index) for one in group for index in range(len(one.layer.outputs))]
        batch = Batch(tuple(group), sample.tensors, sample.outputs, labels)
        yield from rows.of_runs(batch, second.on(fed, taps))
    known = {one.layer.id for one in held}
    yield from (rows.skipped(one, "it is not in the saved run") for one in chosen if one.layer.id not in known)


def _needed(located: Located, labels: Mapping[int, str]) -> Iterator[Tap]:
    """Yield the tensors that a layer is compared by."""
    yield from (Tap(labels[located.layer.id], index) for index in range(len(located.layer.outputs)))
    if decided_by_rounding(located.layer):
        yield from input_taps(located.graph, located.layer, labels)


# --- the file ---------------------------------------------------------------------------------------------------


def digest_of(model: Model) -> str:
    """Return a digest of the bytes that a model has in files, wherever those are."""
    digest, weights = hashlib.blake2b(render(model), digest_size=32), model.weights
    digest.update(weights.view(0, weights.stored).data)
    for chunk in weights.tail():
        digest.update(chunk)
    return digest.hexdigest()


def _written(archive: zipfile.ZipFile, name: str, array: Array) -> Row:
    """Write one member, and return its row of the table."""
    blob = from_array(np.asanyarray(array))
    native = array.dtype.kind in NATIVE and type(array) is np.ndarray
    kept = np.ascontiguousarray(array).reshape(array.shape) if native else np.frombuffer(blob.data, np.uint8)
    with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
        digest = _Digest(member)
        np.lib.format.write_array(digest, kept, allow_pickle=False)
    return {"name": name, "type": blob.type, "shape": list(blob.shape), "digest": digest.text}


class _Digest:
    """Writes to a file, and keeps a digest of that."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._state = hashlib.blake2b(digest_size=32)

    def write(self, data: bytes) -> int:
        self._state.update(data)
        return self._file.write(data)

    @property
    def text(self) -> str:
        return self._state.hexdigest()


def _place(archive: zipfile.ZipFile, row: Member) -> zipfile.ZipInfo:
    """Return where the array of a row is, after `zipfile` has compared both of the headers that it has.

    Raises:
        UsageError: it is nowhere.
    """
    name = f"{row.name}.npy"
    if name not in archive.NameToInfo:
        raise UsageError(f"it has no array '{row.name}', which {TABLE} lists")
    with archive.open(name):
        return archive.getinfo(name)


def _array(mapped: Array, file: IO[bytes], member: zipfile.ZipInfo, row: Member) -> Array:
    """Return the array of a member of a mapped file.

    Raises:
        UsageError: it does not have the bytes that the table says.
    """
    file.seek(member.header_offset + 26)
    name, extra = struct.unpack("<HH", file.read(4))
    start = member.header_offset + 30 + name + extra
    whole = mapped[start : start + member.file_size]
    if hashlib.blake2b(whole.data, digest_size=32).hexdigest() != row.digest:
        raise UsageError(f"the bytes of '{row.name}' have changed since they were saved")
    length = 10 + int.from_bytes(whole[8:10].tobytes(), "little")
    try:
        if _plain(whole[:length].tobytes()):
            return to_array(Blob(row.type.name, row.shape, whole[length:].data))
    except NOT_A_RUN:
        sizes = listed(row.shape)
        raise UsageError(f"the bytes of '{row.name}' are not those of {row.type.name} [{sizes}] in an .npy") from None
    raise UsageError(f"the elements of '{row.name}' are in another memory order than saved runs have")


@lru_cache(maxsize=1024)
def _plain(header: bytes) -> bool:
    """Return whether the header of an `.npy` is one of elements in the order that they are saved in.

    Raises:
        ValueError: it is not one, or of another version than is written.
    """
    text = BytesIO(header)
    if np.lib.format.read_magic(text) != (1, 0):
        raise ValueError("a member has another version of the .npy format")
    _, fortran, dtype = np.lib.format.read_array_header_1_0(text)
    return not fortran and dtype.isnative


def _parts(arrays: Mapping[str, Array]) -> Mapping[str, dict[str, Array]]:
    """Return the arrays of each part, as `state` or `sample1/tensor`, by their names in it."""
    parts: defaultdict[str, dict[str, Array]] = defaultdict(dict)
    for name, array in arrays.items():
        found = PART.match(name)
        if found is None:
            raise UsageError(f"'{name}' is not the name of an input, output, tensor or state")
        parts[found[1]][name[found.end() :]] = array
    return parts


def _sample(parts: Mapping[str, dict[str, Array]], number: int) -> Sample:
    """Return a sample of the inputs, counted from 0."""
    start = f"sample{number}/" if number else ""
    tensors = {_tap(name): array for name, array in parts[f"{start}tensor"].items()}
    return Sample(parts[f"{start}input"], parts[f"{start}output"], tensors)


def _tap(name: str) -> Tap:
    layer, _, index = name.rpartition(":")
    if not index.isdecimal():
        raise UsageError(f"'tensor/{name}' does not end in the number of an output")
    return Tap(layer, int(index))
