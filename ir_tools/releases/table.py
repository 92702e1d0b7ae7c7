"""Releases of the runtime that models can be run on besides the installed one: what each reads, and what it needs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from ir_tools.errors import UsageError
from ir_tools.types import ELEMENT_TYPES
from ir_tools.types.words import closest

if TYPE_CHECKING:
    from ir_tools.ops.definition import Op

__all__ = ["OPENVINO", "PARAMETERS_OF_10", "RELEASES", "RESULTS_OF_10", "Release", "find_release", "is_release"]

PARAMETERS_OF_10 = {"f16": "f32"}
"""What a caller gives for an input of another type of a file of IR v10, to every release. Measured."""
RESULTS_OF_10 = {
    name: "i32" if name in {"i64", "u64", "u32"} else "f32"
    for name, kind in ELEMENT_TYPES.items()
    if kind.bits and name not in {"f32", "i32"}
}
"""What a caller gets for an output of another type. Measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release of the runtime.

    Attributes:
        name: on the command line, and of its environment's folder.
        title: in messages.
        packages: from PyPI, pinned.
        pythons: versions of Python that they can be installed in, the best first.
        download: megabytes that are downloaded, about.
        size: megabytes that an environment takes on disk, about.
        reads: the first and the last IR version that it is used for.
        opset: the last opset that it reads as a whole; 0 for a release of the time before opsets.
        lacks: operations of later releases' tables of these opsets that it does not read.
        added: types of operations that it reads of later opsets, by the number of the opset.
    """

    name: str
    title: str
    packages: tuple[str, ...]
    pythons: tuple[str, ...]
    download: int
    size: int
    reads: tuple[int, int]
    opset: int = 0
    lacks: frozenset[str] = frozenset()
    added: Mapping[int, frozenset[str]] = field(default_factory=dict)

    @property
    def number(self) -> tuple[int, ...]:
        """The numbers of its name, by which releases are ordered: `(2024, 6)`."""
        return _number(self.name)

    @property
    def short(self) -> str:
        """The name without `openvino-`: `2024.6`."""
        return self.name.removeprefix("openvino-")

    @property
    def dynamic(self) -> bool:
        """Whether it reads dimensions of unknown size."""
        return self.number >= (2022, 1)

    def holds(self, op: "Op", opset: int) -> bool:
        """Return whether it reads an operation with the version stamp of an opset.

        What every opset begins with is read with the stamp of an opset of which it reads only a part.
        """
        if not op.in_opset(opset):
            return False
        if opset <= self.opset:
            return str(op) not in self.lacks
        return opset in self.added and op.type in self.added[opset] | FIRST_OF_OPSET

    def has_type(self, name: str) -> bool:
        """Return whether it reads tensors of an element type."""
        return self.number >= FIRST_RELEASE.get(name, self.number)


@cache
def _number(name: str) -> tuple[int, ...]:
    return tuple(int(number) for number in name.rpartition("-")[2].split("."))


FIRST_OF_OPSET = {"Parameter", "Convert", "ShapeOf"}
FIRST_RELEASE = {
    "u1": (2021, 3),
    "u4": (2021, 3),
    "i4": (2021, 3),
    "nf4": (2023, 2),
    "string": (2023, 3),
    "f8e4m3": (2024, 0),
    "f8e5m2": (2024, 0),
    "u2": (2024, 1),
    "u3": (2024, 1),
    "u6": (2024, 1),
    "f8e8m0": (2024, 3),
    "f4e2m1": (2024, 3),
}
"""The first release that reads an element type, of the types that not all read. Measured."""


def _openvino(
    version: str,
    opset: int,
    pythons: str,
    wheel: int,
    *,
    needs: str = "",
    lacks: str = "",
    **added: str,
) -> Release:
    """Return a release of the package `openvino`; `opset15="Col2Im"` names what it reads of a later opset.

    Args:
        version: of the package.
        opset: the last that it reads as a whole.
        pythons: the best first.
        wheel: megabytes of it; what an environment takes was measured.
        needs: what it runs with besides what it requires itself: versions, or packages that it imports.
        lacks: as in `Release`.
        added: as in `Release`.
    """
    numbers = version.split(".")
    name = ".".join(numbers[:2])
    return Release(
        name=f"openvino-{name}",
        title=f"OpenVINO {name}",
        packages=(f"openvino=={version}", *needs.split()),
        pythons=tuple(pythons.split()),
        download=wheel + NUMPY,
        size=4 * wheel + 60,
        reads=(10, 11 if int(numbers[0]) >= 2022 else 10),
        opset=opset,
        lacks=frozenset(lacks.split()),
        added={int(key.removeprefix("opset")): frozenset(types.split()) for key, types in added.items()},
    )


NUMPY = 17
"""Megabytes of numpy's wheel, about."""
P9, P10, P11, P12 = "3.9 3.8 3.7 3.6", "3.10 3.9 3.8 3.7", "3.11 3.10 3.9 3.8", "3.11 3.12 3.10 3.9"
P13, P14 = "3.11 3.12 3.13 3.10 3.9", "3.11 3.12 3.13 3.14 3.10"
PKG_RESOURCES = "setuptools<81"
"""Has `pkg_resources`, which releases up to 2022.2 import and do not require; not every environment comes with it."""
OPSET_15 = "Col2Im EmbeddingBagOffsets EmbeddingBagPacked ROIAlignRotated ScatterNDUpdate"
OPSET_15_LATER = f"{OPSET_15} BitwiseLeftShift BitwiseRightShift SliceScatter StringTensorPack StringTensorUnpack"

