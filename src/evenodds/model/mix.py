"""Two curves in place of one: how a point is met that no single curve of a family meets within its slope budget.

The reach of a group is the hull of its blurred ROC (see `reach`). A point in a dent of the blurred ROC lies between two
curves of it, and is met by their mix. The gentlest mix is looked for from the proven least slope upwards: the first
slope whose reach holds the point has it near its border, and a line through the point from a vertex of the border to
the blurred ROC beyond is a mix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evenodds.geometry.pieces import Floats
from evenodds.geometry.rays import runs_beyond
from evenodds.geometry.roots import bracketed_roots
from evenodds.geometry.stack import Stack
from evenodds.model.curves import Curve
from evenodds.model.families import Family
from evenodds.model.joint import JointDistribution
from evenodds.model.reach import ON_CURVE, Reach, reaches_inside, reaches_of, refined
from evenodds.model.roc import Point
from evenodds.model.search import CurveSearch
from evenodds.model.traces import Placed, least_width

__all__ = ["gentlest_mix"]

_STEP = 1.1  # from a slope to the next one that is looked at
_LONGER = 1.1  # from a step to the next where no slope was found
_STEEPEST = 1e300  # beyond it a step is no number
_TOGETHER = 8  # slopes that are looked at together
_CLOSE = 3  # times that the last step is cut into so many
# How many times gentler the curves are that must fall short of a point on the border.
_GENTLER = np.array([1 + 1e-6, 1.2, 1.5, 2.0])
_HELD = 1e-13  # how well rates are known: a point that is no farther beyond a reach lies in it
_PROGRAM = 1e-9  # the same of points that a linear program chose
_TINY = 1e-300  # in place of 0 where something is divided by it
_WIDEST = 0.25  # of 1 / score range: the least slope that is looked at where nothing is proven
_TRIED = 8  # crossings, and mixes
_BEYOND = 8  # slopes that are looked at beyond: two parts of one half each may be twice as steep
_ROUNDING = 1e-9  # a slope this much over the budget (relative) is within it
_NEAR = 0.5  # of a width: so near each other are neighbours on an arc, and not both sides of a dent

Parts = tuple[tuple[float, Placed], tuple[float, Placed]]
Inside = tuple[float, float] | None


def gentlest_mix(
    point: Point,
    at_budget: Reach,
    budget: float,
    *,
    floor: float = 0.0,
    inside: Inside = None,
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
    floor : float
        A slope that no rising curve through the point falls below; 0 where nothing is proven.
    inside : (lo, hi), optional
        Both thresholds of each curve stay between these scores.
    """
    family = at_budget.family
    short = at_budget.shortfall(point)
    near_enough = ON_CURVE if inside is None else _PROGRAM
    if np.isinf(budget) and inside is None and abs(short) <= ON_CURVE:
        return _curve(family, at_budget.edge(point))
    alone = JointDistribution((at_budget.group,), "positive")
    reaches = partial(_reaches, alone, family, point, inside)
    # Parts that do not overlap add up to less than either, so they may be steeper than the mix shall be.
    steepest, widest = (budget, at_budget) if short <= near_enough else (2 * budget, reaches([2 * budget])[0])
    if widest.shortfall(point) > near_enough:
        return None
    slope, reach = budget, at_budget
    if not _is_at_limit(reaches, at_budget, point, budget):
        slope, reach = _first_that_holds(reaches, widest, point, steepest, _least_slope(at_budget, floor))
    candidates = _mixes(reach, point)
    # Where all kinks were looked at, a single curve between neighbours would have been found.
    if not reach.is_exact and (single := _neighbours_as_one(alone, reach, point, inside)):
        candidates += _rated(family, [single])
    if np.isfinite(slope):
        for steeper in reaches(slope * _STEP ** np.arange(1, _BEYOND)):
            if steeper.shortfall(point) <= _HELD:
                # Slopes of straight parts add up to just what they are said to; arcs may be steepest at other places.
                known = [steepness for steepness, _ in candidates] if family.is_straight else []
                candidates += _mixes(steeper, point, min(known, default=np.inf))
    candidates.sort(key=lambda rated: rated[0])
    curves = [_curve(family, parts) for _, parts in candidates[: 1 if family.is_straight else _TRIED]]
    curves = [curve for curve in curves if curve.lipschitz <= budget * (1 + _ROUNDING)]
    if not curves and abs(short) <= near_enough:
        # Borders that are almost upright leave no room for a root: the edge beside the point is near enough.
        nearest = _curve(family, at_budget.edge(point))
        curves = [nearest] if nearest.lipschitz <= budget * (1 + _ROUNDING) else []
    return min(curves, key=lambda curve: curve.lipschitz, default=None)


def _reaches(
    alone: JointDistribution, family: Family, point: Point, inside: Inside, slopes: Iterable[float]
) -> list[Reach]:
    """What the group reaches under several budgets, looked at together: as if it were several groups."""
    (group,) = alone.members
    if inside is not None:
        return [reaches_inside([group], alone.stack, family, float(slope), inside)[0] for slope in slopes]
    budgets = [float(slope) for slope in slopes]
    count = len(budgets)
    stack = Stack([group.by_label] * count)
    return refined(reaches_of([group] * count, stack, family, budgets), stack, [point] * count)


