"""The best point that several convex polygons have in common.

Points are seen along the diagonal, as u = x + y and v = y - x. The corners of a polygon come from a rising polyline, so
that u rises from one to the next, and its upper and its lower border are functions of u: the least of some straight
lines, and the greatest of others. What all polygons have in common lies between the least of all upper lines and the
greatest of all lower ones, which is a question of one variable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from evenodds.geometry.hull import concave_hull
from evenodds.geometry.pieces import Floats

__all__ = ["OUTSIDE", "Polygon", "best_in_all", "highest_on_line", "nearest_in_all", "polygon_of"]

OUTSIDE = 1e-13
"""How far outside a point may lie and still count as inside: rates are no better known."""
_STEPS = 100  # of which some five are needed
_LEVEL = 1e-15  # how far above a straight line a point may lie and still count as on it

Lines = tuple[Floats, Floats]
"""The slopes of straight lines, and their values at 0."""
Value = Callable[[float], tuple[float, float]]
"""A value and a slope."""


@dataclass(frozen=True, eq=False)
class Polygon:
    """The convex hull of a rising polyline."""

    ends: tuple[float, float]
    """The least and the greatest u."""
    upper: Lines
    lower: Lines
    corners: tuple[Floats, Floats]
    """The x and the y of its corners, along the diagonal."""


def polygon_of(x: Floats, y: Floats) -> Polygon:
    """The hull of points that rise.

    >>> polygon_of(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.8, 1.0])).corners
    (array([0. , 0.2, 1. ]), array([0. , 0.8, 1. ]))
    """
    above, below = concave_hull(x, y), concave_hull(y, x)
    u, v = x + y, y - x
    both = np.union1d(above, below)
    ends = float(u[0]), float(u[-1])
    return Polygon(ends, _lines(u[above], v[above]), _lines(u[below], v[below]), (x[both], y[both]))


def _lines(u: Floats, v: Floats) -> Lines:
    if u.size == 1:
        return np.zeros(1), v
    slopes = (v[1:] - v[:-1]) / (u[1:] - u[:-1])
    return slopes, v[:-1] - slopes * u[:-1]


def best_in_all(polygons: Sequence[Polygon], by_x: float, by_y: float) -> tuple[float, float] | None:
    """The point of all polygons with the greatest by_x * x + by_y * y, where by_y > by_x; None where there is none.

    >>> one = polygon_of(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.8, 1.0]))
    >>> two = polygon_of(np.array([0.0, 0.4, 1.0]), np.array([0.0, 0.9, 1.0]))
    >>> x, y = best_in_all([one, two], -1.0, 1.0)
    >>> round(x, 6), round(y, 6)
    (0.375, 0.84375)
    """
    by_u, by_v = (by_x + by_y) / 2, (by_y - by_x) / 2
    return _best_of_tops(polygons, lambda u, v, slope: (by_u * u + by_v * v, by_u + by_v * slope))


def nearest_in_all(polygons: Sequence[Polygon]) -> tuple[float, float] | None:
    """The point of all polygons that is nearest to (0, 1), which is above them; None where there is none.

    >>> x, y = nearest_in_all([polygon_of(np.array([0.0, 0.5, 1.0]), np.array([0.0, 0.5, 1.0]))])
    >>> round(x, 6), round(y, 6)
    (0.5, 0.5)
    """
    return _best_of_tops(
        polygons, lambda u, v, slope: (-((u - 1) ** 2) - (v - 1) ** 2, -2 * (u - 1) - 2 * (v - 1) * slope)
    )


def _best_of_tops(
    polygons: Sequence[Polygon], gain: Callable[[float, float, float], tuple[float, float]]
) -> tuple[float, float] | None:
    """The best point of all polygons, where a higher one is better; a gain comes with how it changes along the top."""
    least, most = max(polygon.ends[0] for polygon in polygons), min(polygon.ends[1] for polygon in polygons)
    if least > most + OUTSIDE:
        return None
    upper, lower = (
        (np.concatenate([lines[0] for lines in side]), np.concatenate([lines[1] for lines in side]))
        for side in ([polygon.upper for polygon in polygons], [polygon.lower for polygon in polygons])
    )

    def top(u: float) -> tuple[float, float]:
        values = upper[0] * u + upper[1]
        i = int(values.argmin())
        return float(values[i]), float(upper[0][i])

    def room(u: float) -> tuple[float, float]:
        value, slope = top(u)
        values = lower[0] * u + lower[1]
        i = int(values.argmax())
        return value - float(values[i]), slope - float(lower[0][i])

    widest = _summit(room, least, max(least, most))
    if room(widest)[0] < -OUTSIDE:
        return None
    ends = _first_inside(room, least, widest), _first_inside(room, most, widest)
    u = _summit(lambda u: gain(u, *top(u)), *ends)
    v = top(u)[0]
    return (u - v) / 2, (u + v) / 2


def highest_on_line(polygons: Sequence[Polygon], by_x: float, by_y: float, value: float) -> tuple[float, float] | None:
    """The highest point of all polygons on the falling line by_x * x + by_y * y = value, where by_x + by_y = 1.

    None where there is none. On the line u is 2 * value + (by_x - by_y) * v, so that each border bounds v alone.

    >>> one = polygon_of(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.8, 1.0]))
    >>> x, y = highest_on_line([one], 0.5, 0.5, 0.5)
    >>> round(x, 6), round(y, 6)
    (0.2, 0.8)
    """
    along, start = by_x - by_y, 2 * value

    def bounds(lines: Lines) -> Floats:
        return np.asarray((lines[0] * start + lines[1]) / (1 - lines[0] * along))

    most = min(float(bounds(polygon.upper).min()) for polygon in polygons)
    least = max(float(bounds(polygon.lower).max()) for polygon in polygons)
    begin, end = max(polygon.ends[0] for polygon in polygons), min(polygon.ends[1] for polygon in polygons)
    ends = np.array([begin, end]) - start
    if ends[0] > ends[1] + OUTSIDE or (along == 0 and (ends[0] > OUTSIDE or ends[1] < -OUTSIDE)):
        return None
    if along != 0:
        first, last = np.sort(ends / along)
        least, most = max(least, float(first)), min(most, float(last))
    if least > most + OUTSIDE:
        return None
    u = start + along * most
    return (u - most) / 2, (u + most) / 2


def _summit(function: Value, left: float, right: float) -> float:
    """Where a concave function is greatest: its tangents at both ends meet above it, until they meet on it."""
    (low, rise), (high, fall) = function(left), function(right)
    if rise <= 0 or left >= right:
        return left
    if fall >= 0:
        return right
    for _ in range(_STEPS):
        at = min(max((high - low + rise * left - fall * right) / (rise - fall), left), right)
        value, slope = function(at)
        if value >= low + rise * (at - left) - _LEVEL or at in (left, right):
            return at
        if slope > 0:
            left, low, rise = at, value, slope
        else:
            right, high, fall = at, value, slope
    return at


def _first_inside(room: Value, outside: float, inside: float) -> float:
    """From one end towards a place inside, the first at which a concave function is not negative."""
    at = outside
    for _ in range(_STEPS):
        value, slope = room(at)
        if value >= -_LEVEL or slope == 0:
            return at
        step = at - value / slope
        if not min(at, inside) <= step <= max(at, inside) or step == at:
            break
        at = step
    return inside
