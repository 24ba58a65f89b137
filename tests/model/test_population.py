"""What holds for the people that those of a fit are a sample of."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, studentized_range

import evenodds as eo
from evenodds.model.population import Population, chance_within
from evenodds.model.storage import fingerprint
from strategies import joints

TABLES = {"compas": (eo.datasets.compas, 0.3), "credit_risk": (eo.datasets.credit_risk, 0.1)}


@pytest.mark.parametrize(
    ("table", "asymptotic", "finite"), [("compas", 0.080929, 0.228447), ("credit_risk", 0.022478, 0.064772)]
)
def test_bounds_of_the_two_tables(table, asymptotic, finite):
    made, slope = TABLES[table]
    certificate = eo.fit(made(), max_slope=slope).certificate
    assert certificate.population_bound() == pytest.approx(asymptotic, abs=1e-6)
    assert certificate.population_bound(0.95, "finite") == pytest.approx(finite, abs=1e-6)
    assert certificate.population_bound(0.99) > certificate.population_bound(0.9)


@pytest.mark.parametrize("groups", [2, 3, 7])
@pytest.mark.parametrize("width", [0.5, 2.0, 4.0])
def test_the_range_of_equal_normals_is_scipys(groups, width):
    found = chance_within(np.full(groups, 3.0), np.full(groups, 0.5), width * 0.5)
    assert found == pytest.approx(studentized_range.cdf(width, groups, np.inf), abs=1e-9)


@given(
    st.lists(st.tuples(st.floats(-0.2, 0.2), st.floats(1e-6, 0.3)), min_size=2, max_size=6),
    st.floats(0.01, 0.8),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None)
def test_the_range_of_other_normals_is_what_is_drawn(normals, width, seed):
    means, deviations = np.array(normals).T
    drawn = np.random.default_rng(seed).normal(means, deviations, (40_000, means.size))
    assert chance_within(means, deviations, width) == pytest.approx(np.mean(np.ptp(drawn, axis=1) <= width), abs=0.016)


def test_two_groups_and_one_rate_have_a_closed_form():
    joint = eo.JointDistribution.from_arrays(*people(0, 4000, "ab"))
    policy = eo.fit(joint, constraints="true_positive_rate_parity")
    certificate = policy.certificate
    deviations = []
    for member in joint.members:
        odds = np.repeat(policy.odds(member.by_label[1].points, member.key), 1)
        deviations.append(np.var(odds, ddof=1) / odds.size)
    margin = norm.ppf(0.975) * math.sqrt(sum(deviations))
    assert certificate.population_bound() == pytest.approx(certificate.difference + margin, abs=1e-9)
    radii = [math.sqrt(math.log(2 * 2 / 0.05) / (2 * member.positive_total)) for member in joint.members]
    assert certificate.population_bound(guarantee="finite") == pytest.approx(certificate.difference + sum(radii))


def people(seed, n, groups="abc"):
    rng = np.random.default_rng(seed)
    group, label = rng.choice(list(groups), n), rng.random(n) < 0.4
    return rng.normal(label * (1 + 0.4 * (group == "b")), 1), group, label


def test_parity_of_selection_is_about_whole_groups():
    joint = eo.JointDistribution.from_arrays(*people(1, 3000))
    policy = eo.fit(joint, constraints="demographic_parity")
    (spreads,) = policy.certificate.spreads
    for (number, variance), member in zip(spreads, joint.members, strict=True):
        odds = policy.odds(np.concatenate([side.points for side in member.by_label]), member.key)
        assert number == member.total == odds.size
        assert variance == pytest.approx(np.var(odds, ddof=1))


def test_where_everybody_has_the_same_odds_nothing_is_random():
    constant = eo.JointDistribution.from_counts({"a": ([1], [5], [5]), "b": ([1, 2], [4, 1], [1, 6])})
    with pytest.warns(eo.EvenoddsWarning):
        certificate = eo.fit(constant).certificate
    assert max(certificate.slopes) == 0
    assert certificate.population_bound() == certificate.population_bound(guarantee="finite") == certificate.difference


@given(joints(min_groups=2), st.sampled_from(["asymptotic", "finite"]), st.floats(0.02, 0.6))
@settings(deadline=None)
@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_with_the_people_needed_the_promise_holds_and_with_fewer_it_does_not(joint, guarantee, tolerance):
    population = eo.fit(joint).certificate.population
    needed = population.needed(tolerance, 0.95, guarantee)
    holds = population.is_within(tolerance, 0.95, guarantee)
    assert bool(needed) == (not holds and population.difference < tolerance)

    def with_people(share):
        more = population.people.copy()
        for one in needed:
            rate = {"negatives": "fpr", "positives": "tpr", "people": "selection_rate"}[one.who]
            more[population.rates.index(rate), population.groups.index(one.group)] = one.needed * share
        parts = population.groups, population.rates, population.means, more, population.variances, population.exact
        return Population(*parts, counted=True)

    if needed:
        assert all(one.needed > one.people for one in needed)
        assert with_people(1 + 1e-6).is_within(tolerance, 0.95, guarantee)
        assert not with_people(0.98).is_within(tolerance, 0.95, guarantee)


def test_weights_have_an_effective_number_and_no_proof():
    score, group, label = people(2, 3000)
    weight = np.random.default_rng(3).uniform(0.2, 3, score.size)
    certificate = eo.fit(eo.JointDistribution.from_arrays(score, group, label, weight=weight)).certificate
    plain = eo.fit(eo.JointDistribution.from_arrays(score, group, label)).certificate
    assert certificate.weighted
    assert certificate.population_bound() > plain.population_bound()
    with pytest.raises(eo.OptionError, match="guarantee='finite' is about people who count once each, and these have"):
        certificate.population_bound(guarantee="finite")
    same = eo.JointDistribution.from_arrays(score, group, label, weight=np.full(score.size, 7.0))
    assert eo.fit(same).certificate.population_bound() == pytest.approx(plain.population_bound(), abs=1e-9)


def test_a_tolerance_that_holds_for_new_people():
    joint = eo.JointDistribution.from_arrays(*people(4, 20_000))
    plain = eo.fit(joint, tolerance=0.08)
    sure = eo.fit(joint, tolerance=0.08, confidence=0.95)
    certificate = sure.certificate
    assert (certificate.tolerance, certificate.confidence, certificate.guarantee) == (0.08, 0.95, "asymptotic")
    assert certificate.difference <= certificate.sample_tolerance + 1e-12 < 0.08
    assert certificate.population.is_within(0.08, 0.95, "asymptotic")
    assert not plain.certificate.population.is_within(0.08, 0.95, "asymptotic")
    assert plain.certificate.objective > certificate.objective
    # It is the largest found: a little more at the fit is too much for new people.
    more = eo.fit(joint, tolerance=certificate.sample_tolerance * 1.02).certificate
    assert not more.population.is_within(0.08, 0.95, "asymptotic")
    assert "To be expected of new people of the same kind, not proven (asymptotic" in str(certificate)
    proven = eo.fit(joint, tolerance=0.25, confidence=0.9, guarantee="finite").certificate
    assert proven.population_bound(0.9, "finite") <= 0.25
    assert "Proven for new people of the same kind, for any number of people of the fit (finite-sample)" in str(proven)


@pytest.mark.parametrize(
    "constraints", ["demographic_parity", "true_positive_rate_parity", "false_positive_rate_parity"]
)
def test_it_holds_for_every_constraint(constraints):
    joint = eo.JointDistribution.from_arrays(*people(5, 6000))
    certificate = eo.fit(joint, constraints=constraints, tolerance=0.1, confidence=0.95).certificate
    assert certificate.population.is_within(0.1, 0.95, "asymptotic")


def test_too_few_people_are_told_who_is_lacking():
    joint = eo.datasets.compas()
    with pytest.raises(eo.UnreachableError, match=r"too few people to promise tolerance=0.05 .*\(asymptotic\)") as told:
        eo.fit(joint, tolerance=0.05, confidence=0.95)
    assert "positives of group 'Caucasian, Female' (there are 199)" in str(told.value)
    assert "Hint: tolerance=0.08" in str(told.value)
    with pytest.raises(eo.UnreachableError, match=r"It takes 4,\d+ positives of group .* or guarantee='asymptotic'"):
        eo.fit(joint, tolerance=0.05, confidence=0.95, guarantee="finite")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"confidence": 0.95}, "confidence=0.95 is about a tolerance for new people, and tolerance is 0"),
        (
            {"confidence": 0.5, "tolerance": 0.1},
            "confidence=0.5 is not allowed. Allowed: a number above 0.5 and below 1",
        ),
        ({"confidence": 1, "tolerance": 0.1}, "confidence=1 is not allowed"),
        ({"confidence": True, "tolerance": 0.1}, "confidence=True is not allowed"),
        ({"confidence": 0.9, "tolerance": 0.1, "guarantee": "sure"}, "guarantee='sure' is not known"),
    ],
)
def test_bad_confidence(options, text):
    with pytest.raises(eo.OptionError, match=text):
        eo.fit(eo.datasets.compas(), **options)


def test_it_comes_back_from_a_file(tmp_path):
    policy = eo.fit(eo.datasets.credit_risk(), tolerance=0.1, confidence=0.95, guarantee="finite")
    policy.save(tmp_path / "policy.json")
    again = eo.Policy.load(tmp_path / "policy.json")
    assert again == policy
    assert again.certificate.population_bound() == policy.certificate.population_bound()
    # One that an earlier version made does not say how odds vary.
    document = json.loads((tmp_path / "policy.json").read_text())
    for name in ("spreads", "weighted", "confidence", "guarantee", "sample_tolerance", "scored", "change"):
        del document["certificate"][name]
    (tmp_path / "old.json").write_text(json.dumps({**document, "fingerprint": fingerprint(document)}))
    old = eo.Policy.load(tmp_path / "old.json")
    assert "Not proven: how the rates turn out for other people" in str(old)
    with pytest.raises(eo.DataError, match="does not say how much its odds vary: an earlier version made it"):
        old.certificate.population_bound()


def test_one_threshold_that_is_within_the_tolerance_already():
    joint = eo.datasets.credit_risk()
    certificate = eo.fit(joint, tolerance=0.3).certificate
    one = certificate.one_threshold
    audit = eo.audit(one.score, joint)
    assert one.difference == pytest.approx(audit.equalized_odds_difference, abs=1e-12)
    assert one.objective == pytest.approx(audit.accuracy, abs=1e-12)
    assert "Already within the tolerance: one threshold for everybody, at 27" in str(certificate)
    # The best of those within the tolerance: looked at one by one.
    scores = np.unique(np.concatenate([member.scores for member in joint.members]))[1:]
    figures = [eo.metrics(as_policy(joint, at), joint) for at in scores]
    assert one.objective == pytest.approx(max(m.accuracy for m in figures if m.equalized_odds_difference <= 0.3))
    assert eo.fit(joint, tolerance=0.01).certificate.already == ""
    assert eo.fit(joint).certificate.one_threshold is None
    sure = eo.fit(joint, tolerance=0.3, confidence=0.95).certificate
    assert "Already within the tolerance with confidence 0.95" in str(sure)


@pytest.mark.parametrize("options", [{}, {"objective": "closest_to_perfect"}, {"selection_rate": 0.123}])
def test_the_threshold_before_is_the_best_of_all_however_many_scores_there_are(options):
    joint = eo.JointDistribution.from_arrays(*people(3, 60_000))
    before = eo.fit(joint, **options).certificate.before
    scores = np.unique(np.concatenate([member.scores for member in joint.members]))
    assert scores.size > 50_000
    counts = np.array([[side.total for side in member.by_label] for member in joint.members])
    everywhere = np.array([member.roc.rates_from(scores) for member in joint.members])
    rates = np.concatenate([everywhere, np.zeros((*counts.shape, 1))], axis=2)  # or nobody
    share = counts / counts.sum(axis=0)
    fpr, tpr = (share[:, :, None] * rates).sum(axis=0)
    if "objective" in options:
        assert before.objective == pytest.approx(np.hypot(fpr, 1 - tpr).min(), abs=1e-12)
        return
    negatives, positives = counts.sum(axis=0)
    yeses = (fpr * negatives + tpr * positives) / counts.sum()
    accuracy = (negatives * (1 - fpr) + positives * tpr) / counts.sum()
    chosen = accuracy.argmax() if not options else np.abs(yeses - options["selection_rate"]).argmin()
    assert before.objective == pytest.approx(accuracy[chosen], abs=1e-12)
    assert before.score == pytest.approx(np.append(scores, np.inf)[chosen])


def as_policy(joint, threshold):
    policy = eo.fit(joint, curve="fixed")
    curve = eo.Curve("fixed", threshold, threshold, 0.0, orientation=joint.orientation)
    curves = (curve,) * len(joint.groups)
    return eo.Policy(joint.groups, curves, joint.score_range, joint.orientation, policy.certificate)


def drawn(joint, people, rng):
    """So many people of a table that stands for a population."""
    members = joint.members
    mass = np.concatenate([np.concatenate([m.negatives, m.positives]) for m in members])
    counts = np.split(rng.multinomial(people, mass / mass.sum()), np.cumsum([2 * m.scores.size for m in members])[:-1])
    table = {
        m.key: (joint.scale.own(m.scores), own[: m.scores.size], own[m.scores.size :])
        for m, own in zip(members, counts, strict=True)
    }
    return eo.JointDistribution.from_counts(table, orientation=joint.orientation)


def exceeded(table, people, samples, promised, **options):
    """In what share of samples the population differs by more than was promised; a refusal promises nothing."""
    made, slope = TABLES[table]
    joint, rng = made(), np.random.default_rng(people)
    over = refused = 0
    for _ in range(samples):
        try:
            policy = eo.fit(drawn(joint, people, rng), max_slope=slope, **options)
        except eo.UnreachableError:
            refused += 1
            continue
        over += eo.metrics(policy, joint).equalized_odds_difference > promised(policy.certificate) + 1e-12
    assert refused <= 0.05 * samples
    return over / (samples - refused)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_the_bounds_hold_for_the_population(table):
    assert exceeded(table, 3000, 40, lambda c: c.population_bound()) <= 0.15
    assert exceeded(table, 3000, 40, lambda c: c.population_bound(guarantee="finite")) <= 0.05


@pytest.mark.guarantee
@pytest.mark.parametrize("people", [3000, 10_000, 100_000])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_guarantee_the_bounds_hold_as_often_as_they_say(table, people):
    assert exceeded(table, people, 1000, lambda c: c.population_bound()) <= 0.075
    assert exceeded(table, people, 1000, lambda c: c.population_bound(guarantee="finite")) <= 0.05


@pytest.mark.guarantee
@pytest.mark.parametrize("people", [3000, 10_000, 100_000])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_guarantee_a_tolerance_holds_as_often_as_it_is_sure(table, people):
    tolerance = {3000: 0.25, 10_000: 0.15, 100_000: 0.05}[people]
    assert exceeded(table, people, 1000, lambda _: tolerance, tolerance=tolerance, confidence=0.95) <= 0.075


@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_a_handful_of_people_promise_nothing():
    score = [0.1, -0.1, 0.4, 1.1, 0.7, 1.2, 0.8, 0.6, -0.4, 0.2, 0.6, 1.0]
    joint = eo.JointDistribution.from_arrays(score, [0] * 6 + [1] * 6, [0, 0, 0, 1, 1, 1] * 2)
    with pytest.raises(eo.UnreachableError, match="too few people"):
        eo.fit(joint, tolerance=0.05, confidence=0.95)
    # Odds that are all 0 or 1 vary for nobody who is there, and may for the next.
    apart = eo.JointDistribution.from_arrays([0, 0.1, 1, 1.1] * 2, list("aaaabbbb"), [0, 0, 1, 1] * 2)
    assert eo.fit(apart).certificate.population_bound() > 0.5
    with pytest.raises(eo.UnreachableError, match="too few people"):
        eo.fit(apart, tolerance=0.05, confidence=0.95)


@pytest.mark.parametrize("table", TABLES)
def test_the_bound_does_not_contradict_a_promise_that_was_kept(table):
    made, slope = TABLES[table]
    certificate = eo.fit(made(), max_slope=slope, tolerance=0.12, confidence=0.95).certificate
    assert certificate.difference > 0.01
    assert certificate.population_bound() <= 0.12 + 1e-9
    # Rates that differ already leave less to chance than equal ones: less than the two added up, and never nothing.
    population = certificate.population
    assert certificate.difference < certificate.population_bound() < certificate.difference + population.margin(0.95)


def test_a_hint_is_never_a_tolerance_that_is_refused():
    joint = eo.datasets.compas(races=["African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other"])
    with pytest.raises(eo.UnreachableError, match="Hint: merge the smallest groups"):
        eo.fit(joint, tolerance=0.1, confidence=0.95)


@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_groups_differ_by_no_more_than_everything():
    few = eo.JointDistribution.from_counts({"a": ([1, 2], [2, 1], [1, 2]), "b": ([1, 2], [2, 1], [1, 3])})
    certificate = eo.fit(few, max_slope=1).certificate
    assert certificate.population_bound(0.99, guarantee="finite") == 1.0
    assert certificate.population_bound(0.99) <= 1.0
