"""Large groups, kept sorted instead of counted: the same answers as the table of the same people."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.geometry import samples, threads
from evenodds.geometry.hull import height
from evenodds.model import groups, intake
from evenodds.model.bounds import Bounds
from evenodds.model.goals import constraint_of, objective_of
from evenodds.model.groups import Group
from evenodds.model.target import best_below_lines
from strategies import alone


def _people(seed, n, *, ties=False, weighted=False):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    label = rng.random(n) < 0.3 + 0.15 * group
    score = rng.normal(0, 1, n) + (1 + 0.4 * group) * label
    if ties:
        score = np.round(score, 2)
    return score, group, label.astype(int), rng.uniform(0.5, 2, n) if weighted else None


def _both(monkeypatch, people, **options):
    """The same people as large groups and as tables."""
    score, group, label, weight = people
    tables = eo.JointDistribution.from_arrays(score, group, label, weight=weight, **options)
    assert not any(member.is_large for member in tables.members)
    monkeypatch.setattr(samples, "FEW", 0)
    monkeypatch.setattr(groups, "_TIED", 10**9)
    large = eo.JointDistribution.from_arrays(score, group, label, weight=weight, **options)
    assert all(member.is_large for member in large.members)
    return large, tables


CASES = [(60, False, False), (300, True, False), (3000, False, True), (3000, True, True), (20_000, False, False)]


@pytest.mark.parametrize(("n", "ties", "weighted"), CASES)
@pytest.mark.parametrize("orientation", ["positive", "negative"])
def test_the_table_can_be_made_of_a_large_group(monkeypatch, n, ties, weighted, orientation):
    people = _people(n, n, ties=ties, weighted=weighted)
    large, tables = _both(monkeypatch, people, orientation=orientation)
    for one, other in zip(large.members, tables.members, strict=True):
        assert np.array_equal(one.scores, other.scores)
        assert one.class_conditional == pytest.approx(other.class_conditional, abs=1e-15)
        for mine, theirs in zip(one.by_label, other.by_label, strict=True):
            assert mine.n_effective == pytest.approx(theirs.n_effective)
        assert one.ends == other.ends
        assert (one.negative_total, one.positive_total) == pytest.approx((other.negative_total, other.positive_total))


@pytest.mark.parametrize(("n", "ties", "weighted"), CASES)
def test_the_roc_of_a_large_group(monkeypatch, n, ties, weighted):
    large, tables = _both(monkeypatch, _people(n, n, ties=ties, weighted=weighted))
    rng = np.random.default_rng(n)
    for one, other in zip(large.members, tables.members, strict=True):
        ours, theirs = one.roc, other.roc
        assert ours.auc == pytest.approx(theirs.auc, abs=1e-12)
        assert ours.is_backwards == theirs.is_backwards
        at = np.concatenate([rng.random(100), theirs.fpr[rng.integers(0, theirs.fpr.size, 100)]])
        at = at[(at > 0) & (at < 1 - 1e-9)]
        heights = [ours.height(float(fpr)) for fpr in at]
        assert heights == pytest.approx(height(theirs.fpr, theirs.tpr, at), abs=1e-9)
        assert ours.height(1.0) == 1
        # Of points on a straight edge rounding may keep some: heights are what counts.
        for fpr in (ours.hull[0], theirs.hull[0]):
            assert (height(*ours.hull, fpr + 1e-12) >= height(*theirs.hull, fpr) - 1e-9).all()
            assert (height(*theirs.hull, fpr + 1e-12) >= height(*ours.hull, fpr) - 1e-9).all()
        assert ours.rates_from(ours.hull_thresholds[1:]) == pytest.approx(np.array(ours.hull)[:, 1:], abs=1e-15)


@pytest.mark.parametrize(("n", "ties", "weighted"), CASES)
def test_pooling_a_large_group(monkeypatch, n, ties, weighted):
    large, tables = _both(monkeypatch, _people(n, n, ties=ties, weighted=weighted))
    at = np.linspace(-4, 6, 101)
    for one, other in zip(large.members, tables.members, strict=True):
        (share, moment), (share_, moment_) = (
            alone(group).pooled.sums_below(at, np.array([0, at.size])) for group in (one, other)
        )
        assert share == pytest.approx(share_, abs=1e-12)
        assert moment == pytest.approx(moment_, abs=1e-11)


@pytest.mark.parametrize("slope", [0.3, 2.0])
def test_tangents_lie_above_the_exact_bound_and_touch_it(monkeypatch, slope):
    large, tables = _both(monkeypatch, _people(3, 20_000))
    for one, other in zip(large.members, tables.members, strict=True):
        exact = _exact_bound(other, slope)
        pooled = alone(one).pooled
        far = pooled.upper_bounds(slope)
        for (bound,) in (far, pooled.refined(far, [eo.Point(0.3, 0.8)])):
            x, y = bound.polyline
            at = np.linspace(1e-6, 1, 500)
            assert (height(x, y, at) >= height(*exact, at) - 1e-12).all()
        assert height(x, y, 0.3) == pytest.approx(float(height(*exact, 0.3)), abs=1e-9)
        assert (height(x, y, at) - height(*exact, at)).max() < 1e-3


def _exact_bound(group: Group, slope: float):
    """Every vertex of the blurred pooled ROC."""
    from evenodds.geometry.hull import concave_hull  # noqa: PLC0415

    t0 = np.unique(np.concatenate([group.scores, group.scores - 1 / slope]))[::-1]
    rates = alone(group).pooled.ramps(t0, t0 + 1 / slope, np.array([0, t0.size]))
    x, y = (np.append(0.0, side) for side in np.clip(rates, 0, 1))
    x, y = np.maximum.accumulate(x), np.maximum.accumulate(y)
    kept = concave_hull(x, y)
    return x[kept], y[kept]


@pytest.mark.parametrize("constraint", [("equalized_odds", 0.0), ("demographic_parity", 0.05)])
def test_the_bound_on_the_gain_is_drawn_closely_around_the_best_points(constraint):
    """The first tangents alone are off by more than 5e-5 here, some percents of the gap that a certificate tells."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=24_000)
    label = rng.random(24_000) < 1 / (1 + np.exp(-2 * score))
    joint = eo.JointDistribution.from_arrays(score, rng.integers(0, 2, 24_000), label)
    asked, goal = constraint_of(*constraint), objective_of("accuracy_score", joint)
    exact = goal.gain(best_below_lines(joint, [_exact_bound(m, 0.2) for m in joint.members], goal, asked))
    points, slopes = [eo.Point(0.0, 0.0)] * 2, [0.0] * 2
    bound, _ = Bounds(joint, goal, asked, 0.2, points, points, slopes, 1.0).tightest_gain(1.0)
    assert exact - 1e-12 <= bound <= exact + 1e-6


