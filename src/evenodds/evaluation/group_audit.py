"""One group under a policy, on fresh people: every figure with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field

import numpy as np

from evenodds.evaluation.intervals import Estimate, Sample, mean_interval, merged
from evenodds.evaluation.outcomes import outcomes_of
from evenodds.model.groups import Group
from evenodds.model.reviewed import Reviewing, Treatment
from evenodds.values import Frozen

__all__ = ["Confusion", "GroupAudit", "audit_of_group", "audit_of_several"]


@dataclass(frozen=True)
class Confusion:
    """Expected numbers of people (weights) by what was decided and what was true."""

    true_positives: float
    false_positives: float
    true_negatives: float
    false_negatives: float


@dataclass(frozen=True)
class GroupAudit:
    """One group under a policy, on fresh people. Figures without people behind them are NaN.

    See Also
    --------
    audit : Has one for each group as `groups`.

    Examples
    --------
    >>> import evenodds as eo
    >>> people = eo.datasets.compas()
    >>> group = eo.audit(eo.fit(people), people).groups["Caucasian, Male"]
    >>> group.people, group.positives, round(group.confusion.true_positives, 1)
    (1887.0, 767.0, 411.8)
    >>> print(group.fpr)
    0.2857 [0.2684, 0.3037]
    """

    group: str
    """Its key."""
    people: float
    """The group's weight; the number of people where there are no weights."""
    positives: float
    """The weight of people with label 1."""
    fpr: Estimate
    """The false positive rate."""
    tpr: Estimate
    """The true positive rate."""
    accuracy: Estimate
    """The share of people who get what is true of them."""
    selection_rate: Estimate
    """The share of people who get a yes."""
    precision: Estimate
    """The share of positives among those who get a yes."""
    randomized: Estimate
    """The share of people whose odds are neither 0 nor 1."""
    auc: Estimate
    """The chance that the score of a positive is the better one of a positive's and a negative's."""
    base_rate: Estimate
    """The share of positives."""
    lipschitz: float
    """The largest slope of the group's curve, which no data change; NaN where there are only decisions."""
    confusion: Confusion
    """Expected numbers of true and false positives and negatives."""
    samples: Mapping[str, Sample] = field(repr=False, compare=False, default_factory=dict)
    """What each rate is the mean of."""

    @property
    def fnr(self) -> Estimate:
        """The false negative rate."""
        return self.tpr.complement

    @property
    def negatives(self) -> float:
        """The weight of people with label 0."""
        return self.people - self.positives

    @property
    def selected(self) -> float:
        """The expected weight of people who get a yes."""
        return self.confusion.true_positives + self.confusion.false_positives


def audit_of_group(member: Group, curve: Treatment, score_range: tuple[float, float], critical: float) -> GroupAudit:
    """Measure a group's people under a curve; `critical` is the value with which intervals are drawn."""
    outcomes = outcomes_of(member, curve)
    ends = curve.ends(score_range) if isinstance(curve, Reviewing) else curve(np.array(score_range))
    samples = outcomes.samples(ends)
    negatives, positives = outcomes.negatives, outcomes.positives
    yes = [float(side.weights @ side.odds) for side in (negatives, positives)]
    return GroupAudit(
        group=member.key,
        people=member.total,
        positives=member.positive_total,
        **{name: mean_interval(sample, critical) for name, sample in samples.items()},
        lipschitz=curve.lipschitz,
        confusion=Confusion(yes[1], yes[0], negatives.total - yes[0], positives.total - yes[1]),
        samples=Frozen(samples),
    )


def audit_of_several(key: str, parts: Sequence[GroupAudit], critical: float) -> GroupAudit:
    """Several groups as one. How well scores rank people across groups is not known from each: their AUC is NaN."""
    people = [part.people for part in parts]
    weight = {
        "fpr": [part.negatives for part in parts],
        "tpr": [part.positives for part in parts],
        "precision": [part.selected for part in parts],
    }
    samples = {
        name: merged([(part.samples[name], w) for part, w in zip(parts, weight.get(name, people), strict=True)])
        for name in parts[0].samples
    }
    samples["auc"] = Sample(math.nan, math.nan, 0.0)
    total = np.sum([astuple(part.confusion) for part in parts], axis=0).tolist()
    return GroupAudit(
        group=key,
        people=sum(people),
        positives=sum(part.positives for part in parts),
        **{name: mean_interval(sample, critical) for name, sample in samples.items()},
        lipschitz=max(part.lipschitz for part in parts),
        confusion=Confusion(*total),
        samples=Frozen(samples),
    )
