"""What a report is about: a policy, people, and what several sections need of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce

from evenodds.errors import DataError, EvenoddsWarning
from evenodds.evaluation.audit import Audit
from evenodds.evaluation.auditing import audit
from evenodds.evaluation.deciders import curves_before
from evenodds.evaluation.verdict import Verdict
from evenodds.model.goals import Cost, objective_of
from evenodds.model.groups import Group
from evenodds.model.joint import JointDistribution, check_is_joint
from evenodds.model.keys import other_columns
from evenodds.model.one_threshold import best_threshold
from evenodds.model.policy import Policy, check_policy
from evenodds.model.rates import rates_of
from evenodds.model.reviewed import Treatment
from evenodds.pictures.figures import Figure
from evenodds.report.document import Picture

__all__ = ["Subject", "by_chance", "listed", "quietly"]

_SAME = 1e-9  # rates nearer than this are those of the certificate: the people are those of the fit
_LISTED = 8  # groups that are named one by one in a sentence


@dataclass(frozen=True, eq=False)
class Subject:
    """A policy and people, with what several sections need of them."""

    policy: Policy
    joint: JointDistribution
    audit: Audit
    before: str
    """What was in use before, in words."""
    earlier: Mapping[str, Treatment]
    """And as curves."""
    tolerance: float | None
    verdict: Verdict | None
    """At this tolerance."""

    @classmethod
    def of(
        cls,
        policy: Policy,
        joint: JointDistribution,
        *,
        before: Policy | float | None = None,
        tolerance: float | None = None,
        confidence: float = 0.95,
    ) -> Subject:
        """Measure the policy on the people; without `before` it is compared with the best single threshold."""
        check_policy(policy)
        check_is_joint(joint, "The second argument")
        known = tuple(member for member in joint.members if member.key in policy.curves)
        if not known:
            there = ", ".join(repr(key) for key in joint.groups[:_LISTED])
            hint = other_columns(joint.groups, policy.curves)
            msg = (
                f"No group that the policy knows has people of both labels. Known: {policy.known}; got: {there}.{hint}"
            )
            raise DataError(msg)
        if before is None:
            before = _most_accurate_threshold(joint, policy)
            which = "the single threshold for everybody with the best accuracy on these people, since none was given"
        else:
            which = "a single threshold for everybody"
        with quietly():
            measured = audit(policy, joint, confidence=confidence, before=before)
        verdict = None if tolerance is None else measured.passed(tolerance=tolerance)
        if isinstance(before, Policy):
            in_words = f"the policy {before.document['fingerprint'][:12]}"
        else:
            side = "a yes from" if policy.orientation == "positive" else "a yes up to"
            in_words = f"{which} ({side} {before:.10g})"
        earlier = curves_before(before, [g.group for g in measured.by_group], policy.orientation)
        return cls(policy, joint, measured, in_words, earlier, tolerance, verdict)

    @property
    def audit_before(self) -> Audit:
        """The same of what was in use before."""
        assert self.audit.before is not None  # noqa: S101 there is always something to compare with
        return self.audit.before

    @cached_property
    def known(self) -> JointDistribution:
        """The groups that the policy knows and that have both labels: those that can be drawn."""
        members = tuple(member for member in self.joint.members if member.key in self.policy.curves)
        return replace(self.joint, members=members, one_sided=())

    @cached_property
    def is_of_the_fit(self) -> bool:
        """Whether the people are those that the policy was fitted on, as far as counts, mean scores and rates tell.

        They still are where only the fit rounded their scores, which moves a score by half of the resolution at most.
        """
        certificate = self.policy.certificate
        if self.audit.missing or self.audit.unknown or self.audit.one_sided:
            return False
        lo, hi = self.policy.score_range
        rounded = certificate.resolution / 2
        fitted = dict(zip(certificate.groups, certificate.people, strict=False))
        for member in self.known.members:
            asked, seen_point = certificate.points[member.key], rates_of(self.policy.treatments[member.key], member)
            off = max(abs(seen_point.fpr - asked.fpr), abs(seen_point.tpr - asked.tpr))
            if off > _SAME + certificate.rate_error[member.key]:
                return False
            known, seen = fitted.get(member.key), self.joint.figures_of(member)
            rooms = (*(_SAME * abs(weight) for weight in seen[:2]), *[_SAME * max(abs(lo), abs(hi)) + rounded] * 2)
            if known and any(abs(a - b) > room for a, b, room in zip(known, seen, rooms, strict=True)):
                return False
        return True

    @property
    def whose(self) -> str:
        """The people in words."""
        return "the people of the fit" if self.is_of_the_fit else "people other than those of the fit"

    @property
    def better_score(self) -> str:
        """Which score speaks for a yes: a "higher" or a "lower" one."""
        return "higher" if self.policy.orientation == "positive" else "lower"

    @property
    def jumping(self) -> list[str]:
        """Groups whose odds jump."""
        return [group for group, curve in self.policy.curves.items() if math.isinf(curve.lipschitz)]

    @property
    def mixed(self) -> list[str]:
        """Groups whose curve is a mix of two."""
        return [group for group, curve in self.policy.curves.items() if curve.parts]

    def why_mixed(self, *groups: str) -> str:
        """Why groups have two curves in place of one."""
        family = ", ".join(dict.fromkeys(self.policy.curves[group].family for group in groups))
        budget = "" if math.isinf(self.policy.certificate.max_slope) else " within the slope budget"
        whose = f"the point of {groups[0]}" if len(groups) == 1 else f"the points of {listed(groups)}"
        return f"No single {family} curve was found that meets {whose}{budget}; a mix of two does."

    @property
    def family(self) -> str:
        """The policy's curves by name; a group at the edge of what it can reach may have another."""
        if self.policy.certificate.curve == "threshold":
            return "threshold"
        return ", ".join(dict.fromkeys(curve.family for curve in self.policy.group_curves))

    @property
    def objective(self) -> str | Cost | None:
        """The objective as `fit` takes it; None where the policy does not say what the costs were."""
        certificate = self.policy.certificate
        if certificate.objective_name != "cost":
            return certificate.objective_name
        return None if certificate.costs is None else Cost(*certificate.costs)

    def picture(self, name: str, figure: Figure, caption: str) -> Picture:
        """A figure in which every group has the colour that it has in all others."""
        return Picture(name, replace(figure, groups=self.policy.groups) if figure.groups else figure, caption)


