"""What an audit says, in words: a table of the groups, how far they are apart, drift, and the verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evenodds.evaluation.drift import farthest_moved
from evenodds.evaluation.intervals import Estimate
from evenodds.model.goals import constraint_of
from evenodds.showing import aligned, people_text

if TYPE_CHECKING:
    from evenodds.evaluation.audit import Audit

__all__ = ["BETWEEN", "text_of"]

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
"""How every figure of all groups together is called."""
_AMONG = {"fpr": "among negatives", "tpr": "among positives", "selection_rate": "among all"}
_MANY = 20  # groups that are listed one by one


def text_of(audit: Audit) -> str:
    """The whole audit."""
    people = sum(g.people for g in audit.by_group)
    lines = [
        f"Audit of {len(audit.by_group)} groups, {people_text(people)} people; intervals of {audit.confidence:.4g}.",
        *_table(audit),
        *_between(audit),
    ]
    if audit.individual_odds is not None:
        lines.append(str(audit.individual_odds))
    if audit.reviewed is not None:
        lines += [
            "Rates are those in the end, if reviewers say yes as often as was assumed. Reviewed, of everybody, of",
            "negatives and of positives:",
            *(f"  {group}: {', '.join(map(_short, shares.values()))}" for group, shares in audit.reviewed.items()),
        ]
    for column, marginal in audit.marginals.items():
        rates = ", ".join(f"{g.group} {g.fpr:.3f} and {g.tpr:.3f}" for g in marginal.by_group)
        lines.append(f"By {column} alone, FPR and TPR: {rates}; difference {marginal.equalized_odds_difference}.")
    lines += _drift(audit)
    lines += [f"Open: {text}" for text in audit.open_ends]
    if audit.verdict is not None:
        lines.append(f"Verdict: {audit.verdict}. {' '.join(audit.verdict.reasons)}")
    return "\n".join(lines)


def _table(audit: Audit) -> list[str]:
    """A line for each group; the AUC and the slope only where there are scores, and not decisions alone."""
    scored = audit.individual_odds is not None
    head = ["group", "people", "positives", "FPR", "TPR", "accuracy", "selected", "precision", "by chance"]
    head += ["AUC", "slope"] if scored else []
    rows = [
        (
            g.group,
            people_text(g.people),
            people_text(g.positives),
            *(_short(e) for e in (g.fpr, g.tpr, g.accuracy, g.selection_rate, g.precision, g.randomized)),
            *((_short(g.auc), "jump" if math.isinf(g.lipschitz) else f"{g.lipschitz:.4g}") if scored else ()),
        )
        for g in audit.by_group[:_MANY]
    ]
    lines = aligned([head, *rows], [True, *[False] * (len(head) - 1)])
    if len(audit.by_group) > _MANY:
        lines.append(f"  ... and {len(audit.by_group) - _MANY} groups more")
    return lines


def _between(audit: Audit) -> list[str]:
    lines = ["Between groups, all pairs at once:"]
    for name, words in BETWEEN.items():
        before = f"   before {getattr(audit.before, name)}" if audit.before else ""
        lines.append(f"  {words}: {getattr(audit, name)}{before}")
    if audit.by_group:
        low, high = audit.extremes("selection_rate")
        lines.append(f"  most and least often selected: {high} and {low}")
    return lines


def _drift(audit: Audit) -> list[str]:
    drift = audit.drift or {}
    changes = {group: own.changes for group, own in drift.items() if own}
    lines = [f"Drift of group {group!r} since the fit: {', and '.join(own)}." for group, own in changes.items() if own]
    lines += [f"Drift of group {group!r}: the people of the fit lack it." for group in drift if group not in changes]
    if audit.drift_bound is None:
        return lines
    rate, distances = farthest_moved(drift, constraint_of(audit.constraints, 0.0).rates)
    difference = audit.constraints.replace("rate_parity", "rate").replace("_", " ")
    moved = " and ".join(f"{distance:.4f} of {group!r}" for group, distance in distances.items())
    bound = (
        f"On these people the {difference} difference cannot exceed {audit.drift_bound:.4f}: the tolerance of the fit, "
        "or how far the people of the reference are apart if that is more, and how far scores have moved since "
        f"{_AMONG[rate]} (the two largest Kolmogorov-Smirnov distances: {moved})."
    )
    return [*lines, bound]


def _short(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "not defined"
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"
