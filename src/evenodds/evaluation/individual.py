"""Are similar people treated alike? Distances between people, and how far apart their scores and odds are for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenodds.errors import DataError
from evenodds.evaluation.deciders import Decider, curves_before
from evenodds.evaluation.distances import People, euclidean, gower, hamming, people_of
from evenodds.evaluation.odds_change import odds_distance, threshold_effect
from evenodds.frames import frame_of_rows
from evenodds.geometry.pieces import Floats
from evenodds.model.columns import HUGE, numbers_of
from evenodds.model.curves import Curve
from evenodds.model.keys import GroupLike
from evenodds.model.policy import Policy, check_no_review, check_policy
from evenodds.progress import tracked
from evenodds.values import Frozen, whole_number_of

__all__ = [
    "GroupReport",
    "IndividualReport",
    "PairOfPeople",
    "ScorerLipschitz",
    "euclidean",
    "gower",
    "hamming",
    "odds_distance",
    "report",
    "scorer_lipschitz",
    "threshold_effect",
]

_SAME = 1e-12  # numbers nearer than this (relative) differ by rounding only


@dataclass(frozen=True)
class PairOfPeople:
    """Two people, by their row numbers, and how differently they are treated for how far they are apart.

    See Also
    --------
    individual.report, individual.scorer_lipschitz : Find the pairs that are treated most differently.

    Examples
    --------
    >>> PairOfPeople(one=0, other=1, distance=0.5, difference=0.25).ratio
    0.5
    """

    one: int
    """The row of the first."""
    other: int
    """The row of the second."""
    distance: float
    """By the metric that was asked for."""
    difference: float
    """Of their scores, or of their odds."""

    @property
    def ratio(self) -> float:
        """The difference for each unit of distance; infinite for two who are the same."""
        return math.inf if self.distance == 0 else self.difference / self.distance


@dataclass(frozen=True)
class ScorerLipschitz:
    """How fast a scorer changes with the people it scores: L_X on these people, and the pairs that show it.

    See Also
    --------
    individual.scorer_lipschitz : Makes one.

    Examples
    --------
    >>> print(scorer_lipschitz([[0.0], [1.0], [3.0]], [10, 14, 15], metric="euclidean"))
    L_X = 4 (euclidean distance).
    """

    value: float
    """The largest ratio of two scores' difference to two people's distance; infinite if the same get two scores."""
    metric: str
    """The distance between people."""
    pairs: tuple[PairOfPeople, ...]
    """The worst pairs, the worst first."""
    same_people: int
    """Pairs at distance 0 whose scores differ: to them no Lipschitz constant applies."""
    value_of_others: float
    """The largest ratio among all other pairs."""

    def __str__(self) -> str:
        text = f"L_X = {self.value:.6g} ({self.metric} distance)"
        if self.same_people:
            text += (
                f": {self.same_people} pairs of people are the same and score differently; "
                f"without these it is {self.value_of_others:.6g}"
            )
        return text + "."


def scorer_lipschitz(
    X: Any,  # noqa: N803 as scikit-learn has it
    score: ArrayLike,
    *,
    metric: str = "gower",
    worst: int = 10,
    categorical: Sequence[Any] | None = None,
    ranges: Mapping[Any, float] | None = None,
) -> ScorerLipschitz:
    """The empirical Lipschitz constant L_X of a black-box scorer, over all pairs of people.

    No true Lipschitz constant can be smaller; people not seen may show a larger one.

    Parameters
    ----------
    X : data frame, or array of shape (n, k)
        What the people are compared by, a row for each.
    score : array of shape (n,)
        What the scorer gave these people.
    metric : "gower", "euclidean" or "hamming"
        The distance between people.
    worst : int
        How many of the worst pairs to list.
    categorical, ranges
        As for `individual.gower`.

    Returns
    -------
    ScorerLipschitz
        The constant, and the pairs that show it.

    See Also
    --------
    individual.report : The same for a policy's odds.
    individual.gower, individual.euclidean, individual.hamming : The distances themselves.

    Examples
    --------
    >>> scorer = scorer_lipschitz([[0.0], [1.0], [3.0]], [10, 14, 15], metric="euclidean", worst=1)
    >>> scorer.value, scorer.pairs
    (4.0, (PairOfPeople(one=0, other=1, distance=1.0, difference=4.0),))
    """
    people = people_of(metric, X, categorical=categorical, ranges=ranges)
    scores = _scores(score, people.count)
    worst = whole_number_of("worst", worst, least=1)
    pairs, same, rest = _worst_pairs(people, scores, worst, "Comparing scores")
    return ScorerLipschitz(math.inf if same else rest, metric, pairs, same, rest)


@dataclass(frozen=True)
class GroupReport:
    """One group: how fast scores change with people, odds with scores, and so odds with people.

    See Also
    --------
    individual.report : Has one for each group as `groups`.

    Examples
    --------
    >>> pair = PairOfPeople(one=0, other=1, distance=0.5, difference=0.25)
    >>> group = GroupReport("a", 2, scorer_lipschitz=10.0, curve_lipschitz=0.05, steepest=0.5, pairs=(pair,))
    >>> group.bound
    0.5
    """

    group: str
    """Its key."""
    people: int
    """How many there are."""
    scorer_lipschitz: float
    """L_X within the group."""
    curve_lipschitz: float
    """L_R of the group's curve."""
    steepest: float
    """The largest ratio of two people's odds to their distance that there is; at most L_R * L_X."""
    pairs: tuple[PairOfPeople, ...]
    """The most similar people treated most differently, the worst first."""
    steepest_before: float | None = None
    """The same under what was in use before, if that was given."""
    pairs_before: tuple[PairOfPeople, ...] = ()
    """The pairs that were treated most differently then."""

    @property
    def bound(self) -> float:
        """L_R * L_X: no two people of the group differ more in odds for their distance, if the scorer keeps L_X."""
        if self.curve_lipschitz == 0 or self.scorer_lipschitz == 0:
            return 0.0
        return self.curve_lipschitz * self.scorer_lipschitz


