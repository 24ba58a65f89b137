"""A policy as Python without dependencies: every vector, and text that holds whatever groups are called."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.model.storage import parts_of_policy

VECTORS = json.loads((files("evenodds.exports") / "vectors.json").read_text(encoding="utf-8"))
POLICIES = {name: eo.Policy(**parts_of_policy(document)) for name, document in VECTORS["policies"].items()}


def module_of(policy):
    rule = {}
    exec(compile(eo.to_python(policy), "rule.py", "exec"), rule)  # noqa: S102 this is what it is for
    return rule


def test_every_vector():
    rules = {name: module_of(policy) for name, policy in POLICIES.items()}
    for one in VECTORS["odds"]:
        rule, where = rules[one["policy"]], (float(one["score"]), one["group"])
        assert rule["odds"](*where) == one["odds"], one
        if "review" in one:
            assert rule["review_odds"](*where) == one["review"], one
    for one in VECTORS["decisions"]:
        assert rules[one["policy"]]["decide"](one["score"], one["group"], one["u"]) == one["decision"], one
    draw = rules["linear"]["draw"]
    for one in VECTORS["draws"]:
        assert draw(one["key"], one["id"], one["round"]) == one["draw"], one
    refused = VECTORS["refused"]
    given = [("00" * 32, id_, "") for id_ in refused["ids"]] + [(key, "a", "") for key in refused["keys"]]
    for words in [*given, *(("00" * 32, "a", round_) for round_ in refused["rounds"])]:
        with pytest.raises(ValueError, match=r"must"):
            draw(*words)


@pytest.mark.parametrize("name", POLICIES)
def test_odds_anywhere(name):
    policy, rule = POLICIES[name], module_of(POLICIES[name])
    rng = np.random.default_rng(1)
    for group in policy.groups:
        breaks = policy.curves[group].pieces.breaks
        ends = (breaks.min(), breaks.max()) if breaks.size else (0.0, 1.0)
        scores = np.concatenate([rng.uniform(*ends, 300), rng.normal(size=50) * 1e3])
        odds = policy.odds(scores, np.full(scores.size, group))
        assert [rule["odds"](score, group) for score in scores.tolist()] == odds.tolist()


def test_it_needs_nothing_but_python(tmp_path):
    file = tmp_path / "rule.py"
    file.write_text(eo.to_python(POLICIES["linear"]), encoding="utf-8")
    line = "import rule; print(repr(rule.odds(40, 'white')), rule.odds(40, 'green'), rule.odds('nan', 'white'))"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({str(tmp_path)!r}); {line}"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.split() == [repr(POLICIES["linear"].odds(40, "white").item()), "None", "None"]


@given(st.lists(st.text(max_size=8), min_size=8, max_size=8, unique=True))
def test_groups_may_be_called_anything(names):
    policy = POLICIES["edges"]
    certificate = VECTORS["policies"]["edges"]["certificate"]
    document = json.loads(json.dumps({**VECTORS["policies"]["edges"], "certificate": certificate}))
    renamed = dict(zip(policy.groups, names, strict=True))
    for curve in document["curves"]:
        curve["group"] = renamed[curve["group"]]
    document["certificate"] = {
        **certificate,
        "groups": [renamed[group] for group in certificate["groups"]],
        "mixes": [renamed[group] for group in certificate["mixes"]],
    }
    other = eo.Policy(**parts_of_policy(document))
    rule = module_of(other)
    for old, new in renamed.items():
        assert rule["odds"](0.2, new) == policy.odds(0.2, old)
    assert rule["odds"](0.2, "nobody, surely") is None


def test_only_policies():
    with pytest.raises(eo.OptionError, match="The first argument must be a Policy, got dict"):
        eo.to_python({})


def test_no_odds_and_no_draw_are_none():
    rule = module_of(POLICIES["linear"])
    for score in (None, "abc", 10**400, float("nan"), []):
        assert rule["odds"](score, "white") is None
    for u in (None, float("nan")):
        assert rule["decide"](49.5, "white", u) is None
        assert module_of(POLICIES["reviews"])["decide"](49.5, "white", u) is None


@pytest.mark.parametrize("name", POLICIES)
def test_zero_has_no_sign(name):
    """Which == does not see, and a file does."""
    policy, rule = POLICIES[name], module_of(POLICIES[name])
    for group in policy.groups:
        scores = [*policy.curves[group].pieces.breaks.tolist(), 0.0, -0.0]
        odds = policy.odds(scores, np.full(len(scores), group))
        assert [str(rule["odds"](score, group)) for score in scores] == list(map(str, odds.tolist()))


def test_curves_of_many_pieces():
    people = eo.datasets.compas()
    policy = eo.fit(people, curve="optimal", max_slope=0.4)
    new = eo.update(policy, people, max_change=0.05)
    joint = eo.datasets.credit_risk()
    longer = eo.update(eo.fit(joint, max_slope=0.1), joint, max_change=0.05)
    assert max(curve.pieces.lo.size for curve in longer.curves.values()) > 16
    for one, scores in ((new, np.linspace(0, 11, 221)), (longer, np.linspace(-1, 101, 409))):
        rule = module_of(one)
        for group in one.groups:
            odds = one.odds(scores, np.full(scores.size, group))
            assert [rule["odds"](score, group) for score in scores.tolist()] == odds.tolist()
