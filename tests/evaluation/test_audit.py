from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import evenodds as eo
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
    ],
)
def test_unknown_figures_are_refused(policy, call, text):
    with pytest.raises(eo.OptionError, match=text):
        call(eo.audit(policy, eo.JointDistribution.from_arrays(*people(26, n=300))))
