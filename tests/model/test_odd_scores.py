"""Scores far from 0, far from each other, all the same, or too large to tell apart."""

from __future__ import annotations

import numpy as np
import pytest

import evenodds as eo

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")


def test_a_fixed_curve_far_from_zero_says_no_to_the_highest_score_where_it_shall():
    counts = {"a": ([1000, 1001], [3, 1], [1, 4]), "b": ([1000, 1001], [5, 2], [2, 2])}
    policy = eo.fit(eo.JointDistribution.from_counts(counts), curve="fixed")
    assert policy.certificate.residual <= 1e-12


@pytest.mark.parametrize("sentinel", [-999.0, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_one_score_far_away_spoils_neither_bounds_nor_fits(seed, sentinel):
    rng = np.random.default_rng(seed)
    label, group = rng.random(80) < 0.5, rng.choice(["a", "b"], 80)
    score = rng.normal(label, 1)
    score[0] = sentinel
    joint = eo.JointDistribution.from_arrays(score, group, label)
    for constraint in ("equalized_odds", "demographic_parity"):
        told = eo.fit(joint, constraints=constraint).certificate
        gentlest = eo.fit(joint, constraints=constraint, curve="optimal", max_slope=told.max_slope)
        assert gentlest.certificate.residual <= 1e-8
        assert told.residual <= 1e-9
    told = eo.fit(joint, max_slope=3.0).certificate
    optimal = eo.fit(joint, target=told.target, curve="optimal")
    for key, bound in told.slope_bound.items():
        assert bound <= optimal.curves[key].lipschitz * (1 + 1e-6)


def test_a_group_of_one_score_leaves_the_diagonal_alone():
    rng = np.random.default_rng(0)
    label = rng.random(6000) < 0.4
    group = np.where(np.arange(6000) < 3000, "a", "b")
    score = np.where(group == "b", 0.3, rng.normal(label, 1))
    policy = eo.fit(eo.JointDistribution.from_arrays(score, group, label), objective="balanced_accuracy_score")
    assert policy.certificate.objective == pytest.approx(0.5)
    assert policy.certificate.residual <= 1e-12


def test_searches_end_where_two_points_are_equally_good():
    joint = eo.JointDistribution.from_counts({"a": ([0, 1], [1, 0], [1, 2])})
    told = eo.fit(joint, curve="cubic", constraints="false_positive_rate_parity").certificate
    assert told.objective == pytest.approx(0.75)


def test_scores_that_cannot_be_told_apart_are_refused_with_what_would_break():
    rng = np.random.default_rng(0)
    label, group = rng.random(200) < 0.5, rng.choice(["a", "b"], 200)
    score = np.rint(rng.normal(5 * label, 5)) + 2.0**53
    joint = eo.JointDistribution.from_arrays(score, group, label)
    with pytest.raises(eo.UnreachableError, match=r"Not kept: .*tolerance=0.* Hint: subtract a constant"):
        eo.fit(joint, max_slope=0.2)
    assert eo.fit(joint, curve="fixed").certificate.residual <= 1e-12


@pytest.mark.parametrize("unit", [1.0, 2.0**-4, 2.0**-20, 2.0**30])
def test_thresholds_bound_to_the_scores_do_not_depend_on_their_unit(unit):
    """One of the groups has one score only: no gap of its own says how narrow a curve may be."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 60)
    score = np.round(rng.normal(label, 1), 2)
    score[40:], label[40:42] = 0.5, [0, 1]
    asked = {"keep_individual_odds": True, "tolerance": 0.05, "max_loss": 0.2}
    slopes = []
    for scaled in (score, score * unit):
        joint = eo.JointDistribution.from_arrays(scaled, np.repeat(["a", "b", "c"], 20), label)
        slopes.append(max(eo.fit(joint, **asked).certificate.slopes))
    assert slopes[1] * unit == pytest.approx(slopes[0], rel=1e-6)
