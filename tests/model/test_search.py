from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import linprog

import evenodds as eo
from evenodds.model.rates import rates_of
from evenodds.model.roc import Point
from strategies import CONTINUOUS, FAMILIES, counts, gentlest, joints, reachable, search_of

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")


def _slope_precision(family):
    """How well a least slope is determined.

    On a straight run of the ROC a smooth curve leaves the target tangentially as it widens: a change of the width by
    1e-4 changes the rates by no more than rounding. The linear curve leaves it at an angle.
    """
    return 1e-6 if family in ("linear", "fixed") else 1e-3


def _has_a_known_slope(point):
    """Rates are known to 1e-15, so a point 1e-11 away from the diagonal leaves its slope open by some percent."""
    return abs(point.tpr - point.fpr) < 1e-12 or point.tpr - point.fpr > 1e-7


def _residual(curve, member, point):
    got = rates_of(curve, member)
    return max(abs(got.fpr - point.fpr), abs(got.tpr - point.tpr))


def _least_slope(member, point):
    """The least slope of any monotone odds through the point, by an LP over the odds at the observed scores."""
    n = member.scores.size
    gaps = np.diff(member.scores)
    step = np.zeros((n - 1, n + 1))
    step[np.arange(n - 1), np.arange(n - 1)] = -1
    step[np.arange(n - 1), np.arange(1, n)] = 1
    rising = -step.copy()
    step[:, -1] = -gaps
    answer = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.vstack([step, rising]),
        b_ub=np.zeros(2 * (n - 1)),
        A_eq=np.column_stack([member.class_conditional, np.zeros(2)]),
        b_eq=[point.fpr, point.tpr],
        bounds=[(0, 1)] * n + [(0, None)],
    )
    return answer.fun


@given(reachable(), st.sampled_from(FAMILIES))
def test_a_reachable_target_is_met_exactly(case, family):
    joint, point = case
    (member,) = joint.members
    curve = gentlest(search_of(member, family, point)).curve(0)
    assert _residual(curve, member, point) <= 1e-12


@given(reachable(), st.sampled_from(CONTINUOUS))
def test_the_whole_path_meets_the_target(case, family):
    joint, point = case
    found = eo.solutions(joint, target=point, curve=family, p=[0.4, 0.45, 0.5, 0.6])
    path = found.paths["g0"]
    assert len(path) in (1, 4)
    for curve in path:
        assert _residual(curve, joint.members[0], point) <= 1e-12


