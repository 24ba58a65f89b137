from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import evenodds as eo
from evenodds.geometry.samples import Sample
from evenodds.model.roc import Roc
from evenodds.model.target import baseline
from strategies import counts, joints


@given(counts())
def test_auc_is_the_chance_that_a_positive_outranks_a_negative(table):
    scores, negatives, positives = table
    joint = eo.JointDistribution.from_counts({"a": table})
    wins = np.sign(scores[:, None] - scores[None, :]) / 2 + 0.5
    expected = positives @ wins @ negatives / (positives.sum() * negatives.sum())
    assert joint.members[0].roc.auc == pytest.approx(expected)


@given(joints(max_groups=1))
def test_every_vertex_is_a_threshold(joint):
    (member,) = joint.members
    roc = member.roc
    for i, score in enumerate(roc.scores, start=1):
        fpr, tpr = member.class_conditional @ (member.scores >= score)
        assert (roc.fpr[i], roc.tpr[i]) == pytest.approx((fpr, tpr), abs=1e-12)


@given(joints())
def test_the_baseline_is_the_farthest_of_the_best_single_thresholds(joint):
    best = {}
    for member in joint.members:
        rates = [member.class_conditional @ (member.scores >= s) for s in member.scores] + [np.zeros(2)]
        best[member.key] = min(np.hypot(fpr, 1 - tpr) for fpr, tpr in rates)
    found = baseline(joint)
    assert found.point.distance_to_perfect == pytest.approx(max(best.values()))
    assert best[found.group] == pytest.approx(max(best.values()))


def test_nobody_reaches_the_threshold_beyond_scores_that_are_neighbouring_numbers():
    """The average gap of so many people's scores is less than half of what floating-point numbers tell apart."""
    points = 2.0**53 + 2 * np.arange(70_000.0)
    roc = Roc(Sample(points), Sample(points.copy()))
    assert roc.beyond > points[-1]
    assert roc.rates_from(np.array([roc.beyond])).tolist() == [[0.0], [0.0]]
