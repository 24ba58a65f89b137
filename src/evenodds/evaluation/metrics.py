"""What a policy does to each group and between groups, and the odds that individuals can get."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from itertools import combinations
from typing import Any, Generic, TypeVar

import numpy as np

from evenodds.errors import OptionError, one_of
from evenodds.model.curves import Curve, is_random
from evenodds.model.joint import JointDistribution, check_joint
from evenodds.model.policy import Policy, check_policy
from evenodds.model.rates import rates_of
from evenodds.model.reviewed import Reviewing, Treatment
from evenodds.showing import Shown, people_text, text_table
from evenodds.values import Frozen, number_of

__all__ = [
    "BetweenGroups",
    "GroupMetrics",
    "IndividualOdds",
    "Metrics",
    "individual_odds",
    "metrics",
    "metrics_of",
]

F = TypeVar("F")

_SAME = 1e-9  # odds nearer than this are the same odds


@dataclass(frozen=True)
class GroupMetrics:
    """One group under a policy; rates are expectations over the policy's odds, not one draw of decisions.

    See Also
    --------
    metrics : Has one for each group as `groups`.

    Examples
    --------
    >>> import evenodds as eo
    >>> people = eo.datasets.compas()
    >>> group = eo.metrics(eo.fit(people), people).groups["Caucasian, Male"]
    >>> round(group.fpr, 4), round(group.tpr, 4), round(group.randomized, 4)
    (0.2857, 0.5369, 0.8871)
    """

    group: str
    """Its key."""
    people: float
    """The group's weight; the number of people where there are no weights."""
    fpr: float
    """The false positive rate."""
    tpr: float
    """The true positive rate."""
    accuracy: float
    """The share of people who get what is true of them."""
    selection_rate: float
    """The share of people who get a yes."""
    precision: float
    """The share of positives among those who get a yes; NaN if nobody does."""
    randomized: float
    """The share of people whose odds are neither 0 nor 1."""
    lipschitz: float
    """The largest slope of the group's curve; infinite where its odds jump."""

    @property
    def fnr(self) -> float:
        """The false negative rate."""
        return 1 - self.tpr


@dataclass(frozen=True)
class IndividualOdds:
    """Whether every odds value that one group can get is one that each other group can get too.

    See Also
    --------
    individual_odds : Tests it for curves.
    metrics : Tests it for a policy, as `individual_odds`.

    Examples
    --------
    >>> import evenodds as eo
    >>> people = eo.datasets.compas()
    >>> verdict = eo.metrics(eo.fit(people), people).individual_odds
    >>> verdict.holds, round(verdict.share, 3), verdict.apart[0]
    (False, 0.991, ('African-American, Female', 'Caucasian, Male'))
    """

    holds: bool
    """The verdict of the paper's Definition 3 on the curves' ranges over the score range."""
    share: float
    """The part of all odds on offer that is on offer to every group."""
    apart: tuple[tuple[str, str], ...]
    """The pairs of groups between which it fails."""

    def __str__(self) -> str:
        if self.holds:
            return "Individual odds hold: every odds value of one group is open to each other group."
        pairs = "; ".join(f"{one} and {two}" for one, two in self.apart)
        return f"Individual odds fail between {pairs}. Share of the odds open to all groups: {self.share:.3f}."


class BetweenGroups(Generic[F]):
    """How far groups are apart, whatever a figure is: a number, or an estimate with its interval."""

    def spread(self, *rates: str) -> F:
        """The largest difference of any of these rates between two groups.

        Parameters
        ----------
        *rates : str
            Figures of a group, such as "fpr".

        Returns
        -------
        number
            Of the kind that a figure is.
        """
        raise NotImplementedError

    @property
    def equalized_odds_difference(self) -> F:
        """The largest difference of FPR or TPR between two groups."""
        return self.spread("fpr", "tpr")

    @property
    def demographic_parity_difference(self) -> F:
        """The largest difference of selection rates between two groups."""
        return self.spread("selection_rate")

    @property
    def true_positive_rate_difference(self) -> F:
        """The largest difference of TPR between two groups."""
        return self.spread("tpr")

    @property
    def false_positive_rate_difference(self) -> F:
        """The largest difference of FPR between two groups."""
        return self.spread("fpr")

    @property
    def false_negative_rate_difference(self) -> F:
        """The largest difference of FNR between two groups: that of the TPR."""
        return self.spread("fnr")

    @property
    def accuracy_difference(self) -> F:
        """The largest difference of accuracies between two groups."""
        return self.spread("accuracy")