def _mixes(reach: Reach, point: Point, steepest: float = np.inf) -> list[tuple[float, Parts]]:
    """Mixes of curves of a reach that meet the point, and how steep they are at most."""
    border = _on_border(reach, point)
    return _rated(reach.family, [*([border] if border else []), *_crossings(reach, point, steepest)])


def _rated(family: Family, mixes: Iterable[Parts]) -> list[tuple[float, Parts]]:
    return [(_steepness(family, parts), parts) for parts in mixes]


def _steepness(family: Family, parts: Parts) -> float:
    """How steep a mix is at most: as its steeper part where they do not overlap, else as both together."""
    (share, one), (rest, other) = parts
    width = [max(placed.t1 - placed.t0, _TINY) for placed in (one, other)]
    slopes = [
        part * float(family.unit_slope(placed.p)) / wide
        for part, placed, wide in zip((share, rest), (one, other), width, strict=True)
    ]
    return max(slopes) if max(one.t0, other.t0) >= min(one.t1, other.t1) else sum(slopes)


def _least_slope(reach: Reach, floor: float) -> float:
    """Where the search begins: at what is proven to be the least slope of all rising curves."""
    lo, hi = reach.group.ends
    # A smooth curve is steeper somewhere than the straight one; mixes of two may come near the bound.
    return min(floor or _WIDEST / max(hi - lo, _TINY), 1 / least_width(reach.group, reach.family, np.inf))


def _first_that_holds(
    reaches: Callable[[Floats], list[Reach]], at_budget: Reach, point: Point, steepest: float, least: float
) -> tuple[float, Reach]:
    """The gentlest slope found whose reach holds the point: ever closer, from the least upwards, several at a time."""
    below, slope, reach = 0.0, steepest, at_budget
    steps = _STEP ** np.cumsum(_LONGER ** np.arange(_TOGETHER))
    slopes = np.append(least, least * steps)
    while not below and slopes[0] < min(steepest, _STEEPEST):
        slopes = slopes[slopes < min(steepest, _STEEPEST)]
        seen = reaches(slopes)
        holds = [each.shortfall(point) <= _HELD for each in seen]
        if True in holds:
            i = holds.index(True)
            slope, reach = float(slopes[i]), seen[i]
            if i == 0:
                return slope, reach
            below = float(slopes[i - 1])
        elif slopes[-1] >= min(steepest, _STEEPEST) / (steps[-1] / steps[-2]):
            below = float(slopes[-1])
        else:
            with np.errstate(over="ignore"):  # what is infinite is left out
                steps = steps**2
                slopes = slopes[-1] * steps
    for _ in range(_CLOSE if below else 0):
        ends = np.log(below), np.log(slope) if np.isfinite(slope) else np.log(below) + _TOGETHER
        between = np.exp(np.linspace(*ends, _TOGETHER + 1)[1:-1])
        seen = reaches(between)
        holds = [each.shortfall(point) <= _HELD for each in seen]
        i = holds.index(True) if True in holds else len(holds)
        below = float(between[i - 1]) if i else below
        if i < len(holds):
            slope, reach = float(between[i]), seen[i]
        elif reach.shortfall(point) >= -ON_CURVE:
            break  # on its border already
    return slope, reach


def _is_at_limit(reaches: Callable[[Floats], list[Reach]], reach: Reach, point: Point, budget: float) -> bool:
    """Whether the point is on the border, and curves that are a little, or much gentler fall short of it."""
    if abs(reach.shortfall(point)) > ON_CURVE:
        return False
    return all(gentler.shortfall(point) > _HELD for gentler in reaches(budget / _GENTLER))


def _on_border(reach: Reach, point: Point) -> Parts | None:
    """The ends of the edge that the point lies on, if it lies on one."""
    return reach.edge(point) if abs(reach.shortfall(point)) <= (ON_CURVE if reach.has_diagonal else _PROGRAM) else None


def _neighbours_as_one(alone: JointDistribution, reach: Reach, point: Point, inside: Inside) -> Parts | None:
    """Two neighbours on an arc have a single curve between them that meets the point, by Newton's method."""
    (_, first), (_, last) = reach.edge(point)
    width = first.t1 - first.t0
    if not 0 < abs(first.t0 - last.t0) + abs(first.t1 - last.t1) < _NEAR * width or first.p != last.p:
        return None
    t0, t1 = CurveSearch(alone, reach.family, [point]).near(0, first.p, first.t0, first.t1)
    if np.isnan(t0) or (inside is not None and not inside[0] <= t0 <= t1 <= inside[1]):
        return None
    single = Placed(t0, t1, first.p)
    return (1.0, single), (0.0, single)


