"""The best point below several rising polylines, found exactly without looking at every vertex."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evenodds.geometry.hull import height, height_before
from evenodds.geometry.pieces import Floats

__all__ = ["Polyline", "best_below"]

Polyline = tuple[Floats, Floats]

_CELLS = 64  # first cut of [0, 1]
_SPLIT = 8  # further cuts of a cell
_FEW = 4096  # vertices that are looked at one by one
_ROUNDS = 20


def best_below(
    polylines: Sequence[Polyline],
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
    edges = np.linspace(0.0, 1.0, _CELLS + 1)
    lo, hi = edges[:-1], edges[1:]
    while True:
        best = max(float(score(x, _lowest(polylines, x)).max()) for x in (lo, hi))
        # Rounding must not close the cell that holds the best point.
        promising = score(lo, _lowest(polylines, hi)) >= best - 1e-12
        lo, hi = lo[promising], hi[promising]
        inside = sum(int(np.sum(np.searchsorted(x, hi, "right") - np.searchsorted(x, lo))) for x, _ in polylines)
        if inside <= _FEW or float((hi - lo).max()) < 1e-9:  # noqa: PLR2004 a spike of vertices: all of them, then
            break
        cuts = np.linspace(lo, hi, _SPLIT + 1, axis=1)
        lo, hi = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
    at = np.unique(np.concatenate([lo, hi, *(_within(x, lo, hi) for x, _ in polylines)]))
    at = _with_crossings(polylines, at)
    if nearest is not None:
        at = np.union1d(at, _feet(polylines, at, nearest))
    low = _lowest(polylines, at)
    best = int(np.argmax(score(at, low)))
    return float(at[best]), float(low[best])


def _lowest(polylines: Sequence[Polyline], at: Floats) -> Floats:
    return np.asarray(np.min([height(x, y, at) for x, y in polylines], axis=0))


def _within(x: Floats, lo: Floats, hi: Floats) -> Floats:
    """The vertices that lie in any of the cells."""
    cell = np.searchsorted(hi, x)
    inside = (cell < hi.size) & (x >= lo[np.minimum(cell, hi.size - 1)])
    return np.asarray(x[inside])


def _with_crossings(polylines: Sequence[Polyline], at: Floats) -> Floats:
    """Add where the lowest polyline changes, until it is the same at both ends of every interval."""
    for _ in range(_ROUNDS):
        # Just right of a vertical run and just left of the next one, each polyline is straight.
        left = np.array([height(x, y, at[:-1]) for x, y in polylines])
        right = np.array([height_before(x, y, at[1:]) for x, y in polylines])
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


def _feet(polylines: Sequence[Polyline], at: Floats, point: tuple[float, float]) -> Floats:
    """Where each straight stretch of the lowest polyline is nearest to a point."""
    left = np.min([height(x, y, at[:-1]) for x, y in polylines], axis=0)
    right = np.min([height_before(x, y, at[1:]) for x, y in polylines], axis=0)
    dx, dy = np.diff(at), right - left
    share = ((point[0] - at[:-1]) * dx + (point[1] - left) * dy) / (dx**2 + dy**2)
    return np.asarray(at[:-1] + np.clip(share, 0, 1) * dx)
