"""Work side by side: numpy lets go of Python's lock, so that threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = ["THREADS", "by_threads"]

THREADS = max(1, min(4, os.cpu_count() or 1))
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def by_threads(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    """The function's result for each item, in order; several items are shared among threads.

    >>> by_threads(abs, [-2, 3])
    [2, 3]
    """
    arguments = list(items)
    if len(arguments) < 2:  # noqa: PLR2004 nothing to share
        return [function(argument) for argument in arguments]
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 a tenth of the time that our import takes

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(function, arguments))
