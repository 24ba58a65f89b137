from __future__ import annotations

import copy
import math
import pickle
import re
import warnings

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import evenodds as eo
from evenodds.evaluation.outcomes import outcomes_of
from evenodds.geometry import samples
from evenodds.model import groups


def people(seed, n=3000, groups="abc", shift=0.0):
    rng = np.random.default_rng(seed)
    group = rng.choice(list(groups), n)
    label = rng.integers(0, 2, n)
    score = rng.normal(10 * label * (1 + 0.3 * (group == "b")) + shift * (group == "a"), 10)
    return score, group, label


@pytest.fixture(scope="module")
def policy():
    return eo.fit(eo.JointDistribution.from_arrays(*people(0)))


def test_every_figure_is_the_plain_mean_over_people(policy):
    score, group, label = people(1)
    audit = eo.audit(policy, eo.JointDistribution.from_arrays(score, group, label))
    odds = policy.odds(score, group)
    assert set(audit.groups) == set("abc")
    for key, found in audit.groups.items():
        own = group == key
        yes, o = label[own] == 1, odds[own]
        assert found.people == own.sum()
        assert found.positives == yes.sum()
        assert float(found.fpr) == pytest.approx(o[~yes].mean(), abs=1e-12)
        assert float(found.tpr) == pytest.approx(o[yes].mean(), abs=1e-12)
        assert float(found.fnr) == pytest.approx(1 - o[yes].mean(), abs=1e-12)
        assert float(found.selection_rate) == pytest.approx(o.mean(), abs=1e-12)
        assert float(found.accuracy) == pytest.approx(np.where(yes, o, 1 - o).mean(), abs=1e-12)
        assert float(found.randomized) == pytest.approx(((o > 0) & (o < 1)).mean(), abs=1e-12)
        assert float(found.auc) == pytest.approx(roc_auc_score(yes, score[own]), abs=1e-12)
        assert found.lipschitz == policy.curves[key].lipschitz
        c = found.confusion
        assert (c.true_positives, c.false_positives) == pytest.approx((o[yes].sum(), o[~yes].sum()))
        assert c.true_positives + c.false_negatives == pytest.approx(yes.sum())
        assert c.false_positives + c.true_negatives == pytest.approx((~yes).sum())
    assert float(audit.accuracy) == pytest.approx(np.where(label == 1, odds, 1 - odds).mean(), abs=1e-12)


def test_differences_are_those_of_metrics(policy):
    joint = eo.JointDistribution.from_arrays(*people(1))
    audit, measured = eo.audit(policy, joint), eo.metrics(policy, joint)
    for name in ("equalized_odds", "demographic_parity", "true_positive_rate", "false_positive_rate"):
        known = getattr(measured, f"{name}_difference")
        found = getattr(audit, f"{name}_difference")
        assert float(found) == pytest.approx(known, abs=1e-12)
        assert known in found
    assert audit.individual_odds == measured.individual_odds
    rates = [float(g.selection_rate) for g in audit.by_group]
    assert float(audit.demographic_parity_ratio) == pytest.approx(min(rates) / max(rates))
    assert audit.extremes("selection_rate") == tuple(
        audit.by_group[int(i)].group for i in (np.argmin(rates), np.argmax(rates))
    )


def test_a_large_group_has_the_same_figures_as_its_table(policy, monkeypatch):
    score, group, label = people(2)
    weight = np.random.default_rng(2).uniform(0.5, 2, score.size)
    table = eo.JointDistribution.from_arrays(score, group, label, weight=weight)
    monkeypatch.setattr(samples, "FEW", 100)
    sides = eo.JointDistribution.from_arrays(score, group, label, weight=weight)
    assert all(member.is_large for member in sides.members)
    for one, other in zip(eo.audit(policy, table).by_group, eo.audit(policy, sides).by_group, strict=True):
        for figure in ("fpr", "tpr", "accuracy", "selection_rate", "randomized", "auc", "base_rate"):
            a, b = getattr(one, figure), getattr(other, figure)
            assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-9)


