"""Two curves in place of one: how a point is met that no single curve of a family meets within its slope budget.

The reach of a group is the hull of its blurred ROC (see `reach`). A point in a dent of the blurred ROC lies between two
curves of it, and is met by their mix. The gentlest mix is looked for from the proven least slope upwards: the first
slope whose reach holds the point has it near its border, and a line through the point from a vertex of the border to
the blurred ROC beyond is a mix.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_root
from evenodds.model.curves import Curve
from evenodds.model.families import Family
from evenodds.model.joint import JointDistribution, Orientation
from evenodds.model.reach import ON_CURVE, Placed, Reach, least_width, reaches_inside, reaches_of, refined
from evenodds.model.roc import Point
from evenodds.model.search import CurveSearch

__all__ = ["gentlest_mix"]

_STEP = 1.1  # the next slope that is looked at; ever larger steps where nothing is found
_LONGER = 1.1
_LONGEST = 4.0
_STEEPEST = 1e300  # beyond it a step is no number
_CLOSE = 10  # halvings of the last step
_HELD = 1e-13  # rates are no better known
_PROGRAM = 1e-9  # nor are points that a linear program chose
_WIDEST = 0.25  # of 1 / score range: the least slope that is looked at where nothing is proven
_TRIED = 6  # crossings
_BEYOND = 8  # slopes that are looked at beyond: two parts of one half each may be twice as steep
_NEAR = 0.5  # of a width: so near each other are neighbours on an arc, and not both sides of a dent

Parts = tuple[tuple[float, Placed], tuple[float, Placed]]
Inside = tuple[float, float] | None


def gentlest_mix(
    point: Point, at_budget: Reach, budget: float, orientation: Orientation, *, inside: Inside = None
) -> Curve | None:
    """The gentlest mix found of two curves of a family that meets a point within a slope budget; None if there is none.

    Parameters
    ----------
    point : Point
    at_budget : Reach
        What the group reaches with curves that are as steep as the budget; the point may lie anywhere in it, and a
        little beyond.
    budget : float
        The largest slope; infinite where there is no budget, and then a point on the border is a mix of two thresholds.
    orientation : "positive" or "negative"
    inside : (lo, hi), optional
        Both thresholds of each curve stay between these scores.
    """
    group, family = at_budget.group, at_budget.family
    short = at_budget.shortfall(point)
    held = ON_CURVE if inside is None else _PROGRAM
    if np.isinf(budget) and inside is None and abs(short) <= ON_CURVE:
        return _curve(family, at_budget.edge(point), orientation)

    alone = JointDistribution((group,), "positive")

    def reach(slope: float) -> Reach:
        if inside is not None:
            return reaches_inside([group], alone.stack, family, slope, inside)[0]
        return refined(reaches_of([group], alone.stack, family, slope), alone.stack, [point])[0]

    # Parts that do not overlap add up to less than either, so they may be steeper than the mix shall be.
    steepest, widest = (budget, at_budget) if short <= held else (2 * budget, reach(2 * budget))
    if widest.shortfall(point) > held:
        return None
    slope, found = _first_that_holds(reach, widest, point, steepest, _least_slope(alone, family, point))
    curves = _mixes(found, point, budget, orientation, inside)
    for steeper in slope * _STEP ** np.arange(1, _BEYOND) if np.isfinite(slope) else ():
        if min((curve.lipschitz for curve in curves), default=np.inf) <= steeper / 2:
            break
        found = reach(float(steeper))
        if found.shortfall(point) <= _HELD:
            curves += _mixes(found, point, budget, orientation, inside)
    if not curves and short <= held:
        # Borders that are almost upright leave no room for a root: the edge beside the point is near enough.
        nearest = _curve(family, at_budget.edge(point), orientation)
        curves = [nearest] if nearest.lipschitz <= budget * (1 + 1e-9) else []
    return min(curves, key=lambda curve: curve.lipschitz, default=None)


def _mixes(reach: Reach, point: Point, budget: float, orientation: Orientation, inside: Inside) -> list[Curve]:
    """Mixes of curves of a reach that meet the point within the budget."""
    candidates = [_on_border(reach, point), _neighbours_as_one(reach, point, inside), *_crossings(reach, point)]
    curves = (_curve(reach.family, parts, orientation) for parts in candidates if parts is not None)
    return [curve for curve in curves if curve.lipschitz <= budget * (1 + 1e-9)]  # rounding alone


def _least_slope(alone: JointDistribution, family: Family, point: Point) -> float:
    """Where the search begins: at what is proven to be the least slope of all rising curves."""
    (group,) = alone.members
    widest = float(alone.pooled.widest_ramps([point])[1][0])
    lo, hi = group.ends
    widest = (hi - lo) / _WIDEST if np.isnan(widest) else widest
    # A smooth curve is steeper somewhere than the straight one; mixes of two may come near the bound.
    return 1 / max(widest, least_width(group, family, np.inf))


def _first_that_holds(
    reach: Callable[[float], Reach], at_budget: Reach, point: Point, budget: float, least: float
) -> tuple[float, Reach]:
    """The gentlest slope found whose reach holds the point."""
    slope, step, below = least, _STEP, 0.0
    while slope < min(budget, _STEEPEST):
        found = reach(slope)
        if found.shortfall(point) <= _HELD:
            break
        below, slope, step = slope, slope * step, min(step * _LONGER, _LONGEST)
    else:
        slope, found = budget, at_budget
    for _ in range(_CLOSE if below else 0):
        middle = float(np.sqrt(below * slope)) if np.isfinite(slope) else below * _LONGEST
        between = reach(middle)
        if between.shortfall(point) <= _HELD:
            slope, found = middle, between
        else:
            below = middle
    return slope, found


def _on_border(reach: Reach, point: Point) -> Parts | None:
    """The ends of the edge that the point lies on, if it lies on one."""
    return reach.edge(point) if abs(reach.shortfall(point)) <= (ON_CURVE if reach.rising else _PROGRAM) else None


def _neighbours_as_one(reach: Reach, point: Point, inside: Inside) -> Parts | None:
    """Two neighbours on an arc have a single curve between them that meets the point, by Newton's method."""
    (_, first), (_, last) = reach.edge(point)
    width = first.t1 - first.t0
    if not 0 < abs(first.t0 - last.t0) + abs(first.t1 - last.t1) < _NEAR * width or first.p != last.p:
        return None
    alone = JointDistribution((reach.group,), "positive")
    t0, t1 = CurveSearch(alone, reach.family, [point]).near(0, first.p, first.t0, first.t1)
    if np.isnan(t0) or (inside is not None and not inside[0] <= t0 <= t1 <= inside[1]):
        return None
    one = Placed(t0, t1, first.p)
    return (1.0, one), (0.0, one)


