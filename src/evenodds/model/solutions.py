"""Every curve of a family that meets a point of the ROC plane exactly.

Fix a family and p. For a width D both rates fall as the curve moves right, so FPR = f* fixes the position by a
monotone root; along these positions the TPR goes from the ROC polyline (D -> 0) to f* itself (D -> infinity). A width
in between meets TPR = t*: two nested roots, no grid. On jagged samples several widths may do; the search comes down
from the widest, so that it finds the gentlest. As p varies, the solutions form a path.

Scores here are on the upward scale (see `joint.Group`); `Path.curve` returns to the user's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.moments import Moments, bent_ramps, combined
from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_roots
from evenodds.model.curves import Curve
from evenodds.model.families import Family
from evenodds.model.groups import Group
from evenodds.model.joint import Orientation
from evenodds.model.pooling import widest_ramp
from evenodds.model.reach import ON_CURVE
from evenodds.model.roc import Point, roc_of

__all__ = ["Meeting", "Path"]

_HALF = np.array([0.5])  # p of a symmetric curve
_SLACK = 1e-14  # rates are compared up to this; summing them in another order changes as much
_EXACT = 1e-14  # Newton's method has settled
_NEGLIGIBLE = 1e-13  # a residual that need not be improved
_STAGES = (1e-2, 1e-4, 1e-7, 1e-11, 1e-15)  # relative widths of the bracket at which Newton's method tries again
_SINGULAR = 1e-10  # relative size of a determinant that is zero but for rounding
_QUICK_STEPS = 4  # of Newton's method
_NEWTON_STEPS = 12
_MANY = 2000  # scores that make rates smooth, so that a rung need not be placed exactly to tell whether it reaches
_QUICK = 1e-9
_ROUGHLY = 0.05  # of a width: where a curve is put first to see whether it reaches
_RUNGS = 8  # widths looked at together while coming down
_RUNG = np.sqrt(0.5)  # ratio of neighbouring widths
_FLAT = 1e12  # times the score range: a width that is as good as none
_WIDEST = 4.0  # times the score range: where the search starts unless something is proven


@dataclass(frozen=True, eq=False)
class Path:
    """Curves of one family through one point for one group, ordered by p; NaN thresholds where no curve meets it.

    Thresholds are on the upward scale.
    """

    family: Family
    p: Floats
    t0: Floats
    t1: Floats
    orientation: Orientation
    at_t0: float | None = None

    @property
    def lipschitz(self) -> Floats:
        """L_R along the path; NaN where there is no curve."""
        if np.isinf(self.t0).any():
            return np.zeros(self.p.shape)
        width = self.t1 - self.t0
        with np.errstate(divide="ignore"):
            return np.where(width == 0, np.inf, self.family.unit_slope(self.p) / width)

    @property
    def found(self) -> NDArray[np.bool_]:
        """Where a curve was found."""
        return ~np.isnan(self.t0)

    def __len__(self) -> int:
        return int(self.found.sum())

    def among(self, which: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Path:
        """Some of the path's curves."""
        return Path(self.family, self.p[which], self.t0[which], self.t1[which], self.orientation, self.at_t0)

    def at(self, i: int) -> Path:
        """The path that is only its i-th curve."""
        return self.among(slice(i, i + 1))

    def where_found(self) -> Path:
        """The path without the p at which no curve was found."""
        return self.among(self.found)

    def joined(self, more: Path) -> Path:
        """The path together with more curves of it, in order of p."""
        p = np.concatenate([self.p, more.p])
        order = np.argsort(p, kind="stable")
        t0, t1 = (np.concatenate(pair)[order] for pair in ((self.t0, more.t0), (self.t1, more.t1)))
        return Path(self.family, p[order], t0, t1, self.orientation, self.at_t0)

    def __iter__(self) -> Iterator[Curve]:
        return (self.curve(int(i)) for i in np.flatnonzero(self.found))

    def curve(self, i: int) -> Curve:
        """The i-th curve, on the user's own scale."""
        sign = 1.0 if self.orientation == "positive" else -1.0
        return Curve(
            self.family.name,
            sign * float(self.t0[i]),
            sign * float(self.t1[i]),
            float(self.p[i]),
            self.at_t0,
            orientation=self.orientation,
        )


