"""Audits of whatever decides today: thresholds, models, spreadsheets; by column alone, and as impact ratios."""

from __future__ import annotations

import csv
import io
import math
import pickle
import re

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, precision_score

import evenodds as eo
from engines import needed

pd = needed("pandas")


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 4000
    frame = pd.DataFrame(
        {
            "score": rng.normal(50, 10, n).round(1),
            "sex": rng.choice(["female", "male"], n),
            "race": rng.choice(["asian", "black", "white"], n, p=[0.2, 0.3, 0.5]),
        }
    )
    frame["label"] = (frame["score"] + rng.normal(3 * (frame["sex"] == "male"), 10) > 50).astype(int)
    return frame


def by_fairlearn(label, decision, group):
    figures = {
        "fpr": false_positive_rate,
        "tpr": true_positive_rate,
        "selection_rate": selection_rate,
        "accuracy": accuracy_score,
        "precision": precision_score,
    }
    return MetricFrame(metrics=figures, y_true=label, y_pred=decision, sensitive_features=group)


def test_decisions_of_three_kinds_are_as_fairlearn_measures_them(people, tmp_path):
    table, label, race = people[["score"]], people["label"], people["race"]
    model = LogisticRegression().fit(table, label)
    peer = ThresholdOptimizer(estimator=model, prefit=True, predict_method="predict_proba").fit(
        table, label, sensitive_features=race
    )
    people.assign(approved=(people["score"] > 52).astype(int)).to_csv(tmp_path / "decided.csv", index=False)
    decided = {
        "fairlearn": peer.predict(table, sensitive_features=race, random_state=0),
        "model": model.predict(table),
        "spreadsheet": pd.read_csv(tmp_path / "decided.csv")["approved"],
    }
    for decision in decided.values():
        audit = eo.Audit.of_decisions(decision, race, label)
        frame = by_fairlearn(label, decision, race)
        for group, figures in audit.groups.items():
            for name in ("fpr", "tpr", "selection_rate", "accuracy", "precision"):
                assert getattr(figures, name) == pytest.approx(frame.by_group[name][group], abs=1e-12)
        differences = frame.difference()
        assert audit.false_positive_rate_difference == pytest.approx(differences["fpr"], abs=1e-12)
        assert audit.true_positive_rate_difference == pytest.approx(differences["tpr"], abs=1e-12)
        assert audit.demographic_parity_difference == pytest.approx(differences["selection_rate"], abs=1e-12)
        assert audit.accuracy == pytest.approx(frame.overall["accuracy"], abs=1e-12)
        assert "AUC" not in str(audit)
        assert str(pickle.loads(pickle.dumps(audit)).rows()) == str(audit.rows())  # noqa: S301 our own


def test_odds_are_decisions_too(people):
    policy = eo.fit(eo.JointDistribution.from_arrays(people["score"], people["race"], people["label"]))
    odds = policy.odds(people["score"], people["race"])
    joint = eo.JointDistribution.from_arrays(people["score"], people["race"], people["label"])
    said, known = eo.Audit.of_decisions(odds, people["race"], people["label"]), eo.audit(policy, joint)
    for group in known.groups:
        for name in ("fpr", "tpr", "accuracy", "selection_rate", "precision", "randomized", "base_rate"):
            one, other = getattr(said.groups[group], name), getattr(known.groups[group], name)
            assert one.value == pytest.approx(other.value, abs=1e-12)
            assert one.low == pytest.approx(other.low, abs=2e-3)  # what odds there can be is known of a policy


def test_a_threshold_and_a_threshold_for_each_group(people):
    joint = eo.JointDistribution.from_arrays(people["score"], people["race"], people["label"])
    one = eo.audit(52, joint, tolerance=0.2)
    frame = by_fairlearn(people["label"], people["score"] >= 52, people["race"])
    for group, figures in one.groups.items():
        assert figures.tpr == pytest.approx(frame.by_group["tpr"][group], abs=1e-12)
    assert one.verdict == one.passed(tolerance=0.2)
    assert "Verdict: " in str(one)
    own = {"asian": 50, "black": 52.5, "white": 55.0}
    several = eo.audit(own, joint, before=52)
    decided = people["score"] >= people["race"].map(own)
    frame = by_fairlearn(people["label"], decided, people["race"])
    for group, figures in several.groups.items():
        assert figures.fpr == pytest.approx(frame.by_group["fpr"][group], abs=1e-12)
    assert several.before.groups["white"].tpr == one.groups["white"].tpr
    with pytest.warns(eo.EvenoddsWarning, match="Group 'white' is not known"):
        eo.audit({"asian": 50, "black": 50}, joint)
    with pytest.raises(eo.UnknownGroupError, match="before=: There is no threshold for the group 'white'"):
        eo.audit(50, joint, before={"asian": 50, "black": 50})
    turned = eo.JointDistribution.from_arrays(-people["score"], people["race"], people["label"], orientation="negative")
    assert eo.audit(-52, turned).groups["asian"].tpr.value == one.groups["asian"].tpr.value


