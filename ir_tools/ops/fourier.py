"""Spectra: DFT-7, IDFT-7, RDFT-9, IRDFT-9, STFT-15, ISTFT-16."""

from ir_tools.ops._define import Flag, Input, Op

__all__ = ["DFT", "IDFT", "IRDFT", "ISTFT", "OPS", "RDFT", "STFT"]

TYPES = {"T": "float"}
OVER_AXES = (
    Input("data", type="f32 f16 bf16"),
    Input("axes", type="i32 i64"),
    Input("signal_size", optional=True, type="i32 i64"),
)
FRAMES = (
    Input("data", type="T"),
    Input("window", type="T"),
    Input("frame_size", type="i32 i64"),
    Input("frame_step", type="i32 i64"),
)

DFT = Op(type="DFT", version=7, inputs=OVER_AXES)
IDFT = Op(type="IDFT", version=7, inputs=OVER_AXES)
RDFT = Op(type="RDFT", version=9, inputs=OVER_AXES)
IRDFT = Op(type="IRDFT", version=9, inputs=OVER_AXES)
STFT = Op(
    type="STFT",
    version=15,
    inputs=FRAMES,
    attrs={"transpose_frames": Flag(missing=False)},
    types=TYPES,
)
ISTFT = Op(
    type="ISTFT",
    version=16,
    inputs=(*FRAMES, Input("signal_length", optional=True, type="i32 i64")),
    attrs={"center": Flag(missing=False), "normalized": Flag(missing=False)},
    types=TYPES,
)

OPS = (DFT, IDFT, RDFT, IRDFT, STFT, ISTFT)