@given(joints(max_groups=1), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_fixed_reaches_everything_below_the_hull(joint, fpr, share):
    (member,) = joint.members
    point = Point(fpr, fpr + share * (member.roc.hull_height(fpr) - fpr))
    curve = gentlest(search_of(member, "fixed", point)).curve(0)
    assert _residual(curve, member, point) <= 1e-12


@given(reachable(), st.sampled_from(CONTINUOUS))
def test_no_curve_is_gentler_than_the_linear_program(case, family):
    joint, point = case
    (member,) = joint.members
    bound = _least_slope(member, point)
    if bound is None:  # on the very border, out of the program's reach by its own tolerance
        bound = _least_slope(member, Point(point.fpr, point.tpr - 1e-6 * (point.tpr - point.fpr)))
    curve = gentlest(search_of(member, family, point)).curve(0)
    assert curve.lipschitz >= (bound or 0.0) * (1 - 1e-6)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("fpr", [0.05, 0.2, 0.5, 0.9])
def test_on_a_concave_roc_the_linear_curve_is_the_gentlest_of_all(fpr, share):
    """The straight ramp is then the linear program's own optimum."""
    scores = np.arange(40.0)
    chance = 1 / (1 + np.exp(-(scores - 20) / 6))
    joint = eo.JointDistribution.from_counts({"a": (scores, 1 - chance, chance)})
    (member,) = joint.members
    point = Point(fpr, fpr + share * (member.roc.height(fpr) - fpr))
    curve = gentlest(search_of(member, "linear", point)).curve(0)
    assert curve.lipschitz == pytest.approx(_least_slope(member, point), rel=1e-6)
    assert curve.p == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("fpr", [0.05, 0.2, 0.5, 0.9])
def test_the_proven_floor_of_the_slope_is_the_least_slope_of_all_on_a_concave_roc(fpr):
    """Searches begin at the floor: above the least slope it would hide curves, and far below it would be of no use."""
    scores = np.arange(40.0)
    chance = 1 / (1 + np.exp(-(scores - 20) / 6))
    (member,) = eo.JointDistribution.from_counts({"a": (scores, 1 - chance, chance)}).members
    point = Point(fpr, fpr + 0.6 * (member.roc.height(fpr) - fpr))
    search = search_of(member, "cubic", point)
    assert float(search.slope_floor[0]) == pytest.approx(_least_slope(member, point), rel=1e-6)


@pytest.mark.parametrize("target", [(0.2, 0.5), (0.32, 0.66), (0.5, 0.7), (0.3, 0.35)])
@pytest.mark.parametrize("family", ["linear", "cubic"])
def test_the_slope_bound_of_a_dented_group_is_the_least_slope_of_all(family, target):
    """The pooled ROC has no dents and proves less; a small table's bound is the linear program's own."""
    joint = eo.JointDistribution.from_counts({"a": ([1, 2, 3, 4], [30, 5, 30, 5], [5, 30, 5, 30])})
    (bound,) = eo.fit(joint, target=target, curve=family).certificate.slope_bounds
    assert bound == pytest.approx(_least_slope(joint.members[0], Point(*target)), rel=1e-6)


# Next to the diagonal: of the curves, a hundred times as wide as the scores, few bend among them.
@example(
    (eo.JointDistribution.from_counts({"g0": ([-5, -3, -2], [1, 0, 1], [0, 1, 0])}), Point(0.53125, 0.5330810546875)),
    "linear",
    0.53125,
)
@given(reachable(), st.sampled_from(CONTINUOUS), st.floats(0.4, 0.6))
def test_the_gentlest_is_no_steeper_than_any_other_of_the_path(case, family, p):
    joint, point = case
    assume(_has_a_known_slope(point))
    (member,) = joint.members
    search = search_of(member, family, point)
    best = gentlest(search).curve(0)
    others = search.singles[0] or search.paths({0: np.array([p])})[0]
    assert all(best.lipschitz <= other.lipschitz * (1 + _slope_precision(family)) for other in others)


@given(reachable(), st.sampled_from(FAMILIES), st.floats(0.01, 100), st.floats(-100, 100))
def test_an_affine_change_of_the_scores_changes_only_the_scale(case, family, factor, shift):
    joint, point = case
    (member,) = joint.members
    moved = eo.JointDistribution.from_counts(
        {"g0": (member.scores * factor + shift, member.negatives, member.positives)}
    )
    assume(moved.members[0].scores.size == member.scores.size)
    assume(_has_a_known_slope(point))
    curve = gentlest(search_of(member, family, point)).curve(0)
    other = gentlest(search_of(moved.members[0], family, point)).curve(0)
    assert _residual(other, moved.members[0], point) <= 1e-11
    assert other.lipschitz * factor == pytest.approx(curve.lipschitz, rel=_slope_precision(family))


@given(reachable(), st.sampled_from(FAMILIES))
def test_negative_orientation_is_the_mirror_image(case, family):
    joint, point = case
    (member,) = joint.members
    mirrored = eo.JointDistribution.from_counts(
        {"g0": (-member.scores, member.negatives, member.positives)}, orientation="negative"
    )
    up = eo.fit(joint, target=point, curve=family).curves["g0"]
    down = eo.fit(mirrored, target=point, curve=family).curves["g0"]
    assert (down.t0, down.t1, down.p) == (-up.t0, -up.t1, up.p)
    assert np.array_equal(down(-member.scores), up(member.scores))
    assert down.lipschitz == up.lipschitz


@given(counts(), st.integers(0, 2**32 - 1), st.integers(2, 5))
def test_weights_repetitions_and_order_do_not_matter(table, seed, times):
    scores, negatives, positives = table
    rows = np.concatenate([scores, scores])
    label = np.repeat([0, 1], scores.size)
    weight = np.concatenate([negatives, positives])
    order = np.random.default_rng(seed).permutation(rows.size)
    joint = eo.JointDistribution.from_counts({"a": table})
    shuffled = eo.JointDistribution.from_arrays(
        rows[order], ["a"] * rows.size, label[order], weight=weight[order] * times
    )
    repeated = np.repeat(np.arange(rows.size), weight.astype(int) * times)
    copies = eo.JointDistribution.from_arrays(rows[repeated], ["a"] * repeated.size, label[repeated])
    roc = joint.members[0].roc
    point = Point(0.5, 0.5 + 0.5 * max(0.0, roc.height(0.5) - 0.5))
    found = {eo.fit(j, target=point).group_curves for j in (joint, shuffled, copies)}
    first, *others = [curves[0].lipschitz for curves in found]
    assert others == pytest.approx([first] * len(others), rel=1e-6)


@example(table=(np.array([0.0, 1.0]), np.array([6.0, 4.0]), np.array([3.0, 7.0])), fpr=0.3, share=0.5, family="cubic")
@given(counts(max_scores=2), st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.sampled_from(FAMILIES))
def test_a_crisp_scorer_is_randomised_with_thresholds_beyond_its_scores(table, fpr, share, family):
    joint = eo.JointDistribution.from_counts({"a": table})
    (member,) = joint.members
    top = member.roc.height(fpr)
    assume(top > fpr + 1e-6)
    point = Point(fpr, fpr + share * (top - fpr))
    curve = eo.fit(joint, target=point, curve=family).curves["a"]
    assert _residual(curve, member, point) <= 1e-12


def test_a_target_at_a_vertex_is_met_by_the_gentlest_ramp_and_by_a_threshold_where_curves_jump():
    joint = eo.JointDistribution.from_counts({"a": ([1, 2, 3], [5, 3, 2], [2, 3, 5])})
    (member,) = joint.members
    for family in CONTINUOUS:
        policy = eo.fit(joint, target=(0.2, 0.5), curve=family)
        assert _residual(policy.curves["a"], member, Point(0.2, 0.5)) <= 1e-12
        assert (
            policy.curves["a"].lipschitz
            <= eo.fit(joint, target=(0.2, 0.5), curve=family, max_slope=9).certificate.slopes[0]
        )
    linear = eo.fit(joint, target=(0.2, 0.5)).curves["a"]
    assert linear.lipschitz == pytest.approx(_least_slope(member, Point(0.2, 0.5)), rel=1e-9)
    for options in ({"target": (0.2, 0.5), "curve": "fixed"}, {"max_loss": 0}):
        curve = eo.fit(joint, **options).curves["a"]
        assert (curve.t0, curve.t1) == (3, 3)
        assert curve.lipschitz == np.inf


def test_a_target_on_the_diagonal_is_a_lottery():
    joint = eo.JointDistribution.from_counts({"a": ([1, 2, 3], [5, 3, 2], [2, 3, 5])})
    for family in FAMILIES:
        for rate in (0.0, 0.4, 1.0):
            curve = eo.fit(joint, target=(rate, rate), curve=family).curves["a"]
            assert curve([1, 2, 3]).tolist() == [rate] * 3
            assert curve.lipschitz == 0


def test_everybody_has_the_same_score():
    joint = eo.JointDistribution.from_counts({"a": ([7], [5], [5])})
    assert eo.fit(joint, target=(0.3, 0.3)).curves["a"](7) == 0.3
    with pytest.raises(eo.UnreachableError, match=r"at most 0\.3, 0\.1 less"):
        eo.fit(joint, target=(0.3, 0.4))


def test_a_vertical_run_of_the_roc_keeps_its_interval_of_positions():
    """No negatives between 3 and 9: any curve in the gap has the same FPR, and the widest starts at 3."""
    joint = eo.JointDistribution.from_counts({"a": ([1, 3, 5, 6, 7, 9], [4, 4, 0, 0, 0, 2], [1, 1, 2, 2, 2, 2])})
    (member,) = joint.members
    for family in CONTINUOUS:
        curve = gentlest(search_of(member, family, Point(0.2, 0.5))).curve(0)
        assert _residual(curve, member, Point(0.2, 0.5)) <= 1e-12


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("below", [0.0, 1e-13, 1e-9, 0.01, 0.1])
def test_points_in_a_dent_of_a_roc_are_met_by_mixes(family, below):
    """Everywhere between the ROC, (0, 0) - (0, 0.5) - (0.5, 0.5) - (0.5, 1) - (1, 1), and its hull."""
    joint = eo.JointDistribution.from_counts({"a": ([1, 2, 3, 4], [5, 0, 5, 0], [0, 5, 0, 5])})
    for fpr in (0.01, 0.25, 0.49):
        point = Point(fpr, 0.5 + fpr - below)
        policy = eo.fit(joint, target=point, curve=family)
        assert policy.certificate.residual <= 1e-12
        assert _residual(policy.curves["a"], joint.members[0], point) <= 1e-12
        if family != "fixed" and below <= 1e-9:  # farther below, a wide curve may fill the dent by itself
            assert policy.certificate.mixes == ("a",)
            assert "A mix of two curves: 'a'." in str(policy.certificate)


def test_hull_points_over_a_dent_are_met_by_fixed_curves():
    joint = eo.JointDistribution.from_counts({"a": ([0, 1, 2], [1, 3, 0], [1, 1, 3])})
    roc = joint.members[0].roc
    for fpr in np.linspace(0.01, 0.99, 99):
        for below in (0, 1e-15, 1e-13, 1e-11, 1e-6):
            point = Point(fpr, roc.hull_height(fpr) - below)
            assert (
                _residual(
                    gentlest(search_of(joint.members[0], "fixed", point)).curve(0),
                    joint.members[0],
                    point,
                )
                <= 1e-12
            )


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_scores_far_from_zero(offset):
    scores = np.arange(40.0)
    chance = 1 / (1 + np.exp(-(scores - 20) / 6))
    joint = eo.JointDistribution.from_counts({"a": (scores + offset, 100 * (1 - chance), 100 * chance)})
    policy = eo.fit(joint, target=(0.2, 0.5), curve="cubic")
    assert policy.certificate.residual <= 10 * np.spacing(offset)


@pytest.mark.guarantee
@given(reachable(), st.sampled_from(FAMILIES))
def test_guarantee_every_reachable_target_is_met(case, family):
    joint, point = case
    curve = gentlest(search_of(joint.members[0], family, point)).curve(0)
    assert _residual(curve, joint.members[0], point) <= 1e-12


def test_a_position_known_roughly_still_brackets_those_of_all_widths_between():
    """Positions at the two ends of the bracket were once known from one side only, and the point was missed."""
    joint = eo.JointDistribution.from_counts({"a": ([0.0, 1.0], [1.0, 0.0], [0.0, 1.0])})
    point = Point(0.0078125, 0.968994140625)
    path = gentlest(search_of(joint.members[0], "linear", point))
    curve = path.curve(0)
    assert float(curve(0)) == pytest.approx(point.fpr, abs=1e-12)
    assert float(curve(1)) == pytest.approx(point.tpr, abs=1e-12)