@pytest.mark.parametrize(("ties", "weighted"), [(False, False), (True, True)])
@pytest.mark.parametrize("orientation", ["positive", "negative"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_slope": 0.5},
        {"max_loss": 0.0},
        {"target": (0.3, 0.6)},
        {"curve": "cubic", "max_slope": 1.0},
        {"curve": "fixed"},
        {"constraints": "demographic_parity", "max_slope": 1.0},
        {"objective": "closest_to_perfect"},
        {"criterion": "fewest_randomized", "max_slope": 1.0},
        {"tolerance": 0.05, "max_slope": 1.0},
        {"keep_individual_odds": True},
    ],
    ids=str,
)
def test_the_same_policy_as_from_the_table(monkeypatch, options, ties, weighted, orientation):
    score, group, label, weight = _people(7, 6000, ties=ties, weighted=weighted)
    score = score if orientation == "positive" else -score
    large, tables = _both(monkeypatch, (score, group, label, weight), orientation=orientation)
    one, other = (eo.fit(joint, **options).certificate for joint in (large, tables))
    assert one.residual < 1e-12
    assert one.objective == pytest.approx(other.objective, abs=1e-8)
    sign = -1 if one.smaller_is_better else 1
    assert sign * one.objective_bound >= sign * max(one.objective, other.objective) - 1e-8
    assert one.gap < other.gap + (0.01 if ties else 1e-4)
    slopes = np.array([one.slopes, other.slopes])
    finite = np.isfinite(slopes).all(axis=0)
    assert np.array_equal(np.isfinite(slopes[0]), np.isfinite(slopes[1]))
    assert slopes[0][finite] == pytest.approx(slopes[1][finite], rel=1e-3)
    for bound, slope in zip(one.slope_bounds, one.slopes, strict=True):
        assert bound <= slope


def test_rates_are_those_of_a_plain_sum(monkeypatch):
    people = _people(1, 20_000)
    large, _ = _both(monkeypatch, people)
    policy = eo.fit(large)
    score, group, label, _ = people
    odds = policy.odds(score, group)
    for key in policy.groups:
        own = group == int(key)
        point = policy.certificate.points[key]
        assert point.fpr == pytest.approx(odds[own & (label == 0)].mean(), abs=1e-12)
        assert point.tpr == pytest.approx(odds[own & (label == 1)].mean(), abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(2, 400), st.integers(1, 6), st.booleans(), st.booleans())
def test_people_are_partitioned_and_counted_as_one_by_one(seed, n, count, whole, weighted):
    rng = np.random.default_rng(seed)
    score = rng.integers(-5, 6, n).astype(float) if whole else rng.normal(0, 1, n)
    group, label = rng.integers(0, count, n), rng.integers(0, 2, n)
    group = np.concatenate([group, np.repeat(np.arange(count), 2)])
    label = np.concatenate([label, np.tile([0, 1], count)])
    score = np.concatenate([score, np.zeros(2 * count)])
    weight = rng.integers(0, 4, score.size).astype(float) if weighted else None
    if weighted:
        weight[n:] = 1
    joint = eo.JointDistribution.from_arrays(score, group, label, weight=weight)
    counts = np.ones(score.size) if weight is None else weight
    for member in joint.members:
        own = (group == int(member.key)) & (counts > 0)
        assert np.array_equal(member.scores, np.unique(score[own]))
        for side, found in ((0, member.negatives), (1, member.positives)):
            plain = [counts[own & (score == s) & (label == side)].sum() for s in member.scores]
            assert found.tolist() == plain


def test_threads_give_each_row_to_its_part(monkeypatch):
    monkeypatch.setattr(intake, "_BLOCK", 64)
    monkeypatch.setattr(threads, "THREADS", 3)
    rng = np.random.default_rng(0)
    score, part = rng.normal(0, 1, 5000), rng.integers(0, 7, 5000).astype(np.uint8)
    (parted,), bounds = intake._partitioned([score], part, 7)  # noqa: SLF001
    for i in range(7):
        assert np.array_equal(np.sort(parted[bounds[i] : bounds[i + 1]]), np.sort(score[part == i]))
