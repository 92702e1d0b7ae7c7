"""Devices and precisions in words."""

import pytest

from ir_tools.errors import UsageError
from ir_tools.runtime.setting import Setting


@pytest.mark.parametrize(
    ("text", "setting"),
    [
        ("CPU", ("CPU", "f32")),
        ("GPU.1:f16", ("GPU.1", "f16")),
        ("AUTO:GPU,CPU", ("AUTO:GPU,CPU", "f32")),
        ("AUTO:GPU,CPU:bf16", ("AUTO:GPU,CPU", "bf16")),
    ],
)
def test_a_device_with_its_precision(text: str, setting: tuple[str, str]) -> None:
    assert Setting.parse(text) == setting


@pytest.mark.parametrize("device", ["", ":", "CPU:", "AUTO:"])
def test_no_device(device: str) -> None:
    with pytest.raises(UsageError, match="expected a name such as CPU"):
        Setting.of(device, "f32")
    with pytest.raises(UsageError, match=r"expected|is not one of"):
        Setting.parse(device)