def test_weights_count_as_people_but_tell_less(policy):
    score, group, label = people(3)
    plain = eo.audit(policy, eo.JointDistribution.from_arrays(score, group, label)).groups["a"].tpr
    double = eo.audit(policy, eo.JointDistribution.from_arrays(score, group, label, weight=np.full(score.size, 2.0)))
    assert double.groups["a"].tpr.low == pytest.approx(plain.low, abs=1e-12)
    rng = np.random.default_rng(3)
    uneven = eo.JointDistribution.from_arrays(score, group, label, weight=rng.exponential(1, score.size))
    found = eo.audit(policy, uneven).groups["a"].tpr
    assert found.high - found.low > plain.high - plain.low


def test_the_verdict_passes_fails_or_stays_open(policy):
    fresh = eo.audit(policy, eo.JointDistribution.from_arrays(*people(4, n=60000)))
    assert fresh.passed(tolerance=0.2) == "pass"
    assert bool(fresh.passed(tolerance=0.2)) is True
    shifted = eo.audit(policy, eo.JointDistribution.from_arrays(*people(4, n=6000, shift=15)))
    verdict = shifted.passed(tolerance=0.02)
    assert verdict == "fail"
    assert not verdict
    assert "'a' and 'b'" in verdict.reasons[0]
    few = eo.audit(policy, eo.JointDistribution.from_arrays(*people(5, n=300))).passed(tolerance=0.02)
    assert few == "undecided"
    assert not few
    assert "it takes about" in few.reasons[0]
    assert "negatives of 'c' (there are" in few.reasons[0]
    assert fresh.passed(tolerance=0.5, constraints="demographic_parity") == "pass"


@given(st.floats(0, 1), st.floats(0, 1))
def test_what_passes_passes_with_more_tolerance(policy, a, b):
    audit = eo.audit(policy, eo.JointDistribution.from_arrays(*people(6, n=800)))
    order = {"fail": 0, "undecided": 1, "pass": 2}
    lo, hi = min(a, b), max(a, b)
    assert order[audit.passed(tolerance=lo)] <= order[audit.passed(tolerance=hi)]


def test_groups_that_are_missing_unknown_or_one_sided_are_named(policy):
    score, group, label = people(7, n=400, groups="acz")
    label[group == "c"] = 0
    joint = eo.JointDistribution.from_arrays(score, group, label, one_sided="keep")
    assert [member.key for member in joint.one_sided] == ["c"]
    with pytest.warns(eo.EvenoddsWarning) as told:
        audit = eo.audit(policy, joint)
    texts = [str(warning.message) for warning in told]
    assert any("'b' of the policy is not in the data" in text for text in texts)
    assert any(f"'z' is not known to the policy: {(group == 'z').sum()} people" in text for text in texts)
    assert any(f"'c' has {(group == 'c').sum()} negatives and 0 positives" in text for text in texts)
    assert audit.missing == ("b",)
    assert audit.unknown == {"z": (group == "z").sum()}
    assert audit.one_sided == ("c",)
    assert math.isnan(audit.groups["c"].tpr.value)
    assert audit.groups["c"].tpr.high == 1.0
    assert audit.passed(tolerance=1.0) == "undecided"
    assert "not defined" in str(audit)


def test_a_one_sided_joint_is_for_audits_only():
    joint = eo.JointDistribution.from_counts({"a": ([1, 2], [3, 4], [5, 6]), "b": ([1], [2], [0])}, one_sided="keep")
    for use in (eo.fit, eo.frontier, eo.compare, eo.stability):
        with pytest.raises(eo.DataError, match="Group 'b' has weight 2 of negatives, none of positives"):
            use(joint)
    with pytest.raises(eo.DataError, match="No group has both negatives and positives: 'b' 2 and 0"):
        eo.JointDistribution.from_counts({"b": ([1], [2], [0])}, one_sided="keep")
    empty = eo.JointDistribution.from_counts({"a": ([1, 2], [3, 4], [5, 6]), "b": ([], [], [])}, one_sided="keep")
    assert [(member.key, member.total) for member in empty.one_sided] == [("b", 0.0)]
    policy = eo.fit(eo.JointDistribution.from_counts({g: ([1, 2], [60, 40], [40, 60]) for g in "ab"}))
    with pytest.warns(eo.EvenoddsWarning, match="'b' has 0 negatives and 0 positives"):
        assert eo.audit(policy, empty, bootstrap=10).groups["b"].people == 0


