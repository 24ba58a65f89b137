"""What a fit must reach, what nobody can exceed, and what a policy does to the people it was fitted on.

Everything here is written on its own, from each group's scores, negatives and positives, with numpy and HiGHS. Of the
package only the results are read: `policy.odds`, and the pieces of a curve. Scores are on the upward scale of
`joint.members`; a group's scores are moved and scaled before a program sees them, so that no oracle depends on their
unit.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, hstack, vstack

import evenodds as eo
from populations import PARITIES

RATES = {
    **PARITIES,
    "selection_rate_parity": ("selected",),
    "true_negative_rate_parity": ("fpr",),
    "false_negative_rate_parity": ("tpr",),
}
EPS = float(np.finfo(float).eps)
# How HiGHS is asked, one way after another until it answers: weights over 16 orders of magnitude are hard on it.
_WAYS = tuple(itertools.product((1e-10, 1e-9), (True, False), ("highs-ds", "highs-ipm")))


# -- populations -------------------------------------------------------------------------------------------------------


def small_population(seed: int) -> eo.JointDistribution:
    """2 to 4 groups of 20 to 120 people, at times a larger one beside them: with ties, weights, and jagged ROCs."""
    rng = np.random.default_rng([seed, 20])
    sizes = rng.integers(20, 121, rng.integers(2, 5))
    sizes[0] = rng.choice([20, int(sizes[0]), 600], p=[0.3, 0.4, 0.3])
    score, label, weight = [], [], []
    for n in sizes:
        y = rng.random(n) < rng.uniform(0.15, 0.85)
        y[:2] = [False, True]
        s = rng.normal(rng.uniform(0.2, 2.5) * y, rng.uniform(0.5, 1.5, n))
        score.append(np.round(s, int(rng.integers(0, 3))) if rng.random() < 0.6 else s)
        label.append(y)
        weight.append(rng.uniform(0.2, 3, n) if rng.random() < 0.3 else np.ones(n))
    group = np.repeat([f"g{g}" for g in range(sizes.size)], sizes)
    return eo.JointDistribution.from_arrays(
        np.concatenate(score), group, np.concatenate(label), weight=np.concatenate(weight)
    )


# -- what a group reaches ----------------------------------------------------------------------------------------------


def shares(member) -> np.ndarray:
    """Row 0: the share of the negatives at each score; row 1: of the positives."""
    return np.stack([member.negatives / member.negatives.sum(), member.positives / member.positives.sum()])


def unit_scores(member) -> tuple[np.ndarray, float]:
    """The scores from 0 to 1, and the range they had."""
    low = member.scores - member.scores[0]
    span = float(low[-1]) or 1.0
    return low / span, span


def roc_points(member) -> np.ndarray:
    """(FPR, TPR) of every threshold, from nobody to everybody."""
    above = np.cumsum(shares(member)[:, ::-1], axis=1)
    return np.column_stack([np.zeros(2), above / above[:, -1:]]).T


def unit_odds(family: str, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """A family between thresholds 0 and 1, by its definition: area p, and but for the quartic a knot at 1 - p."""
    x, p = np.broadcast_arrays(np.clip(x, 0, 1), p)
    q = 1 - p
    if family == "quartic":
        return (30 * p - 12) * x**2 + (28 - 60 * p) * x**3 + (30 * p - 15) * x**4
    half = {"linear": lambda u: u, "quadratic": lambda u: u**2, "cubic": lambda u: 3 * u**2 - 2 * u**3}[family]
    return np.where(x < q, p * half(np.minimum(x / q, 1)), 1 - q * half(np.minimum((1 - x) / p, 1)))


def unit_slope(family: str, p: np.ndarray) -> np.ndarray:
    """The largest slope of a family between thresholds 0 and 1."""
    if family == "quartic":
        x = np.linspace(0, 1, 2001)
        p = np.asarray(p)[..., None]
        return np.max(x * (1 - x) * ((60 * p - 24) + (60 - 120 * p) * x), axis=-1)
    return {"linear": 1.0, "quadratic": 2.0, "cubic": 1.5}[family] * np.maximum(p / (1 - p), (1 - p) / p)


def blurred_points(member, slope: float, family: str = "linear") -> np.ndarray:
    """(FPR, TPR) of the symmetric curves of a family that have this slope, wherever they stand, by evaluating them.

    A ramp of width w that starts at c is (r - c) / w between 0 and 1: both rates are piecewise linear in c, with kinks
    where c or c + w is a score, and these kinks are all that matters. The other families are looked at in many more
    places. A curve beyond the scores is a no or a yes for everybody.
    """
    if math.isinf(slope):
        return roc_points(member)
    scores, span = unit_scores(member)
    width = float(unit_slope(family, np.array(0.5))) / (slope * span)
    starts = np.concatenate([scores, scores - width])
    if family != "linear":
        starts = np.concatenate([starts, np.linspace(-width, 1, 4001)])
    weights = shares(member)
    points = [np.zeros((1, 2)), np.ones((1, 2))]
    for some in np.array_split(starts, 1 + starts.size * scores.size // 2_000_000):
        odds = unit_odds(family, (scores[None] - some[:, None]) / width, np.array(0.5))
        points.append(odds @ weights.T)
    return np.concatenate(points)


def single_curve_misses(member, family: str, point: tuple[float, float], slope: float = math.inf) -> float:
    """How far below a point every single curve of a family stays whose FPR is no higher, up to the search's grid.

    Both rates fall as a curve moves right, so for each p and width the curve to look at is the leftmost one whose FPR
    is low enough.
    """
    scores, span = unit_scores(member)
    ends = (0.4, 0.6) if family == "quartic" else (0.02, 0.98)
    p = np.linspace(*ends, 25)[:, None]
    width = np.geomspace(1e-3, 1e3, 200)[None, :]
    if math.isfinite(slope):
        width = np.maximum(width, unit_slope(family, p[:, 0])[:, None] / (slope * span))
    p, width = (values.ravel()[:, None] for values in np.broadcast_arrays(p, width))
    weights = shares(member)
    low, high = -width, np.ones_like(width) + width

    def rates(start: np.ndarray) -> np.ndarray:
        return unit_odds(family, (scores - start) / width, p) @ weights.T

    for _ in range(50):
        middle = (low + high) / 2
        enough = rates(middle)[:, :1] <= point[0] + 1e-12
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return point[1] - float(rates(high)[:, 1].max())


def hull(points: np.ndarray) -> np.ndarray:
    """The upper left hull of points in the unit square, from (0, 0) to (1, 1): Andrew's monotone chain."""
    kept: list[np.ndarray] = []
    for point in points[np.lexsort((points[:, 1], points[:, 0]))]:
        while len(kept) > 1 and _turn(kept[-2], kept[-1], point) >= 0:
            kept.pop()
        kept.append(point)
    return np.array(kept)


