"""What rich draws on terminals: styles and progress bars. Loaded where there is a terminal."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

__all__ = ["Drawing", "progress"]


class Drawing:
    """Standard output as rich draws on it. Texts hold nothing that steers a terminal.

    Attributes:
        terminal: whether rich takes it for one: the environment may say so of a pipe, or not of a terminal.
    """

    def __init__(self) -> None:
        """Look at the environment."""
        self._console = Console(highlight=False, markup=False)
        self.terminal = self._console.is_terminal

    def line(self, parts: Sequence[tuple[str, str]]) -> None:
        """Print one line, or several of one style, of texts with their styles; the terminal wraps what is too long."""
        self._console.print(Text.assemble(*parts), soft_wrap=True)


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[], None]]:
    """Return a progress bar on standard error; nothing if that is not a terminal with a cursor that moves."""
    console = Console(stderr=True, highlight=False, markup=False)
    if not console.is_interactive:
        yield lambda: None
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    parts = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Progress(*parts, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
