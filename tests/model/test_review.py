from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.resources import files
from itertools import permutations

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binomtest

import evenodds as eo
from evenodds.model.reviewed import SOME_SCORES
from evenodds.model.storage import fingerprint, parts_of_policy, written

SCHEMA = json.loads((files("evenodds.model") / "policy.schema.json").read_text(encoding="utf-8"))
CAPACITIES = (0.0, 0.02, 0.05, 0.10)
FIGURES = {
    ("compas", "final", None): (0.6366040, 0.6466954, 0.6579392, 0.6723114),
    ("compas", "final", 0.3): (0.6308849, 0.6429159, 0.6534240, 0.6673767),
    ("compas", "share", None): (0.6366040, 0.6425235, 0.6511636, 0.6651414),
    ("compas", "threeway", None): (0.6366040, 0.6424299, 0.6511184, 0.6647653),
    ("credit_risk", "final", None): (0.8396093, 0.8600343, 0.8758223, 0.8826271),
    ("credit_risk", "final", 0.1): (0.8341730, 0.8564650, 0.8731479, 0.8812561),
    ("credit_risk", "share", None): (0.8396093, 0.8439302, 0.8494667, 0.8572917),
    ("credit_risk", "threeway", None): (0.8396093, 0.8447181, 0.8514671, 0.8608491),
}


def review(capacity=0.05, tpr=0.8, fpr=0.2, equal="share"):
    return eo.Review(capacity=capacity, tpr=tpr, fpr=fpr, equal=equal)


def measured(policy, joint):
    """By group and label, straight from the odds at people's scores: automatic yeses, reviews, and yeses in the end."""
    found = np.empty((len(joint.members), 2, 3))
    for a, member in enumerate(joint.members):
        own = joint.scale.own(member.scores)
        yes, looked = (policy.odds(own, member.key, outcome=outcome) for outcome in ("yes", "review"))
        sides = ((member.negatives, policy.review.fpr), (member.positives, policy.review.tpr))
        for y, (people, chance) in enumerate(sides):
            found[a, y] = [np.average(values, weights=people) for values in (yes, looked, yes + chance * looked)]
    return found


# -- the figures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", FIGURES, ids=str)
def test_the_best_of_both_tables(case):
    table, equal, slope = case
    joint = getattr(eo.datasets, table)()
    for capacity, best in zip(CAPACITIES, FIGURES[case], strict=True):
        policy = eo.fit(joint, review=review(capacity, equal=equal), max_slope=slope)
        certificate = policy.certificate
        assert certificate.objective == pytest.approx(best, abs=6e-8)
        assert certificate.gap < 1e-12
        assert certificate.difference < 1e-12
        assert certificate.residual < 1e-12
        seen = measured(policy, joint)
        assert np.ptp(seen[:, :, 2], axis=0).max() < 1e-12
        people = np.array([[m.negative_total, m.positive_total] for m in joint.members])
        assert (people * seen[:, :, 1]).sum() / people.sum() <= capacity + 1e-12
        np.testing.assert_allclose(seen[:, :, 1], certificate.reviewed.shares, atol=1e-15)
        if equal == "share":
            assert np.ptp((people * seen[:, :, 1]).sum(axis=1) / people.sum(axis=1)) < 1e-12
        if equal == "threeway":
            assert np.ptp(seen[:, :, :2], axis=0).max() < 1e-12
        if slope:
            curves = (*policy.group_curves, *policy.group_review_curves)
            assert max(curve.lipschitz for curve in curves) <= slope * (1 + 1e-9)


@pytest.mark.parametrize("equal", ["share", "final", "threeway"])
@pytest.mark.parametrize("options", [{}, {"max_slope": 0.3}, {"tolerance": 0.05}], ids=str)
def test_without_capacity_it_is_the_optimum_without_reviews(equal, options):
    joint = eo.datasets.compas()
    plain = eo.fit(joint, curve="optimal", **({"max_loss": 0} | options if "max_slope" not in options else options))
    policy = eo.fit(joint, review=review(0, equal=equal), **options)
    if equal != "threeway" or "tolerance" not in options:
        assert policy.certificate.objective == pytest.approx(plain.certificate.objective, abs=1e-9)
    assert policy.group_curves == policy.group_review_curves
    assert not policy.odds(np.arange(12), policy.groups[0], outcome="review").any()