def test_lazy_frames_may_keep_one_sided_groups(engines):
    columns = {"score": [1.0, 2, 3, 4, 5, 6], "group": list("aaaabb"), "label": [0, 1, 0, 1, 0, 0]}
    for kind in ("pandas", "polars-lazy", "duckdb"):
        frame = engines.frame(kind, pa.table(columns))
        joint = eo.JointDistribution.from_frame(frame, score="score", group="group", label="label", one_sided="keep")
        assert [member.key for member in joint.one_sided] == ["b"], kind


def test_before_and_after(policy):
    score, group, label = people(8)
    joint = eo.JointDistribution.from_arrays(score, group, label)
    audit = eo.audit(policy, joint, before=5)
    hard = (score >= 5).astype(float)
    own = group == "a"
    assert float(audit.before.groups["a"].tpr) == pytest.approx(hard[own & (label == 1)].mean())
    change = (policy.odds(score, group) - hard)[own & (label == 1)].mean()
    assert float(audit.changes["a"]["tpr"]) == pytest.approx(change, abs=1e-12)
    same = eo.audit(policy, joint, before=policy)
    assert {group: set(of) for group, of in same.changes.items()} == {group: set(audit.changes["a"]) for group in "abc"}
    assert all(float(e) == 0 and 0 in e for of in same.changes.values() for e in of.values())
    assert "before" in str(audit)
    assert set(audit.frame()["part"]) == {"audited", "before", "change"}


def test_drift_is_seen_where_there_is_some(policy):
    fitted = eo.JointDistribution.from_arrays(*people(0))
    still = eo.audit(policy, eo.JointDistribution.from_arrays(*people(9)), reference=fitted)
    moved = eo.audit(policy, eo.JointDistribution.from_arrays(*people(9, shift=8)), reference=fitted)
    assert not still.drift["c"].scores_changed
    assert moved.drift["a"].scores_changed
    assert not moved.drift["a"].base_rate_changed
    assert "Drift of group 'a'" in str(moved)
    unmoved = eo.audit(policy, fitted, reference=fitted).drift["a"]
    assert unmoved.stability_index == pytest.approx(0, abs=1e-12)
    assert unmoved.kolmogorov_smirnov == 0


def test_drift_beyond_chance_is_rare_where_there_is_none(policy):
    changed = sum(
        eo.audit(
            policy,
            eo.JointDistribution.from_arrays(*people(100 + i, n=900)),
            reference=eo.JointDistribution.from_arrays(*people(200 + i, n=900)),
        )
        .drift["a"]
        .scores_changed
        for i in range(60)
    )
    assert changed <= 8  # at most one of twenty is expected


def test_a_bootstrap_agrees_with_the_intervals_and_with_its_seed(policy):
    joint = eo.JointDistribution.from_arrays(*people(10, n=6000))
    audit = eo.audit(policy, joint, bootstrap=400, rng=3)
    assert {(group, rate) for group in "abc" for rate in ("fpr", "tpr")} <= set(audit.resampled)
    for (group, rate), found in audit.resampled.items():
        known = getattr(audit.groups[group], rate)
        assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=0.15 * (known.high - known.low))
    assert audit.resampled == eo.audit(policy, joint, bootstrap=400, rng=3).resampled
    assert audit.resampled != eo.audit(policy, joint, bootstrap=400, rng=4).resampled


def test_an_audit_is_read_by_people_and_by_machines(policy):
    audit = eo.audit(policy, eo.JointDistribution.from_arrays(*people(11)))
    frame = audit.frame()
    assert list(frame.columns) == ["part", "figure", "group", "other", "value", "low", "high"]
    row = frame[(frame.figure == "tpr_difference") & (frame.group == "a") & (frame.other == "b")].iloc[0]
    assert row.low <= row.value <= row.high
    assert {"demographic_parity_ratio", "false_positives", "lipschitz"} <= set(frame.figure)
    text = str(audit)
    for expected in ("four-fifths", "equalized odds difference", "most and least often selected"):
        assert expected in text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"confidence": 1.5}, "confidence=1.5 is not allowed"),
        ({"confidence": True}, "confidence=True is not allowed"),
        ({"bootstrap": -1}, "bootstrap=-1 is not allowed"),
        (
            {"rng": 0.5},
            "rng=0.5 is not allowed. Allowed: a whole number from 0 on, a Generator, a RandomState, or None",
        ),
        ({"before": "yesterday"}, "before='yesterday' is not allowed"),
        ({"reference": 3}, "reference= must be a JointDistribution, got int"),
    ],
)
def test_options_are_checked(policy, options, text):
    with pytest.raises(eo.OptionError, match=text):
        eo.audit(policy, eo.JointDistribution.from_arrays(*people(12)), **options)


