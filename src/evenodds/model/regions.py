"""What (FPR, TPR) each group can reach under a slope budget, and the region below all hulls.

Without a budget a group reaches whatever lies below its ROC. Under a slope budget L the region shrinks. A curve of
slope L centred at c is the threshold c on the score *blurred* by noise whose distribution function is the curve; as c
moves, its (FPR, TPR) trace the blurred ROC. For the linear curve the noise is uniform of width 1/L, and the blurred ROC
is a polyline with a kink wherever an end of the ramp meets a score. Below it every point is reached by a curve of the
same family with a slope of at most L (widen the curve).

With many scores a blurred ROC is smooth for all that matters: it is looked at in some places first, and ever more
closely around the point that is chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenodds.geometry.envelope import Polyline
from evenodds.geometry.hull import lower_envelope
from evenodds.geometry.moments import ramps
from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_root
from evenodds.model.curves import layout, unit_slope
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.roc import Point, roc_of

__all__ = [
    "ON_CURVE",
    "above_diagonal",
    "arcs_of",
    "common_region",
    "is_smooth",
    "meetings",
    "rising_line",
    "some_scores",
]

ON_CURVE = 1e-12
"""Rates nearer than this are the same point: the error of summing them in another order."""
_FLAT = 1e-13  # rates nearer than this are the same, but for rounding
_NARROW = 1e-9  # of the score range: no curve need be narrower
_PLACES = 64  # floating-point numbers over which a curve must at least extend
_FEW_SCORES = 500  # scores whose meeting with a curve makes the first vertices of an arc
_FEW_RAMPS = 2000  # scores up to which the linear curve's polyline has all its vertices
_SMOOTH = 500  # scores within a ramp that make the blurred ROC smooth
_FIRST_LOOK = 64  # scores that make the first vertices of a smooth one
_REFINEMENTS = 2  # each makes the arcs around a point twenty times finer


@dataclass(frozen=True, eq=False)
class Arcs:
    """A blurred ROC: the positions t0 of symmetric curves (p = 1/2), falling, and their (FPR, TPR), of shape (2, n).

    Exact at each vertex. Between vertices the linear curve's ROC is straight; the other families' are smooth arcs.
    """

    group: Group
    family: str
    width: float
    t0: Floats
    rates: Floats

    @property
    def polyline(self) -> Polyline:
        """The vertices, from (0, 0) to (1, 1)."""
        return rising_line(self.rates)

    @property
    def is_exact(self) -> bool:
        """Whether the polyline has every vertex, and is straight between them."""
        return self.width == 0 or not is_smooth(self.group, self.family, self.width)

    def finer(self, near: Point) -> Arcs:
        """More vertices around a point, so that straight lines between them are as good as the arcs."""
        if self.width == 0:
            return self
        t0, rates = self.t0, self.rates
        for _ in range(_REFINEMENTS):
            at = int(np.clip(np.searchsorted(rates.sum(axis=0), near.fpr + near.tpr), 1, t0.size - 1))
            more = np.linspace(t0[max(at - 2, 0)], t0[min(at + 1, t0.size - 1)], 62)[1:-1]
            more = np.setdiff1d(more, t0)
            merged = np.concatenate([t0, more])
            order = np.argsort(-merged, kind="stable")
            t0 = merged[order]
            rates = np.concatenate([rates, _rates(self.group, self.family, more, self.width)], axis=1)[:, order]
        return replace(self, t0=t0, rates=rates)

    def highest(self, by: Floats, value: float) -> Point:
        """The highest point of the arcs themselves at which a rate, by[0] FPR + by[1] TPR, has a value."""

        def rates(t0: float) -> Floats:
            return _rates(self.group, self.family, np.array([t0]), self.width)[:, 0]

        def excess(t0: float) -> float:
            """Above 0 left of the point; never 0, since where the rate is flat its left end is wanted."""
            over = float(by @ rates(t0)) - value
            return over if over > _FLAT else -1.0

        lo, hi = self.group.ends[0] - self.width, self.group.ends[1]
        _, t0 = bracketed_root(excess, (lo, excess(lo)), (hi, excess(hi)), 1e-15 * self.width)
        fpr, tpr = rates(t0)
        return Point(float(fpr), float(tpr))


def arcs_of(group: Group, family: str, slope: float) -> Arcs:
    """The blurred ROC of a group; the ROC itself where the curve is no wider than any gap between scores."""
    width = 0.0 if np.isinf(slope) else _width(group, family, slope)
    if width <= group.least_gap:
        roc = roc_of(group)
        return Arcs(group, family, 0.0, roc.scores, np.stack([roc.fpr[1:], roc.tpr[1:]]))
    if not is_smooth(group, family, width):
        scores = group.scores
    else:
        scores = some_scores(group, _FIRST_LOOK if family == "linear" else _FEW_SCORES)
    t0 = meetings(scores, width)
    return Arcs(group, family, width, t0, _rates(group, family, t0, width))


def _width(group: Group, family: str, slope: float) -> float:
    """The width of a symmetric curve with this slope; no less than floating-point numbers can place.

    A wider curve is gentler, so what it reaches is within the budget too.
    """
    lo, hi = group.ends
    least = max(_NARROW * (hi - lo), _PLACES * np.spacing(max(abs(lo), abs(hi))))
    return max(float(unit_slope(family, 0.5)) / slope, float(least))


def is_smooth(group: Group, family: str, width: float) -> bool:
    """Whether a blurred ROC has vertices in some places only: the linear curve's, if it has too many kinks for more."""
    if family != "linear":
        return True
    lo, hi = group.ends
    return group.score_count > _FEW_RAMPS and width * group.score_count > _SMOOTH * (hi - lo)