@pytest.mark.parametrize("capacity", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("table", ["compas", "credit_risk"])
def test_a_reviewer_who_tosses_a_coin_gains_nothing(table, capacity):
    joint = getattr(eo.datasets, table)()
    best = eo.fit(joint, max_loss=0).certificate.objective
    for equal in ("share", "final"):
        coin = eo.fit(joint, review=review(capacity, 0.5, 0.5, equal)).certificate
        assert coin.objective == pytest.approx(best, abs=1e-9)


def test_perfect_reviewers_of_everybody_make_no_errors():
    policy = eo.fit(eo.datasets.compas(), review=review(1.0, 1.0, 0.0))
    assert policy.certificate.objective == pytest.approx(1)


# -- an independent program --------------------------------------------------------------------------------------------


def tables(joint):
    """All groups' counts at all of their scores together, some of which a group may lack."""
    scores = np.unique(np.concatenate([m.scores for m in joint.members]))
    counts = np.zeros((len(joint.members), 2, scores.size))
    for a, m in enumerate(joint.members):
        where = np.searchsorted(scores, m.scores)
        counts[a, 0, where], counts[a, 1, where] = m.negatives, m.positives
    return scores, counts


class ByHand:
    """The program of u <= w, dense, pair by pair, at every score of all groups; the last column is the harm."""

    def __init__(self, joint, terms):
        scores, self.counts = tables(joint)
        self.gaps, self.terms = np.diff(scores), terms
        k, _, m = self.counts.shape
        self.groups = range(k)
        self.u, self.w = (np.arange(k * m).reshape(k, m) + start for start in (0, k * m))
        self.size = 2 * k * m + 1
        self.automatic, self.upper = np.zeros((k, 2, self.size)), np.zeros((k, 2, self.size))
        for a in self.groups:
            share = self.counts[a] / self.counts[a].sum(axis=1, keepdims=True)
            self.automatic[a][:, self.u[a]], self.upper[a][:, self.w[a]] = share, share
        self.looked = self.upper - self.automatic
        self.final = self.automatic + np.array([terms.fpr, terms.tpr])[:, None] * self.looked
        self.base = self.counts.sum(axis=2) / self.counts.sum(axis=(1, 2))[:, None]
        self.weights = self.counts.sum(axis=2) / self.counts.sum()
        self.rows, self.right = [], []

    def at_most(self, row, value):
        self.rows.append(row)
        self.right.append(value)

    def alike(self, every, within):
        for a, b in permutations(self.groups, 2):
            self.at_most(every[a] - every[b], within)

    def unit(self, *columns):
        row = np.zeros(self.size)
        row[list(columns)] = (1, -1)[: len(columns)]
        return row

    def asked(self, constraints="equalized_odds", tolerance=0.0, slope=math.inf):
        for a in self.groups:
            for i, (low, high) in enumerate(zip(self.u[a], self.w[a], strict=True)):
                self.at_most(self.unit(low, high), 0)
                for own in (self.u[a], self.w[a]) if i else ():
                    self.at_most(self.unit(own[i - 1], own[i]), 0)
                    if math.isfinite(slope):
                        self.at_most(self.unit(own[i], own[i - 1]), slope * self.gaps[i - 1])
        labels = {"equalized_odds": (0, 1), "true_positive_rate_parity": (1,), "false_positive_rate_parity": (0,)}
        for y in labels.get(constraints, ()):
            for rates in (self.automatic, self.upper) if self.terms.equal == "threeway" else (self.final,):
                self.alike(rates[:, y], tolerance)
        if constraints == "demographic_parity":
            self.alike((self.base[:, :, None] * self.final).sum(axis=1), tolerance)
        if self.terms.equal == "share":
            self.alike((self.base[:, :, None] * self.looked).sum(axis=1), 0.0)
        self.at_most((self.weights[:, :, None] * self.looked).sum(axis=(0, 1)), self.terms.capacity)

    def gain(self, signs=(-1.0, 1.0)):
        return ((self.weights * signs)[:, :, None] * self.final).sum(axis=(0, 1))

    def best(self, objective):
        answer = linprog(-objective, A_ub=np.array(self.rows), b_ub=np.array(self.right), bounds=(0, 1), method="highs")
        assert answer.status == 0
        return -answer.fun


def by_hand(joint, terms, constraints="equalized_odds", tolerance=0.0, slope=math.inf, signs=(-1.0, 1.0)):
    program = ByHand(joint, terms)
    program.asked(constraints, tolerance, slope)
    return program.best(program.gain(signs))


@st.composite
def populations(draw):
    """Two or three groups with few scores and jagged counts."""
    counts = {}
    for group in "abc"[: draw(st.integers(2, 3))]:
        scores = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True))
        numbers = [draw(st.lists(st.integers(0, 60), min_size=len(scores), max_size=len(scores))) for _ in "01"]
        for side in numbers:
            side[0] += 30
        counts[group] = (scores, *numbers)
    return eo.JointDistribution.from_counts(counts, orientation=draw(st.sampled_from(["positive", "negative"])))


