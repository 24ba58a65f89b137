"""Which of the many curves through a point to take.

The paper leaves the choice open (Section 6); these are its candidates made precise. `gentlest`, `smoothest`, `robust`
and `fewest_randomized` judge each group's curve by itself; `even_slopes` and `even_randomized` choose for all groups
together. Ties go to the p nearest 1/2, in `fewest_randomized` and `even_randomized` to the gentlest curve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import OptionError
from evenodds.geometry.moments import Moments
from evenodds.geometry.pieces import Floats
from evenodds.geometry.roots import bracketed_roots
from evenodds.model.curves import CERTAIN, is_random
from evenodds.model.families import Family
from evenodds.model.pooling import is_least_slope
from evenodds.model.solutions import Meeting, Path

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
_VALLEYS = 5  # how many local minima of the first look are followed to their bottom
_PROMISES = 6  # times that stretches between scores are looked at more closely
_TRIED = 24  # stretches at a time
_MANY = 4096  # stretches that are looked at
_FINEST = 1e-8  # the step in p at which the search ends
_BESIDE = 1e-3  # a step in p to see whether p = 1/2 is the bottom
_SETTLED = 3  # rounds without a better p after which it is at a kink
_ROUNDING = 1e-9  # a slope this much over the budget (relative) is within it

Measure = Callable[[Path], Floats]
Allowed = Callable[[Path], NDArray[np.bool_]]


def chosen_curves(
    meetings: Sequence[Meeting], criterion: str, *, steepest: float = np.inf, inside: tuple[float, float] | None = None
) -> list[Path | None]:
    """One curve for each meeting, as a path of one entry; None where no single curve of the family meets the point.

    Parameters
    ----------
    meetings : sequence of Meeting
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

    if criterion in JOINT_CRITERIA:
        gentle = [_least(meeting, lambda some: some.lipschitz, steepest, allowed) for meeting in meetings]
        return _even(meetings, gentle, criterion, steepest, allowed)
    if criterion == "fewest_randomized":
        return [_fewest(meeting, steepest, allowed) for meeting in meetings]
    if criterion == "smoothest" and meetings[0].family.smooth_p() is not None:
        return [_only_smooth(meeting, steepest, allowed) for meeting in meetings]
    prune = criterion == "gentlest" and inside is None
    steps = _DENSE if criterion == "robust" else _FIRST_LOOK  # jagged scores make many valleys of what is summed there
    return [
        _least(meeting, _measure(criterion, meeting), steepest, allowed, prune=prune, steps=steps)
        for meeting in meetings
    ]


def check_criterion(criterion: str, family: Family) -> None:
    """Refuse a criterion that has no meaning for a family."""
    smooth = family.smooth_p()
    if criterion == "smoothest" and smooth is not None and not smooth.size:
        msg = (
            f"criterion='smoothest' compares curves without kinks, and {family.with_article} has some. "
            "Allowed with it: curve='cubic', 'quartic', or 'quadratic' (at p = 1/2)."
        )
        raise OptionError(msg)
    if criterion != "gentlest" and not family.has_path and family.is_continuous:
        msg = f"criterion={criterion!r} chooses along a path, and {family.with_article} has none. Allowed: 'gentlest'."
        raise OptionError(msg)


def _measure(criterion: str, meeting: Meeting) -> Measure:
    if criterion == "robust":
        return lambda path: score_sensitivity(path, meeting)
    if criterion == "smoothest":
        return roughness
    return lambda path: path.lipschitz


# -- the measures ------------------------------------------------------------------------------------------------------


