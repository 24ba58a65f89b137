"""Details that a small slip would change without anybody noticing: each test here fails if one is made."""

from __future__ import annotations

import math

import numpy as np
import pytest

import evenodds as eo
from evenodds.model.target import baseline
from oracles import best_mix, constrained, goal_of, hull_optimum, lp_optimum, measured, roc_points, small_population
from populations import best_accuracy

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")


# -- which points ------------------------------------------------------------------------------------------------------

# Every positive of "a" is among its upper half, so its ROC runs level at TPR 1; "b" has a level run below that.
LEVEL = {"a": ([1, 2, 3, 4], [40, 30, 20, 10], [0, 0, 30, 70]), "b": ([1, 2, 3, 4], [5, 60, 30, 5], [10, 0, 30, 60])}


@pytest.mark.parametrize("family", ["fixed", "linear", "cubic", "optimal"])
@pytest.mark.parametrize("tolerance", [0.0, 0.03])
@pytest.mark.parametrize("costs", [(1, 1), (1, 4), (1, 50)])
def test_a_level_run_of_the_roc_is_left_at_its_left_end(family, tolerance, costs):
    """Under parity of true positive rates nobody has false positives that buy nothing."""
    joint = eo.JointDistribution.from_counts(LEVEL)
    cost = eo.Cost(*costs)
    budget = {} if family == "fixed" else {"max_slope": math.inf}
    asked = {"constraints": "true_positive_rate_parity", "tolerance": tolerance, "objective": cost}
    policy = eo.fit(joint, curve=family, **asked, **budget)
    points = [roc_points(member) for member in joint.members]
    goal = goal_of(joint, cost)
    rates = constrained(joint, "true_positive_rate_parity")
    best = best_mix(points, [np.ones(len(p)) for p in points], goal, rates, tolerance)
    assert goal.value(measured(policy, joint).points) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("family", ["fixed", "linear", "quartic", "optimal"])
def test_all_positives_are_found_with_the_fewest_false_positives(family):
    """The optimum is a true positive rate of 1 in both groups, each at the left end of its level run."""
    counts = {"a": ([1, 2, 3], [50, 30, 0], [0, 0, 90]), "b": ([1, 2, 3], [60, 10, 0], [0, 40, 60])}
    joint = eo.JointDistribution.from_counts(counts)
    budget = {} if family == "fixed" else {"max_slope": math.inf}
    for constraint in ("true_positive_rate_parity", "false_negative_rate_parity"):
        policy = eo.fit(joint, curve=family, constraints=constraint, **budget)
        assert measured(policy, joint).points == pytest.approx(np.array([[0, 1], [1 / 7, 1]]), abs=1e-9)
    assert policy.certificate.objective == pytest.approx(
        best_accuracy(joint, math.inf, "true_positive_rate_parity", 0), abs=1e-9
    )


def test_the_baselines_threshold_is_on_the_users_own_scale():
    """Of scores that speak against a yes, too: the rates of a yes up to it are the point."""
    counts = {"a": ([11, 12, 13], [8, 1, 1], [1, 1, 8]), "b": ([11, 12, 13], [5, 3, 2], [2, 3, 5])}
    falling = {key: (np.negative(scores), *people) for key, (scores, *people) in counts.items()}
    up = eo.JointDistribution.from_counts(counts)
    down = eo.JointDistribution.from_counts(falling, orientation="negative")
    assert baseline(up).threshold == 13
    assert baseline(down).threshold == -13
    for joint, is_yes in ((up, np.greater_equal), (down, np.less_equal)):
        found = baseline(joint)
        assert found.group == "b"
        scores, negatives, positives = (counts if joint is up else falling)["b"]
        yes = is_yes(scores, found.threshold)
        shares = (np.array(people)[yes].sum() / sum(people) for people in (negatives, positives))
        assert (found.point.fpr, found.point.tpr) == tuple(shares)
        policy = eo.fit(joint, target="baseline")
        assert policy.curves["b"].t0 == policy.curves["b"].t1 == found.threshold
        assert measured(policy, joint).points == pytest.approx(np.tile([0.2, 0.5], (2, 1)), abs=1e-12)


@pytest.mark.parametrize(
    "target",
    [
        (-0.1, 0.5),
        (-1e-9, 0.5),
        (0.1, 1.2),
        (0.1, 1 + 1e-9),
        (1.2, 1.0),  # the true positive rate alone would pass
        (-0.1, -0.1),
        (1.5, 1.5),
        (math.nan, 0.5),
    ],
)
@pytest.mark.parametrize("family", ["fixed", "linear", "optimal"])
def test_a_target_that_is_no_pair_of_rates_is_refused(target, family):
    joint = eo.datasets.compas()
    with pytest.raises(eo.OptionError, match="not a pair of rates"):
        eo.fit(joint, target=target, curve=family)
    if family != "optimal":
        with pytest.raises(eo.OptionError, match="not a pair of rates"):
            eo.solutions(joint, target=target, curve=family)


