"""Planar polylines that rise from (0, 0) to (1, 1): concave hulls, and heights above a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.geometry.pieces import Floats

__all__ = ["concave_hull", "height", "height_before"]


def concave_hull(x: Floats, y: Floats) -> NDArray[np.intp]:
    """Positions of the vertices of the border of points above the line from the first to the last, from left to right.

    The points are sorted by x + y. Seen along the diagonal, u = x + y and v = y - x, the border is the least concave
    majorant of v over u; its slopes are the isotonic regression of those between neighbours, weighted by their run.
    The border below the line is that of the points with x and y exchanged.

    >>> concave_hull(np.array([0.0, 0.2, 0.5, 1.0]), np.array([0.0, 0.6, 0.7, 1.0]))
    array([0, 1, 3])
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415 slow to load

    u, v = x + y, y - x
    kept = np.arange(u.size)
    if not (u[1:] > u[:-1]).all():  # of points at the same place along the diagonal only the highest counts
        order = np.lexsort((v, u))
        kept = order[np.append(u[order[1:]] > u[order[:-1]], True)]
        u, v = u[kept], v[kept]
    if kept.size < 3:  # noqa: PLR2004 a line has no vertex between its ends
        return kept
    run = u[1:] - u[:-1]
    pooled = isotonic_regression((v[1:] - v[:-1]) / run, weights=run, increasing=False)
    return np.asarray(kept[pooled.blocks])


def height(x: Floats, y: Floats, at: ArrayLike) -> Floats:
    """The top of a rising polyline above `at` (a vertical run counts with its upper end).

    >>> height(np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.4, 1.0]), [0.0, 0.5, 1.0])
    array([0.4, 0.7, 1. ])
    """
    right = np.minimum(np.searchsorted(x, at, side="right"), x.size - 1)
    return _between(x, y, at, right, on_vertical=1.0)


def height_before(x: Floats, y: Floats, at: ArrayLike) -> Floats:
    """The height just left of `at`: a vertical run counts with its lower end.

    >>> height_before(np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.2, 0.8, 1.0]), [0.5, 0.75])
    array([0.2, 0.9])
    """
    right = np.clip(np.searchsorted(x, at, side="left"), 1, x.size - 1)
    return _between(x, y, at, right, on_vertical=0.0)


def _between(x: Floats, y: Floats, at: ArrayLike, right: NDArray[np.intp], *, on_vertical: float) -> Floats:
    """Heights on the edges that end in the vertices `right`; on a vertical edge at a share of it."""
    run, past = x[right] - x[right - 1], np.asarray(at, dtype=np.float64) - x[right - 1]
    share = np.where(run > 0, np.clip(past / np.where(run > 0, run, 1.0), 0.0, 1.0), on_vertical)
    return np.asarray(y[right - 1] + share * (y[right] - y[right - 1]))
