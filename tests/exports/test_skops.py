"""Policies and estimators kept by skops: exactly the types that docs/deploy.md tells to trust, and nothing lost."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import evenodds as eo
from engines import needed
from evenodds.model.storage import parts_of_policy

skops = needed("skops.io")

BEFORE = "evenodds.model.comparisons.Before"
POLICY = [
    "evenodds.model.certificate.Certificate",
    BEFORE,
    "evenodds.model.curves.Curve",
    "evenodds.model.policy.Policy",
    "evenodds.model.roc.Point",
]
ONE_THRESHOLD = "evenodds.model.comparisons.OneThreshold"
REVIEWS = ["evenodds.model.reviewed.Reviewed", "evenodds.model.reviewer.Review"]
ESTIMATOR = [
    "evenodds.fronts.estimator.CurveOptimizer",
    "evenodds.geometry.samples.Sample",
    *POLICY,
    "evenodds.model.groups.Group",
    "evenodds.model.joint.JointDistribution",
]
COMPAS = eo.datasets.compas()
VECTORS = json.loads((files("evenodds.exports") / "vectors.json").read_text(encoding="utf-8"))
POLICIES = {name: eo.Policy(**parts_of_policy(document)) for name, document in VECTORS["policies"].items()}


def used(policy):
    """Whatever a policy computes on the way is computed."""
    for group in policy.groups:
        policy.odds([1, 5], group, outcome="review")
        policy.odds([1, 5], group)
    assert policy.treatments
    assert str(policy)
    return policy


def check(policy, types):
    for before_use in (True, False):
        kept = skops.dumps(policy if before_use else used(policy))
        assert skops.get_untrusted_types(data=kept) == sorted(types)
        back = skops.loads(kept, trusted=[*types])
        assert back == policy
        assert back.document == policy.document
        assert str(used(back)) == str(policy)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_of_every_kind(name):
    policy = POLICIES[name]
    lacking = [BEFORE] if policy.certificate.before is None else []  # as only curves by hand have none
    more = [*([ONE_THRESHOLD] if name == "thresholds" else []), *(REVIEWS if policy.review else [])]
    check(policy, {*POLICY, *more} - {*lacking})


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({}, []),
        ({"tolerance": 0.1, "max_randomized": 0.1}, [ONE_THRESHOLD]),
        ({"review": eo.Review(capacity=0.05, tpr=0.8, fpr=0.2)}, REVIEWS),
    ],
    ids=["as it is", "few by chance", "reviews"],
)
def test_a_policy_that_was_just_fitted(options, more):
    """Whose certificate is not complete yet."""
    check(eo.fit(COMPAS, **options), [*POLICY, *more])


def test_an_update(tmp_path):
    policy = eo.update(eo.fit(COMPAS), COMPAS, max_change=0.1)
    skops.dump(policy, tmp_path / "policy.skops")
    more = ["evenodds.model.comparisons.Change"]
    assert skops.get_untrusted_types(file=tmp_path / "policy.skops") == sorted([*POLICY, *more])
    assert skops.load(tmp_path / "policy.skops", trusted=[*POLICY, *more]) == policy


def rows(n=600):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 3))
    label = (features[:, 0] + rng.normal(size=n) > 0).astype(int)
    return features, label, np.where(features[:, 1] > 0, "a", "b")


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({}, []),
        ({"cv": 3, "max_slope": 0.5, "sensitive_columns": [2], "orientation": "positive"}, []),
        ({"objective": eo.Cost(5, 1)}, ["evenodds.model.goals.Cost"]),
        ({"review": eo.Review(capacity=0.05, tpr=0.8, fpr=0.2)}, REVIEWS),
    ],
    ids=["as it is", "with options", "with a cost", "with reviews"],
)
def test_an_estimator(options, more):
    linear = needed("sklearn.linear_model").LogisticRegression()
    features, label, group = rows()
    known = {} if "sensitive_columns" in options else {"sensitive_features": group}
    if not known:
        features[:, 2] = group == "a"
    fair = eo.CurveOptimizer(linear, **options).fit(features, label, **known)
    if "review" not in options:
        fair.predict_proba(features, **known)
    kept = skops.dumps(fair)
    assert skops.get_untrusted_types(data=kept) == sorted([*ESTIMATOR, *more])
    back = skops.loads(kept, trusted=[*ESTIMATOR, *more])
    assert back.policy_ == fair.policy_
    assert back.joint_.fingerprint == fair.joint_.fingerprint
    assert repr(back.get_params()) == repr(fair.get_params())
    if "review" not in options:
        assert back.predict_proba(features, **known).tolist() == fair.predict_proba(features, **known).tolist()
    for group_of in back.joint_.members:
        for array in (group_of.scores, group_of.negatives, group_of.positives):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7


def test_none_of_them_can_be_left_out():
    every = [*POLICY, ONE_THRESHOLD]
    kept = skops.dumps(eo.fit(COMPAS, curve="threshold", tolerance=0.1))
    refused = needed("skops.io.exceptions").UntrustedTypesFoundException
    for lacking in every:
        with pytest.raises(refused, match=re.escape(lacking)):
            skops.loads(kept, trusted=[name for name in every if name != lacking])


def test_the_page_lists_what_can_occur():
    page = Path(__file__).parents[2] / "docs" / "deploy.md"
    listed = set(re.findall(r'"(evenodds(?:\.\w+){2,})"', page.read_text(encoding="utf-8")))
    every = {*ESTIMATOR, *REVIEWS, ONE_THRESHOLD, "evenodds.model.comparisons.Change", "evenodds.model.goals.Cost"}
    assert listed == every