def test_each_column_of_an_intersection_alone(people):
    label, decision = people["label"], (people["score"] > 51).astype(int)
    audit = eo.Audit.of_decisions(decision, people[["race", "sex"]], label, columns=["race", "sex"])
    assert set(audit.marginals) == {"race", "sex"}
    for column, marginal in audit.marginals.items():
        alone = eo.Audit.of_decisions(decision, people[column], label)
        assert marginal.groups.keys() == alone.groups.keys()
        for group, figures in alone.groups.items():
            for name in ("fpr", "tpr", "accuracy", "selection_rate", "precision", "base_rate"):
                one, other = getattr(marginal.groups[group], name), getattr(figures, name)
                assert one.value == pytest.approx(other.value, abs=1e-12)
                assert one.low == pytest.approx(other.low, abs=1e-3)
                assert one.high == pytest.approx(other.high, abs=1e-3)
            assert marginal.groups[group].confusion.true_positives == pytest.approx(figures.confusion.true_positives)
        assert marginal.equalized_odds_difference == pytest.approx(alone.equalized_odds_difference, abs=1e-12)
    assert "By race alone, FPR and TPR: asian" in str(audit)
    assert eo.Audit.of_decisions(decision, people["race"], label).marginals == {}
    with pytest.raises(
        eo.OptionError, match=r"columns=\['race'\] does not name the 2 columns of groups such as 'asian, female'"
    ):
        eo.Audit.of_decisions(decision, people[["race", "sex"]], label, columns=["race"])


def test_values_with_a_comma_are_not_torn_apart(people):
    label, decision = people["label"], (people["score"] > 51).astype(int)
    race = people["race"].replace({"asian": "asian, pacific"})
    both = pd.DataFrame({"race": race, "sex": people["sex"]})
    audit = eo.Audit.of_decisions(decision, both, label)
    alone = eo.Audit.of_decisions(decision, race, label)
    assert alone.marginals == {}  # one column, whatever its values have in them
    assert audit.marginals["race"].groups.keys() == alone.groups.keys() == {"asian, pacific", "black", "white"}
    for group, figures in alone.groups.items():
        assert audit.marginals["race"].groups[group].tpr.value == pytest.approx(figures.tpr.value, abs=1e-12)
    assert set(audit.marginals["sex"].groups) == set(people["sex"])


def test_keys_that_can_be_read_in_two_ways_are_said_to_be(people):
    label, score = people["label"], people["score"]
    torn = people["race"].replace({"asian": "asian, pacific"})
    every = people["race"] + ", as told"
    for race, columns in ((torn, ["race", "sex"]), (torn, []), (every, ["race", "sex"])):
        joint = eo.JointDistribution.from_arrays(score, [race, people["sex"]], label)
        with pytest.warns(
            eo.EvenoddsWarning,
            match=r"The group 'asian, (\w| )+, female' can be read as 2 columns in more than one way: 'asian' and",
        ):
            audit = eo.audit(51, joint, columns=columns)
        assert audit.marginals == {}
    joint = eo.JointDistribution.from_arrays(score, [people["race"], people["sex"]], label)
    assert set(eo.audit(51, joint).marginals) == {"column 1", "column 2"}
    assert eo.audit(51, joint, columns=["group"]).marginals == {}
    with pytest.raises(
        eo.OptionError, match=r"columns=\['a', 'b', 'c'\] does not name the 2 columns of groups such as"
    ):
        eo.audit(51, joint, columns=["a", "b", "c"])
    joined = people["race"] + ", " + people["sex"]
    audit = eo.Audit.of_decisions((score > 51).astype(int), joined, label, columns=["race", "sex"])
    assert set(audit.marginals) == {"race", "sex"}


