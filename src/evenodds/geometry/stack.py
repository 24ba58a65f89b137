"""Pairs of samples side by side: what is asked of many of them is answered in one call.

A fit asks the same of each group's negatives and positives, a few numbers at a time; done one by one, numpy spends its
time on being called. Here questions come sorted by pair, `bounds` says where those of each pair begin and end, and the
answers have the shape (2, n): of the first samples, and of the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats, Pieces
from evenodds.geometry.samples import WIDE_ENOUGH, Sample, expected, kept_degree, shifted

__all__ = ["Bounds", "Stack", "ramps_between"]

Bounds = NDArray[np.intp]
"""Where the questions of each pair begin, and where the last one's end."""
T = TypeVar("T", bound=np.generic)
_ONE_BY_ONE = 1 << 20  # points that are summed one by one


class Stack:
    """Pairs of samples side by side.

    >>> pair = Sample(np.array([0.0, 1.0])), Sample(np.array([0.5, 2.0]))
    >>> Stack([pair, pair]).ramps(np.array([0.0, 0.0, 1.0]), np.array([1.0, 2.0, 2.0]), np.array([0, 2, 3]))
    array([[0.5  , 0.25 , 0.   ],
           [0.75 , 0.625, 0.5  ]])
    """

    def __init__(self, pairs: Sequence[tuple[Sample, Sample]]) -> None:
        self.pairs = tuple(pairs)
        frames = np.array([[sample.frame for sample in pair] for pair in pairs]).transpose(2, 1, 0)
        self.centre, self.half = frames
        """Centre and half-width of each sample's points, each of shape (2, pairs)."""
        self._prefixes: dict[int, Floats] = {}

    def each(self, values: NDArray[T], bounds: Bounds) -> NDArray[T]:
        """Values of pairs (last axis), repeated for each question that the pair is asked."""
        return values.repeat(bounds[1:] - bounds[:-1], axis=-1)

    def _asked(self, bounds: Bounds) -> list[tuple[tuple[Sample, Sample], int, int]]:
        """The pairs that are asked something, and where their questions begin and end."""
        ends = bounds.tolist()
        return [(pair, i, j) for pair, i, j in zip(self.pairs, ends[:-1], ends[1:], strict=True) if j > i]

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        """Where the sums of each sample begin, of shape (2, pairs)."""
        sizes = np.array([sample.size + 1 for pair in self.pairs for sample in pair])
        return np.asarray((np.cumsum(sizes) - sizes).reshape(-1, 2).T)

    @cached_property
    def _all_are_few(self) -> bool:
        """Whether every sample keeps the sums before each of its points, so that these can stand in one array."""
        return all(sample.is_few for pair in self.pairs for sample in pair)

    def _prefix(self, degree: int) -> Floats:
        """The sums before every point of all samples, one after the other, of shape (degree + 1, points + samples)."""
        if degree not in self._prefixes:
            every = [sample for pair in self.pairs for sample in pair]
            self._prefixes[degree] = np.concatenate([sample.prefix(degree) for sample in every], axis=1)
        return self._prefixes[degree]

    def positions(self, at: Floats, bounds: Bounds, side: Literal["left", "right"] = "left") -> NDArray[np.intp]:
        """How many points lie below each number ("right": or at it), of shape (2, n)."""
        positions = np.empty((2, at.size), np.intp)
        for pair, first, last in self._asked(bounds):
            for label, sample in enumerate(pair):
                positions[label, first:last] = sample.points.searchsorted(at[first:last], side)
        return positions

    def powers_before(self, position: NDArray[np.intp], bounds: Bounds, degree: int) -> Floats:
        """Means of z^k over the points before each position, of shape (degree + 1, 2, n).

        z is (point - centre) / half-width, by the frame of each sample.
        """
        if self._all_are_few:
            return self._prefix(kept_degree(degree))[: degree + 1, position + self.each(self._starts, bounds)]
        powers = np.empty((degree + 1, *position.shape))
        for pair, first, last in self._asked(bounds):
            for label, sample in enumerate(pair):
                powers[:, label, first:last] = sample.powers_before(position[label, first:last], degree)
        return powers

    def sums_below(self, at: Floats, bounds: Bounds) -> tuple[Floats, Floats]:
        """Share of the weight below each number, and mean of (point - centre) over the points below it."""
        share, first = self.powers_before(self.positions(at, bounds), bounds, 1)
        return share, first * self.each(self.half, bounds)

    def _are_wide(self, width: Floats, bounds: Bounds) -> bool:
        """Whether prefix moments of straight ramps of such widths err by no more than 1e-13."""
        return bool((width * WIDE_ENOUGH[1] >= self.each(self.half.max(axis=0), bounds)).all())

    def ramps(self, start: Floats, end: Floats, bounds: Bounds) -> Floats:
        """Expectations of straight ramps from 0 at `start` to 1 at `end`."""
        if not self._are_wide(end - start, bounds):
            pieces = _ramp_pieces(start, end)
            return expected(pieces.coefficients, self.local(pieces, bounds))
        both, twice = np.stack([start, end], axis=-1).ravel(), 2 * bounds
        sums = self.sums_below(both, twice)
        return ramps_between(sums, start, end, self.each(self.centre, bounds))

    def bent_ramps(
        self, start: Floats, knot: Floats, end: Floats, at_knot: Floats, bounds: Bounds
    ) -> tuple[Floats, Floats, Floats]:
        """Expectations of ramps from 0 at `start` over `at_knot` at `knot` to 1 at `end`.

        And how they change with the start and with the end, while the knot keeps its place between them. From prefix
        sums, which are off by 1e-16 times the range of the points by the width of the narrower half.
        """
        share, moment = (
            sums.reshape(2, -1, 3) for sums in self.sums_below(np.stack([start, knot, end], -1).ravel(), 3 * bounds)
        )
        within = share[..., 1:] - share[..., :-1]
        width, centre = end - start, self.each(self.centre, bounds)
        low, high = (
            moment[..., i + 1] - moment[..., i] - (at - centre) * within[..., i] for i, at in enumerate((start, knot))
        )
        slopes = at_knot / (knot - start), (1 - at_knot) / (end - knot)
        rates = slopes[0] * low + at_knot * within[..., 1] + slopes[1] * high + 1 - share[..., 2]
        # With x = (r - start) / width odds change by -slope x as the end moves, and by slope (x - 1) as the start does.
        by_end = -(slopes[0] * low + slopes[1] * (high + (knot - start) * within[..., 1])) / width
        return rates, -by_end - slopes[0] * within[..., 0] - slopes[1] * within[..., 1], by_end

    def local(self, pieces: Pieces, bounds: Bounds, *, quick: bool = False) -> Floats:
        """Means of u^k over the points of each piece of n curves, of shape (2, n, B, d + 1): see `Sample.local`.

        With `quick` they may be off by 1e-13.
        """
        n, count, terms = pieces.coefficients.shape
        degree = terms - 1
        breaks = pieces.breaks.ravel()
        by_break = bounds * (count - 1)
        ends = self.positions(breaks, by_break, "left" if pieces.closed == "left" else "right").reshape(2, n, count - 1)
        edges = np.zeros((2, n, count + 1), np.intp)
        edges[..., 1:-1] = ends
        edges[..., -1] = self.each(np.array([[s.size for s in pair] for pair in self.pairs]).T, bounds)
        first, last = edges[..., :-1], edges[..., 1:]
        curved = pieces.coefficients[..., 1:].any(axis=-1) & (last > first)
        moments = np.zeros((2, n, count, terms))
        by_edge = bounds * (count + 1)
        if not degree or not curved.any():
            below = self.powers_before(edges.reshape(2, -1), by_edge, 0).reshape(2, n, count + 1)
            moments[..., 0] = below[..., 1:] - below[..., :-1]
            return moments
        half = self.each(self.half, bounds)[..., None]
        if quick and (np.abs(pieces.scale) * WIDE_ENOUGH[degree] >= half)[curved].all():
            powers = self.powers_before(edges.reshape(2, -1), by_edge, degree).reshape(terms, 2, n, count + 1)
            raw = powers[..., 1:] - powers[..., :-1]
            centre = self.each(self.centre, bounds)[..., None]
            shift = shifted((centre - pieces.origin) / pieces.scale, half / pieces.scale, degree)
            moments = np.einsum("lnbkj,jlnb->lnbk", shift, raw)
            moments[..., 1:] *= curved[..., None]
            return np.asarray(moments)
        return self._exactly(moments, pieces, bounds, first, last, curved, quick=quick)

    def _exactly(
        self,
        moments: Floats,
        pieces: Pieces,
        bounds: Bounds,
        first: NDArray[np.intp],
        last: NDArray[np.intp],
        curved: NDArray[np.bool_],
        *,
        quick: bool,
    ) -> Floats:
        """Point by point where these are not too many, else from each sample's own tree."""
        lengths = (last - first) * curved
        if not self._all_are_few or lengths.sum() > _ONE_BY_ONE:
            for pair, start, stop in self._asked(bounds):
                some = pieces.among(slice(start, stop))
                for label, sample in enumerate(pair):
                    moments[label, start:stop] = sample.local(some, quick=quick)
            return moments
        starts = self.each(self._starts, bounds)[..., None]
        moments[..., 0] = self._prefix(1)[0][last + starts] - self._prefix(1)[0][first + starts]
        which, curve, piece = np.nonzero(lengths)
        length = lengths[which, curve, piece]
        # The points of all slices, one slice after the other.
        ends = np.cumsum(length)
        at = np.arange(ends[-1]) + np.repeat((first + starts)[which, curve, piece] - (ends - length), length)
        origin, scale = pieces.origin[curve, piece], pieces.scale[curve, piece]
        u = (self._points[at] - np.repeat(origin, length)) / np.repeat(scale, length)
        power = self._shares[at]
        for k in range(1, moments.shape[-1]):
            power = power * u
            moments[which, curve, piece, k] = np.add.reduceat(power, ends - length)
        return moments

    @cached_property
    def _points(self) -> Floats:
        """All points, with a gap after each sample, as the prefix sums have them."""
        return np.concatenate([part for pair in self.pairs for s in pair for part in (s.points, [0.0])])

    @cached_property
    def _shares(self) -> Floats:
        """All weights by their sample's total, in the same way."""
        return np.concatenate([part for pair in self.pairs for s in pair for part in (s.weights / s.total, [0.0])])


def _ramp_pieces(start: Floats, end: Floats) -> Pieces:
    """Straight ramps as piecewise polynomials."""
    zero, one = np.zeros(start.shape), np.ones(start.shape)
    return Pieces.joined(
        np.stack([start, end], axis=-1),
        origin=np.stack([zero, start, zero], axis=-1),
        scale=np.stack([one, end - start, one], axis=-1),
        coefficients=np.broadcast_to([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], (*start.shape, 3, 2)),
    )


def ramps_between(sums: tuple[Floats, Floats], start: Floats, end: Floats, centre: Floats) -> Floats:
    """Expectations of straight ramps from the sums below their starts and ends, which follow each other."""
    share, moment = sums
    inside = share[:, 1::2] - share[:, ::2]
    rise = moment[:, 1::2] - moment[:, ::2] - (start - centre) * inside
    return np.asarray(rise / (end - start) + 1 - share[:, 1::2])
