"""Colour spaces of images: NV12 and I420 to RGB and BGR, and back."""

from ir_tools.ops._define import Flag, Input, Op, Output

__all__ = ["OPS"]

TYPES = {"T": "float u8"}
NV12 = (Input("image", type="T"), Input("uv", optional=True, type="T"))
I420 = (Input("image", type="T"), Input("u", optional=True, type="T"), Input("v", optional=True, type="T"))

OPS = (
    Op(type="NV12toRGB", version=8, inputs=NV12, types=TYPES),
    Op(type="NV12toBGR", version=8, inputs=NV12, types=TYPES),
    Op(type="I420toRGB", version=8, inputs=I420, types=TYPES),
    Op(type="I420toBGR", version=8, inputs=I420, types=TYPES),
    *(
        Op(
            type=type,
            version=17,
            inputs=(Input("image", type="T"),),
            outputs=(Output("image", many=True),),
            attrs={"single_plane": Flag(default=True)},
            types={"T": "f64 f32 f16 bf16 u8"},
        )
        for type in ("RGBtoNV12", "BGRtoNV12")
    ),
)