def _turn(o: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    return float((a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]))


def hull_height(points: np.ndarray, fpr: float) -> float:
    """The greatest TPR at an FPR that a mix of points has."""
    corners = hull(points)
    return float(max(corners[corners[:, 0] <= fpr, 1][-1], np.interp(fpr, *corners.T)))


# -- linear programs ---------------------------------------------------------------------------------------------------


class UnsolvedError(Exception):
    """HiGHS has no answer to a program of these tests, in whatever way it is asked: nothing is known then."""


def solved(least: np.ndarray, **program: object) -> np.ndarray:
    """Where a linear program is least."""
    for tolerance, presolve, method in _WAYS:
        precise = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of an inaccurate answer, which has no status 0 either
            answer = linprog(least, method=method, options={"presolve": presolve, **precise}, **program)
        if answer.status == 0:
            return answer.x
    raise UnsolvedError(answer.message)


@dataclass(frozen=True)
class Goal:
    """An objective as it is reported: constant + the sum of coefficient * rate over the groups and both rates."""

    constant: float
    by_rate: np.ndarray
    smaller_is_better: bool = False
    is_distance: bool = False
    """Whether it is the distance of the common point from (0, 1) instead."""

    def value(self, points: np.ndarray) -> float:
        """The objective at one (FPR, TPR) for each group."""
        if self.is_distance:
            return float(np.hypot(points[0, 0], 1 - points[0, 1]))
        return self.constant + float((self.by_rate * points).sum())


