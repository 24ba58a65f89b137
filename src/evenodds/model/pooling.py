"""Bounds that need no linear program: what no rising curve of a group can do, from its pooled ROC.

Pooling the labels by isotonic regression on the score makes the group's ROC its own hull, and can only raise what a
rising curve collects. Under a slope budget the pooled ROC is blurred as the group's own is (see `reach`); a concave
ROC stays concave, so no rising curve of that slope gets above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from evenodds.geometry.envelope import Polyline
from evenodds.geometry.hull import concave_hull
from evenodds.geometry.moments import Moments, Sample, ramps, ramps_from
from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_root
from evenodds.geometry.threads import by_threads
from evenodds.model.families import family_of
from evenodds.model.groups import Group
from evenodds.model.reach import ON_CURVE, is_sparse, kinks, some_scores
from evenodds.model.roc import LargeRoc, Point, roc_of

__all__ = [
    "UpperBound",
    "is_least_slope",
    "pool_together",
    "pooled",
    "pooled_slope_bound",
    "upper_bound",
    "widest_ramp",
]

_POOLED: WeakKeyDictionary[Group, Sample] = WeakKeyDictionary()
_FIRST_LOOK = 128  # scores that make the first tangents of a smooth bound
_CLOSER = 16  # tangents more around a point
_ROUNDS = 3
_NEWTON_STEPS = 12
_NO_SLOPE = -600.0  # its logarithm
_NEAR = 1e-6  # of a width: how far from a good guess to look first


def pooled(group: Group) -> Sample:
    """The group with its labels pooled by isotonic regression on the score: row 0 its negatives, row 1 its positives.

    The blocks of the regression are the edges of the ROC's hull, so no regression is run.
    """
    known = _POOLED.get(group)
    if known is None:
        known = _POOLED[group] = _PooledSides(group) if group.is_large else _pooled_table(group)
    return known


def pool_together(groups: Sequence[Group]) -> None:
    """Pool large groups side by side, by threads: numpy does most of it without Python's lock."""
    by_threads(pooled, [group for group in groups if group.is_large])


def _pooled_table(group: Group) -> Moments:
    kept = roc_of(group).hull_vertices
    block = np.repeat(np.arange(kept.size - 1), np.diff(kept))[::-1]  # lowest score first, as the group has them
    here = group.negatives + group.positives
    sides = [np.bincount(block, side) for side in (group.negatives, group.positives)]
    total = sides[0] + sides[1]
    weights = np.stack([here * (side / total)[block] for side in sides])
    return Moments(group.scores, weights, weights.sum(axis=1))


class _PooledSides:
    """A large group, pooled: within a block everybody counts as so much negative and so much positive."""

    def __init__(self, group: Group) -> None:
        roc = roc_of(group)
        assert isinstance(roc, LargeRoc)  # noqa: S101 large groups have one
        self._sides = (roc.negatives, roc.positives)
        self._totals = np.array([group.negative_total, group.positive_total])
        lo, hi = group.ends
        self.centre = lo + (hi - lo) / 2
        self._edges = roc.hull_thresholds[:0:-1]  # ascending: block i has the scores from edge i on
        sums = np.stack(
            [np.append(side.before(np.searchsorted(side.points, self._edges))[0], 1.0) for side in self._sides]
        )
        mass = np.diff(sums, axis=1) * self._totals[:, None]
        self._ratio = mass / mass.sum(axis=0)
        # Everybody below each edge, and what of them counts as negative and as positive.
        everybody = self._everybody(self._edges)
        steps = np.diff(np.concatenate([everybody, self._everybody(np.array([np.inf]))], axis=1), axis=1)
        parts = self._ratio[:, None] * steps[None]
        self._below = np.concatenate([np.zeros((2, 2, 1)), np.cumsum(parts, axis=-1)[..., :-1]], axis=-1)
        self._from = everybody

    def _everybody(self, at: Floats) -> Floats:
        """Weight, and sum of weight * (score - centre), of all people below each score, of shape (2, n)."""
        total = np.zeros((2, at.size))
        for side, weight in zip(self._sides, self._totals, strict=True):
            share, moment = side.sums_below(at)
            total += weight * np.stack([share[0], moment[0] + (side.centre - self.centre) * share[0]])
        return total

    def sums_below(self, at: Floats) -> tuple[Floats, Floats]:
        """See `Sample`."""
        block = np.clip(np.searchsorted(self._edges, at, side="right") - 1, 0, self._edges.size - 1)
        beyond = self._everybody(at) - self._from[:, block]
        sums = (self._below[..., block] + self._ratio[:, None, block] * beyond[None]) / self._totals[:, None, None]
        return sums[:, 0], sums[:, 1]