def some_scores(group: Group, count: int) -> Floats:
    """So many of the group's scores, evenly by rank within each label, the ends among them."""
    places = (np.linspace(0, s.size - 1, min(count, s.size)).astype(np.intp) for s in group.score_lists)
    return np.unique(np.concatenate([s[at] for s, at in zip(group.score_lists, places, strict=True)]))


def meetings(scores: Floats, width: float) -> Floats:
    """The positions, falling, at which either end of a curve meets one of the scores."""
    return np.unique(np.concatenate([scores, scores - width]))[::-1]


def rising_line(rates: Floats) -> Polyline:
    """Rising (FPR, TPR) as a polyline from (0, 0) to (1, 1); rounding must not let it fall."""
    fpr, tpr = np.maximum.accumulate(np.clip(rates, 0, 1), axis=1)
    fpr[-1] = tpr[-1] = 1.0
    return np.append(0.0, fpr), np.append(0.0, tpr)


def above_diagonal(polyline: Polyline) -> Polyline:
    """A polyline where it is above the diagonal, and the diagonal, which a lottery reaches, where it is not."""
    x, y = polyline
    over = y - x
    k = np.flatnonzero(over[:-1] * over[1:] < 0)
    if not k.size and (over >= 0).all():
        return polyline
    crossing = x[k] + over[k] / (over[k] - over[k + 1]) * (x[k + 1] - x[k])
    x, y = np.insert(x, k + 1, crossing), np.insert(y, k + 1, crossing)
    return x, np.maximum(x, y)


def _rates(group: Group, family: str, t0: Floats, width: float) -> Floats:
    """(FPR, TPR) of symmetric curves, of shape (2, n); of straight ramps quickly, from prefix sums."""
    if family == "linear":
        return np.concatenate([ramps(sample, t0, width) for sample in group.moments.samples])
    return group.moments.expectation(layout(family, t0, t0 + width, 0.5)).T


def common_region(joint: JointDistribution) -> tuple[Floats, Floats]:
    """Upper border of the region that every group can reach: the lowest of the hulls, vertex by vertex."""
    return lower_envelope([roc_of(member).hull for member in joint.members])