@dataclass(frozen=True, repr=False)
class Metrics(Shown, BetweenGroups[float]):
    """What a policy does to a population, group by group and between groups; `print` shows it as a table.

    See Also
    --------
    metrics : Makes one.
    Audit : The same with intervals, for people whom a policy was not fitted on.

    Examples
    --------
    >>> import evenodds as eo
    >>> people = eo.datasets.compas()
    >>> measured = eo.metrics(eo.fit(people), people)
    >>> round(measured.accuracy, 4), round(measured.demographic_parity_difference, 4)
    (0.6316, 0.0483)
    """

    by_group: tuple[GroupMetrics, ...]
    """Each group's figures; `groups` has them by key."""
    individual_odds: IndividualOdds
    """Whether every odds value of one group is open to each other group."""

    @property
    def groups(self) -> Mapping[str, GroupMetrics]:
        """Each group's figures."""
        return Frozen({figures.group: figures for figures in self.by_group})

    @property
    def accuracy(self) -> float:
        """The accuracy over everybody."""
        return sum(g.people * g.accuracy for g in self.by_group) / sum(g.people for g in self.by_group)

    @property
    def randomized(self) -> float:
        """The share of everybody whose odds are neither 0 nor 1."""
        return sum(g.people * g.randomized for g in self.by_group) / sum(g.people for g in self.by_group)

    def spread(self, *rates: str) -> float:
        """The largest difference of any of these figures between two groups.

        Parameters
        ----------
        *rates : str
            Fields of `GroupMetrics`, such as "fpr" and "tpr".

        Returns
        -------
        float
            Of these figures the one that differs most.

        Examples
        --------
        >>> import evenodds as eo
        >>> people = eo.datasets.compas()
        >>> round(eo.metrics(eo.fit(people), people).spread("lipschitz"), 4)
        0.1614
        """
        figures = [field.name for field in fields(GroupMetrics) if field.name != "group"] + ["fnr"]
        if not rates:
            msg = f"spread() takes one figure or several. Allowed: {', '.join(figures)}."
            raise OptionError(msg)
        values = [[getattr(g, one_of("figure", rate, figures)) for g in self.by_group] for rate in rates]
        return float(max(max(of_groups) - min(of_groups) for of_groups in values))

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """A row for each group."""
        return [field.name for field in fields(GroupMetrics)], [astuple(one) for one in self.by_group]

    def __repr__(self) -> str:
        n, people = len(self.by_group), sum(g.people for g in self.by_group)
        apart = self.equalized_odds_difference
        return f"Metrics({n} group{'s' * (n > 1)}, {people_text(people)} people, odds differ by {apart:.4f})"

    def __str__(self) -> str:
        n, people = len(self.by_group), sum(g.people for g in self.by_group)
        names = ("group", "people", "FPR", "TPR", "accuracy", "selected", "precision", "by chance", "slope")
        differences = {
            "equalized odds": self.equalized_odds_difference,
            "demographic parity": self.demographic_parity_difference,
            "accuracy": self.accuracy_difference,
        }
        between = ", ".join(f"{name} difference {value:.4f}" for name, value in differences.items())
        return (
            f"{n} group{'s' * (n > 1)}, {people_text(people)} people; accuracy over everybody {self.accuracy:.4f}.\n"
            f"{text_table(names, self.table()[1])}\nBetween groups: {between}.\n{self.individual_odds}"
        )


def metrics(policy: Policy, joint: JointDistribution) -> Metrics:
    """Measure a policy on a population; with reviews, what comes of it in the end if reviewers are as assumed.

    Rates are expectations over the policy's odds, and say nothing of how sure they are: on other people than those of
    the fit, use `audit`.

    Parameters
    ----------
    policy : Policy
        What decides.
    joint : JointDistribution
        The people; groups that the policy does not know are an error.

    Returns
    -------
    Metrics
        Each group's rates, differences between groups, individual odds: `.groups`, `.frame()`.

    See Also
    --------
    audit : With intervals and a verdict, of thresholds too.
    compare : Several policies side by side.
    individual_odds : Whether each group can get the odds that others can.

    Examples
    --------
    >>> import evenodds as eo
    >>> joint = eo.datasets.credit_risk()
    >>> measured = eo.metrics(eo.fit(joint, target="baseline"), joint)
    >>> round(measured.groups["white"].accuracy, 5), measured.equalized_odds_difference < 1e-12
    (0.82432, True)
    >>> measured
    Metrics(4 groups, 174,047 people, odds differ by 0.0000)
    >>> print(measured.individual_odds)
    Individual odds fail between asian and hispanic; black and hispanic; hispanic and white. Share of ...: 0.000.
    """
    check_policy(policy)
    check_joint(joint, "The second argument")
    policy.check_orientation(joint.orientation)
    policy.check_knows(joint.groups)
    return metrics_of(policy.treatments, joint, policy.score_range)