def test_what_is_no_audit_is_refused(policy):
    joint = eo.JointDistribution.from_arrays(*people(12))
    with pytest.raises(eo.OptionError, match=r"policy has no group\. Allowed: a policy, a score"):
        eo.audit({}, joint)
    with pytest.raises(eo.OptionError, match=r"policy='yes' is not allowed\. Allowed: a policy, a score"):
        eo.audit("yes", joint)
    with pytest.raises(eo.OptionError, match="second argument must be a JointDistribution, got list"):
        eo.audit(policy, [])
    with pytest.raises(eo.DataError, match=r"nobody to audit. The policy does not know the group 'x'"):
        eo.audit(policy, eo.JointDistribution.from_counts({"x": ([1, 2], [3, 4], [5, 6])}))
    with pytest.raises(eo.DataError, match="positive orientation, the data negative"):
        eo.audit(policy, eo.JointDistribution.from_arrays(*people(12), orientation="negative"))
    with pytest.raises(eo.OptionError, match="tolerance=2 is not allowed"):
        eo.audit(policy, joint).passed(tolerance=2)


def test_negative_orientation_is_the_mirror_image(policy):
    score, group, label = people(13)
    mirrored = eo.fit(eo.JointDistribution.from_arrays(-people(0)[0], *people(0)[1:], orientation="negative"))
    one = eo.audit(policy, eo.JointDistribution.from_arrays(score, group, label), before=4)
    two = eo.audit(mirrored, eo.JointDistribution.from_arrays(-score, group, label, orientation="negative"), before=-4)
    for a, b in zip((*one.by_group, *one.before.by_group), (*two.by_group, *two.before.by_group), strict=True):
        assert float(a.tpr) == pytest.approx(float(b.tpr), abs=1e-9)
        assert float(a.auc) == pytest.approx(float(b.auc), abs=1e-12)


def test_weights_that_go_with_extreme_odds_widen_the_intervals(policy):
    """A fair policy on people of whom few, far from the middle, weigh five times as much."""
    rng = np.random.default_rng(0)
    middle = {g: eo.explain(policy, score=0, group=g).needed[0.5] for g in "abc"}
    covered = failed = 0
    for _ in range(100):
        group, label = np.repeat(list("abc"), 400), np.tile([0, 1], 600)
        far = rng.random(1200) < 0.05
        score = np.where(far, rng.choice([-500.0, 500.0], 1200), [middle[g] for g in group])
        joint = eo.JointDistribution.from_arrays(score, group, label, weight=np.where(far, 5.0, 1.0))
        audit = eo.audit(policy, joint)
        covered += sum(0.5 in g.fpr for g in audit.by_group)
        failed += audit.passed(tolerance=0) == "fail"
    assert covered / 300 >= 0.91
    assert failed <= 9


@pytest.mark.parametrize("kind", ["counted", "table", "sides", "lazy"])
def test_squares_of_weights_are_kept_however_people_are_counted(kind, monkeypatch):
    rng = np.random.default_rng(1)
    score, label = rng.integers(0, 5, 600) * (1.0 if kind == "counted" else 1.1), rng.integers(0, 2, 600)
    weight = rng.exponential(1, 600)
    if kind == "sides":
        monkeypatch.setattr(samples, "FEW", 10)
        monkeypatch.setattr(groups, "_TIED", 1000)
    if kind == "lazy":
        frame = pl.LazyFrame({"s": score, "g": ["a"] * 600, "y": label, "w": weight})
        joint = eo.JointDistribution.from_frame(frame, score="s", group="g", label="y", weight="w")
    else:
        joint = eo.JointDistribution.from_arrays(score, ["a"] * 600, label, weight=weight)
    member = joint.members[0]
    assert member.is_large == (kind == "sides")
    for side, of in zip(member.by_label, (label == 0, label == 1), strict=True):
        for at in np.unique(side.points):
            squares = side.squares[side.points == at].sum()
            assert squares == pytest.approx((weight[of & np.isclose(score, at)] ** 2).sum())


