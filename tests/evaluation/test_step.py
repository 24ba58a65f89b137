"""Words on the score's own scale: what a step is, and that nobody is sent to a score that no one has."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest

import evenodds as eo
from evenodds.evaluation.step import POINT, Step, beyond_the_scores, step_of
from evenodds.report.document import Bullets, KeyFigures, Table, Text


@pytest.fixture(scope="module")
def credit():
    return eo.fit(eo.datasets.credit_risk())


def people(*, scale=1.0, turned=False, resolution=None):
    """A model's probabilities of two groups, stretched and turned over if wanted."""
    rng = np.random.default_rng(0)
    group, label = rng.choice(["a", "b"], 2000), rng.integers(0, 2, 2000)
    score = 1 / (1 + np.exp(-rng.normal(1.6 * label - 0.8 + 0.3 * (group == "a"), 1)))
    way = "negative" if turned else "positive"
    score = scale * (1 - score if turned else score)
    return eo.JointDistribution.from_arrays(score, group, label, orientation=way, resolution=resolution)


@pytest.mark.parametrize(
    ("score_range", "resolution", "expected"),
    [
        ((0, 100), 0, POINT),
        ((1, 10), 0, POINT),
        ((300, 850), 0, POINT),
        ((0, 100), 0.5, POINT),
        ((0, 1), 0, Step(0.01, is_point=False)),
        ((0.02, 0.97), 0, Step(0.01, is_point=False)),
        ((0.1, 0.4), 0, Step(0.005, is_point=False)),
        ((0, 1), 0.05, Step(0.05, is_point=False)),
        ((0, 1), 1e-6, Step(0.01, is_point=False)),
        ((0, 100), 5, Step(5, is_point=False)),
        ((-1.5, 2.5), 0, Step(0.05, is_point=False)),
        ((0, 250_000), 0, Step(2_000, is_point=False)),
        ((3, 3), 0, POINT),
    ],
)
def test_a_step_is_a_point_where_scores_are_points(credit, score_range, resolution, expected):
    certificate = replace(credit.certificate, resolution=resolution)
    assert step_of(replace(credit, score_range=score_range, certificate=certificate)) == expected


@pytest.mark.parametrize("turned", [False, True], ids=["upward", "downward"])
def test_odds_are_told_for_a_step_that_is_named(turned):
    policy = eo.fit(people(turned=turned), max_slope=2)
    found = eo.explain(policy, score=0.5, group="a")
    assert found.step == Step(0.01, is_point=False)
    assert found.with_one_more == pytest.approx(float(policy.odds(0.49 if turned else 0.51, "a")))
    assert f"With 0.01 {'less' if turned else 'more'} they would be {100 * found.with_one_more:.4g} %" in str(found)
    assert "point" not in str(found)
    coarse = eo.explain(eo.fit(people(turned=turned, resolution=0.05), max_slope=2), score=0.5, group="a")
    assert f"With 0.05 {'less' if turned else 'more'} they would be" in str(coarse)
    stretched = eo.explain(eo.fit(people(scale=100, turned=turned), max_slope=0.02), score=50, group="a")
    assert f"With one point {'less' if turned else 'more'} they would be" in str(stretched)
    assert stretched.with_one_more == pytest.approx(found.with_one_more, abs=1e-6)  # one in a hundred as before


@pytest.mark.parametrize("turned", [False, True], ids=["upward", "downward"])
def test_nobody_is_sent_to_a_score_that_no_one_has(turned):
    policy = eo.fit(people(turned=turned), max_slope=0.9)
    curve, (lo, hi) = policy.curves["a"], policy.score_range
    last = lo if turned else hi
    sign = -1 if turned else 1
    assert sign * curve.t1 > sign * last  # beyond the scores
    found = eo.explain(policy, score=0.5, group="a")
    text = str(found)
    assert "No score seen at the fit reaches odds of 90 % or 100 %." in text
    assert f"The group has odds of 50 % at {found.needed[0.5]:.6g}." in text
    assert found.needed[1.0] == pytest.approx(curve.t1)  # the figure is there for who wants it
    assert found.best_odds == float(curve(last)) < 0.9
    assert (
        f"The group's curve ends at {curve.t1:.6g}, beyond the scores seen at the fit ({lo:.6g} to {hi:.6g}): among "
        f"these the odds are never above {100 * found.best_odds:.4g} %; a gentle curve may be wider than the scores."
    ) in text
    higher, highest = ("lower", "lowest") if turned else ("higher", "highest")
    near = str(eo.explain(policy, score=last - sign * 0.004, group="a"))
    assert f"With the {highest} score seen at the fit, {last:.6g}, they would be {100 * found.best_odds:.4g} %" in near
    for beyond in (last, last + sign * 0.001, last + sign):
        told = str(eo.explain(policy, score=beyond, group="a"))
        nobody = f"Nobody at the fit had such a score: they went from {lo:g} to {hi:g}."
        assert (f"No {higher} score was seen at the fit." if beyond == last else nobody) in told
        assert " they would be " not in told
    narrow = replace(policy, score_range=(0.39, 0.4) if turned else (0.6, 0.61))
    low = str(eo.explain(narrow, score=0.9 if turned else 0.1, group="a", odds=[0.3]))
    assert "Every score seen at the fit has odds of at least 30 %." in low


