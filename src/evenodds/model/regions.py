"""What (FPR, TPR) each group can reach: its ROC polyline, the concave hull of it, and the region below all hulls.

A vertex of the ROC is a single threshold: "yes from this score on". A point between two neighbouring vertices gives
the people at one score odds of their own. Whatever a non-decreasing curve can reach lies between the diagonal and the
hull (method of Hardt et al., 2016).

Under a slope budget L the region shrinks. A curve of slope L centred at c is the threshold c on the score *blurred* by
noise whose distribution function is the curve; as c moves, its (FPR, TPR) trace the blurred ROC. For the linear curve
the noise is uniform of width 1/L, and the blurred ROC is a polyline with a kink wherever an end of the ramp meets a
score. Below it every point is reached by a curve of the same family with a slope of at most L (widen the curve). Its
hull is all that *any* rising curve of slope L can reach when the ROC is concave, and contained in that otherwise; the
hull of the blurred *pooled* ROC contains that always, since pooling can only raise what a rising curve collects.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.envelope import Polyline
from evenodds.geometry.hull import concave_hull, height, lower_envelope
from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_root
from evenodds.model.curves import layout, unit_slope
from evenodds.model.joint import Group, JointDistribution

__all__ = [
    "ON_CURVE",
    "Point",
    "Roc",
    "above_diagonal",
    "arc_point",
    "arcs_of",
    "blurred",
    "common_region",
    "is_least_slope",
    "pooled",
    "pooled_slope_bound",
    "roc_of",
]

ON_CURVE = 1e-12
"""Rates nearer than this are the same point: the error of summing them in another order."""
_ROCS: WeakKeyDictionary[Group, Roc] = WeakKeyDictionary()  # groups never change, and every stage asks for theirs
_POOLED: WeakKeyDictionary[Group, Group] = WeakKeyDictionary()
_FEW_SCORES = 500  # scores whose meeting with a curve makes the first vertices of an arc
_REFINEMENTS = 6  # each makes the arcs around a point ten times finer


@dataclass(frozen=True)
class Point:
    """A point of the ROC plane.

    >>> Point(0.2, 0.8).distance_to_perfect.__round__(6)
    0.282843
    """

    fpr: float
    tpr: float

    @property
    def distance_to_perfect(self) -> float:
        """Distance from (0, 1)."""
        return float(np.hypot(self.fpr, 1 - self.tpr))


@dataclass(frozen=True, eq=False)
class Roc:
    """One group's ROC polyline.

    Vertex i says yes from `scores[i - 1]` *downwards in rank*: vertex 0 is (0, 0), nobody; vertex i takes the i
    highest scores; the last is (1, 1), everybody.
    """

    scores: Floats
    """Distinct scores, highest first (upward scale)."""
    fpr: Floats
    tpr: Floats

    @cached_property
    def hull_vertices(self) -> NDArray[np.intp]:
        """Which vertices are those of the concave hull."""
        return concave_hull(self.fpr, self.tpr)

    @cached_property
    def hull(self) -> tuple[Floats, Floats]:
        """FPR and TPR of the vertices of the concave hull."""
        return self.fpr[self.hull_vertices], self.tpr[self.hull_vertices]

    @cached_property
    def auc(self) -> float:
        """The area under the polyline: the chance that a positive outranks a negative, ties counted half."""
        return float(np.sum(np.diff(self.fpr) * (self.tpr[1:] + self.tpr[:-1])) / 2)

    def height(self, fpr: float) -> float:
        """The highest TPR of the polyline at this FPR."""
        return float(height(self.fpr, self.tpr, fpr))

    def hull_height(self, fpr: float) -> float:
        """The highest TPR that any non-decreasing curve reaches at this FPR."""
        return float(height(*self.hull, fpr))

    def threshold(self, vertex: int) -> float:
        """The score from which on a vertex says yes; for vertex 0, "nobody", just above the highest score."""
        return float(self.scores[vertex - 1]) if vertex else float(np.nextafter(self.scores[0], np.inf))

    def nearest_to_perfect(self) -> tuple[float, Point]:
        """The single threshold nearest to (0, 1), and where it lies; of several, the highest score."""
        i = int(np.argmin(np.hypot(self.fpr, 1 - self.tpr)))
        return self.threshold(i), Point(float(self.fpr[i]), float(self.tpr[i]))


def roc_of(group: Group) -> Roc:
    """The ROC polyline of a group.

    >>> joint = JointDistribution.from_counts({"a": ([1, 2, 3], [4, 3, 1], [1, 3, 4])})
    >>> roc = roc_of(joint.members[0])
    >>> roc.fpr, roc.tpr, round(roc.auc, 6)
    (array([0.   , 0.125, 0.5  , 1.   ]), array([0.   , 0.5  , 0.875, 1.   ]), 0.757812)
    """
    known = _ROCS.get(group)
    if known is not None:
        return known
    # Counted first and divided afterwards, so that whole counts give rates without a drift.
    counts = (group.negatives, group.negative_total), (group.positives, group.positive_total)
    fpr, tpr = (np.minimum(np.append(0.0, np.cumsum(count[::-1])) / total, 1.0) for count, total in counts)
    fpr[-1] = tpr[-1] = 1.0
    roc = _ROCS[group] = Roc(group.scores[::-1], fpr, tpr)
    return roc


def blurred(group: Group, family: str, slope: float) -> Polyline:
    """The ROC of the score blurred by a family's symmetric curve (p = 1/2) of this slope, from (0,0) to (1,1).

    Exact at each vertex: where an end of the curve meets a score. Between them the linear curve's ROC is straight.
    """
    return arcs_of(group, family, slope).polyline


@dataclass(frozen=True, eq=False)
class Arcs:
    """A blurred ROC: the positions t0 of curves, falling, and their (FPR, TPR), of shape (2, n).

    Between vertices the linear curve's ROC is straight; the other families' are smooth arcs.
    """

    group: Group
    family: str
    width: float
    t0: Floats
    rates: Floats

    @property
    def polyline(self) -> Polyline:
        """The vertices, from (0, 0) to (1, 1)."""
        fpr, tpr = np.maximum.accumulate(np.clip(self.rates, 0, 1), axis=1)  # rounding must not let it fall
        fpr[-1] = tpr[-1] = 1.0
        return np.append(0.0, fpr), np.append(0.0, tpr)

    def finer(self, near: Point) -> Arcs:
        """More vertices around a point, so that straight lines between them are as good as the arcs."""
        t0, rates = self.t0, self.rates
        for _ in range(_REFINEMENTS):
            at = int(np.clip(np.searchsorted(rates.sum(axis=0), near.fpr + near.tpr), 1, t0.size - 1))
            more = np.linspace(t0[max(at - 2, 0)], t0[min(at + 1, t0.size - 1)], 32)[1:-1]
            more = np.setdiff1d(more, t0)
            merged = np.concatenate([t0, more])
            order = np.argsort(-merged, kind="stable")
            t0 = merged[order]
            rates = np.concatenate([rates, _curves(self.group, self.family, more, self.width)], axis=1)[:, order]
        return replace(self, t0=t0, rates=rates)


def arcs_of(group: Group, family: str, slope: float) -> Arcs:
    """The blurred ROC of a group."""
    scores = group.scores
    if np.isinf(slope):
        roc = roc_of(group)
        return Arcs(group, family, 0.0, roc.scores, np.stack([roc.fpr[1:], roc.tpr[1:]]))
    width = float(unit_slope(family, 0.5)) / slope
    if family != "linear" and scores.size > _FEW_SCORES:
        scores = scores[np.linspace(0, scores.size - 1, _FEW_SCORES).astype(np.intp)]
    t0 = np.unique(np.concatenate([scores, scores - width]))[::-1]
    rates = _ramps(group, t0, width) if family == "linear" else _curves(group, family, t0, width)
    return Arcs(group, family, width, t0, rates)


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


def arc_point(group: Group, family: str, slope: float, by: Floats, value: float) -> Point:
    """The point of the blurred ROC at which a rate, by[0] FPR + by[1] TPR, has a value."""
    width = float(unit_slope(family, 0.5)) / slope

    def rates(t0: float) -> Floats:
        return _curves(group, family, np.array([t0]), width)[:, 0]

    def excess(t0: float) -> float:
        return float(by @ rates(t0)) - value

    lo, hi = float(group.scores[0]) - width, float(group.scores[-1])
    _, t0 = bracketed_root(excess, (lo, excess(lo)), (hi, excess(hi)), 1e-15 * width)
    fpr, tpr = rates(t0)
    return Point(float(fpr), float(tpr))


def _curves(group: Group, family: str, t0: Floats, width: float) -> Floats:
    """(FPR, TPR) of symmetric curves, of shape (2, n)."""
    return group.moments.expectation(layout(family, t0, t0 + width, 0.5)).T


def _ramps(group: Group, t0: Floats, width: float) -> Floats:
    """(FPR, TPR) of straight ramps from prefix sums, in O(n): the linear curve's case of `_curves`."""
    middle, share, moment = group.prefix
    first, last = np.searchsorted(group.scores, t0), np.searchsorted(group.scores, t0 + width)
    inside = moment[:, last] - moment[:, first] - (t0 - middle) * (share[:, last] - share[:, first])
    return np.asarray(inside / width + share[:, -1:] - share[:, last])


