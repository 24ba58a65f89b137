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

All groups are looked at in one call: their curves stand one group after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.envelope import Polyline
from evenodds.geometry.hull import concave_hull, height
from evenodds.geometry.pieces import Floats
from evenodds.geometry.stack import Stack
from evenodds.model.families import Family
from evenodds.model.groups import Group
from evenodds.model.roc import Point
from evenodds.model.traces import (
    FEW_SCORES,
    LADDER,
    PLACES,
    Gentler,
    Placed,
    Traces,
    has_ladder,
    inside_traces,
    ladder_traces,
    least_width,
    one_trace,
    own_trace,
)

__all__ = ["ON_CURVE", "Reach", "reach_of", "reaches_inside", "reaches_of", "refined"]

ON_CURVE = 1e-12
"""Rates nearer than this are the same point: the error of summing them in another order."""
_REFINED = 20  # places that are looked at in each gap beside a vertex
_BELOW = 0.02  # how far below the border a curve may lie beside which more are looked at
_HIGHEST = 3  # such curves in each trace
_REFINEMENTS = 2  # each makes the arcs around a point twenty times finer

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Reach:
    """The hull of one group's traces: a convex region, whose lower border matters only where thresholds are bound."""

    group: Group
    family: Family
    traces: Traces
    rates: Floats
    """(FPR, TPR) of the curves, of shape (2, n)."""
    has_diagonal: bool = True
    """Whether (0, 0) and (1, 1) are among the vertices, so that all points down to the diagonal are in reach."""

    @property
    def is_exact(self) -> bool:
        """Whether more places to look at would change nothing."""
        return bool(self.traces.exact.all())

    @cached_property
    def _order(self) -> Index:
        """The curves along the diagonal."""
        return np.argsort(self.rates[0] + self.rates[1], kind="stable")

    @cached_property
    def _upper(self) -> Index:
        """Which curves are vertices of the upper border, from the left."""
        x, y = self.rates[:, self._order]
        return self._order[concave_hull(x, y)]

    @cached_property
    def upper(self) -> Polyline:
        """The upper border, from (0, 0) to (1, 1) where these are in reach."""
        fpr, tpr = self.rates[:, self._upper]
        return fpr, tpr

    @cached_property
    def _lower(self) -> Index:
        x, y = self.rates[:, self._order]
        return self._order[concave_hull(y, x)]

    @property
    def borders(self) -> list[Polyline]:
        """The upper border, and unless the diagonal is in reach the lower one."""
        return [(*self.rates[:, border],) for border in self._borders]

    @property
    def _borders(self) -> list[Index]:
        """Which curves are the vertices of each border."""
        return [self._upper] if self.has_diagonal else [self._upper, self._lower]

    @cached_property
    def vertices(self) -> Index:
        """Which curves are vertices of the reach."""
        return np.unique(np.concatenate(self._borders))

    def height(self, fpr: float) -> float:
        """The highest TPR in reach at an FPR."""
        return float(height(*self.upper, fpr))

    def shortfall(self, point: Point) -> float:
        """How far a point lies outside; zero or negative for points in reach."""
        if self.has_diagonal:
            return point.tpr - self.height(point.fpr)
        if not self.traces.size:
            return np.inf  # so gentle a curve does not fit between the scores
        # Seen along the diagonal: beside the borders' common ends, above the upper or below the lower one.
        (x, y), (low_x, low_y) = self.borders
        at, over = point.fpr + point.tpr, point.tpr - point.fpr
        beside = max((x + y)[0] - at, at - (x + y)[-1])
        above = over - np.interp(at, x + y, y - x)
        below = np.interp(at, low_x + low_y, low_y - low_x) - over
        return float(max(beside, above, below))

    def edge(self, point: Point) -> tuple[tuple[float, Placed], tuple[float, Placed]]:
        """The two curves at the ends of the edge that a point of the border lies on, and the share of each."""
        best: tuple[float, int, int, float] | None = None
        for vertices in self._borders:
            border = vertices if vertices.size > 1 else vertices.repeat(2)  # all curves do the same
            at = self.rates[:, border]
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
        return (1 - share_of_last, self.placed(first)), (share_of_last, self.placed(last))

    def gentler(self, width: float) -> Gentler:
        """The curves beyond the border of the first trace, whose curves are of this width."""
        own = np.searchsorted(self.traces.trace, 1)
        x, y = self.rates[:, :own]
        border = concave_hull(x, y)
        along, over = self.rates[0] + self.rates[1], self.rates[1] - self.rates[0]
        beyond = over > np.interp(along, along[border], over[border]) + ON_CURVE
        beyond[:own] = False
        curves = self.traces.among(beyond)
        score = np.where(curves.begins, curves.t0, curves.t1)
        return Gentler(score, (curves.t1 - curves.t0) / width, curves.begins)

    def placed(self, which: int) -> Placed:
        """One of the curves."""
        return Placed(*(float(a[which]) for a in (self.traces.t0, self.traces.t1, self.traces.p)))

    def refinement(self, near: Point) -> Traces:
        """Curves between those known, where the border around a point may lie a little higher."""
        around = self._promising(near)
        trace = self.traces.trace
        gaps = np.unique(np.concatenate([around - 1, around]))
        gaps = gaps[(gaps >= 0) & (gaps < trace.size - 1)]
        gaps = gaps[trace[gaps + 1] == trace[gaps]]
        share = np.arange(1, _REFINED) / _REFINED
        t0, t1 = (
            (a[gaps, None] + share * (a[gaps + 1] - a[gaps])[:, None]).ravel() for a in (self.traces.t0, self.traces.t1)
        )
        # Where thresholds are as near as floating-point numbers are, there is nothing between.
        before, after = (np.repeat(self.traces.t0[ends], share.size) for ends in (gaps, gaps + 1))
        new = (t0 != before) & (t0 != after)
        p, own = (np.repeat(a[gaps], share.size)[new] for a in (self.traces.p, trace))
        no = np.zeros(own.size, bool)
        return Traces(t0[new], t1[new], p, own, no, no)

    def _promising(self, near: Point) -> Index:
        """The curves beside which there may be higher ones: of each trace some of those nearest to the border.

        That is in the directions of the edges around a point; a curve is looked at if it is farther in one of them
        than its neighbours on the trace are.
        """
        fpr, tpr = self.upper
        at = int(np.clip(np.searchsorted(fpr + tpr, near.fpr + near.tpr), 1, fpr.size - 1))
        ends = sorted({max(at - 2, 0), at - 1, at, min(at + 1, fpr.size - 1)})
        normals = np.array([[-(tpr[b] - tpr[a]), fpr[b] - fpr[a]] for a, b in pairwise(ends)])
        normals /= np.maximum(np.hypot(*normals.T)[:, None], np.finfo(float).tiny)
        highest = (normals * np.array([[fpr[a], tpr[a]] for a in ends[:-1]])).sum(axis=1)
        below = highest[:, None] - normals @ self.rates
        trace = self.traces.trace
        apart = trace[1:] != trace[:-1]
        steps = np.where(apart, np.inf, np.diff(below))
        ahead = np.pad(steps, ((0, 0), (0, 1)), constant_values=np.inf)
        behind = np.pad(np.where(apart, np.inf, -np.diff(below)), ((0, 0), (1, 0)), constant_values=np.inf)
        local = (ahead >= 0) & (behind >= 0) & (ahead + behind > 0) & (below <= _BELOW) & ~self.traces.exact
        direction, curve = np.nonzero(local)
        order = np.lexsort((below[direction, curve], trace[curve], direction))
        # Curves of one trace in one direction have one number, by which they are in order.
        number = (trace.max(initial=0) + 1) * direction[order] + trace[curve[order]]
        rank = np.arange(order.size) - np.searchsorted(number, number)
        return np.unique(curve[order[rank < _HIGHEST]])

    def with_more(self, more: Traces, rates: Floats) -> Reach:
        """The reach with more curves on the same traces."""
        if not more.size:
            return self
        together = Traces.concatenated([self.traces, more])
        order = np.lexsort((-together.t0, together.trace))
        rates = np.concatenate([self.rates, rates], axis=1)[:, order]
        return Reach(self.group, self.family, together.among(order), rates, self.has_diagonal)