def _crossings(reach: Reach, point: Point) -> list[Parts]:
    """Mixes of a vertex of the reach with a curve on the other side of the point, the gentlest first.

    The line from a vertex through the point crosses the blurred ROC beyond it. Which crossing makes the gentlest mix is
    estimated for all of them together; where the curve stands exactly is then a root.
    """
    traces, family = reach.traces, reach.family
    if (traces.t0 == traces.t1).all():
        return []  # thresholds stand where the scores are
    at = np.array([[point.fpr], [point.tpr]])
    vertices, other = reach.border, reach.rates - at
    one = other[:, vertices]
    slopes = family.unit_slope(traces.p) / (traces.t1 - traces.t0)
    side = one[0][:, None] * other[1] - one[1][:, None] * other[0]
    i, k = np.nonzero((side[:, :-1] * side[:, 1:] <= 0) & (traces.trace[:-1] == traces.trace[1:]))
    gap = side[i, k] - side[i, k + 1]
    share = np.where(gap != 0, side[i, k] / np.where(gap != 0, gap, 1.0), 0.0)
    there = other[:, k] + share * (other[:, k + 1] - other[:, k])
    beyond = (one[:, i] * there).sum(axis=0) < 0
    i, k, there = i[beyond], k[beyond], there[:, beyond]
    near, far = np.hypot(*one[:, i]), np.hypot(*there)
    part = near / (near + far)
    own = vertices[i]
    apart = np.maximum(traces.t0[own], traces.t0[k + 1]) >= np.minimum(traces.t1[own], traces.t1[k])
    both = (1 - part) * slopes[own], part * slopes[k]
    steep = np.where(apart, np.maximum(*both), both[0] + both[1])
    best = np.argsort(steep, kind="stable")[:_TRIED]
    parts = (_crossing(reach, point, reach.placed(v), j) for v, j in zip(own[best].tolist(), k[best].tolist(), strict=True))
    return [pair for pair in parts if pair is not None]


def _crossing(reach: Reach, point: Point, vertex: Placed, k: int) -> Parts | None:
    """The mix of a vertex with the curve between two neighbours of a trace that lies exactly beyond the point."""
    traces = reach.traces
    at = np.array([point.fpr, point.tpr])

    def rates(placed: Placed) -> Floats:
        return reach.group.rates(reach.family.layout(placed.t0, placed.t1, placed.p))

    def between(share: float) -> Placed:
        (a, b), (c, d) = traces.t0[k : k + 2].tolist(), traces.t1[k : k + 2].tolist()
        return Placed(a + share * (b - a), c + share * (d - c), float(traces.p[k]))

    one = rates(vertex) - at

    def side(share: float) -> float:
        other = rates(between(share)) - at
        return float(one[0] * other[1] - one[1] * other[0]) * sign

    sign = 1.0
    ends = side(0.0), side(1.0)
    if ends[0] * ends[1] > 0:
        return None
    if ends[0] <= 0:
        sign = -1.0
    _, root = bracketed_root(side, (0.0, sign * ends[0]), (1.0, sign * ends[1]), 0.0)
    other = rates(between(root)) - at
    length = float(np.hypot(*one) + np.hypot(*other))
    share = float(np.hypot(*one)) / length if length > 0 else 0.0
    if np.abs((1 - share) * one + share * other).max() > ON_CURVE:
        return None
    return (1 - share, vertex), (share, between(root))


def _curve(family: Family, parts: Parts, orientation: Orientation) -> Curve:
    sign = 1.0 if orientation == "positive" else -1.0

    def curve(placed: Placed) -> Curve:
        p = 0.0 if placed.t0 == placed.t1 else placed.p
        return Curve(family.name, sign * placed.t0, sign * placed.t1, p, orientation=orientation)

    (share, one), (rest, other) = parts
    if share <= ON_CURVE or rest <= ON_CURVE:
        return curve(other if share <= ON_CURVE else one)
    return Curve.mixed(((share, curve(one)), (rest, curve(other))))
