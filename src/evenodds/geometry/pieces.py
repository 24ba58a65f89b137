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
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Floats", "Pieces"]

Floats = NDArray[np.float64]


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

    def integral(self, start: float, stop: float) -> float:
        """The integral from `start` to `stop` of one piecewise polynomial."""
        lo, hi = np.clip(self.lo, start, stop), np.clip(self.hi, start, stop)
        powers = np.arange(1, self.coefficients.shape[-1] + 1)
        u_lo = ((lo - self.origin) / self.scale)[..., None] ** powers
        u_hi = ((hi - self.origin) / self.scale)[..., None] ** powers
        return float(((u_hi - u_lo) * self.coefficients / powers * self.scale[..., None]).sum())

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
