"""Two curves in place of one: how a point is met that no single curve of a family meets within its slope budget.

The reach of a group is the hull of its blurred ROC (see `reach`). A point in a dent of the blurred ROC lies between two
curves of it, and is met by their mix. The gentlest mix is looked for from the proven least slope upwards: the first
slope whose reach holds the point has it near its border, on an edge between two curves. Both are then widened together
until the edge goes through the point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_root
from evenodds.model.curves import Curve
from evenodds.model.families import Family
from evenodds.model.groups import Group
from evenodds.model.joint import Orientation
from evenodds.model.pooling import widest_ramp
from evenodds.model.reach import ON_CURVE, Placed, Reach, least_width, reach_inside, reach_of
from evenodds.model.roc import Point
from evenodds.model.solutions import Meeting

__all__ = ["gentlest_mix"]

_STEP = 1.1  # the next slope that is looked at; ever larger steps where nothing is found
_LONGER = 1.1
_LONGEST = 4.0
_STEEPEST = 1e300  # beyond it a step is no number
_CLOSE = 10  # halvings of the last step
_HELD = 1e-13  # rates are no better known
_WIDEST = 0.25  # of 1 / score range: the least slope that is looked at where nothing is proven
_MOST_WIDENED = 2.0

_NEAR = 0.5  # of a width: so near each other are neighbours on an arc, and not both sides of a dent

Parts = tuple[tuple[float, Placed], tuple[float, Placed]]
Inside = tuple[float, float] | None


def gentlest_mix(
    family: Family,
    point: Point,
    at_budget: Reach,
    budget: float,
    orientation: Orientation,
    *,
    inside: tuple[float, float] | None = None,
) -> Curve | None:
    """The gentlest mix found of two curves of a family that meets a point within a slope budget; None if there is none.

    Parameters
    ----------
    family : Family
    point : Point
    at_budget : Reach
        What the group reaches with the budget; the point may lie anywhere in it.
    budget : float
        The largest slope; infinite where there is no budget, and then a point on the border is a mix of two thresholds.
    orientation : "positive" or "negative"
    inside : (lo, hi), optional
        Both thresholds of each curve stay between these scores.
    """
    group = at_budget.group
    short = at_budget.shortfall(point)
    if short > ON_CURVE:
        return None
    if np.isinf(budget) and inside is None and short >= -ON_CURVE:
        return _curve(family, at_budget.edge(point), orientation)

    def reach(slope: float) -> Reach:
        if inside is not None:
            return reach_inside(group, family, slope, inside)
        return reach_of(group, family, slope).refined(point)

    parts = _first_that_holds(reach, at_budget, point, budget, _least_slope(group, family, point))
    for made in (_neighbours_as_one, _through):
        found = made(group, family, parts, point, inside)
        if found is not None:
            curve = _curve(family, found, orientation)
            if curve.lipschitz <= budget * (1 + 1e-9):  # rounding alone
                return curve
    return None


def _least_slope(group: Group, family: Family, point: Point) -> float:
    """Where the search begins: at what is proven to be the least slope of all rising curves."""
    ramp = widest_ramp(group, point)
    lo, hi = group.ends
    widest = (hi - lo) / _WIDEST if ramp is None else ramp[1]
    # A smooth curve is steeper somewhere than the straight one; mixes of two may come near the bound.
    return 1 / max(widest, least_width(group, family, np.inf))


def _first_that_holds(
    reach: Callable[[float], Reach], at_budget: Reach, point: Point, budget: float, least: float
) -> Parts:
    """The edge near the point of the gentlest reach found that holds it."""
    slope, step, below = least, _STEP, 0.0
    while slope < min(budget, _STEEPEST):
        found = reach(slope)
        if found.shortfall(point) <= _HELD:
            break
        below, slope, step = slope, slope * step, min(step * _LONGER, _LONGEST)
    else:
        slope, found = budget, at_budget
    for _ in range(_CLOSE if below else 0):
        if not np.isfinite(slope):
            middle = below * _LONGEST
        else:
            middle = float(np.sqrt(below * slope))
        between = reach(middle)
        if between.shortfall(point) <= _HELD:
            slope, found = middle, between
        else:
            below = middle
    return found.edge(point)


def _neighbours_as_one(
    group: Group, family: Family, parts: Parts, point: Point, inside: Inside
) -> Parts | None:
    """Two neighbours on an arc have a single curve between them that meets the point, by Newton's method."""
    (_, first), (_, last) = parts
    width = first.t1 - first.t0
    if not 0 < abs(first.t0 - last.t0) + abs(first.t1 - last.t1) < _NEAR * width or first.p != last.p:
        return None
    t0, t1 = Meeting(group, family, point, "positive").near(first.p, first.t0, first.t1)
    if np.isnan(t0) or (inside is not None and not inside[0] <= t0 <= t1 <= inside[1]):
        return None
    one = Placed(t0, t1, first.p)
    return (1.0, one), (0.0, one)


def _through(group: Group, family: Family, parts: Parts, point: Point, inside: Inside) -> Parts:
    """Widen both curves together until the segment between their rates goes through the point."""
    (_, first), (_, last) = parts
    if first.t0 == first.t1:
        return parts

    def widened(by: float) -> tuple[Placed, Placed]:
        return _wider(group, first, by, inside), _wider(group, last, by, inside)

    def rates(by: float) -> Floats:
        both = widened(by)
        t0, t1, p = (np.array([getattr(one, name) for one in both]) for name in ("t0", "t1", "p"))
        return np.asarray(group.moments.expectation(family.layout(t0, t1, p)))

    def height(by: float) -> float:
        """How far, as an area, the point lies on the diagonal's side of the segment: as wide as that may be."""
        a, b = rates(by)
        return float((b[0] - a[0]) * (a[1] - point.tpr) - (b[1] - a[1]) * (a[0] - point.fpr))

    start = height(0.0)
    by = 0.0
    if start > 0:
        step = 1e-6
        while (end := height(step)) > 0 and step < _MOST_WIDENED:
            step *= 4
        if end <= 0:
            _, by = bracketed_root(height, (0.0, start), (step, end), 0.0)
    a, b = rates(by)
    along = b - a
    share = float(np.clip((np.array([point.fpr, point.tpr]) - a) @ along / max(along @ along, 1e-300), 0, 1))
    one, other = widened(by)
    return (1 - share, one), (share, other)


def _wider(group: Group, placed: Placed, by: float, inside: Inside) -> Placed:
    """The curve widened by a share of its width; what lies beyond the group's scores, or may not, stays there."""
    more = by * (placed.t1 - placed.t0)
    lo, hi = group.ends
    if placed.t0 >= hi:
        return replace(placed, t1=placed.t1 + more)
    if placed.t1 <= lo:
        return replace(placed, t0=placed.t0 - more)
    t0, t1 = placed.t0 - more / 2, placed.t1 + more / 2
    if inside is not None:
        t0, t1 = max(t0, inside[0]), min(t1, inside[1])
    return replace(placed, t0=t0, t1=t1)


def _curve(family: Family, parts: Parts, orientation: Orientation) -> Curve:
    sign = 1.0 if orientation == "positive" else -1.0

    def curve(placed: Placed) -> Curve:
        p = 0.0 if placed.t0 == placed.t1 else placed.p
        return Curve(family.name, sign * placed.t0, sign * placed.t1, p, orientation=orientation)

    (share, one), (rest, other) = parts
    if share <= ON_CURVE or rest <= ON_CURVE:
        return curve(other if share <= ON_CURVE else one)
    return Curve.mixed(((share, curve(one)), (rest, curve(other))))
