"""Several piecewise polynomials side by side: each row has a number and is evaluated by the one it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats, Pieces

__all__ = ["PiecewiseStack"]

_BLOCK = 1 << 14  # rows at a time: what a block needs stays in the cache
_FEW = 8  # up to so many pieces the place of a row is counted, comparison by comparison


@dataclass(frozen=True, eq=False)
class PiecewiseStack:
    """Piecewise polynomials that are evaluated together, in blocks, without arrays as long as the data.

    Examples
    --------
    >>> steps = [Pieces.joined([at], origin=[0, 0], scale=[1, 1], coefficients=[[0], [1]]) for at in (2, 5)]
    >>> PiecewiseStack(tuple(steps)).values(np.array([1.0, 3.0, 3.0, 6.0]), np.array([0, 0, 1, 1]))
    array([0., 1., 0., 1.])
    """

    members: Sequence[Pieces]

    def values(self, r: NDArray[np.generic], which: NDArray[np.integer]) -> Floats:
        """The value at each r of the member that `which` names; NaN where it is negative or r not finite."""
        out = np.empty(r.size)
        evaluate = _Counted(self.members) if _can_count(self.members) else _Searched(self.members)
        for start in range(0, r.size, _BLOCK):
            rows = slice(start, start + _BLOCK)
            at, number = r[rows].astype(np.float64), which[rows].astype(np.intp)
            bad = ~np.isfinite(at)
            bad |= number < 0
            if bad.any():
                at[bad] = 0.0
                number[bad] = 0
                out[rows] = np.where(bad, np.nan, evaluate(at, number))
            else:
                out[rows] = evaluate(at, number)
        return out


def _can_count(members: Sequence[Pieces]) -> bool:
    return max(m.lo.size for m in members) <= _FEW and len({m.closed for m in members}) == 1


class _Counted:
    """A row's piece is the number of breaks at or below it: a few comparisons, no search."""

    def __init__(self, members: Sequence[Pieces]) -> None:
        self.most = max(m.lo.size for m in members)
        terms = max(m.coefficients.shape[-1] for m in members)
        shape = (len(members), self.most)
        breaks = np.full((len(members), self.most - 1), np.inf)
        origin, rate, coefficients = np.zeros(shape), np.ones(shape), np.zeros((*shape, terms))
        for i, m in enumerate(members):
            count = m.lo.size
            breaks[i, : count - 1] = m.breaks
            origin[i, :count], rate[i, :count] = m.origin, m.rate
            coefficients[i, :count, : m.coefficients.shape[-1]] = m.coefficients
        self.breaks = [np.ascontiguousarray(column) for column in breaks.T]
        self.origin, self.rate = origin.ravel(), rate.ravel()
        self.coefficients = [np.ascontiguousarray(column) for column in coefficients.reshape(-1, terms).T]
        self.reached = np.greater_equal if members[0].closed == "left" else np.greater

    def __call__(self, r: Floats, which: NDArray[np.intp]) -> Floats:
        piece = which * self.most
        for column in self.breaks:
            piece += self.reached(r, column.take(which))
        u = r - self.origin.take(piece)
        u *= self.rate.take(piece)
        value = self.coefficients[-1].take(piece)
        for column in self.coefficients[-2::-1]:
            value *= u
            value += column.take(piece)
        return value


class _Searched:
    """Member by member, by binary search: for curves of many pieces."""

    def __init__(self, members: Sequence[Pieces]) -> None:
        self.members = members

    def __call__(self, r: Floats, which: NDArray[np.intp]) -> Floats:
        value = np.empty(r.size)
        for i, member in enumerate(self.members):
            own = np.flatnonzero(which == i)
            if own.size:
                value[own] = member(r[own])
        return value
