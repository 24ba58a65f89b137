"""Piecewise polynomials without products that underflow, for engines that refuse these, as PostgreSQL does.

Where scores come very near the origin of a local variable, which they can only where that is 0 or nearly so, powers of
the variable are too small for a number. Everybody else makes 0 of them, and the value is the same without the terms
that they belong to. So such a neighbourhood becomes pieces of its own, with as many terms as count.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from itertools import pairwise

from evenodds.geometry.pieces import Pieces

__all__ = ["without_underflow"]

_NEAR = 2.0**-200  # of the local variable: its fourth power is still far from underflow, and hidden by any other term
_ALIKE = 2.0**140  # how far coefficients may differ so that this is so
_MOST = math.nextafter(math.inf, 0)

_Span = tuple[float, float]
"""The first and the last number of some that follow each other."""
_Part = tuple[_Span, float, float, list[float]]
"""A span, and the origin, scale and coefficients of its polynomial."""


def without_underflow(pieces: Pieces) -> Pieces:
    """The same values at every finite number, bit for bit, with no product that is 0 though its factors are not.

    Examples
    --------
    >>> bowl = [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
    >>> square = Pieces.joined([0, 4], origin=[0, 0, 0], scale=[1, 4, 1], coefficients=bowl)
    >>> without_underflow(square).breaks
    array([0.00000000e+000, 6.28691114e-162, 4.00000000e+000])
    >>> float(square(6e-162)), float(square(7e-162))
    (0.0, 5e-324)
    """
    parts = [part for piece in range(pieces.lo.size) for part in _parts(pieces, piece)]
    left = pieces.closed == "left"
    breaks = [after[0] if left else before[1] for (before, *_), (after, *_) in pairwise(parts)]
    terms = pieces.coefficients.shape[-1]
    return Pieces.joined(
        breaks,
        origin=[origin for _, origin, _, _ in parts],
        scale=[scale for _, _, scale, _ in parts],
        coefficients=[[*kept, *[0.0] * (terms - len(kept))] for *_, kept in parts],
        closed=pieces.closed,
    )


def _parts(pieces: Pieces, piece: int) -> Iterator[_Part]:
    """A piece, cut where terms begin and cease to count; nothing of a piece without any number."""
    lo, hi = float(pieces.lo[piece]), float(pieces.hi[piece])
    first, last = (lo, _before(hi)) if pieces.closed == "left" else (_after(lo), hi)
    first, last = max(first, -_MOST), min(last, _MOST)
    if first > last:
        return
    origin, scale, rate = float(pieces.origin[piece]), float(pieces.scale[piece]), float(pieces.rate[piece])
    terms = pieces.polynomial(piece)
    if len(terms) == 1:
        yield (first, last), 0.0, 1.0, terms
        return
    sizes = [abs(c) for c in terms if c]
    near = _span(lambda r: abs((r - origin) * rate) < _NEAR, first, last, origin)
    if near is None or near == (origin, origin) or max(sizes) > _ALIKE * min(sizes) or min(sizes) < _NEAR:
        yield (first, last), origin, scale, terms
        return
    power = next(k for k, c in enumerate(terms) if c)  # the lowest one hides all others
    lowest = terms[: power + 1]
    if lowest == terms:
        near = first, last

    def vanishes(r: float) -> bool:
        u = (r - origin) * rate
        value = lowest[-1]
        for _ in range(power):
            value *= u
        return power == 0 or value == 0

    gone = _span(vanishes, *near, origin)
    spans = [((first, _before(near[0])), terms), (near, lowest), ((_after(near[1]), last), terms)]
    if gone is not None:
        inner = [((near[0], _before(gone[0])), lowest), (gone, terms[:1]), ((_after(gone[1]), near[1]), lowest)]
        spans[1:2] = inner
    for span, kept in spans:
        if span[0] <= span[1]:
            yield (span, 0.0, 1.0, kept) if len(kept) == 1 else (span, origin, scale, kept)


def _span(holds: Callable[[float], bool], first: float, last: float, centre: float) -> _Span | None:
    """Where a condition holds that holds around a centre only; None if nowhere."""
    nearest = min(max(centre, first), last)
    if not holds(nearest):
        return None
    return _farthest(holds, nearest, first), _farthest(holds, nearest, last)


def _farthest(holds: Callable[[float], bool], start: float, end: float) -> float:
    """The last number on the way from the start, where a condition holds, to the end at which it still does."""
    inside, outside = _number(start), _number(end)
    if holds(end):
        return end
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        if holds(_float(middle)):
            inside = middle
        else:
            outside = middle
    return _float(inside)


# -- floats in order ---------------------------------------------------------------------------------------------------


def _before(r: float) -> float:
    return math.nextafter(r, -math.inf)


def _after(r: float) -> float:
    return math.nextafter(r, math.inf)


def _number(r: float) -> int:
    """The place of a float among all floats; 0 is that of 0."""
    (bits,) = struct.unpack("<q", struct.pack("<d", abs(r)))
    return int(bits if r >= 0 else -bits)


def _float(number: int) -> float:
    (size,) = struct.unpack("<d", struct.pack("<q", abs(number)))
    return math.copysign(size, number)
