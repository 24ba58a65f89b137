"""Audits of a policy, or of thresholds, on fresh people: measured, compared with before, and with those of the fit."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from evenodds.errors import DataError, EvenoddsWarning
from evenodds.evaluation.audit import Audit, measured, warn_of_open_ends, with_columns
from evenodds.evaluation.deciders import Decider, curves_before, curves_of
from evenodds.evaluation.drift import Drift, drift_of, farthest_moved
from evenodds.evaluation.intervals import Estimate, critical_value, interval_confidence, mean_interval
from evenodds.evaluation.outcomes import outcomes_of
from evenodds.evaluation.resampling import RandomLike, generator_of, percentiles, resampled_rates
from evenodds.model.goals import Rate, coefficients, constraint_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution, check_is_joint
from evenodds.model.policy import Policy
from evenodds.model.rates import rates_of
from evenodds.model.reviewed import Reviewing, Treatment
from evenodds.model.weaknesses import backwards, elsewhere_of
from evenodds.values import Frozen, whole_number_of

__all__ = ["audit", "doubts"]


def audit(
    policy: Decider,
    joint: JointDistribution,
    *,
    confidence: float = 0.95,
    tolerance: float | None = None,
    before: Decider | None = None,
    reference: JointDistribution | None = None,
    bootstrap: int = 0,
    rng: RandomLike = 0,
    columns: Sequence[str] = (),
) -> Audit:
    """Measure a policy on fresh people, with intervals that hold for small groups too.

    Parameters
    ----------
    policy : Policy, float or {group: float}
        What decides: a policy, the single threshold of everybody, or a threshold for each group. With reviews the
        rates are those in the end, if reviewers say yes as often as was assumed; `reviewed` has the shares reviewed.
    joint : JointDistribution
        People that the policy was not fitted on; make it with one_sided="keep" if a group may lack a label. Groups
        that the policy does not know, or of which there is nobody, are named, and leave the verdict open.
    confidence : float
        How often an interval shall contain the truth. Differences between groups hold for all pairs at once.
    tolerance : float, optional
        The largest difference that is allowed: `verdict` then says whether the groups keep to it.
    before : Policy, float or {group: float}, optional
        What was in use before, for comparison.
    reference : JointDistribution, optional
        The people of the fit: the audit then tells how far each group's scores and base rate have drifted.
    bootstrap : int
        Draws of a bootstrap of each group's rates, as a second opinion on their intervals; 0 for none. Odds are told
        apart in 1,024 steps for this.
    rng : int, Generator or RandomState
        Of the bootstrap: the same number, the same intervals.
    columns : sequence of str
        Where groups are combinations, such as of race and sex: what these are called in `marginals`.

    Returns
    -------
    Audit
        Every figure with its interval: each group's, the differences between groups, the verdict. It has `.frame()`,
        `.plot()`, and `print` shows it as a table.

    See Also
    --------
    Audit.of_decisions : The same of anybody's decisions, without scores.
    impact_ratios : Selection rates only, as Local Law 144 asks for.
    stability : How far the policy would have turned out otherwise with other people; how many an audit needs.
    metrics : The rates alone, without intervals.
    individual.report : Whether similar people are treated alike.
    update : The next policy, where people have changed.
    report : All of it in one file.

    Examples
    --------
    >>> import numpy as np
    >>> import evenodds as eo
    >>> rng = np.random.default_rng(0)
    >>> group, label = rng.integers(0, 2, 8000), rng.integers(0, 2, 8000)
    >>> score = rng.normal(label * (1 + group), 1)
    >>> half = np.arange(8000) < 4000
    >>> fitted, fresh = (eo.JointDistribution.from_arrays(score[h], group[h], label[h]) for h in (half, ~half))
    >>> audit = eo.audit(eo.fit(fitted), fresh, tolerance=0.1, before=0.7)
    >>> audit.verdict, audit.before.passed(tolerance=0.1)
    (Verdict('pass': No two groups differ by more than 0.0...), Verdict('fail': The true positive rate of ...))
    >>> print(audit.equalized_odds_difference)
    0.0218 [0.0000, 0.0553]
    """
    check_is_joint(joint, "The second argument")
    confidence = interval_confidence(confidence)
    bootstrap, source = whole_number_of("bootstrap", bootstrap), generator_of(rng)
    there = {member.key: member for member in (*joint.members, *joint.one_sided)}
    curves = curves_of(policy, list(there), joint.orientation, "policy")
    known = [there[group] for group in curves if group in there]
    unknown = {key: member.total for key, member in there.items() if key not in curves}
    if not any(member.total > 0 for member in known):
        why = policy.unknown(sorted(unknown)) if isinstance(policy, Policy) and unknown else ""
        msg = f"There is nobody to audit. {why}".strip()
        raise DataError(msg)
    earlier = None if before is None else curves_before(before, [member.key for member in known], joint.orientation)
    certificate = policy.certificate if isinstance(policy, Policy) else None
    constraints = certificate.constraints if certificate else "equalized_odds"
    score_range = policy.score_range if isinstance(policy, Policy) else joint.score_range

    def of_known(treatments: Mapping[str, Treatment]) -> Audit:
        result = measured(treatments, known, score_range, confidence, constraints)
        return replace(result, missing=tuple(key for key in curves if key not in there), unknown=Frozen(unknown))

    result = with_columns(of_known(curves), columns)
    if isinstance(policy, Policy) and policy.review is not None:
        result = replace(result, reviewed=_reviewed(known, policy, confidence))
    if earlier is not None:
        result = replace(
            result,
            before=of_known(earlier),
            changes=Frozen({m.key: _changes(m, curves[m.key], earlier[m.key], confidence) for m in known}),
        )
    if reference is not None:
        check_is_joint(reference, "reference=")
        if reference.orientation != joint.orientation:
            msg = f"reference= has {reference.orientation} orientation, the people {joint.orientation}."
            raise DataError(msg)
        drift = _drift(known, reference, confidence)
        promised = certificate.fitted_tolerance if certificate else None
        if result.reviewed is not None and constraints == "demographic_parity":
            promised = None  # who is selected in the end goes by the label too, and not by the score alone
        bound = _drift_bound(drift, curves, reference, constraint_of(constraints, 0.0).rates, promised)
        result = replace(result, drift=drift, drift_bound=bound)
    if bootstrap:
        drawn = resampled_rates(curves, known, bootstrap, source)
        result = replace(
            result, resampled=Frozen({key: percentiles(values, confidence) for key, values in drawn.items()})
        )
    warn_of_open_ends(result)
    for text in doubts(policy, joint, result):
        warnings.warn(text, EvenoddsWarning, stacklevel=2)
    return result if tolerance is None else result.judged(tolerance)


def doubts(policy: Decider, joint: JointDistribution, result: Audit) -> Iterator[str]:
    """What makes one doubt that these people's scores and labels are those that the policy is for."""
    if isinstance(policy, Policy):
        yield from elsewhere_of(policy.score_range, joint)
    # Twice as far from a coin's 1/2 as the interval says: of many groups some are beyond it by chance.
    backward = {g.group: g.auc.value for g in result.by_group if g.auc < 0.5 - 2 * (g.auc.high - g.auc)}
    if backward:
        yield f"{backwards(backward)} Hint: check the labels, and which scores are the better ones."


