"""COMPAS: the paper's second case study (Small et al., FAccT 2024, Section 5.2, Tables 2 and 4).

The paper's results cannot be recomputed from the bundled data. The table of P(Y=0 | R=r) that it took from its source
holds P(Y=0, R>r) instead, which implies base rates of 74 to 83 % where the defendants' own records have 35 to 54 %. So
the published curves are shown for what can be checked without data, their slopes; all results are on the true records.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from evenodds import datasets
from evenodds.evaluation.metrics import GroupMetrics, metrics
from evenodds.model.curves import Curve
from evenodds.model.families import PUBLISHED
from evenodds.model.fit import fit
from evenodds.model.policy import Policy
from evenodds.model.solutions import solutions
from evenodds.pictures.figures import Figure, families_figure, solutions_figure
from evenodds.studies.choices import Budget, Choice, budgets, choices
from evenodds.studies.study import figures_of, published_curves

__all__ = ["CompasStudy", "PublishedCurve", "Result", "compas"]

# Table 4 prints p of the quartic curves with three digits; these give the slopes of Table 2.
_UNROUNDED_P = {("quartic", "Caucasian, Female"): 0.5568, ("quartic", "African-American, Female"): 0.5504}
_NOTES = {
    ("quadratic", "Caucasian, Male"): "Table 2 prints 0.254, the cubic's; this curve's is 0.197",
    ("linear", "Caucasian, Female"): "Table 2 prints equalised odds of 1.190 for 1.900",
    ("cubic", "African-American, Female"): "Table 2 prints an accuracy of 67.555 for 67.550",
    ("cubic", "African-American, Male"): "Table 4 prints the threshold 30 for 48",
}
_SLOPES = (math.inf, 1.0, 0.5, 0.3, 0.2, 0.1)


@dataclass(frozen=True)
class PublishedCurve:
    """A published curve, and its largest slope as printed and as it follows from its own parameters."""

    curve: str
    group: str
    t0: float
    t1: float
    p: float
    printed_lipschitz: float | None
    lipschitz: float
    note: str


@dataclass(frozen=True)
class Result:
    """One group under one family of curves, on the true records."""

    curve: str
    group: str
    t0: float
    t1: float
    p: float
    fpr: float
    tpr: float
    accuracy: float
    randomized: float
    lipschitz: float
    at_t0: float | None = None
    """Odds of the people exactly at t0, where a fixed curve treats them apart."""


@dataclass(frozen=True)
class CompasStudy:
    """What can be said of the published curves, and exact results on the true records.

    See Also
    --------
    studies.compas : Makes one.
    studies.story_of, studies.write_study : The same to be read.

    Examples
    --------
    >>> import evenodds as eo
    >>> eo.studies.CompasStudy.title
    "COMPAS: the paper's second study, on the true records"
    """

    policy: Policy
    """Linear curves at the defaults."""
    base_rates: Mapping[str, float]
    """Each group's share of positives."""
    published: tuple[PublishedCurve, ...]
    """The published curves with their slopes, as printed and as they follow from the parameters."""
    results: tuple[Result, ...]
    """Every group under every family, on the true records."""
    budgets: tuple[Budget, ...]
    """What each slope budget costs."""
    criteria: tuple[Choice, ...]
    """What each criterion chooses."""
    seconds: float
    """How long the study took."""

    title: ClassVar[str] = "COMPAS: the paper's second study, on the true records"
    lead: ClassVar[str] = (
        "COMPAS scores by race and sex: the published curves' slopes, and all results on the true records."
    )

    @property
    def tables(self) -> dict[str, list[dict[str, Any]]]:
        """The study's tables as plain rows."""
        return {
            "base_rates": [{"group": group, "base_rate": rate} for group, rate in self.base_rates.items()],
            "published": [asdict(row) for row in self.published],
            "results": [asdict(row) for row in self.results],
            "budgets": [asdict(row) for row in self.budgets],
            "criteria": [asdict(row) for row in self.criteria],
        }

    @property
    def figures(self) -> dict[str, Figure]:
        """The study's figures, as data."""
        joint = datasets.compas()
        group = self.policy.groups[0]
        point = self.policy.certificate.target
        assert point is not None  # noqa: S101 equalised odds
        fixed = fit(joint, curve="fixed", target=point)
        paths = solutions(joint, target=point, curve="linear")
        more = {f"families_{_slug(key)}": self._families(key, joint.score_range) for key in joint.groups}
        more["solutions"] = solutions_figure(paths, group, chosen=self.policy.curves[group], joint=joint)
        return figures_of(self.policy, joint, more, {"fixed": fixed})

    def as_json(self) -> dict[str, Any]:
        """The tables and the time they took, as plain data."""
        return {**self.tables, "seconds": self.seconds}

    def _families(self, group: str, score_range: tuple[float, float]) -> Figure:
        """All families for one group, as in the paper, but on the true records."""
        rows = [row for row in self.results if row.group == group]
        curves = {row.curve: Curve(row.curve, row.t0, row.t1, row.p, at_t0=row.at_t0) for row in rows}
        return families_figure(f"Every family for {group}", curves, score_range)


def _slug(group: str) -> str:
    return group.lower().replace(", ", "_")


def compas() -> CompasStudy:
    """Recompute the COMPAS study.

    Returns
    -------
    CompasStudy
        Its `tables` and `figures`, as data.

    See Also
    --------
    studies.write_study : The study as a folder of tables, pictures and a page.
    studies.story_of : What it says, section by section.
    datasets.compas : The people.

    Examples
    --------
    >>> study = compas()
    >>> [round(row.accuracy, 7) for row in study.budgets[:4]]
    [0.636604, 0.636604, 0.6350422, 0.6308849]
    >>> next(row for row in study.published if (row.curve, row.group) == ("quadratic", "Caucasian, Male")).note
    "Table 2 prints 0.254, the cubic's; this curve's is 0.197"
    """
    start = time.perf_counter()
    joint = datasets.compas()
    policies = {family: fit(joint, curve=family) for family in PUBLISHED}
    results = [
        _result(family, policy.curves[figures.group], figures)
        for family, policy in policies.items()
        for figures in metrics(policy, joint).by_group
    ]
    linear = policies["linear"]
    return CompasStudy(
        linear,
        {member.key: member.base_rate for member in joint.members},
        tuple(_published(*row) for row in published_curves("compas_published.csv", _UNROUNDED_P)),
        tuple(results),
        budgets(joint, _SLOPES),
        choices(joint, linear),
        time.perf_counter() - start,
    )


def _result(family: str, curve: Curve, figures: GroupMetrics) -> Result:
    return Result(
        curve=family,
        group=figures.group,
        t0=curve.t0,
        t1=curve.t1,
        p=curve.p,
        fpr=figures.fpr,
        tpr=figures.tpr,
        accuracy=figures.accuracy,
        randomized=figures.randomized,
        lipschitz=figures.lipschitz,
        at_t0=curve.at_t0,
    )


def _published(curve: Curve, printed: Mapping[str, str]) -> PublishedCurve:
    group, slope = printed["group"], printed["lipschitz"]
    note = _NOTES.get((curve.family, group), "")
    return PublishedCurve(
        curve.family, group, curve.t0, curve.t1, curve.p, float(slope) if slope else None, curve.lipschitz, note
    )
