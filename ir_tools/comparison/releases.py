"""A legacy model on the runtime of its time against another model, such as what it was migrated to, on today's."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ir_tools.comparison._bodies import BodyRunner
from ir_tools.comparison._differences import TOLERANCES, Difference, allowed, difference, rounding_of
from ir_tools.comparison._evidence import outputs_on_other_inputs
from ir_tools.comparison._layers import Rows, Sink
from ir_tools.comparison._models import output_names, paired_models, renamed
from ir_tools.comparison._outputs import Outputs
from ir_tools.comparison._pairing import Pairs
from ir_tools.comparison._partners import Mask, SecondRun
from ir_tools.comparison._results import Comparison, LayerComparison, Sides
from ir_tools.comparison._samples import merged
from ir_tools.comparison._tensors import (
    Batch,
    Choice,
    as_far_as_it_runs,
    decided_by_rounding,
    groups,
    inputs_of,
    labels_of,
    living_taps,
    require_layers,
    tap_of,
)
from ir_tools.comparison._whole import Whole, infer
from ir_tools.display import without_build
from ir_tools.errors import IrToolsError, MigrationError
from ir_tools.execute import ill_conditioned
from ir_tools.format.write import render
from ir_tools.graph import Layer, Located, Model, Source, output_name
from ir_tools.inputs import InputPlan
from ir_tools.ops import Array, Elements, Role, elements_of, role_of
from ir_tools.rewrite.extraction import cut, reads
from ir_tools.rewrite.legacy import current_model
from ir_tools.runtime.client import RuntimeClient, Tap
from ir_tools.runtime.extensions import Extensions
from ir_tools.runtime.legacy import LegacyClient
from ir_tools.runtime.setting import Setting
from ir_tools.types import precision_in_file

__all__ = ["compare_releases"]

STATISTICS = re.compile(rb"<statistics\b.*?(?:/>|</statistics\s*>)", re.DOTALL)
DEFAULT = Setting("CPU", "f32")
INSIDE = 1e-3
"""How far tensors inside may be off: errors of all layers before add up, and show where sums cancel (6.8e-4 seen)."""
KEEPS_BITS = "BinaryConvolution"
"""The old plugin keeps what such a layer reads in bits, and hands out zeros in its place."""
MAX_ALONE = 50
"""Tensors that are asked for a second time, each alone."""


def compare_releases(
    old: Model,
    new: Model,
    inputs: InputPlan,
    layers: bool | str | Collection[str] = True,
    *,
    legacy: LegacyClient,
    setting: Setting = DEFAULT,
    tolerance: float | None = None,
    samples: int = 1,
    client: RuntimeClient | None = None,
    extensions: Extensions = (),
    sink: Sink | None = None,
    advance: Callable[[], None] | None = None,
) -> Comparison:
    """Compare outputs, and tensors of layers that both models have by name.

    A file with `<statistics>` runs without them, that is in floats: with them the old runtime computes in int8.

    Args:
        old: an IR v2 to v7, with the sizes of its file.
        new: a model with the same inputs and outputs.
        inputs: of `new`.
        layers: of `old`: True for every layer, or types, or False for the outputs alone.
        legacy: the runtime of its time.
        setting: device and precision of the runtime of `new`.
        tolerance: instead of the table `TOLERANCES` for outputs and of `INSIDE` for tensors inside.
        samples: how many samples of the inputs to compare.
        client: a runtime for `new`; by default one is started, with `extensions`, and ended here.
        extensions: libraries with operations of others, for that runtime to load.
        sink: takes every pair of tensors that is compared.
        advance: called after every layer, for a progress bar.

    Raises:
        UsageError: models whose inputs or outputs do not match.
        RuntimeFailure: one of the runtimes rejects its model, crashes, or takes too long.
    """
    text = render(old)
    plain = STATISTICS.sub(b"", text)
    with nullcontext(client) if client else RuntimeClient(extensions=extensions) as runtime:
        choice, bodies = Choice.of(layers), BodyRunner(runtime, setting)
        require_layers(old, choice)
        inside = INSIDE if tolerance is None else tolerance
        rows = Rows(old, choice, bodies, None, setting.precision, inside, sink, advance)
        work = _Work(old, new, _pairs(old, new), plain, plain != text, legacy, runtime, setting, rows, tolerance)
        return merged([work.compared(inputs, sample) for sample in range(samples)])


@dataclass(frozen=True, slots=True)
class _Work:
    """Two models, and what runs them.

    Attributes:
        text: of the old model, as it runs.
        in_floats: whether its statistics were left out of that.
        tolerance: of the outputs, instead of the table.
    """

    old: Model
    new: Model
    pairs: Pairs
    text: bytes
    in_floats: bool
    legacy: LegacyClient
    runtime: RuntimeClient
    setting: Setting
    rows: Rows
    tolerance: float | None

    def compared(self, plan: InputPlan, sample: int) -> Comparison:
        """Compare on one sample of the inputs."""
        fed = plan.arrays(sample)
        names = output_names(self.new, self.old, Pairs())
        given = renamed(self.new, self.old, fed)
        found = self._run_old(given, None)
        whole = Whole.of(self.runtime, self.new, fed, self.setting)
        again = outputs_on_other_inputs(self.runtime, self.new, plan, sample, self.setting)
        expected = {name: found[names[name]] for name in whole.wide}
        outputs = Outputs.of(self.new, self.rows.coarse(self.new.graph), self.rows.precision, self.tolerance)
        unequal = {
            name: self._source(name) for name in expected if not np.array_equal(expected[name], whole.wide[name])
        }
        masks = self._undecided(unequal.values(), fed)
        undecided = {name: masks[source] for name, source in unequal.items() if source in masks}
        sides = self._sides(whole.run.version)
        return Comparison(
            mode="model against model",
            layers=tuple(self._layers(given, fed)),
            outputs=outputs.compared(expected, whole.wide, names, None, (whole.run.outputs, again), undecided),
            runtime=whole.run.version,
            device=whole.run.device,
            precision=self.setting.computed_in(whole.run.precision),
            second=sides.expected,
            rounding=rounding_of(self.rows.precision),
            layer_sides=sides,
            output_sides=sides,
            inputs=fed,
            narrow=whole.narrow,
            in_use=outputs.measured(whole.wide, whole.run.outputs) if whole.narrow else (),
            instead=tuple(filter(None, [self.setting.instead(whole.run.precision)])),
        )

    def _sides(self, version: str) -> Sides:
        how = ", in floats (<statistics> ignored)" if self.in_floats else ""
        old = f"{self.legacy.name} on {self.old.path or 'the legacy model'}{how}"
        return Sides(old, f"OpenVINO {without_build(version)} on {self.new.path or 'what it is migrated to'}")

    def _run_old(self, given: Mapping[str, Array], outputs: Sequence[str] | None) -> Mapping[str, Array]:
        weights = self.old.weights.path
        return self.legacy.infer(self.text, Path(weights) if weights else b"", given, outputs=outputs)

    def _layers(self, given: Mapping[str, Array], fed: Mapping[str, Array]) -> list[LayerComparison]:
        """Compare the layers, as many at once as fit into memory."""
        labels, alive = labels_of(self.old.graph), living_taps(self.new.graph)
        partners = {source: tap for source, tap in self.pairs.taps.items() if tap in alive}
        second = SecondRun(self.new, self.new.graph, {}, self.pairs, self.rows.bodies)
        budget = MAX_ALONE

        def run(group: Sequence[Located]) -> Batch:
            taps = {name: Tap(labels[one.layer.id], index) for one in group for index, name in _tensors(one.layer)}
            found = self._run_old(given, list(taps))
            return Batch(tuple(group), {tap: found[name] for name, tap in taps.items()}, {}, labels)

        chosen = self.rows.choice.located(self.old.graph)
        bits = [located for located in chosen if self._in_bits(located.layer)]
        entries = [self.rows.skipped(located, f"{self.legacy.name} stores it as bits") for located in bits]
        for group in groups([located for located in chosen if located not in bits], {}, with_inputs=False):
            for batch in as_far_as_it_runs(run, group, Batch.without_tensors):
                taps = tuple({partners[source]: None for source in batch.sources if source in partners})
                tensors = infer(self.runtime, self.new, fed, self.setting, taps).taps if taps else {}
                suspects = [] if batch.refused else [one for one in batch.layers if self._differs(batch, one, tensors)]
                batch = _asked_alone(batch, suspects[:budget], run)
                budget -= len(suspects[:budget])
                unequal = [one for one in suspects if self._differs(batch, one, tensors)]
                masks = self._undecided(self._partners(unequal), fed)
                undecided = {
                    tap_of(self.new.graph, source, second.pairs.labels): mask for source, mask in masks.items()
                }
                alone = {one.layer.id: self._on_old_inputs(batch, one, given) for one in unequal}
                rows = self.rows.of_runs(batch, replace(second, tensors=tensors, undecided=undecided))
                entries += [_carried(row, alone.get(row.layer_id, {}).get(row.output)) for row in rows]
        return entries

    def _on_old_inputs(self, batch: Batch, located: Located, given: Mapping[str, Array]) -> dict[int, Difference]:
        """Return how far each output of a layer is off on what the old runtime gave to it; empty if that cannot be run.

        Errors of rounding add up through a network, and if a ReLU cuts off the largest values of a tensor, what is left
        carries errors of a larger scale than its own. They are not the layer's.
        """
        old = {theirs: mine for mine, theirs in self.pairs.sources.items()}
        ends = [self.pairs.sources.get(Source(located.layer.id, port.id)) for port in located.layer.outputs]
        targets = {end.layer for end in ends if end is not None}
        layers = self._back_to(old, targets)
        called = _names(self.old)
        names = {source: called[old[source]] for source in reads(self.new, layers) if source in old}
        asked = [name for name in names.values() if name not in given]
        try:
            found = {**given, **(self._run_old(given, asked) if asked else {})}
            arrays = {source: self._as_new(source, found[name]) for source, name in names.items()}
            part = cut(self.new, layers, arrays, *targets)
            fed = {end.name: array for end, array in zip(part.inputs, arrays.values(), strict=True)}
            made = [*infer(self.runtime, part, fed, self.setting).outputs.values()]
        except (IrToolsError, ValueError):
            return {}
        limit = allowed("f32", self.tolerance, self.rows.precision)
        numbers = {port.id: number for number, port in enumerate(self.new.graph.layer(*targets).outputs)}
        pairs = {
            index: (batch.actual(located, index), made[numbers[end.port]]) for index, end in enumerate(ends) if end
        }
        return {
            index: difference(expected, actual, tolerance=limit)
            for index, (expected, actual) in pairs.items()
            if expected.shape == actual.shape
        }

    def _back_to(self, known: Collection[Source], targets: Collection[int]) -> set[int]:
        """Return layers of the new model, and those before them that compute what is not known."""
        graph, layers, waiting = self.new.graph, set[int](), [*targets]
        while waiting:
            layers.add(layer := waiting.pop())
            read = {source.layer for source in graph.sources(layer).values() if source not in known}
            waiting += [one for one in read - layers if role_of(graph.layer(one)) is not Role.CONSTANT]
        return layers

    def _as_new(self, source: Source, array: Array) -> Array:
        """Return an array of the old run in shape and element type of a tensor of the new model."""
        port = self.new.graph.layer(source.layer).port(source.port)
        kind = precision_in_file(port.precision or "")
        return array.reshape(port.dims).astype(None if kind is None else kind.dtype)

    def _in_bits(self, layer: Layer) -> bool:
        readers = [self.old.graph.layer(end) for _, end in self.old.graph.out_edges(layer.id)]
        return any(reader.type.lower() == KEEPS_BITS.lower() for reader in readers)

    def _partners(self, layers: Iterable[Located]) -> Iterator[Source]:
        for located in layers:
            sources = (Source(located.layer.id, port.id) for port in located.layer.outputs)
            yield from (self.pairs.sources[source] for source in sources if source in self.pairs.sources)

    def _source(self, output: str) -> Source:
        """Return the tensor that is an output of the new model."""
        end = next(end for end in self.new.outputs if end.name == output)
        return next(iter(self.new.graph.sources(end.layer.id).values()))

    def _undecided(self, tensors: Iterable[Source], fed: Mapping[str, Array]) -> dict[Source, Mask]:
        """Return, for tensors of the new model, the elements that differ if the inputs of a layer are off by little.

        These are places of elements that are nearly equal, and values at the border of two levels.
        """
        graph, labels = self.new.graph, labels_of(self.new.graph)
        decided = {tensor: layer for tensor in tensors if decided_by_rounding(layer := self._unconverted(tensor))}
        read = [source for layer in decided.values() for source in graph.sources(layer.id).values()]
        computed = (source for source in read if role_of(graph.layer(source.layer)) is not Role.CONSTANT)
        taps = tuple(dict.fromkeys(tap_of(graph, source, labels) for source in computed))
        known = infer(self.runtime, self.new, fed, self.setting, taps).taps if taps else {}
        masks = {}
        for tensor, layer in decided.items():
            inputs = tuple(inputs_of(self.new, graph, layer, known, labels).values())
            masks[tensor] = ill_conditioned(layer, inputs, TOLERANCES["f32"])
        return {tensor: mask for tensor, mask in masks.items() if mask is not None}

    def _unconverted(self, tensor: Source) -> Layer:
        """Return the layer that makes a tensor, before its element type is converted."""
        layer = self.new.graph.layer(tensor.layer)
        while elements_of(layer) is Elements.CONVERTED:
            layer = self.new.graph.layer(next(iter(self.new.graph.sources(layer.id).values())).layer)
        return layer

    def _differs(self, batch: Batch, located: Located, tensors: Mapping[Tap, Array]) -> bool:
        for index, port in enumerate(located.layer.outputs):
            tap = self.pairs.taps.get(Source(located.layer.id, port.id))
            expected = batch.actual(located, index)
            if tap is not None and tap in tensors and expected.shape == tensors[tap].shape:
                found = difference(expected, tensors[tap], tolerance=self.rows.tolerance)
                if not found.ok:
                    return True
        return False


def _asked_alone(batch: Batch, suspects: Sequence[Located], run: Callable[[Sequence[Located]], Batch]) -> Batch:
    """Ask for some tensors again, one layer at a time: the old plugin overwrites some where many are taken out."""
    tensors = dict(batch.tensors)
    for located in suspects:
        for alone in as_far_as_it_runs(run, [located], Batch.without_tensors):
            tensors.update(alone.tensors)
    return replace(batch, tensors=tensors)


def _carried(row: LayerComparison, alone: Difference | None) -> LayerComparison:
    """Return the row of an output that differs, ok if its layer does not differ `alone`."""
    if row.status != "differs" or row.difference is None or alone is None or not alone.ok:
        return row
    reason = f"carries {row.difference.needed:.2g} of the layers before; on what the old runtime gave to it: this"
    return replace(row, status="ok", difference=alone, reason=reason, f64=None)


def _tensors(layer: Layer) -> list[tuple[int, str]]:
    """Return number and name of each output of a legacy layer, as the old runtime calls it."""
    return [(index, output_name(layer, index)) for index in range(len(layer.outputs))]


def _pairs(old: Model, new: Model) -> Pairs:
    """Pair the tensors of the old model with those of the new one.

    By what the old one is migrated to, which the new one is compared with as any two models are; else by name.
    """
    found = _named(old, new)
    with suppress(MigrationError):
        bridge = current_model(old)
        theirs = paired_models(bridge, new).sources
        alike = {mine: theirs[tensor] for mine, tensor in _named(old, bridge).items() if tensor in theirs}
        taken = set(alike.values())
        found = {mine: tensor for mine, tensor in found.items() if tensor not in taken} | alike
    return Pairs.of(new.graph, {}, found)


def _named(old: Model, new: Model) -> dict[Source, Source]:
    """Pair each tensor of the old model with that of a layer of its name in the new one, else with one of its name."""
    named: dict[str, Source] = {}
    for layer in new.graph.layers():
        for port in layer.outputs:
            named.update(dict.fromkeys(port.names, Source(layer.id, port.id)))
    for layer in new.graph.layers():
        named.update({name: Source(layer.id, layer.outputs[index].id) for index, name in _tensors(layer)})
    return {mine: named[name] for mine, name in _names(old).items() if name in named}


def _names(old: Model) -> dict[Source, str]:
    """Return how the old runtime calls the tensors of its model."""
    return {
        Source(layer.id, layer.outputs[index].id): name
        for layer in old.graph.layers()
        for index, name in _tensors(layer)
    }