def test_the_accuracy_of_everybody_knows_which_groups_are_uncertain():
    fitted = eo.JointDistribution.from_counts({g: ([0, 1], [60, 40], [40, 60]) for g in "ab"})
    lottery = eo.fit(fitted, target=(0.5, 0.5))
    rng = np.random.default_rng(2)
    threshold = eo.Curve("fixed", 0.5, 0.5, 0)
    policy = eo.Policy(("a", "b"), (lottery.curves["a"], threshold), (0, 1), "positive", lottery.certificate)
    hits = 0
    for _ in range(200):
        score, label = rng.integers(0, 2, 2020), rng.integers(0, 2, 2020)
        group = np.repeat(["a", "b"], [2000, 20])
        weight = np.repeat([0.9 / 2000, 0.1 / 20], [2000, 20])
        joint = eo.JointDistribution.from_arrays(score, group, label, weight=weight, one_sided="keep")
        hits += 0.5 in eo.audit(policy, joint).accuracy
    assert hits / 200 >= 0.9


def test_bins_that_nobody_is_in_are_no_drift():
    big = eo.JointDistribution.from_counts({"a": ([1.0], [500_000], [500_000])})
    few = eo.JointDistribution.from_counts({"a": ([1.0], [10], [10])})
    drift = eo.audit(eo.fit(big), few, reference=big).drift["a"]
    assert drift.stability_index == 0
    assert not drift.scores_changed


def test_groups_without_a_reference_are_named(policy):
    joint = eo.JointDistribution.from_arrays(*people(20))
    score, group, label = people(21)
    label[group == "b"] = 0
    reference = eo.JointDistribution.from_arrays(
        score[group != "c"], group[group != "c"], label[group != "c"], one_sided="keep"
    )
    audit = eo.audit(policy, joint, reference=reference)
    assert audit.drift["c"] is None
    assert audit.drift["b"].kolmogorov_smirnov < 0.2
    assert "Drift of group 'c': the people of the fit lack it." in str(audit)
    assert not (audit.frame().query("part == 'drift'").group == "c").any()


def test_what_was_in_use_before_is_judged_by_the_groups_of_the_audit(policy):
    wider = eo.fit(eo.JointDistribution.from_arrays(*people(22, groups="abcd")))
    audit = eo.audit(policy, eo.JointDistribution.from_arrays(*people(23)), before=wider)
    assert audit.before.individual_odds.apart == ()
    with pytest.raises(eo.UnknownGroupError, match="before=: The policy does not know the group 'd'"):
        eo.audit(wider, eo.JointDistribution.from_arrays(*people(23, groups="abcd")), before=policy)


def test_equal_for_sure_passes_with_no_tolerance():
    joint = eo.JointDistribution.from_counts({g: ([1.0], [60], [40]) for g in "ab"})
    audit = eo.audit(eo.fit(joint), joint)
    assert audit.passed(tolerance=0) == "pass"
    assert str(audit.equalized_odds_difference) == "0.0000 [0.0000, 0.0000]"
    assert audit.passed(tolerance=np.float32(0.1)) == "pass"


def test_people_without_weight_are_nobody(policy):
    joint = eo.JointDistribution.from_arrays(
        [0.0, 1, 2, 3], ["a", "z", "z", "z"], [0, 0, 1, 1], weight=[0, 1, 1, 1], one_sided="keep"
    )
    with pytest.raises(eo.DataError, match="nobody to audit"):
        eo.audit(policy, joint)
    with pytest.raises(eo.DataError, match="too small to square"):
        eo.JointDistribution.from_arrays(*people(24), weight=np.full(3000, 1e-200))


