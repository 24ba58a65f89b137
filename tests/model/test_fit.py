from __future__ import annotations

import numpy as np
import pytest

import evenodds as eo

SMALL = {"a": ([1, 2, 3], [50, 30, 20], [20, 30, 50]), "b": ([1, 2, 3], [60, 30, 10], [10, 30, 60])}


@pytest.fixture
def joint():
    return eo.JointDistribution.from_counts(SMALL)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curve": "cubik"}, r"curve='cubik' is not known. Allowed: fixed, linear, .* Hint: did you mean 'cubic'\?"),
        ({"criterion": "gentle"}, r"criterion='gentle' is not known.*did you mean 'gentlest'"),
        ({"target": "base"}, r"target='base' is not known. Allowed: \(fpr, tpr\)"),
        ({"target": (0.2,)}, r"target=\(0.2,\) is not a point"),
        ({"target": (0.2, "x")}, r"is not a point"),
        ({"target": (0.2, 1.2)}, r"target=\(0.2, 1.2\) is not a pair of rates"),
        ({"target": (np.nan, 0.5)}, r"is not a pair of rates"),
        ({"target": (0.2, 0.7)}, r"Group 'a' cannot reach the target.*at most 0.5, 0.2 less"),
        ({"target": (0.5, 0.3)}, r"Group 'a' cannot reach the target.*0.141 below the diagonal"),
    ],
)
def test_bad_options(joint, options, message):
    with pytest.raises(eo.EvenoddsError, match=message):
        eo.fit(joint, **options)


def test_the_baseline_may_be_out_of_another_groups_reach():
    """Rocs that cross: the best threshold of one group lies above the other group's roc."""
    joint = eo.JointDistribution.from_counts(
        {"a": ([1, 2, 3], [60, 38, 2], [55, 5, 40]), "b": ([1, 2, 3], [55, 25, 20], [2, 40, 58])}
    )
    with pytest.raises(eo.UnreachableError, match=r"Group 'b' cannot reach the target.*Hint: target='baseline'"):
        eo.fit(joint, target="baseline")


def test_the_first_argument_must_be_a_joint_distribution():
    with pytest.raises(eo.OptionError, match=r"must be a JointDistribution, got dict. Hint: .*from_arrays"):
        eo.fit(SMALL)
    with pytest.raises(eo.OptionError, match="JointDistribution"):
        eo.solutions(SMALL, target=(0.2, 0.5))


def test_solutions_at_p_that_are_not_searched(joint):
    with pytest.raises(eo.OptionError, match=r"p must be between 0.4 and 0.6 for a quartic curve"):
        eo.solutions(joint, target=(0.2, 0.4), curve="quartic", p=[0.3])
    with pytest.raises(eo.OptionError, match=r"p must be between 0.05 and 0.95"):
        eo.solutions(joint, target=(0.2, 0.4), p=[])


def test_small_and_backward_groups_are_warned_of():
    small = eo.JointDistribution.from_counts({"a": ([1, 2, 3], [5, 3, 2], [20, 30, 50])})
    with pytest.warns(eo.EvenoddsWarning, match=r"Group 'a' is very small: 10 negatives and 100 positives"):
        eo.fit(small, target=(0.2, 0.3))
    backward = eo.JointDistribution.from_counts({"a": ([1, 2, 3], [20, 30, 50], [50, 30, 20])})
    with pytest.warns(eo.EvenoddsWarning, match=r"ranks group 'a' backwards: its AUC is 0.3050"):
        eo.fit(backward, target=(0.2, 0.2))


def test_the_default_budget_applies_unless_a_target_is_given(joint):
    assert np.isfinite(eo.fit(joint).certificate.max_slope)
    assert eo.fit(joint, target=(0.2, 0.45)).certificate.max_slope == np.inf
    assert eo.fit(joint, target=(0.2, 0.45), max_slope=1).certificate.max_slope == 1


def test_residuals_are_recomputed_from_the_final_curves(joint):
    policy = eo.fit(joint, target=(0.25, 0.45), curve="cubic")
    for group, curve in policy.curves.items():
        scores, negatives, positives = (np.array(column) for column in SMALL[group])
        point = policy.certificate.points[group]
        assert point.fpr == pytest.approx(curve(scores) @ negatives / negatives.sum(), abs=1e-15)
        assert point.tpr == pytest.approx(curve(scores) @ positives / positives.sum(), abs=1e-15)
    assert policy.certificate.residual <= 1e-12
