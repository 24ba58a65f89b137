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

from numpy.typing import ArrayLike

from evenodds.errors import DataError, EvenoddsWarning, OptionError, one_of
from evenodds.evaluation import audit_text
from evenodds.evaluation.drift import Drift
from evenodds.evaluation.group_audit import Confusion, GroupAudit, audit_of_group, audit_of_several
from evenodds.evaluation.impact import check_odds
from evenodds.evaluation.intervals import (
    Estimate,
    Pair,
    critical_value,
    difference,
    interval_confidence,
    largest,
    mean_interval,
    merged,
    ratio,
    smallest,
    value_for_verdicts,
)
from evenodds.evaluation.key_columns import columns_of_keys
from evenodds.evaluation.metrics import BetweenGroups, IndividualOdds, individual_odds
from evenodds.evaluation.outcomes import RATE_NAMES, RATES
from evenodds.evaluation.verdict import Verdict, verdict_on
from evenodds.frames import columns_of, frame_of_rows
from evenodds.model.curves import Curve
from evenodds.model.goals import constraint_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution
from evenodds.model.keys import GroupLike, parts_by_key
from evenodds.model.reviewed import Treatment
from evenodds.showing import Shown, people_text
from evenodds.values import Frozen, names_of, number_of

__all__ = ["Audit", "measured", "warn_of_open_ends", "with_columns"]

_RATE_OF = {"fnr": "tpr", "tnr": "fpr"}  # a difference of these is one of those
_COLUMNS = ("part", "figure", "group", "other", "value", "low", "high")