@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
@given(
    populations(),
    st.sampled_from([0.0, 0.03, 0.2, 0.7]),
    st.sampled_from([(0.8, 0.2), (1.0, 0.0), (0.5, 0.5), (0.4, 0.3)]),
    st.sampled_from(["share", "final", "threeway"]),
    st.sampled_from(
        ["equalized_odds", "demographic_parity", "true_positive_rate_parity", "false_positive_rate_parity"]
    ),
    st.sampled_from([0.0, 0.07]),
    st.sampled_from([None, 0.3]),
)
def test_an_independent_program_agrees_from_both_sides(joint, capacity, rates, equal, constraints, tolerance, slope):
    if equal == "threeway" and constraints == "demographic_parity":
        equal = "final"
    terms = review(capacity, *rates, equal)
    policy = eo.fit(joint, review=terms, constraints=constraints, tolerance=tolerance, max_slope=slope)
    certificate = policy.certificate
    # Scores that a group lacks bind nothing: straight lines between its own are within the slope.
    best = by_hand(joint, terms, constraints, tolerance, math.inf if slope is None else slope)
    constant = sum(m.negative_total for m in joint.members) / joint.total
    assert certificate.objective == pytest.approx(best + constant, abs=2e-8)
    assert certificate.objective_bound == pytest.approx(best + constant, abs=2e-8)
    assert certificate.difference <= tolerance + 1e-9
    assert certificate.reviewed.everybody <= capacity + 1e-9
    seen = measured(policy, joint)
    weights = np.array([[m.negative_total, m.positive_total] for m in joint.members]) / joint.total
    correct = (weights * np.stack([1 - seen[:, 0, 2], seen[:, 1, 2]], axis=1)).sum()
    assert certificate.objective == pytest.approx(correct, abs=1e-12)
    for curve in (*policy.group_curves, *policy.group_review_curves):
        assert slope is None or curve.lipschitz <= slope * (1 + 1e-6)


@pytest.mark.parametrize("objective", [eo.Cost(5, 1), "balanced_accuracy_score"], ids=str)
def test_other_objectives(objective):
    joint = eo.datasets.compas()
    policy = eo.fit(joint, review=review(0.1, equal="final"), objective=objective)
    positives, negatives = (
        sum(getattr(m, f"{side}_total") for m in joint.members) for side in ("positive", "negative")
    )
    if isinstance(objective, eo.Cost):
        best = by_hand(joint, policy.review, signs=(-1, 0.2)) - 0.2 * positives / joint.total
        assert policy.certificate.objective == pytest.approx(-best, abs=1e-8)
    else:
        signs = (-joint.total / negatives / 2, joint.total / positives / 2)
        assert policy.certificate.objective == pytest.approx(by_hand(joint, policy.review, signs=signs) + 0.5, abs=1e-8)


