"""Where a model runs: a device, and the type in which it computes floats."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from ir_tools.arguments import check_word
from ir_tools.errors import UsageError

__all__ = ["PRECISIONS", "RuntimePrecision", "Setting"]

RuntimePrecision = Literal["f32", "f16", "bf16", "int8"]
"""In which the runtime computes floats: f32 throughout, or f16 or bf16 where the device has it; int8 for quantized
models as they are used."""
PRECISIONS: tuple[RuntimePrecision, ...] = get_args(RuntimePrecision)
VIRTUAL = frozenset({"AUTO", "BATCH", "HETERO", "MULTI"})
"""Devices whose names go on behind a colon: `AUTO:GPU,CPU`."""


class Setting(NamedTuple):
    """A device and a precision."""

    device: str
    precision: RuntimePrecision

    @classmethod
    def of(cls, device: str, precision: str) -> "Setting":
        """Check device and precision.

        Raises:
            UsageError: the precision is not one of `PRECISIONS`, or the name of the device is empty or ends in a colon.
        """
        if not device.rstrip(":") or device.endswith(":"):
            raise UsageError(f"device is '{device}'; expected a name such as CPU, GPU.1 or AUTO:GPU,CPU")
        check_word("precision", precision, PRECISIONS)
        return cls(device, next(known for known in PRECISIONS if known == precision))

    @classmethod
    def parse(cls, text: str) -> "Setting":
        """Read `DEVICE` or `DEVICE:PRECISION`; without a precision it is f32.

        Raises:
            UsageError: the precision is not one of `PRECISIONS`, or there is no device.
        """
        device, colon, precision = text.rpartition(":")
        if not colon or (device.partition(":")[0] in VIRTUAL and precision not in PRECISIONS):
            return cls.of(text, "f32")
        return cls.of(device, precision)

    @property
    def config(self) -> Mapping[str, str]:
        """Return the properties for a model as it is used: quantized models run in int8 on the CPU, whatever the hint.

        With f32, a model with compressed weights does not: the CPU would quantize what it multiplies with them.
        """
        if self.precision == "int8":
            return {"INFERENCE_PRECISION_HINT": "f32"}
        hint = {"INFERENCE_PRECISION_HINT": self.precision}
        return {**hint, "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"} if self.precision == "f32" and self._on_cpu else hint

    @property
    def tapped(self) -> Mapping[str, str]:
        """Return the properties for a model whose tensors are taken out: unless int8 is asked for, none is in int8.

        Only if all that is quantized is taken out; otherwise OpenVINO 2026.4 gives wrong outputs for some models.
        """
        return {**self.config, "LP_TRANSFORMS_MODE": "NO"} if self.precision != "int8" and self._on_cpu else self.config

    @property
    def wide(self) -> bool:
        """Whether f16 and bf16 are computed in f32, so that their tensors are handed out in f32."""
        return self.precision in {"f32", "int8"}

    def instead(self, floats: str) -> str:
        """Return `CPU, bf16 (computed in f32)` if the device computed floats in f32 instead; else an empty string."""
        return f"{self} (computed in {floats})" if self.precision in {"f16", "bf16"} and floats == "f32" else ""

    def computed_in(self, floats: str) -> str:
        """Return in what a model is computed whose floats are computed in `floats`."""
        return self.precision if self.precision == "int8" else floats

    @property
    def _on_cpu(self) -> bool:
        return self.device.partition(".")[0] == "CPU"

    def __str__(self) -> str:
        """Return `CPU, f32`."""
        return f"{self.device}, {self.precision}"
