"""A share of yeses over everybody, under any constraint: met exactly, and as good as an independent linear program."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.optimize import linprog

import evenodds as eo
from chance import few_scores
from oracles import RATES, constrained, goal_of, measured

CONSTRAINTS = tuple(RATES)

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")


def best_with_rate(joint, constraint, tolerance, rate, slope=np.inf, objective="accuracy_score"):
    """The best objective of any rising odds with a share of yeses, over the odds at the observed scores."""
    goal, rows = goal_of(joint, objective), constrained(joint, constraint)
    uphill = -1.0 if goal.smaller_is_better else 1.0
    sizes = [member.scores.size for member in joint.members]
    start = np.append(0, np.cumsum(sizes))
    n, width = int(start[-1]), int(start[-1]) + len(rows)
    gain, above, right = np.zeros(width), [], []
    for g, member in enumerate(joint.members):
        own = np.arange(start[g], start[g + 1])
        gain[own] = uphill * goal.by_rate[g] @ member.class_conditional
        for k, row in enumerate(rows):
            for sign, most in ((1.0, 0.0), (-1.0, tolerance)):
                line = np.zeros(width)
                line[own], line[n + k] = sign * row[g] @ member.class_conditional, -sign
                above.append(line)
                right.append(most)
        for i, gap in zip(own[:-1], np.diff(member.scores), strict=True):
            for sign, most in ((1.0, 0.0), (-1.0, min(slope * gap, 1.0))):
                line = np.zeros(width)
                line[i], line[i + 1] = sign, -sign
                above.append(line)
                right.append(most)
    yes = np.concatenate([m.negatives + m.positives for m in joint.members] + [np.zeros(len(rows))]) / joint.total
    found = linprog(-gain, np.array(above), right, yes[None], [rate], bounds=(0, 1), method="highs")
    assert found.status == 0, found.message
    return goal.constant - uphill * found.fun


@pytest.mark.parametrize("seed", range(40))
def test_as_good_as_a_linear_program_and_no_better(seed):
    joint = few_scores(seed)
    constraint, tolerance = CONSTRAINTS[seed % len(CONSTRAINTS)], (0.0, 0.05)[seed % 2]
    rate = (0.1, 0.3, 0.5, 0.8)[(seed // 3) % 4]
    objective = ("accuracy_score", eo.Cost(false_positive=1, false_negative=2))[(seed // 2) % 2]
    asked = {"constraints": constraint, "tolerance": tolerance, "selection_rate": rate, "objective": objective}
    best = best_with_rate(joint, constraint, tolerance, rate, objective=objective)
    people = np.array([member.total for member in joint.members])
    for options in ({"max_loss": 0}, {"curve": "fixed"}, {"curve": "optimal", "max_loss": 0}):
        policy = eo.fit(joint, **asked, **options)
        assert policy.certificate.objective == pytest.approx(best, abs=1e-8)
        found = measured(policy, joint)
        assert float(found.selected @ people) / joint.total == pytest.approx(rate, abs=1e-9)
        assert found.apart(constraint) <= tolerance + 1e-9
    slope = 0.4
    best = best_with_rate(joint, constraint, tolerance, rate, slope, objective)
    gentle = eo.fit(joint, **asked, curve="optimal", max_slope=slope)
    assert gentle.certificate.objective == pytest.approx(best, abs=1e-8)
    family = eo.fit(joint, **asked, max_slope=slope).certificate
    worse, better = sorted((family.objective, best)) if not family.smaller_is_better else (best, family.objective)
    assert better >= worse - 1e-9
    assert family.selected == pytest.approx(rate, abs=1e-9)
    assert family.gap < 0.03


@pytest.mark.parametrize(
    "options", [{}, {"curve": "cubic"}, {"tolerance": 0.05}, {"tolerance": 0.1, "confidence": 0.95}]
)
@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0])
def test_the_default_budget_keeps_the_share_of_yeses(options, rate):
    certificate = eo.fit(eo.datasets.credit_risk(), selection_rate=rate, **options).certificate
    assert certificate.selected == pytest.approx(rate, abs=1e-9)
    assert certificate.loss <= 0.005 + 1e-9
    assert certificate.difference <= options.get("tolerance", 0) + 1e-9
    assert f"and a yes for {rate:g} of everybody" in str(certificate)


def test_it_is_saved_and_an_update_keeps_it(tmp_path):
    joint = eo.datasets.compas()
    policy = eo.fit(joint, selection_rate=0.3, max_slope=0.3)
    policy.save(tmp_path / "policy.json")
    assert eo.Policy.load(tmp_path / "policy.json") == policy
    updated = eo.update(policy, joint + joint, max_change=0.05)
    assert updated.certificate.selected == pytest.approx(0.3, abs=1e-8)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"selection_rate": 0}, "selection_rate=0 is not allowed. Allowed: a number above 0, up to 1"),
        ({"selection_rate": 1.2}, "selection_rate=1.2 is not allowed"),
        (
            {"selection_rate": 0.2, "objective": "selection_rate", "constraints": "demographic_parity"},
            "objective='selection_rate' is what selection_rate=0.2 says already",
        ),
        ({"selection_rate": 0.2, "target": (0.1, 0.5)}, "selection_rate= and target= both name the point"),
    ],
)
def test_what_is_refused(options, told):
    with pytest.raises(eo.OptionError, match=told):
        eo.fit(eo.datasets.compas(), **options)


def test_a_share_that_thresholds_inside_the_scores_do_not_allow():
    joint = eo.JointDistribution.from_arrays([1, 2, 3, 4] * 20, ["a", "b"] * 40, ([0] * 4 + [1] * 4) * 10)
    with pytest.raises(eo.UnreachableError, match="selection_rate"):
        eo.fit(joint, selection_rate=0.02, keep_individual_odds=True, max_slope=0.4)


def test_before_are_about_as_many_yeses():
    certificate = eo.fit(eo.datasets.credit_risk(), selection_rate=0.3).certificate
    joint, at = eo.datasets.credit_risk(), certificate.before.score
    yes = sum(float((m.negatives + m.positives)[m.scores >= at].sum()) for m in joint.members) / joint.total
    assert yes == pytest.approx(0.3, abs=0.01)
    assert f"Before: one threshold for everybody, at {at:g} for about as many yeses" in certificate.summary


def test_what_would_let_a_share_of_yeses_be_reached_is_told():
    joint = eo.datasets.compas()
    with pytest.raises(eo.UnreachableError) as caught:
        eo.fit(joint, selection_rate=0.5, max_randomized=0.01)
    told = str(caught.value)
    assert "No policy was found with selection_rate=0.5 and max_randomized=0.01." in told
    assert "max_randomized_by_group" not in told.split(" The least found", maxsplit=1)[0]
    assert "or give up selection_rate" in told
    least = float(re.search(r"max_randomized=([\d.]+), most of it", told)[1])
    assert eo.fit(joint, selection_rate=0.5, max_randomized=least).certificate.selected == pytest.approx(0.5)
    with pytest.raises(eo.UnreachableError):
        eo.fit(joint, selection_rate=0.5, max_randomized=0.99 * least)
    with pytest.raises(eo.UnreachableError) as caught:
        eo.fit(joint, selection_rate=0.999, max_slope=0.02, curve="cubic", keep_individual_odds=True)
    assert "a tolerance, another selection_rate, or give up" in str(caught.value)
    with pytest.raises(eo.UnreachableError) as caught:
        eo.fit(joint, max_slope=0.02, curve="cubic", keep_individual_odds=True)
    assert "another selection_rate" not in str(caught.value)