RELEASES = (
    Release(
        name="inference-engine-2020.1",
        title="Inference Engine 2020.1",
        packages=("opencv-python-inference-engine==4.2.0.4", "numpy"),
        pythons=("3.11", "3.12", "3.13", "3.10", "3.9", "3.8", "3.7", "3.6"),
        download=55,
        size=200,
        reads=(2, 7),
    ),
    _openvino("2021.2", 5, "3.7 3.6", 20, needs=f"numpy<1.20 {PKG_RESOURCES}"),
    _openvino("2021.3.0", 7, "3.8 3.7 3.6", 27, needs=f"numpy<1.20 {PKG_RESOURCES}", lacks="Einsum-7"),
    _openvino("2021.4.2", 7, P9, 29, needs=PKG_RESOURCES),
    _openvino("2022.1.0", 8, P9, 26, needs=PKG_RESOURCES),
    _openvino("2022.2.0", 9, P9, 27, needs=PKG_RESOURCES),
    _openvino("2022.3.2", 10, P10, 36),
    _openvino("2023.0.2", 11, "3.11 3.10 3.9 3.8 3.7", 37, needs="numpy<2"),
    _openvino("2023.1.0", 12, "3.11 3.10 3.9 3.8 3.7", 35, needs="numpy<2"),
    _openvino("2023.2.0", 13, P11, 38, needs="numpy<2", lacks="FakeConvert-13 ScaledDotProductAttention-13"),
    _openvino("2023.3.0", 13, P11, 38, needs="numpy<2"),
    _openvino("2024.0.0", 14, P11, 38, needs="numpy<2"),
    _openvino("2024.1.0", 14, f"{P12} 3.8", 39),
    _openvino("2024.2.0", 14, f"{P12} 3.8", 39, opset15=OPSET_15),
    _openvino("2024.3.0", 14, f"{P12} 3.8", 41, opset15=OPSET_15),
    _openvino("2024.4.0", 14, f"{P12} 3.8", 43, opset15=OPSET_15_LATER),
    _openvino("2024.5.0", 15, P12, 45),
    _openvino("2024.6.0", 15, P12, 45),
    _openvino("2025.0.0", 15, P13, 47, opset16="Identity"),
    _openvino("2025.1.0", 15, P13, 46, opset16="Identity ISTFT SegmentMax"),
    _openvino("2025.2.0", 15, P13, 48, opset16="Identity ISTFT SegmentMax SparseFillEmptyRows"),
    _openvino("2025.3.0", 15, P13, 49, opset16="Identity ISTFT SegmentMax SparseFillEmptyRows AvgPool"),
    _openvino("2025.4.1", 15, P14, 50, opset16="Identity ISTFT SegmentMax SparseFillEmptyRows AvgPool OneHot"),
    _openvino("2026.0.0", 16, P14, 54),
    _openvino("2026.1.0", 16, P14, 57),
    _openvino("2026.2.1", 16, P14, 58, opset17="ErfInv"),
    _openvino("2026.3.1", 16, P14, 58, opset17="ErfInv GroupedMatMul"),
    _openvino("2026.4.1", 16, P14, 59, opset17="ErfInv GroupedMatMul RGBtoNV12 BGRtoNV12"),
)
"""All that are known. Of the wheel of 2020.1 only the libraries of the runtime are used, with any Python."""
OPENVINO = tuple(release for release in RELEASES if release.opset)
"""The releases of OpenVINO, oldest first."""


NAMED = re.compile(r"openvino-|inference-engine-|20\d\d(\.\d+)+$")
"""How a text begins that names a release; a version alone also names one."""


def is_release(text: str) -> bool:
    """Return whether a text names a release, known or not."""
    return NAMED.match(text) is not None


def find_release(name: str) -> Release:
    """Return the release of this name; a patch of it counts: `openvino-2021.4.2`.

    Raises:
        UsageError: there is none; the message says which there are.
    """
    kind, _, version = name.partition("-")
    wanted = f"{kind}-{'.'.join(version.split('.')[:2])}" if kind == "openvino" else name
    found = next((release for release in RELEASES if release.name == wanted), None)
    if found is not None:
        return found
    names, numbers = [release.name for release in RELEASES], re.search(r"\d+\.\d+", name)
    same = [one for one in names if numbers and one.endswith(f"-{numbers[0]}")]
    longer = [one for one in reversed(names) if one.startswith(f"{name}.")]
    meant = next(iter([*same, *longer]), None if numbers else closest(name, names))
    known = "openvino is the installed one, which is the default; " if name == "openvino" else ""
    known += f"expected {RELEASES[0].name} or {OPENVINO[0].name} to {OPENVINO[-1].name} (ir-tools runtimes lists them)"
    raise UsageError(f"there is no release {name!r}; {f'did you mean {meant!r}?' if meant else known}")