def test_weights_and_groups_without_a_label(people):
    weight = np.random.default_rng(1).uniform(0.5, 2, len(people))
    decision, label, race = (people["score"] > 51).astype(int), people["label"], people["race"]
    audit = eo.Audit.of_decisions(decision, race, label, weight=weight)
    own = race == "asian"
    assert audit.groups["asian"].selection_rate == pytest.approx(np.average(decision[own], weights=weight[own]))
    yes = own & (decision == 1)
    assert audit.groups["asian"].precision == pytest.approx(np.average(label[yes], weights=weight[yes]))
    with pytest.warns(eo.EvenoddsWarning, match="Group 'b' has 2 negatives and 0 positives"):
        few = eo.Audit.of_decisions([1, 0, 1, 0], list("aabb"), [1, 0, 0, 0], tolerance=0.1)
    assert few.verdict == "undecided"
    with pytest.warns(eo.EvenoddsWarning):
        nobody = eo.Audit.of_decisions([0, 0, 0, 0], list("aabb"), [1, 0, 0, 0])
    assert math.isnan(nobody.groups["a"].precision)


def test_the_verdict_says_what_it_takes():
    def audit_of(n):
        rng = np.random.default_rng(7)
        group, label = rng.choice(["a", "b"], n, p=[0.8, 0.2]), rng.random(n) < 0.5
        return eo.Audit.of_decisions(rng.random(n) < 0.3 + 0.3 * label, group, label, tolerance=0.1)

    few = audit_of(400)
    assert few.verdict == "undecided"
    assert "it takes about" in few.verdict.reasons[0]
    takes = few.verdict.reasons[0].split("takes about ")[1]
    needed_people = [int(number.replace(",", "")) for number in re.findall(r"([\d,]+) (?:posi|nega)tives of", takes)]
    # With as many of the smaller group's labels the verdict is settled.
    assert audit_of(round(max(needed_people) / 0.1)).verdict == "pass"


# -- impact ratios -----------------------------------------------------------------------------------------------------


def test_impact_ratios_are_selection_rates_by_the_highest(people):
    decision = (people["score"] > 51).astype(int)
    table = eo.impact_ratios(decision, people[["sex", "race"]])
    frame = table.frame()
    for columns in (["sex"], ["race"], ["sex", "race"]):
        rates = decision.groupby([people[c] for c in columns]).mean()
        own = frame[frame["by"] == " x ".join(columns)].set_index("category")
        for key, rate in rates.items():
            name = key if isinstance(key, str) else " x ".join(key)
            assert own.loc[name, "selection_rate"] == pytest.approx(rate)
            assert own.loc[name, "impact_ratio"] == pytest.approx(rate / rates.max())
    assert table.unknown == (("sex", 0.0), ("race", 0.0), ("sex x race", 0.0))


def test_small_and_unknown_categories_are_marked_and_counted(people):
    sex = people["sex"].astype(object).where(np.arange(len(people)) % 50 > 0, None)
    race = people["race"].astype(object).where(np.arange(len(people)) % 70 > 0, "other")
    decision = ((people["score"] > 51) | (race == "other")).astype(int)
    table = eo.impact_ratios(decision, [sex, race], columns=["sex", "race"])
    assert dict(table.unknown) == {"sex": 80.0, "race": 0.0, "sex x race": 80.0}
    small = {row.category: row for row in table.rows if row.by == "race"}["other"]
    assert small.small
    assert small.impact_ratio > 1  # it is not the one that others are compared with
    assert max(row.impact_ratio for row in table.rows if row.by == "race" and not row.small) == 1
    rows = list(csv.DictReader(io.StringIO(table.csv())))
    assert [row["people"] for row in rows if row["category"] == "unknown"] == ["80", "0", "80"]
    assert {row["category"]: row["small"] for row in rows if row["by"] == "race"}["other"] == "yes"
    page = table.html()
    assert "other *" in page
    assert "80 people of unknown sex are not counted" in page
    assert "<script" not in page + table._repr_html_()
    assert "under 2 % of the people" in str(table)
    many = eo.impact_ratios(np.tile([1, 0], 300), np.repeat(np.arange(60), 10))
    assert {row.impact_ratio for row in many.rows} == {1.0}  # all are small, and one of them is the highest
    alike = eo.impact_ratios([1, 0, 1], [["a x b", "a", "q"], ["c", "b x c", "r"]])
    assert [row.people for row in alike.rows if row.by == "column 1 x column 2"] == [1, 1, 1]
    assert "2 people of unknown group" in str(eo.impact_ratios([1, 0], [None, None]))
    nobody = eo.impact_ratios([0, 0], ["a", "b"])
    assert all(math.isnan(row.impact_ratio) for row in nobody.rows)
    assert "not defined" in str(nobody)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: eo.Audit.of_decisions([0, 2], ["a", "a"], [0, 1]),
            r"decision has 1 value outside 0 to 1 \(first at position 1: 2\)",
        ),
        (lambda: eo.Audit.of_decisions(["yes", "no"], ["a", "a"], [0, 1]), "decision"),
        (lambda: eo.Audit.of_decisions([0, 1], ["a"], [0, 1]), "different lengths"),
        (
            lambda: eo.Audit.of_decisions([0, 1], ["a", "a"], [0, 1], constraints="odds"),
            "constraints='odds' is not known",
        ),
        (lambda: eo.Audit.of_decisions([0, 1], ["a", "a"], [0, 1], tolerance=2), "tolerance=2 is not allowed"),
        (lambda: eo.impact_ratios([0, -1], ["a", "a"]), "decision has 1 value outside 0 to 1"),
        (lambda: eo.impact_ratios([0, 1], ["a"]), "different lengths: decision 2, weight 2, group 1"),
        (lambda: eo.impact_ratios([0, 1], ["a", "b"], columns=["x", "y"]), "names 2 columns, and there are 1"),
        (lambda: eo.impact_ratios([0, 1], ["a", "b"], columns=3), "columns=3 is not allowed. Allowed: a sequence of n"),
        (lambda: eo.impact_ratios([0], np.array("a")), "group must be a column or several, .* got ndarray"),
        (lambda: eo.impact_ratios([0], np.zeros((1, 1, 1))), "group must be a column or several, .* got ndarray"),
        (lambda: eo.Audit.of_decisions([0, 1], ["a", "a"], [0, 1], columns=3), "columns=3 is not allowed"),
        (lambda: eo.audit(2, eo.datasets.compas(), columns=None), "columns=None is not allowed"),
        (lambda: eo.impact_ratios([0, 1], ["a", "b"], weight=[1, -1]), "weight"),
        (lambda: eo.impact_ratios([], []), "nobody|group must be a column"),
        (lambda: eo.impact_ratios([0, 1], {"a": 1}), "group must be a column or several, .* got dict"),
        (lambda: eo.impact_ratios([0, 1], [["a", "b"], ["c", "d"]], columns=["s", "s"]), "has a name twice"),
    ],
)
def test_decisions_that_cannot_be(call, text):
    with pytest.raises(eo.EvenoddsError, match=text):
        call()


