"""Sorted weighted points, and their expectations of piecewise polynomials: O(log n) each after one sort.

The textbook way, differences of prefix moments sum w r^k, loses (range / width)^4 in precision on narrow curves.
Here the points are cut into leaves and the leaves are joined pairwise into a tree; each node keeps its moments about
its own centre, scaled by its own half-width. A slice of points is then the few points at its two ends, taken one by
one, and at most two nodes of each level, whose local moments never cancel. Prefix moments serve where a search may be
off by 1e-13 and the curve is wide enough for them to be as good as that; of many points they are kept only here and
there, so that what is kept beside the points themselves is small.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats, Pieces

__all__ = ["WIDE_ENOUGH", "Sample", "expected", "kept_degree", "locked", "shifted"]

_DEGREE = 4  # the quartic is the highest polynomial there is
_LEAF = 256  # points that are summed one by one
_SMALL_LEAF = 64  # where there are many, and their ends are all that is looked at
FEW = 1 << 16
"""Up to so many points the sums before every one of them are kept."""
_CACHED = 256  # leaves at a time
_STRIDE = 16  # points between those whose first moments are kept
_STRETCH = 1 << 9  # strides at a time
_EXACT_ENOUGH = 30.0  # half the range by the scale, up to which first moments of many points err by 4e-15
WIDE_ENOUGH = (np.inf, 500.0, 15.0, 5.0, 2.5)
"""Half the range by a piece's scale, up to which prefix moments of a degree err by 1e-13."""

_Index = NDArray[np.intp]