def metrics_of(curves: Mapping[str, Treatment], joint: JointDistribution, score_range: tuple[float, float]) -> Metrics:
    """Measure curves that are not, or not yet, a policy."""
    measured = []
    for member in joint.members:
        curve = curves[member.key]
        point = rates_of(curve, member)
        positive = member.base_rate
        own = curve.scale.own(member.scores)
        by_chance = curve.is_random(own) if isinstance(curve, Reviewing) else is_random(curve(own))
        selected = positive * point.tpr + (1 - positive) * point.fpr
        measured.append(
            GroupMetrics(
                group=member.key,
                people=member.total,
                fpr=point.fpr,
                tpr=point.tpr,
                accuracy=positive * point.tpr + (1 - positive) * (1 - point.fpr),
                selection_rate=selected,
                precision=positive * point.tpr / selected if selected > 0 else math.nan,
                randomized=float((member.negatives + member.positives)[by_chance].sum()) / member.total,
                lipschitz=curve.lipschitz,
            )
        )
    return Metrics(tuple(measured), individual_odds(curves, score_range))


def individual_odds(curves: Mapping[str, Treatment], score_range: tuple[float, float]) -> IndividualOdds:
    """Test the paper's Definition 3 on the odds that scores within `score_range` can get.

    Odds that a group offers at single points only (a jump's two sides) count for the verdict, and have no length in
    the share unless all odds on offer are such points; then the share is of their number. With reviews it is about
    the odds of an automatic yes.

    Parameters
    ----------
    curves : {group: Curve}
        Each group's curve, such as `policy.curves`.
    score_range : (low, high)
        The lowest and the highest score, such as `policy.score_range`.

    Returns
    -------
    IndividualOdds
        Whether it holds, and between which groups it does not.

    See Also
    --------
    metrics : Has it of a policy, beside its rates.
    odds_distance : How far apart the odds at two scores are.

    Examples
    --------
    >>> individual_odds({"a": Curve("linear", 0, 5, 0.5), "b": Curve("cubic", 2, 9, 0.3)}, (0, 10)).holds
    True
    >>> individual_odds({"a": Curve("fixed", 0, 5, 0.5), "b": Curve("fixed", 2, 9, 0.3)}, (0, 10)).share
    0.25
    """
    ends = _checked_range(score_range)
    ranges = {group: curve.odds_range(ends) for group, curve in _automatic(curves).items()}
    apart = tuple((a, b) for a, b in combinations(ranges, 2) if not _same(ranges[a], ranges[b]))
    cuts = np.unique(np.array([end for intervals in ranges.values() for interval in intervals for end in interval]))
    middles = (cuts[1:] + cuts[:-1]) / 2
    open_to = np.array([[_within(m, intervals) for m in middles] for intervals in ranges.values()], dtype=bool)
    lengths = np.diff(cuts)
    on_offer = float(lengths[open_to.any(axis=0)].sum()) if middles.size else 0.0
    if on_offer > _SAME:
        share = float(lengths[open_to.all(axis=0)].sum()) / on_offer
    else:
        points = cuts[np.concatenate([[True], lengths > _SAME])]
        share = float(np.mean([all(_within(c, intervals) for intervals in ranges.values()) for c in points]))
    return IndividualOdds(not apart, share, apart)


def _automatic(curves: object) -> dict[str, Curve]:
    """Each group's odds of an automatic yes."""
    by_group = dict(curves) if isinstance(curves, Mapping) else {}
    automatic = {group: curve.curve if isinstance(curve, Reviewing) else curve for group, curve in by_group.items()}
    if not automatic or not all(isinstance(curve, Curve) for curve in automatic.values()):
        msg = "curves must map each group to its Curve. Hint: policy.curves does."
        raise OptionError(msg)
    return automatic


def _checked_range(score_range: object) -> tuple[float, float]:
    allowed = "the lowest and the highest score, such as policy.score_range"
    if isinstance(score_range, (tuple, list, np.ndarray)) and len(score_range) == 2:  # noqa: PLR2004 the two ends
        low, high = (number_of("score_range", end, allowed) for end in score_range)
        if low <= high:
            return low, high
    msg = f"score_range={score_range!r} is not allowed. Allowed: {allowed}."
    raise OptionError(msg)


def _same(one: Sequence[tuple[float, float]], other: Sequence[tuple[float, float]]) -> bool:
    return len(one) == len(other) and all(
        abs(a - b) <= _SAME for left, right in zip(one, other, strict=True) for a, b in zip(left, right, strict=True)
    )


def _within(value: float, intervals: Sequence[tuple[float, float]]) -> bool:
    return any(lo - _SAME <= value <= hi + _SAME for lo, hi in intervals)
