"""How long something takes."""

import time
from collections.abc import Callable

__all__ = ["seconds"]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
