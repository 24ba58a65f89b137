from __future__ import annotations

import math

import numpy as np
import pytest

import evenodds as eo
from evenodds.evaluation.stability import _drawn
from evenodds.geometry import samples


def people(seed, n):
    rng = np.random.default_rng(seed)
    group, label = rng.choice(list("ab"), n), rng.integers(0, 2, n)
    return rng.normal(10 * label * (1 + 0.4 * (group == "b")), 10), group, label


def test_spread_shrinks_with_more_people_and_repeats_with_the_seed():
    few, many = (eo.stability(eo.JointDistribution.from_arrays(*people(0, n)), draws=16) for n in (400, 4000))
    assert many.difference.value < few.difference.value / 2
    for group in "ab":
        narrow, wide = many.spread[group]["t0"], few.spread[group]["t0"]
        assert narrow.high - narrow.low < wide.high - wide.low
    again = eo.stability(eo.JointDistribution.from_arrays(*people(0, 400)), draws=16)
    assert again.difference == few.difference
    assert again.spread == few.spread
    assert eo.stability(eo.JointDistribution.from_arrays(*people(0, 400)), draws=16, rng=1).spread != few.spread


def test_the_difference_is_what_new_people_show():
    """The median over draws is near the difference that policies show on the population, which is never seen."""
    population = eo.JointDistribution.from_arrays(*people(1, 200_000))
    shown, foretold = [], []
    for seed in range(8):
        joint = eo.JointDistribution.from_arrays(*people(100 + seed, 1000))
        shown.append(eo.metrics(eo.fit(joint), population).equalized_odds_difference)
        foretold.append(eo.stability(joint, draws=11, rng=seed).difference.value)
    assert np.median(foretold) == pytest.approx(np.median(shown), rel=0.5)


def test_under_demographic_parity_it_is_about_selection_rates():
    population = eo.JointDistribution.from_arrays(*people(1, 200_000))
    joint = eo.JointDistribution.from_arrays(*people(100, 1000))
    shown = eo.metrics(eo.fit(joint, constraints="demographic_parity"), population).demographic_parity_difference
    foretold = eo.stability(joint, draws=21, constraints="demographic_parity").difference
    assert foretold.low / 2 <= shown <= 2 * foretold.high
    assert foretold.high < 0.2


def test_the_holdout_settles_the_tolerance():
    joint = eo.JointDistribution.from_arrays(*people(2, 8000))
    found = eo.stability(joint, draws=20)
    need = found.holdout(tolerance=0.1)
    assert need.verdict == "pass"
    assert sum(need.by_group.values()) == pytest.approx(need.people)
    settled = [
        eo.audit(found.policy, eo.JointDistribution.from_arrays(*people(200 + seed, int(need.people)))).passed(
            tolerance=0.1
        )
        for seed in range(20)
    ]
    assert sum(verdict == "pass" for verdict in settled) >= 14
    fewer = eo.audit(found.policy, eo.JointDistribution.from_arrays(*people(300, int(need.people / 10))))
    assert fewer.passed(tolerance=0.1) == "undecided"
    assert "fresh people" in str(need)
    assert found.holdout(tolerance=0.05).people > need.people
    at_the_limit = found.holdout(tolerance=found.population_difference.value)
    assert math.isinf(at_the_limit.people)
    assert "No number of people" in str(at_the_limit)


def test_the_holdout_counts_people_and_not_weights():
    score, group, label = people(4, 2000)
    plain = eo.stability(eo.JointDistribution.from_arrays(score, group, label), draws=3).holdout(tolerance=0.1)
    weight = np.where(group == "a", 100.0, 1.0)
    joint = eo.JointDistribution.from_arrays(score, group, label, weight=weight)
    weighted = eo.stability(joint, draws=3).holdout(tolerance=0.1)
    shares = [need.by_group["b"] / need.people for need in (plain, weighted)]
    assert shares[0] == pytest.approx(shares[1], abs=0.01)
    alone = eo.stability(eo.JointDistribution.from_arrays(score, ["a"] * 2000, label), draws=3)
    assert "nothing to settle" in str(alone.holdout(tolerance=1e-200))


def test_people_are_drawn_again_from_those_at_hand(monkeypatch):
    score, group, label = people(3, 3000)
    weight = np.random.default_rng(0).uniform(0.5, 2, 3000)
    table = eo.JointDistribution.from_arrays(score, group, label).members[0]
    monkeypatch.setattr(samples, "FEW", 100)
    plain = eo.JointDistribution.from_arrays(score, group, label).members[0]
    weighted = eo.JointDistribution.from_arrays(score, group, label, weight=weight).members[0]
    for member in (table, plain, weighted):
        drawn = [_drawn(member, np.random.default_rng(i)) for i in range(40)]
        assert all(np.isin(d.scores, member.scores).all() for d in drawn)
        assert np.mean([d.base_rate for d in drawn]) == pytest.approx(member.base_rate, abs=0.01)
        spread = np.std([d.base_rate for d in drawn])
        assert spread == pytest.approx(math.sqrt(0.25 / sum(side.n_effective for side in member.by_label)), rel=0.5)
    assert plain.is_large
    assert _drawn(plain, np.random.default_rng(0)).is_large