def test_results_can_be_copied_and_pickled(policy):
    joint = eo.JointDistribution.from_arrays(*people(25, n=900))
    audit = eo.audit(policy, joint, before=5, reference=joint, bootstrap=10)
    results = [
        audit,
        audit.passed(tolerance=0.1),
        eo.stability(joint, draws=3),
        eo.explain(policy, score=5, group="a", joint=joint),
    ]
    for result in results:
        for copied in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result), copy.copy(result)):  # noqa: S301
            assert copied == result
            assert str(copied) == str(result)
    assert pickle.loads(pickle.dumps(results[1])).reasons == results[1].reasons  # noqa: S301


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda audit: audit.pairs("xx"), "rate='xx' is not known"),
        (lambda audit: audit.extremes("people"), "figure='people' is not known"),
        (lambda audit: audit.spread(), r"spread\(\) takes one rate or several. Allowed: fpr, tpr"),
    ],
)
def test_unknown_figures_are_refused(policy, call, text):
    with pytest.raises(eo.OptionError, match=text):
        call(eo.audit(policy, eo.JointDistribution.from_arrays(*people(26, n=300))))


def test_of_a_figure_that_no_group_has_none_is_the_largest():
    nobody = eo.Audit.of_decisions([0, 0, 0, 0], list("aabb"), [0, 1, 0, 1])
    assert nobody.extremes("tpr") == ("a", "b")
    with pytest.raises(eo.DataError, match="The precision is not defined for any group"):
        nobody.extremes("precision")


def scaled(joint, by=1.0, *, reversed_labels=False):
    """The same people with other scores, or other labels."""
    sides = {m.key: (m.negatives, m.positives) for m in joint.members}
    return eo.JointDistribution.from_counts(
        {m.key: (by * m.scores, *sides[m.key][:: -1 if reversed_labels else 1]) for m in joint.members}
    )


def test_scores_of_another_scale_are_doubted_wherever_people_are_measured():
    joint = eo.datasets.credit_risk()
    policy, points = eo.fit(joint, max_slope=0.1), scaled(joint, 10)
    text = r"of 174,047 scores lie outside those of the fit, which go from 0 to 100\. Hint: are they on the same scale"
    with pytest.warns(eo.EvenoddsWarning, match=text) as caught:
        eo.audit(policy, points)
    assert caught[0].filename == __file__
    with pytest.warns(eo.EvenoddsWarning, match=text) as caught:
        eo.update(policy, points, max_change=1)
    assert caught[0].filename == __file__
    assert any(re.search(text, block.words) for block in eo.report(policy, points).sections[0].blocks[2:])
    # A tenth as large, they are all inside; most of those ten times as large are not.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eo.audit(policy, scaled(joint, 0.1))
        eo.audit(27, points)


def test_few_scores_of_another_scale_are_doubted_if_many_have_them():
    rng = np.random.default_rng(0)
    group, label = rng.integers(0, 3, 600), rng.integers(0, 2, 600)
    score = rng.integers(1, 4, 600) + rng.integers(0, 2, 600) * label + label
    policy = eo.fit(eo.JointDistribution.from_arrays(score, group, label))
    with pytest.warns(eo.EvenoddsWarning, match="600 of 600 scores lie outside those of the fit, which go from 1 to 5"):
        eo.audit(policy, eo.JointDistribution.from_arrays(100 * score, group, label))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of 18 people nothing is said
        eo.audit(policy, eo.JointDistribution.from_arrays(100 * score[:18], group[:18], label[:18], one_sided="keep"))


def test_groups_that_are_ranked_backwards_are_doubted():
    joint = eo.datasets.credit_risk()
    policy, other = eo.fit(joint), scaled(joint, reversed_labels=True)
    text = r"4 groups are ranked backwards by the score, with an AUC below 1/2: 'asian' with 0\.1.*Hint: check"
    for decider in (policy, 27):
        with pytest.warns(eo.EvenoddsWarning, match=text):
            eo.audit(decider, other)
    rng = np.random.default_rng(0)
    noise = eo.JointDistribution.from_arrays(rng.random(100), np.repeat(["a", "b"], 50), np.tile([0, 1], 50))
    assert min(member.roc.auc for member in noise.members) < 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eo.audit(0.5, noise)  # as chance may have it


