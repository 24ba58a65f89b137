"""CreditRisk: the paper's first case study (Small et al., FAccT 2024, Section 5.1, Tables 1 and 3)."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from evenodds import datasets
from evenodds.evaluation.metrics import IndividualOdds, individual_odds
from evenodds.model.curves import Curve
from evenodds.model.families import PUBLISHED
from evenodds.model.fit import fit
from evenodds.model.groups import Group
from evenodds.model.policy import Policy
from evenodds.model.rates import rates_of
from evenodds.model.roc import Point
from evenodds.model.solutions import solutions
from evenodds.model.target import Baseline, baseline
from evenodds.pictures.figures import Figure, curves_figure, families_figure, solutions_figure
from evenodds.studies.choices import Budget, Choice, budgets, choices
from evenodds.studies.study import figures_of, published_curves

__all__ = ["Applicant", "CreditRiskStudy", "Row", "credit_risk"]

_SLOPES = (math.inf, 1.0, 0.5, 0.2, 0.1, 0.05, 0.03)
# Table 3 prints p of the quartic curves with three digits; these give the figures of Table 1.
_UNROUNDED_P = {("quartic", "white"): 0.4684, ("quartic", "asian"): 0.5464}


@dataclass(frozen=True)
class Row:
    """One curve of one group: its parameters and what they do on the data."""

    curve: str
    group: str
    t0: float
    t1: float
    p: float
    accuracy: float
    equalized_odds: float
    """The larger of the distances of FPR and TPR from the target."""
    lipschitz: float
    at_t0: float | None = None
    """Odds of the people exactly at t0, where a fixed curve treats them apart."""
    residual: float | None = None
    """The same distance, for our own solutions."""
    printed_accuracy: float | None = None
    printed_equalized_odds: float | None = None
    printed_lipschitz: float | None = None


@dataclass(frozen=True)
class Applicant:
    """A white applicant of the paper's introduction, and the odds that each policy gives."""

    score: float
    default_rate: float
    """The share of white people with this score who default."""
    published_fixed: float
    published_linear: float
    published_quadratic: float
    published_cubic: float
    published_quartic: float
    exact_fixed: float
    exact_linear: float
    budget: float
    """With a slope budget for every group, at the defaults."""


@dataclass(frozen=True)
class CreditRiskStudy:
    """The published solutions evaluated on the data, and exact ones beside them.

    See Also
    --------
    studies.credit_risk : Makes one.
    studies.story_of, studies.write_study : The same to be read.

    Examples
    --------
    >>> import evenodds as eo
    >>> eo.studies.CreditRiskStudy.title
    "CreditRisk: the paper's first study, recomputed"
    """

    baseline: Baseline
    """The group that sets the target by the paper's rule, its threshold, and the point."""
    published: tuple[Row, ...]
    """The published curves, evaluated on the data."""
    exact: tuple[Row, ...]
    """Curves of the same families that meet the target exactly."""
    individual_odds: dict[str, IndividualOdds]
    """By family: whether every odds value of one group is open to each other group, under the exact curves."""
    policy: Policy
    """Linear curves at the defaults: a slope budget for every group."""
    applicants: tuple[Applicant, ...]
    """The applicants of the paper's introduction, and the odds that each policy gives them."""
    budgets: tuple[Budget, ...]
    """What each slope budget costs."""
    criteria: tuple[Choice, ...]
    """What each criterion chooses."""
    seconds: float
    """How long the study took."""

    title: ClassVar[str] = "CreditRisk: the paper's first study, recomputed"
    lead: ClassVar[str] = (
        "Credit scores of four groups: the published solutions, exact ones, and slope budgets beside them."
    )

    @property
    def target(self) -> Point:
        """The point that all groups meet: the baseline group's best single threshold."""
        return self.baseline.point

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The study's tables as plain rows."""
        return {
            "published": [asdict(row) for row in self.published],
            "exact": [asdict(row) for row in self.exact],
            "individual_odds": [{"curve": curve, **asdict(verdict)} for curve, verdict in self.individual_odds.items()],
            "applicants": [asdict(row) for row in self.applicants],
            "budgets": [asdict(row) for row in self.budgets],
            "criteria": [asdict(row) for row in self.criteria],
        }

    @property
    def figures(self) -> dict[str, Figure]:
        """The study's figures, as data."""
        joint = datasets.credit_risk()
        exact = fit(joint, target="baseline")
        fixed = fit(joint, curve="fixed", target=self.target)
        paths = solutions(joint, target=self.target, curve="linear")
        more = {
            "curves_at_the_papers_target": curves_figure(exact, joint=joint, against={"fixed": fixed}),
            **{f"families_{group}": self._families(group, joint.score_range) for group in ("white", "black", "asian")},
            "solutions": solutions_figure(paths, "white", chosen=exact.curves["white"], joint=joint),
        }
        return figures_of(self.policy, joint, more)

    def _families(self, group: str, score_range: tuple[float, float]) -> Figure:
        """All families for one group, as in the paper, but exact and the gentlest."""
        curves = {r.curve: Curve(r.curve, r.t0, r.t1, r.p, at_t0=r.at_t0) for r in self.exact if r.group == group}
        return families_figure(f"Every family for {group}, at the paper's target", curves, score_range)

    def as_json(self) -> dict[str, Any]:
        """Everything as plain JSON: infinity is null beside `lipschitz_infinite: true`."""
        tables = self.tables
        for name in ("published", "exact"):
            tables[name] = [_plain(row) for row in tables[name]]
        for row in tables["exact"]:
            for printed in ("printed_accuracy", "printed_equalized_odds"):
                del row[printed]
        for row in tables["published"]:
            del row["residual"], row["at_t0"]
        for name in ("budgets", "criteria"):
            tables[name] = [{key: _finite(value) for key, value in row.items()} for row in tables[name]]
        return {"target": asdict(self.target), **tables, "seconds": self.seconds}