def test_one_column_may_be_named_by_a_text():
    table = eo.impact_ratios([0, 1], ["f", "m"], columns="sex")
    assert table == eo.impact_ratios([0, 1], ["f", "m"], columns=["sex"])


# -- drift -------------------------------------------------------------------------------------------------------------


def halves(seed, n=2000):
    rng = np.random.default_rng(seed)
    group, label = rng.choice(list("abc"), n), rng.random(n) < 0.4
    score = rng.normal(label, 1)
    first = rng.permutation(n) < n // 2
    return [eo.JointDistribution.from_arrays(score[h], group[h], label[h]) for h in (first, ~first)]


def alarms(seeds):
    found = []
    for seed in seeds:
        one, two = halves(seed)
        drift = eo.audit(eo.fit(one), two, reference=one).drift
        found.append(any(of.changes for of in drift.values()))
    return np.mean(found)


def test_random_halves_alarm_no_more_often_than_said():
    assert alarms(range(60)) <= 0.1


@pytest.mark.guarantee
def test_guarantee_random_halves_alarm_at_the_level():
    assert alarms(range(1000)) <= 0.05


def test_no_policy_differs_by_more_than_the_drift_bound():
    for seed in range(6):
        one, two = halves(seed, 600)
        for options in ({}, {"constraints": "demographic_parity"}, {"tolerance": 0.05, "curve": "cubic"}):
            audit = eo.audit(eo.fit(one, **options), two, reference=one)
            rates = {"demographic_parity": "demographic_parity_difference"}.get(
                options.get("constraints"), "equalized_odds_difference"
            )
            assert getattr(audit, rates) <= audit.drift_bound + 1e-12
    assert eo.audit(0.5, two, reference=one).drift_bound is None  # nothing was promised
    told = str(audit)
    rate, among = max(
        (sum(sorted((d.distance[rate] for d in audit.drift.values()), reverse=True)[:2]), among)
        for rate, among in (("fpr", "negatives"), ("tpr", "positives"))
    )
    assert audit.drift_bound == pytest.approx(0.05 + rate, abs=1e-12)
    assert f"On these people the equalized odds difference cannot exceed {audit.drift_bound:.4f}: the tolerance" in told
    assert f"have moved since among {among} (the two largest Kolmogorov-Smirnov distances: " in told
    parity = eo.audit(eo.fit(one, constraints="true_positive_rate_parity"), two, reference=one)
    assert "On these people the true positive rate difference cannot exceed" in str(parity)
