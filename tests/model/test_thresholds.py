"""One hard threshold for each group: the best within a tolerance, against every choice there is."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenodds as eo
from chance import best_of_all_thresholds, few_scores
from evenodds.model.thresholds import _RangeMaxima
from oracles import RATES, measured

CONSTRAINTS = tuple(RATES)
OBJECTIVES = ("accuracy_score", "balanced_accuracy_score", eo.Cost(false_positive=1, false_negative=3))


def best_matches(seed):
    joint = few_scores(seed, people=30)
    constraint, tolerance = CONSTRAINTS[seed % len(CONSTRAINTS)], (0.02, 0.05, 0.1, 0.2)[seed % 4]
    objective = OBJECTIVES[seed % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eo.EvenoddsWarning)
        policy = eo.fit(joint, curve="threshold", constraints=constraint, tolerance=tolerance, objective=objective)
    certificate = policy.certificate
    best = best_of_all_thresholds(joint, constraint, tolerance, objective)
    assert certificate.objective == pytest.approx(best, abs=1e-12)
    assert certificate.objective_bound == pytest.approx(best, abs=1e-12)
    found = measured(policy, joint)
    assert found.apart(constraint) <= tolerance + 1e-12
    assert all(set(np.unique(odds)) <= {0.0, 1.0} for odds in found.odds)
    assert certificate.randomized == (0.0,) * len(joint.groups)


@pytest.mark.parametrize("seed", range(40))
def test_no_choice_of_thresholds_is_better(seed):
    best_matches(seed)


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(40, 340))
def test_guarantee_no_choice_of_thresholds_is_better(seed):
    best_matches(seed)


def best_of_two_groups(joint, constraint, tolerance):
    """The greatest accuracy of a threshold for each of two groups, by a look at every pair."""
    counts = [np.stack([group.negatives, group.positives])[:, ::-1] for group in joint.members]
    people = [count.sum(axis=1) for count in counts]
    points = [np.cumsum(np.insert(n, 0, 0, axis=1), axis=1) / n.sum(axis=1)[:, None] for n in counts]
    right = [n[1] * roc[1] + n[0] * (1 - roc[0]) for n, roc in zip(people, points, strict=True)]
    if constraint == "demographic_parity":
        rates = [(n @ roc / n.sum())[None] for n, roc in zip(people, points, strict=True)]
    else:
        rates = points
    best = -np.inf
    for own, at in zip(right[0], rates[0].T, strict=True):
        within = (np.abs(rates[1] - at[:, None]) <= tolerance + 1e-12).all(axis=0)
        best = max(best, own + right[1][within].max(initial=-np.inf))
    return best / joint.total


@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
@pytest.mark.parametrize("constraint", ["equalized_odds", "demographic_parity"])
@pytest.mark.parametrize("tolerance", [0.0, 1e-4, 1e-3, 0.01, 0.1])
def test_many_scores_are_looked_at_one_by_one(constraint, tolerance):
    rng = np.random.default_rng(5)
    group = rng.integers(0, 2, 12_000)
    label = rng.random(group.size) < 0.35
    score = rng.normal(0, 1, group.size) + (1 + 0.4 * group) * label
    joint = eo.JointDistribution.from_arrays(score, group.astype(str), label.astype(int))
    certificate = eo.fit(joint, curve="threshold", constraints=constraint, tolerance=tolerance).certificate
    best = best_of_two_groups(joint, constraint, tolerance)
    assert certificate.objective == pytest.approx(best, abs=1e-12)
    assert certificate.objective_bound == pytest.approx(best, abs=1e-12)
    assert certificate.difference <= tolerance + 1e-12


@given(
    numbers=st.lists(st.integers(-5, 5), min_size=1, max_size=120),
    ends=st.lists(st.tuples(st.integers(0, 120), st.integers(0, 120)), min_size=1, max_size=30),
)
def test_the_greatest_of_every_run(numbers, ends):
    first, stop = np.minimum(np.array(ends).T, len(numbers))
    expected = [max(numbers[i:j], default=-np.inf) for i, j in zip(first, stop, strict=True)]
    assert _RangeMaxima(np.array(numbers, float)).between(first, stop).tolist() == expected


def test_where_only_constants_are_within_the_tolerance_it_says_from_where_on_they_are_not():
    joint = eo.datasets.compas()
    with pytest.warns(eo.EvenoddsWarning, match=r"no thresholds do better than a (yes|no) for everybody") as told:
        policy = eo.fit(joint, curve="threshold", tolerance=0.01)
    assert all(curve.is_constant for curve in policy.group_curves)
    text = str(told[0].message)
    least = float(text.split("from tolerance=")[1].split(" ", maxsplit=1)[0])
    better = eo.fit(joint, curve="threshold", tolerance=least)
    assert better.certificate.objective > policy.certificate.objective
    with pytest.warns(eo.EvenoddsWarning, match="no thresholds do better"):
        eo.fit(joint, curve="threshold", tolerance=least - 2e-5)
    names = [name for name in joint.groups if repr(name) in text]
    rates = {name: better.certificate.points[name] for name in names}
    assert len(names) == 2
    apart = max(abs(rates[names[0]].fpr - rates[names[1]].fpr), abs(rates[names[0]].tpr - rates[names[1]].tpr))
    assert apart == pytest.approx(better.certificate.difference)


def test_a_constant_that_is_best_whatever_the_tolerance():
    joint = eo.JointDistribution.from_arrays(
        [1, 2, 3, 4] * 100, ["a"] * 200 + ["b"] * 200, [0, 1, 0, 1, 0, 0, 0, 0] * 25 + [0, 0, 1, 0] * 50
    )
    with pytest.warns(eo.EvenoddsWarning, match="no thresholds do better than a no for everybody, nor do they"):
        policy = eo.fit(joint, curve="threshold", tolerance=0.1)
    assert policy.odds([1, 4], "a").tolist() == [0.0, 0.0]


def test_thresholds_are_kept_and_named(tmp_path):
    joint = eo.datasets.credit_risk()
    policy = eo.fit(joint, curve="threshold", tolerance=0.05)
    assert policy.certificate.objective == pytest.approx(0.8696959, abs=1e-7)
    assert repr(policy).startswith("Policy(4 groups, threshold, ")
    assert "no thresholds within the tolerance get above 0.869696 (branch and bound)" in str(policy)
    policy.save(tmp_path / "policy.json")
    assert eo.Policy.load(tmp_path / "policy.json") == policy
    sure = eo.fit(joint, curve="threshold", tolerance=0.1, confidence=0.95)
    assert sure.certificate.population_bound() <= 0.1


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), first=st.floats(0, 0.3), second=st.floats(0, 0.3))
@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_a_larger_tolerance_never_costs_anything(seed, first, second):
    joint = few_scores(seed, people=20)
    strict, wide = (
        eo.fit(joint, curve="threshold", tolerance=tolerance).certificate for tolerance in sorted((first, second))
    )
    assert wide.objective >= strict.objective - 1e-12


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_slope": 1.0}, "A threshold jumps, so no slope budget can hold"),
        ({"max_loss": 0.1}, "A threshold jumps"),
        ({"target": (0.2, 0.5)}, "a threshold for each group rarely meets it"),
        ({"keep_individual_odds": True}, "keep_individual_odds=True needs odds that run from 0 to 1"),
        ({"criterion": "robust"}, "a threshold has none. Allowed: 'gentlest'"),
        ({"selection_rate": 0.2}, "which thresholds alone rarely have"),
        ({"max_randomized": 0.2}, "with curve='threshold' nobody is"),
    ],
)
def test_what_does_not_go_with_thresholds(options, told):
    with pytest.raises(eo.OptionError, match=told):
        eo.fit(eo.datasets.compas(), curve="threshold", **options)


@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_a_group_of_one_score_far_from_0_is_told_no():
    score = [1e9] * 40 + [1e9 - 1, 1e9, 1e9 + 1, 1e9 + 2] * 10
    label = [0, 0, 0, 1] * 10 + [0, 0, 1, 1] * 10
    joint = eo.JointDistribution.from_arrays(score, ["a"] * 40 + ["b"] * 40, label)
    policy = eo.fit(joint, curve="threshold", tolerance=1.0)
    assert policy.odds([1e9], "a").tolist() == [0.0]
    assert policy.certificate.objective == pytest.approx(
        best_of_all_thresholds(joint, "equalized_odds", 1.0, "accuracy_score")
    )


@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_thresholds_that_hold_for_new_people_are_the_best_of_those_looked_at():
    joint = eo.datasets.compas()
    certificate = eo.fit(joint, curve="threshold", tolerance=0.2, confidence=0.95).certificate
    assert certificate.population_bound() <= 0.2
    for share in (0.85, 0.55, 0.25):
        strict = eo.fit(joint, curve="threshold", tolerance=0.2 * share).certificate
        if strict.population.is_within(0.2, 0.95, "asymptotic"):
            assert certificate.objective >= strict.objective - 1e-12
    assert f"no thresholds within the tolerance of {certificate.sample_tolerance:.4g} at the fit" in str(certificate)


def test_the_threshold_nearest_to_a_perfect_score_where_groups_are_alike():
    rng = np.random.default_rng(2)
    label = rng.integers(0, 2, 60)
    score = rng.integers(0, 12, 60) + 4 * label
    joint = eo.JointDistribution.from_arrays(np.tile(score, 8), np.repeat(["a", "b"], 240), np.tile(label, 8))
    certificate = eo.fit(joint, curve="threshold", objective="closest_to_perfect").certificate
    yes = score >= np.unique(score)[:, None]
    rates = np.stack([yes[:, label == 0].mean(axis=1), yes[:, label == 1].mean(axis=1)])
    best = np.hypot(rates[0], 1 - rates[1]).min()
    assert best < 0.6
    assert certificate.objective == pytest.approx(best, abs=1e-12)
    assert certificate.objective_bound == pytest.approx(best, abs=1e-12)
