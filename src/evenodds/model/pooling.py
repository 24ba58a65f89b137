"""Bounds that need no linear program: what no rising curve of a group can do, from its pooled ROC.

Pooling the labels by isotonic regression on the score makes the group's ROC its own hull, and can only raise what a
rising curve collects. Under a slope budget the pooled ROC is blurred as the group's own is (see `reach`); a concave
ROC stays concave, so no rising curve of that slope gets above it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.hull import height
from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_root, bracketed_roots
from evenodds.geometry.stack import Bounds, Stack, ramps_between
from evenodds.model.families import family_of
from evenodds.model.groups import Group
from evenodds.model.reach import ON_CURVE
from evenodds.model.roc import Point
from evenodds.model.tangents import Tangents, UpperBound, concave
from evenodds.model.traces import is_sparse, kinks, some_scores

__all__ = ["Pooled"]

_FIRST_LOOK = 128  # scores that make the first tangents of a smooth bound
_DRAWN = 512  # scores up to which a bound has all its vertices
_ROUNDS = 3
_NEWTON_STEPS = 12
_NO_SLOPE = -600.0  # the logarithm of a slope that is none
_NEAR = 1e-6  # of a width: how far from a good guess to look first
_TINY = 1e-300
_PLACES = 8.0  # floating-point numbers by which a ramp's ends may be off
_ROUNDING = 4 * float(np.finfo(float).eps)  # of prefix sums, times the score range by the width

Index = NDArray[np.intp]


class Pooled:
    """Groups with their labels pooled: within a block everybody counts as so much negative and so much positive.

    The blocks of the regression are the edges of the ROC's hull, so no regression is run.
    """

    def __init__(self, groups: Sequence[Group], stack: Stack) -> None:
        self._groups, self._stack = tuple(groups), stack
        self._last: tuple[tuple[Point, ...], Floats, Floats] | None = None
        self.ends = np.array([group.ends for group in groups]).T
        """The lowest and the highest score of each group, of shape (2, groups)."""
        self.centre = self.ends[0] + (self.ends[1] - self.ends[0]) / 2
        self._edges = [group.roc.hull_thresholds[:0:-1] for group in groups]  # block i has the scores from edge i on
        bounds = np.append(0, np.cumsum([edges.size for edges in self._edges]))
        self._first = bounds[:-1]
        # Labels may differ in weight by many powers of ten: what is summed of each is relative to its own.
        self._factor = np.concatenate(
            [_counted_as(group, edges) for group, edges in zip(groups, self._edges, strict=True)], axis=-1
        )
        # Rounding is relative to the label that counts for more than its own share; and ramps stand where numbers do.
        heaviest = np.maximum.reduceat(self._factor.sum(axis=1).max(axis=0), self._first)
        self._relative = _ROUNDING * np.maximum(heaviest, 1)
        places = np.spacing(np.abs(self.ends).max(axis=0))
        self._rounding = self._relative * (self.ends[1] - self.ends[0]) + _PLACES * places
        """By the width of ramps: how far their rates may be off."""
        self._from = self._of_labels(np.concatenate(self._edges), bounds)
        # Each block ends where the next one begins, or beyond all scores.
        end = np.roll(self._from, -1, axis=-1)
        means = np.array([[side.mean for side in group.by_label] for group in groups]).T - self.centre
        end[:, :, bounds[1:] - 1] = np.stack([np.ones(means.shape), means])
        parts = (self._factor[None] * (end - self._from)[:, None]).sum(axis=2)
        self._below = np.zeros(parts.shape)
        for first, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            np.cumsum(parts[..., first : stop - 1], axis=-1, out=self._below[..., first + 1 : stop])

    def _of_labels(self, at: Floats, bounds: Bounds) -> Floats:
        """Shares of negatives and positives below each score, and their means of (score - centre): shape (2, 2, n)."""
        share, moment = self._stack.sums_below(at, bounds)
        return np.stack([share, moment + self._stack.each(self._stack.centre - self.centre, bounds) * share])

    def sums_below(self, at: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
        """Pooled shares below each score, and means of (score - centre) over them, of shape (2, n)."""
        block = np.empty(at.size, np.intp)
        starts = bounds.tolist()
        for edges, offset, first, stop in zip(self._edges, self._first.tolist(), starts[:-1], starts[1:], strict=True):
            if stop > first:
                found = edges.searchsorted(at[first:stop], side="right") - 1
                block[first:stop] = np.maximum(found, 0) + offset
        beyond = self._of_labels(at, bounds) - self._from[..., block]
        share, moment = self._below[..., block] + (self._factor[None, ..., block] * beyond[:, None]).sum(axis=2)
        return share, moment

    def ramps(self, t0: Floats, t1: Floats, bounds: Bounds) -> Floats:
        """Pooled (FPR, TPR) of straight ramps, of shape (2, n)."""
        return self._ramps_and_shares(t0, t1, bounds)[0]

    def _ramps_and_shares(self, t0: Floats, t1: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
        """The same, and the shares within the ramps."""
        sums = self.sums_below(np.stack([t0, t1], axis=-1).ravel(), 2 * bounds)
        rates = ramps_between(sums, t0, t1, self._stack.each(self.centre, bounds))
        return rates, sums[0][:, 1::2] - sums[0][:, ::2]

    # -- bounds on the objective ---------------------------------------------------------------------------------------

    def upper_bounds(self, slope: float) -> list[UpperBound]:
        """What no rising curve of this slope exceeds, for each group: exact for few scores, tangents for many."""
        if np.isinf(slope):
            return [UpperBound(group.roc.hull) for group in self._groups]
        width, straight = 1 / slope, family_of("linear")
        sparse = [g.score_count > _DRAWN or is_sparse(g, straight, width) for g in self._groups]
        if all(width <= group.least_gap for group in self._groups):
            return self.upper_bounds(np.inf)  # such curves are thresholds
        looks = [
            kinks(some_scores(group, _FIRST_LOOK) if few else group.scores, width)
            for group, few in zip(self._groups, sparse, strict=True)
        ]
        t0, t1 = (np.concatenate(ends) for ends in zip(*looks, strict=True))
        bounds = np.append(0, np.cumsum([at.size for at, _ in looks]))
        rates, shares = self._ramps_and_shares(t0, t1, bounds)
        # Prefix sums are all there is: what rounding may have taken from the bound is given back.
        rates += [[-1.0], [1.0]] * (self._stack.each(self._rounding, bounds) / width)
        own = [slice(i, j) for i, j in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]
        return [
            Tangents.at(t0[at], float(t1[at][0] - t0[at][0]), rates[:, at], shares[:, at]).bound
            if few
            else UpperBound(concave(*rates[:, at]))
            for at, few in zip(own, sparse, strict=True)
        ]

    def refined(self, bounds: Sequence[UpperBound], points: Sequence[Point]) -> list[UpperBound]:
        """The bounds drawn more closely around points, where that is possible."""
        refined = list(bounds)
        widths = np.array([bound.tangents.width if bound.tangents else 0.0 for bound in bounds])
        for _ in range(_ROUNDS):
            more = [
                bound.tangents.between(point) if bound.tangents else np.zeros(0)
                for bound, point in zip(refined, points, strict=True)
            ]
            where = np.append(0, np.cumsum([at.size for at in more]))
            t0 = np.concatenate(more)
            if not t0.size:
                break
            t1 = t0 + np.repeat(widths, np.diff(where))
            rates, shares = self._ramps_and_shares(t0, t1, where)
            for i, (bound, first, stop) in enumerate(zip(refined, where[:-1], where[1:], strict=True)):
                if bound.tangents and stop > first:
                    at = slice(first, stop)
                    drawn = Tangents.at(t0[at], bound.tangents.width, rates[:, at], shares[:, at])
                    refined[i] = bound.tangents.with_more(drawn).bound
        return refined

    # -- bounds on slopes ----------------------------------------------------------------------------------------------

    def slope_bounds(self, points: Sequence[Point], achieved: Sequence[float]) -> list[float]:
        """For each group a slope that no rising curve through its point can fall below: exact where ROCs are concave.

        `achieved` are slopes of some curves through the points, which the bounds do not exceed. 0 where nothing was
        proven at once: see `searched_bound`.
        """
        _, widest = self.widest_ramps(points)
        proven = np.where(np.isnan(widest), 0.0, (1 - 1e-9) / widest)
        return [float(bound) for bound in np.minimum(proven, achieved)]

    def widest_ramps(self, points: Sequence[Point]) -> tuple[Floats, Floats]:
        """Start and width of each pooled group's ramp through its point; NaN where it is not found, or proves nothing.

        No rising curve of the group through the point is gentler than this ramp, but for 1e-9 of it.
        """
        asked = tuple(points)
        if self._last is None or self._last[0] != asked:  # the search for curves asks, and then the certificate
            self._last = asked, *self._proven_ramps(np.array([[point.fpr, point.tpr] for point in points]).T)
        return self._last[1:]

    def _proven_ramps(self, target: Floats) -> tuple[Floats, Floats]:
        """Start and width of the ramps through the points, where gentler curves provably fall short of them."""
        t0, t1 = self._ramps_through(target)
        which = np.flatnonzero(~np.isnan(t0))
        width = t1 - t0
        if which.size:
            short = self.shortfalls(which, target[:, which], (1 - 1e-9) / width[which], near=t0[which])
            which = which[short > 0]
        proven = np.isin(np.arange(width.size), which)
        return np.where(proven, t0, np.nan), np.where(proven, width, np.nan)

    def _ramps_through(self, target: Floats) -> tuple[Floats, Floats]:
        """The ramps whose pooled rates are the points, by Newton's method; NaN where it does not settle.

        With A the sum of (score - t0) within the ramp and S the share there, a rate is A / width + the share above; so
        it changes by -A / width^2 as t1 moves, and by that and S / width less as t0 does.
        """
        count = self.centre.size
        span = self.ends[1] - self.ends[0]
        t0, t1 = self.ends[0] + 0.25 * span, self.ends[0] + 0.75 * span
        settled = np.zeros(count, bool)
        live = np.flatnonzero((span > 0) & (target[1] - target[0] > 2 * ON_CURVE))
        for _ in range(_NEWTON_STEPS):
            a, b = t0[live], t1[live]
            bounds = np.searchsorted(live, np.arange(count + 1))
            share, moment = self.sums_below(np.stack([a, b], axis=-1).ravel(), 2 * bounds)
            width, within = b - a, share[:, 1::2] - share[:, ::2]
            rise = moment[:, 1::2] - moment[:, ::2] - (a - self.centre[live]) * within
            miss = rise / width + 1 - share[:, 1::2] - target[:, live]
            done = np.abs(miss).max(axis=0) <= ON_CURVE
            settled[live[done]] = True
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                by_t1 = -rise / width**2
                by_t0 = -by_t1 - within / width
                det = by_t0[0] * by_t1[1] - by_t0[1] * by_t1[0]
                by_a = (miss[0] * by_t1[1] - miss[1] * by_t1[0]) / det
                by_b = (by_t0[0] * miss[1] - by_t0[1] * miss[0]) / det
                furthest = np.maximum(np.maximum(np.abs(by_a), np.abs(by_b)), _TINY)
                part = np.minimum(0.5 * width / np.maximum(np.abs(by_b - by_a), _TINY), width / furthest)
            moving = ~done & np.isfinite(by_a) & np.isfinite(by_b)
            live, part = live[moving], np.minimum(1.0, part)[moving]
            if not live.size:
                break
            t0[live] -= part * by_a[moving]
            t1[live] -= part * by_b[moving]
        return np.where(settled, t0, np.nan), np.where(settled, t1, np.nan)

    def is_least_slope(self, which: int, point: Point, slope: float) -> bool:
        """Whether it is proven that no rising curve of a group through the point is gentler, but for 1e-9 of it."""
        return slope == 0 or (np.isfinite(slope) and self._shortfall(which, point, slope * (1 - 1e-9)) > 0)

    def _shortfall(self, which: int, point: Point, slope: float) -> float:
        return float(self.shortfalls(np.array([which]), np.array([[point.fpr], [point.tpr]]), np.array([slope]))[0])

    def shortfalls(self, which: Index, target: Floats, slope: Floats, *, near: Floats | None = None) -> Floats:
        """How far below points the blurred pooled ROCs of some groups stay; less than rounding counts as nothing.

        `near` is a guess of where the ramps start that have the points' FPR.
        """
        width = 1 / slope
        # Prefix sums are all there is.
        slack = ON_CURVE + 2 * (self._rounding[which] / width + self._relative[which])
        beyond = target + [[1.0], [-1.0]] * slack
        straight = family_of("linear")
        short = np.empty(which.size)
        sparse = [is_sparse(self._groups[i], straight, w) for i, w in zip(which.tolist(), width.tolist(), strict=True)]
        many, few = np.flatnonzero(sparse), np.flatnonzero(~np.array(sparse, bool))
        if few.size:
            looks = [kinks(self._groups[which[i]].scores, float(width[i])) for i in few]
            t0, t1 = (np.concatenate(ends) for ends in zip(*looks, strict=True))
            sizes = np.zeros(len(self._groups), np.intp)
            sizes[which[few]] = [at.size for at, _ in looks]
            bounds = np.append(0, np.cumsum(sizes))
            rates = np.split(self.ramps(t0, t1, bounds), np.unique(bounds)[1:-1], axis=1)
            short[few] = [beyond[1, i] - height(x, y, beyond[0, i]) for i, (x, y) in zip(few, rates, strict=True)]
        if many.size:
            guess = None if near is None else near[many]
            short[many] = beyond[1, many] - self._heights(which[many], beyond[0, many], width[many], guess)
        return short

    def _heights(self, which: Index, fpr: Floats, width: Floats, near: Floats | None) -> Floats:
        """The TPR of the ramps of some widths that have an FPR: of a level run of it the leftmost has the highest."""
        lo, hi = self.ends[0, which] - width, self.ends[1, which]

        def rates(t0: Floats, i: Index) -> Floats:
            return self.ramps(t0, t0 + width[i], np.searchsorted(which[i], np.arange(self.centre.size + 1)))

        def beyond(t0: Floats, i: Index) -> Floats:  # FPR falls with t0
            return np.asarray(rates(t0, i)[0] - fpr[i])

        every = np.arange(which.size)
        first, last = beyond(lo, every), beyond(hi, every)
        if near is not None:
            around = np.maximum(near - _NEAR * width, lo), np.minimum(near + _NEAR * width, hi)
            values = beyond(around[0], every), beyond(around[1], every)
            good = (values[0] > 0) & (values[1] <= 0)
            lo, hi = np.where(good, around[0], lo), np.where(good, around[1], hi)
            first, last = np.where(good, values[0], first), np.where(good, values[1], last)
        t0 = lo.copy()
        found = np.flatnonzero(first > 0)
        if found.size:
            _, t0[found] = bracketed_roots(
                lambda t, i: beyond(t, found[i]),
                lo[found],
                hi[found],
                first[found],
                last[found],
                tolerance=1e-13 * width[found],
            )
        return np.asarray(rates(t0, every)[1])

    def searched_bound(self, which: int, point: Point, achieved: float) -> float:
        """What `slope_bounds` gives, for one group, by a search whose bracket cannot be lost."""
        if self.is_least_slope(which, point, achieved):
            return achieved
        group = self._groups[which]
        if np.isinf(group.least_gap):
            return 0.0  # one score: all there is are lotteries
        gaps = np.inf if group.is_large else 4 / group.least_gap  # steeper ones trace the ROC itself
        steep = np.log(min(achieved, gaps))
        if np.isinf(steep):
            return 0.0  # nothing is proven

        def shortfall(log_slope: float) -> float:
            return self._shortfall(which, point, float(np.exp(log_slope)))

        if (short_of_steep := shortfall(steep)) > 0:
            return float(np.exp(steep))
        gentle, step = steep - 1e-6, 1e-2
        while (short := shortfall(gentle)) <= 0:
            gentle, steep, short_of_steep = gentle - step, gentle, short
            step *= 4
            if gentle < _NO_SLOPE:
                return 0.0  # so gentle that it is none
        above, _ = bracketed_root(shortfall, (gentle, short), (steep, short_of_steep), 1e-10)
        return float(np.exp(above))


def _counted_as(group: Group, edges: Floats) -> Floats:
    """How much of each label (first axis) a share of each label (second) counts for within blocks of scores."""
    masses = []
    for side in group.by_label:
        first = np.searchsorted(side.points, edges)
        sums = np.add.reduceat(np.append(side.weights, 0.0), first)
        masses.append(np.where(np.diff(np.append(first, side.size)) > 0, sums, 0.0))
    ratio = np.stack(masses) / (masses[0] + masses[1])
    totals = np.array([side.total for side in group.by_label])
    return np.asarray(ratio[:, None] * (totals[None, :] / totals[:, None])[..., None])
