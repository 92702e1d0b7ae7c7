"""Whether something works on the runtime."""

from collections.abc import Callable

from ir_tools.errors import RuntimeFailure

__all__ = ["works"]


def works(function: Callable[..., object], *arguments: object, **options: object) -> bool:
    """Whether a function returns, and does not fail as the runtime does, in a process of its own or in this one."""
    try:
        function(*arguments, **options)
    except (RuntimeFailure, RuntimeError):
        return False
    return True
