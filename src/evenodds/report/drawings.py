"""What is seen rather than read: the curves, the people, what is possible, and whether it holds for others."""

from __future__ import annotations

import math
from dataclasses import replace

from evenodds.evaluation.explain import fixed_to
from evenodds.evaluation.frontier import frontier
from evenodds.evaluation.outcomes import RATE_NAMES
from evenodds.model.families import CONTINUOUS, family_of
from evenodds.model.goals import constraint_of
from evenodds.model.policy import Policy
from evenodds.model.solutions import solutions
from evenodds.pictures.figures import (
    audit_figure,
    curves_figure,
    densities_figure,
    frontier_figure,
    mix_figure,
    roc_figure,
    score_rates_figure,
    solutions_figure,
)
from evenodds.report.document import Block, Bullets, Column, Picture, Table, Text
from evenodds.report.subject import Subject

__all__ = ["curves", "holds", "people", "possible"]

_DRAWN = 6  # groups whose every solution is drawn


def curves(subject: Subject) -> list[Block]:
    """Each group's curve, and every other that would have done."""
    policy = subject.policy
    fixed = _fixed(subject)
    against = {} if fixed is None else {"fixed": fixed}
    band = " Dashed: those of a yes or a review; who is in the band between is reviewed." if policy.review else ""
    caption = f"Each group's odds by score.{band}" + (
        " Dashed: coin flips between two thresholds that reach the same rates." if against else ""
    )
    blocks: list[Block] = [
        subject.picture("curves", curves_figure(policy, joint=subject.known, against=against), caption)
    ]
    for member in subject.known.members[:_DRAWN]:
        curve = policy.curves[member.key]
        family = curve.family
        if curve.parts:
            blocks.append(_mix(subject, member.key, len(blocks)))
            continue
        point = policy.certificate.points[member.key]
        if family not in CONTINUOUS or not subject.is_of_the_fit:
            continue
        alone = replace(subject.known, members=(member,))
        alternatives = solutions(alone, target=(point.fpr, point.tpr), curve=family, p=family_of(family).p_grid()[::2])
        if len(alternatives.paths[member.key]) > 1:
            figure = solutions_figure(alternatives, member.key, chosen=curve, joint=subject.known)
            caption = (
                f"All of these {family} curves give {member.key} the same rates; the criterion chose the bold one."
            )
            blocks.append(subject.picture(f"solutions-{len(blocks)}", figure, caption))
    return blocks


def _mix(subject: Subject, group: str, place: int) -> Picture:
    parts = " and ".join(
        f"{100 * share:.3g} % of the odds of the "
        + (f"threshold {part.t0:.6g}" if part.is_threshold else f"curve from {part.t0:.6g} to {part.t1:.6g}")
        for share, part in subject.policy.curves[group].parts
    )
    caption = f"{subject.why_mixed(group)} The solid line is what people of {group} get: {parts} (dashed)."
    return subject.picture(f"mix-{place}", mix_figure(subject.policy, group, joint=subject.known), caption)


def _fixed(subject: Subject) -> Policy | None:
    """Fixed randomisation to the same rates; None where some group's people are not there or do not allow them."""
    policy, members = subject.policy, {member.key: member for member in subject.known.members}
    if policy.review is not None or set(members) != set(policy.groups):  # it has no reviewers to help it
        return None
    curves = [fixed_to(members[group], policy.certificate.points[group], policy) for group in policy.groups]
    reached = tuple(curve for curve in curves if curve is not None)
    return replace(policy, group_curves=reached) if len(reached) == len(curves) else None


def people(subject: Subject) -> list[Block]:
    """How the groups score, and what a score means in each."""
    return [
        subject.picture(
            "densities",
            densities_figure(subject.known, subject.policy),
            "How each group's scores fall. Below: the scores over which chance decides in each group.",
        ),
        subject.picture(
            "score-rates",
            score_rates_figure(subject.known, confidence=subject.audit.confidence),
            "The share of positives, by score, with intervals. Where the lines differ, the same score stands for "
            "different shares.",
        ),
    ]


def possible(subject: Subject) -> list[Block]:
    """What each group can reach, and what gentleness costs."""
    policy = subject.policy
    if math.isfinite(policy.certificate.max_slope):
        reach = ", what the slope budget leaves in reach (dashed)"
    else:
        reach = ", what mixes of two thresholds reach (dashed)" if subject.mixed else ""
    end = " in the end, after reviews" if policy.review else ""
    blocks: list[Block] = [
        subject.picture(
            "roc",
            roc_figure(subject.known, policy),
            f"Each group's thresholds (solid){reach}, and where the policy lies{end}.",
        )
    ]
    objective = subject.objective
    if subject.is_of_the_fit and objective is not None and policy.review is None:  # which no frontier knows of
        certificate = policy.certificate
        own = {curve.family for curve in policy.group_curves}
        family = own.pop() if len(own) == 1 and own <= set(CONTINUOUS) else "linear"
        price = frontier(
            subject.known,
            constraints=certificate.constraints,
            objective=objective,
            tolerance=certificate.fitted_tolerance,
            curve=family,
        )
        dot = "; the dot is this policy" if 0 < max(certificate.slopes) < math.inf else ""
        caption = f"The best found for {family} curves, by the steepest slope allowed{dot}."
        figure = frontier_figure(price, chosen=policy, people=subject.known.total)
        blocks.append(subject.picture("frontier", figure, caption))
    return blocks


def holds(subject: Subject) -> list[Block]:
    """Each group's rates with their intervals, and the verdict."""
    audit = subject.audit
    blocks: list[Block] = []
    if subject.is_of_the_fit:
        blocks.append(
            Text(
                "These are the people of the fit, so the rates agree by construction; the intervals only say how far "
                "so many others could be off. Only fresh people can tell whether the policy holds."
            )
        )
    else:
        words = (
            "These are people that the policy was not fitted on. The intervals of differences between groups hold for "
            f"all pairs at once, with a confidence of {audit.confidence:g}."
        )
        blocks.append(Text(words))
    if subject.verdict is not None:
        blocks.append(Text(f'At a tolerance of {subject.tolerance:g} the verdict is "{subject.verdict}".'))
        blocks.append(Bullets(subject.verdict.reasons))
    elif audit.open_ends:
        blocks.append(Bullets(tuple(audit.open_ends)))
    rates = ("fpr", "tpr", "selection_rate", "accuracy", "randomized", "auc", "base_rate")
    columns = (Column("group"), *(Column(RATE_NAMES[rate], "percent") for rate in rates))
    rows = tuple((g.group, *(getattr(g, rate) for rate in rates)) for g in audit.by_group)
    blocks.append(Table(f"Each group, with intervals of {audit.confidence:g}", columns, rows))
    for rate in constraint_of(audit.constraints, 0.0).rates:
        figure = audit_figure(audit, rates=(rate,))
        caption = f"Each group's {RATE_NAMES[rate]} with its interval."
        blocks.append(subject.picture(f"audit-{rate.replace('_', '-')}", figure, caption))
    return blocks
