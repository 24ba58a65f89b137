"""What (FPR, TPR) each group can reach under a slope budget: the hull of its blurred ROC.

Without a budget a group reaches whatever lies below the hull of its ROC. Under a slope budget L the region shrinks. A
curve of slope L at position t0 is a threshold on the score *blurred* by noise whose distribution function is the curve;
as it moves, its (FPR, TPR) trace the blurred ROC. For the linear curve the noise is uniform of width 1/L, and the
blurred ROC is a polyline with a kink wherever an end of the ramp meets a score.

A mix of two such curves rises, is as gentle and as smooth as they are, and reaches every point of the segment between
theirs. So a group reaches the whole *hull* of its blurred ROC, and with it everything down to the diagonal. A blurred
ROC with dents may be exceeded by one that is blurred more, so the hull is taken over a ladder of gentler widths too.

Every vertex of a reach is the exact point of a curve that is known. Where there are too many kinks to look at, or the
blurred ROC is an arc, some places are looked at first, and more around the point that is chosen: the polygon through
them lies inside the reach, so whatever is found in it can be reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from evenodds.geometry.envelope import Polyline
from evenodds.geometry.hull import concave_hull, height
from evenodds.geometry.moments import ramps
from evenodds.geometry.pieces import Floats
from evenodds.model.families import Family
from evenodds.model.groups import Group
from evenodds.model.roc import Point, roc_of

__all__ = ["ON_CURVE", "Placed", "Reach", "is_sparse", "kinks", "reach_inside", "reach_of", "some_scores"]

ON_CURVE = 1e-12
"""Rates nearer than this are the same point: the error of summing them in another order."""
LADDER = 4.0 ** (np.arange(1, 7) / 6)
"""How many times wider the gentler curves are whose blurred ROC may stick out."""
_NARROW = 1e-9  # of the score range: no curve need be narrower
_PLACES = 64  # floating-point numbers over which a curve must at least extend
_FEW_SCORES = 300  # scores whose kinks make the first vertices of an arc
_FEW_ROUGHLY = 100  # the same in a first search
_FEW_RAMPS = 2000  # scores up to which the linear curve's polyline has all its vertices
_SMOOTH = 500  # scores within a ramp that make the blurred ROC smooth
_ARC = 16  # places along an arc, over a curve's width
_FIRST_LOOK = 64  # scores that make the first vertices of a smooth one
_FINER = 20  # places that are looked at in each gap beside a vertex
_BELOW = 0.02  # how far below the border a curve may lie whose neighbours are looked at
_HIGHEST = 3  # so many of them in each trace
_REFINEMENTS = 2  # each makes the arcs around a point twenty times finer
_DIRECTLY = 1 << 21  # odds of so many positions and scores are summed one by one
_FEW_INSIDE = 60  # scores whose kinks count where thresholds are bound
_INSIDE_WIDTHS = 6  # from the budget's own width to the whole score range
_INSIDE_P = 2  # shapes to each side of p = 1/2


@dataclass(frozen=True)
class Placed:
    """The thresholds and the shape of a curve; t0 = t1 is a single threshold."""

    t0: float
    t1: float
    p: float


@dataclass(frozen=True, eq=False)
class Trace:
    """Curves of one width and shape at falling positions, and their (FPR, TPR), of shape (2, n)."""

    p: float
    t0: Floats
    t1: Floats
    rates: Floats
    is_exact: bool
    """Whether the blurred ROC is straight between neighbours."""


@dataclass(frozen=True, eq=False)
class Reach:
    """The hull of one group's traces: a convex region, of which the upper border matters unless thresholds are bound.

    `rising` says that (0, 0) and (1, 1) are among the vertices, so that all points down to the diagonal are in reach.
    """

    group: Group
    family: Family
    traces: tuple[Trace, ...]
    rising: bool = True

    @property
    def is_exact(self) -> bool:
        """Whether more places to look at would change nothing."""
        return all(trace.is_exact for trace in self.traces)

    @cached_property
    def _points(self) -> Floats:
        """Of all traces, in one array of shape (2, n)."""
        every = np.concatenate([np.zeros((2, 0)), *(trace.rates for trace in self.traces)], axis=1)
        return np.asarray(np.clip(every, 0.0, 1.0))

    @cached_property
    def _upper(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        """Which points are vertices of the upper border, from the left."""
        x, y = self._points
        order = np.lexsort((y, x))
        return order[concave_hull(x[order], y[order])]

    @cached_property
    def upper(self) -> Polyline:
        """The upper border, from (0, 0) to (1, 1) where these are in reach."""
        fpr, tpr = self._points[:, self._upper]
        return fpr, tpr

    @cached_property
    def _lower(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        x, y = self._points
        order = np.lexsort((-y, x))
        return order[concave_hull(x[order], -y[order])]

    @cached_property
    def _border(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        lower = np.zeros(0, np.intp) if self.rising else self._lower
        return np.unique(np.concatenate([self._upper, lower]))

    @property
    def border_rates(self) -> Floats:
        """(FPR, TPR) of the vertices, of shape (2, n)."""
        return self._points[:, self._border]

    @cached_property
    def border(self) -> list[Placed]:
        """The curves at the vertices."""
        return [self._placed(int(which)) for which in self._border]

    def height(self, fpr: float) -> float:
        """The highest TPR in reach at an FPR."""
        return float(height(*self.upper, fpr))

    def shortfall(self, point: Point) -> float:
        """How far a point lies outside; zero or negative for points in reach."""
        if self.rising:
            return point.tpr - self.height(point.fpr)
        if not self.traces:
            return np.inf  # so gentle a curve does not fit between the scores
        return max(
            _outside(self._points[:, self._upper], point),
            _outside(self._points[:, self._lower] * [[1], [-1]], Point(point.fpr, -point.tpr)),
        )

    def edge(self, point: Point) -> tuple[tuple[float, Placed], tuple[float, Placed]]:
        """The two curves at the ends of the edge that a point of the border lies on, and the share of each."""
        borders = [self._upper] if self.rising else [self._upper, self._lower]
        best: tuple[float, int, int, float] | None = None
        for border in borders:
            at = self._points[:, border]
            start, along = at[:, :-1], np.diff(at, axis=1)
            length = np.maximum((along**2).sum(axis=0), np.finfo(float).tiny)
            to = np.array([[point.fpr], [point.tpr]]) - start
            share = np.clip((to * along).sum(axis=0) / length, 0, 1)
            off = np.abs(to - share * along).max(axis=0)
            k = int(np.argmin(off))
            if best is None or off[k] < best[0]:
                best = float(off[k]), int(border[k]), int(border[k + 1]), float(share[k])
        assert best is not None  # noqa: S101 there is always a border
        _, first, last, share_of_last = best
        return (1 - share_of_last, self._placed(first)), (share_of_last, self._placed(last))

    def _placed(self, which: int) -> Placed:
        for trace in self.traces:
            if which < trace.t0.size:
                return Placed(float(trace.t0[which]), float(trace.t1[which]), trace.p)
            which -= trace.t0.size
        raise IndexError(which)

    def refined(self, near: Point) -> Reach:
        """Looked at in more places where the border around a point may lie a little higher."""
        reach = self
        for _ in range(0 if self.is_exact else _REFINEMENTS):
            fpr, tpr = reach.upper
            at = int(np.clip(np.searchsorted(fpr + tpr, near.fpr + near.tpr), 1, fpr.size - 1))
            ends = sorted({max(at - 2, 0), at - 1, at, min(at + 1, fpr.size - 1)})
            normals = np.array([[-(tpr[b] - tpr[a]), fpr[b] - fpr[a]] for a, b in pairwise(ends)])
            normals /= np.maximum(np.hypot(*normals.T)[:, None], np.finfo(float).tiny)
            highest = (normals * np.array([[fpr[a], tpr[a]] for a in ends[:-1]])).sum(axis=1)
            traces = []
            for trace in reach.traces:
                # Beside a point that is highest in the direction of an edge there may be higher ones.
                below = highest[:, None] - normals @ trace.rates
                left, right = (np.pad(below, ((0, 0), pad), constant_values=np.inf) for pad in ((1, 0), (0, 1)))
                rises, falls = left[:, :-1] - below, right[:, 1:] - below
                local = (rises >= 0) & (falls >= 0) & (rises + falls > 0) & (below <= _BELOW)
                order = np.argsort(np.where(local, below, np.inf), axis=1)[:, :_HIGHEST]
                near_by = np.unique(order[np.take_along_axis(local, order, axis=1)])
                traces.append(trace if trace.is_exact or not near_by.size else reach._finer(trace, near_by.tolist()))
            reach = replace(reach, traces=tuple(traces))
        return reach

    def _finer(self, trace: Trace, around: Sequence[int]) -> Trace:
        """More places between the neighbours of some positions."""
        gaps = {gap for at in around for gap in (at - 1, at) if 0 <= gap < trace.t0.size - 1}
        more = [np.linspace(trace.t0[gap], trace.t0[gap + 1], _FINER + 1)[1:-1] for gap in gaps]
        t0 = np.setdiff1d(np.concatenate([np.zeros(0), *more]), trace.t0)
        new = _trace(self.group, self.family, t0, np.interp(t0, trace.t0[::-1], trace.t1[::-1]), trace.p)
        order = np.argsort(-np.concatenate([trace.t0, new.t0]), kind="stable")
        return Trace(
            trace.p,
            np.concatenate([trace.t0, new.t0])[order],
            np.concatenate([trace.t1, new.t1])[order],
            np.concatenate([trace.rates, new.rates], axis=1)[:, order],
            is_exact=False,
        )


def _outside(border: Floats, point: Point) -> float:
    """How far above a concave border from left to right, or beside its ends, a point lies."""
    x, y = border
    beside = max(x[0] - point.fpr, point.fpr - x[-1])
    return max(float(beside), point.tpr - float(height(x, y, min(max(point.fpr, x[0]), x[-1]))))


def reach_of(group: Group, family: Family, slope: float, *, roughly: bool = False) -> Reach:
    """What a group reaches with mixes of curves of a family whose slopes are at most `slope`; roughly for a search."""
    if np.isinf(slope):
        return _unlimited(group, family)
    width = least_width(group, family, slope)
    if width <= group.least_gap and group.least_gap > _PLACES * np.spacing(max(map(abs, group.ends))):
        # A curve that ends at one score and begins above the next lower one is the threshold.
        roc = roc_of(group)
        t0, t1 = np.append(roc.scores[0], roc.scores - width), np.append(roc.scores[0] + width, roc.scores)
        return Reach(group, family, (Trace(0.5, t0, t1, np.stack([roc.fpr, roc.tpr]), is_exact=True),))
    sparse = is_sparse(group, family, width)
    if not sparse:
        scores = group.scores
    elif family.is_straight:
        scores = some_scores(group, _FIRST_LOOK)
    else:
        scores = _along(group, some_scores(group, _FEW_ROUGHLY if roughly else _FEW_SCORES), width)
    # Of many scores the blurred ROC has no dents to speak of; a first search looks for dents only where that is cheap.
    ladder = not sparse if roughly else group.score_count <= _FEW_RAMPS
    traces = [_rising(_trace(group, family, *kinks(scores, width), 0.5))]
    if ladder:
        scores = _along(group, some_scores(group, _FEW_ROUGHLY), width) if sparse else scores
        traces += [_rising(_trace(group, family, *kinks(scores, width * wider), 0.5)) for wider in LADDER.tolist()]
    return Reach(group, family, tuple(traces))


def _along(group: Group, scores: Floats, width: float) -> Floats:
    """Scores, and places between them where these are too far apart to follow an arc."""
    lo, hi = group.ends
    more = int(np.clip(_ARC * (hi - lo) / width, _ARC, 4 * _ARC))
    return np.union1d(scores, np.linspace(lo, hi, more))


def _rising(trace: Trace) -> Trace:
    """From (0, 0), beyond the highest score, to (1, 1), below the lowest: rounding must not cut these off."""
    trace.rates[:, 0], trace.rates[:, -1] = 0.0, 1.0
    return trace


def _unlimited(group: Group, family: Family) -> Reach:
    """The hull of the ROC itself, by single thresholds."""
    roc = roc_of(group)
    at = roc.hull_thresholds
    return Reach(group, family, (Trace(0.5, at, at, np.stack(roc.hull), is_exact=True),))


def reach_inside(group: Group, family: Family, slope: float, inside: tuple[float, float]) -> Reach:
    """What a group reaches with mixes of curves whose thresholds both stay between two scores.

    Then wide curves cannot be placed anywhere, so widths up to the whole range and shapes besides the symmetric one
    count as well. Without a slope budget curves are as narrow as floating-point numbers can place.
    """
    lo, hi = inside
    scores = some_scores(group, _FEW_INSIDE)
    traces = []
    for p in family.p_grid(_INSIDE_P).tolist():
        least = max(least_width(group, family, slope, p), _PLACES * float(np.spacing(max(abs(lo), abs(hi)))))
        if least > (hi - lo) * (1 + 1e-12):
            continue
        for width in np.geomspace(least, hi - lo, _INSIDE_WIDTHS).tolist() if least < hi - lo else [hi - lo]:
            narrow = width == least and group.score_count <= _FEW_RAMPS
            t0, t1 = kinks(group.scores if narrow else scores, width)
            within = (t0 >= lo) & (t1 <= hi)
            t0, t1 = np.concatenate([[hi - width], t0[within], [lo]]), np.concatenate([[hi], t1[within], [lo + width]])
            traces.append(replace(_trace(group, family, t0, t1, p), is_exact=False))
    return Reach(group, family, tuple(traces), rising=False)


def least_width(group: Group, family: Family, slope: float, p: float = 0.5) -> float:
    """The width of a curve with this slope, or one that is as good as narrower ones.

    A curve that fits into every gap between scores is a threshold. A wider curve is gentler, so what it reaches is
    within the budget too.
    """
    lo, hi = group.ends
    enough = _NARROW * (hi - lo) if group.is_large else min(group.least_gap, max(hi - lo, 1.0)) / 2
    return max(float(family.unit_slope(p)) / slope, enough)


def is_sparse(group: Group, family: Family, width: float) -> bool:
    """Whether a blurred ROC is looked at in some places only: it is an arc, or has too many kinks for more."""
    if not family.is_straight:
        return True
    lo, hi = group.ends
    return group.score_count > _FEW_RAMPS and width * group.score_count > _SMOOTH * (hi - lo)


def some_scores(group: Group, count: int) -> Floats:
    """So many of the group's scores, evenly by rank within each label, the ends among them."""
    places = (np.linspace(0, s.size - 1, min(count, s.size)).astype(np.intp) for s in group.score_lists)
    return np.unique(np.concatenate([s[at] for s, at in zip(group.score_lists, places, strict=True)]))