def test_selection_rate_alone_under_another_constraint():
    policy = eo.fit(
        eo.datasets.compas(),
        review=review(0.05),
        constraints="demographic_parity",
        objective="true_positive_rate",
    )
    assert policy.certificate.objective == pytest.approx(1)


# -- reviewers who are not as assumed ----------------------------------------------------------------------------------


@pytest.mark.parametrize("equal", ["share", "final", "threeway"])
def test_the_formula_of_other_reviewers_is_exact(equal):
    joint = eo.datasets.credit_risk()
    policy = eo.fit(joint, review=review(equal=equal))
    seen = measured(policy, joint)
    rng = np.random.default_rng(0)
    for _ in range(20):
        real = rng.random((2, len(policy.groups)))
        rates = seen[:, :, 0] + real.T * seen[:, :, 1]
        tpr, fpr = (dict(zip(policy.groups, real[y], strict=True)) for y in (1, 0))
        told = policy.certificate.if_reviewers(tpr=tpr, fpr=fpr)
        assert told == pytest.approx(np.ptp(rates, axis=0).max(), abs=1e-12)
        off = (real - [[0.2], [0.8]]).T * seen[:, :, 1]
        assert told == pytest.approx(np.ptp(off, axis=0).max(), abs=1e-12)


def test_other_reviewers_of_the_free_optimum():
    certificate = eo.fit(eo.datasets.credit_risk(), review=review(equal="final")).certificate
    assert certificate.if_reviewers(tpr=0.7, fpr=0.3) == pytest.approx(0.0331966, abs=6e-8)
    assert certificate.if_reviewers(tpr=0.8) < 1e-12
    assert certificate.if_reviewers(tpr={"black": 0.7}) == pytest.approx(
        0.1 * certificate.reviewed.by_label["black"][1]
    )
    assert certificate.reviewed.by_group["black"] > 0.26
    assert certificate.reviewed.by_group["white"] < 0.004


def test_threeway_needs_only_that_groups_are_treated_alike():
    certificate = eo.fit(eo.datasets.compas(), review=review(equal="threeway")).certificate
    for tpr, fpr in ((0.0, 1.0), (0.3, 0.3), (1.0, 0.9)):
        assert certificate.if_reviewers(tpr=tpr, fpr=fpr) < 1e-12


@pytest.mark.parametrize("equal", ["share", "final"])
def test_no_other_optimum_is_hurt_less(equal):
    """Among answers as good, none has shares reviewed that are nearer to each other."""
    joint = eo.datasets.compas()
    policy = eo.fit(joint, review=review(equal=equal))
    program = ByHand(joint, policy.review)
    program.asked()
    program.at_most(-program.gain(), -program.best(program.gain()) + 1e-9)
    harm = program.unit(program.size - 1)
    for y in (0, 1):
        for a, b in permutations(program.groups, 2):
            program.at_most(program.looked[a, y] - program.looked[b, y] - harm, 0)
    assert np.ptp(policy.certificate.reviewed.shares, axis=0).max() == pytest.approx(-program.best(-harm), abs=1e-6)


# -- what a policy is --------------------------------------------------------------------------------------------------


def test_three_outcomes_are_chances():
    joint = eo.datasets.credit_risk()
    policy = eo.fit(joint, review=review())
    scores = np.linspace(-5, 105, 4001)
    for group in policy.groups:
        yes, looked, no = (policy.odds(scores, group, outcome=outcome) for outcome in ("yes", "review", "no"))
        assert (np.diff(yes) >= -1e-15).all()
        assert (np.diff(no) <= 1e-9).all()
        assert min(yes.min(), looked.min()) >= 0
        np.testing.assert_allclose(yes + looked + no, 1, atol=1e-15)
        np.testing.assert_array_equal(yes, policy.odds(scores, group))
        treatment = policy.treatments[group]
        np.testing.assert_array_equal(treatment.final(scores, 0), yes + 0.2 * looked)
        np.testing.assert_array_equal(treatment.final(scores, 1), yes + 0.8 * looked)