# -- which curves ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [1e6, -1e6, 2.0**30])
@pytest.mark.parametrize("orientation", ["positive", "negative"])
def test_an_optimal_curve_far_from_zero_is_the_same_curve(offset, orientation):
    """Its nodes move with it; the steps are whole numbers, so that moving them is exact."""
    scores = np.arange(24.0)
    chance = 1 / (1 + np.exp(-(scores - 12) / 4))
    counts = {"a": (100 * (1 - chance), 100 * chance), "b": (80 * (1 - chance**2), 60 * chance**2)}
    sign = 1 if orientation == "positive" else -1
    near, far = (
        eo.JointDistribution.from_counts(
            {key: (sign * (scores + at), *people) for key, people in counts.items()}, orientation=orientation
        )
        for at in (0.0, offset)
    )
    asked = {"curve": "optimal", "max_slope": 0.15}
    one, two = eo.fit(near, **asked), eo.fit(far, **asked)
    assert measured(two, far).apart("equalized_odds") <= 1e-9
    assert measured(two, far).accuracy == pytest.approx(best_accuracy(near, 0.15, "equalized_odds", 0), abs=1e-9)
    for group in counts:
        mine, moved = one.curves[group], two.curves[group]
        assert moved.family == "optimal"
        between = scores[:-1] + 0.5
        for at in (scores, between):
            assert moved(sign * (at + offset)) == pytest.approx(mine(sign * at), abs=1e-8)
        assert moved.lipschitz == pytest.approx(mine.lipschitz, rel=1e-6)


def test_a_small_slope_over_a_wide_gap_is_no_straight_line():
    """A node is left out where the odds do without it, not where its slope is small beside the steepest."""
    scores = [0.0, 1.0, 2.0, 1e9]
    for odds in ([0.0, 0.02, 0.02, 0.026], [0.0, 0.5, 0.5, 0.506], [0.1, 0.1, 0.9, 0.9 + 1e-9]):
        assert eo.Curve.through(scores, odds)(scores) == pytest.approx(odds, abs=1e-15)
        mirrored = eo.Curve.through(np.negative(scores), odds, orientation="negative")
        assert mirrored(np.negative(scores)) == pytest.approx(odds, abs=1e-15)


