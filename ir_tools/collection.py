"""Making very many objects without the garbage collector, which would walk them again and again while they grow."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["gc_paused"]


@contextmanager
def gc_paused() -> Iterator[None]:
    """Put the garbage collector off; it is on again afterwards, if it was on before."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