def test_a_policy_without_reviews_reviews_nobody():
    policy = eo.fit(eo.datasets.compas())
    group, scores = policy.groups[0], np.linspace(0, 11, 100)
    assert policy.review is None
    assert not policy.review_curves
    assert not policy.odds(scores, group, outcome="review").any()
    np.testing.assert_array_equal(policy.odds(scores, group, outcome="no"), 1 - policy.odds(scores, group))
    with pytest.raises(eo.OptionError, match="outcome='maybe' is not known"):
        policy.odds(scores, group, outcome="maybe")
    with pytest.raises(eo.OptionError, match="no reviews"):
        policy.certificate.if_reviewers(tpr=0.5)


def test_shares_and_what_is_assumed_are_always_told():
    policy = eo.fit(eo.datasets.credit_risk(), review=review(equal="final"))
    for text in (str(policy), str(policy.certificate)):
        assert "Reviewed: 0.05 of everybody (capacity 0.05); by group: asian 0.0805" in text
        assert "Not proven: that reviewers say yes to 0.8 of positives and 0.2 of negatives" in text
        assert "If really to 0.7 and 0.3, the groups' final rates differ by 0.0332" in text
        assert "if reviewers are as assumed" in text
    assert repr(policy).endswith("0.05 reviewed)")
    names, rows = policy.table()
    assert names[-1] == "reviewed"
    assert rows[1][-1] == policy.certificate.reviewed.by_group["black"]


def test_negative_orientation_is_the_mirror_image():
    joint = eo.datasets.credit_risk()
    mirrored = eo.JointDistribution.from_counts(
        {m.key: (-m.scores, m.negatives, m.positives) for m in joint.members}, orientation="negative"
    )
    one, other = (eo.fit(j, review=review(), max_slope=0.1) for j in (joint, mirrored))
    assert one.certificate.objective == pytest.approx(other.certificate.objective, abs=1e-12)
    scores = np.linspace(0, 100, 333)
    for outcome in ("yes", "review"):
        here, there = one.odds(scores, "white", outcome=outcome), other.odds(-scores, "white", outcome=outcome)
        np.testing.assert_allclose(here, there, atol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"max_slope": 0.1}, {"tolerance": 0.02}, {"objective": eo.Cost(2, 1)}], ids=str
)
def test_it_comes_back_from_a_file(options, tmp_path):
    policy = eo.fit(eo.datasets.credit_risk(), review=review(equal="final"), **options)
    jsonschema.validate(policy.document, SCHEMA)
    policy.save(tmp_path / "p.json")
    loaded = eo.Policy.load(tmp_path / "p.json")
    assert loaded == policy
    assert str(loaded) == str(policy)
    assert loaded.document == policy.document
    scores = np.linspace(-1, 101, 999)
    for outcome in ("yes", "review", "no"):
        np.testing.assert_array_equal(
            loaded.odds(scores, "black", outcome=outcome), policy.odds(scores, "black", outcome=outcome)
        )