def test_the_drift_bound_holds_whoever_the_reference_are():
    joint = eo.datasets.credit_risk()
    policy = eo.fit(joint)
    moved = eo.JointDistribution.from_counts(
        {m.key: (m.scores + (20 if m.key == "black" else 0), m.negatives, m.positives) for m in joint.members}
    )
    audit = eo.audit(policy, moved, reference=moved)  # nobody has moved since, and groups differ
    assert audit.equalized_odds_difference > 0.3
    assert audit.drift_bound == pytest.approx(audit.equalized_odds_difference, abs=1e-12)
    assert "or how far the people of the reference are apart" in str(audit)
    one_sided = eo.JointDistribution.from_arrays(
        [10, 60, 30, 30, 70], ["asian", "asian", "black", "black", "black"], [0, 1, 1, 1, 1], one_sided="keep"
    )
    assert eo.audit(policy, moved, reference=one_sided).drift_bound is None


def test_groups_of_the_reference_that_nobody_audits_do_not_matter():
    rng = np.random.default_rng(0)
    group, label = rng.choice(["a", "b"], 2000), rng.random(2000) < 0.4
    score = rng.normal(label, 1)
    joint = eo.JointDistribution.from_arrays(score, group, label)
    more = eo.JointDistribution.from_arrays([*score, 0, 1], [*group, "c", "c"], [*label, 0, 1])
    policy = eo.fit(joint)
    alone, beside = (eo.audit(policy, joint, reference=reference) for reference in (joint, more))
    assert beside.drift_bound == alone.drift_bound
    assert beside.drift == alone.drift


def test_an_open_verdict_names_who_differs_most_and_who_is_least_certain():
    rng = np.random.default_rng(3)
    group = np.repeat(["a", "b", "few"], [4000, 4000, 60])
    label = rng.integers(0, 2, group.size)
    joint = eo.JointDistribution.from_arrays(rng.normal(label + 0.2 * (group == "b"), 1), group, label)
    audit = eo.audit(0.5, joint)
    apart = {(rate, p.one, p.other): abs(p.difference) for rate in ("fpr", "tpr") for p in audit.pairs(rate)}
    rate, one, other = max(apart, key=apart.get)
    told = audit.passed(tolerance=0.15).reasons[0]
    words = {"fpr": "false positive rate", "tpr": "true positive rate"}
    assert f"({words[rate]} of {one!r} and {other!r}" in told
    assert "'few'" in told


def test_what_is_no_decider_is_refused():
    joint = eo.datasets.compas()
    policy = eo.fit(joint)
    with pytest.raises(eo.OptionError, match=r"policy has no group. Allowed: a policy, a score"):
        eo.audit({}, joint)
    estimator = type("Estimator", (), {"policy_": policy})()
    with pytest.raises(eo.OptionError, match=r"policy is a Estimator. Hint: its .policy_ is the policy"):
        eo.audit(estimator, joint)
    mirrored = eo.JointDistribution.from_counts(
        {m.key: (m.scores, m.positives, m.negatives) for m in joint.members}, orientation="negative"
    )
    with pytest.raises(eo.DataError, match=r"reference= has negative orientation, the people positive"):
        eo.audit(policy, joint, reference=mirrored)


def test_a_bootstrap_stands_in_the_frame():
    joint = eo.datasets.compas()
    audit = eo.audit(eo.fit(joint), joint, bootstrap=200)
    frame = audit.frame()
    drawn = frame[frame.part == "bootstrap"]
    assert set(zip(drawn.group, drawn.figure, strict=True)) == set(audit.resampled)
    for row in drawn.itertuples():
        ours = getattr(audit.groups[row.group], row.figure)
        assert (row.low, row.high) == pytest.approx((ours.low, ours.high), abs=0.02)


def test_odds_in_cells_are_those_of_the_same_people():
    rng = np.random.default_rng(0)
    score, label = rng.random(20_000), rng.integers(0, 2, 20_000)
    weight = rng.random(20_000)
    joint = eo.JointDistribution.from_arrays(score, ["a"] * 20_000, label, weight=weight)
    curve = eo.Curve("linear", 0.05, 0.95, 0.5)
    for side, own in zip(("negatives", "positives"), (0, 1), strict=True):
        odds, weights = getattr(outcomes_of(joint.members[0], curve), side).cells()
        assert odds.size <= 1025
        exact = curve(score[label == own])
        assert weights.sum() == pytest.approx(weight[label == own].sum())
        assert weights @ odds == pytest.approx(exact @ weight[label == own])
        at = np.linspace(0.02, 0.98, 97)
        shares = np.array([weights[odds < one].sum() for one in at]) / weights.sum()
        true = np.array([weight[label == own][exact < one].sum() for one in at]) / weights.sum()
        assert np.abs(shares - true).max() < 2e-3  # a cell is a thousandth of the odds