def _crossings(reach: Reach, point: Point, steepest: float = np.inf) -> list[Parts]:
    """Mixes of a vertex of the reach with a curve on the other side of the point, the gentlest first.

    The line from a vertex through the point crosses the blurred ROC beyond it. Which crossing makes the gentlest mix is
    estimated for all of them together; where the curve stands exactly is then a root.
    """
    traces, family = reach.traces, reach.family
    if (traces.t0 == traces.t1).all():
        return []  # thresholds stand where the scores are
    at = np.array([[point.fpr], [point.tpr]])
    vertices, other = reach.vertices, reach.rates - at
    one = other[:, vertices]
    slopes = family.unit_slope(traces.p) / (traces.t1 - traces.t0)
    i, k = runs_beyond(one, other)
    near_side, far_side = (one[0, i] * other[1, j] - one[1, i] * other[0, j] for j in (k, k + 1))
    crossed = (near_side * far_side <= 0) & (traces.trace[k] == traces.trace[k + 1])
    i, k, near_side, far_side = i[crossed], k[crossed], near_side[crossed], far_side[crossed]
    gap = near_side - far_side
    share = np.where(gap != 0, near_side / np.where(gap != 0, gap, 1.0), 0.0)
    there = other[:, k] + share * (other[:, k + 1] - other[:, k])
    beyond = (one[:, i] * there).sum(axis=0) < 0
    i, k, share, there = i[beyond], k[beyond], share[beyond], there[:, beyond]
    near, far = np.hypot(*one[:, i]), np.hypot(*there)
    part = near / (near + far)
    own = vertices[i]
    t0, t1 = (t[k] + share * (t[k + 1] - t[k]) for t in (traces.t0, traces.t1))
    apart = np.maximum(traces.t0[own], t0) >= np.minimum(traces.t1[own], t1)
    both = (1 - part) * slopes[own], part * slopes[k]
    steep = np.where(apart, np.maximum(*both), both[0] + both[1])
    best = np.argsort(steep, kind="stable")[:_TRIED]
    best = best[steep[best] < steepest]
    return _crossed(reach, at, own[best], k[best], share[best]) if best.size else []


def _crossed(reach: Reach, at: Floats, own: NDArray[np.intp], k: NDArray[np.intp], guess: Floats) -> list[Parts]:
    """The mixes of vertices with the curves between two neighbours of a trace that lie exactly beyond the point.

    `guess` says where between them, as if rates moved evenly with the position, which they do between kinks.
    """
    traces, family = reach.traces, reach.family

    def between(share: Floats, i: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
        t0, t1 = (a[k[i]] + share * (a[k[i] + 1] - a[k[i]]) for a in (traces.t0, traces.t1))
        return t0, t1, traces.p[k[i]]

    def rates(t0: Floats, t1: Floats, p: Floats) -> Floats:
        return np.asarray(reach.group.rates(family.layout(t0, t1, p)).T - at)

    one = rates(traces.t0[own], traces.t1[own], traces.p[own])

    def side(share: Floats, i: NDArray[np.intp]) -> Floats:
        other = rates(*between(share, i))
        return np.asarray(sign[i] * (one[0, i] * other[1] - one[1, i] * other[0]))

    sign, shares = np.ones(own.size), guess.copy()
    every = np.arange(own.size)

    def parts() -> tuple[Floats, Floats]:
        """The share of the curve beyond in each mix, and by how much this misses the point."""
        other = rates(*between(shares, every))
        near, far = np.hypot(*one), np.hypot(*other)
        part = near / np.maximum(near + far, _TINY)
        return part, np.abs((1 - part) * one + part * other).max(axis=0)

    part, off = parts()
    bent = every[off > ON_CURVE]
    if bent.size:
        ends = side(np.zeros(bent.size), bent), side(np.ones(bent.size), bent)
        sign[bent] = np.where(ends[0] <= 0, -1.0, 1.0)
        enclosed = np.flatnonzero(ends[0] * ends[1] <= 0)
        some = bent[enclosed]
        _, shares[some] = bracketed_roots(
            lambda x, i: side(x, some[i]),
            np.zeros(some.size),
            np.ones(some.size),
            sign[some] * ends[0][enclosed],
            sign[some] * ends[1][enclosed],
            tolerance=np.zeros(some.size),
        )
        part, off = parts()
    t0, t1, p = between(shares, every)
    placed = [Placed(*map(float, where)) for where in zip(t0, t1, p, strict=True)]
    return [
        ((1 - float(part[i]), reach.placed(int(own[i]))), (float(part[i]), placed[i]))
        for i in every.tolist()
        if off[i] <= ON_CURVE
    ]


def _curve(family: Family, parts: Parts) -> Curve:
    def curve(placed: Placed) -> Curve:
        p = 0.0 if placed.t0 == placed.t1 else placed.p
        return Curve(family.name, placed.t0, placed.t1, p)

    (share, one), (rest, other) = parts
    if share <= ON_CURVE or rest <= ON_CURVE:
        return curve(other if share <= ON_CURVE else one)
    return Curve.mixed(((share, curve(one)), (rest, curve(other))))