@pytest.mark.parametrize("sentinel", [-1e9, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("family", ["linear", "cubic", "optimal"])
def test_a_score_far_away_is_a_score(sentinel, family):
    """Some people's score is mistyped, or stands for unknown: their odds count as all others do."""
    rng = np.random.default_rng(11)
    label = rng.random(90) < 0.5
    score = np.round(rng.normal(1.5 * label, 1), 1)
    score[::9] = sentinel
    joint = eo.JointDistribution.from_arrays(score, np.arange(90) % 3, label)
    for slope in (0.2, 0.5, 2.0):
        policy = eo.fit(joint, curve=family, max_slope=slope)
        assert measured(policy, joint).apart("equalized_odds") <= 1e-9
        best = lp_optimum(joint, slope)
        least = best if family == "optimal" else hull_optimum(joint, slope, family=family)
        assert least - 1e-7 <= measured(policy, joint).accuracy <= best + 1e-9


def _weights(member):
    return (member.negatives + member.positives) / (member.negatives + member.positives).sum()


def _change(curve, member, share):
    """E[odds(R + d) - odds(R - d)] where d is this share of the score range, or half the median gap if that is more."""
    scores = member.scores
    d = max(share * (scores[-1] - scores[0]), float(np.median(np.diff(scores))) / 2)
    return float(_weights(member) @ (curve(scores + d) - curve(scores - d)))


def _randomized(curve, member):
    odds = curve(member.scores)
    return float(_weights(member)[(odds > 1e-12) & (odds < 1 - 1e-12)].sum())


def test_robust_is_measured_at_one_percent_of_the_score_range():
    joint, asked = eo.datasets.credit_risk(), {"target": (0.2, 0.75), "curve": "quadratic"}
    policy = eo.fit(joint, criterion="robust", **asked)
    paths = eo.solutions(joint, p=np.linspace(0.05, 0.95, 181), **asked).paths
    better_at_five = []
    for member in joint.members:
        own, listed = policy.curves[member.key], list(paths[member.key])
        assert len(listed) == 181
        assert _change(own, member, 0.01) <= min(_change(curve, member, 0.01) for curve in listed) * (1 + 1e-6)
        better_at_five.append(_change(own, member, 0.05) - min(_change(curve, member, 0.05) for curve in listed) > 1e-4)
    assert any(better_at_five)  # so the two measures choose different curves here


def _small_table(rng):
    """4 to 12 scores, evenly spaced or not; now and then nobody of one label has a score."""
    n = int(rng.integers(4, 13))
    scores = np.cumsum(rng.integers(1, 6, n) if rng.random() < 0.5 else rng.uniform(0.1, 3, n)).astype(float)
    rising = np.linspace(0.1, 0.9, n)
    negatives = rng.poisson(20 * (1 - rising) * rng.uniform(0.3, 1.7, n))
    positives = rng.poisson(20 * rising * rng.uniform(0.3, 1.7, n))
    negatives[0] += 1
    positives[-1] += 1
    return eo.JointDistribution.from_counts({"a": (scores, negatives, positives)})


def _random_target(rng, joint):
    """A point between the diagonal and the ROC, clear of both."""
    line = roc_points(joint.members[0])
    while True:
        fpr = float(rng.uniform(0.02, 0.9))
        top = float(np.interp(fpr, *line.T))
        if top - fpr > 0.02:
            return fpr, fpr + float(rng.uniform(0.1, 0.95)) * (top - fpr)


def _never_beaten(seed, criterion, family, measure, rel):
    rng = np.random.default_rng([seed, 150])
    joint = _small_table(rng)
    target = _random_target(rng, joint)
    (member,) = joint.members
    policy = eo.fit(joint, target=target, curve=family, criterion=criterion)
    ends = (0.4, 0.6) if family == "quartic" else (0.05, 0.95)
    listed = list(eo.solutions(joint, target=target, curve=family, p=np.linspace(*ends, 91)).paths["a"])
    own, others = measure(policy.curves["a"], member), [measure(curve, member) for curve in listed]
    best = int(np.argmin(others))
    assert own <= others[best] * (1 + rel) + 1e-12, f"p={policy.curves['a'].p}: {own}, {listed[best].p}: {others[best]}"


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.parametrize("family", ["linear"])
def test_nobody_randomizes_fewer_people(seed, family):
    _never_beaten(seed, "fewest_randomized", family, _randomized, 1e-12)


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.parametrize("family", ["quadratic"])
def test_nobody_is_more_robust(seed, family):
    _never_beaten(seed, "robust", family, lambda curve, member: _change(curve, member, 0.01), 1e-6)


def test_a_level_run_of_a_measure_is_one_valley():
    """Half of the path is as sensitive as p = 1/2 is; the deepest valley is a narrow one on the other half."""
    _never_beaten(1041, "robust", "linear", lambda curve, member: _change(curve, member, 0.01), 1e-6)


def test_a_gentler_curve_beside_the_symmetric_one_is_found():
    """It is of another branch of solutions, which a few p between 0.48 and 0.5 have: a coarse grid passes over it."""
    rng = np.random.default_rng(183)
    n = int(rng.choice([15, 30, 60, 150, 300]))
    label = rng.integers(0, 2, n)
    label[:2] = [0, 1]
    score = np.round(1 / (1 + np.exp(-2 * rng.normal(rng.uniform(0.3, 2) * label, 1))), 2)
    joint = eo.JointDistribution.from_arrays(score, ["a"] * n, label)
    roc = joint.members[0].roc
    beaten = []
    for fpr in np.linspace(0.1, 0.9, 9):
        target = float(fpr), float(fpr + 0.8 * (roc.height(fpr) - fpr))
        own = eo.fit(joint, target=target, curve="quadratic").curves["a"].lipschitz
        path = eo.solutions(joint, target=target, curve="quadratic", p=np.linspace(0.05, 0.95, 361)).paths["a"]
        beaten.append(own / min(curve.lipschitz for curve in path))
    assert max(beaten) <= 1.005


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(150))
@pytest.mark.parametrize("family", ["linear", "quadratic", "cubic", "quartic"])
def test_guarantee_nobody_is_more_robust_or_randomizes_fewer(seed, family):
    _never_beaten(1000 + seed, "fewest_randomized", family, _randomized, 1e-12)
    _never_beaten(1000 + seed, "robust", family, lambda curve, member: _change(curve, member, 0.01), 1e-6)


@pytest.mark.parametrize("family", ["quadratic", "cubic", "quartic"])
@pytest.mark.parametrize("seed", range(3))
def test_a_curve_far_wider_than_the_scores_is_placed_anywhere(seed, family):
    """Its steep middle may pass over all scores between two places at which it begins or ends at one of them."""
    joint = small_population(seed)
    lo, hi = joint.score_range
    slope = 0.02 / (hi - lo)
    objective = eo.fit(joint, curve=family, max_slope=slope).certificate.objective
    assert objective >= hull_optimum(joint, slope, family=family) - 1e-7