def credit_risk() -> CreditRiskStudy:
    """Recompute the CreditRisk study.

    Returns
    -------
    CreditRiskStudy
        Its `tables` and `figures`, as data.

    See Also
    --------
    studies.write_study : The study as a folder of tables, pictures and a page.
    studies.story_of : What it says, section by section.
    datasets.credit_risk : The people.

    Examples
    --------
    >>> study = credit_risk()
    >>> round(study.target.fpr, 6), round(study.target.tpr, 6)
    (0.192685, 0.829732)
    >>> max(row.residual for row in study.exact) < 1e-12
    True
    >>> {row.group: round(row.lipschitz, 4) for row in study.exact if row.curve == "linear"}
    {'asian': 0.0548, 'black': 0.078, 'hispanic': inf, 'white': 0.0232}
    """
    start = time.perf_counter()
    joint = datasets.credit_risk()
    members = {member.key: member for member in joint.members}
    base = baseline(joint)
    published = tuple(
        _published(curve, row, members[row["group"]], base.point)
        for curve, row in published_curves("credit_risk_published.csv", _UNROUNDED_P)
    )
    printed = {(row.curve, row.group): row.printed_lipschitz for row in published}
    policies = {family: fit(joint, curve=family, target="baseline") for family in PUBLISHED}
    exact = tuple(
        _exact(curve, members[group], base.point, printed[family, group])
        for family, policy in policies.items()
        for group, curve in policy.curves.items()
    )
    verdicts = {family: individual_odds(policy.curves, joint.score_range) for family, policy in policies.items()}
    policy = fit(joint)
    return CreditRiskStudy(
        base,
        published,
        exact,
        verdicts,
        policy,
        tuple(_applicant(score, published, policies, policy, members["white"]) for score in (24.5, 25.0, 49.5)),
        budgets(joint, _SLOPES),
        choices(joint, policy),
        time.perf_counter() - start,
    )


def _applicant(
    score: float, published: Sequence[Row], exact: Mapping[str, Policy], policy: Policy, white: Group
) -> Applicant:
    printed = {row.curve: Curve(row.curve, row.t0, row.t1, row.p) for row in published if row.group == "white"}
    at = int(np.searchsorted(white.scores, score))
    return Applicant(
        score=score,
        default_rate=float(white.negatives[at] / (white.negatives[at] + white.positives[at])),
        **{f"published_{family}": float(curve(score)) for family, curve in printed.items()},
        exact_fixed=float(exact["fixed"].odds(score, "white")),
        exact_linear=float(exact["linear"].odds(score, "white")),
        budget=float(policy.odds(score, "white")),
    )


def _published(curve: Curve, printed: Mapping[str, str], member: Group, target: Point) -> Row:
    # The paper leaves out the baseline group; its figures are in percent and in units of 1e-4.
    accuracy, odds, slope = (printed[name] for name in ("accuracy_percent", "equalized_odds_1e-4", "lipschitz"))
    return replace(
        _row(curve, member, target),
        printed_accuracy=float(accuracy) / 100 if accuracy else None,
        printed_equalized_odds=float(odds) * 1e-4 if odds else None,
        printed_lipschitz=float(slope) if slope else None,
    )


def _exact(curve: Curve, member: Group, target: Point, printed_lipschitz: float | None) -> Row:
    row = _row(curve, member, target)
    return replace(row, residual=row.equalized_odds, printed_lipschitz=printed_lipschitz)


def _row(curve: Curve, member: Group, target: Point) -> Row:
    """A curve, and what it does on the data."""
    point = rates_of(curve, member)
    return Row(
        curve=curve.family,
        group=member.key,
        t0=curve.t0,
        t1=curve.t1,
        p=curve.p,
        accuracy=member.base_rate * point.tpr + (1 - member.base_rate) * (1 - point.fpr),
        equalized_odds=max(abs(point.fpr - target.fpr), abs(point.tpr - target.tpr)),
        lipschitz=curve.lipschitz,
        at_t0=curve.at_t0,
    )


def _finite(value: Any) -> Any:
    """Plain JSON has no infinity."""
    return None if isinstance(value, float) and math.isinf(value) else value


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    plain = {**row, "lipschitz_infinite": math.isinf(row["lipschitz"])}
    return {key: _finite(value) for key, value in plain.items()}
