"""What rays cross, without a look at every pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats

__all__ = ["runs_beyond"]

_DOUBTFUL = 1e-9  # an angle, or a distance from the origin: rounding moves both by far less


def runs_beyond(points: Floats, ends: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which points, and which runs of a polyline that the ray from each through the origin may cross beyond it.

    Both are given by coordinate (2, n); run k leads from end k to end k + 1. Pairs ascend by point, then by run.

    Seen from the origin a run covers the angle between its ends, so which points lie opposite is a search among their
    sorted angles; to look at all pairs took most of the time of a fit to many scores. No pair that crosses is missing.

    >>> runs_beyond(np.array([[-1.0], [-1.0]]), np.array([[3.0, 2.0, 1.0], [0.0, 1.0, 2.0]]))
    (array([0]), array([1]))
    """
    round_about = 2 * np.pi
    opposite = np.arctan2(-points[1], -points[0]) % round_about
    order = np.argsort(opposite, kind="stable")
    angle = np.arctan2(ends[1], ends[0])
    turn = (np.diff(angle) + np.pi) % round_about - np.pi
    away = np.hypot(*ends)
    # What a run through the origin is opposite to depends on rounding.
    through = (np.abs(turn) > np.pi - _DOUBTFUL) | (np.minimum(away[:-1], away[1:]) < _DOUBTFUL)
    start = np.where(through, 0.0, (angle[:-1] + np.minimum(turn, 0.0) - _DOUBTFUL) % round_about)
    covered = np.where(through, round_about, np.abs(turn) + 2 * _DOUBTFUL)
    twice = np.concatenate([opposite[order], opposite[order] + round_about])
    first = np.searchsorted(twice, start, side="left")
    count = np.minimum(np.searchsorted(twice, start + covered, side="right") - first, order.size)
    k = np.repeat(np.arange(count.size), count)
    i = order[(first[k] + np.arange(k.size) - np.repeat(np.cumsum(count) - count, count)) % order.size]
    ordered = np.lexsort((k, i))
    return i[ordered], k[ordered]