def goal_of(joint: eo.JointDistribution, objective: str | eo.Cost = "accuracy_score") -> Goal:
    """The objective, from its definition."""
    negatives = np.array([member.negatives.sum() for member in joint.members])
    positives = np.array([member.positives.sum() for member in joint.members])
    everybody = float(negatives.sum() + positives.sum())
    none = np.zeros(negatives.size)
    if isinstance(objective, eo.Cost):
        dearer = max(objective.false_positive, objective.false_negative)
        wrong_yes = objective.false_positive / dearer * negatives / everybody
        wrong_no = objective.false_negative / dearer * positives / everybody
        return Goal(float(wrong_no.sum()), np.column_stack([wrong_yes, -wrong_no]), smaller_is_better=True)
    if objective == "closest_to_perfect":
        return Goal(0.0, np.zeros((none.size, 2)), smaller_is_better=True, is_distance=True)
    of_negatives, of_positives = negatives / negatives.sum(), positives / positives.sum()
    constant, by_fpr, by_tpr = {
        "accuracy_score": (float(negatives.sum()) / everybody, -negatives / everybody, positives / everybody),
        "balanced_accuracy_score": (0.5, -of_negatives / 2, of_positives / 2),
        "selection_rate": (0.0, negatives / everybody, positives / everybody),
        "true_positive_rate": (0.0, none, of_positives),
        "true_negative_rate": (1.0, -of_negatives, none),
    }[objective]
    return Goal(constant, np.column_stack([by_fpr, by_tpr]))


def constrained(joint: eo.JointDistribution, constraint: str) -> list[np.ndarray]:
    """For each constrained rate its rows (by FPR, by TPR), one for each group."""
    base = np.array([member.positives.sum() / (member.negatives + member.positives).sum() for member in joint.members])
    rows = {
        "fpr": np.tile([1.0, 0.0], (base.size, 1)),
        "tpr": np.tile([0.0, 1.0], (base.size, 1)),
        "selected": np.column_stack([1 - base, base]),
    }
    return [rows[rate] for rate in RATES[constraint]]


def best_mix(
    points: Sequence[np.ndarray], caps: Sequence[np.ndarray], goal: Goal, rates: list[np.ndarray], tolerance: float
) -> float:
    """The best objective when each group mixes its points, each of them up to its cap.

    What is left of a group's weights is a no for everybody.
    """
    if not goal.is_distance:
        uphill = -goal.by_rate if goal.smaller_is_better else goal.by_rate
        return goal.value(_farthest(points, caps, uphill, rates, tolerance))
    # Wolfe's algorithm for the nearest point of a polytope: what lies farthest towards (0, 1) joins those seen so far,
    # until nothing lies nearer than the nearest mix of them.
    perfect, seen = np.array([0.0, 1.0]), [np.zeros(2), np.ones(2)]
    while True:
        nearest = min(
            (_on_segment(perfect, p, q) for p, q in itertools.combinations(seen, 2)),
            key=lambda point: float(np.hypot(*(point - perfect))),
        )
        direction = np.zeros((len(points), 2))
        direction[0] = perfect - nearest
        found = _farthest(points, caps, direction, rates, tolerance)[0]
        if len(seen) > 60 or (found - nearest) @ direction[0] < 1e-13:
            return float(np.hypot(*(nearest - perfect)))
        seen.append(found)