def kinks(scores: Floats, width: float) -> tuple[Floats, Floats]:
    """The thresholds of curves, falling, of which either end meets one of the scores.

    Where floating-point numbers are too far apart for the width, curves are as much wider as it takes; and everywhere
    by so little that rounding makes none of them steeper.
    """
    place = np.spacing(np.abs(scores) + width)
    room = np.maximum(width + 4 * place, _PLACES * place)
    t0, t1 = np.concatenate([scores, scores - room]), np.concatenate([scores + room, scores])
    _, first = np.unique(t0, return_index=True)
    return t0[first[::-1]], t1[first[::-1]]


def _trace(group: Group, family: Family, t0: Floats, t1: Floats, p: float) -> Trace:
    width = float(np.min(t1 - t0, initial=np.inf))
    return Trace(p, t0, t1, _rates(group, family, t0, t1, p), is_exact=not is_sparse(group, family, width))


def _rates(group: Group, family: Family, t0: Floats, t1: Floats, p: float) -> Floats:
    """(FPR, TPR) of curves of one width and shape, of shape (2, n); of straight ramps quickly, from prefix sums."""
    samples = group.moments.samples
    if family.is_straight and p == 0.5 and all(sample.is_wide(t1 - t0) for sample in samples):  # noqa: PLR2004
        return np.concatenate([ramps(sample, t0, t1) for sample in samples])
    if p == 0.5 and group.score_count <= _FEW_RAMPS and t0.size * group.score_count <= _DIRECTLY:  # noqa: PLR2004
        x = np.clip((group.scores - t0[:, None]) / (t1 - t0)[:, None], 0.0, 1.0)
        return np.asarray(group.shares @ family.symmetric(x).T)
    return group.moments.expectation(family.layout(t0, t1, p)).T
