"""Piecewise polynomials on the whole line.

Every curve of evenodds becomes `Pieces`, and everything downstream reads only these: a piece is an interval and the
coefficients of a polynomial in a variable local to it,

    value(r) = c_0 + c_1 u + c_2 u^2 + ...,    u = (r - origin) / scale,    for r between lo and hi.

The local variable keeps every digit of a narrow curve far from zero. It is computed as (r - origin) * (1 / scale): some
engines divide by a constant in that way, and odds shall be the same bits in all of them. Arrays may carry leading axes:
a batch of K curves has `lo` of shape (K, B), and what is said of one curve holds for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from itertools import pairwise
from operator import mul
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["NARROWEST", "Floats", "Pieces"]

Floats = NDArray[np.float64]
NARROWEST = 1e-300
"""The least width of a piece: below it 1 / width is no number."""

_Piece = tuple[float, float, list[float]]
"""The origin and scale of the local variable, and the coefficients in it."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """A piecewise polynomial, defined from minus to plus infinity.

    Parameters
    ----------
    lo, hi : arrays of shape (..., B)
        Ends of the B intervals, ascending; `hi` of one is `lo` of the next.
    origin, scale : arrays of shape (..., B)
        The local variable is u = (r - origin) / scale.
    coefficients : array of shape (..., B, d + 1)
        Coefficients of u^0 ... u^d.
    closed : "left" or "right"
        Which end of an interval belongs to it.

    Examples
    --------
    A ramp from (2, 0) to (4, 1):

    >>> ramp = Pieces.joined([2, 4], origin=[0, 2, 0], scale=[1, 2, 1], coefficients=[[0, 0], [0, 1], [1, 0]])
    >>> ramp([1, 2, 3, 4, 5])
    array([0. , 0. , 0.5, 1. , 1. ])
    >>> ramp.integral(0, 5)
    2.0
    """

    lo: Floats
    hi: Floats
    origin: Floats
    scale: Floats
    coefficients: Floats
    closed: Literal["left", "right"] = "left"

    @classmethod
    def joined(
        cls,
        breaks: ArrayLike,
        *,
        origin: ArrayLike,
        scale: ArrayLike,
        coefficients: ArrayLike,
        closed: Literal["left", "right"] = "left",
    ) -> Pieces:
        """Join B pieces at B - 1 breaks (last axis); the first and last interval run to infinity."""
        at = np.asarray(breaks, dtype=np.float64)
        far = np.full((*at.shape[:-1], 1), np.inf)
        return cls(
            lo=np.concatenate([-far, at], axis=-1),
            hi=np.concatenate([at, far], axis=-1),
            origin=np.asarray(origin, dtype=np.float64),
            scale=np.asarray(scale, dtype=np.float64),
            coefficients=np.asarray(coefficients, dtype=np.float64),
            closed=closed,
        )

    @property
    def breaks(self) -> Floats:
        """The points where one piece ends and the next begins."""
        return self.lo[..., 1:]

    @cached_property
    def rate(self) -> Floats:
        """1 / scale."""
        return 1 / self.scale

    def _piece_of(self, r: Floats) -> NDArray[np.intp]:
        return np.searchsorted(self.breaks, r, side="right" if self.closed == "left" else "left")

    def __call__(self, r: ArrayLike) -> Floats:
        """Evaluate one piecewise polynomial (no leading axes) at r."""
        at = np.asarray(r, dtype=np.float64)
        piece = self._piece_of(at)
        u = (at - self.origin[piece]) * self.rate[piece]
        value = self.coefficients[piece, -1]
        for power in range(self.coefficients.shape[-1] - 2, -1, -1):
            value = value * u + self.coefficients[piece, power]
        return np.asarray(value)

    def polynomial(self, piece: int) -> list[float]:
        """The coefficients of one piece, that of u^0 first, without the zeros after the last other one.

        >>> step = Pieces.joined([2], origin=[0, 0], scale=[1, 1], coefficients=[[0.5, 0.25, 0], [1, 0, 0]])
        >>> step.polynomial(0), step.polynomial(1)
        ([0.5, 0.25], [1.0])
        """
        row = self.coefficients[piece]
        return [float(row[0]), *np.trim_zeros(row[1:], "b").tolist()]

    def among(self, which: slice) -> Pieces:
        """Some curves of a batch."""
        lo, hi, origin, scale = (part[which] for part in (self.lo, self.hi, self.origin, self.scale))
        return Pieces(lo, hi, origin, scale, self.coefficients[which], self.closed)

    def derivative(self) -> Pieces:
        """The derivative within each piece; jumps between pieces are not part of it."""
        degree = self.coefficients.shape[-1] - 1
        if degree == 0:
            slopes = np.zeros_like(self.coefficients)
        else:
            slopes = self.coefficients[..., 1:] * np.arange(1, degree + 1) / self.scale[..., None]
        return Pieces(self.lo, self.hi, self.origin, self.scale, slopes, self.closed)

    def times_affine(self, constant: ArrayLike, slope: ArrayLike) -> Pieces:
        """The product with constant + slope * r (one pair for each curve of a batch)."""
        linear = np.asarray(slope, dtype=np.float64)[..., None]
        at_origin = np.asarray(constant, dtype=np.float64)[..., None] + linear * self.origin
        product = np.zeros((*self.coefficients.shape[:-1], self.coefficients.shape[-1] + 1))
        product[..., :-1] = self.coefficients * at_origin[..., None]
        product[..., 1:] += self.coefficients * (linear * self.scale)[..., None]
        return Pieces(self.lo, self.hi, self.origin, self.scale, product, self.closed)

    def blended(self, other: Pieces, share: float) -> Pieces:
        """The sum of `share` of one piecewise polynomial and the rest of another; both are closed at the same end.

        Where only one of them changes it keeps its own variable. Where both do, they are written in a variable of the
        interval, so that narrow pieces far from zero keep their digits. It is counted from the end whose value is
        nearer to 0 or 1: what rises from 0 to 1 then stays within, whatever the rounding.

        >>> low, high = (Pieces.joined([at], origin=[0, 0], scale=[1, 1], coefficients=[[0], [1]]) for at in (2, 5))
        >>> low.blended(high, 0.75)([1, 3, 6])
        array([0.  , 0.75, 1.  ])
        """
        breaks = np.unique(np.concatenate([self.breaks, other.breaks]))
        ends = [-np.inf, *breaks.tolist(), np.inf]
        terms = max(self.coefficients.shape[-1], other.coefficients.shape[-1])
        mine, theirs = (pieces._among(breaks, terms) for pieces in (self, other))  # noqa: SLF001
        sums = [_sum(share, one, two, *at) for one, two, at in zip(mine, theirs, pairwise(ends), strict=True)]
        origin, scale, coefficients = zip(*sums, strict=True)
        return Pieces.joined(breaks, origin=origin, scale=scale, coefficients=coefficients, closed=self.closed)

    def _among(self, breaks: Floats, terms: int) -> list[_Piece]:
        """The piece that holds each interval between some breaks, its own among them."""
        held = np.append(0, np.searchsorted(self.breaks, breaks, side="right"))
        padded = np.zeros((held.size, terms))
        padded[:, : self.coefficients.shape[-1]] = self.coefficients[held]
        return list(zip(self.origin[held].tolist(), self.scale[held].tolist(), padded.tolist(), strict=True))

    def largest_slope(self) -> float:
        """The largest slope of one piecewise polynomial of degree 4 at most, as a magnitude; jumps are not part of it.

        >>> cubic = [[0, 0, 0, 0], [0, 0, 3, -2], [1, 0, 0, 0]]
        >>> Pieces.joined([0, 2], origin=[0, 0, 0], scale=[1, 2, 1], coefficients=cubic).largest_slope()
        0.75
        """
        curved = self.coefficients[:, 1:].any(axis=-1)
        if not curved.any():
            return 0.0
        rising = self.coefficients[curved, 1:]
        d = np.zeros((rising.shape[0], 4))  # coefficients of the derivative in the local variable
        d[:, : rising.shape[-1]] = rising * np.arange(1, rising.shape[-1] + 1)
        ends = [(end[curved] - self.origin[curved]) / self.scale[curved] for end in (self.lo, self.hi)]
        least, most = np.minimum(*ends), np.maximum(*ends)
        turns = (np.clip(root, least, most) for root in _roots(3 * d[:, 3], 2 * d[:, 2], d[:, 1]))
        slopes = [((d[:, 3] * u + d[:, 2]) * u + d[:, 1]) * u + d[:, 0] for u in (least, most, *turns)]
        return float(np.max(np.abs(slopes) / np.abs(self.scale[curved])))

    def integral(self, start: float, stop: float) -> float:
        """The integral from `start` to `stop` of one piecewise polynomial."""
        lo, hi = np.clip(self.lo, start, stop), np.clip(self.hi, start, stop)
        powers = np.arange(1, self.coefficients.shape[-1] + 1)
        u_lo = ((lo - self.origin) / self.scale)[..., None] ** powers
        u_hi = ((hi - self.origin) / self.scale)[..., None] ** powers
        return float(((u_hi - u_lo) * self.coefficients / powers * self.scale[..., None]).sum())

    def values_between(self, lo: float, hi: float) -> list[tuple[float, float]]:
        """The values that one monotone piecewise polynomial has from lo to hi, as disjoint closed intervals."""
        intervals: list[tuple[float, float]] = []
        for i in range(self.lo.size):
            start, stop = max(self.lo[i], lo), min(self.hi[i], hi)
            # An interval is met at its closed end even if it only touches the range there.
            if start > stop or (start == stop and self.lo[i] != self.hi[i] and not self._holds(i, start)):
                continue
            ends = [self._value_in(i, end) for end in (start, stop)]
            intervals.append((min(ends), max(ends)))
        return _merged(intervals)

    def _holds(self, piece: int, r: float) -> bool:
        lo, hi = self.lo[piece], self.hi[piece]
        return bool(lo <= r < hi if self.closed == "left" else lo < r <= hi)

    def _value_in(self, piece: int, r: float) -> float:
        u = (r - self.origin[piece]) * self.rate[piece]
        return float(np.polynomial.polynomial.polyval(u, self.coefficients[piece]))

    def mirrored(self) -> Pieces:
        """The function r -> value(-r)."""
        flip = (..., slice(None, None, -1))
        return Pieces(
            lo=-self.hi[flip],
            hi=-self.lo[flip],
            origin=-self.origin[flip],
            scale=-self.scale[flip],
            coefficients=self.coefficients[..., ::-1, :],
            closed="right" if self.closed == "left" else "left",
        )


def _sum(share: float, one: _Piece, other: _Piece, lo: float, hi: float) -> _Piece:
    """The sum of `share` of one polynomial and the rest of another, between lo and hi."""
    rest = 1 - share
    level = share * one[2][0] + rest * other[2][0]
    for weight, (origin, scale, changes), (_, _, stays) in ((share, one, other), (rest, other, one)):
        if not any(stays[1:]):
            return origin, scale, [level, *(weight * c for c in changes[1:])]
    ends = [share * _value(one, r) + rest * _value(other, r) for r in (lo, hi)]
    width = max(hi - lo, NARROWEST)
    origin, scale = (lo, width) if sum(ends) <= 1 else (hi, -width)
    # Rounded once, at the end, the sum is as exact as its evaluation.
    weights = Fraction(share), 1 - Fraction(share)
    parts = [_rewritten(piece, origin, scale) for piece in (one, other)]
    return origin, scale, [float(sum(map(mul, weights, terms))) for terms in zip(*parts, strict=True)]


def _value(piece: _Piece, r: float) -> float:
    origin, scale, coefficients = piece
    return reduce(lambda value, c: value * ((r - origin) / scale) + c, coefficients[::-1])


def _rewritten(piece: _Piece, origin: float, scale: float) -> list[Fraction]:
    """The coefficients in another local variable, exactly: the Taylor expansion by Horner's rule."""
    unit = Fraction(piece[1])
    shift, stretch = (Fraction(origin) - Fraction(piece[0])) / unit, Fraction(scale) / unit
    expanded = [Fraction(c) for c in piece[2]]
    for first in range(len(expanded) - 1):
        for power in range(len(expanded) - 2, first - 1, -1):
            expanded[power] += shift * expanded[power + 1]
    return [c * stretch**power for power, c in enumerate(expanded)]


def _roots(a: Floats, b: Floats, c: Floats) -> tuple[Floats, Floats]:
    """The real roots of a u^2 + b u + c, without cancellation; 0 for those that are not there."""
    with np.errstate(divide="ignore", invalid="ignore"):
        half = -(b + np.copysign(np.sqrt(b * b - 4 * a * c), b)) / 2
        return tuple(np.where(np.isfinite(root), root, 0.0) for root in (half / a, c / half))  # type: ignore[return-value]


def _merged(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Join intervals that touch, ascending."""
    joined: list[tuple[float, float]] = []
    for lo, hi in sorted(intervals):
        if joined and lo <= joined[-1][1] + 1e-12:
            joined[-1] = (joined[-1][0], max(hi, joined[-1][1]))
        else:
            joined.append((lo, hi))
    return joined