@dataclass(frozen=True)
class IndividualReport:
    """Individual fairness of a policy, group by group; `print` puts it in words.

    See Also
    --------
    individual.report : Makes one.

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk(), max_slope=0.05)
    >>> score = np.array([30.0, 31, 60, 61])
    >>> result = report(policy, score[:, None] / 10, score, ["white"] * 4, metric="euclidean", worst=1)
    >>> result.frame()[["group", "one", "other", "distance"]]
       group  one  other  distance
    0  white    0      1       0.1
    """

    metric: str
    """The distance between people."""
    by_group: tuple[GroupReport, ...]
    """Each group's figures; `groups` has them by key."""

    @property
    def groups(self) -> Mapping[str, GroupReport]:
        """Each group's figures."""
        return Frozen({group.group: group for group in self.by_group})

    @property
    def bound(self) -> float:
        """The largest L_R * L_X of any group."""
        return max(group.bound for group in self.by_group)

    def frame(self) -> Any:
        """The worst pairs of every group, one row each."""
        rows = [
            (group.group, when, pair.one, pair.other, pair.distance, pair.difference, pair.ratio)
            for group in self.by_group
            for when, pairs in (("after", group.pairs), ("before", group.pairs_before))
            for pair in pairs
        ]
        return frame_of_rows(("group", "policy", "one", "other", "distance", "difference", "ratio"), rows)

    def __str__(self) -> str:
        lines = [f"Individual fairness within groups, {self.metric} distance:"]
        for g in self.by_group:
            was = "" if g.steepest_before is None else f" (before {_number(g.steepest_before)})"
            lines.append(
                f"  {g.group}: {g.people} people, L_X {_number(g.scorer_lipschitz)}, L_R {_number(g.curve_lipschitz)}, "
                f"so odds change by at most {_number(g.bound)} a unit of distance; here by up to "
                f"{_number(g.steepest)}{was}."
            )
            lines += [
                f"    rows {pair.one} and {pair.other}, at distance {pair.distance:.4g}: "
                f"odds differ by {pair.difference:.4g}."
                for pair in g.pairs[:1]
            ]
        return "\n".join(lines)