def refined(reaches: Sequence[Reach], stack: Stack, points: Sequence[Point]) -> list[Reach]:
    """The reaches, with more curves where the borders around points may lie a little higher."""
    refined_ones = list(reaches)
    for _ in range(_REFINEMENTS):
        more = [
            Traces.none() if reach.is_exact else reach.refinement(point)
            for reach, point in zip(refined_ones, points, strict=True)
        ]
        if not any(traces.size for traces in more):
            break
        rates = _rates_of(more, refined_ones[0].family, stack)
        refined_ones = [
            reach.with_more(traces, own) for reach, traces, own in zip(refined_ones, more, rates, strict=True)
        ]
    return refined_ones


def _rates_of(traces: Sequence[Traces], family: Family, stack: Stack) -> list[Floats]:
    """(FPR, TPR) of each group's curves, within [0, 1]."""
    bounds = np.append(0, np.cumsum([one.size for one in traces]))
    every = Traces.joined(traces)
    if not every.size:
        return [np.zeros((2, 0))] * len(traces)
    rates = np.clip(every.rates(family, stack, bounds), 0.0, 1.0)
    return np.split(rates, bounds[1:-1], axis=1)


def reaches_of(
    groups: Sequence[Group],
    stack: Stack,
    family: Family,
    slope: float | Sequence[float],
    *,
    roughly: bool = False,
    gentler: Sequence[Gentler] | None = None,
) -> list[Reach]:
    """What groups reach with mixes of curves of a family whose slopes are at most `slope`, or each its own.

    Roughly, for a search, only some curves of the slope itself are looked at. The gentler curves that count beside all
    of these are those of the whole ladder, or with `gentler` some that stuck out under a similar slope.
    """
    slopes = [slope] * len(groups) if isinstance(slope, (int, float)) else list(slope)
    known = [_at_thresholds(group, family, own) for group, own in zip(groups, slopes, strict=True)]
    if all(known):
        return [one for one in known if one is not None]
    wider = np.ones(1) if roughly or gentler is not None else np.append(1.0, LADDER)
    traces = []
    for i, (group, own) in enumerate(zip(groups, slopes, strict=True)):
        looks = []
        if known[i] is None:
            width = least_width(group, family, own)
            if not roughly and group.score_count <= FEW_SCORES and family.is_straight:
                looks.append(Traces.along(group.scores, wider * width, exact=True))
            else:
                looks.append(own_trace(group, family, width, roughly=roughly))
                if wider.size > 1 and has_ladder(group):
                    looks.append(ladder_traces(group, family, width))
            if gentler is not None:
                looks.append(gentler[i].placed(width))
        traces.append(Traces.joined(looks))
    rates = _rates_of(traces, family, stack)
    return [
        known[i] or Reach(group, family, one, _with_exact_ends(one, own))
        for i, (group, one, own) in enumerate(zip(groups, traces, rates, strict=True))
    ]