def pooled(group: Group) -> Group:
    """The group with its labels pooled by isotonic regression on the score: its ROC is the hull of the old one.

    The blocks of the regression are the edges of the hull, so no regression is run.
    """
    known = _POOLED.get(group)
    if known is not None:
        return known
    roc = roc_of(group)
    kept = roc.hull_vertices
    block = np.repeat(np.arange(kept.size - 1), np.diff(kept))[::-1]  # lowest score first, as the group has them
    here = group.negatives + group.positives
    sides = [np.bincount(block, side) for side in (group.negatives, group.positives)]
    total = sides[0] + sides[1]
    negatives, positives = (here * (side / total)[block] for side in sides)
    merged = _POOLED[group] = Group(group.key, group.scores, negatives, positives, group.people)
    return merged


def pooled_slope_bound(group: Group, point: Point, achieved: float) -> float:
    """A slope that no rising curve of the group through the point can fall below: exact where the ROC is concave.

    `achieved` is the slope of some curve through the point, which the bound does not exceed.
    """
    if achieved == 0 or point.tpr - point.fpr <= 2 * ON_CURVE:
        return 0.0
    steep = np.log(min(achieved, 4 / float(np.diff(group.scores).min())))  # steeper ones trace the ROC itself

    def shortfall(log_slope: float) -> float:
        return _pooled_shortfall(group, point, float(np.exp(log_slope)))

    if (more := shortfall(steep)) > 0:
        return float(np.exp(steep))
    gentle, factor = steep - 1e-6, 1e-2
    while (short := shortfall(gentle)) <= 0:
        gentle, steep, more = gentle - factor, gentle, short
        factor *= 4
    above, _ = bracketed_root(shortfall, (gentle, short), (steep, more), 1e-12)
    return float(np.exp(above))


def is_least_slope(group: Group, point: Point, slope: float) -> bool:
    """Whether the pooled ROC proves that no rising curve through the point is gentler than this, but for 1e-9 of it."""
    return slope == 0 or _pooled_shortfall(group, point, slope * (1 - 1e-9)) > 0


def _pooled_shortfall(group: Group, point: Point, slope: float) -> float:
    """How far below the point the blurred pooled ROC stays; less than rounding counts as nothing."""
    return point.tpr - ON_CURVE - float(height(*blurred(pooled(group), "linear", slope), point.fpr))


def common_region(joint: JointDistribution) -> tuple[Floats, Floats]:
    """Upper border of the region that every group can reach: the lowest of the hulls, vertex by vertex."""
    return lower_envelope([roc_of(member).hull for member in joint.members])