@dataclass(frozen=True, repr=False)
class Audit(Shown, BetweenGroups[Estimate]):
    """What a policy does to people it may not have been fitted on: rates with intervals, and a verdict.

    Made by `audit`, or by `Audit.of_decisions` where there is no policy; `print` shows it as a table.

    See Also
    --------
    audit : Measure a policy, or thresholds.
    Audit.of_decisions : Measure anybody's decisions.
    plot.audit : Each group's rates with their intervals.
    Stability.holdout : How many fresh people it takes for a verdict.

    Examples
    --------
    >>> import evenodds as eo
    >>> people = eo.datasets.compas()
    >>> audit = eo.audit(eo.fit(people), people)
    >>> print(audit.groups["Caucasian, Male"].tpr)
    0.5369 [0.5118, 0.5618]
    >>> print(audit.equalized_odds_difference)
    0.0000 [0.0000, 0.1117]
    """

    by_group: tuple[GroupAudit, ...]
    """Each group's figures; `groups` has them by key."""
    confidence: float
    """How often an interval contains the truth."""
    constraints: str
    """What the policy promised; the verdict is about this unless it is asked about another."""
    accuracy: Estimate
    """Over everybody in the groups that the policy knows."""
    individual_odds: IndividualOdds | None
    """None where there are only decisions."""
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
    verdict: Verdict | None = None
    """Whether the groups are within the tolerance, if one was given."""
    columns: tuple[str, ...] = ()
    """What each part of a group's key is called, such as race and sex, where there are several."""
    parts: tuple[tuple[str, ...], ...] = ()
    """The values of these columns, for each of `by_group`."""
    drift_bound: float | None = None
    """What the groups of these people cannot differ by more than, in the rates that the policy promised to be alike:
    the tolerance, and the two largest Kolmogorov-Smirnov distances from the people of the fit, by label. None without
    these."""
    reviewed: Mapping[str, Mapping[str, Estimate]] | None = None
    """By group: the shares of everybody, of negatives and of positives that are reviewed, where there are reviews."""

    @classmethod
    def of_decisions(
        cls,
        decision_or_odds: ArrayLike,
        group: GroupLike,
        label: ArrayLike,
        *,
        weight: ArrayLike | None = None,
        confidence: float = 0.95,
        tolerance: float | None = None,
        constraints: str = "equalized_odds",
        columns: Sequence[str] = (),
    ) -> Audit:
        """Audit the decisions of anything: of a model, a person, a spreadsheet. No policy and no score is needed.

        Parameters
        ----------
        decision_or_odds : array of shape (n,)
            1 for a yes and 0 for a no, or the odds of a yes.
        group, label, weight
            As for `JointDistribution.from_arrays`; a group may lack a label.
        confidence, tolerance
            As for `audit`.
        constraints : str
            What the verdict is about, by the names that `fit` has.
        columns : sequence of str, optional
            Where groups are combinations, what each column is called; the names of a data frame's columns without it.

        Returns
        -------
        Audit
            Without what only scores can tell: the AUC, slopes, individual odds.

        See Also
        --------
        audit : Of a policy or a threshold, with scores.
        impact_ratios : Of decisions alone, without labels.

        Examples
        --------
        >>> import evenodds as eo
        >>> audit = eo.Audit.of_decisions([1, 0, 1, 1, 0, 0], list("aaabbb"), [1, 0, 0, 1, 1, 0])
        >>> audit.groups["a"].selection_rate.value, audit.groups["b"].precision.value
        (0.6666666666666666, 1.0)
        """
        odds = check_odds(decision_or_odds)
        constraint_of(constraints, 0.0)
        columns = names_of("columns", columns)
        named = columns_of(group) or []
        columns = columns or ([str(column.name) for column in named] if len(named) > 1 else [])
        joint = JointDistribution.from_arrays(odds, group, label, weight=weight, one_sided="keep")
        members = (*joint.members, *joint.one_sided)
        same = Curve("linear", 0.0, 1.0, 0.5)  # odds are what they are
        confidence = interval_confidence(confidence)
        scored = measured({m.key: same for m in members}, members, (0.0, 1.0), confidence, constraints)
        by_group = tuple(replace(g, lipschitz=math.nan) for g in sorted(scored.by_group, key=lambda g: g.group))
        result = with_columns(replace(scored, by_group=by_group, individual_odds=None), columns, parts_by_key(group))
        warn_of_open_ends(result)
        return result if tolerance is None else result.judged(tolerance)

    def judged(self, tolerance: float, constraints: str | None = None) -> Audit:
        """The same with a verdict on a tolerance.

        Parameters
        ----------
        tolerance, constraints
            As for `Audit.passed`.

        Returns
        -------
        Audit
            With another `verdict`.
        """
        return replace(self, verdict=self.passed(tolerance=tolerance, constraints=constraints))

    # -- groups ----------------------------------------------------------------------------------------------------

    @property
    def groups(self) -> Mapping[str, GroupAudit]:
        """Each group's figures."""
        return Frozen({figures.group: figures for figures in self.by_group})

    @property
    def one_sided(self) -> tuple[str, ...]:
        """Groups without negatives or without positives, so that a rate is not defined."""
        return tuple(g.group for g in self.by_group if not (g.positives > 0 and g.negatives > 0))

    @property
    def marginals(self) -> Mapping[str, Audit]:
        """Where groups are combinations, such as of race and sex: the same figures by each column alone."""
        critical = critical_value(self.confidence)
        marginals = {}
        for i, column in enumerate(self.columns):
            by_value: dict[str, list[GroupAudit]] = {}
            for figures, values in zip(self.by_group, self.parts, strict=True):
                by_value.setdefault(values[i], []).append(figures)
            by_group = tuple(audit_of_several(value, parts, critical) for value, parts in sorted(by_value.items()))
            marginals[column] = Audit(by_group, self.confidence, self.constraints, self.accuracy, None, (), Frozen({}))
        return Frozen(marginals)

    # -- between groups --------------------------------------------------------------------------------------------

    def pairs(self, rate: str) -> tuple[Pair, ...]:
        """All pairs of groups in a rate: by how much they differ, and their ratio. All intervals hold at once.

        Parameters
        ----------
        rate : str
            "fpr", "tpr", "fnr", "tnr", "accuracy" or "selection_rate".

        Returns
        -------
        tuple of Pair
            Each with the groups `one` and `other`, their `difference` and their `ratio`.

        Examples
        --------
        >>> import evenodds as eo
        >>> audit = eo.Audit.of_decisions([1, 0, 1, 1, 0, 0], list("aaabbb"), [1, 0, 0, 1, 1, 0])
        >>> (pair,) = audit.pairs("selection_rate")
        >>> pair.one, pair.other, round(pair.difference, 4), round(pair.ratio, 4)
        ('a', 'b', 0.3333, 2.0)
        """
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
        """The largest difference of any of these rates between two groups.

        Parameters
        ----------
        *rates : str
            One or several of those of `Audit.pairs`; all intervals hold at once.

        Returns
        -------
        Estimate
            With an interval that begins at 0 unless some pair differs for sure.
        """
        if not rates:
            msg = f"spread() takes one rate or several. Allowed: {', '.join((*RATES, *_RATE_OF))}."
            raise OptionError(msg)
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
        """The groups with the smallest and the largest value of a figure.

        Parameters
        ----------
        figure : str
            "fpr", "tpr", "fnr", "accuracy", "selection_rate", "precision", "randomized", "auc" or "base_rate".

        Returns
        -------
        (str, str)
            Two groups' keys.
        """
        one_of("figure", figure, RATE_NAMES)
        known = [g for g in self.by_group if not math.isnan(getattr(g, figure).value)]
        if not known:
            msg = f"The {RATE_NAMES[figure]} is not defined for any group, so that none has the largest."
            raise DataError(msg)
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

        Returns
        -------
        Verdict
            With its `reasons`: which pair of groups differs, or how many people of whom would settle it.

        Examples
        --------
        >>> import evenodds as eo
        >>> people = eo.datasets.compas()
        >>> audit = eo.audit(eo.fit(people), people)
        >>> audit.passed(tolerance=0.15)
        Verdict('pass': No two groups differ by more than 0.1117.)
        >>> audit.passed(tolerance=0.1).reasons[0]
        "The largest difference is 0.0000 [0.0000, 0.1117] (...), the tolerance 0.1: it takes about 320 positives of ...
        """
        tolerance = number_of("tolerance", tolerance, "a number from 0 to 1, the largest difference", low=0, high=1)
        rates = constraint_of(self.constraints if constraints is None else constraints, 0.0).rates
        pairs = [(rate, pair) for rate in rates for pair in self._pairs(rate, len(rates))]
        critical = value_for_verdicts(self.confidence, len(self.by_group), len(rates))
        samples = {(str(rate), g.group): g.samples[rate] for rate in rates for g in self.by_group}
        return verdict_on(pairs, tolerance, self.open_ends, samples, critical)

    @property
    def open_ends(self) -> list[str]:
        """What the audit cannot tell because people are not there; the verdict is not "pass" while there are any."""
        reasons = [f"Group {group!r} of the policy is not in the data." for group in self.missing]
        reasons += [
            f"Group {group!r} is not known to the policy: {people_text(people)} people."
            for group, people in self.unknown.items()
        ]
        for group in self.one_sided:
            g = self.groups[group]
            reasons.append(
                f"Group {group!r} has {people_text(g.negatives)} negatives and {people_text(g.positives)} positives."
            )
        return reasons

    # -- for reading -----------------------------------------------------------------------------------------------

    def frame(self) -> Any:
        """Every figure in a row of its own: what, of whom, against whom, the value and its interval."""
        return frame_of_rows(_COLUMNS, [tuple(row.values()) for row in self.rows()])

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """A row for each group: the figures that are asked for most, with their intervals."""
        figures = ("fpr", "tpr", "accuracy", "selection_rate", "precision", "randomized")
        rows = [(g.group, g.people, g.positives, *(getattr(g, name) for name in figures)) for g in self.by_group]
        return ("group", "people", "positives", *figures), rows

    def __repr__(self) -> str:
        people = sum(g.people for g in self.by_group)
        verdict = "" if self.verdict is None else f", {str(self.verdict)!r}"
        difference = self.equalized_odds_difference
        return f"Audit({len(self.by_group)} groups, {people_text(people)} people, odds differ by {difference}{verdict})"

    def rows(self) -> list[dict[str, Any]]:
        """The same as plain data: a dictionary for each row, with the names of the columns."""
        rows = self._rows("audited") + (self.before._rows("before") if self.before else [])  # noqa: SLF001 its own kind
        for group, changes in (self.changes or {}).items():
            rows += [("change", rate, group, "", *estimate.row) for rate, estimate in changes.items()]
        for (group, rate), estimate in (self.resampled or {}).items():
            rows.append(("bootstrap", rate, group, "", *estimate.row))
        for group, drift in (self.drift or {}).items():
            if drift is not None:
                rows += [("drift", name, group, "", *estimate.row) for name, estimate in drift.figures.items()]
        return [dict(zip(_COLUMNS, row, strict=True)) for row in rows]

    def _rows(self, part: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for g in self.by_group:
            rows += [(part, name, g.group, "", *getattr(g, name).row) for name in RATE_NAMES]
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
        rows += [(part, name, "", "", *getattr(self, name).row) for name in audit_text.BETWEEN]
        return rows

    def __str__(self) -> str:
        return audit_text.text_of(self)


# -- making one --------------------------------------------------------------------------------------------------------


def warn_of_open_ends(result: Audit) -> None:
    """Warn of what leaves a verdict open."""
    for text in result.open_ends:
        warnings.warn(text, EvenoddsWarning, stacklevel=3)


def with_columns(result: Audit, columns: Sequence[str], known: Mapping[str, tuple[str, ...]] | None = None) -> Audit:
    """The same with names for the columns that groups are combinations of, and each group's values in them."""
    names, parts = columns_of_keys([figures.group for figures in result.by_group], columns, known)
    return replace(result, columns=names, parts=parts)


def measured(
    curves: Mapping[str, Treatment],
    members: Sequence[Group],
    score_range: tuple[float, float],
    confidence: float,
    constraints: str,
) -> Audit:
    """Measure groups under curves."""
    critical = critical_value(confidence)
    by_group = tuple(audit_of_group(member, curves[member.key], score_range, critical) for member in members)
    everybody = merged([(g.samples["accuracy"], g.people) for g in by_group])
    return Audit(
        by_group,
        confidence,
        constraints,
        mean_interval(everybody, critical),
        individual_odds(curves, score_range),
        (),
        Frozen({}),
    )