@dataclass(frozen=True, eq=False)
class UpperBound:
    """A concave polyline that no rising curve of a slope exceeds."""

    polyline: Polyline

    @property
    def can_come_closer(self) -> bool:
        """Whether it is drawn in some places only."""
        return False

    def closer(self, near: Point) -> UpperBound:  # noqa: ARG002 what is exact cannot come closer
        """The bound drawn more closely around a point, where that is possible."""
        return self


def upper_bound(group: Group, slope: float) -> UpperBound:
    """What no rising curve of this slope exceeds: exact for few scores, tangents for many."""
    if np.isinf(slope):
        return UpperBound(roc_of(group).hull)
    sample, width = pooled(group), 1 / slope
    if is_sparse(group, family_of("linear"), width):
        return _Tangents.at(sample, *kinks(some_scores(group, _FIRST_LOOK), width))
    return UpperBound(_concave(*ramps(sample, *kinks(group.scores, width))))


def _concave(x: Floats, y: Floats) -> Polyline:
    """The hull of rising rates and of the diagonal's ends; rounding must not let it fall."""
    x, y = (np.maximum.accumulate(np.clip(np.concatenate([[0.0], z, [1.0]]), 0, 1)) for z in (x, y))
    kept = concave_hull(x, y)
    return x[kept], y[kept]


@dataclass(frozen=True, eq=False)
class _Tangents(UpperBound):
    """Tangents to the blurred pooled ROC, which is concave, at ramps with falling t0."""

    sample: Sample
    t0: Floats
    t1: Floats
    rates: Floats
    shares: Floats
    """Of people within each ramp: as t0 falls, FPR and TPR rise by these, so they are the tangent's direction."""

    @classmethod
    def at(cls, sample: Sample, t0: Floats, t1: Floats, *, known: _Tangents | None = None) -> _Tangents:
        """Tangents at new ramps, and at those that are known."""
        n = t0.size
        share, _ = sums = sample.sums_below(np.concatenate([t0, t1]))
        rates = np.clip(ramps_from(sums, t0, t1, sample.centre), 0, 1)
        shares = np.maximum(share[:, n:] - share[:, :n], 0)
        if known is not None:
            order = np.argsort(-np.concatenate([known.t0, t0]), kind="stable")
            t0, t1 = np.concatenate([known.t0, t0])[order], np.concatenate([known.t1, t1])[order]
            rates = np.concatenate([known.rates, rates], axis=1)[:, order]
            shares = np.concatenate([known.shares, shares], axis=1)[:, order]
        return cls(_tangent_line(rates, shares), sample, t0, t1, rates, shares)

    @property
    def can_come_closer(self) -> bool:
        return True

    def closer(self, near: Point) -> _Tangents:
        found = self
        for _ in range(_ROUNDS):
            at = int(np.clip(np.searchsorted(found.rates[0], near.fpr), 1, found.t0.size - 1))
            ends = found.t0[max(at - 2, 0)], found.t0[min(at + 1, found.t0.size - 1)]
            more = np.setdiff1d(np.linspace(*ends, _CLOSER)[1:-1], found.t0)[::-1]
            width = float(self.t1[0] - self.t0[0])
            found = _Tangents.at(self.sample, more, more + width, known=found) if more.size else found
        return found


