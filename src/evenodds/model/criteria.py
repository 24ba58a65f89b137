"""Which of the many curves through a point to take.

The paper leaves the choice open (Section 6); these are its candidates made precise. `gentlest`, `smoothest`, `robust`
and `fewest_randomized` judge each group's curve by itself; `even_slopes` and `even_randomized` choose for all groups
together. Ties go to the p nearest 1/2, in `fewest_randomized` and `even_randomized` to the gentlest curve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import OptionError
from evenodds.geometry.pieces import Floats
from evenodds.model.curves import CERTAIN
from evenodds.model.even import DENSE, Allowed, even_curves
from evenodds.model.families import Family
from evenodds.model.groups import Group
from evenodds.model.measures import TIE, best_of, randomized_fraction, roughness, score_sensitivity
from evenodds.model.path import Path
from evenodds.model.search import CurveSearch

__all__ = [
    "CRITERIA",
    "WHEN_TO_USE",
    "check_criterion",
    "chosen_curves",
]

JOINT_CRITERIA = ("even_slopes", "even_randomized")
WHEN_TO_USE = {
    "gentlest": "by default: of the family's curves the one whose odds change least with the score",
    "even_slopes": "where the same step of score should be worth the same in every group",
    "smoothest": "where kinks in the odds would be noticed, or the odds are differentiated",
    "robust": "where scores are noisy: errors of the score change the odds least on average",
    "fewest_randomized": "where chance should decide for as few people as possible, at the price of steeper odds",
    "even_randomized": "where no group should be left to chance more often than another",
}
CRITERIA = tuple(WHEN_TO_USE)

_FIRST_LOOK = 9  # steps of the first grid to each side of p = 1/2
_PRUNED_LOOK = 36  # the same where only what is better than a known curve is looked for
_VALLEYS = 5  # how many local minima of the first look are followed to their bottom
_PROMISES = 6  # times that stretches between scores are looked at more closely
_TRIED = 24  # stretches at a time
_MANY = 4096  # stretches that are looked at
_FINEST = 1e-7  # of the steps of the first look: where the search ends
_BESIDE = 1e-3  # a step in p to see whether p = 1/2 is the bottom
_FINER = 16  # steps into which each is cut next
_SETTLED = 2  # rounds without a better p after which it is at a kink
_HALF = np.array([0.5])  # p of a symmetric curve
_ROUNDING = 1e-9  # a slope this much over the budget (relative) is within it

Measure = Callable[[Path], Floats]
Judge = Callable[[int, Path], Floats]  # of a group's curves; infinite where they are not allowed


def chosen_curves(
    search: CurveSearch, criterion: str, *, steepest: float = np.inf, inside: tuple[float, float] | None = None
) -> list[Path | None]:
    """One curve for each group, as a path of one entry; None where no single curve of the family meets the point.

    Parameters
    ----------
    search : CurveSearch
    criterion : str
        One of `CRITERIA`.
    steepest : float
        No curve may be steeper.
    inside : (lo, hi), optional
        Every threshold must lie between these scores (upward scale).
    """
    steepest = steepest * (1 + _ROUNDING)

    def allowed(path: Path) -> NDArray[np.bool_]:
        ok = path.found & (path.lipschitz <= steepest)
        if inside is not None:
            room = 1e-13 * (inside[1] - inside[0])  # a threshold at the very end of the scores is inside
            ok &= (path.t0 >= inside[0] - room) & (path.t1 <= inside[1] + room)
        return np.asarray(ok)

    groups = len(search.groups)
    if criterion in JOINT_CRITERIA:
        gentle = _least(search, [_lipschitz] * groups, steepest, allowed)
        return even_curves(search, gentle, criterion, steepest, allowed)
    if criterion == "fewest_randomized":
        return _fewest(search, steepest, allowed)
    if criterion == "smoothest" and search.family.smooth_p() is not None:
        return _only_smooth(search, steepest, allowed)
    prune = criterion == "gentlest" and inside is None
    # Jagged scores make many valleys of what is summed there; what is pruned may be looked at closely at no cost.
    steps = DENSE if criterion == "robust" else _PRUNED_LOOK if prune else _FIRST_LOOK
    measures = [_measure(criterion, group) for group in search.groups]
    return _least(search, measures, steepest, allowed, prune=prune, steps=steps)


def check_criterion(criterion: str, family: Family) -> None:
    """Refuse a criterion that has no meaning for a family."""
    smooth = family.smooth_p()
    if criterion == "smoothest" and smooth is not None and not smooth.size:
        msg = (
            f"criterion='smoothest' compares curves without kinks, and {family.with_article} has some. "
            "Allowed with it: the curves cubic, quartic, and quadratic (at p = 1/2)."
        )
        raise OptionError(msg)
    # The fixed curve has no path either; the one that there is satisfies them all.
    if criterion != "gentlest" and not family.has_path and (family.is_continuous or family.is_hard):
        msg = f"criterion={criterion!r} chooses along a path, and {family.with_article} has none. Allowed: 'gentlest'."
        raise OptionError(msg)


def _measure(criterion: str, group: Group) -> Measure:
    if criterion == "robust":
        return lambda path: score_sensitivity(path, group)
    return roughness if criterion == "smoothest" else _lipschitz


def _lipschitz(path: Path) -> Floats:
    return path.lipschitz


def _least(
    search: CurveSearch,
    measures: Sequence[Measure],
    steepest: float,
    allowed: Allowed,
    *,
    prune: bool = False,
    steps: int = _FIRST_LOOK,
) -> list[Path | None]:
    """For each group the allowed curve at which its measure is least, as a path of one entry; None where there is none.

    A first look over the whole range of p finds the valleys, and the deepest are followed to their bottom by ever
    smaller steps. The bottom is searched for once more from the widest curve down, so that no wider solution at the
    same p is missed.
    """
    chosen, left = _singles(search, allowed)
    grid = search.family.p_grid(steps)
    limits = np.full(len(search.groups), steepest)
    halves: dict[int, Path] = {}
    if prune and left:
        halves = {i: half for i, half in search.paths(dict.fromkeys(left, _HALF), steepest).items() if len(half)}
        for i, half in list(halves.items()):
            if _is_least(search, i, half):
                chosen[i] = halves.pop(i)
            else:  # only curves that are gentler than the one at p = 1/2 matter
                limits[i] = half.lipschitz[0] * (1 - TIE)
        left = [i for i in left if chosen[i] is None]
    if not left:
        return chosen

    def judge(which: int, path: Path) -> Floats:
        return np.where(allowed(path), measures[which](path), np.inf)

    paths = search.paths({i: grid[grid != _HALF] if i in halves else grid for i in left}, limits)
    paths = {i: path.joined(halves[i]) if i in halves else path for i, path in paths.items()}
    paths = _looked_closer(search, judge, paths, limits, float(grid[1] - grid[0]))
    for i in _sharp_bottoms(search, {i: path for i, path in halves.items() if len(paths[i]) == 1}):
        chosen[i] = halves[i]
        del paths[i]
    valleys = {}
    for i, path in list(paths.items()):
        value = judge(i, path)
        if np.isfinite(value).any():
            valleys[i] = _valleys(path, value)
        else:
            del paths[i]
    bottoms = _bottoms(search, judge, paths, valleys)
    again = search.paths({i: bottom.p for i, bottom in bottoms.items()}, steepest) if bottoms else {}
    for i, bottom in bottoms.items():
        candidates = again[i].joined(bottom)
        chosen[i] = candidates.at(best_of(candidates, judge(i, candidates)))
    return chosen


def _singles(search: CurveSearch, allowed: Allowed) -> tuple[list[Path | None], list[int]]:
    """The curves of groups that have but one, if it is allowed; and the groups that have more."""
    chosen = [single if single is not None and allowed(single)[0] else None for single in search.singles]
    return chosen, [i for i, single in enumerate(search.singles) if single is None]


def _is_least(search: CurveSearch, which: int, half: Path) -> bool:
    """Whether it is proven that no rising curve is gentler than the symmetric one."""
    slope, floor = float(half.lipschitz[0]), search.slope_floor[which]
    if floor:
        return bool(slope <= floor * (1 + _ROUNDING))
    return search.joint.pooled.is_least_slope(which, search.points[which], slope)


def _looked_closer(
    search: CurveSearch, judge: Judge, paths: Mapping[int, Path], limits: Floats, step: float
) -> dict[int, Path]:
    """Paths with more of those p at which curves bend among the scores, where a grid of this step has few of them.

    A curve bends where its odds are p. Near the diagonal curves are far wider than the scores, whose odds then span so
    few of the p that a look over all of them may miss every one.
    """
    closer = search.carried_on(paths, limits)
    steps = dict.fromkeys(paths, step)
    going = list(paths)
    while going:
        wanted = {}
        for i in going:
            value = judge(i, closer[i])
            if np.isfinite(value).any():
                low, high = closer[i].at(best_of(closer[i], value)).curve(0)(search.groups[i].ends)
                fine = (high - low) / (2 * _FIRST_LOOK)
                if _ROUNDING * step < fine < steps[i] / 2:
                    steps[i] = float(fine)
                    p = np.linspace(low, high, 2 * _FIRST_LOOK + 1).clip(*search.family.search_limits)
                    wanted[i] = np.setdiff1d(p, closer[i].p)
        for i, more in search.paths(wanted, limits).items():
            closer[i] = closer[i].joined(more)
        going = list(wanted)
    return closer


def _valleys(path: Path, value: Floats) -> NDArray[np.intp]:
    """Where a measure along a path is lowest among its neighbours: the deepest of these places."""
    beside = np.concatenate([[np.inf], value, [np.inf]]) * (1 + TIE)
    lowest = np.flatnonzero((value <= beside[:-2]) & (value <= beside[2:]) & np.isfinite(value))
    # A level run is one valley, and not as many as there are places on it.
    runs = np.split(lowest, np.flatnonzero(np.diff(lowest) > 1) + 1)
    lowest = np.array([run[np.argmin(np.abs(path.p[run] - 0.5))] for run in runs])
    # Of valleys that are equally deep, those nearest to p = 1/2 come first.
    depth = np.where(value <= value.min() * (1 + TIE), value.min(), value)
    return lowest[np.lexsort((np.abs(path.p - 0.5)[lowest], depth[lowest]))][:_VALLEYS]


def _fewest(search: CurveSearch, steepest: float, allowed: Allowed) -> list[Path | None]:
    """For each group the allowed curve that leaves the fewest people to chance, of several the gentlest.

    The share is a step function of p: it changes where a threshold passes a score. So the path is looked at between
    the p at which its thresholds, interpolated, pass one, and closer where that promises fewer.
    """
    chosen, left = _singles(search, allowed)
    grid = search.family.p_grid(DENSE)
    paths = {i: path.among(allowed(path)) for i, path in search.paths(dict.fromkeys(left, grid), steepest).items()}
    paths = {i: path for i, path in paths.items() if len(path)}
    promising = list(paths)
    for _ in range(_PROMISES):
        wanted = {i: more for i in promising if (more := _promises(paths[i], search.groups[i])).size}
        if not wanted:
            break
        for i, followed in search.follow(paths, wanted, steepest).items():
            paths[i] = paths[i].joined(followed.among(allowed(followed)))
        promising = list(wanted)
    for i, path in paths.items():
        chosen[i] = path.at(best_of(path, randomized_fraction(path, search.groups[i])))
    return chosen


def _promises(path: Path, group: Group) -> Floats:
    """Some p at which fewer people, or as few by a gentler curve, may be left to chance than anywhere on a path."""
    best = path.at(best_of(path, randomized_fraction(path, group)))
    p, promised = _between_scores(path, group)
    least = float(randomized_fraction(best, group)[0])
    worth = np.flatnonzero(promised < least - CERTAIN)
    near = np.abs(p - best.p[0])
    # As few people as now, but gentler, are to be had beside the best.
    tied = np.flatnonzero(promised <= least + CERTAIN)
    tried = np.union1d(worth[np.argsort(promised[worth])[:_TRIED]], tied[np.argsort(near[tied])[:_TRIED]])
    return np.setdiff1d(p[tried], path.p)


def _between_scores(path: Path, group: Group) -> tuple[Floats, Floats]:
    """Some p between those of a path, one for each stretch in which no threshold passes a score, and the share there.

    Thresholds are interpolated, so the shares are promises.
    """
    scores = group.scores
    passed = []
    for t in (path.t0, path.t1):
        lo, hi = np.minimum(t[:-1], t[1:]), np.maximum(t[:-1], t[1:])
        first, last = np.searchsorted(scores, lo, "right"), np.searchsorted(scores, hi, "left")
        count = np.maximum(last - first, 0)  # of the scores that are passed in each cell of the path
        cell = np.repeat(np.arange(lo.size), count)
        at = np.arange(cell.size) - np.repeat(np.cumsum(count) - count, count)
        score = scores[first[cell] + at]
        share = (score - t[cell]) / (t[cell + 1] - t[cell])
        passed.append(path.p[cell] + share * (path.p[cell + 1] - path.p[cell]))
    events = np.unique(np.concatenate([path.p, *passed]))
    p = (events[1:] + events[:-1]) / 2
    p = p[:: max(1, p.size // _MANY)]
    t0, t1 = np.interp(p, path.p, path.t0), np.interp(p, path.p, path.t1)
    below = group.everybody.below
    inside = below(np.searchsorted(scores, t1, "left")) - below(np.searchsorted(scores, t0, "right"))
    return p, np.maximum(inside, 0.0)


def _sharp_bottoms(search: CurveSearch, halves: Mapping[int, Path]) -> list[int]:
    """The groups whose slope rises steeply to both sides of p = 1/2, as it does unless the width changes very fast."""
    if not halves:
        return []
    beside = search.follow(halves, {i: np.array([_HALF[0] - _BESIDE, _HALF[0] + _BESIDE]) for i in halves})
    rises = {i: path.lipschitz > halves[i].lipschitz[0] * (1 + _BESIDE) for i, path in beside.items()}
    return [i for i, path in beside.items() if path.found.all() and rises[i].all()]


def _bottoms(
    search: CurveSearch, judge: Judge, paths: Mapping[int, Path], valleys: Mapping[int, NDArray[np.intp]]
) -> dict[int, Path]:
    """Follow valleys down, side by side, from their lowest points so far."""
    lo, hi = search.family.search_limits
    known = dict(paths)
    bottoms = {i: [path.at(int(valley)) for valley in valleys[i]] for i, path in paths.items()}
    gaps = {i: _gaps_beside(path.p, valleys[i]) for i, path in paths.items()}
    steps = {i: wide for i, (_, wide) in gaps.items()}
    unchanged = dict.fromkeys(bottoms, 0)
    going = list(bottoms)
    while going:
        centres = {i: np.array([bottom.p[0] for bottom in bottoms[i]]) for i in going}
        wanted = {}
        for i, centre in centres.items():
            p = np.unique(centre[:, None] + steps[i][:, None] * np.arange(1 - _FINER, _FINER) / _FINER)
            wanted[i] = np.setdiff1d(p[(p >= lo) & (p <= hi)], centre)
        for i, near in search.follow(known, wanted).items():
            known[i] = known[i].joined(near.among(near.found))
            every = reduce(Path.joined, bottoms[i], near.among(near.found))
            value = judge(i, every)
            flat = True
            for k, (centre, step) in enumerate(zip(centres[i], steps[i], strict=True)):
                around = np.flatnonzero(np.abs(every.p - centre) < step)
                best = around[best_of(every.among(around), value[around])]
                beside = value[around[np.abs(every.p[around] - every.p[best]) < 1.5 * step / _FINER]]
                flat &= bool(beside.max() <= value[best] * (1 + TIE))
                bottoms[i][k] = every.at(int(best))
            steps[i] = steps[i] / _FINER
            same = all(b.p[0] == c for b, c in zip(bottoms[i], centres[i], strict=True))
            looked_between = bool((steps[i] < gaps[i][0]).all())
            unchanged[i] = unchanged[i] + 1 if same and looked_between else 0
            if flat or unchanged[i] >= _SETTLED or bool((steps[i] <= _FINEST * gaps[i][0]).all()):
                going.remove(i)
    return {i: reduce(Path.joined, some) for i, some in bottoms.items()}


def _gaps_beside(p: Floats, which: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """How far the nearer and the farther neighbour of some places on a path are."""
    places = np.unique(p)
    gaps, place = np.diff(places), np.searchsorted(places, p[which])
    left, right = gaps[np.maximum(place - 1, 0)], gaps[np.minimum(place, gaps.size - 1)]
    return np.minimum(left, right), np.maximum(left, right)


def _only_smooth(search: CurveSearch, steepest: float, allowed: Allowed) -> list[Path | None]:
    """For a family that is smooth at some p only, as the quadratic at p = 1/2: the gentlest of these."""
    chosen, left = _singles(search, allowed)
    smooth = search.family.smooth_p()
    at = np.zeros(0) if smooth is None else smooth
    for i, path in search.paths(dict.fromkeys(left, at), steepest).items():
        if allowed(path).any():
            chosen[i] = path.at(best_of(path, np.where(allowed(path), path.lipschitz, np.inf)))
    return chosen
