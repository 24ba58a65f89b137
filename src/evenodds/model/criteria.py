"""Which of the many curves through a point to take.

The paper leaves the choice open (Section 6); these are its candidates made precise. `gentlest`, `smoothest`, `robust`
and `fewest_randomized` judge each group's curve by itself; `even_slopes` and `even_randomized` choose for all groups
together. Ties go to the p nearest 1/2, in `fewest_randomized` and `even_randomized` to the gentlest curve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import OptionError, UnreachableError
from evenodds.geometry.moments import Moments
from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_roots
from evenodds.model.curves import CERTAIN, is_random, layout
from evenodds.model.pooling import is_least_slope
from evenodds.model.solutions import Meeting, Path, p_grid, search_limits

__all__ = [
    "CRITERIA",
    "WHEN_TO_USE",
    "check_criterion",
    "chosen_curves",
    "randomized_share",
    "roughness",
    "score_sensitivity",
]

JOINT_CRITERIA = ("even_slopes", "even_randomized")
WHEN_TO_USE = {
    "gentlest": "by default: of the family's curves the one whose odds change least with a point of score",
    "even_slopes": "where a point of score should be worth the same in every group",
    "smoothest": "where kinks in the odds would be noticed, or the odds are differentiated",
    "robust": "where scores are noisy: errors of the score change the odds least on average",
    "fewest_randomized": "where chance should decide for as few people as possible, at the price of steeper odds",
    "even_randomized": "where no group should be left to chance more often than another",
}
CRITERIA = tuple(WHEN_TO_USE)

_TIE = 1e-9  # measures this close (relative) are equal; where thresholds lie beyond the scores, many p tie
_FIRST_LOOK = 9  # steps of the first grid to each side of p = 1/2
_DENSE = 60  # the same where groups are compared with each other
_VALLEYS = 3  # how many local minima of the first look are followed to their bottom
_FINEST = 1e-8  # the step in p at which the search ends
_BESIDE = 1e-3  # a step in p to see whether p = 1/2 is the bottom
_SETTLED = 3  # rounds without a better p after which it is at a kink
_ROUNDING = 1e-9  # a slope this much over the budget (relative) is within it

Measure = Callable[[Path], Floats]
Allowed = Callable[[Path], NDArray[np.bool_]]


def chosen_curves(
    meetings: Sequence[Meeting], criterion: str, *, steepest: float = np.inf, inside: tuple[float, float] | None = None
) -> list[Path]:
    """One curve for each meeting, as a path of one entry.

    Parameters
    ----------
    meetings : sequence of Meeting
    criterion : str
        One of `CRITERIA`.
    steepest : float
        No curve may be steeper, where there is a choice.
    inside : (lo, hi), optional
        Every threshold must lie between these scores (upward scale).
    """
    family = meetings[0].family
    budget, steepest = steepest, steepest * (1 + _ROUNDING)

    def allowed(path: Path) -> NDArray[np.bool_]:
        ok = path.found & (path.lipschitz <= steepest)
        if inside is not None:
            room = 1e-9 * (inside[1] - inside[0])  # a threshold at the very end of the scores is inside
            ok &= (path.t0 >= inside[0] - room) & (path.t1 <= inside[1] + room)
        return np.asarray(ok)

    def least(meeting: Meeting, measure: Measure, *, prune: bool = False) -> Path:
        try:
            return _least(meeting, measure, budget, allowed, prune=prune)
        except UnreachableError:
            touching = meeting.at_slope(budget) if np.isfinite(budget) else None
            if touching is None or not allowed(touching)[0]:
                raise
            return touching

    if criterion in JOINT_CRITERIA:
        gentle = [least(meeting, lambda some: some.lipschitz) for meeting in meetings]
        return _even(meetings, gentle, criterion, steepest, allowed)
    if criterion == "smoothest" and family == "quadratic":
        return [_only_half(meeting, steepest, allowed) for meeting in meetings]
    prune = criterion == "gentlest" and inside is None
    return [least(meeting, _measure(criterion, meeting), prune=prune) for meeting in meetings]


def check_criterion(criterion: str, family: str) -> None:
    """Refuse a criterion that has no meaning for a family."""
    one = f"{'an' if family == 'optimal' else 'a'} {family} curve"
    if criterion == "smoothest" and family not in ("quadratic", "cubic", "quartic"):
        msg = (
            f"criterion='smoothest' compares curves without kinks, and {one} has some. "
            "Allowed with it: curve='cubic', 'quartic', or 'quadratic' (at p = 1/2)."
        )
        raise OptionError(msg)
    if criterion != "gentlest" and family == "optimal":
        msg = f"criterion={criterion!r} chooses along a path, and {one} has none. Allowed: 'gentlest'."
        raise OptionError(msg)


def _measure(criterion: str, meeting: Meeting) -> Measure:
    if criterion == "robust":
        return lambda path: score_sensitivity(path, meeting)
    if criterion == "fewest_randomized":
        return lambda path: randomized_share(path, meeting)
    if criterion == "smoothest":
        return roughness
    return lambda path: path.lipschitz


# -- the measures ------------------------------------------------------------------------------------------------------


def roughness(path: Path) -> Floats:
    """The integral of the squared second derivative: 12 (p^2/q^3 + q^2/p^3) / D^3 for the cubic, for example."""
    p, q = path.p, 1 - path.p
    if path.family == "quartic":
        c2, c3, c4 = 60 * p - 24, 168 - 360 * p, 360 * p - 180
        unit = c2**2 + c2 * c3 + (c3**2 + 2 * c2 * c4) / 3 + c3 * c4 / 2 + c4**2 / 5
    else:
        unit = (4.0 if path.family == "quadratic" else 12.0) * (p**2 / q**3 + q**2 / p**3)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isinf(path.t0), 0.0, unit / (path.t1 - path.t0) ** 3)


def score_sensitivity(path: Path, meeting: Meeting) -> Floats:
    """The expected change of odds when the score errs by d to either side: E[odds(R + d) - odds(R - d)].

    d is 1 % of the group's score range, or half the median gap between its scores if that is more.
    """
    scores = meeting.group.scores
    gaps = np.diff(scores)
    if not gaps.size or np.isinf(path.t0).any():
        return np.zeros(path.p.shape)
    d = max(0.01 * float(scores[-1] - scores[0]), float(np.median(gaps)) / 2)
    everybody = Moments(scores, (meeting.group.negatives + meeting.group.positives)[None] / meeting.group.total)
    change = np.full(path.p.shape, np.nan)
    ramps = np.flatnonzero(path.found & (path.t1 > path.t0))
    t0, t1, p = path.t0[ramps], path.t1[ramps], path.p[ramps]
    ahead, behind = (everybody.expectation(layout(path.family, t0 + s, t1 + s, p))[:, 0] for s in (-d, d))
    change[ramps] = ahead - behind
    steps = np.flatnonzero(path.found & (path.t1 == path.t0))
    for i in steps:
        near = (scores >= path.t0[i] - d) & (scores < path.t0[i] + d)
        change[i] = float((meeting.group.negatives + meeting.group.positives)[near].sum()) / meeting.group.total
    return change


def randomized_share(path: Path, meeting: Meeting) -> Floats:
    """The share of the group whose odds are neither 0 nor 1."""
    if np.isinf(path.t0).any():
        return np.where(is_random(path.p), 1.0, 0.0)
    scores = meeting.group.scores
    before = np.append(0.0, np.cumsum(meeting.group.negatives + meeting.group.positives)) / meeting.group.total
    share = np.full(path.p.shape, np.nan)
    known = np.flatnonzero(path.found)
    if path.family == "fixed":
        curve = path.curve(0)
        own = curve(scores if curve.orientation == "positive" else -scores)
        return np.array([float(np.diff(before)[is_random(own)].sum())])
    width = (path.t1 - path.t0)[known]
    lo, hi = (meeting.where_unit_odds_are(odds, path.p[known], within=_FINEST) for odds in (CERTAIN, 1 - CERTAIN))
    first = np.searchsorted(scores, path.t0[known] + lo * width, side="right")
    last = np.searchsorted(scores, path.t0[known] + hi * width, side="left")
    share[known] = np.where(width > 0, before[np.maximum(last, first)] - before[first], 0.0)
    return share


# -- the search for one group ------------------------------------------------------------------------------------------


def _least(meeting: Meeting, measure: Measure, budget: float, allowed: Allowed, *, prune: bool = False) -> Path:
    """The allowed curve at which a measure is least, as a path of one entry.

    A first look over the whole range of p finds the valleys, and the deepest are followed to their bottom by ever
    smaller steps. The bottom is searched for once more from the widest curve down, so that no wider solution at the
    same p is missed.
    """
    single = meeting.single()
    if single is not None:
        return single
    p, steepest = p_grid(meeting.family, _FIRST_LOOK), budget * (1 + _ROUNDING)
    half = meeting.path(np.array([0.5]), steepest) if prune else None
    if half is not None and not len(half) and np.isfinite(budget):
        half = meeting.at_slope(budget)
    if half is not None and len(half):
        slope, floor = float(half.lipschitz[0]), meeting.slope_floor
        if slope <= floor * (1 + _ROUNDING) or (not floor and is_least_slope(meeting.group, meeting.point, slope)):
            return half  # proven: no rising curve is gentler
        # Only curves that are no steeper than the one at p = 1/2 matter.
        path = meeting.path(p[p != half.p], slope * (1 + _TIE)).joined(half)
        if len(path) == 1 and _is_sharp_bottom(meeting, half):
            return half
    else:
        path = meeting.path(p, steepest)
    value = _judged(path, measure, allowed)
    if not np.isfinite(value).any():
        raise UnreachableError(_why_not(meeting, path, steepest))
    beside = np.concatenate([[np.inf], value, [np.inf]]) * (1 + _TIE)
    valleys = np.flatnonzero((value <= beside[:-2]) & (value <= beside[2:]) & np.isfinite(value))
    # Of valleys that are equally deep, those nearest to p = 1/2 come first.
    depth = np.where(value <= value.min() * (1 + _TIE), value.min(), value)
    deepest = valleys[np.lexsort((np.abs(path.p - 0.5)[valleys], depth[valleys]))][:_VALLEYS]
    bottoms = _bottoms(meeting, lambda some: _judged(some, measure, allowed), path, deepest)
    found = meeting.path(bottoms.p, steepest).joined(bottoms)
    return found.at(_best(found, _judged(found, measure, allowed)))


def _is_sharp_bottom(meeting: Meeting, half: Path) -> bool:
    """Whether the slope rises steeply to both sides of p = 1/2, as it does unless the width changes very fast."""
    beside = meeting.follow(half, np.array([0.5 - _BESIDE, 0.5 + _BESIDE]))
    return bool(beside.found.all() and (beside.lipschitz > half.lipschitz[0] * (1 + _BESIDE)).all())


def _judged(path: Path, measure: Measure, allowed: Allowed) -> Floats:
    return np.where(allowed(path), measure(path), np.inf)


def _bottoms(meeting: Meeting, judge: Measure, path: Path, valleys: NDArray[np.intp]) -> Path:
    """Follow valleys down, side by side, from their lowest points on the first grid."""
    lo, hi = search_limits(meeting.family)
    step = float(path.p[1] - path.p[0])
    known = path
    bottoms = [path.at(int(valley)) for valley in valleys]
    unchanged = 0
    flat = False
    while step > _FINEST and unchanged < _SETTLED and not flat:
        centres = np.array([bottom.p[0] for bottom in bottoms])
        p = np.unique(centres[:, None] + step * np.arange(-7, 8) / 8)
        p = np.setdiff1d(p[(p >= lo) & (p <= hi)], centres)
        near = meeting.follow(known, p).where_found()
        known = known.joined(near)
        step /= 8
        flat = True
        for i, centre in enumerate(centres):
            around = bottoms[i].joined(near.among(np.abs(near.p - centre) < 8 * step))
            value = judge(around)
            best = _best(around, value)
            beside = value[np.abs(around.p - around.p[best]) < 1.5 * step]
            flat &= bool(beside.max() <= value[best] * (1 + _TIE))
            bottoms[i] = around.at(best)
        unchanged = unchanged + 1 if all(b.p[0] == c for b, c in zip(bottoms, centres, strict=True)) else 0
    together = bottoms[0]
    for bottom in bottoms[1:]:
        together = together.joined(bottom)
    return together


def _best(path: Path, value: Floats) -> int:
    """Position of the least value; of ties the gentlest, and of these the p nearest 1/2."""
    low = value.min()
    ties = np.flatnonzero(value <= low + _TIE * abs(low))
    slope = path.lipschitz[ties]
    ties = ties[(slope <= slope.min() * (1 + _TIE)) | np.isinf(slope.min())]
    return int(ties[np.argmin(np.abs(path.p[ties] - 0.5))])


def _only_half(meeting: Meeting, steepest: float, allowed: Allowed) -> Path:
    """The quadratic is smooth at p = 1/2 only."""
    path = meeting.single() or meeting.path(np.array([0.5]), steepest)
    if not allowed(path)[0] and meeting.single() is None:
        raise UnreachableError(_why_not(meeting, path, steepest))
    return path


def _why_not(meeting: Meeting, path: Path, steepest: float) -> str:
    point, roc = meeting.point, meeting.roc
    start = (
        f"Group {meeting.group.key!r} cannot reach the target (fpr={point.fpr:.6g}, tpr={point.tpr:.6g}) with a "
        f"{meeting.family} curve"
    )
    above = point.tpr - roc.height(point.fpr)
    if above > 0 and not len(path):
        return (
            f"{start}: it lies {above:.3g} above the group's ROC, in a dent that only a mix of thresholds bridges. "
            "Hint: curve='fixed' or 'optimal' reaches it."
        )
    if len(path):
        return (
            f"{start} whose thresholds stay inside the score range. "
            "Hint: allow a larger slope, or give up keep_individual_odds."
        )
    needed = meeting.path(np.array([0.5])).lipschitz[0]
    return (
        f"{start} of slope at most {steepest:.6g}: at p = 1/2 it needs {needed:.6g}, {needed - steepest:.3g} more. "
        "Hint: raise max_slope, or let the target be chosen."
    )


# -- the search for all groups together --------------------------------------------------------------------------------


def _even(
    meetings: Sequence[Meeting], gentle: Sequence[Path], criterion: str, steepest: float, allowed: Allowed
) -> list[Path]:
    """Least difference of a measure between the groups, then the least measure.

    Groups that have but one curve, and for slopes an infinite one, cannot be evened out: their curve stays.
    """
    paths = list(gentle)
    for i, meeting in enumerate(meetings):
        if meeting.single() is None:
            path = meeting.path(p_grid(meeting.family, _DENSE), steepest)
            paths[i] = path.among(allowed(path)).joined(gentle[i])
    if criterion == "even_slopes":
        return _even_slopes(meetings, paths, allowed)
    values = [randomized_share(path, meeting) for path, meeting in zip(paths, meetings, strict=True)]
    lo, hi = _narrowest_window(values)
    chosen = []
    for path, value in zip(paths, values, strict=True):
        inside = np.flatnonzero((value >= lo) & (value <= hi))
        chosen.append(path.at(int(inside[_best(path.among(inside), value[inside])])))
    return chosen


def _narrowest_window(values: Sequence[Floats]) -> tuple[float, float]:
    """The narrowest interval that holds a value of each group; of several the lowest."""
    flat = np.concatenate(values)
    owner = np.repeat(np.arange(len(values)), [value.size for value in values])
    order = np.argsort(flat, kind="stable")
    flat, owner = flat[order], owner[order]
    seen = np.zeros(len(values), int)
    missing, start = len(values), 0
    best = (np.inf, 0.0, 0.0)
    for stop in range(flat.size):
        missing -= seen[owner[stop]] == 0
        seen[owner[stop]] += 1
        while missing == 0:
            width = float(flat[stop] - flat[start])
            if width < best[0] - CERTAIN:
                best = (width, float(flat[start]), float(flat[stop]))
            seen[owner[start]] -= 1
            missing += seen[owner[start]] == 0
            start += 1
    return best[1], best[2]


def _even_slopes(meetings: Sequence[Meeting], paths: Sequence[Path], allowed: Allowed) -> list[Path]:
    """Bring every group to the slope of the group that cannot be gentler, or as near to it as it gets.

    The largest slope is at least the greatest of the groups' least ones; at that level the others follow their paths
    to the same slope, by a root in p between two neighbouring curves of which one is gentler and one is not.
    """
    least = [float(path.lipschitz.min()) for path in paths]
    if np.isinf(least).all():
        return [path.at(0) for path in paths]
    level = max(slope for slope in least if np.isfinite(slope))
    result = []
    for meeting, path in zip(meetings, paths, strict=True):
        value = path.lipschitz
        below = np.flatnonzero(value <= level * (1 + _TIE))
        if not below.size:  # a single threshold
            result.append(path.at(0))
            continue
        nearest = path.at(int(below[_best(path.among(below), level - value[below])]))
        crossing = np.flatnonzero((value[:-1] - level) * (value[1:] - level) < 0)
        if level - nearest.lipschitz[0] > _TIE * level and crossing.size:
            nearest = _at_slope(meeting, path, crossing, level, allowed) or nearest
        result.append(nearest)
    return result


def _at_slope(meeting: Meeting, path: Path, crossing: NDArray[np.intp], level: float, allowed: Allowed) -> Path | None:
    """The curve of a given slope between neighbours of a path; of several the one with p nearest 1/2."""
    gentle = path.lipschitz <= level
    positive = np.where(gentle[crossing], path.p[crossing + 1], path.p[crossing])
    negative = np.where(gentle[crossing], path.p[crossing], path.p[crossing + 1])

    def excess(p: Floats, _: NDArray[np.intp]) -> Floats:
        order = np.argsort(p)
        slope = np.empty(p.size)
        slope[order] = meeting.follow(path, p[order]).lipschitz
        return np.where(np.isnan(slope), 1.0, slope - level)

    ends = [np.interp(p, path.p, path.lipschitz) - level for p in (positive, negative)]
    _, p = bracketed_roots(excess, positive, negative, ends[0], ends[1], tolerance=np.full(crossing.size, 1e-13))
    found = meeting.follow(path, np.sort(p)).where_found()
    close = np.flatnonzero((np.abs(found.lipschitz - level) <= 1e-6 * level) & allowed(found))
    return found.at(int(close[np.argmin(np.abs(found.p[close] - 0.5))])) if close.size else None
