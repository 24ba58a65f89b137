"""What rising odds of any kind reach, held against linear programs of our own from both sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.geometry.hull import height
from evenodds.model.goals import constraint_of, objective_of
from evenodds.model.supports import Border, best_of_all, gentlest_of_all
from oracles import highest, lp_optimum, small_population
from strategies import joints, reachable

ASKED = [
    ("equalized_odds", 0.0),
    ("equalized_odds", 0.05),
    ("demographic_parity", 0.0),
    ("true_positive_rate_parity", 0.02),
    ("false_positive_rate_parity", 0.1),
]


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("seed", range(6))
def test_the_best_points_are_the_linear_programs(seed, asked):
    joint = small_population(seed)
    constraint, goal = constraint_of(*asked), objective_of("accuracy_score", joint)
    lo, hi = joint.score_range
    for steep in (2.0, 10.0, 60.0):
        slope = steep / (hi - lo)
        points, _ = best_of_all(joint, slope, goal, constraint)
        best = lp_optimum(joint, slope, *asked)
        assert goal.gain(points) == pytest.approx(best, abs=1e-9)


@given(joints(max_groups=1), st.floats(0, 1), st.floats(0.01, 100))
def test_no_program_gets_above_the_border_and_it_is_reached(joint, fpr, steep):
    (group,) = joint.members
    assume(group.score_count > 1)
    slope = steep / (group.ends[1] - group.ends[0])
    border = Border(group, slope)
    top = border.height(fpr)
    assert top == pytest.approx(highest(group, fpr, slope)[1], abs=1e-8)
    odds = border.odds_at(eo.Point(fpr, top))
    assert group.class_conditional @ odds == pytest.approx([fpr, top], abs=1e-12)
    assert (np.diff(odds) <= slope * np.diff(group.scores) * (1 + 1e-9) + 1e-15).all()
    assert (np.diff(odds) >= -1e-15).all()


@given(reachable())
def test_the_gentlest_odds_meet_the_point_and_gentler_ones_do_not(problem):
    joint, point = problem
    (group,) = joint.members
    assume(group.score_count > 1 and point.tpr - point.fpr > 1e-6)
    odds, slope = gentlest_of_all(group, point, at_least=0.0, at_most=np.inf)
    assert group.class_conditional @ odds == pytest.approx([point.fpr, point.tpr], abs=1e-11)
    assert (np.diff(odds) / np.diff(group.scores)).max() <= slope * (1 + 1e-9)
    # A little gentler than this, no rising odds get there.
    tpr = highest(group, point.fpr, slope * (1 - 1e-5))[1]
    assert tpr <= point.tpr + 1e-9


def test_weights_that_differ_by_many_powers_of_ten_hide_no_vertex():
    """The border begins with an upright run that is 1e-18 wide beside it: a solver cannot tell it from nothing."""
    counts = {"a": (np.arange(1.0, 6.0), [3e3, 1e-8, 2e-6, 0.0, 0.0], [0.0, 0.0, 1e-6, 1e4, 2e-4])}
    (group,) = eo.JointDistribution.from_counts(counts).members
    border = Border(group, 0.5)
    assert border.height(0.0) == pytest.approx(float((0.5 * 1e4 + 1.0 * 2e-4) / group.positive_total), rel=1e-9)
    assert border.height(1.0) == 1.0


def test_a_border_like_another_is_the_same_border():
    joint = small_population(3)
    group = joint.members[0]
    lo, hi = joint.score_range
    first = Border(group, 3 / (hi - lo))
    first.height(0.3)
    afresh, warm = Border(group, 4 / (hi - lo)), Border(group, 4 / (hi - lo), like=first)
    assert warm.height(0.35) == pytest.approx(afresh.height(0.35), abs=1e-15)
    assert height(*warm.polyline, 0.35) == warm.height(0.35)
