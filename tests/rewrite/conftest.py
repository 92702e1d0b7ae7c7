"""Fixtures of the tests of rewrites."""

from collections.abc import Iterator

import pytest

from ir_tools import processors
from ir_tools.known_differences.releases import rows_about, rows_of


@pytest.fixture
def newer_processor(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take the machine for one with AVX-512 and VNNI."""
    with monkeypatch.context() as patch:
        patch.setattr(processors, "_flags", lambda: frozenset({"avx512bw", "avx512_vnni"}))
        for cached in (rows_about, rows_of):
            cached.cache_clear()
        yield
    for cached in (rows_about, rows_of):
        cached.cache_clear()