class Sample:
    """Sorted points with weights, ready for expectations of piecewise polynomials.

    Parameters
    ----------
    points : array of shape (n,), ascending
        Several may be equal.
    weights : array of shape (n,), or None
        None for 1 each, which takes no memory.
    squares : array of shape (n,), optional
        Where a point stands for several weighted individuals: the sum of their squared weights. Without it weights
        are those of one individual each, or with `counted` numbers of individuals.
    counted : bool
        Whether weights are numbers of individuals, as they are where there are none.

    Examples
    --------
    >>> ramp = Pieces.joined([0, 1], origin=[0, 0, 0], scale=[1, 1, 1], coefficients=[[0, 0], [0, 1], [1, 0]])
    >>> round(float(Sample(np.array([-1.0, 0.25, 2.0])).expectation(ramp)), 6)
    0.416667
    """

    def __init__(
        self, points: Floats, weights: Floats | None = None, *, squares: Floats | None = None, counted: bool = False
    ) -> None:
        self.points = points
        self.given = weights
        """The weights as they were given: None where everybody counts once."""
        self._squares = squares
        self.counted = counted or weights is None
        for array in (points, weights, squares):
            if array is not None:
                locked(array)
        self.size = points.size
        self.is_few = points.size <= FEW
        """Whether sums before every point are kept."""
        self._leaf = max(1, min(_LEAF if self.is_few else _SMALL_LEAF, points.size))
        self._trees: dict[int, list[tuple[Floats, Floats, Floats]]] = {}
        self._prefixes: dict[int, Floats] = {}

    def __getstate__(self) -> dict[str, Any]:
        """What it was made of; all else is computed again where it is asked for."""
        return {"points": self.points, "weights": self.given, "squares": self._squares, "counted": self.counted}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Made again, so that its arrays cannot be changed."""
        Sample.__init__(self, **state)

    def moved(self, by: float) -> Sample:
        """The same with every point moved."""
        return Sample(self.points + by, self.given, squares=self._squares, counted=self.counted)

    @cached_property
    def total(self) -> float:
        """The whole weight, summed in order, as the sums of the first so many are."""
        return float(self.size if self.given is None else self.sums[-1])

    @property
    def weights(self) -> Floats:
        """The weights, also where they are 1 each."""
        return np.ones(self.size) if self.given is None else self.given

    @property
    def squares(self) -> Floats | None:
        """Sums of squared weights of the individuals at each point; None where weights are numbers of individuals."""
        if self.counted or self.given is None:
            return None
        return self.given**2 if self._squares is None else self._squares

    @property
    def square_sums(self) -> Floats:
        """Sums of squared weights for every sample: where weights are numbers of individuals, each of them adds 1."""
        return self.weights if self.squares is None else self.squares

    @cached_property
    def n_effective(self) -> float:
        """Kish's number of equally weighted individuals who would tell as much."""
        squares = self.squares
        if squares is None:
            return self.total
        return float(self.total**2 / squares.sum()) if self.total > 0 else 0.0

    @property
    def mean(self) -> float:
        """The weighted mean of the points."""
        return self.frame[0] + float(self.sums_below(np.array([np.inf]))[1][0])

    def expectation(self, pieces: Pieces, *, quick: bool = False) -> Floats:
        """Mean of value(point), one number for each curve; with `quick` it may be off by 1e-13."""
        return expected(pieces.coefficients, self.local(pieces, quick=quick))

    def local(self, pieces: Pieces, *, quick: bool = False) -> Floats:
        """Mean of u^k over the points of each piece, of shape (..., B, d + 1).

        Any polynomial in the same local variables is a linear combination of these. Where a piece is constant only
        k = 0 is filled in, since nothing else is asked of it.
        """
        degree = pieces.coefficients.shape[-1] - 1
        ends = np.searchsorted(self.points, pieces.breaks, side="left" if pieces.closed == "left" else "right")
        bounds = np.zeros((*ends.shape[:-1], ends.shape[-1] + 2), np.intp)
        bounds[..., 1:-1], bounds[..., -1] = ends, self.size
        first, last = bounds[..., :-1].ravel(), bounds[..., 1:].ravel()
        moments = np.zeros((first.size, degree + 1))
        moments[:, 0] = self.below(last) - self.below(first)
        curved = pieces.coefficients[..., 1:].any(axis=-1).ravel() & (last > first)
        origin, scale = pieces.origin.ravel(), pieces.scale.ravel()
        wide_enough = WIDE_ENOUGH[degree] if quick else self._exact_enough(degree)
        if wide_enough and degree and curved.any():
            wide = curved & (np.abs(scale) * wide_enough >= self.frame[1])
            moments[wide, 1:] = self._differences(first[wide], last[wide], origin[wide], scale[wide], degree)
            curved &= ~wide
        if curved.any():
            moments[curved, 1:] = self._slices(first[curved], last[curved], origin[curved], scale[curved], degree)
        return moments.reshape(*pieces.lo.shape, degree + 1)

    def _exact_enough(self, degree: int) -> float:
        """Up to which ratio prefix moments are as exact as the tree's."""
        return _EXACT_ENOUGH if degree == 1 and not self.is_few else 0.0

    # -- sums of all points before a position ------------------------------------------------------------------------

    @cached_property
    def sums(self) -> Floats:
        """Sums of the weights before every point, of shape (n + 1,); whole weights are summed exactly."""
        if self.given is None:
            return np.arange(self.size + 1, dtype=np.float64)
        return np.concatenate([[0.0], np.cumsum(self.given)])

    def weight_before(self, position: _Index) -> Floats:
        """Sum of the weights of the points before each position."""
        return np.asarray(position, dtype=np.float64) if self.given is None else self.sums[position]

    def below(self, position: _Index) -> Floats:
        """Share of the weight before each position."""
        return np.asarray(self.weight_before(position) / self.total)

    def above(self, position: _Index) -> Floats:
        """Share of the weight from each position on; counted first and divided afterwards, so that it has no drift."""
        return np.asarray((self.total - self.weight_before(position)) / self.total)

    def position_of(self, weight: float) -> int:
        """How many points have less than this weight before them."""
        if self.given is None:
            return min(max(int(np.ceil(weight)), 0), self.size)
        return int(self.sums[:-1].searchsorted(weight))

    @cached_property
    def frame(self) -> tuple[float, float]:
        """Centre and half-width of all points."""
        centre, half = (float(end) for end in _frame(self.points[0], self.points[-1]))
        return centre, half

    def powers_before(self, position: _Index, degree: int) -> Floats:
        """Means of z^k, k = 0 ... degree, over the points before each position, of shape (degree + 1, n).

        z is (point - centre) / half-width, by the frame of all points.
        """
        if self.is_few:
            return np.asarray(self.prefix(kept_degree(degree))[: degree + 1, position])
        if degree == 1:
            return np.stack([self.below(position), self._first_before(position)])
        leaf = np.minimum(position // self._leaf, self._leaves - 1)
        first = leaf * self._leaf
        centre, half = self.frame
        own = self._ends(leaf, first, position, np.full(first.size, centre), np.full(first.size, half), degree)
        sums = self.prefix(degree)[:, leaf]
        sums[0] = self.below(position)
        sums[1:] += own.T
        return sums

    @cached_property
    def strides(self) -> Floats:
        """Sums of weight * (point - centre) before every 16th point, not divided by the total, of shape (n / 16 + 1,).

        Each is rounded but once, whatever their number.
        """
        count = self.size // _STRIDE
        sums = np.zeros(count + 1)
        ones = np.ones(_STRIDE)
        for start in range(0, count, _STRETCH):
            rows = slice(start, min(start + _STRETCH, count))
            points = slice(rows.start * _STRIDE, rows.stop * _STRIDE)
            terms = self.points[points] - self.frame[0]
            weighted = terms if self.given is None else terms * self.given[points]
            sums[rows.start + 1 : rows.stop + 1] = weighted.reshape(-1, _STRIDE) @ ones
        return np.cumsum(sums, dtype=np.longdouble).astype(np.float64)

    def _first_before(self, position: _Index) -> Floats:
        """Means of z over the points before each position."""
        stride = position // _STRIDE
        last = stride[:, None] * _STRIDE + np.arange(_STRIDE)
        at = np.minimum(last, self.size - 1)
        terms = (self.points[at] - self.frame[0]) * (last < position[:, None])
        rest = (terms if self.given is None else terms * self.given[at]).sum(axis=1)
        return np.asarray((self.strides[stride] + rest) / (self.total * self.frame[1]))

    def sums_below(self, at: Floats) -> tuple[Floats, Floats]:
        """Share of the weight below each number, and mean of (point - centre) over the points below it."""
        sums = self.powers_before(np.searchsorted(self.points, at), 1)
        return sums[0], self.frame[1] * sums[1]

    def prefix(self, degree: int) -> Floats:
        """The sums before every point, or of many points before every leaf, of shape (degree + 1, n + 1)."""
        if degree not in self._prefixes:
            centre, half = self.frame
            if self.is_few:
                z = (self.points - centre) / half
                powers = self.weights / self.total * z ** np.arange(degree + 1)[:, None]
            else:
                centres, halves, moments = self._levels(degree)[0]
                shift = shifted((centres - centre) / half, halves / half, degree)
                powers = np.einsum("lkj,lj->kl", shift, moments)
            sums = np.zeros((degree + 1, powers.shape[1] + 1))
            np.cumsum(powers, axis=1, out=sums[:, 1:])
            if self.is_few:
                sums[0] = self.sums / self.total
            self._prefixes[degree] = sums
        return self._prefixes[degree]

    def _differences(self, first: _Index, last: _Index, origin: Floats, scale: Floats, degree: int) -> Floats:
        """The same as `_slices` from prefix moments: quick, but they cancel on narrow pieces."""
        centre, half = self.frame
        raw = self.powers_before(last, degree) - self.powers_before(first, degree)
        shift = shifted((centre - origin) / scale, half / scale, degree)
        return np.asarray(np.einsum("skj,js->sk", shift[:, 1:], raw))

    # -- slices of points from the tree ------------------------------------------------------------------------------

    @property
    def _leaves(self) -> int:
        return -(-self.size // self._leaf)

    def _slices(self, first: _Index, last: _Index, origin: Floats, scale: Floats, degree: int) -> Floats:
        """Mean over points[first:last] of u^k, k = 1 ... degree, for many slices at once."""
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
        at = np.minimum(inside, self.size - 1)
        u = (self.points[at] - origin[:, None]) / scale[:, None]
        # Points outside the slice get u = 0, which adds nothing to any power from 1 on.
        u *= (inside >= first[:, None]) & (inside < last[:, None])
        power = u if self.given is None else u * self.given[at]
        total = np.empty((first.size, degree))
        for k in range(degree):
            power = power * u if k else power
            total[:, k] = power.sum(axis=1)
        return np.asarray(total / self.total)

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
                shift = shifted((centre[n] - origin[at]) / scale[at], half[n] / scale[at], degree)
                total[at] += np.einsum("skj,sj->sk", shift[:, 1:], moments[n])
            left, right = (left + 1) // 2, right // 2

    def _levels(self, degree: int) -> list[tuple[Floats, Floats, Floats]]:
        """The tree with moments up to a degree; the quartic's, the highest there is, where points are few."""
        kept = kept_degree(degree) if self.is_few else degree
        if kept not in self._trees:
            self._trees[kept] = self._tree(kept)
        return self._trees[kept] if kept == degree else [(c, h, m[..., : degree + 1]) for c, h, m in self._trees[kept]]

    def _tree(self, degree: int) -> list[tuple[Floats, Floats, Floats]]:
        """Levels from the leaves up: centre (nodes,), half-width (nodes,), moments (nodes, degree + 1)."""
        lo, hi, moments = self._leaf_moments(degree)
        centre, half = _frame(lo, hi)
        levels = [(centre, half, moments)]
        while centre.size > 2:  # noqa: PLR2004 two nodes at the top need no parent: a slice never takes it whole
            if centre.size % 2:  # an odd level gets an empty last node
                lo, hi = np.append(lo, hi[-1]), np.append(hi, hi[-1])
                centre, half = np.append(centre, hi[-1]), np.append(half, 1.0)
                moments = np.pad(moments, ((0, 1), (0, 0)))
            lo, hi = lo[::2], hi[1::2]
            up_centre, up_half = _frame(lo, hi)
            joined = np.zeros((lo.size, degree + 1))
            for child in (slice(0, None, 2), slice(1, None, 2)):
                shift = shifted((centre[child] - up_centre) / up_half, half[child] / up_half, degree)
                joined += np.einsum("nkj,nj->nk", shift, moments[child])
            centre, half, moments = up_centre, up_half, joined
            levels.append((centre, half, moments))
        return levels

    def _leaf_moments(self, degree: int) -> tuple[Floats, Floats, Floats]:
        """Ends of the leaves, and their moments of shape (leaves, degree + 1); the last leaf may be short."""
        lo = self.points[:: self._leaf]
        hi = np.append(self.points[self._leaf - 1 :: self._leaf], self.points[-1])[: lo.size]
        centre, half = _frame(lo, hi)
        whole = self.size // self._leaf
        moments = np.empty((lo.size, degree + 1))
        for some in _blocks(whole, lo.size):
            start, stop = some.start * self._leaf, min(some.stop * self._leaf, self.size)
            rows = some.stop - some.start
            z = (self.points[start:stop].reshape(rows, -1) - centre[some, None]) / half[some, None]
            power = np.ones_like(z) if self.given is None else self.given[start:stop].reshape(z.shape)
            for k in range(degree + 1):
                moments[some, k] = power.sum(axis=1)
                power = power * z
        moments /= self.total
        return lo, hi, moments


def locked(array: Floats) -> Floats:
    """The same array, which can no longer be changed."""
    array.setflags(write=False)
    return array


def _blocks(whole: int, leaves: int) -> list[slice]:
    """Leaves by some hundreds, so that what is computed of them stays in the cache; a short last leaf by itself."""
    blocks = [slice(start, min(start + _CACHED, whole)) for start in range(0, whole, _CACHED)]
    return blocks + [slice(whole, leaves)] * (leaves > whole)


def kept_degree(degree: int) -> int:
    """Up to which degree sums are kept for questions of a degree: straight lines are asked for most, the rest together.

    >>> kept_degree(1), kept_degree(2)
    (1, 4)
    """
    return 1 if degree <= 1 else _DEGREE


def expected(coefficients: Floats, local: Floats) -> Floats:
    """The expectations of piecewise polynomials from their coefficients and the means that `local` gives.

    Leading axes are broadcast: the means may be those of a `Sample`, or of both samples of the pairs of a `Stack`.
    """
    return np.asarray(np.einsum("...bk,...bk->...", coefficients, local))


def _frame(lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """Centre and half-width of nodes; a node of one repeated point has width 1 instead of 0."""
    half = (hi - lo) / 2
    return lo + half, np.where(half > 0, half, 1.0)


def shifted(alpha: Floats, beta: Floats, degree: int) -> Floats:
    """Matrices S with (alpha + beta z)^k = sum_j S[k, j] z^j, one for each entry of alpha and beta."""
    matrix = np.zeros((*alpha.shape, degree + 1, degree + 1))
    matrix[..., 0, 0] = 1.0
    for k in range(1, degree + 1):  # row k is row k - 1 times (alpha + beta z)
        matrix[..., k, : degree + 1] = alpha[..., None] * matrix[..., k - 1, :]
        matrix[..., k, 1:] += beta[..., None] * matrix[..., k - 1, :-1]
    return matrix
