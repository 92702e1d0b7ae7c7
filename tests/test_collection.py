"""Tests of the garbage collector being put off while very many objects are made."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from ir_tools import collection
from ir_tools.collection import gc_paused


class Knot:
    """Refers to itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _running(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One that has not seen frozen objects, as those of the test session are."""
    monkeypatch.setattr(collection, "_COLLECTOR", collection._Collector())
    frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    gc.collect()
    yield
    gc.enable()
    gc.unfreeze()
    if frozen:
        gc.freeze()


def test_it_is_off_inside_and_as_it_was_behind() -> None:
    with gc_paused():
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    with gc_paused():
        pass
    assert not gc.isenabled()


def test_what_was_made_is_not_walked_again() -> None:
    walked: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            walked.append(len(gc.get_objects(0)))

    with gc_paused():
        made = [[None] for _ in range(100_000)]
    gc.callbacks.append(note)
    try:
        more = [[None] for _ in range(10_000)]
    finally:
        gc.callbacks.remove(note)
    assert walked
    assert max(walked) < 10_000, "the 100,000 are old"
    assert len(made) + len(more) == 110_000


def test_garbage_in_circles_is_freed_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "MAX_PROMOTED", 50_000)
    with gc_paused():
        knot = Knot()
        there = weakref.ref(knot)
        del knot
    made: list[list[None]] = []
    for number in range(6):
        with gc_paused():
            made += [[None] for _ in range(10_000)]
        assert number or there() is not None
    assert len(made) == 60_000
    assert there() is None


def test_objects_that_the_program_froze_stay_frozen() -> None:
    knot = Knot()
    gc.freeze()
    for _ in range(2):
        with gc_paused():
            made = [[None] for _ in range(10_000)]
        assert any(found is made for found in gc.get_objects())
        assert not any(found is knot for found in gc.get_objects()), "it is walked again"
