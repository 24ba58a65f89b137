"""What curves through a point are judged by."""

from __future__ import annotations

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.model.curves import CERTAIN, is_random
from evenodds.model.families import where_unit_odds_are
from evenodds.model.groups import Group
from evenodds.model.path import Path

__all__ = ["TIE", "best_of", "randomized_fraction", "roughness", "score_sensitivity"]

TIE = 1e-9
"""Measures this close (relative) are equal; where thresholds lie beyond the scores, many p tie."""
_FINEST = 1e-8  # where odds turn certain need not be known better


def roughness(path: Path) -> Floats:
    """The integral of the squared second derivative: 12 (p^2/q^3 + q^2/p^3) / D^3 for the cubic, for example."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isinf(path.t0), 0.0, path.family.unit_roughness(path.p) / (path.t1 - path.t0) ** 3)


def score_sensitivity(path: Path, group: Group) -> Floats:
    """The expected change of odds when the score errs by d to either side: E[odds(R + d) - odds(R - d)].

    d is 1 % of the group's score range, or half the median gap between its scores if that is more.
    """
    scores = group.scores
    gaps = np.diff(scores)
    if not gaps.size or np.isinf(path.t0).any():
        return np.zeros(path.p.shape)
    d = max(0.01 * float(scores[-1] - scores[0]), float(np.median(gaps)) / 2)
    everybody = group.everybody
    change = np.full(path.p.shape, np.nan)
    ramps = np.flatnonzero(path.found & (path.t1 > path.t0))
    t0, t1, p = path.t0[ramps], path.t1[ramps], path.p[ramps]
    ahead, behind = (everybody.expectation(path.family.layout(t0 + s, t1 + s, p), quick=True) for s in (-d, d))
    change[ramps] = ahead - behind
    steps = np.flatnonzero(path.found & (path.t1 == path.t0))
    lo, hi = (everybody.below(np.searchsorted(scores, path.t0[steps] + s)) for s in (-d, d))
    change[steps] = hi - lo
    return change


def randomized_fraction(path: Path, group: Group) -> Floats:
    """The share of the group whose odds are neither 0 nor 1."""
    if np.isinf(path.t0).any():
        return np.where(is_random(path.p), 1.0, 0.0)
    everybody = group.everybody
    share = np.full(path.p.shape, np.nan)
    known = np.flatnonzero(path.found)
    if not path.family.is_continuous:
        own = path.curve(0)(group.scores)
        return np.array([float(everybody.weights[is_random(own)].sum()) / everybody.total])
    width, p = (path.t1 - path.t0)[known], path.p[known]
    lo, hi = (where_unit_odds_are(path.family, odds, p, within=_FINEST) for odds in (CERTAIN, 1 - CERTAIN))
    first = np.searchsorted(group.scores, path.t0[known] + lo * width, side="right")
    last = np.searchsorted(group.scores, path.t0[known] + hi * width, side="left")
    share[known] = np.where(width > 0, everybody.below(np.maximum(last, first)) - everybody.below(first), 0.0)
    return share


def best_of(path: Path, value: Floats) -> int:
    """Position of the least value; of ties the gentlest, and of these the p nearest 1/2."""
    low = value.min()
    ties = np.flatnonzero(value <= low + TIE * abs(low))
    slope = path.lipschitz[ties]
    ties = ties[(slope <= slope.min() * (1 + TIE)) | np.isinf(slope.min())]
    return int(ties[np.argmin(np.abs(path.p[ties] - 0.5))])