class Meeting:
    """One group, one family and one point that the group's curve shall meet.

    With `hard` a vertex of the ROC is met by the single threshold itself; without it by a ramp in the gap below.
    """

    def __init__(
        self,
        group: Group,
        family: Family,
        point: Point,
        orientation: Orientation,
        *,
        hard: bool = True,
    ) -> None:
        self.hard = hard
        self.group = group
        self.family = family
        self.point = point
        self.orientation = orientation
        self.roc = roc_of(group)
        self._lowest, self._highest = group.ends
        self._plateau = self._flat_positions()
        self._below, self._at = self._threshold()

    # -- the two ends of every family, and the fixed curve ---------------------------------------------------------

    def single(self) -> Path | None:
        """The one curve there is, whatever p: a constant on the diagonal, a threshold at a vertex; else None."""
        f, t = self.point.fpr, self.point.tpr
        if abs(t - f) <= ON_CURVE:
            return self._one(-np.inf, np.inf, (f + t) / 2)
        if self.hard or not self.family.is_continuous:
            distance = np.maximum(np.abs(self.roc.fpr - f), np.abs(self.roc.tpr - t))
            vertex = int(np.argmin(distance))
            if distance[vertex] <= ON_CURVE:
                threshold = float(self.roc.scores[vertex - 1])  # never vertex 0: (0, 0) lies on the diagonal
                return self._one(threshold, threshold, 0.0)
        return None if self.family.is_continuous else self.fixed()

    def _one(self, t0: float, t1: float, p: float, at_t0: float | None = None) -> Path:
        return Path(self.family, np.array([p]), np.array([t0]), np.array([t1]), self.orientation, at_t0)

    def fixed(self) -> Path:
        """Fixed randomisation, exactly: of all chords through the point the one whose p is nearest to 1/2.

        With odds `at_t0` at t0 and p between t0 and t1 the point is q V + p E: V is the ROC vertex of the threshold
        t1, and E lies on the polyline between the vertices just above t0 and at t0. So a chord from a vertex V on the
        lower left, through the point, to its first meeting E with the polyline beyond it fixes t1, t0, p and at_t0.
        """
        f, t = self.point.fpr, self.point.tpr
        fpr, tpr, scores = self.roc.fpr, self.roc.tpr, self.roc.scores
        gap = self.roc.height(f) - t
        if abs(gap) <= ON_CURVE:
            return self._on_edge(np.arange(fpr.size))
        if gap < 0 and abs(self.roc.hull_height(f) - t) <= ON_CURVE:
            return self._on_edge(self.roc.hull_vertices)
        # This vertex and those after it lie to the right of the point and, unless it is in a dent, above it.
        beyond = max(int(np.searchsorted(fpr, f)), 0 if gap < 0 else int(np.searchsorted(tpr, t)))
        starts = np.flatnonzero((fpr <= f) & (tpr <= t) & (np.arange(fpr.size) < beyond))
        angle = np.arctan2(tpr[beyond:] - t, fpr[beyond:] - f)
        chord = np.arctan2(t - tpr[starts], f - fpr[starts])
        # Seen from the point, the polyline beyond turns down from the vertical, and the chord meets it where its
        # direction is first passed; in a dent, above the polyline, it turns up to the hull instead.
        if gap > 0:
            met = np.searchsorted(-np.minimum.accumulate(angle), -chord)
        else:
            met = np.searchsorted(np.maximum.accumulate(angle), chord)
        meets = beyond + met < fpr.size
        v, end = starts[meets], beyond + met[meets]
        # E = vertex before + share * edge, from the cross products of the chord with both ends of the edge.
        cx, cy = f - fpr[v], t - tpr[v]
        before, after = (cx * (tpr[i] - tpr[v]) - cy * (fpr[i] - fpr[v]) for i in (end - 1, end))
        share = np.clip(np.divide(before, before - after, out=np.ones(v.size), where=before != after), 0, 1)
        share[v == end - 1] = 1.0
        ex = fpr[end - 1] + share * (fpr[end] - fpr[end - 1]) - fpr[v]
        ey = tpr[end - 1] + share * (tpr[end] - tpr[end - 1]) - tpr[v]
        p = (cx + cy) / (ex + ey)
        i = int(np.argmin(np.abs(p - 0.5)))
        return self._one(float(scores[end[i] - 1]), self.roc.threshold(int(v[i])), float(p[i]), float(share[i] * p[i]))

    def _on_edge(self, vertices: NDArray[np.intp]) -> Path:
        """The point on an edge of the ROC, or of its hull over a dent: a mix of the two thresholds at its ends."""
        f, t = self.point.fpr, self.point.tpr
        along = self.roc.fpr[vertices] + self.roc.tpr[vertices]
        i = int(np.clip(np.searchsorted(along, f + t), 1, vertices.size - 1))
        v, end = vertices[i - 1], vertices[i]
        p = float(np.clip((f + t - along[i - 1]) / (along[i] - along[i - 1]), 0, 1))
        return self._one(float(self.roc.scores[end - 1]), self.roc.threshold(int(v)), p)

    # -- continuous curves --------------------------------------------------------------------------------------

    def path(self, p: Floats, steepest: float = np.inf) -> Path:
        """For each p the widest curve that meets the point, if its slope is at most `steepest`."""
        t0, width = self._widest(p, steepest)
        return Path(self.family, p, t0, t0 + width, self.orientation)

    def near(self, p: float, t0: float, t1: float) -> tuple[float, float]:
        """The thresholds of a curve that meets the point, by Newton's method from nearby ones; NaN if that fails."""
        start, width = self._newton(np.array([p]), np.array([t0]), np.array([t1 - t0]))
        return float(start[0]), float(start[0] + width[0])

    def follow(self, path: Path, p: Floats, steepest: float = np.inf) -> Path:
        """More curves of a path, from Newton's method started between those at hand; searched for where that fails."""
        known = path.found
        guess_t0 = np.interp(p, path.p[known], path.t0[known])
        guess_width = np.interp(p, path.p[known], (path.t1 - path.t0)[known])
        t0, width = self._newton(p, guess_t0, guess_width)
        ramp = self._ramp(p)
        if ramp is not None:
            t0, width = np.where(np.isnan(t0), ramp[0], t0), np.where(np.isnan(width), ramp[1], width)
        # A width far from its neighbours' belongs to another branch of solutions.
        lost = np.flatnonzero(~(np.abs(np.log(width / guess_width)) < -np.log(_RUNG)))
        if lost.size:
            t0[lost], width[lost] = self._widest(p[lost], steepest)
        return Path(self.family, p, t0, t0 + width, self.orientation)

    def rates(self, t0: Floats, width: Floats, p: Floats, *, quick: bool = False) -> Floats:
        """(FPR, TPR) of curves, of shape (n, 2)."""
        samples = self.group.moments.samples
        if quick and self.family.is_straight and all(s.is_wide(width * np.minimum(p, 1 - p)) for s in samples):
            knot = t0 + (1 - p) * width
            return np.concatenate([bent_ramps(s, t0, knot, t0 + width, p) for s in samples]).T
        return self.group.moments.expectation(self.family.layout(t0, t0 + width, p), quick=quick)

    def _threshold(self) -> tuple[float, float]:
        """Scores of two neighbouring negatives: a yes from the first on has an FPR above f*, beyond the second not.

        So every curve with FPR f* ends after the first and begins before the second.
        """
        f = self.point.fpr + _SLACK
        if self.group.sides is not None:
            side = self.group.sides[0]
            scores = side.points
            enough = 1 - f
            first = int(np.ceil(enough * scores.size) if side.given is None else np.searchsorted(side.sums[0], enough))
        else:
            has = self.group.negatives > 0
            scores = self.group.scores[has]
            first = int(np.searchsorted(-self.roc.fpr[:0:-1][has], -f))
        above = float(scores[first]) if 0 <= first < scores.size else self._highest
        return (float(scores[min(first, scores.size) - 1]) if first > 0 else self._lowest), above

    def _flat_positions(self) -> tuple[float, float] | None:
        """If f* is the share of negatives above a gap in their scores: the gap's lower end and its width.

        Any curve inside the gap has FPR = f*, whatever its position; the leftmost, from the gap's lower end, has the
        highest TPR, so it is the one to follow.
        """
        if self.group.sides is not None:
            return self._flat_positions_of(self.group.sides[0])
        has = self.group.negatives > 0
        scores = self.group.scores[has]
        above = np.append(self.roc.fpr[:0:-1][has], 0.0)  # share of negatives at or above each score, then nobody
        hit = int(np.argmin(np.abs(above - self.point.fpr)))
        if hit == 0 or abs(above[hit] - self.point.fpr) > _SLACK:
            return None
        upper = float(scores[hit]) if hit < scores.size else np.inf
        return float(scores[hit - 1]), upper - float(scores[hit - 1])

    def _flat_positions_of(self, negatives: Moments) -> tuple[float, float] | None:
        """The same for a large group."""
        scores, below = negatives.points, 1 - self.point.fpr
        if negatives.given is None:
            hit = round(below * scores.size)
        else:
            hit = int(np.searchsorted(negatives.sums[0], below - _SLACK))
        if not 0 < hit <= scores.size or abs(float(negatives.before(np.array(hit))[0]) - below) > _SLACK:
            return None
        upper = float(scores[hit]) if hit < scores.size else np.inf
        return (float(scores[hit - 1]), upper - float(scores[hit - 1])) if upper > scores[hit - 1] else None

    def _positions(
        self, width: Floats, p: Floats, lo: Floats, hi: Floats, *, quick: bool = False, within: float = 1e-15
    ) -> tuple[Floats, Floats]:
        """The t0 between lo and hi at which the FPR is f*, from the left and from the right, within so many widths."""
        f = self.point.fpr
        fixed = np.zeros(width.shape, bool) if self._plateau is None else width <= self._plateau[1]
        left = np.full(width.shape, 0.0 if self._plateau is None else self._plateau[0])
        right = left.copy()
        free = np.flatnonzero(~fixed)
        if free.size:
            w, q = width[free], p[free]

            def excess(at: Floats, i: NDArray[np.intp]) -> Floats:
                return np.asarray(self.rates(at, w[i], q[i], quick=quick)[:, 0] - f)

            lo, hi = lo[free], hi[free]
            ends = excess(np.concatenate([lo, hi]), np.tile(np.arange(free.size), 2))
            left[free], right[free] = bracketed_roots(
                excess, lo, hi, ends[: free.size], ends[free.size :], tolerance=within * w
            )
        return left, right

    def _widest(self, p: Floats, steepest: float) -> tuple[Floats, Floats]:
        """Position and width of the widest solution for each p; NaN where none has a slope of at most `steepest`."""
        t0, width = np.full(p.size, np.nan), np.full(p.size, np.nan)
        floor = np.full(p.size, self._narrowest if np.isinf(steepest) else 0.0)
        least = self.family.unit_slope(p) / steepest
        ramp = self._ramp(p)
        on_ramp = np.zeros(p.size, bool)
        if ramp is not None:
            floor = ramp[1]
            t0, width = (np.where(floor >= least, end, np.nan) for end in ramp)
        elif np.array_equal(p, _HALF) and (near := self._from_pooled(least)) is not None:
            return near
        narrow, wide, t0_narrow, t0_wide = self._bracket(p, np.maximum(floor, least))
        if ramp is not None:
            on_ramp = (narrow == floor) & (floor >= least)
        found = np.flatnonzero(~np.isnan(narrow) & ~on_ramp)
        if not found.size:
            return t0, width
        t0[found], width[found] = self._newton(p[found], t0_narrow[found], narrow[found])
        missed = found[~((width[found] >= narrow[found]) & (width[found] <= wide[found]))]
        if missed.size:
            t0[missed], width[missed] = self._nested(
                p[missed], narrow[missed], wide[missed], t0_narrow[missed], t0_wide[missed]
            )
        return t0, width

    @cached_property
    def _pooled_ramp(self) -> tuple[float, float] | None:
        return widest_ramp(self.group, self.point)

    @property
    def slope_floor(self) -> float:
        """What no rising curve's slope falls below, whatever its family; 0 where nothing is proven."""
        return 0.0 if self._pooled_ramp is None else (1 - 1e-9) / self._pooled_ramp[1]

    def _from_pooled(self, least: Floats) -> tuple[Floats, Floats] | None:
        """Position and width of the symmetric curve, by Newton's method from the pooled group's ramp.

        Only if it is so near that the search from the widest curve down would find no other.
        """
        if self._pooled_ramp is None:
            return None
        start, pooled_width = self._pooled_ramp
        guess = self.family.unit_slope(_HALF) * pooled_width
        t0, width = self._newton(_HALF, start + (pooled_width - guess) / 2, guess)
        return (t0, width) if (width >= np.maximum(_RUNG * guess, least)).all() else None

    @cached_property
    def _narrowest(self) -> float:
        """So narrow a curve sees one score at a time, and traces the ROC polyline."""
        gaps = (np.diff(scores) for scores in self.group.score_lists)
        return 0.49 * float(min((gap[gap > 0].min() for gap in gaps if (gap > 0).any()), default=1.0))

    def _ramp(self, p: Floats) -> tuple[Floats, Floats] | None:
        """Position and width of the widest curve that treats but one score apart, if the point is on the polyline.

        Between two neighbouring vertices of the ROC the people at one score have odds of their own, all above it 1
        and all below it 0. A target there is this ramp itself, not a limit of roots.
        """
        f, t = self.point.fpr, self.point.tpr
        if abs(self.roc.height(f) - t) > ON_CURVE:
            return None
        fpr, tpr = self.roc.fpr, self.roc.tpr
        edge = int(np.searchsorted(fpr + tpr, f + t))  # the first vertex beyond the point
        share = (f + t - fpr[edge - 1] - tpr[edge - 1]) / (fpr[edge] + tpr[edge] - fpr[edge - 1] - tpr[edge - 1])
        i = self.group.scores.size - edge  # the score whose people have odds `share`
        gap_below = self.group.scores[i] - self.group.scores[i - 1] if i > 0 else np.inf
        gap_above = self.group.scores[i + 1] - self.group.scores[i] if edge > 1 else np.inf
        x = self.where_unit_odds_are(share, p)
        with np.errstate(divide="ignore"):
            width = np.minimum(gap_below / x, gap_above / (1 - x))
        return self.group.scores[i] - x * width, width

    def where_unit_odds_are(self, odds: float, p: Floats, *, within: float = 0.0) -> Floats:
        """The x at which curves between thresholds 0 and 1 have these odds, as exactly as asked for."""
        at_zero = Moments(np.zeros(1), np.ones((1, 1)))

        def excess(x: Floats, i: NDArray[np.intp]) -> Floats:
            return at_zero.expectation(self.family.layout(-x, 1 - x, p[i]))[:, 0] - odds

        ones = np.ones(p.size)
        return bracketed_roots(excess, ones, 0 * ones, (1 - odds) * ones, -odds * ones, tolerance=within * ones)[1]

    def _bracket(self, p: Floats, floor: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Two neighbouring widths for each p, the narrower one reaching t* and the wider not.

        And a position right of the narrower one's and one left of the wider one's: between them are those of all widths
        in between.
        """
        t = self.point.tpr - _NEGLIGIBLE  # as good as quick rates are
        finely = _QUICK if self.group.score_count > _MANY else 1e-13
        n = p.size
        narrow, t0_narrow = np.full(n, np.nan), np.full(n, np.nan)

        def look(width: Floats, who: NDArray[np.intp]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
            """Positions left and right of the one with the FPR, and whether the TPR is reached there."""
            # The TPR falls with the position: from both sides of a rough one it often tells already.
            left, right = self._positions(
                width, p[who], self._below - width, np.full(width.shape, self._at), quick=True, within=_ROUGHLY
            )
            before, after = np.split(
                self.rates(np.append(left, right), np.tile(width, 2), np.tile(p[who], 2), quick=True)[:, 1], 2
            )
            near = np.flatnonzero((before >= t) & (after < t))
            if near.size:
                w, q = width[near], p[who][near]
                left[near], right[near] = self._positions(w, q, left[near], right[near], quick=True, within=finely)
                after[near] = self.rates(right[near], w, q, quick=True)[:, 1]
            return left, right, after >= t

        if self.slope_floor > 0:  # no curve is wider, by proof
            wide, rising = np.maximum(self.family.unit_slope(p) / self.slope_floor, floor), np.arange(0)
        else:
            wide, rising = np.maximum(_WIDEST * (self._highest - self._lowest), 2 * floor), np.arange(n)
        t0_wide = self._below - wide  # left of every position
        # Up: widen until the curve is so flat that its TPR falls short of t*.
        while rising.size:
            t0_wide[rising], right, reached = look(wide[rising], rising)
            # A curve that is flat for all that matters reaches the diagonal alone, and the point is as good as there.
            reached &= wide[rising] < _FLAT * np.maximum(self._highest - self._lowest, floor[rising])
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
            seen = look(rungs[fresh], np.broadcast_to(falling[:, None], rungs.shape)[fresh])
            left, right, reached = (a[rung] for a in seen)
            ladder = np.column_stack([wide[falling], rungs])
            places = np.column_stack([t0_wide[falling], left])
            got = reached.any(axis=1)
            hit = np.where(got, reached.argmax(axis=1), _RUNGS)
            row = np.arange(falling.size)
            wide[falling], t0_wide[falling] = ladder[row, hit], places[row, hit]
            row, hit = row[got], hit[got]
            narrow[falling[got]], t0_narrow[falling[got]] = rungs[row, hit], right[row, hit]
            falling = falling[~got & (wide[falling] > floor[falling])]
        return narrow, wide, t0_narrow, t0_wide

    def _newton(self, p: Floats, t0: Floats, width: Floats) -> tuple[Floats, Floats]:
        """Newton's method for both thresholds at once; NaN where it does not settle on the point."""
        target = np.array([self.point.fpr, self.point.tpr])
        t0, t1 = t0.copy(), t0 + width
        error = np.full(p.size, np.inf)
        isolated = np.zeros(p.size, bool)
        live = np.arange(p.size)
        for step in range(_NEWTON_STEPS):
            quick = step < _QUICK_STEPS and error.max(initial=0) > _QUICK  # no step of these may be the last
            a, b = t0[live], t1[live]
            pieces = self.family.layout(a, b, p[live])
            local = self.group.moments.local(pieces, quick=quick)
            miss = combined(pieces.coefficients, local) - target
            error[live] = np.abs(miss).max(axis=-1)
            # d odds / d t1 = -slope x and d odds / d t0 = slope (x - 1), with x = (r - t0) / (t1 - t0).
            slope = pieces.derivative()
            by_t1 = -slope.times_affine(-a / (b - a), 1 / (b - a)).coefficients
            by_t0 = -by_t1
            by_t0[..., :-1] -= slope.coefficients
            (f0, h0), (f1, h1) = (combined(c, local).T for c in (by_t0, by_t1))
            det = f0 * h1 - f1 * h0
            isolated[live] = np.abs(det) > _SINGULAR * (np.abs(f0 * h1) + np.abs(f1 * h0))
            ok = ((error[live] > np.maximum(_EXACT, _noise(a, b - a))) | quick) & (np.abs(det) > 0)
            error[live[~ok & quick]] = np.inf
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                da = (miss[:, 0] * h1 - miss[:, 1] * f1) / det
                db = (miss[:, 1] * f0 - miss[:, 0] * h0) / det
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

    def _nested(
        self, p: Floats, narrow: Floats, wide: Floats, t0_narrow: Floats, t0_wide: Floats
    ) -> tuple[Floats, Floats]:
        """The width between `narrow` and `wide` at which the TPR is t*, by nested roots that cannot be lost.

        The bracket is narrowed stage by stage, and each time Newton's method tries to finish.
        """
        t = self.point.tpr - _SLACK
        t0, width = np.full(p.size, np.nan), np.full(p.size, np.nan)
        left = np.arange(p.size)
        for tolerance in _STAGES:
            q, lo, hi = p[left], t0_wide[left], t0_narrow[left]

            # t0 falls and t1 rises with the width, so the positions of both ends bracket every position between.
            def excess(w: Floats, i: NDArray[np.intp], q: Floats = q, lo: Floats = lo, hi: Floats = hi) -> Floats:
                return np.asarray(self.rates(self._positions(w, q[i], lo[i], hi[i])[1], w, q[i])[:, 1] - t)

            ends = [self.rates(x, w[left], q)[:, 1] - t for x, w in ((hi, narrow), (lo, wide))]
            narrow[left], wide[left] = bracketed_roots(
                excess, narrow[left], wide[left], ends[0], ends[1], tolerance=tolerance * narrow[left]
            )
            t0_narrow[left], t0_wide[left] = (self._positions(w[left], q, lo, hi)[1] for w in (narrow, wide))
            t0[left], width[left] = self._newton(q, t0_wide[left], wide[left])
            left = left[np.isnan(t0[left])]
            # Where the TPR leaves t* without a slope Newton's method is blind, but the width hardly matters.
            miss = self.rates(t0_wide[left], wide[left], p[left]) - (self.point.fpr, self.point.tpr)
            enough = np.maximum(_NEGLIGIBLE, _noise(t0_wide[left], wide[left]))
            done = (np.abs(miss).max(axis=-1) <= enough) | (tolerance == _STAGES[-1])
            t0[left[done]], width[left[done]] = t0_wide[left[done]], wide[left[done]]
            left = left[~done]
            if not left.size:
                break
        return t0, width


def _noise(t0: Floats, width: Floats) -> Floats:
    """What rounding thresholds to floats changes the odds by; infinite where they are the same float."""
    with np.errstate(divide="ignore"):
        return np.asarray(8 * np.spacing(np.maximum(np.abs(t0), np.abs(t0 + width))) / width)
