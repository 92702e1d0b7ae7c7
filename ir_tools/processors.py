"""Kinds of processors that OpenVINO's CPU plugin has different code for."""

from __future__ import annotations

import enum
from functools import cache
from pathlib import Path

__all__ = ["Processor"]

CPUINFO = Path("/proc/cpuinfo")
_VNNI = frozenset({"avx512_vnni", "avx_vnni"})


class Processor(enum.StrEnum):
    """The processors on which something was seen."""

    ANY = "any processor"
    AVX512 = "processors with AVX-512"
    NO_AVX512 = "processors without AVX-512"
    AMD_AVX512 = "AMD processors with AVX-512"
    AMX = "processors with AMX"
    NO_AMX = "processors without AMX"
    VNNI = "processors with VNNI (AVX512_VNNI or AVX_VNNI)"
    NO_VNNI = "processors without VNNI (AVX512_VNNI or AVX_VNNI)"

    @property
    def is_here(self) -> bool:
        """Whether this machine has such a processor."""
        match self:
            case Processor.AVX512:
                return "avx512bw" in _flags()
            case Processor.NO_AVX512:
                return "avx512bw" not in _flags()
            case Processor.AMD_AVX512:
                return {"avx512bw", "AuthenticAMD"} <= _flags()
            case Processor.AMX:
                return "amx_tile" in _flags()
            case Processor.NO_AMX:
                return "amx_tile" not in _flags()
            case Processor.VNNI:
                return not _VNNI.isdisjoint(_flags())
            case Processor.NO_VNNI:
                return _VNNI.isdisjoint(_flags())
        return True

    @property
    def note(self) -> str:
        """A sentence about the processors, to be put behind others; empty for any."""
        return "" if self is Processor.ANY else f" Only on {self}."


@cache
def _flags() -> frozenset[str]:
    """Return what Linux says that the processor can do; nothing on another system."""
    try:
        return frozenset(CPUINFO.read_text(encoding="ascii", errors="replace").split())
    except OSError:
        return frozenset()