def test_draws_that_cannot_be_fitted_are_counted():
    counts = {"a": ([1, 2, 3], [50, 30, 20], [20, 30, 50]), "b": ([1, 2, 3], [2, 0, 0], [0, 0, 30])}
    with pytest.warns(eo.EvenoddsWarning, match="very small"):
        found = eo.stability(eo.JointDistribution.from_counts(counts), draws=60)
    assert 0 < found.failed < 60
    assert f"{found.failed} failed" in str(found)


def test_options_of_fit_pass_through():
    found = eo.stability(eo.datasets.credit_risk(), draws=3, constraints="demographic_parity", curve="quadratic")
    assert found.policy.certificate.constraints == "demographic_parity"
    assert found.policy.curves["white"].family == "quadratic"
    assert "selection rates" in str(found)
    assert list(found.frame().columns) == ["group", "parameter", "value", "low", "high"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"draws": 1}, "draws=1"),
        ({"draws": 2.5}, "draws=2.5"),
        ({"confidence": 2}, "confidence=2"),
        ({"rng": -1}, "rng=-1"),
        ({"rng": True}, "rng=True"),
        ({"rng": "x"}, "rng='x'"),
    ],
)
def test_options_are_checked(options, text):
    with pytest.raises(eo.OptionError, match=text):
        eo.stability(eo.datasets.credit_risk(), **options)
    with pytest.raises(eo.OptionError, match="tolerance=0 is not allowed"):
        eo.stability(eo.datasets.credit_risk(), draws=2).holdout(tolerance=0)


def populations(kind, n, seed):
    rng = np.random.default_rng(seed)
    if kind == "three groups":
        group, label = rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2]), rng.random(n) < 0.4
        score = rng.normal(label * (1 + 0.4 * (group == "b")), 1)
    elif kind == "whole numbers":
        group = rng.choice(list("ab"), n)
        label = rng.random(n) < np.where(group == "a", 0.2, 0.5)
        score = np.round(10 * rng.normal(1.5 * label, 1))
    else:
        group, label = rng.choice(list("abcd"), n, p=[0.7, 0.1, 0.1, 0.1]), rng.random(n) < 0.3
        score = 1 / (1 + np.exp(1 - rng.normal(1.2 * label, 1)))
    return score, group, label


def foretold_by_shown(kind, n, seeds, draws):
    """What is said of new people by what fresh halves show."""
    shown, said = [], []
    for seed in seeds:
        score, group, label = populations(kind, 2 * n, seed)
        first = np.arange(2 * n) < n
        fitted, fresh = (eo.JointDistribution.from_arrays(score[h], group[h], label[h]) for h in (first, ~first))
        shown.append(eo.metrics(eo.fit(fitted), fresh).equalized_odds_difference)
        if len(said) < 8:
            said.append(eo.stability(fitted, draws=draws, rng=seed).difference.value)
    return np.mean(said) / np.mean(shown)


KINDS = [("three groups", 3000), ("whole numbers", 1500), ("small groups", 6000)]


@pytest.mark.parametrize(("kind", "n"), KINDS)
@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_what_new_people_are_said_to_differ_by_is_what_they_do(kind, n):
    assert foretold_by_shown(kind, n // 2, range(60), draws=20) == pytest.approx(1, abs=0.2)


@pytest.mark.guarantee
@pytest.mark.parametrize(("kind", "n"), KINDS)
@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_guarantee_what_is_said_of_new_people(kind, n):
    assert foretold_by_shown(kind, n, range(100), draws=100) == pytest.approx(1, abs=0.15)


def test_arbitrariness_is_the_spread_of_a_persons_odds():
    joint = eo.JointDistribution.from_arrays(*populations("whole numbers", 600, 0))
    result = eo.stability(joint, draws=12, rng=3)
    more = eo.stability(eo.JointDistribution.from_arrays(*populations("whole numbers", 12_000, 0)), draws=12, rng=3)
    for group, of in result.arbitrariness.items():
        assert 0 < of.mean < of.most <= 0.5
        assert more.arbitrariness[group].mean < of.mean / 2
    assert "How much a person's odds owe to who else was there" in str(result)
    assert result.difference > result.population_difference > 0


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState, int])
def test_any_source_of_random_numbers(kind):
    joint = eo.JointDistribution.from_arrays(*populations("whole numbers", 600, 0))
    one, two, other = (eo.stability(joint, draws=3, rng=kind(seed)) for seed in (5, 5, 6))
    assert one == two != other
    assert eo.stability(joint, draws=2, rng=None).draws == 2


def test_a_guarantee_is_not_its_own():
    with pytest.raises(eo.OptionError, match=r"stability draws people again, and has no guarantee="):
        eo.stability(eo.datasets.compas(), guarantee="finite")
