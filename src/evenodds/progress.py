"""A bar for work that takes longer than a moment: on stderr, and only where a person is watching."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

__all__ = ["tracked"]

_PATIENCE = 1.0  # seconds that need no bar

T = TypeVar("T")


def tracked(items: Sequence[T], doing: str) -> Iterator[T]:
    """The items one by one, with a bar once they have taken longer than a second.

    >>> list(tracked([1, 2, 3], "Counting"))
    [1, 2, 3]
    """
    bar: Any = None
    began = time.monotonic()
    try:
        for done, item in enumerate(items):
            if bar is None and time.monotonic() - began > _PATIENCE and sys.stderr.isatty():
                bar = _bar()
                task = bar.add_task(doing, total=len(items), completed=done)
            yield item
            if bar is not None:
                bar.update(task, completed=done + 1)
    finally:
        if bar is not None:
            bar.stop()


def _bar() -> Any:
    from rich.console import Console  # noqa: PLC0415 heavy
    from rich.progress import Progress  # noqa: PLC0415 heavy

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.start()
    return bar
