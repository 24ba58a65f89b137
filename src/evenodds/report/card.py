"""For those who check: parameters, limits, the model card and the fingerprints."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from evenodds.errors import OptionError
from evenodds.evaluation.step import beyond_the_scores
from evenodds.model.curves import Curve
from evenodds.model.description import kind_of
from evenodds.model.storage import written
from evenodds.model.weaknesses import SMALL_GROUP, weaknesses
from evenodds.report.document import Block, Bullets, Cell, Code, Column, Kind, Table, Text, shown, table_of
from evenodds.report.subject import Subject, by_chance, listed
from evenodds.showing import people_text
from evenodds.version import __version__

__all__ = ["card", "fingerprints", "limits", "parameters"]

_MATERIAL = 1e-4  # a gap to the proven best that a reader should know of
_STEEPER = 1.2  # times the proven least slope
_UNKNOWN = "Not stated."
_STATED_BY_THE_OWNER = (
    "Owner", "Date", "Intended use", "Out of scope", "A yes means", "A positive is", "The scoring model",
    "Where the data come from",
)  # fmt: skip
_WHEN_NOT = (
    "Odds are random decisions. Where a decision must not be left to chance, use thresholds, and say what that costs.",
    "Equal rates hold on the people of the fit. On others they differ by chance, and more so in small groups: audit.",
    'An audit that says "undecided" has not said "fair".',
    "A label that is itself biased makes odds that are biased. No post-processing repairs that.",
    "Groups are treated by curves of their own. In some places and domains the law forbids that.",
    "Equal rates are one notion of fairness among several that cannot all hold at once, and not always the right one.",
    "The policy needs each person's group when it decides. Who does not know it cannot use it.",
)


def parameters(subject: Subject) -> list[Block]:
    """Each group's curve in numbers."""
    policy, certificate = subject.policy, subject.policy.certificate
    rows: list[dict[str, Cell]] = []
    for group, curve in policy.curves.items():
        lo, hi = sorted(float(odds) for odds in curve(np.array(policy.score_range)))
        bounds: dict[str, Cell] = {
            "no curve below": certificate.slope_bound[group], "least odds": lo, "greatest odds": hi
        }  # fmt: skip
        rows.append({"group": group, "curve": kind_of(curve), **_figures(curve), **bounds})
        if policy.review is not None:
            upper = policy.review_curves[group]
            lo, hi = sorted(float(odds) for odds in upper(np.array(policy.score_range)))
            more = {"no curve below": None, "least odds": lo, "greatest odds": hi}
            rows.append({"group": group, "curve": "of a yes or a review", **_figures(upper), **more})
        rows += [
            {
                "group": group,
                "curve": f"its part with a share of {share:.6g}",
                **_figures(part),
                **dict.fromkeys(bounds),
            }
            for share, part in curve.parts
        ]
    kinds: dict[str, Kind] = {"largest slope": "slope", "no curve below": "slope", "knot": "number",
                              "odds are 0 until (t0)": "number", "odds are 1 from (t1)": "number"}  # fmt: skip
    note = (
        "p is the mean of the odds between the thresholds. No rising curve with the same rates has a largest "
        "slope below what stands in the column for that. The least and greatest odds are those within the score range."
    )
    if subject.mixed:
        note += f" {subject.why_mixed(*subject.mixed)} Below a mix stand its parts, with the share of the odds of each."
    blocks: list[Block] = [table_of("The curves in numbers", rows, kinds, note)]
    beyond = {group: beyond_the_scores(curve, policy.score_range) for group, curve in policy.curves.items()}
    outside = tuple(f"The curve of {group} {where}." for group, where in beyond.items() if where)
    if outside:
        why = (
            "Some thresholds lie where nobody scores: a curve that is gentle enough may be wider than the scores. "
            "People get the part of it that lies among these. keep_individual_odds keeps all thresholds inside."
        )
        blocks += [Text(why), Bullets(outside)]
    return blocks


def _figures(curve: Curve) -> dict[str, Cell]:
    return {
        "odds are 0 until (t0)": None if curve.is_constant else curve.t0,
        "odds are 1 from (t1)": None if curve.is_constant else curve.t1,
        "p": curve.p,
        "knot": curve.knot,
        "largest slope": curve.lipschitz,
    }