def reach_of(group: Group, family: Family, slope: float) -> Reach:
    """The same for one group."""
    return reaches_of([group], Stack([group.by_label]), family, slope)[0]


def _at_thresholds(group: Group, family: Family, slope: float) -> Reach | None:
    """The hull of the ROC without a budget, or the ROC if curves of the slope fit into every gap between scores."""
    if np.isinf(slope):
        at = group.roc.hull_thresholds
        return Reach(group, family, one_trace(at, at), np.stack(group.roc.hull))
    width = least_width(group, family, slope)
    if width > group.least_gap or group.least_gap <= PLACES * np.spacing(max(map(abs, group.ends))):
        return None
    # A curve that ends at one score and begins above the next lower one is the threshold.
    roc = group.roc
    t0, t1 = np.append(roc.scores[0], roc.scores - width), np.append(roc.scores[0] + width, roc.scores)
    return Reach(group, family, one_trace(t0, t1), np.stack([roc.fpr, roc.tpr]))


def _with_exact_ends(traces: Traces, rates: Floats) -> Floats:
    """Rates whose first trace runs from (0, 0), beyond the highest score, to (1, 1), below the lowest, unrounded."""
    if traces.size:
        rates[:, 0], rates[:, np.searchsorted(traces.trace, 1) - 1] = 0.0, 1.0
    return rates


def reaches_inside(
    groups: Sequence[Group], stack: Stack, family: Family, slope: float, inside: tuple[float, float]
) -> list[Reach]:
    """What groups reach with mixes of curves whose thresholds both stay between two scores.

    Then wide curves cannot be placed anywhere, so widths up to the whole range and shapes besides the symmetric one
    count as well. Without a slope budget curves are as narrow as floating-point numbers can place.
    """
    traces = [inside_traces(group, family, slope, inside) for group in groups]
    rates = _rates_of(traces, family, stack)
    return [
        Reach(group, family, one, own, has_diagonal=False)
        for group, one, own in zip(groups, traces, rates, strict=True)
    ]
