"""Every curve of a family that meets a point of the ROC plane exactly, for all groups at once.

Fix a family and p. For a width D both rates fall as the curve moves right, so FPR = f* fixes the position by a
monotone root; along these positions the TPR goes from the ROC polyline (D -> 0) to f* itself (D -> infinity). A width
in between meets TPR = t*: two nested roots, no grid. On jagged samples several widths may do; the search comes down
from the widest, so that it finds the gentlest. As p varies, the solutions form a path.

Searches run side by side: `owner` says to which group each belongs, in ascending order. Scores here are on the upward
scale (see `groups.Group`); `Path.curve` returns to the user's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import count

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_roots
from evenodds.model.families import Family, where_unit_odds_are
from evenodds.model.fixed import fixed
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.landmarks import between_negatives, score_apart
from evenodds.model.path import Path, are_near
from evenodds.model.rates import CurveRates
from evenodds.model.reach import ON_CURVE
from evenodds.model.roc import Point, Roc

__all__ = ["CurveSearch"]

_SLACK = 1e-14  # rates are compared up to this; summing them in another order changes as much
_EXACT = 1e-14  # Newton's method has settled
_NEGLIGIBLE = 1e-13  # a residual that need not be improved
_MISSED = 1e4  # times that, and it is no residual any more
_STAGES = (1e-2, 1e-4, 1e-7, 1e-11, 1e-15)  # relative widths of the bracket at which Newton's method tries again
_SINGULAR = 1e-10  # relative size of a determinant that is zero but for rounding
_QUICK_STEPS = 4  # of Newton's method
_HALVED = 6  # steps of it after which a bracket is halved, so that it ends
_NEWTON_STEPS = 12
_MANY = 2000  # scores that make rates smooth, so that a rung need not be placed exactly to tell whether it reaches
_QUICK = 1e-9
_RUNGS = 8  # widths looked at together while coming down
_RUNG = np.sqrt(0.5)  # ratio of neighbouring widths
_FLAT = 1e12  # times the score range: a width that is as good as none
_WIDEST = 4.0  # times the score range: where the search starts unless something is proven

Index = NDArray[np.intp]


class CurveSearch:
    """The groups of a joint distribution, a family, and the point that each group's curve shall meet.

    With `hard` a vertex of the ROC is met by the single threshold itself; without it by a ramp in the gap below.
    """

    def __init__(self, joint: JointDistribution, family: Family, points: Sequence[Point], *, hard: bool = True) -> None:
        self.joint, self.family, self.points, self.hard = joint, family, tuple(points), hard
        self.groups: tuple[Group, ...] = joint.members
        self._rates = CurveRates(family, joint.stack)
        self.target = np.array([[point.fpr, point.tpr] for point in points]).T
        """(FPR, TPR) of the points, of shape (2, groups)."""
        self._ends = np.array([group.ends for group in self.groups]).T
        self._many = np.array([group.score_count > _MANY for group in self.groups])
        between = [between_negatives(group, point) for group, point in zip(self.groups, points, strict=True)]
        self._below, self._above, self._gap_start, self._gap_width = np.array(between).T
        self._apart: dict[int, tuple[float, float, float, float] | None] = {}  # see `_ramps`

    def _path(self, p: Floats, t0: Floats, t1: Floats, at_t0: float | None = None) -> Path:
        return Path(self.family, p, t0, t1, at_t0)

    # -- the two ends of every family, and the fixed curve ---------------------------------------------------------

    @cached_property
    def singles(self) -> list[Path | None]:
        """The one curve there is of each group, whatever p: a constant on the diagonal, a threshold at a vertex."""
        return [self._single(group.roc, point) for group, point in zip(self.groups, self.points, strict=True)]

    def _single(self, roc: Roc, point: Point) -> Path | None:
        f, t = point.fpr, point.tpr
        if abs(t - f) <= ON_CURVE:
            return self._one(-np.inf, np.inf, (f + t) / 2)
        if self.hard or not self.family.is_continuous:
            near = np.arange(*np.searchsorted(roc.fpr, [f - ON_CURVE, f + 2 * ON_CURVE]))
            distance = np.maximum(np.abs(roc.fpr[near] - f), np.abs(roc.tpr[near] - t))
            if distance.min(initial=np.inf) <= ON_CURVE:
                vertex = int(near[np.argmin(distance)])  # never vertex 0: (0, 0) lies on the diagonal
                threshold = float(roc.scores[vertex - 1])
                return self._one(threshold, threshold, 0.0)
        return None if self.family.is_continuous else self._one(*fixed(roc, point))

    def _one(self, t0: float, t1: float, p: float, at_t0: float | None = None) -> Path:
        return self._path(np.array([p]), np.array([t0]), np.array([t1]), at_t0)

    # -- continuous curves --------------------------------------------------------------------------------------

    def paths(self, wanted: Mapping[int, Floats], steepest: Floats | float = np.inf) -> dict[int, Path]:
        """For groups and p the widest curves that meet the point, if their slope is at most `steepest` (by group)."""
        owner, p = _flat(wanted)
        limits = np.broadcast_to(steepest, (len(self.groups),))[owner]
        return self._as_paths(wanted, p, *self._widest(owner, p, limits))

    def _as_paths(self, wanted: Mapping[int, Floats], p: Floats, t0: Floats, width: Floats) -> dict[int, Path]:
        ends = np.cumsum([at.size for at in wanted.values()]).tolist()
        own = [slice(end - at.size, end) for at, end in zip(wanted.values(), ends, strict=True)]
        t1 = t0 + width
        return {which: self._path(p[at], t0[at], t1[at]) for which, at in zip(wanted, own, strict=True)}

    def near(self, which: int, p: float, t0: float, t1: float) -> tuple[float, float]:
        """The thresholds of a curve that meets the point, by Newton's method from nearby ones; NaN if that fails."""
        start, width = self._newton(np.array([which]), np.array([p]), np.array([t0]), np.array([t1 - t0]))
        return float(start[0]), float(start[0] + width[0])

    def follow(
        self, paths: Mapping[int, Path], wanted: Mapping[int, Floats], steepest: float = np.inf
    ) -> dict[int, Path]:
        """More curves of paths, from Newton's method started between those at hand; searched for where that fails."""
        owner, p = _flat(wanted)
        guesses = [paths[which].among(paths[which].found).between(at) for which, at in wanted.items()]
        guess_t0, guess_width = np.concatenate(guesses, axis=1)
        t0, width = self._newton(owner, p, guess_t0, guess_width)
        missing = np.flatnonzero(np.isnan(t0))
        if missing.size:
            t0[missing], width[missing] = self._ramps(owner[missing], p[missing])
        # A width far from its neighbours' belongs to another branch of solutions.
        lost = np.flatnonzero(~are_near(width, guess_width))
        if lost.size:
            t0[lost], width[lost] = self._widest(owner[lost], p[lost], np.full(lost.size, steepest))
        return self._as_paths(wanted, p, t0, width)

    def carried_on(self, paths: Mapping[int, Path], limits: Floats) -> dict[int, Path]:
        """Paths on which wide curves are followed from p to p for as long as they go on, if within limits of the slope.

        Where curves of several widths meet the point, the search from the widest down may pass those that are wider.
        """
        carried, going = dict(paths), list(paths)
        while going:
            ends = [carried[i].ends_of_branches() for i in going]
            owner = np.repeat(np.array(going, np.intp), [last.size for last, _ in ends])
            at = zip((carried[i] for i in going), ends, strict=True)
            known = [(path.p[beyond], path.t0[last], path.width[last]) for path, (last, beyond) in at]
            p, start, wide = np.concatenate(known, axis=1)
            t0, width = self._newton(owner, p, start, wide)
            with np.errstate(invalid="ignore"):
                goes_on = are_near(width, wide) & (self.family.unit_slope(p) <= limits[owner] * width)
            for i, (_, beyond) in zip(going, ends, strict=True):
                own = goes_on[owner == i]
                carried[i] = carried[i].changed(beyond[own], t0[owner == i][own], width[owner == i][own])
            going = [i for i in going if goes_on[owner == i].any()]
        return carried

    def _widest(self, owner: Index, p: Floats, steepest: Floats) -> tuple[Floats, Floats]:
        """Position and width of the widest solution for each p; NaN where none has a slope of at most `steepest`."""
        t0, width = np.full(p.size, np.nan), np.full(p.size, np.nan)
        least = self.family.unit_slope(p) / steepest
        ramp_t0, ramp_width = self._ramps(owner, p)
        is_ramp = ~np.isnan(ramp_t0)
        floor = np.where(is_ramp, ramp_width, 0.0)
        unlimited = np.flatnonzero(~is_ramp & np.isinf(steepest))
        if unlimited.size:
            floor[unlimited] = self._narrowest[owner[unlimited]]
        gentle = is_ramp & (ramp_width >= least)
        t0[gentle], width[gentle] = ramp_t0[gentle], ramp_width[gentle]
        half = np.flatnonzero(~is_ramp & (p == 0.5))  # noqa: PLR2004 the symmetric curve
        if half.size:
            t0[half], width[half] = self._from_pooled(owner[half], least[half])
        left = np.flatnonzero(is_ramp | np.isnan(t0))
        if not left.size:
            return t0, width
        narrow, wide, t0_narrow = self._bracket(owner[left], p[left], np.maximum(floor, least)[left])
        on_ramp = is_ramp[left] & (narrow == floor[left]) & (floor >= least)[left]
        bracketed = np.flatnonzero(~np.isnan(narrow) & ~on_ramp)
        if not bracketed.size:
            return t0, width
        some = left[bracketed]
        t0[some], width[some] = self._newton(owner[some], p[some], t0_narrow[bracketed], narrow[bracketed])
        missed = bracketed[~((width[some] >= narrow[bracketed]) & (width[some] <= wide[bracketed]))]
        if missed.size:
            some = left[missed]
            t0[some], width[some] = self._nested(owner[some], p[some], narrow[missed], wide[missed])
        return t0, width

    @cached_property
    def _pooled_ramps(self) -> tuple[Floats, Floats]:
        return self.joint.pooled.widest_ramps(self.points)

    @cached_property
    def slope_floor(self) -> Floats:
        """What no rising curve's slope falls below, whatever its family; 0 where nothing is proven."""
        return np.array(self.joint.pooled.slope_bounds(self.points, [np.inf] * len(self.points)))

    def _from_pooled(self, owner: Index, least: Floats) -> tuple[Floats, Floats]:
        """Position and width of the symmetric curve, by Newton's method from the pooled group's ramp.

        Only if it is so near that the search from the widest curve down would find no other; else NaN.
        """
        t0, width = np.full(owner.size, np.nan), np.full(owner.size, np.nan)
        start, pooled_width = (ramp[owner] for ramp in self._pooled_ramps)
        known = np.flatnonzero(~np.isnan(start))
        if known.size:
            guess = self.family.symmetric_slope * pooled_width[known]
            middle = start[known] + (pooled_width[known] - guess) / 2
            settled_t0, settled_width = self._newton(owner[known], np.full(known.size, 0.5), middle, guess)
            near = settled_width >= np.maximum(_RUNG * guess, least[known])
            t0[known[near]], width[known[near]] = settled_t0[near], settled_width[near]
        return t0, width

    @cached_property
    def _narrowest(self) -> Floats:
        """So narrow a curve of a group sees one score at a time, and traces the ROC polyline."""
        gaps = ([np.diff(scores) for scores in group.score_lists] for group in self.groups)
        least = [min((float(g[g > 0].min()) for g in lists if (g > 0).any()), default=1.0) for lists in gaps]
        return 0.49 * np.array(least)

    def _ramps(self, owner: Index, p: Floats) -> tuple[Floats, Floats]:
        """Position and width of the widest curves that treat but one score apart, if the point is on the polyline.

        Between two neighbouring vertices of the ROC the people at one score have odds of their own, all above it 1
        and all below it 0. A target there is this ramp itself, not a limit of roots. NaN for all others.
        """
        t0, width = np.full(p.size, np.nan), np.full(p.size, np.nan)
        for which in np.unique(owner).tolist():
            if which not in self._apart:
                self._apart[which] = score_apart(self.groups[which], self.points[which])
            apart = self._apart[which]
            if apart is not None:
                score, share, below, above = apart
                own = np.flatnonzero(owner == which)
                x = where_unit_odds_are(self.family, share, p[own])
                with np.errstate(divide="ignore"):
                    width[own] = np.minimum(below / x, above / (1 - x))
                t0[own] = score - x * width[own]
        return t0, width

    def _bracket(self, owner: Index, p: Floats, floor: Floats) -> tuple[Floats, Floats, Floats]:
        """Two neighbouring widths for each p, the narrower one reaching t* and the wider not; and where that stands."""
        span = (self._ends[1] - self._ends[0])[owner]
        narrow, t0_narrow = np.full(p.size, np.nan), np.full(p.size, np.nan)
        proven = self.slope_floor[owner] > 0  # then no curve is wider
        with np.errstate(divide="ignore"):
            wide = np.where(
                proven,
                np.maximum(self.family.unit_slope(p) / self.slope_floor[owner], floor),
                np.maximum(_WIDEST * span, 2 * floor),
            )
        rising = np.flatnonzero(~proven)
        # Up: widen until the curve is so flat that its TPR falls short of t*.
        while rising.size:
            right, reached = self._look(owner[rising], p[rising], wide[rising])
            # A curve that is flat for all that matters reaches the diagonal alone, and the point is as good as there.
            reached &= wide[rising] < _FLAT * np.maximum(span[rising], floor[rising])
            rising = rising[reached]
            narrow[rising], t0_narrow[rising] = wide[rising], right[reached]
            wide[rising] *= 4
        # Down: a few rungs at a time, until the TPR is reached.
        falling = np.flatnonzero(np.isnan(narrow))
        while falling.size:
            rungs = np.maximum(wide[falling, None] * _RUNG ** np.arange(1, _RUNGS + 1), floor[falling, None])
            # At the floor the ladder ends: its last rung stands for all below.
            fresh = np.column_stack([np.ones(falling.size, bool), rungs[:, 1:] < rungs[:, :-1]])
            rung = np.cumsum(fresh, axis=1) - 1 + np.append(0, np.cumsum(fresh.sum(axis=1)))[:-1, None]
            who = np.broadcast_to(falling[:, None], rungs.shape)[fresh]
            seen = self._look(owner[who], p[who], rungs[fresh])
            right, reached = seen[0][rung], seen[1][rung]
            ladder = np.column_stack([wide[falling], rungs])
            any_reached = reached.any(axis=1)
            hit = np.where(any_reached, reached.argmax(axis=1), _RUNGS)
            row = np.arange(falling.size)
            wide[falling] = ladder[row, hit]
            row, hit = row[any_reached], hit[any_reached]
            narrow[falling[any_reached]], t0_narrow[falling[any_reached]] = rungs[row, hit], right[row, hit]
            falling = falling[~any_reached & (wide[falling] > floor[falling])]
        return narrow, wide, t0_narrow

    def _look(
        self, owner: Index, p: Floats, width: Floats, *, exactly: bool = False
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Positions right of the one at which the FPR is f*, or just that one, and whether the TPR reaches t* there.

        Both rates fall with the position, so that places beside it often tell already. Between them it is found by
        Newton's method, and by halves where that leads outside.
        """
        f, t = self.target[0, owner], self.target[1, owner] - _NEGLIGIBLE  # as good as quick rates are
        left, right = self._below[owner] - width, self._above[owner].copy()
        # Any curve inside a gap that negatives leave at f* has that FPR, whatever its position; the leftmost has the
        # highest TPR, so it is the one to follow.
        free = width <= self._gap_width[owner]
        left[free] = right[free] = self._gap_start[owner[free]]
        at = np.where(free, left, (left + right) / 2)
        within = np.full(p.size, 1e-15) if exactly else np.where(self._many[owner], _QUICK, _NEGLIGIBLE)
        finest = np.maximum(within * width, np.spacing(np.maximum(np.abs(left), np.abs(right))))
        reached = np.zeros(p.size, bool)
        live = np.arange(p.size)
        for step in count(1):
            if not live.size:
                break
            x, o, w = at[live], owner[live], width[live]
            (fpr, tpr), *change = self._rates.linearized(o, x, x + w, p[live], quick=not exactly)
            over, steep = fpr - f[live], change[0][0] + change[1][0]
            # On a level run of the FPR the leftmost position has the highest TPR: there a root is not enough.
            is_root = (np.abs(over) <= _SLACK) & (steep < 0) | free[live]
            is_left, reaches = over > 0, tpr >= t[live]
            left[live] = np.where(is_left | is_root, x, left[live])
            right[live] = np.where(is_left & ~is_root, right[live], x)
            reached[live] = reaches & ~(is_left & ~is_root)
            decided = is_root if exactly else is_root | (is_left != reaches)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                following = x - over / steep
            lo, hi = left[live], right[live]
            halves = ~((following > lo) & (following < hi)) | (step % _HALVED == 0)
            at[live] = np.where(halves, lo + (hi - lo) / 2, following)
            close = hi - lo <= finest[live]
            # What is not decided by then the right end decides, which may not have been looked at.
            at[live[close & (x != hi)]] = hi[close & (x != hi)]
            live = live[~decided & ~(close & (x == hi))]
        return right, reached

    def _newton(self, owner: Index, p: Floats, t0: Floats, width: Floats) -> tuple[Floats, Floats]:
        """Newton's method for both thresholds at once; NaN where it does not settle on the point."""
        t0, t1 = t0.copy(), t0 + width
        error = np.full(p.size, np.inf)
        isolated = np.zeros(p.size, bool)
        live = np.arange(p.size)
        for step in range(_NEWTON_STEPS):
            quick = step < _QUICK_STEPS and error.max(initial=0) > _QUICK  # no step of these may be the last
            a, b, o = t0[live], t1[live], owner[live]
            rates, (f0, h0), (f1, h1) = self._rates.linearized(o, a, b, p[live], quick=quick)
            miss = rates - self.target[:, o]
            error[live] = np.abs(miss).max(axis=0)
            det = f0 * h1 - f1 * h0
            isolated[live] = np.abs(det) > _SINGULAR * (np.abs(f0 * h1) + np.abs(f1 * h0))
            ok = ((error[live] > np.maximum(_EXACT, _noise(a, b - a))) | quick) & (np.abs(det) > 0)
            error[live[~ok & quick]] = np.inf
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                da = (miss[0] * h1 - miss[1] * f1) / det
                db = (miss[1] * f0 - miss[0] * h0) / det
                # At most halve or double the width in one step.
                shrink = np.minimum(1.0, 0.5 * (b - a) / np.abs(db - da))
            ok &= np.isfinite(da) & np.isfinite(db)
            live, da, db, shrink = live[ok], da[ok], db[ok], np.where(np.isfinite(shrink), shrink, 1.0)[ok]
            if not live.size:
                break
            t0[live] -= shrink * da
            t1[live] -= shrink * db
        # On a straight run of the ROC a whole range of widths may meet the point: this is then not the widest.
        settled = (error <= np.maximum(_EXACT, _noise(t0, t1 - t0))) & isolated
        return np.where(settled, t0, np.nan), np.where(settled, t1 - t0, np.nan)

    def _nested(self, owner: Index, p: Floats, narrow: Floats, wide: Floats) -> tuple[Floats, Floats]:
        """The width between `narrow` and `wide` at which the TPR is t*, by nested roots that cannot be lost.

        The bracket is narrowed stage by stage, and each time Newton's method tries to finish.
        """
        t0, width, t0_wide = np.full((3, p.size), np.nan)
        left = np.arange(p.size)
        for tolerance in _STAGES:
            o, q = owner[left], p[left]
            t = self.target[1, o] - _SLACK

            def excess(w: Floats, i: Index, o: Index = o, q: Floats = q, t: Floats = t) -> Floats:
                at, _ = self._look(o[i], q[i], w, exactly=True)
                return np.asarray(self._rates(o[i], at, w, q[i])[1] - t[i])

            every = np.arange(left.size)
            ends = [excess(w[left], every) for w in (narrow, wide)]
            narrow[left], wide[left] = bracketed_roots(
                excess, narrow[left], wide[left], ends[0], ends[1], tolerance=tolerance * narrow[left]
            )
            t0_wide[left], _ = self._look(o, q, wide[left], exactly=True)
            t0[left], width[left] = self._newton(o, q, t0_wide[left], wide[left])
            left = left[np.isnan(t0[left])]
            # Where the TPR leaves t* without a slope Newton's method is blind, but the width hardly matters.
            miss = self._rates(owner[left], t0_wide[left], wide[left], p[left]) - self.target[:, owner[left]]
            enough = np.maximum(_NEGLIGIBLE, _noise(t0_wide[left], wide[left]))
            off = np.abs(miss).max(axis=0)
            # In the end what misses the point by more than rounding explains is no solution.
            done = (off <= enough) | ((tolerance == _STAGES[-1]) & (off <= _MISSED * enough))
            t0[left[done]], width[left[done]] = t0_wide[left[done]], wide[left[done]]
            left = left[~done]
            if not left.size:
                break
        return t0, width


def _flat(wanted: Mapping[int, Floats]) -> tuple[Index, Floats]:
    """Groups in ascending order with some numbers each, as one array of groups and one of numbers."""
    sizes = [at.size for at in wanted.values()]
    return np.repeat(np.array(list(wanted), np.intp), sizes), np.concatenate([np.zeros(0), *wanted.values()])


def _noise(t0: Floats, width: Floats) -> Floats:
    """What rounding thresholds to floats changes the odds by; infinite where they are the same float."""
    with np.errstate(divide="ignore"):
        return np.asarray(8 * np.spacing(np.maximum(np.abs(t0), np.abs(t0 + width))) / width)