def _tangent_line(rates: Floats, shares: Floats) -> Polyline:
    """The polyline through the meetings of neighbouring tangents."""
    (x, y), (by_x, by_y) = rates, shares
    falls, rises = by_x[:-1] * by_y[1:], by_y[:-1] * by_x[1:]
    ahead = falls - rises  # <= 0, as the slope falls
    dx, dy = np.diff(x), np.diff(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        along = (dx * by_y[1:] - dy * by_x[1:]) / ahead
    # Between two tangents of one slope a concave line is straight.
    straight = (np.abs(ahead) <= 1e-12 * (falls + rises)) | ~np.isfinite(along)
    along[straight] = 0.0
    meet_x = np.clip(x[:-1] + along * by_x[:-1], x[:-1], x[1:])
    meet_y = np.clip(y[:-1] + along * by_y[:-1], y[:-1], y[1:])
    xs, ys = np.empty(2 * x.size - 1), np.empty(2 * x.size - 1)
    xs[::2], ys[::2], xs[1::2], ys[1::2] = x, y, meet_x, meet_y
    return _concave(xs, ys)


def pooled_slope_bound(group: Group, point: Point, achieved: float) -> float:
    """A slope that no rising curve of the group through the point can fall below: exact where the ROC is concave.

    `achieved` is the slope of some curve through the point, which the bound does not exceed.
    """
    if achieved == 0:
        return 0.0
    widest = widest_ramp(group, point)
    if widest is not None:
        return min((1 - 1e-9) / widest[1], achieved)
    return achieved if is_least_slope(group, point, achieved) else _searched_bound(group, point, achieved)


def widest_ramp(group: Group, point: Point) -> tuple[float, float] | None:
    """Start and width of the pooled group's ramp through the point; None where it is not found, or proves nothing.

    No rising curve of the group through the point is gentler than this ramp, but for 1e-9 of it.
    """
    if point.tpr - point.fpr <= 2 * ON_CURVE:
        return None
    ramp = _ramp_through(group, point)
    if ramp is None or _shortfall(group, point, (1 - 1e-9) / ramp[1], near=ramp[0]) <= 0:
        return None
    return ramp


def _searched_bound(group: Group, point: Point, achieved: float) -> float:
    """The bound by a search that cannot be lost."""
    if np.isinf(group.least_gap):
        return 0.0  # one score: all there is are lotteries
    gaps = np.inf if group.is_large else 4 / group.least_gap  # steeper ones trace the ROC itself
    steep = np.log(min(achieved, gaps))
    if np.isinf(steep):
        return 0.0  # nothing is proven

    def shortfall(log_slope: float) -> float:
        return _shortfall(group, point, float(np.exp(log_slope)))

    if (more := shortfall(steep)) > 0:
        return float(np.exp(steep))
    gentle, factor = steep - 1e-6, 1e-2
    while (short := shortfall(gentle)) <= 0:
        gentle, steep, more = gentle - factor, gentle, short
        factor *= 4
        if gentle < _NO_SLOPE:
            return 0.0  # so gentle that it is none
    above, _ = bracketed_root(shortfall, (gentle, short), (steep, more), 1e-12)
    return float(np.exp(above))


def _ramp_through(group: Group, point: Point) -> tuple[float, float] | None:
    """Start and width of the ramp whose pooled rates are the point, by Newton's method; None where it does not settle.

    With A the sum of (score - t0) within the ramp and S the share there, a rate is A / width + the share above; so it
    changes by -A / width^2 as t1 moves, and by that and S / width less as t0 does.
    """
    sample = pooled(group)
    lo, hi = group.ends
    t0, t1 = lo + 0.25 * (hi - lo), lo + 0.75 * (hi - lo)
    target = np.array([point.fpr, point.tpr])
    for _ in range(_NEWTON_STEPS):
        width = t1 - t0
        (s0, s1), (m0, m1) = (sums.T for sums in sample.sums_below(np.array([t0, t1])))
        inside = m1 - m0 - (t0 - sample.centre) * (s1 - s0)
        miss = inside / width + 1 - s1 - target
        if np.abs(miss).max() <= ON_CURVE:
            return t0, width
        by_t1 = -inside / width**2
        by_t0 = -by_t1 - (s1 - s0) / width
        det = by_t0[0] * by_t1[1] - by_t0[1] * by_t1[0]
        if not abs(det) > 0:
            return None
        move = np.array([miss[0] * by_t1[1] - miss[1] * by_t1[0], by_t0[0] * miss[1] - by_t0[1] * miss[0]]) / det
        move *= min(1.0, 0.5 * width / max(abs(move[1] - move[0]), 1e-300), width / max(*np.abs(move), 1e-300))
        t0, t1 = t0 - float(move[0]), t1 - float(move[1])
    return None


def is_least_slope(group: Group, point: Point, slope: float) -> bool:
    """Whether the pooled ROC proves that no rising curve through the point is gentler than this, but for 1e-9 of it."""
    return slope == 0 or (np.isfinite(slope) and _shortfall(group, point, slope * (1 - 1e-9)) > 0)


def _shortfall(group: Group, point: Point, slope: float, *, near: float | None = None) -> float:
    """How far below the point the blurred pooled ROC stays; less than rounding counts as nothing.

    `near` is a guess of where the ramp starts that has the point's FPR.
    """
    sample, width = pooled(group), 1 / slope
    lo, hi = group.ends[0] - width, group.ends[1]
    slack = ON_CURVE
    if group.is_large:  # prefix sums are all there is
        slack += 8 * np.finfo(float).eps * (hi - lo) / width

    def rates(t0: float) -> Floats:
        return ramps(sample, np.array([t0]), np.array([t0 + width]))[:, 0]

    # FPR falls with t0; of a level run of it, which rounding must not cut, the leftmost has the highest TPR.
    def beyond(t0: float) -> float:
        return float(rates(t0)[0]) - (point.fpr + slack)

    if near is not None:
        around = max(near - _NEAR * width, lo), min(near + _NEAR * width, hi)
        if beyond(around[0]) > 0 >= beyond(around[1]):
            lo, hi = around
    first = beyond(lo)
    t0 = lo if first <= 0 else bracketed_root(beyond, (lo, first), (hi, beyond(hi)), 1e-13 * width)[1]
    return point.tpr - slack - float(rates(t0)[1])
