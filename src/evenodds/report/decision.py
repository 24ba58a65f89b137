"""What was decided, why, and what changes by it: the sections that everybody reads."""

from __future__ import annotations

import math

import numpy as np

from evenodds.evaluation.audit import BETWEEN, Audit
from evenodds.evaluation.compare import compare
from evenodds.evaluation.outcomes import outcomes_of
from evenodds.evaluation.step import step_of
from evenodds.model.criteria import WHEN_TO_USE
from evenodds.model.goals import constraint_of
from evenodds.model.policy import Policy
from evenodds.report.document import (
    Block,
    Bullets,
    Cell,
    Column,
    KeyFigure,
    KeyFigures,
    Kind,
    Table,
    Text,
    shown,
    table_of,
)
from evenodds.report.subject import Subject, by_chance, listed
from evenodds.showing import round_number

__all__ = ["before_and_after", "decided", "in_short", "reviews"]

_OTHERS = ((0.0, 0.0), (-0.05, 0.05), (-0.1, 0.1), (-0.2, 0.2), (0.1, -0.1), (0.1, 0.1))  # off by so much
_CLIFF = 0.25  # odds that a hundredth of the scores may part people by
_CURVES = {
    "fixed": "one coin flip between two thresholds (Hardt et al.): the odds jump",
    "linear": "two straight lines that meet at a knot",
    "quadratic": "two parabolas that meet at a knot, flat at both thresholds",
    "cubic": "two S-shaped pieces that meet at a knot, smooth everywhere",
    "quartic": "one polynomial without a knot, smooth everywhere",
    "threshold": "one threshold for each group: nobody is decided by chance, and the odds jump",
    "optimal": "a linear program's own rising line, with as many bends as it needs",
}


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
        f"Odds here are the chance of a yes, from 0 to 1. A {_better(policy)} score never means lower odds.",
        _promise(subject),
        _gentleness(subject, slope, steep),
        *([_mixed(subject)] if subject.mixed else []),
        *([_in_the_end(subject)] if policy.review else []),
        _chance(new, chance),
        f"Before means {subject.before}. With it the groups differ by {_points(then)}.",
        _yeses(new, old),
        *_prices(subject),
    ]
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
        columns += [Column(f"{name} before", "percent"), Column("after", "percent")]
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
    told = subject.policy.certificate.prices
    return [f"On the people of the fit. {' '.join(told)}"] if told else []


