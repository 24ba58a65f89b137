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
        ({"target": (10**400, 0.5)}, r"is not a point"),
        ({"target": (0.2, 1.2)}, r"target=\(0.2, 1.2\) is not a pair of rates"),
        ({"target": (np.nan, 0.5)}, r"is not a pair of rates"),
        ({"max_slope": 0}, r"max_slope=0 is not allowed. Allowed: a number above 0"),
        ({"max_slope": -1.0}, r"max_slope=-1.0 is not allowed"),
        ({"max_slope": np.nan}, r"max_slope=nan is not allowed"),
        ({"max_slope": "steep"}, r"max_slope='steep' is not allowed"),
        ({"max_slope": 5e-324}, r"max_slope=5e-324 is too small .* Allowed: from 1e-300 on"),
        ({"max_loss": -0.1}, r"max_loss=-0.1 is not allowed. Allowed: a number from 0 on"),
        ({"max_loss": np.inf}, r"max_loss=inf is not allowed"),
        (
            {"max_loss": 0.1, "max_slope": 1},
            r"Give max_slope or max_loss, and not both; got max_slope=1 and max_loss=0.1",
        ),
        ({"max_loss": 0.1, "target": (0.2, 0.4)}, r"max_loss= chooses the point, and target= names it"),
        ({"tolerance": 1.5}, r"tolerance=1.5 is not allowed. Allowed: from 0 to 1"),
        ({"tolerance": -0.1}, r"tolerance=-0.1 is not allowed"),
        ({"tolerance": np.nan}, r"tolerance=nan is not allowed"),
        ({"tolerance": "a"}, r"tolerance='a' is not allowed"),
        ({"tolerance": 0.1, "target": (0.2, 0.4)}, r"target= names one point for all groups"),
        ({"constraints": "equal_odds"}, r"constraints='equal_odds' is not known.*did you mean 'equalized_odds'"),
        ({"constraints": "demographic_parity", "target": (0.2, 0.4)}, r"target= names one point.*'demographic_parity'"),
        ({"objective": "acuracy_score"}, r"objective='acuracy_score' is not known.*did you mean 'accuracy_score'"),
        ({"objective": "selection_rate"}, r"has a trivial answer under equalized_odds. Allowed: accuracy_score"),
        (
            {"objective": "closest_to_perfect", "tolerance": 0.1},
            r"'closest_to_perfect' is defined for one common point",
        ),
        ({"curve": "fixed", "max_slope": 1}, r"A fixed curve jumps, so no slope budget can hold"),
        ({"curve": "fixed", "max_loss": 0.1}, r"A fixed curve jumps"),
        ({"curve": "linear", "criterion": "smoothest"}, r"compares curves without kinks, and a linear curve has some"),
        ({"curve": "fixed", "criterion": "smoothest"}, r"compares curves without kinks, and a fixed curve has some"),
        (
            {"curve": "optimal", "criterion": "smoothest"},
            r"compares curves without kinks, and an optimal curve has some",
        ),
        ({"curve": "optimal", "criterion": "robust"}, r"an optimal curve has none. Allowed: 'gentlest'"),
        (
            {"curve": "fixed", "keep_individual_odds": True},
            r"keep_individual_odds=True needs odds that run from 0 to 1",
        ),
        (
            {"keep_individual_odds": True, "target": (0.4, 0.4)},
            r"Group 'a' cannot meet the target with thresholds inside",
        ),
        (
            {"keep_individual_odds": True, "target": (0.2, 0.5)},
            r"Group 'b' cannot meet the target with thresholds inside",
        ),
        (
            {"max_slope": 0.2, "target": (0.2, 0.45)},
            r"Group .a. was not found to reach.*at most max_slope=0.2; no rising curve does with less than 0.722222",
        ),
        ({"keep_individual_odds": "no"}, r"keep_individual_odds='no' is not allowed. Allowed: True or False"),
        ({"tolerance": True}, r"tolerance=True is not allowed"),
        ({"max_slope": True}, r"max_slope=True is not allowed"),
        ({"target": (-0.1, 0.5)}, r"target=\(-0.1, 0.5\) is not a pair of rates"),
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
    with pytest.raises(eo.UnreachableError, match=r"Group 'b' cannot reach the target.*Hint: leave out target="):
        eo.fit(joint, target="baseline")


def test_a_vertex_is_met_by_a_ramp_where_odds_shall_be_kept():
    """A hard threshold has no odds between 0 and 1; the ramp in the gap below it meets the same point."""
    joint = eo.JointDistribution.from_counts({"a": SMALL["a"]})
    policy = eo.fit(joint, target=(0.2, 0.5), keep_individual_odds=True)
    curve = policy.curves["a"]
    assert policy.certificate.residual <= 1e-12
    assert 1 - 1e-9 <= curve.t0 < curve.t1 <= 3 + 1e-9
    assert eo.metrics(policy, joint).individual_odds.holds


def test_numbers_of_numpy_are_numbers(joint):
    plain = eo.fit(joint, tolerance=0.05, max_loss=0.01)
    assert eo.fit(joint, tolerance=np.float64(0.05), max_loss=np.float64(0.01)) == plain
    assert eo.fit(joint, tolerance=np.float32(0.0), max_slope=np.int64(1)) == eo.fit(joint, max_slope=1)
    assert eo.fit(joint, keep_individual_odds=np.False_) == eo.fit(joint)


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