def _on_segment(point: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The place on a segment that is nearest to a point."""
    length = float((q - p) @ (q - p))
    return p + np.clip((point - p) @ (q - p) / length, 0, 1) * (q - p) if length else p


def _farthest(
    points: Sequence[np.ndarray],
    caps: Sequence[np.ndarray],
    uphill: np.ndarray,
    rates: list[np.ndarray],
    tolerance: float,
) -> np.ndarray:
    """The (FPR, TPR) of each group that lie farthest in a direction, of those within the tolerance of each other.

    The columns are the weights, group after group, each group's (FPR, TPR), and the least value of each constrained
    rate.
    """
    count = len(points)
    sizes = [p.shape[0] for p in points]
    weights, corners = sum(sizes), sum(sizes) + 2 * count
    mixes = hstack([block_diag([p.T for p in points]), -csr_array(np.eye(2 * count)), _nothing(2 * count, len(rates))])
    sums = hstack([block_diag([np.ones((1, n)) for n in sizes]), _nothing(count, 2 * count + len(rates))])
    apart = np.zeros((len(rates) * count, corners + len(rates)))
    for k, rows in enumerate(rates):
        for g, row in enumerate(rows):
            apart[k * count + g, weights + 2 * g : weights + 2 * g + 2] = row
            apart[k * count + g, corners + k] = -1
    most = np.concatenate([*caps, np.ones(2 * count + len(rates))])
    x = solved(
        np.concatenate([np.zeros(weights), -uphill.ravel(), np.zeros(len(rates))]),
        A_ub=vstack([sums, csr_array(apart), csr_array(-apart)]).tocsr(),
        b_ub=np.concatenate([np.ones(count), np.repeat([tolerance, 0.0], len(apart))]),
        A_eq=mixes.tocsr(),
        b_eq=np.zeros(2 * count),
        bounds=np.column_stack([np.zeros(most.size), most]),
    )
    return x[weights:corners].reshape(count, 2)


def _nothing(rows: int, columns: int) -> csr_array:
    return csr_array((rows, columns))


def hull_optimum(
    joint: eo.JointDistribution,
    slope: float,
    constraint: str = "equalized_odds",
    tolerance: float = 0.0,
    objective: str | eo.Cost = "accuracy_score",
    family: str = "linear",
) -> float:
    """The best objective when each group mixes symmetric curves of one slope, or, without a budget, thresholds.

    That is what a family must reach at least; without a budget nobody can do more.
    """
    points = [hull(blurred_points(member, slope, family)) for member in joint.members]
    caps = [np.ones(p.shape[0]) for p in points]
    return best_mix(points, caps, goal_of(joint, objective), constrained(joint, constraint), tolerance)


def lp_optimum(
    joint: eo.JointDistribution,
    slope: float,
    constraint: str = "equalized_odds",
    tolerance: float = 0.0,
    objective: str | eo.Cost = "accuracy_score",
) -> float:
    """The best objective of any rising odds under a slope budget: mixes of thresholds whose steps are capped.

    The odds rise by at most slope * gap from one score to the next; at the lowest score they may stand anywhere. It is
    `populations.best_accuracy` in other columns, for every objective.
    """
    points, caps = zip(*(capped_steps(member, slope) for member in joint.members), strict=True)
    return best_mix(points, caps, goal_of(joint, objective), constrained(joint, constraint), tolerance)


def capped_steps(member, slope: float) -> tuple[np.ndarray, np.ndarray]:
    """The (FPR, TPR) of each threshold, the lowest first, and by how much the odds may rise there."""
    gaps = np.diff(member.scores)  # as they are: beside a sentinel far away scaled ones would lose digits
    steps = np.ones(gaps.size) if math.isinf(slope) else np.minimum(slope * gaps, 1.0)
    return roc_points(member)[:0:-1], np.append(1.0, steps)


def highest_exactly(member, fpr, slope):
    """The highest TPR of rising odds with capped slopes and an FPR of at most `fpr`, in fractions: no rounding at all.

    Odds are steps of at most slope * gap, and there are two rows: the FPR, and steps that sum to at most 1. For each
    price of the FPR the best steps are taken greedily; the price at which that is least is one at which two steps are
    worth the same (duality).
    """
    scores, no, yes = (
        [Fraction(float(x)) for x in column] for column in (member.scores, member.negatives, member.positives)
    )
    count, limit, cap = len(scores), Fraction(float(fpr)), Fraction(float(slope))
    room = [Fraction(1), *(cap * (b - a) for a, b in itertools.pairwise(scores))]
    false = [sum(no[k:]) / sum(no) for k in range(count)]
    true = [sum(yes[k:]) / sum(yes) for k in range(count)]
    prices = {Fraction(0), *(t / f for t, f in zip(true, false, strict=True) if f)}
    prices |= {
        (true[i] - true[j]) / (false[i] - false[j]) for i in range(count) for j in range(i) if false[i] != false[j]
    }

    def worth(price):
        left, total = Fraction(1), Fraction(0)
        for value, most in sorted(
            ((t - price * f, r) for t, f, r in zip(true, false, room, strict=True)), reverse=True
        ):
            if value <= 0 or left <= 0:
                break
            total += min(most, left) * value
            left -= min(most, left)
        return total + price * limit

    return float(min(worth(price) for price in prices if price >= 0))


def highest(member, fpr: float, slope: float) -> np.ndarray:
    """The point of the greatest TPR that rising odds within a slope budget reach at an FPR; it rises with the budget.

    So the least slope of any rising odds through a point is where this crosses its TPR: caps on single steps are no
    trouble to a solver, a slope in the same row as gaps of every size is. The FPR is met to the solver's precision,
    and returned, since that may be a lot where a group's weights differ by orders of magnitude.
    """
    points, caps = capped_steps(member, slope)
    x = solved(
        -points[:, 1],
        A_ub=np.ones((1, caps.size)),
        b_ub=[1.0],
        A_eq=points[None, :, 0],
        b_eq=[fpr],
        bounds=np.column_stack([np.zeros(caps.size), caps]),
    )
    return x @ points


# -- what a policy does ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """A policy's figures on its people, recomputed from their odds."""

    points: np.ndarray
    """(FPR, TPR) of each group."""
    selected: np.ndarray
    accuracy: float
    odds: tuple[np.ndarray, ...]
    """Of each group at its scores, on the upward scale."""

    def apart(self, constraint: str) -> float:
        """The largest difference between two groups in any rate that a constraint names."""
        rates = {"fpr": self.points[:, 0], "tpr": self.points[:, 1], "selected": self.selected}
        return max(float(np.ptp(rates[rate])) for rate in RATES[constraint])


def measured(policy: eo.Policy, joint: eo.JointDistribution) -> Measured:
    """Recompute what a policy does from the odds of each row."""
    sign = 1.0 if joint.orientation == "positive" else -1.0
    odds, points, selected, right, everybody = [], [], [], 0.0, 0.0
    for member in joint.members:
        own = policy.odds(sign * member.scores, member.key)
        odds.append(own)
        points.append(shares(member) @ own)
        total = float((member.negatives + member.positives).sum())
        selected.append(float((member.negatives + member.positives) @ own) / total)
        right += float(member.positives @ own + member.negatives @ (1 - own))
        everybody += total
    return Measured(np.array(points), np.array(selected), right / everybody, tuple(odds))


def slope_of_pieces(pieces) -> float:
    """The largest slope of a piecewise polynomial, from its coefficients; infinite where it jumps."""
    slopes, ends = [0.0], []
    for lo, hi, origin, scale, c in zip(
        pieces.lo, pieces.hi, pieces.origin, pieces.scale, pieces.coefficients, strict=True
    ):
        value = np.polynomial.Polynomial(np.trim_zeros(c, "b") if c.any() else [0.0])
        u = [(end - origin) / scale if np.isfinite(end) else None for end in (lo, hi)]
        ends.append([None if at is None else float(value(at)) for at in u])
        if not lo < hi or value.degree() == 0:
            continue
        if None in u:
            return math.inf  # a polynomial that runs on for ever
        turns = value.deriv(2).roots() if value.degree() > 2 else np.zeros(0)
        inside = turns.real[(abs(turns.imag) < 1e-9) & (turns.real > min(u)) & (turns.real < max(u))]
        slopes.append(float(np.abs(value.deriv()(np.concatenate([u, inside]))).max() / abs(scale)))
    steepest = max(slopes)
    for (before, after), at in zip(itertools.pairwise(ends), pieces.breaks, strict=True):
        if abs(before[1] - after[0]) > 1e-9 + 8 * EPS * steepest * abs(at):
            return math.inf
    return steepest


def slope_of_odds(policy: eo.Policy, group: str, scores: np.ndarray, steps: int = 2000) -> float:
    """The largest slope seen between neighbours of a fine grid of scores and all breaks, by `policy.odds` alone.

    What rounding can make of the odds and of their places is taken off first.
    """
    breaks = policy.curves[group].pieces.breaks
    breaks = breaks[np.isfinite(breaks)]
    ends = np.concatenate([scores, breaks])
    room = 0.05 * float(np.ptp(ends)) or 1.0
    near = np.concatenate([breaks, np.nextafter(breaks, -np.inf)])
    grid = np.unique(np.concatenate([scores, near, np.linspace(ends.min() - room, ends.max() + room, steps)]))
    rise, run = np.abs(np.diff(policy.odds(grid, group))), np.diff(grid)
    steepest = slope_of_pieces(policy.curves[group].pieces)
    if math.isinf(steepest):
        return math.inf
    rounding = 8 * EPS * (1 + steepest * np.maximum(np.abs(grid[1:]), np.abs(grid[:-1])))
    with np.errstate(over="ignore"):  # a jump beside 0, where floats are dense
        return float(np.max((rise - rounding) / run, initial=0.0))


def largest_slopes(policy: eo.Policy, joint: eo.JointDistribution) -> np.ndarray:
    """Each group's largest slope, the larger of what the pieces say and what a fine grid of scores shows."""
    sign = 1.0 if joint.orientation == "positive" else -1.0
    return np.array(
        [
            max(
                slope_of_pieces(policy.curves[member.key].pieces),
                slope_of_odds(policy, member.key, np.sort(sign * member.scores)),
            )
            for member in joint.members
        ]
    )