def _yeses(new: Audit, old: Audit) -> str:
    """What the change means over all groups, which differences between groups do not show."""
    (yes, wrong, right), (yes_before, wrong_before, right_before) = _everybody(new), _everybody(old)
    return (
        f"Over all groups {_percent(yes)} get a yes (before: {_percent(yes_before)}): of those with label 0 "
        f"{_percent(wrong)} ({_percent(wrong_before)}), of those with label 1 {_percent(right)} "
        f"({_percent(right_before)})."
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
            f"On the people of the fit all groups share one false positive rate and one true positive rate: of those "
            f"whose label is 0, {fpr} get a yes in every group, and of those whose label is 1, {tpr}."
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


def reviews(subject: Subject) -> list[Block]:
    """Who is reviewed, and what if reviewers are not as assumed."""
    certificate, shares = subject.policy.certificate, subject.audit.reviewed
    assert certificate.reviewed is not None  # noqa: S101 who asks has looked
    assert shares is not None  # noqa: S101 as above
    review = certificate.reviewed.review
    columns = (Column("group"), *(Column(who, "percent") for who in ("everybody", "negatives", "positives")))
    rows: tuple[tuple[Cell, ...], ...] = tuple((group, *of.values()) for group, of in shares.items())
    fitted = tuple((group, share) for group, share in certificate.reviewed.by_group.items())
    at_the_fit = Table("Shares reviewed at the fit", (Column("group"), Column("reviewed", "percent")), fitted)
    others = [(review.tpr + tpr, review.fpr + fpr) for tpr, fpr in _OTHERS]
    what_if = tuple(
        (f"{tpr:.3g}", f"{fpr:.3g}", certificate.if_reviewers(tpr=tpr, fpr=fpr))
        for tpr, fpr in dict.fromkeys((min(max(tpr, 0.0), 1.0), min(max(fpr, 0.0), 1.0)) for tpr, fpr in others)
    )
    return [
        *map(Text, str(review).splitlines()),
        Table("Shares reviewed, with intervals", columns, rows, f"Measured on {subject.whose}."),
        *(() if subject.is_of_the_fit else (at_the_fit,)),
        Table(
            "What if reviewers are not as assumed",
            (Column("yes to positives"), Column("yes to negatives"), Column("the groups then differ by", "rate")),
            what_if,
            "The largest difference between two groups in a constrained rate, on the people of the fit, if reviewers "
            "treat all groups alike; certificate.if_reviewers takes rates by group too.",
        ),
    ]


def _mixed(subject: Subject) -> str:
    same = "" if subject.jumping else ": rising as a single one does, and no steeper than allowed"
    return (
        f"{subject.why_mixed(*subject.mixed)} The odds of {listed(subject.mixed)} are the sum of two such curves, each "
        f"times its share{same}."
    )


def decided(subject: Subject) -> list[Block]:
    """What was asked for, and what is proven of the answer."""
    policy, certificate = subject.policy, subject.policy.certificate
    budget, why = _budget(subject)
    if certificate.target_given:
        point = "named by whoever fitted the policy"
    else:
        point = f"chosen, as the best found for {certificate.objective_name} within the budget; see the certificate"
    objective = certificate.objective_name
    if certificate.costs is not None:
        objective += f": a wrong yes {certificate.costs[0]:g}, a wrong no {certificate.costs[1]:g}"
    where = f"FPR {certificate.target.fpr:.6f}, TPR {certificate.target.tpr:.6f}" if certificate.target else "by group"
    criterion = certificate.criterion
    lo, hi = policy.score_range
    hard = certificate.curve == "threshold"
    families = [_CURVES["threshold" if hard else curve.family] for curve in policy.group_curves]
    if subject.mixed:
        families.append(f"in {listed(subject.mixed)} a mix of two such curves")
    rows = (
        ("constraint", certificate.constraints, f"every group has {certificate.shared}"),
        (
            "tolerance",
            f"{certificate.tolerance:g}",
            certificate.promise_to_new_people or "the largest difference allowed on the people of the fit",
        ),
        ("objective", objective, "what the policy is as good at as the rest allows"),
        ("rates", where, point),
        ("slope budget", budget, why),
        *([("chance", certificate.few, "the largest share of people decided by chance")] if certificate.few else []),
        *_places(certificate.selection_rate),
        ("curves", subject.family, "; ".join(dict.fromkeys(families))),
        ("criterion", criterion or "not recorded", f"meant {WHEN_TO_USE[criterion]}" if criterion else ""),
        (
            "individual odds",
            "kept" if certificate.keep_individual_odds else "not asked for",
            "whether every chance that one group can get had to be open to all: thresholds inside the scores",
        ),
        ("score", f"{lo:.10g} to {hi:.10g}", f"a {_better(policy)} score speaks for a yes"),
    )
    asked = Table("What was asked for", (Column("what"), Column("choice"), Column("meaning")), rows)
    return [asked, Text("The certificate says what is proven of the policy, and what is not:"),
            Bullets(tuple(str(certificate).splitlines()))]  # fmt: skip


def _places(rate: float | None) -> list[tuple[str, str, str]]:
    return [] if rate is None else [("places", f"{rate:g} of everybody", "the share of yeses over all groups together")]


def _budget(subject: Subject) -> tuple[str, str]:
    certificate = subject.policy.certificate
    if math.isinf(certificate.max_slope):
        return "none", "a group may keep a hard threshold"
    step, slope = step_of(subject.policy), certificate.max_slope
    size = f"{slope:.6g} a point" if step.is_point else f"{slope:.6g}, so {slope * step.size:.3g} for {step.each}"
    if certificate.max_loss is not None:
        return (
            size,
            f"the gentlest found that loses at most {certificate.max_loss:g} of the best that is possible without one",
        )
    return size, "given: no group's odds rise faster"


def before_and_after(subject: Subject) -> list[Block]:
    """What changes, for which group, and what else could have been done."""
    new, old = subject.audit, subject.audit_before
    accuracy = [
        (now.group, now.people, then.accuracy.value, now.accuracy.value)
        for now, then in zip(new.by_group, old.by_group, strict=True)
    ]
    people = sum(g.people for g in new.by_group)
    accuracy.append(("everybody", people, old.accuracy.value, new.accuracy.value))
    between = tuple(
        (words, getattr(old, name), getattr(new, name))
        for name, words in BETWEEN.items()
        if name != "false_negative_rate_difference"  # which is that of the true positive rate
    )
    blocks: list[Block] = [
        Text(f"Before is {subject.before}; after is this policy. Both are measured on the same people."),
        Table(
            "How often each group is decided rightly",
            (
                Column("group"),
                Column("people", "count"),
                Column("accuracy before", "percent"),
                Column("after", "percent"),
            ),
            tuple(accuracy),
            "What else changes for each group stands at the beginning of the report.",
        ),
        Table(
            f"Between groups, with {100 * new.confidence:g} % intervals",
            (Column("figure"), Column("before", "rate"), Column("after", "rate")),
            between,
        ),
        _affected(subject),
    ]
    if subject.is_of_the_fit:
        blocks += _alternatives(subject)
    return blocks


def _affected(subject: Subject) -> Table:
    """Who gains and who loses: the expected numbers of yeses that come and go, of each label."""
    rows: list[tuple[Cell, ...]] = []
    for member in (*subject.joint.members, *subject.joint.one_sided):
        if member.key in subject.earlier and member.total > 0:
            now, then = (
                outcomes_of(member, curves[member.key]) for curves in (subject.policy.treatments, subject.earlier)
            )
            moved = [
                float(after.weights @ np.maximum(sign * (after.odds - before.odds), 0))
                for after, before in ((now.positives, then.positives), (now.negatives, then.negatives))
                for sign in (1, -1)
            ]
            change = (moved[0] + moved[2] - moved[1] - moved[3]) / member.total
            rows.append((member.key, member.total, *moved, change))
    columns = (Column("group"), Column("people", "count"),
               Column("yeses gained, label 1", "count"), Column("lost, label 1", "count"),
               Column("yeses gained, label 0", "count"), Column("lost, label 0", "count"),
               Column("change of the selection rate, points", "points"))  # fmt: skip
    note = "Expected yeses gained and lost against before, summed over people, by what their label turned out to be."
    return Table("Whom the change affects", columns, tuple(rows), note)


def _alternatives(subject: Subject) -> list[Block]:
    """Other ways to decide, on the people of the fit, where all of them had the same chance to be good."""
    certificate = subject.policy.certificate
    objective = subject.objective
    if objective is None:
        return []
    comparison = compare(
        subject.known,
        curves=["fixed"],
        constraints=certificate.constraints,
        objective=objective,
        tolerance=certificate.fitted_tolerance,
        selection_rate=certificate.selection_rate,
        policies={"this policy": subject.policy},
    )
    names = {"one threshold": "one threshold for all", "group thresholds": "a threshold for each group",
             "fixed": "coin flips between thresholds"}  # fmt: skip
    rows: list[dict[str, Cell]] = [
        {
            "way to decide": names.get(row.policy, row.policy),
            comparison.objective_name: row.objective,
            "equalized odds difference": row.equalized_odds_difference,
            "largest slope": row.largest_slope,
            "decided by chance": row.randomized,
            "individual odds hold": row.individual_odds,
        }
        for row in comparison.rows
    ]
    note = (
        "The best of each kind for the same constraint and objective. Individual odds hold if every chance that one "
        "group can get is open to each other group; hard thresholds offer all groups the same two, 0 and 1."
    )
    kinds: dict[str, Kind] = {
        comparison.objective_name: "rate",
        "equalized odds difference": "rate",
        "largest slope": "slope",
        "decided by chance": "percent",
    }
    return [table_of("What else could be done", rows, kinds, note)]


# -- words and numbers -------------------------------------------------------------------------------------------------


def _percent(value: float) -> str:
    return shown(value, "percent")


def _points(value: float) -> str:
    return "an unknown number of points" if math.isnan(value) else f"{_hundredths(value)} percentage points"


def _hundredths(value: float) -> str:
    return "not defined" if math.isnan(value) else f"{100 * value:.1f}"


def _better(policy: Policy) -> str:
    return "higher" if policy.orientation == "positive" else "lower"


def _spread(audit: Audit, constraints: str) -> float:
    """The largest difference between groups in the rates that the policy makes equal."""
    rates = constraint_of(constraints, 0.0).rates
    return float(np.max([audit.spread(rate).value for rate in rates]))  # NaN if one is
