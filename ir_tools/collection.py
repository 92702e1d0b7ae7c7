"""Making very many objects without the garbage collector, which would walk them again and again while they grow."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["gc_paused"]


MAX_PROMOTED = 1 << 20
"""How many new objects count as old before all are walked once: those of two models of 20,000 layers, migrated."""


class _Collector:
    """Puts the garbage collector off and on."""

    def __init__(self) -> None:
        self.promoted, self.frozen = 0, False

    def stop(self) -> None:
        """Put it off; before very many objects are made again, the garbage in circles of those before goes."""
        if self.promoted > MAX_PROMOTED:
            gc.collect()
            self.promoted = 0
        gc.disable()

    def start(self) -> None:
        """Put it on; what was made meanwhile counts as old at once, in place of being walked twice before it does.

        It does not where the program has frozen objects of its own, which is remembered: to count them takes a walk.
        """
        made = gc.get_count()[0]
        self.promoted += made
        if made > gc.get_threshold()[0] and not self.frozen:
            self.frozen = gc.get_freeze_count() > 0
            if not self.frozen:
                gc.freeze()
                gc.unfreeze()
        gc.enable()


_COLLECTOR = _Collector()


@contextmanager
def gc_paused() -> Iterator[None]:
    """Put the garbage collector off; it is on again afterwards, if it was on before."""
    running = gc.isenabled()
    if running:
        _COLLECTOR.stop()
    try:
        yield
    finally:
        if running:
            _COLLECTOR.start()
