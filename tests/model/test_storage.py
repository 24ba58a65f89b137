from __future__ import annotations

import json
import math
from importlib.resources import files

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.model.storage import document_of, fingerprint, parts_of_policy, written

SCHEMA = json.loads((files("evenodds.model") / "policy.schema.json").read_text(encoding="utf-8"))


def there_and_back(policy):
    text = written(policy.document)
    return eo.Policy(**parts_of_policy(json.loads(text)))


@pytest.fixture(scope="module")
def credit():
    return eo.datasets.credit_risk()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"curve": "fixed"},
        {"curve": "optimal"},
        {"curve": "quartic", "max_slope": 0.2},
        {"target": "baseline"},
        {"target": (0.4, 0.4)},
        {"constraints": "demographic_parity", "tolerance": 0.02, "objective": eo.Cost(3, 1)},
    ],
    ids=str,
)
def test_every_policy_comes_back_and_fits_the_schema(credit, options, tmp_path):
    policy = eo.fit(credit, **options)
    jsonschema.validate(policy.document, SCHEMA)
    policy.save(tmp_path / "p.json")
    loaded = eo.Policy.load(tmp_path / "p.json")
    assert loaded == policy
    scores = np.linspace(-10, 110, 2001)
    for group in policy.groups:
        np.testing.assert_array_equal(loaded.odds(scores, group), policy.odds(scores, group))
    assert str(loaded) == str(policy)
    assert math.isfinite(loaded.certificate.objective)


@given(st.floats(-1e150, 1e150), st.floats(1e-3, 1e150), st.floats(0.01, 0.99))
def test_floats_come_back_to_the_last_bit(credit_policy, t0, width, p):
    t1 = t0 + width
    if not t0 < t1:
        return
    curve = eo.Curve("linear", t0, t1, p)
    policy = eo.Policy(("a",), (curve,), (t0, t1), "positive", credit_policy.certificate)
    assert there_and_back(policy).curves["a"] == curve


@pytest.fixture(scope="module")
def credit_policy(credit):
    return eo.fit(credit, max_slope=0.1)


def test_keys_of_every_language_come_back(credit_policy):
    names = ("Ærø, 女", 'quo"te', "\\", "a")
    policy = eo.Policy(names, credit_policy.group_curves, (0, 100), "positive", credit_policy.certificate)
    assert there_and_back(policy).groups == names


def test_the_fingerprint_tells_policies_apart(credit, credit_policy):
    assert credit_policy.document["fingerprint"] == eo.fit(credit, max_slope=0.1).document["fingerprint"]
    assert credit_policy.document["fingerprint"] != eo.fit(credit, max_slope=0.11).document["fingerprint"]
    document = credit_policy.document
    assert fingerprint(document) == document["fingerprint"]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("curves"),
        lambda d: d["curves"][0].pop("t0"),
        lambda d: d["curves"][0].update(t0="nan"),
        lambda d: d["curves"][0].update(t0=None),
        lambda d: d["curves"][0].update(t0=True),
        lambda d: d["curves"][0].update(p=2),
        lambda d: d["curves"][0].update(family="round"),
        lambda d: d.update(score_range=[1]),
        lambda d: d.update(orientation="sideways"),
        lambda d: d.update(certificate=None),
        lambda d: d["certificate"].update(more=1),
    ],
)
def test_documents_that_are_none_are_refused(credit_policy, tmp_path, change):
    """Even with a fingerprint that matches."""
    document = json.loads(written(credit_policy.document))
    change(document)
    document["fingerprint"] = fingerprint(document)
    (tmp_path / "p.json").write_text(written(document))
    with pytest.raises(eo.EvenoddsError):
        eo.Policy.load(tmp_path / "p.json")


def test_plain_data_without_a_policy(credit_policy):
    p = credit_policy
    assert document_of(p.groups, p.group_curves, p.score_range, p.orientation, p.certificate) == p.document


@pytest.mark.parametrize(
    "change",
    [
        {"curves": []},
        {"score_range": [5, 1]},
        {"score_range": [0, "inf"]},
        {"certificate": {"slopes": [0.1]}},
        {"certificate": {"criterion": "prettiest"}},
        {"certificate": {"people": [[1, 2, 3, 4]]}},
    ],
    ids=str,
)
def test_parts_that_do_not_fit_together_are_refused(credit_policy, change, tmp_path):
    document = {**credit_policy.document, **change}
    if "certificate" in change:
        document["certificate"] = {**credit_policy.document["certificate"], **change["certificate"]}
    document["fingerprint"] = fingerprint(document)
    (tmp_path / "p.json").write_text(json.dumps(document))
    with pytest.raises(eo.DataError, match="not what it should be"):
        eo.Policy.load(tmp_path / "p.json")


def test_a_policy_says_what_was_asked_of_it(credit):
    asked = eo.fit(credit, objective=eo.Cost(1, 4), max_slope=0.2, criterion="robust").certificate
    assert (asked.costs, asked.criterion, asked.max_loss, asked.target_given) == ((0.25, 1.0), "robust", None, False)
    default = eo.fit(credit).certificate
    assert (default.costs, default.criterion, default.max_loss) == (None, "gentlest", 0.005)
    given = eo.fit(credit, target="baseline", keep_individual_odds=False).certificate
    assert (given.target_given, given.max_loss, given.keep_individual_odds) == (True, None, False)
    for member, (negatives, positives, *means) in zip(credit.members, default.people, strict=True):
        assert (negatives, positives) == (member.negative_total, member.positive_total)
        known = [np.average(member.scores, weights=side) for side in (member.negatives, member.positives)]
        np.testing.assert_allclose(means, known, rtol=1e-12)
