"""Ids that come again, among more rows than memory holds: of each id only a hash is kept, beside its draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats

__all__ = ["Doubles"]

_Run = tuple[NDArray[Any], ...]
"""Hashes, sorted; the draw of each; and, where ids are numbered, its number among all of them."""


class Doubles:
    """Which of the ids that are shown to it, some at a time, were there before: sixteen bytes are kept of each.

    Two ids are taken for one only if Python's hash of 64 bits and the draw of 53 bits both agree: among a thousand
    million ids that happens by chance less than once in 10^17 times. With `numbered`, eight bytes more of each say
    where it came first.

    >>> doubles = Doubles(numbered=True)
    >>> doubles.again(["a", "b", "a"], np.array([0.1, 0.2, 0.1]))
    array([2])
    >>> doubles.again(["c", "b"], np.array([0.3, 0.2]))
    array([1])
    >>> doubles.number_of("b", 0.2)
    1
    """

    def __init__(self, *, numbered: bool = False) -> None:
        self._numbered = numbered
        self._shown = 0
        self._runs: list[_Run] = []

    def again(self, ids: Sequence[str], draws: Floats) -> NDArray[np.intp]:
        """The places of ids that were there before, in these or in earlier ones."""
        hashes = np.fromiter(map(hash, ids), np.int64, len(ids))
        order = np.argsort(hashes, kind="stable")
        run = hashes[order], draws[order], *([self._shown + order] if self._numbered else [])
        seen = np.zeros(len(ids), dtype=np.bool_)
        seen[1:] = (run[0][1:] == run[0][:-1]) & (run[1][1:] == run[1][:-1])
        for earlier in self._runs:
            seen |= _is_among(run, earlier)
        self._keep(run)
        self._shown += len(ids)
        return np.sort(order[seen])

    def number_of(self, one: str, draw: float) -> int:
        """How many ids were shown before this one came first, where ids are numbered."""
        return min(
            int(number)
            for hashes, draws, numbers in self._runs
            for number in numbers[(hashes == hash(one)) & (draws == draw)]
        )

    def _keep(self, run: _Run) -> None:
        """Runs are merged with those that are no longer, so that there are few of them, and each is merged seldom."""
        while self._runs and self._runs[-1][0].size <= run[0].size:
            merged = [np.concatenate(both) for both in zip(self._runs.pop(), run, strict=True)]
            order = np.argsort(merged[0], kind="stable")
            run = tuple(column[order] for column in merged)
        self._runs.append(run)


def _is_among(run: _Run, earlier: _Run) -> NDArray[np.bool_]:
    if not earlier[0].size:
        return np.zeros(run[0].size, dtype=np.bool_)
    place = np.minimum(np.searchsorted(earlier[0], run[0]), earlier[0].size - 1)
    return np.asarray((earlier[0][place] == run[0]) & (earlier[1][place] == run[1]))
