"""Moments of weighted points over the intervals of piecewise polynomials, in O(log n) each after one sort.

The textbook way, differences of prefix moments sum w r^k, loses (range / width)^4 in precision on narrow curves.
Here the points are cut into leaves and the leaves are joined pairwise into a tree; each node keeps its moments about
its own centre, scaled by its own half-width. A slice of points is then the few points at its two ends, taken one by
one, and at most two nodes of each level, whose local moments never cancel. Prefix moments serve where a search may be
off by 1e-13 and the curve is wide enough for them to be as good as that; of many points they are kept only here and
there, so that what is kept beside the points themselves is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats, Pieces

__all__ = ["Moments", "Sample", "SplitMoments", "combined", "ramps", "ramps_from"]

_DEGREE = 4  # the quartic is the highest polynomial there is
_LEAF = 256  # points that are summed one by one
_SMALL_LEAF = 64  # where there are many, and their ends are all that is looked at
_FEW = 1 << 16  # points whose every prefix is kept
_CACHED = 256  # leaves at a time
_STRIDE = 16  # points between those whose first moments are kept
_STRETCH = 1 << 9  # strides at a time
_EXACT_ENOUGH = 30.0  # half the range by the scale, up to which first moments of many points err by 4e-15
_WIDE_ENOUGH = (np.inf, 500.0, 15.0, 5.0, 2.5)  # half the range by the piece's scale, up to which prefixes err by 1e-13

_Index = NDArray[np.intp]


class Moments:
    """Weighted points, ready for expectations of piecewise polynomials.

    Parameters
    ----------
    points : array of shape (n,), ascending
    weights : array of shape (m, n), or None
        m weightings of the same points, answered together; None for one weighting of 1 each, which takes no memory.
    totals : array of shape (m,), optional
        What the weights are divided by. Sums of whole weights stay exact when they are divided only afterwards.

    Examples
    --------
    >>> ramp = Pieces.joined([0, 1], origin=[0, 0, 0], scale=[1, 1, 1], coefficients=[[0, 0], [0, 1], [1, 0]])
    >>> Moments(np.array([-1.0, 0.25, 2.0]), np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]])).expectation(ramp)
    array([1.25, 0.25])
    """

    def __init__(self, points: Floats, weights: Floats | None, totals: Floats | None = None) -> None:
        self.points = points
        self.given = weights
        self._totals = np.ones(1 if weights is None else len(weights)) if totals is None else totals
        self._leaf = min(_LEAF if points.size <= _FEW else _SMALL_LEAF, points.size)
        self._trees: dict[int, list[tuple[Floats, Floats, Floats]]] = {}
        self._prefixes: dict[int, Floats] = {}

    def __getstate__(self) -> tuple[Floats, Floats | None, Floats]:
        """What it was made of; all else is computed again where it is asked for."""
        return self.points, self.given, self._totals

    def __setstate__(self, state: tuple[Floats, Floats | None, Floats]) -> None:
        """Lock what comes out of a pickle, which has no word for locked arrays."""
        for array in state:
            if array is not None:
                array.setflags(write=False)
        self.__init__(*state)  # type: ignore[misc]

    def moved(self, by: float) -> Moments:
        """The same with every point moved."""
        return Moments(self.points + by, self.given, self._totals)

    @property
    def samples(self) -> tuple[Moments, ...]:
        """Itself, as the only one: see `SplitMoments`."""
        return (self,)

    def expectation(self, pieces: Pieces, *, quick: bool = False) -> Floats:
        """Sum of weight * value(point), of shape (..., m): one number for each curve and weighting.

        With `quick` it may be off by 1e-13 of the total weight.
        """
        return combined(pieces.coefficients, self.local(pieces, quick=quick))

    def local(self, pieces: Pieces, *, quick: bool = False) -> Floats:
        """Sum of weight * u^k over the points of each piece, of shape (..., B, d + 1, m).

        Any polynomial in the same local variables is a linear combination of these. Where a piece is constant only
        k = 0 is filled in, since nothing else is asked of it.
        """
        degree = pieces.coefficients.shape[-1] - 1
        ends = np.searchsorted(self.points, pieces.breaks, side="left" if pieces.closed == "left" else "right")
        bounds = np.zeros((*ends.shape[:-1], ends.shape[-1] + 2), np.intp)
        bounds[..., 1:-1], bounds[..., -1] = ends, self.points.size
        first, last = bounds[..., :-1].ravel(), bounds[..., 1:].ravel()
        moments = np.zeros((first.size, degree + 1, self._totals.size))
        moments[:, 0] = (self.before(last) - self.before(first)).T
        curved = pieces.coefficients[..., 1:].any(axis=-1).ravel() & (last > first)
        origin, scale = pieces.origin.ravel(), pieces.scale.ravel()
        wide_enough = _WIDE_ENOUGH[degree] if quick else self._exact_enough(degree)
        if wide_enough and degree and curved.any():
            wide = curved & (np.abs(scale) * wide_enough >= self.frame[1])
            moments[wide, 1:] = self._differences(first[wide], last[wide], origin[wide], scale[wide], degree)
            curved &= ~wide
        if curved.any():
            moments[curved, 1:] = self._slices(first[curved], last[curved], origin[curved], scale[curved], degree)
        return moments.reshape(*pieces.lo.shape, *moments.shape[1:])

    def is_wide(self, width: Floats, degree: int = 1) -> bool:
        """Whether prefix moments of pieces of such widths err by no more than 1e-13."""
        return bool(width.size and width.min() * _WIDE_ENOUGH[degree] >= self.frame[1])

    def _exact_enough(self, degree: int) -> float:
        """Up to which ratio prefix moments are as exact as the tree's."""
        return _EXACT_ENOUGH if degree == 1 and self.points.size > _FEW else 0.0

    # -- sums of all points before a position ------------------------------------------------------------------------

    def before(self, position: _Index) -> Floats:
        """Sum of the weights of the points before each position, of shape (m, ...)."""
        if self.given is None:
            return np.asarray(position / self._totals[0])[None]
        return np.asarray(self.sums[:, position])

    @cached_property
    def sums(self) -> Floats:
        """Sums of the weights before every point, where there are weights, of shape (m, n + 1)."""
        given = np.zeros((1, 0)) if self.given is None else self.given
        return np.pad(np.cumsum(given, axis=1), ((0, 0), (1, 0))) / self._totals[:, None]

    @cached_property
    def _weights(self) -> Floats | None:
        return None if self.given is None else self.given / self._totals[:, None]

    @cached_property
    def frame(self) -> tuple[float, float]:
        """Centre and half-width of all points."""
        centre, half = (float(end) for end in _frame(self.points[0], self.points[-1]))
        return centre, half

    def powers_before(self, position: _Index, degree: int) -> Floats:
        """Sums of weight * z^k, k = 0 ... degree, over the points before each position, of shape (m, degree + 1, n).

        z is (point - centre) / half-width, by the frame of all points.
        """
        if self.points.size <= _FEW:
            return np.asarray(self._prefix(_kept(degree))[:, : degree + 1, position])
        if degree == 1:
            return np.stack([self.before(position), self._first_before(position)], axis=1)
        leaf = np.minimum(position // self._leaf, self._leaves - 1)
        first = leaf * self._leaf
        centre, half = self.frame
        own = self._ends(leaf, first, position, np.full(first.size, centre), np.full(first.size, half), degree)
        sums = self._prefix(degree)[:, :, leaf]
        sums[:, 0] = self.before(position)
        sums[:, 1:] += np.moveaxis(own, (0, 1, 2), (2, 1, 0))
        return sums

    @cached_property
    def strides(self) -> Floats:
        """Sums of weight * (point - centre) before every 16th point, not divided by the totals, of shape (m, n / 16).

        Each is rounded but once, whatever their number.
        """
        count = self.points.size // _STRIDE
        sums = np.zeros((self._totals.size, count + 1))
        ones = np.ones(_STRIDE)
        for start in range(0, count, _STRETCH):
            rows = slice(start, min(start + _STRETCH, count))
            points = slice(rows.start * _STRIDE, rows.stop * _STRIDE)
            terms = self.points[points] - self.frame[0]
            for side in range(self._totals.size):
                weighted = terms if self.given is None else terms * self.given[side, points]
                sums[side, rows.start + 1 : rows.stop + 1] = weighted.reshape(-1, _STRIDE) @ ones
        return np.cumsum(sums, axis=1, dtype=np.longdouble).astype(np.float64)

    def _first_before(self, position: _Index) -> Floats:
        """Sums of weight * z before each position, of shape (m, n)."""
        stride = position // _STRIDE
        last = stride[:, None] * _STRIDE + np.arange(_STRIDE)
        at = np.minimum(last, self.points.size - 1)
        terms = (self.points[at] - self.frame[0]) * (last < position[:, None])
        rest = terms.sum(axis=1)[None] if self.given is None else np.einsum("np,mnp->mn", terms, self.given[:, at])
        return np.asarray((self.strides[:, stride] + rest) / (self._totals[:, None] * self.frame[1]))

    def sums_below(self, at: Floats) -> tuple[Floats, Floats]:
        """Share of the weight below each number, and sum of weight * (point - centre) below it: see `Sample`."""
        sums = self.powers_before(np.searchsorted(self.points, at), 1)
        return sums[:, 0], self.frame[1] * sums[:, 1]

    @property
    def centre(self) -> float:
        """The middle of the points' range."""
        return self.frame[0]

    def _prefix(self, degree: int) -> Floats:
        """The sums before every point, or of many points before every leaf."""
        if degree not in self._prefixes:
            centre, half = self.frame
            if self.points.size <= _FEW:
                z = (self.points - centre) / half
                weights = np.full((1, z.size), 1 / self._totals[0]) if self._weights is None else self._weights
                powers = np.stack([weights * z**k for k in range(degree + 1)], axis=1)
            else:
                centres, halves, moments = self._levels(degree)[0]
                shift = _shift((centres - centre) / half, halves / half, degree)
                powers = np.einsum("lkj,mlj->mkl", shift, moments)
            self._prefixes[degree] = np.pad(np.cumsum(powers, axis=-1), ((0, 0), (0, 0), (1, 0)))
        return self._prefixes[degree]

    def _differences(self, first: _Index, last: _Index, origin: Floats, scale: Floats, degree: int) -> Floats:
        """The same as `_slices` from prefix moments: quick, but they cancel on narrow pieces."""
        centre, half = self.frame
        raw = self.powers_before(last, degree) - self.powers_before(first, degree)
        shift = _shift((centre - origin) / scale, half / scale, degree)
        return np.asarray(np.einsum("skj,mjs->skm", shift[:, 1:], raw))

    # -- slices of points from the tree ------------------------------------------------------------------------------

    @property
    def _leaves(self) -> int:
        return -(-self.points.size // self._leaf)

    def _slices(self, first: _Index, last: _Index, origin: Floats, scale: Floats, degree: int) -> Floats:
        """Sum over points[first:last] of weight * u^k, k = 1 ... degree, for many slices at once."""
        if self._leaves == 1:
            return self._ends(None, first, last, origin, scale, degree)
        first_leaf, last_leaf = first // self._leaf, (last - 1) // self._leaf
        total = self._ends(first_leaf, first, last, origin, scale, degree)
        s = np.flatnonzero(last_leaf > first_leaf)
        if s.size:
            total[s] += self._ends(last_leaf[s], first[s], last[s], origin[s], scale[s], degree)
            self._add_nodes(total, s, first_leaf[s] + 1, last_leaf[s], origin, scale)
        return total

    def _ends(
        self, leaf: _Index | None, first: _Index, last: _Index, origin: Floats, scale: Floats, degree: int
    ) -> Floats:
        """The part of each slice that lies in one leaf (None: there is but one), point by point."""
        inside = np.arange(self._leaf) + (0 if leaf is None else leaf[:, None] * self._leaf)
        at = np.minimum(inside, self.points.size - 1)
        u = (self.points[at] - origin[:, None]) / scale[:, None]
        # Points outside the slice get u = 0, which adds nothing to any power from 1 on.
        u *= (inside >= first[:, None]) & (inside < last[:, None])
        power = u
        total = np.empty((first.size, degree, self._totals.size))
        weights = None if self._weights is None else self._weights[:, at]
        for k in range(degree):
            power = power * u if k else u
            if weights is None:
                total[:, k, 0] = power.sum(axis=1) / self._totals[0]
            elif leaf is None:
                total[:, k] = power @ weights.T
            else:
                total[:, k] = np.einsum("sp,msp->sm", power, weights)
        return total

    def _add_nodes(
        self, total: Floats, which: _Index, left: _Index, right: _Index, origin: Floats, scale: Floats
    ) -> None:
        """Add the whole leaves left..right-1 of each slice, climbing the tree: at most two nodes a level."""
        degree = total.shape[1]
        levels = self._levels(degree)
        for level, (centre, half, moments) in enumerate(levels):
            top = level == len(levels) - 1
            unfinished = left < right
            which, left, right = which[unfinished], left[unfinished], right[unfinished]
            if not which.size:
                return
            ends = (
                (left, np.ones(left.size, bool) if top else left % 2 == 1),
                (right - 1, right - left > 1 if top else right % 2 == 1),
            )
            for node, taken in ends:
                at, n = which[taken], node[taken]
                shift = _shift((centre[n] - origin[at]) / scale[at], half[n] / scale[at], degree)
                total[at] += np.einsum("skj,msj->skm", shift[:, 1:], moments[:, n])
            left, right = (left + 1) // 2, right // 2

    def _levels(self, degree: int) -> list[tuple[Floats, Floats, Floats]]:
        """The tree with moments up to a degree; the quartic's, the highest there is, where points are few."""
        kept = degree if self.points.size > _FEW else _kept(degree)
        if kept not in self._trees:
            self._trees[kept] = self._tree(kept)
        return self._trees[kept] if kept == degree else [(c, h, m[..., : degree + 1]) for c, h, m in self._trees[kept]]

    def _tree(self, degree: int) -> list[tuple[Floats, Floats, Floats]]:
        """Levels from the leaves up: centre (nodes,), half-width (nodes,), moments (m, nodes, degree + 1)."""
        lo, hi, moments = self._leaf_moments(degree)
        centre, half = _frame(lo, hi)
        levels = [(centre, half, moments)]
        while centre.size > 2:  # noqa: PLR2004 two nodes at the top need no parent: a slice never takes it whole
            if centre.size % 2:  # an odd level gets an empty last node
                lo, hi = np.append(lo, hi[-1]), np.append(hi, hi[-1])
                centre, half = np.append(centre, hi[-1]), np.append(half, 1.0)
                moments = np.pad(moments, ((0, 0), (0, 1), (0, 0)))
            lo, hi = lo[::2], hi[1::2]
            up_centre, up_half = _frame(lo, hi)
            joined = np.zeros((moments.shape[0], lo.size, degree + 1))
            for child in (slice(0, None, 2), slice(1, None, 2)):
                shift = _shift((centre[child] - up_centre) / up_half, half[child] / up_half, degree)
                joined += np.einsum("nkj,mnj->mnk", shift, moments[:, child])
            centre, half, moments = up_centre, up_half, joined
            levels.append((centre, half, moments))
        return levels

    def _leaf_moments(self, degree: int) -> tuple[Floats, Floats, Floats]:
        """Ends of the leaves, and their moments of shape (m, leaves, degree + 1); the last leaf may be short."""
        lo = self.points[:: self._leaf]
        hi = np.append(self.points[self._leaf - 1 :: self._leaf], self.points[-1])[: lo.size]
        centre, half = _frame(lo, hi)
        whole = self.points.size // self._leaf
        moments = np.empty((self._totals.size, lo.size, degree + 1))
        for some in _blocks(whole, lo.size):
            start, stop = some.start * self._leaf, min(some.stop * self._leaf, self.points.size)
            rows = some.stop - some.start
            z = (self.points[start:stop].reshape(rows, -1) - centre[some, None]) / half[some, None]
            weights = None if self._weights is None else self._weights[:, start:stop].reshape(-1, *z.shape)
            power = np.ones_like(z)
            for k in range(degree + 1):
                if weights is None:
                    moments[0, some, k] = power.sum(axis=1) / self._totals[0]
                else:
                    moments[:, some, k] = np.einsum("mlp,lp->ml", weights, power)
                power = power * z
        return lo, hi, moments


class Sample(Protocol):
    """Weighted points of which sums below a number can be asked."""

    @property
    def centre(self) -> float:
        """A number amid the points."""

    def sums_below(self, at: Floats) -> tuple[Floats, Floats]:
        """Share of the weight below each number, and sum of weight * (point - centre), each of shape (m, n)."""


def ramps(sample: Sample, start: Floats, end: Floats) -> Floats:
    """Expectations of straight ramps from 0 at `start` to 1 at `end`, of shape (m, n).

    From prefix sums, which are off by 1e-16 times the range of the points by the width; where that would be felt, point
    by point.
    """
    if isinstance(sample, Moments) and not sample.is_wide(end - start):
        return sample.expectation(_ramp_pieces(start, end)).T
    return ramps_from(sample.sums_below(np.concatenate([start, end])), start, end, sample.centre)


def ramps_from(sums: tuple[Floats, Floats], start: Floats, end: Floats, centre: float) -> Floats:
    """The same from the sums below the starts and then the ends of the ramps."""
    n = start.size
    share, moment = sums
    inside = moment[:, n:] - moment[:, :n] - (start - centre) * (share[:, n:] - share[:, :n])
    return np.asarray(inside / (end - start) + 1 - share[:, n:])


def _ramp_pieces(start: Floats, end: Floats) -> Pieces:
    zero, one = np.zeros(start.shape), np.ones(start.shape)
    return Pieces.joined(
        np.stack([start, end], axis=-1),
        origin=np.stack([zero, start, zero], axis=-1),
        scale=np.stack([one, end - start, one], axis=-1),
        coefficients=np.broadcast_to([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], (*start.shape, 3, 2)),
    )


def bent_ramps(sample: Sample, start: Floats, knot: Floats, end: Floats, at_knot: Floats) -> Floats:
    """Expectations of ramps from 0 at `start` over `at_knot` at `knot` to 1 at `end`, of shape (m, n).

    As exact as `ramps` of the narrower half.
    """
    share, moment = (sums.reshape(len(sums), 3, -1) for sums in sample.sums_below(np.concatenate([start, knot, end])))
    from_start, from_knot = (
        (moment[:, i + 1] - moment[:, i] - (a - sample.centre) * (share[:, i + 1] - share[:, i])) / (b - a)
        + (1 - share[:, i + 1])
        for i, (a, b) in enumerate(((start, knot), (knot, end)))
    )
    return np.asarray(at_knot * from_start + (1 - at_knot) * from_knot)


def _blocks(whole: int, leaves: int) -> list[slice]:
    """Leaves by some hundreds, so that what is computed of them stays in the cache; a short last leaf by itself."""
    blocks = [slice(start, min(start + _CACHED, whole)) for start in range(0, whole, _CACHED)]
    return blocks + [slice(whole, leaves)] * (leaves > whole)


class SplitMoments:
    """Moments of several samples, each with points of its own, answered together as one `Moments` would."""

    def __init__(self, samples: Sequence[Moments]) -> None:
        self.samples = tuple(samples)

    def expectation(self, pieces: Pieces, *, quick: bool = False) -> Floats:
        """As `Moments.expectation`, of shape (..., m)."""
        return combined(pieces.coefficients, self.local(pieces, quick=quick))

    def local(self, pieces: Pieces, *, quick: bool = False) -> Floats:
        """As `Moments.local`, of shape (..., B, d + 1, m)."""
        return np.concatenate([sample.local(pieces, quick=quick) for sample in self.samples], axis=-1)


def _kept(degree: int) -> int:
    """Up to which degree sums are kept: straight lines are the most frequent, and need no more than their own."""
    return 1 if degree <= 1 else _DEGREE


def combined(coefficients: Floats, local: Floats) -> Floats:
    """The expectation of piecewise polynomials with these coefficients in the variables of `Moments.local`."""
    return np.asarray(np.einsum("...bk,...bkm->...m", coefficients, local))


def _frame(lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """Centre and half-width of nodes; a node of one repeated point has width 1 instead of 0."""
    half = (hi - lo) / 2
    return lo + half, np.where(half > 0, half, 1.0)


def _shift(alpha: Floats, beta: Floats, degree: int = _DEGREE) -> Floats:
    """Matrices S with (alpha + beta z)^k = sum_j S[k, j] z^j, one for each entry of alpha and beta."""
    matrix = np.zeros((*alpha.shape, degree + 1, degree + 1))
    matrix[..., 0, 0] = 1.0
    for k in range(1, degree + 1):  # row k is row k - 1 times (alpha + beta z)
        matrix[..., k, : degree + 1] = alpha[..., None] * matrix[..., k - 1, :]
        matrix[..., k, 1:] += beta[..., None] * matrix[..., k - 1, :-1]
    return matrix