def test_scores_too_far_from_zero_are_warned_of():
    counts = {"a": (np.arange(40.0) + 1e12, np.arange(40.0)[::-1] + 1, np.arange(40.0) + 1)}
    with pytest.warns(eo.EvenoddsWarning, match=r"The rates miss their points by up to .*subtract a constant"):
        eo.fit(eo.JointDistribution.from_counts(counts), target=(0.31, 0.437))


def test_small_and_backward_groups_are_warned_of():
    small = eo.JointDistribution.from_counts({"a": ([1, 2, 3], [5, 3, 2], [20, 30, 50])})
    with pytest.warns(eo.EvenoddsWarning, match=r"Group 'a' is very small: 10 negatives and 100 positives"):
        eo.fit(small, target=(0.2, 0.3))
    weighted = eo.JointDistribution.from_arrays(
        np.tile([1.0, 2.0, 3.0, 4.0], 10), ["a"] * 40, [0, 0, 1, 1] * 10, weight=np.tile([1e6, 3e6], 20)
    )
    with pytest.warns(eo.EvenoddsWarning, match=r"very small: the equal of 16 negatives and 16 positives"):
        eo.fit(weighted, target=(0.2, 0.8))
    backward = eo.JointDistribution.from_counts({"a": ([1, 2, 3], [20, 30, 50], [50, 30, 20])})
    with pytest.warns(eo.EvenoddsWarning, match=r"'a' is ranked backwards by the score, with an AUC below 1/2: 0.3050"):
        eo.fit(backward, target=(0.2, 0.2))


def test_many_weak_groups_are_one_warning_for_each_weakness():
    small = {f"s{i:02}": ([1, 2, 3], [5 + i, 3, 2], [20, 30, 50]) for i in range(20)}
    backward = {f"b{i}": ([1, 2, 3], [20, 30, 50 + i], [50, 30, 20]) for i in range(2)}
    with pytest.warns(eo.EvenoddsWarning) as caught:
        eo.fit(eo.JointDistribution.from_counts(small | backward), max_slope=1)
    few, wrong = (str(one.message) for one in caught)
    named = "; ".join(f"'s{i:02}' with {10 + i} negatives and 100 positives" for i in range(6))
    assert few.startswith(f"20 groups are very small: {named}; and 14 more. Their rates may be very different")
    assert wrong.startswith("2 groups are ranked backwards")
    assert "with an AUC below 1/2: 'b1' with 0.3030; 'b0' with 0.3050. Little but the diagonal is in their" in wrong


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("white", "White"), "Groups 'White' and 'white' differ in capitals only. Hint: are they one group?"),
        (("a, f", "?, f"), "Group '?, f' is named as what is not known often is."),
        (("NA", "nan"), "Groups 'NA', 'nan' are named as what is not known often is."),
    ],
)
def test_names_that_are_hardly_those_of_groups_are_told(names, told):
    counts = dict.fromkeys(names, ([1, 2, 3], [50, 30, 20], [20, 30, 50]))
    with pytest.warns(eo.EvenoddsWarning) as caught:
        eo.fit(eo.JointDistribution.from_counts(counts))
    assert str(caught[-1].message).startswith(told)


def test_a_guarantee_without_a_confidence_is_refused(joint):
    with pytest.raises(eo.OptionError, match=r"guarantee='finite' is what a confidence rests on, and none is asked"):
        eo.fit(joint, guarantee="finite", tolerance=0.1)


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


@pytest.mark.parametrize(("wrong_yes", "wrong_no"), [(-1, 1), (0, 0), (np.nan, 1), (np.inf, 1), ("a", 1), (True, 1)])
def test_bad_costs(wrong_yes, wrong_no):
    with pytest.raises(eo.OptionError, match=r"false_positive=.* is not allowed"):
        eo.Cost(false_positive=wrong_yes, false_negative=wrong_no)


@pytest.mark.filterwarnings("ignore:The rates miss:evenodds.EvenoddsWarning")  # numbers near 1e9 are 1e-7 apart
@pytest.mark.parametrize("offset", [1e4, 1e6, -1e6, 1e9])
@pytest.mark.parametrize("options", [{}, {"max_slope": 50.0}, {"curve": "cubic"}, {"target": (0.4, 0.5)}], ids=str)
def test_scores_far_from_zero_have_the_policy_of_those_near_it(offset, options):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        group, label = rng.choice(["a", "b"], 400), rng.integers(0, 2, 400)
        far = rng.normal(label + 0.2 * (group == "b"), 1) + offset
        there = eo.fit(eo.JointDistribution.from_arrays(far, group, label), **options)
        here = eo.fit(eo.JointDistribution.from_arrays(far - offset, group, label), **options)
        room = 1e-13 * abs(offset)  # what floating-point numbers of this size can tell apart, some hundred times
        assert there.certificate.residual <= 1e-12 + room
        assert there.certificate.objective == pytest.approx(here.certificate.objective, abs=1e-9 + room)
        for one, two in zip(there.group_curves, here.group_curves, strict=True):
            if one.parts or two.parts:  # the gentlest that was found: of several that are as good, either may be
                assert one.lipschitz == pytest.approx(two.lipschitz, rel=0.02)
            else:
                assert one.t0 - offset == pytest.approx(two.t0, abs=1e-6 + 1e3 * room)
        negative = eo.JointDistribution.from_arrays(-far, group, label, orientation="negative")
        mirrored = eo.fit(negative, **options)
        assert [curve.t0 for curve in mirrored.group_curves] == [-curve.t0 for curve in there.group_curves]
    paths = eo.solutions(eo.JointDistribution.from_arrays(far, group, label), target=(0.4, 0.5)).paths["a"]
    assert np.abs(paths.t0 - offset).max() < 1e4
