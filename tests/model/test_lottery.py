"""Few people decided by chance: the best policy within a budget on them, against a mixed-integer program."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evenodds as eo
from chance import best_with_few, few_scores
from oracles import RATES, measured

CONSTRAINTS = tuple(RATES)
OBJECTIVES = ("accuracy_score", eo.Cost(false_positive=1, false_negative=2), "balanced_accuracy_score")

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")


def chance_in(policy, joint):
    """The share of everybody, and of each group, whose odds are neither 0 nor 1."""
    odds = measured(policy, joint).odds
    random = [(y > 1e-12) & (y < 1 - 1e-12) for y in odds]
    people = [member.negatives + member.positives for member in joint.members]
    held = [float(own[r].sum()) for own, r in zip(people, random, strict=True)]
    return sum(held) / joint.total, [part / own.sum() for part, own in zip(held, people, strict=True)]


def matches_the_program(seed):
    joint = few_scores(seed)
    constraint = "equalized_odds" if seed % 2 else CONSTRAINTS[seed % len(CONSTRAINTS)]
    tolerance, share = (0.0, 0.05, 0.02, 0.1)[(seed // 2) % 4], (0.05, 0.1, 0.2)[seed % 3]
    budget = {"max_randomized_by_group": share} if seed % 5 == 0 else {"max_randomized": share}
    rate = None if seed % 3 else (0.2, 0.35, 0.6)[(seed // 3) % 3]
    objective = OBJECTIVES[(seed // 2) % 3]
    best = best_with_few(
        joint,
        constraint,
        tolerance,
        objective,
        everybody=budget.get("max_randomized"),
        by_group=budget.get("max_randomized_by_group"),
        selection_rate=rate,
    )
    asked = {
        "constraints": constraint,
        "tolerance": tolerance,
        "objective": objective,
        "selection_rate": rate,
        **budget,
    }
    if best is None:
        with pytest.raises(eo.UnreachableError, match="No policy was found with selection_rate="):
            eo.fit(joint, **asked)
        return
    policy = eo.fit(joint, **asked)
    certificate = policy.certificate
    assert certificate.objective == pytest.approx(best, abs=1e-7)
    assert certificate.objective_bound == pytest.approx(best, abs=1e-7)
    found = measured(policy, joint)
    assert found.apart(constraint) <= tolerance + 1e-9
    everybody, by_group = chance_in(policy, joint)
    assert everybody <= budget.get("max_randomized", 1) + 1e-12
    assert max(by_group) <= budget.get("max_randomized_by_group", 1) + 1e-12
    assert certificate.randomized == pytest.approx(by_group, abs=1e-12)
    if rate is not None:
        people = np.array([member.total for member in joint.members])
        assert float(found.selected @ people) / joint.total == pytest.approx(rate, abs=1e-9)
        assert certificate.selected == pytest.approx(rate, abs=1e-9)


@pytest.mark.parametrize("seed", range(45))
def test_as_good_as_a_mixed_integer_program(seed):
    matches_the_program(seed)


@pytest.mark.guarantee
@pytest.mark.parametrize("seed", range(45, 200))
def test_guarantee_as_good_as_a_mixed_integer_program(seed):
    matches_the_program(seed)


@pytest.mark.parametrize(
    ("data", "options", "best"),
    [
        ("credit_risk", {"max_randomized": 0.05}, 0.7085655),
        ("credit_risk", {"max_randomized": 0.1}, 0.7459989),
        ("credit_risk", {"max_randomized": 0.05, "tolerance": 0.02}, 0.8216592),
        ("credit_risk", {"max_randomized": 0.6}, 0.8396093),
        ("compas", {"max_randomized": 0.2}, 0.6357817),
        ("compas", {"max_randomized": 0.05, "tolerance": 0.05}, 0.6447549),
    ],
)
def test_the_bundled_people(data, options, best):
    joint = getattr(eo.datasets, data)()
    certificate = eo.fit(joint, **options).certificate
    assert certificate.objective == pytest.approx(best, abs=1e-7)
    assert certificate.gap <= 1e-9
    assert certificate.residual <= 1e-12


@pytest.mark.parametrize("tolerance", [0.02, 0.05, 0.2])
def test_nobody_by_chance_is_a_threshold_for_each_group(tolerance):
    joint = eo.datasets.credit_risk()
    nobody = eo.fit(joint, max_randomized=0, tolerance=tolerance).certificate
    assert nobody.objective == pytest.approx(
        eo.fit(joint, curve="threshold", tolerance=tolerance).certificate.objective
    )


def test_a_budget_that_does_not_bind_costs_nothing():
    joint = eo.datasets.compas()
    free = eo.fit(joint, max_randomized=1.0).certificate
    assert free.objective == pytest.approx(eo.fit(joint, max_loss=0).certificate.objective, abs=1e-12)
    assert free.loss == pytest.approx(0, abs=1e-12)


def test_the_nearest_point_to_perfect():
    joint = eo.datasets.credit_risk()
    asked = {"objective": "closest_to_perfect"}
    free, best = (eo.fit(joint, **asked, **more).certificate for more in ({"max_randomized": 1.0}, {"max_loss": 0}))
    assert free.objective == pytest.approx(best.objective, abs=1e-12)
    for seed in (4, 7, 10):
        joint = few_scores(seed)
        few = eo.fit(joint, **asked, max_randomized=0.2).certificate
        shortest = best_with_few(joint, "equalized_odds", 0.0, "closest_to_perfect", everybody=0.2)
        assert shortest - 1e-9 <= few.objective <= shortest * (1 + 1e-5) + 1e-9
        assert few.objective < 1 - 1e-3  # nearer than a yes or a no for everybody


def test_among_the_best_the_curves_are_as_gentle_as_the_people_left_to_chance_allow():
    joint = eo.datasets.credit_risk()
    slopes = [max(eo.fit(joint, max_randomized=share).certificate.slopes) for share in (0.2, 0.6)]
    assert slopes[1] <= slopes[0] + 1e-9
    assert all(np.isfinite(slopes))


def test_many_scores_take_a_bound():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 4, 20_000)
    label = rng.random(group.size) < 0.3
    score = rng.normal(0, 1, group.size) + (1 + 0.3 * group / 4) * label + 0.3 * group / 4
    joint = eo.JointDistribution.from_arrays(score, group.astype(str), label.astype(int))
    policy = eo.fit(joint, max_randomized=0.1)
    certificate = policy.certificate
    assert chance_in(policy, joint)[0] <= 0.1 + 1e-12
    assert certificate.residual < 1e-9
    assert 0 <= certificate.gap < 0.01
    assert certificate.objective > eo.fit(joint, max_randomized=0.01).certificate.objective


def test_the_certificate_says_what_it_is_best_among(tmp_path):
    policy = eo.fit(eo.datasets.compas(), max_randomized=0.2, max_randomized_by_group=0.4)
    text = str(policy)
    assert "with at most 0.2 of everybody and 0.4 of each group to chance" in text
    assert "no rising curves that leave at most 0.2 of everybody and 0.4 of each group to chance get above" in text
    policy.save(tmp_path / "policy.json")
    assert eo.Policy.load(tmp_path / "policy.json") == policy


def test_fewest_randomized_has_no_loss_budget_of_its_own():
    joint = eo.datasets.compas()
    few, default = (eo.fit(joint, **options) for options in ({"criterion": "fewest_randomized"}, {}))
    assert few.certificate.loss == pytest.approx(0, abs=1e-12)
    assert chance_in(few, joint)[0] < chance_in(default, joint)[0]
    assert eo.fit(joint, criterion="fewest_randomized", max_loss=0.005).certificate.loss == pytest.approx(0.005)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), first=st.floats(0, 0.5), second=st.floats(0, 0.5))
def test_a_larger_budget_never_costs_anything(seed, first, second):
    joint = few_scores(seed, people=20)
    small, large = (eo.fit(joint, max_randomized=share).certificate for share in sorted((first, second)))
    assert large.objective >= small.objective - 1e-9


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_randomized": 1.5}, "max_randomized=1.5 is not allowed. Allowed: a number from 0 to 1"),
        ({"max_randomized_by_group": -0.1}, "max_randomized_by_group=-0.1 is not allowed"),
        ({"max_randomized": 0.1, "max_slope": 1.0}, "does not go with max_slope=1.0: the fewer people"),
        ({"max_randomized": 0.1, "max_loss": 0.1}, "does not go with max_loss=0.1: it gives up"),
        ({"max_randomized": 0.1, "target": (0.1, 0.4)}, r"does not go with target=\(0.1, 0.4\)"),
        ({"max_randomized": 0.1, "target": np.array([0.1, 0.4])}, r"does not go with target=array\(\[0.1, 0.4\]\)"),
        ({"max_randomized": 0.1, "keep_individual_odds": True}, "does not go with keep_individual_odds=True"),
        ({"max_randomized": 0.1, "criterion": "robust"}, "does not go with criterion='robust'"),
        ({"max_randomized": 0.1, "curve": "cubic"}, "needs curves of straight lines, not a cubic curve"),
    ],
)
def test_what_does_not_go_with_few_by_chance(options, told):
    with pytest.raises(eo.OptionError, match=told):
        eo.fit(eo.datasets.compas(), **options)


def test_budgets_that_no_policy_satisfies_together_name_one_that_some_does():
    joint = eo.datasets.compas()
    both = {"max_randomized": 0.1, "max_randomized_by_group": 0.9}
    for budgets in ({"max_randomized": 0.1}, {"max_randomized_by_group": 0.1}, both):
        with pytest.raises(eo.UnreachableError, match="The least found that would do: max_randomized") as told:
            eo.fit(joint, **budgets, selection_rate=0.3)
        name, least = str(told.value).split("would do: ")[1].split(",")[0].split("=")
        assert any(f"for group {group!r}" in str(told.value) for group in joint.groups)
        enough = budgets | {name: float(least)}
        assert eo.fit(joint, **enough, selection_rate=0.3).certificate.selected == pytest.approx(0.3)
    with pytest.raises(
        eo.UnreachableError, match=r"selection_rate=0.3 and max_randomized=0.01 and max_ran.* Hint: allow"
    ):
        eo.fit(joint, max_randomized=0.01, max_randomized_by_group=0.01, selection_rate=0.3)


@pytest.mark.filterwarnings("error::evenodds.EvenoddsWarning")
def test_one_answer_for_everybody_is_told():
    joint = eo.datasets.compas()
    with pytest.warns(eo.EvenoddsWarning, match="nothing better was found than a no for everybody"):
        policy = eo.fit(joint, max_randomized=0.01)
    assert "Everybody gets a no, whatever their score." in policy.certificate.summary


def test_less_of_a_budget_may_be_easier_to_find():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(12), 40)
    label = (rng.random(group.size) < 0.45).astype(int)
    score = rng.normal(0, 1, group.size) + label
    joint = eo.JointDistribution.from_arrays(score, group.astype(str), label)
    asked = {"constraints": "demographic_parity", "tolerance": 0.05, "selection_rate": 0.3}
    before = -np.inf
    for share in (0.0, 0.01, 0.05):
        certificate = eo.fit(joint, **asked, max_randomized=share).certificate
        assert certificate.selected == pytest.approx(0.3, abs=1e-9)
        assert certificate.objective_bound >= max(before, certificate.objective) - 1e-9
        before = max(before, certificate.objective)