def test_odds_that_another_group_has_only_where_nobody_scores(credit):
    curves = (eo.Curve("linear", 0, 100, 0.5), eo.Curve("linear", 60, 160, 0.5))
    policy = eo.Policy(("a", "b"), curves, (0.0, 100.0), "positive", credit.certificate)
    assert "No score seen at the fit gives these odds in group 'b'." in str(eo.explain(policy, score=70, group="a"))
    assert "The same odds are given at 90 in group 'b'." in str(eo.explain(policy, score=30, group="a"))


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (eo.Curve("linear", 0.0, 1.0, 0.5), ""),
        (eo.Curve("linear", 0.2, 0.8, 0.5), ""),
        (eo.Curve("linear", -0.5, 1.5, 0.5), "starts at -0.5 and ends at 1.5, .*never below 25 % nor above 75 %$"),
        (eo.Curve("linear", 0.5, 1.5, 0.5), r"ends at 1.5, beyond .* \(0 to 1\): .* never above 50 %$"),
        (eo.Curve("linear", 1.5, -0.5, 0.5, orientation="negative"), "starts at 1.5 and ends at -0.5, .*below 25 %"),
        (eo.Curve("fixed", -np.inf, np.inf, 0.4), ""),
        (eo.Curve("fixed", -1.0, -1.0, 0.0), "starts at -1, .* never below 100 %$"),
        (eo.Curve.through([0.1, 0.9], [0.2, 0.7]), ""),
    ],
)
def test_thresholds_beyond_the_scores_are_explained(curve, expected):
    found = beyond_the_scores(curve, (0.0, 1.0))
    assert re.match(expected, found) if expected else found == ""


def test_an_explanation_is_plain_data(credit):
    plain = json.loads(json.dumps(asdict(eo.explain(credit, score=49.5, group="white")), default=dict))
    assert plain["step"] == {"size": 1.0, "is_point": True}
    assert plain["score_range"] == list(credit.score_range)
    assert plain["beyond"] is None


# -- the report --------------------------------------------------------------------------------------------------------


def _told(policy, joint):
    document = eo.report(policy, joint)
    (figures,) = document.blocks(KeyFigures)
    words = [text.words for text in document.blocks(Text)] + [w for b in document.blocks(Bullets) for w in b.items]
    return {item.name: (item.value, item.note) for item in figures.items}, " ".join(words), document


def test_a_report_speaks_of_the_step_too():
    joint = people()
    policy = eo.fit(joint, max_slope=0.9)
    figures, words, document = _told(policy, joint)
    slope = max(curve.lipschitz for curve in policy.group_curves)
    assert figures["steepest odds, 0.01 of score"][0] == f"{0.01 * slope:.4g}"
    assert "before: jump" in figures["steepest odds, 0.01 of score"][1]
    asked = next(t for t in document.blocks(Table) if t.title == "What was asked for")
    rows = {row[0]: row for row in asked.rows}
    assert rows["slope budget"][1] == "0.9, so 0.009 for 0.01 of score"
    assert "Nobody stands at a cliff: two people of one group whose scores are 0.01 apart differ" in words
    assert "Some thresholds lie where nobody scores" in words
    assert f"The curve of a {beyond_the_scores(policy.curves['a'], policy.score_range)}." in words
    inside = eo.fit(joint)
    assert "Some thresholds lie where nobody scores" not in _told(inside, joint)[1]


def test_the_sentence_about_cliffs_only_where_it_is_true():
    """Whole scores stand 1 apart, so that a slope of 0.3 parts those who stand side by side by 30 points."""
    joint = eo.datasets.compas()
    steep = eo.fit(joint, max_slope=0.3)
    assert max(curve.lipschitz for curve in steep.group_curves) > 0.25
    words = _told(steep, joint)[1]
    assert "Nobody stands at a cliff" not in words
    assert "The odds are continuous, but steep: two people of one group whose scores are 1 apart differ" in words
    gentle = eo.fit(joint, max_slope=0.1)
    words = _told(gentle, joint)[1]
    assert "Nobody stands at a cliff: two people of one group whose scores are 1 apart differ" in words
    jumps = _told(eo.fit(joint, curve="fixed"), joint)[1]
    assert "the odds jump" in jumps
    assert "Nobody stands at a cliff" not in jumps