def limits(subject: Subject) -> list[Block]:
    """What this policy cannot do, and what none of its kind can."""
    policy, certificate = subject.policy, subject.policy.certificate
    here = weaknesses(subject.known.members)
    if not subject.is_of_the_fit:
        here += [
            f"Group {group!r} was fitted on few people: {negatives:g} negatives and {positives:g} positives."
            for group, (negatives, positives, *_) in zip(certificate.groups, certificate.people, strict=False)
            if min(negatives, positives) < SMALL_GROUP
        ]
    steeper = [
        f"{group} ({slope:.3g}, at least {bound:.3g})"
        for group, slope, bound in zip(certificate.groups, certificate.slopes, certificate.slope_bounds, strict=True)
        if math.isfinite(slope) and slope > _STEEPER * bound > 0
    ]
    if steeper and not certificate.few:
        here.append(
            f"A rising curve with the same rates might be gentler than that of {'; '.join(steeper)}: on jagged data "
            "the family cannot follow. Look at curve='optimal'."
        )
    here += subject.audit.open_ends
    if subject.jumping:
        here.append(f"The odds of {listed(subject.jumping)} jump: individual fairness ends there.")
    if subject.audit.individual_odds is not None and not subject.audit.individual_odds.holds:
        here.append(str(subject.audit.individual_odds))
    if certificate.gap > _MATERIAL:
        here.append(
            f"It is not proven that the policy is the best of its kind: up to {certificate.gap:.2g} of "
            f"{certificate.objective_name} may be missed."
        )
    if certificate.resolution:
        here.append(
            f"Scores were rounded to {certificate.resolution:g} before the fit; the certificate bounds what that costs."
        )
    if by_chance(subject.audit) > 0:
        chance = shown(by_chance(subject.audit), "percent")
        here.append(f"{chance} of these people are decided by chance; they will ask why, and deserve an answer.")
    if policy.orientation == "negative":
        here.append("A higher score speaks against a yes here: do not apply the policy to scores that point upward.")
    return [
        Text("Of this policy in particular:"),
        Bullets(tuple(here)),
        Text("Of every policy of this kind:"),
        Bullets(_WHEN_NOT),
    ]


def card(subject: Subject, about: Mapping[str, str]) -> list[Block]:
    """The model card: what is known, what the owner states, and what nobody has stated."""
    policy, certificate, audit = subject.policy, subject.policy.certificate, subject.audit
    people = sum(g.people for g in audit.by_group)
    lo, hi = policy.score_range
    known = {
        "What it is": f"A post-processing policy: odds of a yes from a score ({lo:.10g} to {hi:.10g}) and a group, by "
        f"{subject.family} curves.",
        "Made with": f"evenodds {__version__}",
        "Groups": f"{len(policy.groups)}: {listed(policy.groups)}",
        "Fairness": f"{certificate.constraints}, tolerance {certificate.tolerance:g}",
        "Trade-offs": f"{certificate.objective_name} {certificate.objective:.6g} on the people of the fit, "
        f"{certificate.loss:.2g} worse than the best of all rising curves without a slope budget, and at most "
        f"{certificate.gap:.2g} worse than any rising curves within it",
        "Measured on": f"{people_text(people)} people, {subject.whose}",
        "Measures": "false and true positive rate, selection rate, accuracy, each group by itself; the largest "
        "differences between groups; the largest slope of the odds",
        "Chance": f"decides for {shown(by_chance(subject.audit), 'percent')} of these people",
        "Ethical considerations": "see the limits above; whether equal rates are the right aim is not settled here",
    }
    taken = [name for name in about if name in known]
    if taken:
        msg = f"about= has {taken[0]!r}, which the report finds out itself. Hint: give it another name."
        raise OptionError(msg)
    stated = dict.fromkeys(_STATED_BY_THE_OWNER, _UNKNOWN) | dict(about)
    rows = tuple((name, text) for name, text in (known | stated).items())
    note = "What is not stated must come from whoever owns the policy: the fields of about= fill it in."
    missing = any(text == _UNKNOWN for text in stated.values())
    return [Table("", (Column("field"), Column("content")), rows, note if missing else "")]


def fingerprints(subject: Subject) -> list[Block]:
    """Which policy and which people this was, and the policy itself."""
    document = subject.policy.document
    rows = (
        ("policy", document["fingerprint"], "SHA-256 of the policy file without its fingerprint, in canonical form"),
        ("people", subject.joint.fingerprint, "SHA-256 of the counts by group, score and label that were measured"),
        ("program", f"evenodds {__version__}", "the same version, policy and people make the same report"),
    )
    return [
        Table("", (Column("of"), Column("fingerprint"), Column("what it is")), rows),
        Text("A policy file that was changed since it was saved is refused when it is read. The policy itself:"),
        Code("policy.json", written(document)),
    ]
