"""How often intervals contain the truth, and verdicts are right, on populations whose rates are known."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import evenodds as eo

GROUPS = ("a", "b", "c")
APART = {"a": 1.0, "b": 1.5, "c": 2.2}  # how far positives score above negatives
FIGURES = ("fpr", "tpr", "accuracy", "selection_rate", "randomized", "auc", "base_rate")


def draw(rng, n, *, shift=0.0):
    """2 n people of each group, half of them positive by chance."""
    group = np.repeat(GROUPS, 2 * n)
    label = rng.random(group.size) < 0.5
    apart = np.array([APART[g] for g in group])
    score = rng.normal(apart * label, 1.0) + shift * (group == "b")
    return eo.JointDistribution.from_arrays(score, group, label, one_sided="keep")


def truth(policy):
    """Each group's figures, by integration over its scores' densities."""
    at = np.linspace(-9, 12, 400_001)
    step = at[1] - at[0]
    found = {}
    for group, apart in APART.items():
        odds = policy.curves[group](at)
        random = (odds > 1e-9) & (odds < 1 - 1e-9)
        density = [np.exp(-((at - mean) ** 2) / 2) / np.sqrt(2 * np.pi) * step for mean in (0.0, apart)]
        fpr, tpr = (float(d @ odds) for d in density)
        found[group] = {
            "fpr": fpr,
            "tpr": tpr,
            "accuracy": (1 - fpr + tpr) / 2,
            "selection_rate": (fpr + tpr) / 2,
            "randomized": float((density[0] + density[1]) @ random) / 2,
            "auc": float(density[1] @ np.cumsum(density[0])),
            "base_rate": 0.5,
        }
    return found


@pytest.fixture(scope="module")
def policy():
    return eo.fit(draw(np.random.default_rng(0), 3000))


def audited(policy, joint):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eo.EvenoddsWarning)
        return eo.audit(policy, joint)


def coverage(policy, n, simulations):
    """By figure, how often its interval has the truth; by rate, how often all pairs' intervals have it together."""
    rng, true = np.random.default_rng(n), truth(policy)
    own = dict.fromkeys(FIGURES, 0)
    pairs = dict.fromkeys(("fpr", "tpr", "selection_rate", "accuracy"), 0)
    for _ in range(simulations):
        found = audited(policy, draw(rng, n))
        for figure in FIGURES:
            own[figure] += sum(true[g.group][figure] in getattr(g, figure) for g in found.by_group)
        for rate in pairs:
            pairs[rate] += all(true[p.one][rate] - true[p.other][rate] in p.difference for p in found.pairs(rate))
    return {f: hits / simulations / len(GROUPS) for f, hits in own.items()}, {
        r: hits / simulations for r, hits in pairs.items()
    }


def test_a_few_simulations_cover(policy):
    own, pairs = coverage(policy, 50, 60)
    assert min(own.values()) >= 0.88
    assert min(pairs.values()) >= 0.85


@pytest.mark.guarantee
@pytest.mark.parametrize("n", [20, 50, 200, 2000])
def test_guarantee_intervals_cover(policy, n):
    own, pairs = coverage(policy, n, 1000)
    assert min(own.values()) >= 0.93, own
    assert min(pairs.values()) >= 0.93, pairs
    if n >= 200:
        assert max(own.values()) <= 0.97, own


def called_unfair(n, simulations):
    """How often groups of the same kind, under the same curve, are said to be treated differently."""
    rng = np.random.default_rng(n)
    policy = eo.fit(eo.JointDistribution.from_arrays(*_alike(rng, 3000)))
    same = dict.fromkeys(GROUPS, policy.curves["a"])
    fair = eo.Policy(GROUPS, tuple(same.values()), policy.score_range, "positive", policy.certificate)
    verdicts = [
        audited(fair, eo.JointDistribution.from_arrays(*_alike(rng, n), one_sided="keep")).passed(tolerance=0.0)
        for _ in range(simulations)
    ]
    return sum(verdict == "fail" for verdict in verdicts) / simulations


def _alike(rng, n):
    group = np.repeat(GROUPS, 2 * n)
    label = rng.random(group.size) < 0.5
    return rng.normal(1.3 * label, 1.0), group, label


def test_groups_of_one_kind_are_seldom_called_unfair():
    assert called_unfair(200, 60) <= 0.12


@pytest.mark.guarantee
@pytest.mark.parametrize("n", [20, 50, 200, 1000, 2000])
def test_guarantee_a_fair_policy_is_called_unfair_in_at_most_one_of_twenty(n):
    assert called_unfair(n, 1000) <= 0.05


def halves(shift, repeats, n=4000):
    rng = np.random.default_rng(7)
    return [
        str(audited(eo.fit(draw(rng, n)), draw(rng, n, shift=shift)).passed(tolerance=0.02)) for _ in range(repeats)
    ]


def test_the_other_half_is_not_failed_unless_it_is_shifted():
    assert "fail" not in halves(0.0, 5)
    assert set(halves(0.5, 5)) == {"fail"}


@pytest.mark.guarantee
def test_guarantee_the_other_half_in_a_hundred_repeats():
    assert sum(verdict != "fail" for verdict in halves(0.0, 100)) >= 95
    assert sum(verdict == "fail" for verdict in halves(0.5, 100)) >= 95
