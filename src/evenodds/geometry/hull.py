"""Planar polylines that rise from (0, 0) to (1, 1): concave hulls, and heights above a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.geometry.pieces import Floats

__all__ = ["concave_hull", "height", "height_before"]

_FEW = 256  # points that are quicker one by one
_WORTH_IT = 0.95  # share of points left by a pass after which another one does not pay


def concave_hull(x: Floats, y: Floats) -> NDArray[np.intp]:
    """Positions of the vertices of the least concave majorant of points sorted by x, then y.

    Andrew's monotone chain, upper half, with the points that lie on an edge left out.

    >>> concave_hull(np.array([0.0, 0.2, 0.5, 1.0]), np.array([0.0, 0.6, 0.7, 1.0]))
    array([0, 1, 3])
    """
    left = _not_below_neighbours(x, y)
    kept: list[int] = []
    xs, ys = x[left].tolist(), y[left].tolist()
    for i, (xi, yi) in enumerate(zip(xs, ys, strict=True)):
        while len(kept) > 1:
            o, a = kept[-2], kept[-1]
            if (xs[a] - xs[o]) * (yi - ys[o]) < (ys[a] - ys[o]) * (xi - xs[o]):
                break
            kept.pop()
        kept.append(i)
    return left[kept]


def _not_below_neighbours(x: Floats, y: Floats) -> NDArray[np.intp]:
    """Drop, many at a time, points on or below the line between their neighbours: no hull has them as vertices.

    Every other point is looked at, so that of two equal neighbours one stays.
    """
    left = np.arange(x.size)
    before = np.inf
    while _FEW < left.size < _WORTH_IT * before:
        before = left.size
        for first in (1, 2):
            i = np.arange(first, left.size - 1, 2)
            o, a, b = left[i - 1], left[i], left[i + 1]
            below = (x[a] - x[o]) * (y[b] - y[o]) >= (y[a] - y[o]) * (x[b] - x[o])
            left = np.delete(left, i[below])
    return left


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
