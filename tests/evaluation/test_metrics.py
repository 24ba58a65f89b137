from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.evaluation.metrics import metrics_of
from evenodds.geometry import samples
from evenodds.model.rates import odds_of, rates_of
from shapes import curves, mirrored, mixes
from strategies import joints

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")


@given(joints(min_groups=2), st.data())
def test_figures_agree_with_sums_over_people(joint, data):
    """Each figure again from the definition, person by person."""
    upward = mixes(far=20, jumps=True).map(lambda mix: mix if mix.orientation == "positive" else mirrored(mix))
    chosen = tuple(data.draw(curves() | upward) for _ in joint.groups)
    measured = metrics_of(dict(zip(joint.groups, chosen, strict=True)), joint, joint.score_range)
    rates = []
    correct = 0.0
    for member, curve in zip(joint.members, chosen, strict=True):
        odds = curve(member.scores)
        yes_negative, yes_positive = odds @ member.negatives, odds @ member.positives
        right = yes_positive + member.negative_total - yes_negative
        correct += right
        fpr, tpr = yes_negative / member.negative_total, yes_positive / member.positive_total
        selected = (yes_negative + yes_positive) / member.total
        figures = measured.groups[member.key]
        assert (figures.fpr, figures.tpr, figures.fnr) == pytest.approx((fpr, tpr, 1 - tpr), abs=1e-12)
        assert figures.accuracy == pytest.approx(right / member.total, abs=1e-12)
        assert figures.selection_rate == pytest.approx(selected, abs=1e-12)
        uncertain = (odds > 1e-12) & (odds < 1 - 1e-12)
        here = member.negatives + member.positives
        assert figures.randomized == pytest.approx(here[uncertain].sum() / member.total, abs=1e-12)
        rates.append((fpr, tpr, selected))
    spread = np.ptp(rates, axis=0)
    assert measured.accuracy == pytest.approx(correct / joint.total, abs=1e-12)
    assert measured.false_positive_rate_difference == pytest.approx(spread[0], abs=1e-12)
    assert measured.true_positive_rate_difference == pytest.approx(spread[1], abs=1e-12)
    assert measured.false_negative_rate_difference == pytest.approx(spread[1], abs=1e-12)
    assert measured.equalized_odds_difference == pytest.approx(max(spread[:2]), abs=1e-12)
    assert measured.demographic_parity_difference == pytest.approx(spread[2], abs=1e-12)


PEOPLE = eo.JointDistribution.from_counts({"a": ([1, 2], [40, 40], [30, 50])})


def test_other_people_or_another_orientation_are_refused():
    policy = eo.fit(PEOPLE, target=(0.3, 0.35))
    with pytest.raises(eo.UnknownGroupError, match="does not know the group 'b'"):
        eo.metrics(policy, eo.JointDistribution.from_counts({"b": ([1, 2], [1, 1], [1, 1])}))
    with pytest.raises(eo.DataError, match="positive orientation, the data negative"):
        eo.metrics(policy, eo.JointDistribution.from_counts({"a": ([1, 2], [1, 1], [1, 1])}, orientation="negative"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda policy: eo.metrics(policy, PEOPLE).spread(),
            r"spread\(\) takes one figure or several. Allowed: people, fpr",
        ),
        (lambda policy: eo.metrics(policy, PEOPLE).spread("fpt"), "figure='fpt' is not known.* did you mean 'fpr'"),
        (lambda policy: eo.metrics(policy, PEOPLE).spread("group"), "figure='group' is not known"),
        (lambda _: eo.odds_distance(0.5, 1, 2), "The first argument must be a Curve, got float"),
        (lambda _: eo.individual_odds({}, (1, 2)), "curves must map each group to its Curve"),
        (lambda _: eo.individual_odds({"a": 3}, (1, 2)), "curves must map each group to its Curve"),
        (lambda policy: eo.individual_odds(policy.curves, (2, 1)), r"score_range=\(2, 1\) is not allowed"),
        (lambda policy: eo.individual_odds(policy.curves, 2), "score_range=2 is not allowed"),
        (lambda policy: eo.individual_odds(policy.curves, (1, np.nan)), "score_range=nan is not allowed"),
    ],
)
def test_bad_input_is_one_clear_line(call, message):
    with pytest.raises(eo.OptionError, match=message):
        call(eo.fit(PEOPLE, target=(0.3, 0.35)))


@given(curves() | mixes(far=1e3), curves() | mixes(far=1e3))
def test_curves_inside_the_score_range_offer_the_same_odds(one, two):
    ends = [end for curve in (one, two) for end in (curve.t0, curve.t1)]
    lo, hi = min(ends), max(ends)
    verdict = eo.individual_odds({"a": one, "b": two}, (lo, hi))
    assert verdict.holds
    assert verdict.share == pytest.approx(1)