def test_estimates_compare_as_numbers_and_as_intervals():
    one = eo.Estimate(0.25, 0.2, 0.31)
    assert hash(one) == hash(0.25)
    assert one == 0.25
    assert one != eo.Estimate(0.25, 0.1, 0.31)
    assert not one != eo.Estimate(0.25, 0.2, 0.31)  # noqa: SIM202 that is what is asked
    assert repr(one) == "Estimate(0.25, 0.2, 0.31)"


def test_a_difference_that_is_the_tolerance_is_settled_by_nobody():
    rng = np.random.default_rng(1)
    group, label = np.repeat(["a", "b"], 2000), np.tile([0, 1], 2000)
    audit = eo.Audit.of_decisions(rng.integers(0, 2, 4000), group, label)
    verdict = audit.passed(tolerance=float(audit.equalized_odds_difference))
    assert verdict == "undecided"
    assert "no number of people settles it, since the groups differ by about as much" in verdict.reasons[0]


def test_many_groups_are_not_all_listed():
    group = np.repeat([f"group {i:02}" for i in range(23)], 40)
    audit = eo.Audit.of_decisions(np.tile([0, 1, 1, 0], 230), group, np.tile([0, 1], 460))
    told = str(audit)
    assert "... and 3 groups more" in told
    assert "group 19" in told
    assert "group 22 " not in told.split("Between groups", maxsplit=1)[0]


def test_a_verdict_of_failure_says_by_how_much():
    joint = eo.datasets.credit_risk()
    audit = eo.audit(27, joint)
    told = audit.passed(tolerance=0.1)
    assert told == "fail"
    pair = next(p for p in audit.pairs("tpr") if {p.one, p.other} == {"asian", "black"})
    (reason,) = (one for one in told.reasons if one.startswith("The true positive rate of 'asian' and 'black'"))
    value, low, high = map(float, re.search(r"differs by ([\d.]+) \[([\d.]+), ([\d.]+)\]\.$", reason).groups())
    assert value == pytest.approx(abs(pair.difference), abs=1e-4)
    assert 0.1 < low < abs(pair.difference) < high < 0.2


def test_drift_of_a_group_of_one():
    joint = eo.datasets.compas()
    policy = eo.fit(joint)
    first, second = joint.groups[:2]
    one = eo.JointDistribution.from_arrays([5.0, 1.0, 2.0], [first, second, second], [1, 0, 1], one_sided="keep")
    with pytest.warns(eo.EvenoddsWarning):
        audit = eo.audit(policy, one, reference=joint)
    assert audit.drift[joint.groups[0]] is not None
    assert one.one_sided[0].n_effective == 1
    assert isinstance(one.one_sided[0].n_effective, float)


def test_the_stability_index_where_nobody_is_in_a_bin_any_more():
    """As it is defined: shares in tenths of the people of the fit; of nobody half a person is counted."""
    rng = np.random.default_rng(0)
    before, after = rng.normal(0, 1, 4000), rng.normal(0, 1, 3000)
    cut = np.quantile(before, 0.1, method="inverted_cdf")
    after = after[after > cut]  # nobody in the first tenth
    joints = [
        eo.JointDistribution.from_arrays(scores, ["a"] * scores.size, np.arange(scores.size) % 2)
        for scores in (before, after)
    ]
    audit = eo.audit(0.0, joints[1], reference=joints[0])
    inner = np.quantile(before, np.arange(1, 10) / 10, method="inverted_cdf")
    shares = np.stack([np.bincount(np.searchsorted(inner, own), minlength=10) / own.size for own in (after, before)])
    assert shares[0, 0] == 0
    shares[0, 0] = 0.5 / after.size
    shares /= shares.sum(axis=1, keepdims=True)
    index = ((shares[0] - shares[1]) * np.log(shares[0] / shares[1])).sum()
    assert audit.drift["a"].stability_index == pytest.approx(index, rel=1e-9)
