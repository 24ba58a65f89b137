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
from dataclasses import dataclass, fields
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
_FINER = 20  # places that are looked at in each gap beside a vertex
_BELOW = 0.02  # how far below the border a curve may lie whose neighbours are looked at
_HIGHEST = 3  # so many of them in each trace
_REFINEMENTS = 2  # each makes the arcs around a point twenty times finer

Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Reach:
    """The hull of one group's traces: a convex region, of which the upper border matters unless thresholds are bound.

    `rising` says that (0, 0) and (1, 1) are among the vertices, so that all points down to the diagonal are in reach.
    """

    group: Group
    family: Family
    traces: Traces
    rates: Floats
    """(FPR, TPR) of the curves, of shape (2, n)."""
    rising: bool = True

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
        return [self._upper] if self.rising else [self._upper, self._lower]

    @cached_property
    def border(self) -> Index:
        """The curves at the vertices."""
        return np.unique(np.concatenate(self._borders))

    def height(self, fpr: float) -> float:
        """The highest TPR in reach at an FPR."""
        return float(height(*self.upper, fpr))

    def shortfall(self, point: Point) -> float:
        """How far a point lies outside; zero or negative for points in reach."""
        if self.rising:
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

    def finer(self, near: Point) -> Traces:
        """More places where the border around a point may lie a little higher."""
        fpr, tpr = self.upper
        at = int(np.clip(np.searchsorted(fpr + tpr, near.fpr + near.tpr), 1, fpr.size - 1))
        ends = sorted({max(at - 2, 0), at - 1, at, min(at + 1, fpr.size - 1)})
        normals = np.array([[-(tpr[b] - tpr[a]), fpr[b] - fpr[a]] for a, b in pairwise(ends)])
        normals /= np.maximum(np.hypot(*normals.T)[:, None], np.finfo(float).tiny)
        highest = (normals * np.array([[fpr[a], tpr[a]] for a in ends[:-1]])).sum(axis=1)
        # Beside a curve that is highest of its trace in the direction of an edge there may be higher ones.
        below = highest[:, None] - normals @ self.rates
        own = self.traces.trace
        apart = own[1:] != own[:-1]
        steps = np.where(apart, np.inf, np.diff(below))
        ahead = np.pad(steps, ((0, 0), (0, 1)), constant_values=np.inf)
        behind = np.pad(np.where(apart, np.inf, -np.diff(below)), ((0, 0), (1, 0)), constant_values=np.inf)
        local = (ahead >= 0) & (behind >= 0) & (ahead + behind > 0) & (below <= _BELOW) & ~self.traces.exact
        direction, curve = np.nonzero(local)
        order = np.lexsort((below[direction, curve], own[curve], direction))
        same = own[curve[order]] + own.max(initial=0) * direction[order] + direction[order]
        rank = np.arange(order.size) - np.searchsorted(same, same)
        around = np.unique(curve[order[rank < _HIGHEST]])
        gaps = np.unique(np.concatenate([around - 1, around]))
        gaps = gaps[(gaps >= 0) & (gaps < own.size - 1)]
        gaps = gaps[~apart[gaps]]
        share = np.arange(1, _FINER) / _FINER
        t0, t1 = (
            (a[gaps, None] + share * (a[gaps + 1] - a[gaps])[:, None]).ravel() for a in (self.traces.t0, self.traces.t1)
        )
        new = (t0 != np.repeat(self.traces.t0[gaps], share.size)) & (
            t0 != np.repeat(self.traces.t0[gaps + 1], share.size)
        )
        trace = np.repeat(own[gaps], share.size)[new]
        p = np.repeat(self.traces.p[gaps], share.size)[new]
        no = np.zeros(trace.size, bool)
        return Traces(t0[new], t1[new], p, trace, no, no)

    def with_more(self, more: Traces, rates: Floats) -> Reach:
        """The reach with more curves on the same traces."""
        if not more.size:
            return self
        together = Traces(
            *(np.concatenate([getattr(one, field.name) for one in (self.traces, more)]) for field in fields(Traces))
        )
        order = np.lexsort((-together.t0, together.trace))
        rates = np.concatenate([self.rates, rates], axis=1)[:, order]
        return Reach(self.group, self.family, together.among(order), rates, self.rising)


def refined(reaches: Sequence[Reach], stack: Stack, points: Sequence[Point]) -> list[Reach]:
    """Looked at in more places where the borders around points may lie a little higher."""
    found = list(reaches)
    for _ in range(_REFINEMENTS):
        more = [_nothing() if reach.is_exact else reach.finer(p) for reach, p in zip(found, points, strict=True)]
        if not any(one.size for one in more):
            break
        rates = _rates_of(more, found[0].family, stack)
        found = [reach.with_more(one, own) for reach, one, own in zip(found, more, rates, strict=True)]
    return found


def _nothing() -> Traces:
    return Traces.joined([])


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
        known[i] or Reach(group, family, one, _rising(one, own))
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


def _rising(traces: Traces, rates: Floats) -> Floats:
    """From (0, 0), beyond the highest score, to (1, 1), below the lowest: rounding must not cut these off."""
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
    return [Reach(group, family, one, own, rising=False) for group, one, own in zip(groups, traces, rates, strict=True)]
