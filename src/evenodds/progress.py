"""A bar for work that takes longer than a moment: on stderr, and only where a person is watching."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from typing import Any, TypeVar

__all__ = ["tracked", "without_bars"]

_PATIENCE = 1.0  # seconds that need no bar
_shown = False  # one terminal has one bar: work within work shows none of its own
_wanted = True

T = TypeVar("T")


def tracked(items: Iterable[T], doing: str, *, total: int | None = None) -> Iterator[T]:
    """The items one by one, with a bar once they have taken longer than a second.

    `total` is about how many there are, where they cannot be counted; a bar without it shows only that work goes on.

    >>> list(tracked([1, 2, 3], "Counting"))
    [1, 2, 3]
    """
    global _shown  # noqa: PLW0603 as said above
    bar: Any = None
    task: Any = None
    began = time.monotonic()
    count = len(items) if isinstance(items, Sized) else total
    try:
        for done, item in enumerate(items):
            if bar is not None:
                bar.update(task, completed=done)
            elif _wanted and not _shown and time.monotonic() - began > _PATIENCE and sys.stderr.isatty():
                bar = _bar()
                _shown = True
                task = bar.add_task(doing, total=count, completed=done)
            yield item
    finally:
        if bar is not None:
            bar.stop()
            _shown = False


def without_bars() -> Callable[[], None]:
    """Show no bars from now on; what is returned ends that."""
    global _wanted  # noqa: PLW0603 whether somebody wants bars is asked of the process
    _wanted = False

    def end() -> None:
        global _wanted  # noqa: PLW0603 as above
        _wanted = True

    return end


def _bar() -> Any:
    from rich.console import Console  # noqa: PLC0415 heavy
    from rich.progress import Progress  # noqa: PLC0415 heavy

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.start()
    return bar