def test_a_hard_threshold_shares_no_odds_with_a_curve():
    verdict = eo.individual_odds({"a": eo.Curve("linear", 0, 5, 0.5), "b": eo.Curve("linear", 3, 3, 0)}, (0, 10))
    assert not verdict.holds
    assert verdict.share == 0
    assert verdict.apart == (("a", "b"),)


def test_the_share_is_that_of_the_overlap():
    """Odds 0.25 to 1 against 0 to 0.75: half of all odds on offer is open to both."""
    one, two = eo.Curve("linear", -1, 3, 0.5), eo.Curve("linear", 0, 4, 0.5)
    verdict = eo.individual_odds({"a": one, "b": two}, (0, 3))
    assert not verdict.holds
    assert verdict.share == pytest.approx(0.5)
    assert "between a and b" in str(verdict)


def test_a_mix_of_thresholds_offers_three_odds():
    hard = eo.Curve.mixed([(0.25, eo.Curve("linear", 1, 1, 0)), (0.75, eo.Curve("linear", 5, 5, 0))])
    assert eo.individual_odds({"a": hard, "b": eo.Curve("fixed", 2, 3, 0.25)}, (0, 9)).holds
    half = eo.Curve.mixed([(0.25, eo.Curve("linear", 1, 1, 0)), (0.75, eo.Curve("linear", 3, 5, 0.5))])
    verdict = eo.individual_odds({"a": half, "b": eo.Curve("linear", 2, 6, 0.5)}, (0, 9))
    assert not verdict.holds
    assert verdict.share == pytest.approx(0.75)  # of all odds those from 0 to 0.25 are open to b only


@pytest.mark.parametrize("orientation", ["positive", "negative"])
def test_mixes_of_large_groups_have_the_rates_of_the_table(monkeypatch, orientation):
    rng = np.random.default_rng(0)
    score, label = rng.normal(0, 30, 5000), rng.integers(0, 2, 5000)
    tables = eo.JointDistribution.from_arrays(score, np.zeros(5000, int), label, orientation=orientation)
    assert not tables.members[0].is_large
    monkeypatch.setattr(samples, "FEW", 0)
    large = eo.JointDistribution.from_arrays(score, np.zeros(5000, int), label, orientation=orientation)
    assert large.members[0].is_large
    for family in ("linear", "quadratic", "cubic", "quartic"):
        for ends in (((-20, 10), (0, 40)), ((-20, -19.99), (30, 31)), ((-20, -20), (-30, 40)), ((3, 3), (5, 5))):
            parts = [eo.Curve(family, *end, 0.45 if end[0] < end[1] else 0) for end in ends]
            mix = eo.Curve.mixed([(0.3, parts[0]), (0.7, parts[1])])
            mix = mix if orientation == "positive" else mirrored(mix)
            here, there = (rates_of(mix, joint.members[0]) for joint in (large, tables))
            assert (here.fpr, here.tpr) == pytest.approx((there.fpr, there.tpr), abs=1e-13)
            odds = odds_of(mix, tables.members[0])
            by_chance = (tables.members[0].negatives + tables.members[0].positives)[(odds > 0) & (odds < 1)].sum()
            measured = metrics_of({"0": mix}, tables, tables.score_range)
            assert measured.randomized == pytest.approx(by_chance / 5000)


def test_fixed_randomisation_with_the_same_odds_holds():
    verdict = eo.individual_odds({"a": eo.Curve("fixed", 1, 5, 0.5), "b": eo.Curve("fixed", 2, 3, 0.5)}, (0, 9))
    assert verdict.holds
    assert verdict.share == 1
    assert "hold" in str(verdict)


@given(curves() | mixes(far=1e3), st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))
def test_odds_distance_is_a_metric_bounded_by_the_slope(curve, a, b, c):
    ab, bc, ac = (float(eo.odds_distance(curve, x, y)) for x, y in ((a, b), (b, c), (a, c)))
    assert ab == float(eo.odds_distance(curve, b, a))
    assert ac <= ab + bc + 1e-12
    assert ab <= curve.lipschitz * abs(a - b) * (1 + 1e-9) + 1e-9


def test_individual_odds_of_which_a_part_is_open_to_all():
    """Odds from 0 to 1/2 in one group, from 1/4 to 3/4 in the other: of those on offer a third are open to both."""
    curves = {"a": eo.Curve("linear", 0, 20, 0.5), "b": eo.Curve("linear", -5, 15, 0.5)}
    found = eo.individual_odds(curves, (0, 10))
    assert not found.holds
    assert found.share == pytest.approx(1 / 3)
