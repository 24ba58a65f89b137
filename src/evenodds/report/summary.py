"""The whole in a few numbers and sentences: what everybody reads first."""

from __future__ import annotations

import math

import numpy as np

from evenodds.evaluation.audit import Audit
from evenodds.evaluation.auditing import doubts
from evenodds.evaluation.step import step_of
from evenodds.model.goals import constraint_of
from evenodds.report.document import Block, Cell, Column, KeyFigure, KeyFigures, Table, Text, shown
from evenodds.report.subject import Subject, by_chance, listed
from evenodds.showing import round_number

__all__ = ["in_short"]

_CLIFF = 0.25  # odds that a hundredth of the scores may part people by


def in_short(subject: Subject) -> list[Block]:
    """The whole in a few numbers and sentences."""
    policy, new, old = subject.policy, subject.audit, subject.audit_before
    certificate = policy.certificate
    steep = policy.steepest
    slope = policy.treatments[steep].lipschitz
    was = max(curve.lipschitz for curve in subject.earlier.values())
    step = step_of(policy)
    now, then = (_spread(one, certificate.constraints) for one in (new, old))
    chance, chance_before = (by_chance(one) for one in (new, old))
    old_accuracy = _percent(old.accuracy.value)
    verdict = subject.verdict
    tile = [] if verdict is None else [KeyFigure("verdict", str(verdict), f"at a tolerance of {subject.tolerance:g}")]
    figures = KeyFigures(
        (
            *tile,
            KeyFigure(
                "largest difference between groups, percentage points", _hundredths(now), f"before: {_hundredths(then)}"
            ),
            KeyFigure("accuracy", _percent(new.accuracy.value), f"before: {old_accuracy}"),
            KeyFigure(
                f"steepest odds, {step.each}",
                shown(_within_one(slope * step.size), "slope"),
                f"group {steep}; before: {shown(_within_one(was * step.size), 'slope')}",
            ),
            KeyFigure("people decided by chance", _percent(chance), f"before: {_percent(chance_before)}"),
        )
    )
    n = len(policy.groups)
    each = f"a curve for each of {n} groups: {listed(policy.groups)}" if n > 1 else f"a curve for {policy.groups[0]}"
    sentences = [
        f"This policy turns a score into the odds of a yes, with {each}.",
        f"Odds here are the chance of a yes, from 0 to 1. A {subject.better_score} score never means lower odds.",
        _promise(subject),
        _gentleness(subject, slope, steep),
        *([_mixed(subject)] if subject.mixed else []),
        *([_in_the_end(subject)] if policy.review else []),
        _chance(new, chance),
        f"Before means {subject.before}. With it the groups differ by {_points(then)}.",
        _yeses(new, old),
        *_prices(subject),
    ]
    sentences[:0] = doubts(policy, subject.joint, new)
    if verdict is not None:
        sentences.insert(0, f"Verdict at a tolerance of {subject.tolerance:g}: {verdict}. {' '.join(verdict.reasons)}")
    if subject.is_of_the_fit:
        sentences.append(
            "All figures are measured on the people that the policy was fitted on. On others they will differ by "
            "chance: measure it on fresh people before it is relied upon."
        )
    else:
        sentences.append(
            "All figures are measured on people other than those of the fit, so the groups may differ by more than the "
            "policy's promise; how much of that is chance is said below."
        )
    return [figures, _each_group(subject), *map(Text, sentences)]


def _each_group(subject: Subject) -> Table:
    """What the policy does to each group: told yes, both rates, decided by chance, and the steepest change of odds."""
    new, old = subject.audit, subject.audit_before
    step = step_of(subject.policy)
    rates = {"selection_rate": "told yes", "fpr": "FPR", "tpr": "TPR", "randomized": "by chance"}
    columns = [Column("group"), Column("people", "count")]
    for name in rates.values():
        columns += [Column(f"{name} before", "percent"), Column("after", "percent", f"{name} after")]
    columns += [Column("reviewed", "percent")] if new.reviewed else []
    columns.append(Column(f"steepest, {step.each}", "slope"))
    slopes = [_within_one(subject.policy.treatments[g.group].lipschitz * step.size) for g in new.by_group]
    reviews = [new.reviewed[group.group]["everybody"].value for group in new.by_group] if new.reviewed else []
    rows: list[tuple[Cell, ...]] = []
    for i, (now, then) in enumerate(zip(new.by_group, old.by_group, strict=True)):
        both = [getattr(one, rate).value for rate in rates for one in (then, now)]
        rows.append((now.group, now.people, *both, *reviews[i : i + 1], slopes[i]))
    people = sum(g.people for g in new.by_group)
    (yes, wrong, right), (yes_before, wrong_before, right_before) = _everybody(new), _everybody(old)
    both = [yes_before, yes, wrong_before, wrong, right_before, right, by_chance(old), by_chance(new)]
    held = [g.people * share for g, share in zip(new.by_group, reviews, strict=False)]
    rows.append(("everybody", people, *both, *([sum(held) / people] if held else []), max(slopes)))
    note = "FPR and TPR are the false and the true positive rate. By chance: odds that are neither 0 nor 1."
    return Table("What it does to each group", tuple(columns), tuple(rows), note)