def roughness(path: Path) -> Floats:
    """The integral of the squared second derivative: 12 (p^2/q^3 + q^2/p^3) / D^3 for the cubic, for example."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isinf(path.t0), 0.0, path.family.unit_roughness(path.p) / (path.t1 - path.t0) ** 3)


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
    ahead, behind = (everybody.expectation(path.family.layout(t0 + s, t1 + s, p))[:, 0] for s in (-d, d))
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
    if not path.family.is_continuous:
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


def _least(
    meeting: Meeting,
    measure: Measure,
    steepest: float,
    allowed: Allowed,
    *,
    prune: bool = False,
    steps: int = _FIRST_LOOK,
) -> Path | None:
    """The allowed curve at which a measure is least, as a path of one entry; None where there is none.

    A first look over the whole range of p finds the valleys, and the deepest are followed to their bottom by ever
    smaller steps. The bottom is searched for once more from the widest curve down, so that no wider solution at the
    same p is missed.
    """
    single = meeting.single()
    if single is not None:
        return single if allowed(single)[0] else None
    p = meeting.family.p_grid(steps)
    half = meeting.path(np.array([0.5]), steepest) if prune else None
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
        return None
    beside = np.concatenate([[np.inf], value, [np.inf]]) * (1 + _TIE)
    valleys = np.flatnonzero((value <= beside[:-2]) & (value <= beside[2:]) & np.isfinite(value))
    # Of valleys that are equally deep, those nearest to p = 1/2 come first.
    depth = np.where(value <= value.min() * (1 + _TIE), value.min(), value)
    deepest = valleys[np.lexsort((np.abs(path.p - 0.5)[valleys], depth[valleys]))][:_VALLEYS]
    bottoms = _bottoms(meeting, lambda some: _judged(some, measure, allowed), path, deepest)
    found = meeting.path(bottoms.p, steepest).joined(bottoms)
    return found.at(_best(found, _judged(found, measure, allowed)))


def _fewest(meeting: Meeting, steepest: float, allowed: Allowed) -> Path | None:
    """The allowed curve that leaves the fewest people to chance, of several the gentlest.

    The share is a step function of p: it changes where a threshold passes a score. So the path is looked at between
    the p at which its thresholds, interpolated, pass one, and closer where that promises fewer.
    """
    single = meeting.single()
    if single is not None:
        return single if allowed(single)[0] else None
    path = meeting.path(meeting.family.p_grid(_DENSE), steepest)
    path = path.among(allowed(path))
    if not len(path):
        return None
    for _ in range(_PROMISES):
        best = path.at(_best(path, randomized_share(path, meeting)))
        p, promised = _between_scores(path, meeting)
        least = float(randomized_share(best, meeting)[0])
        worth = np.flatnonzero(promised < least - CERTAIN)
        near = np.abs(p - best.p[0])
        # As few people as now, but gentler, are to be had beside the best.
        tied = np.flatnonzero(promised <= least + CERTAIN)
        tried = np.union1d(worth[np.argsort(promised[worth])[:_TRIED]], tied[np.argsort(near[tied])[:_TRIED]])
        more = np.setdiff1d(p[tried], path.p)
        if not more.size:
            break
        found = meeting.follow(path, more, steepest)
        path = path.joined(found.among(allowed(found)))
    return path.at(_best(path, randomized_share(path, meeting)))


def _between_scores(path: Path, meeting: Meeting) -> tuple[Floats, Floats]:
    """Some p between those of a path, one for each stretch in which no threshold passes a score, and the share there.

    Thresholds are interpolated, so the shares are promises.
    """
    scores = meeting.group.scores
    before = np.append(0.0, np.cumsum(meeting.group.negatives + meeting.group.positives)) / meeting.group.total
    passed = []
    for t in (path.t0, path.t1):
        lo, hi = np.minimum(t[:-1], t[1:]), np.maximum(t[:-1], t[1:])
        first, last = np.searchsorted(scores, lo, "right"), np.searchsorted(scores, hi, "left")
        cell = np.repeat(np.arange(lo.size), np.maximum(last - first, 0))
        at = np.arange(cell.size) - np.repeat(
            np.cumsum(np.maximum(last - first, 0)) - (last - first).clip(0), (last - first).clip(0)
        )
        score = scores[first[cell] + at]
        share = (score - t[cell]) / (t[cell + 1] - t[cell])
        passed.append(path.p[cell] + share * (path.p[cell + 1] - path.p[cell]))
    events = np.unique(np.concatenate([path.p, *passed]))
    p = (events[1:] + events[:-1]) / 2
    p = p[:: max(1, p.size // _MANY)]
    t0, t1 = np.interp(p, path.p, path.t0), np.interp(p, path.p, path.t1)
    inside = before[np.searchsorted(scores, t1, "left")] - before[np.searchsorted(scores, t0, "right")]
    return p, np.maximum(inside, 0.0)


def _is_sharp_bottom(meeting: Meeting, half: Path) -> bool:
    """Whether the slope rises steeply to both sides of p = 1/2, as it does unless the width changes very fast."""
    beside = meeting.follow(half, np.array([0.5 - _BESIDE, 0.5 + _BESIDE]))
    return bool(beside.found.all() and (beside.lipschitz > half.lipschitz[0] * (1 + _BESIDE)).all())


def _judged(path: Path, measure: Measure, allowed: Allowed) -> Floats:
    return np.where(allowed(path), measure(path), np.inf)


def _bottoms(meeting: Meeting, judge: Measure, path: Path, valleys: NDArray[np.intp]) -> Path:
    """Follow valleys down, side by side, from their lowest points on the first grid."""
    lo, hi = meeting.family.search_limits
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


def _only_smooth(meeting: Meeting, steepest: float, allowed: Allowed) -> Path | None:
    """For a family that is smooth at some p only, as the quadratic at p = 1/2: the gentlest of these."""
    smooth = meeting.family.smooth_p()
    path = meeting.single() or meeting.path(np.zeros(0) if smooth is None else smooth, steepest)
    value = _judged(path, lambda some: some.lipschitz, allowed)
    return path.at(_best(path, value)) if allowed(path).any() else None


# -- the search for all groups together --------------------------------------------------------------------------------


def _even(
    meetings: Sequence[Meeting], gentle: Sequence[Path | None], criterion: str, steepest: float, allowed: Allowed
) -> list[Path | None]:
    """Least difference of a measure between the groups, then the least measure.

    Groups that have but one curve, and for slopes an infinite one, cannot be evened out: their curve stays. Those that
    no single curve serves are left out.
    """
    result: list[Path | None] = [None] * len(meetings)
    served = [i for i, path in enumerate(gentle) if path is not None]
    paths = []
    for i in served:
        path = gentle[i]
        assert path is not None  # noqa: S101 just looked
        if meetings[i].single() is None:
            dense = meetings[i].path(meetings[i].family.p_grid(_DENSE), steepest)
            path = dense.among(allowed(dense)).joined(path)
        paths.append(path)
    if not served:
        return result
    among = [meetings[i] for i in served]
    if criterion == "even_slopes":
        chosen = _even_slopes(among, paths, allowed)
    else:
        values = [randomized_share(path, meeting) for path, meeting in zip(paths, among, strict=True)]
        lo, hi = _narrowest_window(values)
        chosen = []
        for path, value in zip(paths, values, strict=True):
            inside = np.flatnonzero((value >= lo) & (value <= hi))
            chosen.append(path.at(int(inside[_best(path.among(inside), value[inside])])))
    for i, path in zip(served, chosen, strict=True):
        result[i] = path
    return result


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
