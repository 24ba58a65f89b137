"""The best point below several rising polylines, found exactly without looking at every vertex."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from evenodds.geometry.hull import height, height_before
from evenodds.geometry.pieces import Floats

__all__ = ["Line", "Polyline", "best_below"]

Polyline = tuple[Floats, Floats]


class Line(Protocol):
    """A rising polyline of too many vertices to list."""

    def heights(self, at: Floats, /) -> Floats:
        """Its top above each x."""

    def heights_before(self, at: Floats, /) -> Floats:
        """Its height just left of each x."""

    def count(self, lo: Floats, hi: Floats) -> int:
        """How many vertices lie over cells of x."""

    def within(self, lo: Floats, hi: Floats) -> Floats:
        """The x of the vertices over cells."""


@dataclass(frozen=True, eq=False)
class _Listed:
    """A polyline whose vertices are listed."""

    x: Floats
    y: Floats

    @cached_property
    def _never_vertical(self) -> bool:
        return bool((self.x[1:] > self.x[:-1]).all())

    def heights(self, at: Floats, /) -> Floats:
        return np.interp(at, self.x, self.y) if self._never_vertical else height(self.x, self.y, at)

    def heights_before(self, at: Floats, /) -> Floats:
        return np.interp(at, self.x, self.y) if self._never_vertical else height_before(self.x, self.y, at)

    def count(self, lo: Floats, hi: Floats) -> int:
        return int(np.sum(np.searchsorted(self.x, hi, "right") - np.searchsorted(self.x, lo)))

    def within(self, lo: Floats, hi: Floats) -> Floats:
        cell = np.searchsorted(hi, self.x)
        inside = (cell < hi.size) & (self.x >= lo[np.minimum(cell, hi.size - 1)])
        return np.asarray(self.x[inside])


_CELLS = 64  # first cut of [0, 1]
_SPLIT = 8  # further cuts of a cell
_FEW = 4096  # vertices that are looked at one by one
_ROUNDS = 20


def best_below(
    polylines: Sequence[Polyline | Line],
    score: Callable[[Floats, Floats], Floats],
    nearest: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """The point at or below all polylines over [0, 1] with the greatest score.

    Parameters
    ----------
    polylines : sequence of (x, y)
        Each rises from (0, 0) to (1, 1).
    score : callable (x, y) -> values
        Must not rise with x nor fall with y. So the best point lies on the lowest of the polylines, and a cell of x
        whose upper left corner is worse than a point in hand need not be opened.
    nearest : (x, y), optional
        If the score is the nearness to a point: that point. Without it the score is linear, and best at a vertex.

    Examples
    --------
    >>> one = np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.8, 1.0])
    >>> two = np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.9, 1.0])
    >>> x, y = best_below([one, two], lambda x, y: y - x)
    >>> round(x, 6), round(y, 6)
    (0.375, 0.84375)
    """
    lines = [_Listed(*line) if isinstance(line, tuple) else line for line in polylines]
    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    lo, hi = edges[:-1], edges[1:]
    while True:
        at_lo, at_hi = np.split(_lowest(lines, np.concatenate([lo, hi])), 2)
        best = max(float(score(x, y).max()) for x, y in ((lo, at_lo), (hi, at_hi)))
        # Rounding must not close the cell that holds the best point.
        promising = score(lo, at_hi) >= best - 1e-12
        lo, hi = lo[promising], hi[promising]
        inside = sum(line.count(lo, hi) for line in lines)
        if inside <= _FEW or float((hi - lo).max()) < 1e-9:  # noqa: PLR2004 a spike of vertices: all of them, then
            break
        cuts = np.linspace(lo, hi, _SPLIT + 1, axis=1)
        lo, hi = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
    at = np.unique(np.concatenate([lo, hi, *(line.within(lo, hi) for line in lines)]))
    at = _with_crossings(lines, at)
    if nearest is not None:
        at = np.union1d(at, _feet(lines, at, nearest))
    low = _lowest(lines, at)
    best = int(np.argmax(score(at, low)))
    return float(at[best]), float(low[best])


def _lowest(lines: Sequence[Line], at: Floats) -> Floats:
    return np.asarray(np.min([line.heights(at) for line in lines], axis=0))


def _with_crossings(lines: Sequence[Line], at: Floats) -> Floats:
    """Add where the lowest polyline changes, until it is the same at both ends of every interval."""
    for _ in range(_ROUNDS):
        # Just right of a vertical run and just left of the next one, each polyline is straight.
        left = np.array([line.heights(at[:-1]) for line in lines])
        right = np.array([line.heights_before(at[1:]) for line in lines])
        low_left, low_right = left.argmin(axis=0), right.argmin(axis=0)
        k = np.flatnonzero(low_left != low_right)
        i, j = low_left[k], low_right[k]
        gap_left, gap_right = left[j, k] - left[i, k], right[j, k] - right[i, k]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = gap_left / (gap_left - gap_right)
        x = at[k] + share * (at[k + 1] - at[k])
        new = np.setdiff1d(x[np.isfinite(x) & (share > 0) & (share < 1)], at)
        if not new.size:
            break
        at = np.union1d(at, new)
    return at


def _feet(lines: Sequence[Line], at: Floats, point: tuple[float, float]) -> Floats:
    """Where each straight stretch of the lowest polyline is nearest to a point."""
    left = np.min([line.heights(at[:-1]) for line in lines], axis=0)
    right = np.min([line.heights_before(at[1:]) for line in lines], axis=0)
    dx, dy = np.diff(at), right - left
    share = ((point[0] - at[:-1]) * dx + (point[1] - left) * dy) / (dx**2 + dy**2)
    return np.asarray(at[:-1] + np.clip(share, 0, 1) * dx)