def test_files_without_reviews_do_not_speak_of_them():
    document = eo.fit(eo.datasets.credit_risk(), max_slope=0.1).document
    assert "review_curves" not in document
    assert "reviewed" not in document["certificate"]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.update(version=2),
        lambda d: d.pop("review_curves"),
        lambda d: d["certificate"].pop("reviewed"),
        lambda d: d.update(review_curves=d["review_curves"][:-1]),
        lambda d: d.update(review_curves=d["review_curves"][::-1]),
        lambda d: d.update(review_curves=d["curves"], curves=d["review_curves"]),
        lambda d: d["review_curves"][0].update(p=2),
        lambda d: d["certificate"]["reviewed"].update(tpr=0.1),
        lambda d: d["certificate"]["reviewed"].update(tpr=True),
        lambda d: d["certificate"]["reviewed"].update(capacity=2),
        lambda d: d["certificate"]["reviewed"].update(equal="all"),
        lambda d: d["certificate"]["reviewed"].update(more=1),
        lambda d: d["certificate"]["reviewed"].update(shares=[[0.1, 0.1]]),
        lambda d: d["certificate"]["reviewed"].update(shares=[[0.1]] * 4),
        lambda d: d["certificate"]["reviewed"].update(shares=[[0.1, 2]] * 4),
        lambda d: d["certificate"]["reviewed"].update(past=[{"group": None}]),
        lambda d: d["certificate"]["reviewed"].update(
            past=[{"group": None, "label": 1, "reviews": 1, "yes": 2, "confidence": 0.95}]
        ),
        lambda d: d["certificate"].update(reviewed=None),
    ],
)
def test_files_that_cannot_be_are_refused(change):
    document = json.loads(written(eo.fit(eo.datasets.credit_risk(), review=review()).document))
    change(document)
    document["fingerprint"] = fingerprint(document)
    with pytest.raises(eo.DataError, match="lacks a part, or has one that is not"):
        parts_of_policy(document)


@pytest.mark.filterwarnings("ignore:.*very small:evenodds.EvenoddsWarning")
@pytest.mark.parametrize("slope", [None, 1.5])
@pytest.mark.parametrize("equal", ["share", "final", "threeway"])
@pytest.mark.parametrize("seed", range(6))
def test_of_many_scores_those_are_looked_at_that_matter(seed, equal, slope, monkeypatch):
    """What is many is made few, so that a program over all scores can be asked: it lies within what is proven."""
    monkeypatch.setattr("evenodds.model.review._MOST", 8)
    monkeypatch.setattr("evenodds.model.review._MORE", 12)
    rng = np.random.default_rng(seed)
    group, score = rng.integers(0, 2 + seed % 2, 160), rng.random(160).round(2 + seed % 3)
    label = (rng.random(160) < 0.35 + 0.3 * score).astype(int)
    joint = eo.JointDistribution.from_arrays(score, group, label)
    terms = review(0.05, 0.6, 0.5, equal)
    certificate = eo.fit(joint, review=terms, max_slope=slope).certificate
    best = by_hand(joint, terms, slope=slope or math.inf)
    best += sum(m.negative_total for m in joint.members) / joint.total
    assert certificate.bound_by == SOME_SCORES
    assert certificate.objective <= best + 1e-7
    assert best <= certificate.objective_bound + 1e-7
    assert certificate.gap <= (1e-7 if slope is None else 0.02)


def test_a_large_table_is_looked_at_in_places():
    rng = np.random.default_rng(0)
    group, label = rng.integers(0, 3, 30_000), rng.random(30_000) < 0.4
    score = rng.normal(label * 1.5 + group * 0.3, 1)
    joint = eo.JointDistribution.from_arrays(score, group, label)
    policy = eo.fit(joint, review=review(equal="final"), max_slope=2)
    certificate = policy.certificate
    assert certificate.difference < 1e-9
    assert 0 <= certificate.gap < 2e-3
    assert "that bend at some of the scores only" in str(certificate)
    odds = {outcome: policy.odds(score, codes=group, outcome=outcome) for outcome in ("yes", "review")}
    assert odds["review"].mean() == pytest.approx(0.05, abs=1e-9)
    final = odds["yes"] + np.where(label, 0.8, 0.2) * odds["review"]
    rates = [[final[(group == a) & (label == y)].mean() for a in range(3)] for y in (False, True)]
    assert np.ptp(rates, axis=1).max() < 1e-9
    assert certificate.objective == pytest.approx(np.where(label, final, 1 - final).mean(), abs=1e-9)
    assert max(certificate.slopes) <= 2 * (1 + 1e-9)
    assert certificate.objective > eo.fit(joint, max_slope=2).certificate.objective + 0.01