def report(
    policy: Policy,
    X: Any,  # noqa: N803 as scikit-learn has it
    score: ArrayLike,
    group: GroupLike,
    *,
    metric: str = "gower",
    before: Decider | None = None,
    worst: int = 10,
    categorical: Sequence[Any] | None = None,
    ranges: Mapping[Any, float] | None = None,
) -> IndividualReport:
    """How alike a policy treats similar people of the same group, and what was in use before.

    Odds change with scores by at most L_R, and scores with people by at most L_X; so odds change with people by at
    most L_R * L_X (the paper's Section 4). Pairs are of people of the same group: to different groups equal treatment
    is promised in their rates.

    Parameters
    ----------
    policy : Policy
        What gives the odds.
    X : data frame, or array of shape (n, k)
        What the people are compared by; leave out what may not count.
    score, group
        As for `Policy.odds`.
    metric : "gower", "euclidean" or "hamming"
        As for `individual.scorer_lipschitz`.
    before : Policy, float or {group: float}, optional
        What was in use before: another policy, the single threshold of everybody, or one for each group.
    worst, categorical, ranges
        As for `individual.scorer_lipschitz`.

    Returns
    -------
    IndividualReport
        Each group's figures, and the pairs that are treated most differently: `.groups`, `.frame()`.

    See Also
    --------
    individual.scorer_lipschitz : The same for the scores alone.
    individual.threshold_effect : What a small difference of score can do.
    explain : One person's odds in words.

    Examples
    --------
    >>> import evenodds as eo
    >>> policy = eo.fit(eo.datasets.credit_risk(), max_slope=0.05)
    >>> score = np.array([30.0, 31, 60, 61])
    >>> result = report(policy, score[:, None] / 10, score, ["white"] * 4, metric="euclidean", before=30.5)
    >>> white = result.groups["white"]
    >>> round(white.scorer_lipschitz, 6), round(white.steepest, 4), round(white.steepest_before, 6)
    (10.0, 0.2005, 10.0)
    """
    check_policy(policy)
    for decider in (policy, before):
        if isinstance(decider, Policy):
            check_no_review(decider, "individual.report", "compare policies without reviews")
    worst = whole_number_of("worst", worst, least=1)
    people = people_of(metric, X, categorical=categorical, ranges=ranges)
    scores = _scores(score, people.count)
    codes = np.asarray(policy.codes_of(group))
    if codes.shape != scores.shape:
        msg = f"X has {people.count} rows, group {codes.size}."
        raise DataError(msg)
    groups = [policy.groups[code] for code in np.unique(codes)]
    earlier = None if before is None else curves_before(before, groups, policy.orientation)
    reports = []
    for key in groups:
        own = np.flatnonzero(codes == policy.groups.index(key))
        members, own_scores, curve = people.among(own), scores[own], policy.curves[key]
        _, same, rest = _worst_pairs(members, own_scores, worst, f"Comparing scores in {key}")
        steepest, pairs = _treated(members, curve, own_scores, worst, own, key)
        figures = GroupReport(key, own.size, math.inf if same else rest, curve.lipschitz, steepest, pairs)
        if earlier is not None:
            before_curve = cast("Curve", earlier[key])  # policies with reviews were refused
            steepest, pairs = _treated(members, before_curve, own_scores, worst, own, key)
            figures = replace(figures, steepest_before=steepest, pairs_before=pairs)
        reports.append(figures)
    return IndividualReport(metric, tuple(reports))


def _treated(
    people: People, curve: Curve, scores: Floats, worst: int, rows: NDArray[np.intp], key: str
) -> tuple[float, tuple[PairOfPeople, ...]]:
    """The largest ratio of two people's odds to their distance, and the pairs that show it, by their rows."""
    pairs, same, rest = _worst_pairs(people, curve(scores), worst, f"Comparing odds in {key}")
    named = tuple(PairOfPeople(int(rows[p.one]), int(rows[p.other]), p.distance, p.difference) for p in pairs)
    return math.inf if same else rest, named


# -- pairs -------------------------------------------------------------------------------------------------------------


def _worst_pairs(people: People, values: Floats, worst: int, doing: str) -> tuple[tuple[PairOfPeople, ...], int, float]:
    """The pairs with the largest ratio of difference to distance, how many are at distance 0, and the largest other."""
    pairs: list[PairOfPeople] = []
    same, steepest = 0, 0.0
    for rows in tracked(people.blocks(), doing):
        others = slice(rows.start, people.count)
        distance = people.between(rows, others)
        one, other = values[rows, None], values[None, others]
        apart = np.abs(one - other)
        apart[apart <= _SAME * np.maximum(np.abs(one), np.abs(other))] = 0.0  # the same but for rounding
        # Themselves, pairs seen already, and people without a common column.
        left_out = np.isnan(distance)
        left_out[np.tril_indices(rows.stop - rows.start, 0, apart.shape[1])] = True
        apart[left_out] = 0.0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.divide(apart, distance, out=np.zeros(apart.shape), where=apart > 0)
        at_zero = (distance == 0) & (apart > 0)
        same += int(at_zero.sum())
        steepest = max(steepest, float(ratio.max(where=~at_zero, initial=0.0)))
        # Of people who are the same, those treated most differently; of others, for their distance.
        for measure in (np.where(at_zero, apart, 0.0), np.where(at_zero, 0.0, ratio)):
            few = min(worst, measure.size)
            for k in np.argpartition(measure, -few, axis=None)[-few:]:
                i, j = divmod(int(k), measure.shape[1])
                if measure[i, j] > 0:
                    pair = (rows.start + i, rows.start + j, float(distance[i, j]), float(apart[i, j]))
                    pairs.append(PairOfPeople(*pair))
        pairs = sorted(pairs, key=lambda pair: (-pair.ratio, -pair.difference, pair.one, pair.other))[:worst]
    return tuple(pairs), same, steepest


def _scores(score: ArrayLike, count: int) -> Floats:
    scores = numbers_of("score", score)
    if scores.size != count:
        msg = f"X has {count} rows, score {scores.size}."
        raise DataError(msg)
    if float(np.abs(scores).max()) > HUGE:
        msg = f"The scores run up to {np.abs(scores).max():g}, beyond what can be compared. Hint: rescale."
        raise DataError(msg)
    return scores


def _number(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:.4g}"
