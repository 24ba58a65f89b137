"""Two bundled data sets, as counts; PROVENANCE.md beside this file says what they are and are not good for."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from importlib.resources import files

import numpy as np

from evenodds.errors import OptionError, one_of
from evenodds.model.joint import JointDistribution

__all__ = ["compas", "credit_risk"]


def _table(name: str) -> list[dict[str, str]]:
    with (files(__package__) / name).open(encoding="utf-8") as table:
        return list(csv.DictReader(table))


def credit_risk() -> JointDistribution:
    """TransUnion scores of 174,047 people and whether they repaid (label 1), by race, United States 2003.

    Returns
    -------
    JointDistribution
        Four groups, scores from 0 to 100.

    See Also
    --------
    studies.credit_risk : The paper's study of these people, recomputed.
    JointDistribution.from_frame : Make one of your own people.

    Examples
    --------
    >>> credit_risk()
    JointDistribution(4 groups, 789 scores, weight 174047, score range 0 to 100, positive orientation)
    >>> credit_risk().groups
    ('asian', 'black', 'hispanic', 'white')
    """
    people = {row["group"]: int(row["people"]) for row in _table("credit_risk_totals.csv")}
    rows = _table("credit_risk.csv")
    counts = {}
    for group, total in people.items():
        own = [row for row in rows if row["group"] == group]
        # Shares in whole hundredths of a percent, as printed: their differences are then exact.
        cumulative = np.array([round(float(row["cumulative_percent"]) * 100) for row in own])
        here = np.diff(cumulative, prepend=0) / 10_000 * total
        default = np.array([float(row["default_percent"]) for row in own]) / 100
        counts[group] = (np.array([float(row["score"]) for row in own]), here * default, here * (1 - default))
    return JointDistribution.from_counts(counts)


def compas(*, races: Sequence[str] = ("Caucasian", "African-American")) -> JointDistribution:
    """COMPAS decile scores of defendants in Broward County and whether they were charged again within two years.

    Groups are race and sex, for example "Caucasian, Male"; label 1 is a new charge.

    Parameters
    ----------
    races : sequence of str
        Which of African-American, Asian, Caucasian, Hispanic, Native American, Other. Asian and Native American
        women are too few to have a rate of their own (2 and 4 people).

    Returns
    -------
    JointDistribution
        Groups of race and sex, scores from 1 to 10.

    See Also
    --------
    studies.compas : The paper's study of these people, on the true records.

    Examples
    --------
    >>> compas()
    JointDistribution(4 groups, 40 scores, weight 6150, score range 1 to 10, positive orientation)
    """
    rows = _table("compas.csv")
    known = sorted({row["race"] for row in rows})
    if isinstance(races, str) or not isinstance(races, Iterable) or not list(races):
        msg = f"races must be a sequence of names, got {races!r}. Allowed: {', '.join(known)}."
        raise OptionError(msg)
    wanted = {one_of("races", race, known) for race in races}
    counts: dict[tuple[str, str], tuple[list[int], list[int], list[int]]] = {}
    for row in rows:
        if row["race"] in wanted:
            scores, negatives, positives = counts.setdefault((row["race"], row["sex"]), ([], [], []))
            again = row["two_year_recid"] == "1"
            scores.append(int(row["decile_score"]))
            negatives.append(0 if again else int(row["people"]))
            positives.append(int(row["people"]) if again else 0)
    return JointDistribution.from_counts(counts)
