"""Shared Hypothesis strategies: groups of people, populations, points that a group can reach."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import evenodds as eo
from evenodds.model.criteria import chosen_curves
from evenodds.model.families import family_of
from evenodds.model.groups import Group
from evenodds.model.path import Path
from evenodds.model.roc import Point
from evenodds.model.search import CurveSearch


def alone(member: Group) -> eo.JointDistribution:
    """A joint distribution of one group."""
    return eo.JointDistribution((member,), "positive")


def search_of(member: Group, family: str, point: Point) -> CurveSearch:
    """The search for one group's curves through a point."""
    return CurveSearch(alone(member), family_of(family), [point])


def gentlest(search: CurveSearch) -> Path:
    """The gentlest curve of the only group of a search."""
    found = chosen_curves(search, "gentlest")[0]
    assert found is not None
    return found


FAMILIES = ("fixed", "linear", "quadratic", "cubic", "quartic")
CONTINUOUS = FAMILIES[1:]


@st.composite
def counts(draw: st.DrawFn, max_scores: int = 25) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with ties and gaps, and how many negatives and positives have them; both occur."""
    n = draw(st.integers(2, max_scores))
    grid = draw(st.booleans())
    one = st.integers(-20, 20).map(float) if grid else st.floats(-100, 100).map(lambda x: round(x, 4))
    scores = draw(st.lists(one, min_size=n, max_size=n))
    people = st.lists(st.integers(0, 9).map(float), min_size=n, max_size=n)
    negatives, positives = draw(people.filter(any)), draw(people.filter(any))
    return np.array(scores), np.array(negatives), np.array(positives)


@st.composite
def joints(draw: st.DrawFn, min_groups: int = 1, max_groups: int = 3) -> eo.JointDistribution:
    """A population of a few groups."""
    n = draw(st.integers(min_groups, max_groups))
    return eo.JointDistribution.from_counts({f"g{i}": draw(counts()) for i in range(n)})


@st.composite
def reachable(draw: st.DrawFn) -> tuple[eo.JointDistribution, Point]:
    """One group and a point between the diagonal and its ROC polyline, ends included."""
    joint = draw(joints(max_groups=1))
    roc = joint.members[0].roc
    fpr = draw(st.one_of(st.floats(0, 1), st.sampled_from(roc.fpr.tolist())))
    top = max(roc.height(fpr), fpr)
    share = draw(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 1e-9, 1 - 1e-9])))
    return joint, Point(fpr, fpr + share * (top - fpr))
