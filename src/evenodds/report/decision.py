"""What was decided and why, who is reviewed, and what changes by it for whom."""

from __future__ import annotations

import math

import numpy as np

from evenodds.evaluation.audit_text import BETWEEN
from evenodds.evaluation.compare import compare
from evenodds.evaluation.outcomes import outcomes_of
from evenodds.evaluation.step import step_of
from evenodds.model.criteria import WHEN_TO_USE
from evenodds.report.document import Block, Bullets, Cell, Column, Kind, Table, Text, table_of
from evenodds.report.subject import Subject, listed

__all__ = ["before_and_after", "decided", "reviews"]

_OTHERS = ((0.0, 0.0), (-0.05, 0.05), (-0.1, 0.1), (-0.2, 0.2), (0.1, -0.1), (0.1, 0.1))  # off by so much
_CURVES = {
    "fixed": "one coin flip between two thresholds (Hardt et al.): the odds jump",
    "linear": "two straight lines that meet at a knot",
    "quadratic": "two parabolas that meet at a knot, flat at both thresholds",
    "cubic": "two S-shaped pieces that meet at a knot, smooth everywhere",
    "quartic": "one polynomial without a knot, smooth everywhere",
    "threshold": "one threshold for each group: nobody is decided by chance, and the odds jump",
    "optimal": "a linear program's own rising line, with as many bends as it needs",
}


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
        ("score", f"{lo:.10g} to {hi:.10g}", f"a {subject.better_score} score speaks for a yes"),
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
                Column("after", "percent", "accuracy after"),
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
               Column("yeses gained, positives", "count"), Column("lost, positives", "count", "yeses lost, positives"),
               Column("yeses gained, negatives", "count"), Column("lost, negatives", "count", "yeses lost, negatives"),
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
