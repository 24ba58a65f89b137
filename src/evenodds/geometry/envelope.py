"""The best point below several concave polylines."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evenodds.geometry.hull import height
from evenodds.geometry.pieces import Floats

__all__ = ["Polyline", "best_below"]

Polyline = tuple[Floats, Floats]
_BESIDE = 1e-9  # vertices that are nearer to each other may differ by rounding alone
_AT_ONCE = 8  # polylines that are looked at first


def best_below(
    polylines: Sequence[Polyline],
    score: Callable[[Floats, Floats], Floats],
    nearest: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """The point at or below all polylines over [0, 1] with the greatest score.

    The lowest of concave polylines is concave. A linear score, or the nearness to a point above, has one hill on it,
    whose top lies beside the best of all the polylines' vertices: only there are crossings looked for.

    Parameters
    ----------
    polylines : sequence of (x, y)
        Each is concave and rises from (0, 0) to (1, 1).
    score : callable (x, y) -> values
        Must not rise with x nor fall with y.
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
    looked_at = list(range(min(len(polylines), _AT_ONCE)))
    while True:
        point = _best_below([polylines[i] for i in looked_at], score, nearest)
        if len(looked_at) == len(polylines):
            return point
        # Of many polylines only a few are the lowest near the best point: the others need not be looked at.
        tops = [float(height(*line, point[0])) for line in polylines]
        lowest = int(np.argmin(tops))
        if lowest in looked_at or tops[lowest] >= point[1]:
            return point
        looked_at.append(lowest)


def _best_below(
    polylines: Sequence[Polyline], score: Callable[[Floats, Floats], Floats], nearest: tuple[float, float] | None
) -> tuple[float, float]:
    """The best point below a few polylines, all of which are looked at."""
    if len(polylines) == 1 and nearest is None:
        x, y = polylines[0]
        top = int(np.argmax(score(x, y)))
        return float(x[top]), float(y[top])
    grid = np.unique(np.concatenate([np.array([0.0, 1.0]), *(x for x, _ in polylines)]))
    heights = np.array([height(x, y, grid) for x, y in polylines])
    best = int(np.argmax(score(grid, heights.min(axis=0))))
    at, low = [grid[best]], [heights[:, best].min()]
    # Vertices that differ by rounding alone make cells that hold nothing: the next ones count as beside it too.
    first, last = np.searchsorted(grid, [grid[best] - _BESIDE, grid[best] + _BESIDE])
    for left in range(max(int(first) - 1, 0), min(int(last), grid.size - 1)):
        # Right of the vertical run that a polyline may have at 0, all are straight within a cell.
        ends = heights[:, left], heights[:, left + 1]
        share = _corners(*ends)
        if nearest is not None:
            share = np.union1d(share, _feet((grid[left], grid[left + 1]), ends, share, nearest))
        at.extend(grid[left] + share * (grid[left + 1] - grid[left]))
        low.extend((ends[0][:, None] + share * (ends[1] - ends[0])[:, None]).min(axis=0))
    x, y = np.array(at), np.array(low)
    top = int(np.argmax(score(x, y)))
    # Where a polyline is almost upright, rounding the place of a crossing moves it above the line by more than that.
    return float(x[top]), min(float(y[top]), *(float(height(*line, x[top])) for line in polylines))


def _corners(left: Floats, right: Floats) -> Floats:
    """Where the lowest of straight lines over [0, 1] changes, ends included: walk from the left, always downwards."""
    at, line = [0.0], int(np.lexsort((right - left, left))[0])
    while at[-1] < 1:
        gap, closing = left - left[line], (right[line] - left[line]) - (right - left)
        with np.errstate(divide="ignore", invalid="ignore"):
            meets = np.where(closing > 0, gap / closing, np.inf)
        meets[meets < at[-1]] = np.inf
        meets[line] = np.inf
        following = meets.min()
        if not following < 1:
            break
        # Of lines that meet there the steepest downwards is the lowest from there on.
        among = np.flatnonzero(meets == following)
        line = int(among[np.argmin((right - left)[among])])
        at.append(float(following))
    return np.array([*at, 1.0])


def _feet(x: tuple[float, float], ends: tuple[Floats, Floats], share: Floats, point: tuple[float, float]) -> Floats:
    """Where each straight stretch of the lowest line is nearest to a point."""
    low = (ends[0][:, None] + share * (ends[1] - ends[0])[:, None]).min(axis=0)
    across, dx, dy = x[0] + share * (x[1] - x[0]), np.diff(share) * (x[1] - x[0]), np.diff(low)
    length = np.maximum(dx**2 + dy**2, np.finfo(float).tiny)
    along = ((point[0] - across[:-1]) * dx + (point[1] - low[:-1]) * dy) / length
    return np.asarray(share[:-1] + np.clip(along, 0, 1) * np.diff(share))
