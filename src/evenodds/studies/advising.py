"""Which options are for whom, and what they cost: each case is fitted on a bundled table when asked for."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import fill
from typing import Any

import numpy as np

from evenodds.errors import EvenoddsWarning, one_of
from evenodds.frames import frame_of_rows
from evenodds.model.fit import fit
from evenodds.model.goals import coefficients, constraint_of
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy
from evenodds.model.roc import Point
from evenodds.progress import tracked
from evenodds.showing import text_table
from evenodds.studies.cases import CASES, Case

__all__ = ["Advice", "Guide", "advice", "guide"]

_NAMES = {"accuracy_score": "accuracy"}  # where people have a shorter word
_WIDTH = 118  # of a paragraph


@dataclass(frozen=True)
class Advice:
    """One case on its bundled table: the lines to run, and what they cost there; `print` shows it.

    See Also
    --------
    studies.advice : Makes one.

    Examples
    --------
    >>> import evenodds as eo
    >>> advice = eo.studies.advice("few")
    >>> round(advice.randomized, 4), advice.worst_group, round(advice.worst_randomized, 4)
    (0.0446, 'white', 0.0573)
    """

    case: Case
    """Who asks for what: the case, with its options and the lines to run."""
    policy: Policy
    """What these options give on the bundled table."""
    people: float
    """How many people that table has."""
    objective_name: str
    """What the policy is best at."""
    before: float
    """The objective of one threshold for everybody; with places, of one that fills as many."""
    after: float
    """The objective of the policy."""
    difference_before: float
    """The largest difference between two groups in a constrained rate, with one threshold for everybody."""
    difference: float
    """The same with the policy."""
    randomized: float
    """The share of everybody who are decided by chance."""
    worst_group: str
    """The group of which the largest share is; the first of several, and nobody where there is none."""
    worst_randomized: float
    """That group's share of people who are decided by chance."""
    slope: float
    """The steepest rise of any group's probability of a yes, by a score of 1."""
    warnings: tuple[str, ...]
    """What the fit warned of."""

    def as_json(self) -> dict[str, Any]:
        """All of it as plain data."""
        case = self.case
        return {
            "case": case.name,
            "who": case.who,
            "gets": case.gets,
            "avoid": case.avoid,
            "options": case.flags,
            "commands": list(case.commands),
            "python": list(case.python),
            "data": case.people.name,
            "figures": {
                "people": self.people,
                "objective": self.objective_name,
                "before": self.before,
                "after": self.after,
                "difference_before": self.difference_before,
                "difference": self.difference,
                "randomized": self.randomized,
                "worst_group": self.worst_group,
                "worst_randomized": self.worst_randomized,
                "slope": self.slope,
                "selected": self.policy.certificate.selected,
            },
            "warnings": list(self.warnings),
        }

    def __repr__(self) -> str:
        return f"Advice({self.case.name!r}, {self.objective_name} {self.before:.4f} -> {self.after:.4f})"

    def __str__(self) -> str:
        case, proof = self.case, self.policy.certificate
        places = " that fills as many places" if proof.selection_rate is not None else ""
        less = " (less is better)" if proof.smaller_is_better else ""
        by_chance = f", {self.worst_randomized:.1%} of {self.worst_group!r}, the most" if self.worst_group else ""
        data = f"the bundled data ({case.people.name}: {self.people:,.0f} people, {len(proof.groups)} groups)"
        differ = "largest difference between groups in the false or true positive rate"
        lines = [
            f"{case.name}: {case.who}",
            _wrapped(f"What you get: {case.gets}"),
            "On the command line:",
            *(f"  {line}" for line in case.commands),
            "In Python:",
            *(f"  {line}" for line in case.python),
            _wrapped(f"What it costs on {data}, from one threshold for everybody{places} to these options:"),
            f"  {self.objective_name}{less}: {self.before:.4f} -> {self.after:.4f}",
            f"  {differ}: {self.difference_before:.4f} -> {self.difference:.4f}",
            f"  decided by chance: {self.randomized:.1%} of everybody{by_chance}",
            f"  steepest: {_in_words(self.slope)}",
            "What it does to each group, from the best threshold for everybody to these options:",
            *(f"  {line}" for line in proof.summary.splitlines()),
            *([_wrapped(f"It says: {proof.already}")] if proof.already else []),
            *(_wrapped(f"It warns: {text}") for text in self.warnings),
            _wrapped(f"When not to take it: {case.avoid}"),
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Guide:
    """Every case of the guide on its bundled table; `print` shows a row for each, and guide[name] is one of them.

    See Also
    --------
    studies.guide : Makes one.

    Examples
    --------
    >>> import evenodds as eo
    >>> guide = eo.studies.guide()
    >>> guide["few"]
    Advice('few', accuracy 0.8765 -> 0.8632)
    """

    cases: tuple[Advice, ...]
    """What each case is advised."""

    def __getitem__(self, case: str) -> Advice:
        wanted = _case_of(case)
        return next(advised for advised in self.cases if advised.case is wanted)

    def table(self) -> tuple[Sequence[str], Sequence[Sequence[Any]]]:
        """A row for each case: the objective and the largest difference before and after, who is left to chance."""
        names = (
            "case", "data", "objective", "before", "after", "differ_before", "differ", "by_chance", "most_in_a_group",
            "steepest",
        )  # fmt: skip
        rows = [
            (
                one.case.name,
                one.case.people.name,
                one.objective_name,
                one.before,
                one.after,
                one.difference_before,
                one.difference,
                one.randomized,
                one.worst_randomized,
                one.slope,
            )
            for one in self.cases
        ]
        return names, rows

    def frame(self) -> Any:
        """The table as a data frame."""
        return frame_of_rows(*self.table())

    def __repr__(self) -> str:
        return f"Guide({', '.join(one.case.name for one in self.cases)})"

    def __str__(self) -> str:
        names, rows = self.table()
        shown = [[round(cell, 4) if isinstance(cell, float) else cell for cell in row] for row in rows]
        return text_table([name.replace("_", " ") for name in names], shown)


def advice(case: str) -> Advice:
    """What one case is advised, and what that costs on its bundled table.

    Parameters
    ----------
    case : str
        One of "default", "lender", "places", "court", "few", "none", "small", "review", "already"; or another name of
        one of them, such as "bank" or "school".

    Returns
    -------
    Advice
        `print` shows the lines to run, what they cost, and when not to take them.

    See Also
    --------
    studies.guide : All cases side by side.
    fit : Takes the options.

    Examples
    --------
    >>> import evenodds as eo
    >>> eo.studies.advice("few")
    Advice('few', accuracy 0.8765 -> 0.8632)
    >>> eo.studies.advice("few").case.words
    'max_randomized=0.05, tolerance=0.03'
    """
    return _advised(_case_of(case))


def guide() -> Guide:
    """Which options are for whom: every case, and what it costs on its bundled table.

    Returns
    -------
    Guide
        `print` shows a row for each case; `.frame()` has them as a data frame.

    See Also
    --------
    studies.advice : One case, in full.

    Examples
    --------
    >>> import evenodds as eo
    >>> eo.studies.guide()
    Guide(default, lender, places, court, few, none, small, review, already)
    """
    return Guide(tuple(_advised(case) for case in tracked(list(CASES.values()), "Fitting cases")))


def _case_of(name: str) -> Case:
    named = {other: case for case in CASES.values() for other in case.also}
    return (named.get(name) if isinstance(name, str) else None) or CASES[one_of("case", name, CASES)]


@cache
def _advised(case: Case) -> Advice:
    """Fit a case, and read what it costs off the certificate: once in a process, since its data are bundled."""
    joint = case.people.load()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", EvenoddsWarning)
        policy = fit(joint, **case.options)
    proof = policy.certificate
    before = proof.before
    if before is None:  # which only files of earlier versions lack
        raise AssertionError
    weights = [sum(counts[:2]) for counts in proof.people]
    worst = int(np.argmax(proof.randomized))
    return Advice(
        case,
        policy,
        people=joint.total,
        objective_name=_NAMES.get(proof.objective_name, proof.objective_name),
        before=before.objective,
        after=proof.objective,
        difference_before=_difference(joint, proof.constraints, before.points),
        difference=proof.difference,
        randomized=float(np.average(proof.randomized, weights=weights)),
        worst_group=proof.groups[worst] if proof.randomized[worst] > 0 else "",
        worst_randomized=proof.randomized[worst],
        slope=max(proof.slopes),
        warnings=tuple(str(one.message) for one in caught if issubclass(one.category, EvenoddsWarning)),
    )


def _difference(joint: JointDistribution, constraints: str, points: Sequence[Point]) -> float:
    """The largest difference between two groups in a constrained rate."""
    rates = np.array([(point.fpr, point.tpr) for point in points])
    constrained = constraint_of(constraints, 0.0).rates
    return float(max(np.ptp((coefficients(joint, rate) * rates).sum(axis=1)) for rate in constrained))


def _wrapped(text: str) -> str:
    return fill(text, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _in_words(slope: float) -> str:
    if math.isinf(slope):
        return "the probability of a yes jumps from 0 to 1 at a threshold"
    return (
        f"the probability of a yes rises by at most {slope:.4g} a point of score, so from 0 to 1 over "
        f"{1 / slope:.3g} points or more"
    )