def _within_one(change: float) -> float:
    """A change of odds over a step: these cannot change by more than 1, unless they jump."""
    return change if math.isinf(change) else min(change, 1.0)


def _chance(audit: Audit, everybody: float) -> str:
    """How many are decided by chance, and where most."""
    most = max(audit.by_group, key=lambda g: g.randomized.value if g.people > 0 else -1.0)
    where = f", most in {most.group!r}, {_percent(most.randomized.value)}" if len(audit.by_group) > 1 else ""
    if everybody == 0:
        return "Nobody is decided by chance: all odds are 0 or 1."
    return (
        f"For {_percent(everybody)} of the people chance decides{where}: their odds are neither 0 nor 1. What can be "
        "done about that: a tolerance, max_randomized, review, or curve='threshold'."
    )


def _prices(subject: Subject) -> list[str]:
    """What the fit gave up for what, and who sets the point for everybody."""
    prices = subject.policy.certificate.prices
    return [f"On the people of the fit. {' '.join(prices)}"] if prices else []


def _yeses(new: Audit, old: Audit) -> str:
    """What the change means over all groups, which differences between groups do not show."""
    (yes, wrong, right), (yes_before, wrong_before, right_before) = _everybody(new), _everybody(old)
    return (
        f"Over all groups {_percent(yes)} get a yes (before: {_percent(yes_before)}): of the negatives "
        f"{_percent(wrong)} ({_percent(wrong_before)}), of the positives {_percent(right)} ({_percent(right_before)})."
    )


def _everybody(audit: Audit) -> tuple[float, float, float]:
    """Over all groups: the selection rate, the false and the true positive rate."""
    counts = [g.confusion for g in audit.by_group]
    true_yes, wrong_yes = sum(c.true_positives for c in counts), sum(c.false_positives for c in counts)
    negatives = wrong_yes + sum(c.true_negatives for c in counts)
    positives = true_yes + sum(c.false_negatives for c in counts)
    everybody = negatives + positives
    return (
        (true_yes + wrong_yes) / everybody if everybody else math.nan,
        wrong_yes / negatives if negatives else math.nan,
        true_yes / positives if positives else math.nan,
    )


def _promise(subject: Subject) -> str:
    certificate = subject.policy.certificate
    if certificate.target is not None:
        fpr, tpr = _percent(certificate.target.fpr), _percent(certificate.target.tpr)
        return (
            f"On the people of the fit all groups share one false positive rate and one true positive rate: of the "
            f"negatives {fpr} get a yes in every group, and of the positives {tpr}."
        )
    within = f", to within {certificate.tolerance:g}" if certificate.tolerance else ""
    return f"On the people of the fit all groups have {certificate.shared}{within}. {certificate.already}".strip()


def _gentleness(subject: Subject, slope: float, steep: str) -> str:
    lo, hi = subject.policy.score_range
    if lo == hi:
        return "All scores are the same, so nobody is told from another of the same group."
    if slope == 0:
        return "The score does not matter: within each group everybody gets the same odds."
    if subject.jumping:
        return (
            f"In {listed(subject.jumping)} the odds jump: people on the two sides of one score are treated as if "
            "they had nothing in common. A slope budget would smooth that."
        )
    # Where scores lie farther apart than a hundredth of their range, those who stand side by side do.
    step = max(round_number(0.8 * (hi - lo) / 100), _least_distance(subject))
    most = min(1.0, slope * step)
    cliff = "Nobody stands at a cliff" if most <= _CLIFF else "The odds are continuous, but steep"
    return (
        f"{cliff}: two people of one group whose scores are {step:g} apart differ in their odds by at most "
        f"{float(f'{100 * most:.2g}'):g} percentage points (in {steep!r}, the steepest group). A single threshold "
        "parts some of them by 100."
    )


def _least_distance(subject: Subject) -> float:
    """How near two scores of one group come to each other."""
    distances = [float(np.diff(member.scores).min()) for member in subject.known.members if member.scores.size > 1]
    return min(distances, default=0.0)


def _in_the_end(subject: Subject) -> str:
    """What every figure rests on where people review."""
    reviewed = subject.policy.certificate.reviewed
    assert reviewed is not None  # noqa: S101 who asks has looked
    return (
        f"Between a yes and a no some people are reviewed: {_percent(reviewed.everybody)} of those of the fit. All "
        "rates here are those in the end, if reviewers say yes as often as was assumed of them; a yes of the odds and "
        "of the curves is an automatic one."
    )


def _mixed(subject: Subject) -> str:
    same = "" if subject.jumping else ": rising as a single one does, and no steeper than allowed"
    return (
        f"{subject.why_mixed(*subject.mixed)} The odds of {listed(subject.mixed)} are the sum of two such curves, each "
        f"times its share{same}."
    )


def _spread(audit: Audit, constraints: str) -> float:
    """The largest difference between groups in the rates that the policy makes equal."""
    rates = constraint_of(constraints, 0.0).rates
    return float(np.max([audit.spread(rate).value for rate in rates]))  # NaN if one is


def _percent(value: float) -> str:
    return shown(value, "percent")


def _points(value: float) -> str:
    return "an unknown number of points" if math.isnan(value) else f"{_hundredths(value)} percentage points"


def _hundredths(value: float) -> str:
    return "not defined" if math.isnan(value) else f"{100 * value:.1f}"