@pytest.mark.parametrize("options", [{"review": review()}, {}], ids=str)
def test_one_score_has_no_threshold_to_tell_of(options):
    joint = eo.JointDistribution.from_counts({"a": ([5], [60], [40]), "b": ([5], [30], [70])})
    policy = eo.fit(joint, tolerance=0.1, **options)
    assert policy.certificate.one_threshold is None


def test_few_people_are_left_to_chance():
    """The free optimum needs one score of a group for each of its two curves, and no more."""
    joint = eo.datasets.credit_risk()
    policy = eo.fit(joint, review=review(equal="final"))
    for curve in (*policy.group_curves, *policy.group_review_curves):
        odds = np.array([y for _, y in curve.nodes])
        assert ((odds > 1e-12) & (odds < 1 - 1e-12)).sum() <= 1


# -- decisions ---------------------------------------------------------------------------------------------------------


def test_decisions_have_three_values():
    policy = eo.fit(eo.datasets.credit_risk(), review=review())
    rng = np.random.default_rng(1)
    people = pd.DataFrame(
        {"who": np.arange(3000), "points": rng.uniform(10, 45, 3000), "race": rng.choice(policy.groups, 3000)}
    )
    decided = eo.decide(policy, people, score="points", group="race", id="who", key="00" * 32)
    assert list(decided.columns) == ["who", "points", "race", "odds", "odds_review", "draw", "decision"]
    u, yes, looked = (decided[name].to_numpy() for name in ("draw", "odds", "odds_review"))
    np.testing.assert_array_equal(looked, policy.odds(people["points"], people["race"], outcome="review"))
    expected = np.where(u < yes, "yes", np.where(u < yes + looked, "review", "no"))
    np.testing.assert_array_equal(decided["decision"], expected)
    assert set(expected) == {"yes", "review", "no"}
    import polars as pl  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    for make, read in ((pl.from_pandas, lambda t: t["decision"].to_list()), (pa.Table.from_pandas, None)):
        table = eo.decide(policy, make(people), score="points", group="race", id="who", key="00" * 32)
        found = read(table) if read else table["decision"].to_pylist()
        assert found == expected.tolist()


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"capacity": 1.1}, "capacity=1.1 is not allowed. Allowed: from 0 to 1"),
        ({"capacity": -0.1}, "capacity=-0.1 is not allowed"),
        ({"capacity": "some"}, "capacity='some' is not allowed"),
        ({"capacity": math.nan}, "capacity=nan is not allowed"),
        ({"tpr": 2}, "tpr=2 is not allowed"),
        ({"past": 3}, "past=3 is not allowed. Allowed: what Review.measured counts"),
        ({"past": (1,)}, r"past=\(1,\) is not allowed"),
        ({"fpr": None}, "fpr=None is not allowed"),
        ({"tpr": 0.1}, "tpr=0.1 is less than fpr=0.2: such reviewers are worse than a coin"),
        (
            {"equal": "shares"},
            "equal='shares' is not known. Allowed: share, final, threeway. Hint: did you mean 'share'",
        ),
    ],
)
def test_reviews_that_cannot_be(given, told):
    with pytest.raises(eo.OptionError, match=told):
        eo.Review(**({"capacity": 0.05, "tpr": 0.8, "fpr": 0.2} | given))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"curve": "fixed"}, "curve='fixed' does not go with review="),
        ({"curve": "threshold"}, "curve='threshold'"),
        ({"target": (0.2, 0.8)}, "target=.* does not go with review=: the point is chosen"),
        ({"target": np.array([0.2, 0.8])}, "target=.* does not go with review=: the point is chosen"),
        ({"max_loss": 0.01}, "max_loss=0.01 does not go with review=: .* max_slope= gives one"),
        ({"keep_individual_odds": True}, "keep_individual_odds=True does not go with review="),
        ({"criterion": "robust"}, "criterion='robust' does not go with review="),
        ({"confidence": 0.95, "tolerance": 0.1}, "confidence=0.95 does not go with review="),
        ({"objective": "closest_to_perfect"}, "closest_to_perfect"),
        ({"review": 0.05}, "review=0.05 is not allowed. Allowed: evenodds.Review"),
        ({"review": {"capacity": 0.05}}, "Allowed: evenodds.Review"),
        ({"review": review(equal="threeway"), "constraints": "demographic_parity"}, "equal='threeway' is about rates"),
    ],
    ids=str,
)
def test_options_that_do_not_go_with_reviews(options, told):
    with pytest.raises(eo.OptionError, match=told):
        eo.fit(eo.datasets.compas(), **({"review": review()} | options))


