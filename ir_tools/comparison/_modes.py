"""One comparison of one model on one set of inputs, in each of the modes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ir_tools.comparison._bodies import BodyRunner
from ir_tools.comparison._layers import Rows
from ir_tools.comparison._models import output_names, renamed
from ir_tools.comparison._origin import Origin
from ir_tools.comparison._pairing import Pairs
from ir_tools.comparison._partners import SecondRun
from ir_tools.comparison._results import LayerComparison
from ir_tools.comparison._tensors import batches, living, living_taps
from ir_tools.comparison._whole import Whole, infer
from ir_tools.execute import Execution, Precision
from ir_tools.graph import Located, Model
from ir_tools.ops import Array
from ir_tools.runtime.client import RuntimeClient
from ir_tools.runtime.one_layer import LayerRunner
from ir_tools.runtime.setting import Setting

__all__ = ["LEFT_OUT", "Found", "Work"]

LEFT_OUT = "leads to no output of the model, so the runtime removes it"


class Found(NamedTuple):
    """What came of one set of inputs.

    Attributes:
        rows: of the layers.
        whole: the run of the model as it is.
        expected, actual: its outputs on both sides, by name.
        counterparts: the names of the outputs in another model, if there is one.
        instead: `Setting.instead` of the other side, if that is the runtime, too.
    """

    rows: list[LayerComparison]
    whole: Whole
    expected: Mapping[str, Array]
    actual: Mapping[str, Array]
    counterparts: Mapping[str, str] | None = None
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """A model on inputs: `fed`, by name."""

    runtime: RuntimeClient
    model: Model
    fed: Mapping[str, Array]
    setting: Setting
    rows: Rows

    def isolated(self) -> Found:
        """Compare each layer of the reference, on the runtime's own inputs, with the runtime.

        Outputs: all tensors taken out, against the model as it is.
        """
        whole = Whole.of(self.runtime, self.model, self.fed, self.setting)
        top, dead = self._chosen()
        tapped: Mapping[str, Array] = whole.wide
        entries: list[LayerComparison] = []
        alone = LayerRunner(self.runtime)
        for batch in batches(self.runtime, self.model, self.fed, top, self.setting, with_inputs=True):
            tapped = batch.outputs or tapped
            entries += self.rows.isolated(batch, self._precision, alone)
        return Found([*entries, *dead], whole, whole.wide, tapped)

    def cumulative(self) -> Found:
        """Compare the reference by itself with the runtime."""
        whole = Whole.of(self.runtime, self.model, self.fed, self.setting)
        top, dead = self._chosen()
        alone = LayerRunner(self.runtime)
        reference = Execution(self.model, self._precision, alone, mask_rounding=True, states=self.rows.states)
        walk = reference.steps(self.fed)
        entries: list[LayerComparison] = []
        for batch in batches(self.runtime, self.model, self.fed, top, self.setting, with_inputs=False):
            entries += self.rows.cumulative(batch, walk, self._precision, alone)
        for _ in walk:
            pass
        return Found([*entries, *dead], whole, reference.results, whole.wide)

    def with_setting(self, client: RuntimeClient, second: Setting) -> Found:
        """Compare with the same model on another runtime or device, or in another precision."""
        pairs = Pairs.identical(self.model.graph)
        run = SecondRun(self.model, self.model.graph, {}, pairs, BodyRunner(client, second), None)
        return self._two_runs(run, self.fed)

    def with_model(self, client: RuntimeClient, other: Model, pairs: Pairs) -> Found:
        """Compare with another model on the same inputs; `pairs`: what belongs together."""
        run = SecondRun(other, other.graph, {}, pairs, BodyRunner(client, self.setting))
        found = self._two_runs(run, renamed(self.model, other, self.fed))
        origin = Origin(self.runtime, self.model, other, pairs, self.fed, self.setting)
        return found._replace(rows=origin.marked(found.rows))

    def _two_runs(self, second: SecondRun, fed: Mapping[str, Array]) -> Found:
        names = output_names(self.model, second.model, second.pairs)
        before = Whole.of(self.runtime, self.model, self.fed, self.setting, as_used=True)
        theirs = infer(second.bodies.client, second.model, fed, second.bodies.setting)
        top, dead = self._chosen()
        alive, partners = living_taps(second.model.graph), second.pairs.taps
        entries: list[LayerComparison] = []
        for batch in batches(self.runtime, self.model, self.fed, top, self.setting, with_inputs=False):
            taps = tuple({partners[source]: None for source in batch.sources if partners.get(source) in alive})
            entries += self.rows.of_runs(batch, second.on(fed, taps))
        counterparts = None if second.prefix is None else names
        after = {name: theirs.outputs[names[name]] for name in before.wide}
        instead = second.bodies.setting.instead(theirs.precision)
        return Found([*entries, *dead], before, before.wide, after, counterparts, instead)

    @property
    def _precision(self) -> Precision:
        """Of the reference: with floats as wide as the runtime computes them."""
        return "f32" if self.setting.wide else "as written"

    def _chosen(self) -> tuple[list[Located], list[LayerComparison]]:
        """Return the layers of the main graph to compare, and rows for those that the runtime leaves out."""
        alive = living(self.model.graph)
        found = self.rows.choice.located(self.model.graph)
        top = [located for located in found if located.layer.id in alive]
        return top, [self.rows.skipped(located, LEFT_OUT) for located in found if located.layer.id not in alive]
