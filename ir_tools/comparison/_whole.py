"""The model as a whole on the runtime: as it is used, and in f32 throughout."""

from collections.abc import Mapping
from dataclasses import dataclass

from ir_tools.comparison._tensors import quantized
from ir_tools.graph import Model
from ir_tools.ops import Array
from ir_tools.runtime.client import Inference, RuntimeClient, Tap
from ir_tools.runtime.setting import Setting

__all__ = ["Whole", "infer"]

NARROW = frozenset({"i8", "u8"})


@dataclass(frozen=True, slots=True)
class Whole:
    """A run of the model as it is, none of its tensors taken out.

    Attributes:
        run: as it is used: a quantized model in int8, where the device does that.
        wide: the outputs in f32 throughout, where f32 is asked for; the same as those of `run` for any other model.
        narrow: how many operations the device computed in int8, though f32 was asked for.
    """

    run: Inference
    wide: Mapping[str, Array]
    narrow: int = 0

    @classmethod
    def of(
        cls,
        client: RuntimeClient,
        model: Model,
        fed: Mapping[str, Array],
        setting: Setting,
        *,
        as_used: bool = False,
    ) -> "Whole":
        """Run the model; if it is quantized, and not `as_used` alone, also in f32.

        What every quantization reads is taken out then; see `quantized`.
        """
        before = quantized(model)
        asks = bool(before) and setting.tapped != setting.config and not as_used
        run = client.infer_model(model, fed, device=setting.device, config=setting.config, executed=asks)
        narrow = sum(step.element_type in NARROW for step in run.executed)
        if not narrow:
            return cls(run, run.outputs)
        return cls(run, infer(client, model, fed, setting, before).outputs, narrow)


def infer(
    client: RuntimeClient, model: Model, fed: Mapping[str, Array], setting: Setting, taps: tuple[Tap, ...] = ()
) -> Inference:
    """Run once; with `taps`, nothing is computed in int8 if f32 is asked for."""
    config = setting.tapped if taps else setting.config
    more = quantized(model) if taps and config != setting.config else ()
    return client.infer_model(model, fed, taps=(*taps, *more), wide=setting.wide, device=setting.device, config=config)