def test_other_reviewers_that_cannot_be():
    certificate = eo.fit(eo.datasets.compas(), review=review()).certificate
    with pytest.raises(eo.OptionError, match=r"tpr=1\.5 is not allowed"):
        certificate.if_reviewers(tpr=1.5)
    with pytest.raises(eo.UnknownGroupError, match="fpr has the group 'Martian'"):
        certificate.if_reviewers(fpr={"Martian": 0.1})


# -- past reviews ------------------------------------------------------------------------------------------------------


def test_rates_are_measured_on_past_reviews():
    rng = np.random.default_rng(3)
    label, group = rng.integers(0, 2, 900), rng.choice(["a", "b"], 900)
    said = rng.random(900) < np.where(label == 1, 0.8, 0.25)
    terms = eo.Review.measured(said, label, capacity=0.1, group=group, equal="final", confidence=0.9)
    assert terms.tpr == said[label == 1].mean()
    assert terms.fpr == said[label == 0].mean()
    assert [(one.group, one.label) for one in terms.past] == [
        (group, side) for group in (None, "a", "b") for side in (1, 0)
    ]
    for one in terms.past:
        rows = (label == one.label) & (True if one.group is None else group == one.group)
        expected = binomtest(int(said[rows].sum()), int(rows.sum())).proportion_ci(0.9, "wilson")
        assert one.interval == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert "a, positives: a yes to" in str(terms)
    policy = eo.fit(eo.datasets.compas(), review=terms)
    assert "measured on past reviews" in str(policy)
    loaded = eo.Policy(**parts_of_policy(json.loads(written(policy.document))))
    jsonschema.validate(policy.document, SCHEMA)
    assert loaded == policy
    assert loaded.review == terms


@pytest.mark.parametrize(
    ("said", "label", "more", "told"),
    [
        ([1, 0], [1, 1], {}, "no past reviews of negatives"),
        ([1, 0, 1], [1, 0], {}, "different lengths"),
        ([1, 0], [1, 0], {"group": ["a"]}, "different lengths"),
        ([1, 2], [1, 0], {}, r"said_yes must be 0 or 1, got 2 in 1 row \(first at position 1\)\.$"),
        ([0, 1], [1, 0], {}, "worse than a coin"),
        ([1, 0], [1, 0], {"confidence": 1}, "confidence"),
    ],
)
def test_past_reviews_that_tell_nothing(said, label, more, told):
    with pytest.raises(eo.EvenoddsError, match=told):
        eo.Review.measured(said, label, capacity=0.05, **more)


def test_a_review_is_a_value():
    assert review() == review()
    assert hash(review()) == hash(review())
    assert replace(review(), capacity=0.1) == review(0.1)
    assert "(assumed)" in str(review())


@pytest.mark.parametrize(("data", "equal", "most"), [("credit_risk", "share", 0.21), ("compas", "share", 0.27)])
def test_reviews_leave_fewer_people_to_chance_than_the_program_alone(data, equal, most):
    joint = getattr(eo.datasets, data)()
    certificate = eo.fit(joint, review=eo.Review(capacity=0.05, tpr=0.8, fpr=0.2, equal=equal)).certificate
    held = sum(m.total * share for m, share in zip(joint.members, certificate.randomized, strict=True)) / joint.total
    assert held < most
    assert certificate.residual < 1e-12
    assert certificate.gap < 1e-9
