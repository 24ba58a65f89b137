"""Moments of weighted points over the intervals of piecewise polynomials, in O(log n) each after one sort.

The textbook way, differences of prefix moments sum w r^k, loses (range / width)^4 in precision on narrow curves.
Here the points are cut into leaves and the leaves are joined pairwise into a tree; each node keeps its moments about
its own centre, scaled by its own half-width. A slice of points is then the few points at its two ends, taken one by
one, and at most two nodes of each level, whose local moments never cancel. Prefix moments serve where a search may be
off by 1e-13 and the curve is wide enough for them to be as good as that.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats, Pieces

__all__ = ["Moments", "combined"]

_DEGREE = 4  # the quartic is the highest polynomial there is
_LEAF = 256  # points that are summed one by one
_WIDE_ENOUGH = (np.inf, 500.0, 15.0, 5.0, 2.5)  # half the range by the piece's scale, up to which prefixes err by 1e-13

_Index = NDArray[np.intp]


class Moments:
    """Weighted points, ready for expectations of piecewise polynomials.

    Parameters
    ----------
    points : array of shape (n,), ascending
    weights : array of shape (m, n)
        m weightings of the same points, answered together.
    totals : array of shape (m,), optional
        What the weights are divided by. Sums of whole weights stay exact when they are divided only afterwards.

    Examples
    --------
    >>> ramp = Pieces.joined([0, 1], origin=[0, 0, 0], scale=[1, 1, 1], coefficients=[[0, 0], [0, 1], [1, 0]])
    >>> Moments(np.array([-1.0, 0.25, 2.0]), np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 0.0]])).expectation(ramp)
    array([1.25, 0.25])
    """

    def __init__(self, points: Floats, weights: Floats, totals: Floats | None = None) -> None:
        divisor = np.ones((len(weights), 1)) if totals is None else totals[:, None]
        self._sorted = points
        self._before = np.pad(np.cumsum(weights, axis=1), ((0, 0), (1, 0))) / divisor
        weights = weights / divisor
        self._single = weights
        self._leaf = min(_LEAF, points.size)
        leaves = -(-points.size // self._leaf)
        padding = leaves * self._leaf - points.size
        # Padding repeats the last point at weight zero, so that no leaf is wider than its points.
        self._points = np.pad(points, (0, padding), mode="edge").reshape(leaves, self._leaf)
        self._weights = np.pad(weights, ((0, 0), (0, padding))).reshape(-1, leaves, self._leaf)
        self._levels = self._tree() if leaves > 1 else []

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
        ends = np.searchsorted(self._sorted, pieces.breaks, side="left" if pieces.closed == "left" else "right")
        bounds = np.zeros((*ends.shape[:-1], ends.shape[-1] + 2), np.intp)
        bounds[..., 1:-1], bounds[..., -1] = ends, self._sorted.size
        first, last = bounds[..., :-1].ravel(), bounds[..., 1:].ravel()
        moments = np.zeros((first.size, degree + 1, self._before.shape[0]))
        moments[:, 0] = (self._before[:, last] - self._before[:, first]).T
        curved = pieces.coefficients[..., 1:].any(axis=-1).ravel() & (last > first)
        origin, scale = pieces.origin.ravel(), pieces.scale.ravel()
        if quick and degree and curved.any():
            wide = curved & (np.abs(scale) * _WIDE_ENOUGH[degree] >= self._prefix[1])
            moments[wide, 1:] = self._differences(first[wide], last[wide], origin[wide], scale[wide], degree)
            curved &= ~wide
        if curved.any():
            moments[curved, 1:] = self._slices(first[curved], last[curved], origin[curved], scale[curved], degree)
        return moments.reshape(*pieces.lo.shape, *moments.shape[1:])

    @cached_property
    def _prefix(self) -> tuple[float, float, Floats]:
        """Centre, half-width, and sums of weight * z^k over the points before each, of shape (m, degree + 1, n + 1)."""
        centre, half = (float(end) for end in _frame(self._sorted[0], self._sorted[-1]))
        z = (self._sorted - centre) / half
        powers = np.stack([self._single * z**k for k in range(_DEGREE + 1)], axis=1)
        return centre, half, np.pad(np.cumsum(powers, axis=-1), ((0, 0), (0, 0), (1, 0)))

    def _differences(self, first: _Index, last: _Index, origin: Floats, scale: Floats, degree: int) -> Floats:
        """The same as `_slices` from prefix moments: quick, but they cancel on narrow pieces."""
        centre, half, before = self._prefix
        raw = before[:, : degree + 1, last] - before[:, : degree + 1, first]
        shift = _shift((centre - origin) / scale, half / scale, degree)
        return np.asarray(np.einsum("skj,mjs->skm", shift[:, 1:], raw))

    def _slices(self, first: _Index, last: _Index, origin: Floats, scale: Floats, degree: int) -> Floats:
        """Sum over points[first:last] of weight * u^k, k = 1 ... degree, for many slices at once."""
        if not self._levels:
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
        u = (self._points[0 if leaf is None else leaf] - origin[:, None]) / scale[:, None]
        # Points outside the slice get u = 0, which adds nothing to any power from 1 on.
        u *= (inside >= first[:, None]) & (inside < last[:, None])
        power = u
        total = np.empty((first.size, degree, self._weights.shape[0]))
        for k in range(degree):
            power = power * u if k else u
            if leaf is None:
                total[:, k] = power @ self._weights[:, 0].T
            else:
                total[:, k] = np.einsum("sp,msp->sm", power, self._weights[:, leaf])
        return total

    def _add_nodes(
        self, total: Floats, which: _Index, left: _Index, right: _Index, origin: Floats, scale: Floats
    ) -> None:
        """Add the whole leaves left..right-1 of each slice, climbing the tree: at most two nodes a level."""
        degree = total.shape[1]
        for level, (centre, half, moments) in enumerate(self._levels):
            top = level == len(self._levels) - 1
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
                shift = _shift((centre[n] - origin[at]) / scale[at], half[n] / scale[at])
                total[at] += np.einsum("skj,msj->skm", shift[:, 1 : degree + 1], moments[:, n])
            left, right = (left + 1) // 2, right // 2

    def _tree(self) -> list[tuple[Floats, Floats, Floats]]:
        """Levels from the leaves up: centre (nodes,), half-width (nodes,), moments (m, nodes, degree + 1)."""
        lo, hi = self._points[:, 0], self._points[:, -1]
        centre, half = _frame(lo, hi)
        z = (self._points - centre[:, None]) / half[:, None]
        moments = np.stack([np.einsum("mlp,lp->ml", self._weights, z**k) for k in range(_DEGREE + 1)], axis=-1)
        levels = [(centre, half, moments)]
        while centre.size > 2:  # noqa: PLR2004 two nodes at the top need no parent: a slice never takes it whole
            if centre.size % 2:  # an odd level gets an empty last node
                lo, hi = np.append(lo, hi[-1]), np.append(hi, hi[-1])
                centre, half = np.append(centre, hi[-1]), np.append(half, 1.0)
                moments = np.pad(moments, ((0, 0), (0, 1), (0, 0)))
            lo, hi = lo[::2], hi[1::2]
            up_centre, up_half = _frame(lo, hi)
            joined = np.zeros((moments.shape[0], lo.size, _DEGREE + 1))
            for child in (slice(0, None, 2), slice(1, None, 2)):
                shift = _shift((centre[child] - up_centre) / up_half, half[child] / up_half)
                joined += np.einsum("nkj,mnj->mnk", shift, moments[:, child])
            centre, half, moments = up_centre, up_half, joined
            levels.append((centre, half, moments))
        return levels


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
