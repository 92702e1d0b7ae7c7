"""Kinds of processors, by the flags that Linux lists."""

import pytest

from ir_tools import processors
from ir_tools.processors import Processor

NOT_OTHER = {Processor.ANY, Processor.NO_AVX512, Processor.NO_AMX, Processor.NO_VNNI}


@pytest.mark.parametrize(
    ("flags", "kinds"),
    [
        ("", NOT_OTHER),
        ("avx2 avx_vnni", NOT_OTHER - {Processor.NO_VNNI} | {Processor.VNNI}),
        ("avx512bw", NOT_OTHER - {Processor.NO_AVX512} | {Processor.AVX512}),
        ("AuthenticAMD", NOT_OTHER),
        ("avx512bw AuthenticAMD", NOT_OTHER - {Processor.NO_AVX512} | {Processor.AVX512, Processor.AMD_AVX512}),
        ("avx512bw avx512_vnni amx_tile", {Processor.ANY, Processor.AVX512, Processor.VNNI, Processor.AMX}),
    ],
)
def test_which_kinds_a_processor_is(flags: str, kinds: set[Processor], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "_flags", lambda: frozenset(flags.split()))
    assert {kind for kind in Processor if kind.is_here} == kinds
