"""Does a policy hold for people it was not fitted on? Every figure with an interval, and a verdict that may be open.

All rates are means of odds over the fresh people, not of one draw of decisions, so chance enters only by who the
people are. Differences between groups hold for all pairs at once; the largest of them is taken from these, since an
interval of the largest difference alone could never contain 0.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from evenodds.errors import DataError, EvenoddsWarning, one_of
from evenodds.evaluation.before import curves_before
from evenodds.evaluation.drift import Drift, drift_of
from evenodds.evaluation.group_audit import Confusion, GroupAudit, audit_of_group
from evenodds.evaluation.intervals import (
    Estimate,
    Pair,
    Sample,
    confidence_of,
    critical_value,
    difference,
    largest,
    mean_interval,
    ratio,
    smallest,
    value_for_verdicts,
)
from evenodds.evaluation.metrics import BetweenGroups, IndividualOdds, individual_odds
from evenodds.evaluation.outcomes import RATE_WORDS, RATES, outcomes_of
from evenodds.evaluation.resampling import percentiles, resampled_rates
from evenodds.evaluation.verdict import Verdict, verdict_on
from evenodds.frames import frame_of_rows
from evenodds.model.curves import Curve
from evenodds.model.goals import constraint_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution, check_is_joint
from evenodds.model.policy import Policy, check_policy
from evenodds.values import Frozen, number_of, whole_number_of

__all__ = ["BETWEEN", "Audit", "audit"]

_FIGURES = ("fpr", "tpr", "fnr", "accuracy", "selection_rate", "randomized", "auc", "base_rate")
_RATE_OF = {"fnr": "tpr", "tnr": "fpr"}  # a difference of these is one of those
_COLUMNS = ("part", "figure", "group", "other", "value", "low", "high")
_MANY = 20  # groups that are listed one by one


@dataclass(frozen=True)
class Audit(BetweenGroups[Estimate]):
    """What a policy does to people it may not have been fitted on."""

    by_group: tuple[GroupAudit, ...]
    confidence: float
    constraints: str
    """What the policy promised; the verdict is about this unless it is asked about another."""
    accuracy: Estimate
    """Over everybody in the groups that the policy knows."""
    individual_odds: IndividualOdds
    missing: tuple[str, ...]
    """Groups of the policy of which the data have nobody."""
    unknown: Mapping[str, float]
    """Groups in the data that the policy does not know, and their weight: nobody of these is in any figure."""
    drift: Mapping[str, Drift | None] | None = None
    """Each group against the people of the fit, if these were given; None for a group that they lack."""
    before: Audit | None = None
    """The same figures of what was in use before, if that was given."""
    changes: Mapping[str, Mapping[str, Estimate]] | None = None
    """By group and rate: what the policy changed, person by person."""
    resampled: Mapping[tuple[str, str], Estimate] | None = None
    """By group and rate: the interval between percentiles of a bootstrap, if one was asked for."""

    # -- groups ----------------------------------------------------------------------------------------------------

    @property
    def groups(self) -> Mapping[str, GroupAudit]:
        """Each group's figures."""
        return Frozen({figures.group: figures for figures in self.by_group})

    @property
    def one_sided(self) -> tuple[str, ...]:
        """Groups without negatives or without positives, so that a rate is not defined."""
        return tuple(g.group for g in self.by_group if not (g.positives > 0 and g.negatives > 0))

    # -- between groups --------------------------------------------------------------------------------------------

    def pairs(self, rate: str) -> tuple[Pair, ...]:
        """All pairs of groups in a rate: "fpr", "tpr", "fnr", "tnr", "accuracy" or "selection_rate"."""
        return self._pairs(rate, 1)

    def _pairs(self, rate: str, rates: int) -> tuple[Pair, ...]:
        """The same so that they hold at once in several rates."""
        name = _RATE_OF.get(one_of("rate", rate, (*RATES, *_RATE_OF)), rate)
        critical = value_for_verdicts(self.confidence, len(self.by_group), rates)
        own = {g.group: mean_interval(g.samples[name], critical) for g in self.by_group}
        if rate in _RATE_OF:
            own = {group: estimate.complement for group, estimate in own.items()}
        return tuple(Pair(a, b, difference(own[a], own[b]), ratio(own[a], own[b])) for a, b in combinations(own, 2))

    def spread(self, *rates: str) -> Estimate:
        """The largest difference of any of these rates between two groups."""
        return largest([pair.difference for rate in rates for pair in self._pairs(rate, len(rates))])

    def _smallest_ratio(self, *rates: str) -> Estimate:
        return smallest([pair.ratio for rate in rates for pair in self._pairs(rate, len(rates))])

    @property
    def equalized_odds_ratio(self) -> Estimate:
        """The smallest ratio of two groups' FPR or TPR."""
        return self._smallest_ratio("fpr", "tpr")

    @property
    def demographic_parity_ratio(self) -> Estimate:
        """The smallest ratio of two groups' selection rates: the four-fifths rule asks for 0.8 or more."""
        return self._smallest_ratio("selection_rate")

    def extremes(self, figure: str) -> tuple[str, str]:
        """The groups with the smallest and the largest value of a figure such as "tpr"."""
        one_of("figure", figure, _FIGURES)
        known = [g for g in self.by_group if not math.isnan(getattr(g, figure).value)]
        by = sorted(known, key=lambda g: float(getattr(g, figure)))
        return by[0].group, by[-1].group

    # -- the verdict -----------------------------------------------------------------------------------------------

    def passed(self, *, tolerance: float, constraints: str | None = None) -> Verdict:
        """Whether all groups are within a tolerance of each other, in the rates that a constraint names.

        "fail" if some pair differs by more than the tolerance for sure, "pass" if no pair does for sure, otherwise
        "undecided"; likewise while a group is missing, unknown or one-sided. "For sure" is with the audit's confidence
        for all pairs and rates together. Only "pass" is true.

        Parameters
        ----------
        tolerance : float
            The largest difference of a rate that is allowed.
        constraints : str, optional
            Another constraint than the one that the policy was fitted for.
        """
        tolerance = number_of("tolerance", tolerance, "a number from 0 to 1, the largest difference", low=0, high=1)
        rates = constraint_of(self.constraints if constraints is None else constraints, 0.0).rates
        pairs = [(RATE_WORDS[rate], pair) for rate in rates for pair in self._pairs(rate, len(rates))]
        return verdict_on(pairs, tolerance, self.open_ends)

    @property
    def open_ends(self) -> list[str]:
        """What the audit cannot tell because people are not there; the verdict is not "pass" while there are any."""
        reasons = [f"Group {group!r} of the policy is not in the data." for group in self.missing]
        reasons += [
            f"Group {group!r} is not known to the policy: {people:g} people." for group, people in self.unknown.items()
        ]
        for group in self.one_sided:
            g = self.groups[group]
            reasons.append(f"Group {group!r} has {g.negatives:g} negatives and {g.positives:g} positives.")
        return reasons

    # -- for reading -----------------------------------------------------------------------------------------------

    def frame(self) -> Any:
        """Every figure in a row of its own: what, of whom, against whom, the value and its interval."""
        return frame_of_rows(_COLUMNS, [tuple(row.values()) for row in self.rows()])

    def rows(self) -> list[dict[str, Any]]:
        """The same as plain data."""
        rows = self._rows("audited") + (self.before._rows("before") if self.before else [])  # noqa: SLF001 its own kind
        for group, of in (self.changes or {}).items():
            rows += [("change", rate, group, "", *estimate.row) for rate, estimate in of.items()]
        for (group, rate), estimate in (self.resampled or {}).items():
            rows.append(("bootstrap", rate, group, "", *estimate.row))
        for group, drift in (self.drift or {}).items():
            if drift is not None:
                rows += [("drift", name, group, "", *estimate.row) for name, estimate in drift.figures.items()]
        return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]

    def _rows(self, part: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for g in self.by_group:
            rows += [(part, name, g.group, "", *getattr(g, name).row) for name in _FIGURES]
            exact = {
                "people": g.people,
                "positives": g.positives,
                "lipschitz": g.lipschitz,
                **{name: getattr(g.confusion, name) for name in Confusion.__dataclass_fields__},
            }
            rows += [(part, name, g.group, "", value, value, value) for name, value in exact.items()]
        for rate in RATES:
            for pair in self.pairs(rate):
                rows.append((part, f"{rate}_difference", pair.one, pair.other, *pair.difference.row))
                rows.append((part, f"{rate}_ratio", pair.one, pair.other, *pair.ratio.row))
        rows += [(part, name, "", "", *getattr(self, name).row) for name in BETWEEN]
        return rows

    def __str__(self) -> str:
        people = sum(g.people for g in self.by_group)
        lines = [f"Audit of {len(self.by_group)} groups, {people:,.6g} people; intervals of {self.confidence:.4g}."]
        head = ("group", "people", "positives", "FPR", "TPR", "accuracy", "selected", "by chance", "AUC", "slope")
        table = [
            (
                g.group,
                f"{g.people:g}",
                f"{g.positives:g}",
                *(_short(e) for e in (g.fpr, g.tpr, g.accuracy, g.selection_rate, g.randomized, g.auc)),
                "jump" if math.isinf(g.lipschitz) else f"{g.lipschitz:.4g}",
            )
            for g in self.by_group[:_MANY]
        ]
        widths = [max(len(row[i]) for row in (head, *table)) for i in range(len(head))]
        for row in (head, *table):
            cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
            lines.append("  " + "  ".join(cells))
        if len(self.by_group) > _MANY:
            lines.append(f"  ... and {len(self.by_group) - _MANY} groups more")
        lines.append("Between groups, all pairs at once:")
        for name, text in BETWEEN.items():
            was = f"   before {getattr(self.before, name)}" if self.before else ""
            lines.append(f"  {text}: {getattr(self, name)}{was}")
        if self.by_group:
            low, high = self.extremes("selection_rate")
            lines.append(f"  most and least often selected: {high} and {low}")
        lines.append(str(self.individual_odds))
        known = {group: drift.changes for group, drift in (self.drift or {}).items() if drift}
        lines += [f"Drift of group {group!r} since the fit: {', and '.join(of)}." for group, of in known.items() if of]
        lacking = [group for group in self.drift or {} if group not in known]
        lines += [f"Drift of group {group!r}: the people of the fit lack it." for group in lacking]
        lines += [f"Open: {text}" for text in self.open_ends]
        return "\n".join(lines)


BETWEEN = {
    "accuracy": "accuracy over everybody",
    "equalized_odds_difference": "equalized odds difference",
    "true_positive_rate_difference": "true positive rate difference",
    "false_positive_rate_difference": "false positive rate difference",
    "false_negative_rate_difference": "false negative rate difference",
    "demographic_parity_difference": "demographic parity difference",
    "accuracy_difference": "accuracy difference",
    "equalized_odds_ratio": "equalized odds ratio",
    "demographic_parity_ratio": "demographic parity ratio (four-fifths rule: at least 0.8)",
}


def _short(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "not defined"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


# -- making one --------------------------------------------------------------------------------------------------------


def audit(
    policy: Policy,
    joint: JointDistribution,
    *,
    confidence: float = 0.95,
    before: Policy | float | None = None,
    reference: JointDistribution | None = None,
    bootstrap: int = 0,
    seed: int = 0,
) -> Audit:
    """Measure a policy on fresh people, with intervals that hold for small groups too.

    Parameters
    ----------
    policy : Policy
    joint : JointDistribution
        People that the policy was not fitted on; make it with one_sided="keep" if a group may lack a label. Groups
        that the policy does not know, or of which there is nobody, are named, and leave the verdict open.
    confidence : float
        How often an interval shall contain the truth. Differences between groups hold for all pairs at once.
    before : Policy or float, optional
        What was in use before, for comparison: another policy, or the single threshold of everybody.
    reference : JointDistribution, optional
        The people of the fit: the audit then tells how far each group's scores and base rate have drifted.
    bootstrap : int
        Draws of a bootstrap of each group's rates, as a second opinion on their intervals; 0 for none. Odds are told
        apart in 1,024 steps for this.
    seed : int
        Of the bootstrap: the same seed, the same intervals.

    Examples
    --------
    >>> import evenodds as eo
    >>> rng = np.random.default_rng(0)
    >>> group, label = rng.integers(0, 2, 8000), rng.integers(0, 2, 8000)
    >>> score = rng.normal(label * (1 + group), 1)
    >>> half = np.arange(8000) < 4000
    >>> fitted, fresh = (eo.JointDistribution.from_arrays(score[h], group[h], label[h]) for h in (half, ~half))
    >>> audit = eo.audit(eo.fit(fitted), fresh, before=0.7)
    >>> audit.passed(tolerance=0.1), audit.before.passed(tolerance=0.1)
    (Verdict('pass': No two groups differ by more than 0.0...), Verdict('fail': The true positive rate of ...))
    >>> print(audit.equalized_odds_difference)
    0.0218 [0.0000, 0.0553]
    """
    check_policy(policy)
    check_is_joint(joint, "The second argument")
    confidence = confidence_of(confidence)
    bootstrap, seed = whole_number_of("bootstrap", bootstrap), whole_number_of("seed", seed)
    policy.check_orientation(joint.orientation)
    there = {member.key: member for member in (*joint.members, *joint.one_sided)}
    known = [there[group] for group in policy.groups if group in there]
    unknown = {key: member.total for key, member in there.items() if key not in policy.curves}
    if not any(member.total > 0 for member in known):
        msg = f"There is nobody to audit. {policy.unknown(sorted(unknown)) if unknown else ''}".strip()
        raise DataError(msg)
    earlier = None if before is None else curves_before(before, policy, [member.key for member in known])
    result = replace(
        _audit_of(policy.curves, known, policy.score_range, confidence, policy.certificate.constraints),
        missing=tuple(group for group in policy.groups if group not in there),
        unknown=Frozen(unknown),
    )
    if earlier is not None:
        old = _audit_of(earlier, known, policy.score_range, confidence, result.constraints)
        result = replace(
            result,
            before=replace(old, missing=result.missing, unknown=result.unknown),
            changes=Frozen({m.key: _changes(m, policy.curves[m.key], earlier[m.key], confidence) for m in known}),
        )
    if reference is not None:
        check_is_joint(reference, "reference=")
        policy.check_orientation(reference.orientation)
        result = replace(result, drift=_drift(known, reference, confidence))
    for text in result.open_ends:
        warnings.warn(text, EvenoddsWarning, stacklevel=2)
    if bootstrap:
        drawn = resampled_rates(policy.curves, known, bootstrap, np.random.default_rng(seed))
        result = replace(
            result, resampled=Frozen({key: percentiles(values, confidence) for key, values in drawn.items()})
        )
    return result


def _drift(known: Sequence[Group], reference: JointDistribution, confidence: float) -> Frozen[str, Drift | None]:
    fitted = {member.key: member for member in (*reference.members, *reference.one_sided) if member.total > 0}
    return Frozen(
        {m.key: drift_of(m, fitted[m.key], confidence) if m.key in fitted else None for m in known if m.total > 0}
    )


def _audit_of(
    curves: Mapping[str, Curve],
    members: Sequence[Group],
    score_range: tuple[float, float],
    confidence: float,
    constraints: str,
) -> Audit:
    measured = [
        audit_of_group(member, curves[member.key], score_range, critical_value(confidence)) for member in members
    ]
    right = [(m.samples["accuracy"], m.people) for m in measured if m.people > 0]
    shares = np.array([people for _, people in right]) / sum(people for _, people in right)
    means = np.array([sample.mean for sample, _ in right])
    mean = float(shares @ means)
    numbers = np.array([sample.n_effective for sample, _ in right])
    number = 1 / float(np.sum(shares**2 / numbers))
    # Within groups, and between them, had other people been there.
    within = float(np.sum(shares**2 * [sample.variance for sample, _ in right] / numbers))
    variance = within * number + float(shares @ (means - mean) ** 2)
    return Audit(
        tuple(measured),
        confidence,
        constraints,
        mean_interval(Sample(mean, variance, number), critical_value(confidence)),
        individual_odds(curves, score_range),
        (),
        Frozen({}),
    )


def _changes(member: Group, after: Curve, before: Curve, confidence: float) -> Mapping[str, Estimate]:
    """What a change of curves does to a group's rates, from the change of each person's odds."""
    samples = outcomes_of(member, after).changes(outcomes_of(member, before))
    critical = critical_value(confidence)
    return Frozen({rate: mean_interval(sample, critical) for rate, sample in samples.items()})