def _drift_bound(
    drift: Mapping[str, Drift | None],
    curves: Mapping[str, Treatment],
    reference: JointDistribution,
    rates: Sequence[Rate],
    tolerance: float | None,
) -> float | None:
    """How far groups were apart at most, and the largest sum of two groups' distances in a constrained rate, by label.

    They were by the tolerance, or by more if the people of reference= are not those of the fit.
    """
    if tolerance is None or None in drift.values():
        return None
    apart = max(tolerance, _apart(curves, reference, rates, drift))
    return min(apart + sum(farthest_moved(drift, rates)[1].values()), 1.0)


def _apart(
    curves: Mapping[str, Treatment], reference: JointDistribution, rates: Sequence[Rate], groups: Container[str]
) -> float:
    """How far groups are apart in constrained rates on the people of reference=, who need not be those of the fit."""
    there = replace(reference, members=tuple(member for member in reference.members if member.key in groups))
    both = [rates_of(curves[member.key], member) for member in there.members]
    points = np.array([[point.fpr, point.tpr] for point in both])
    by_rate = [(coefficients(there, rate) * points).sum(axis=1) for rate in rates if there.members]
    return max((float(np.ptp(values)) for values in by_rate), default=0.0)


def _drift(known: Sequence[Group], reference: JointDistribution, confidence: float) -> Frozen[str, Drift | None]:
    fitted = {member.key: member for member in (*reference.members, *reference.one_sided) if member.total > 0}
    there = [m for m in known if m.total > 0]
    compared = sum(m.key in fitted for m in there)
    return Frozen(
        {m.key: drift_of(m, fitted[m.key], confidence, groups=compared) if m.key in fitted else None for m in there}
    )


def _reviewed(known: Sequence[Group], policy: Policy, confidence: float) -> Mapping[str, Mapping[str, Estimate]]:
    """The shares of each group that are reviewed, with their intervals."""
    critical = critical_value(confidence)
    shares = {}
    for member in known:
        treatment = policy.treatments[member.key]
        assert isinstance(treatment, Reviewing)  # noqa: S101 who asks has looked
        outcomes = outcomes_of(member, treatment)
        sides = {"everybody": outcomes.everybody, "negatives": outcomes.negatives, "positives": outcomes.positives}
        shares[member.key] = Frozen(
            {
                who: mean_interval(side.sample(treatment.reviewed(treatment.scale.own(side.scores))), critical)
                for who, side in sides.items()
            }
        )
    return Frozen(shares)


def _changes(member: Group, after: Treatment, before: Treatment, confidence: float) -> Mapping[str, Estimate]:
    """What a change of curves does to a group's rates, from the change of each person's odds."""
    samples = outcomes_of(member, after).changes(outcomes_of(member, before))
    critical = critical_value(confidence)
    return Frozen({rate: mean_interval(sample, critical) for rate, sample in samples.items()})