def _most_accurate_threshold(joint: JointDistribution, policy: Policy) -> float:
    """The single threshold with the best accuracy for all whom a policy knows, also in groups with one label only."""
    everybody = [member for member in (*joint.members, *joint.one_sided) if member.key in policy.curves]
    pooled = JointDistribution((reduce(Group.with_more, everybody),), joint.orientation)
    return joint.scale.own(best_threshold(pooled, objective_of("accuracy_score", pooled)))


@contextmanager
def quietly() -> Iterator[None]:
    """No warnings of ours: what is doubtful stands in the report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenoddsWarning)
        yield


def by_chance(audit: Audit) -> float:
    """The share of everybody whose odds are neither 0 nor 1."""
    people = [(g.people, g.randomized.value) for g in audit.by_group if g.people > 0]
    return sum(n * value for n, value in people) / sum(n for n, _ in people)


def listed(groups: Sequence[str]) -> str:
    """Groups in a sentence, not more than a person reads; their names may have commas.

    >>> listed(["a", "b"]), listed(["a, x", "b, x"])
    ('a, b', 'a, x; b, x')
    """
    between = "; " if any("," in group for group in groups) else ", "
    more = f" and {len(groups) - _LISTED} more" if len(groups) > _LISTED else ""
    return between.join(groups[:_LISTED]) + more
