"""The evaluator in JavaScript, run by Node: every vector, and as many odds as it takes to meet every rounding."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import evenodds as eo
from engines import missing, needed
from evenodds.model.storage import canonical, parts_of_policy

EVALUATOR = files("evenodds.exports") / "evenodds.mjs"
VECTORS = files("evenodds.exports") / "vectors.json"


GLOBAL = 'import { webcrypto } from "node:crypto"; globalThis.crypto ??= webcrypto;'  # Node 18 has it, but not there


def node() -> str:
    return shutil.which("node") or missing("Node is not installed (Debian: apt-get install nodejs)")


def checked(folder: Path, vectors: object) -> dict:
    file = folder / "vectors.json"
    file.write_text(json.dumps({"odds": [], "draws": [], "decisions": [], **vectors}), encoding="utf-8")
    harness = Path(__file__).with_name("check.mjs")
    done = subprocess.run([node(), harness, str(EVALUATOR), file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def vectors():
    return json.loads(VECTORS.read_text(encoding="utf-8"))


def test_every_vector(tmp_path, vectors):
    found = checked(tmp_path, vectors)
    assert found["failed"] == []
    assert found["checked"] > sum(len(vectors[name]) for name in ("odds", "draws", "decisions", "policies"))


def test_the_harness_sees_what_is_wrong(tmp_path, vectors):
    odds, draws = ([*vectors[name]] for name in ("odds", "draws"))
    odds[7], draws[7] = {**odds[7], "odds": 0.123}, {**draws[7], "draw": 0.123}
    assert checked(tmp_path, {**vectors, "odds": odds, "draws": draws})["failures"] == 2


def test_a_hundred_thousand_odds(tmp_path, vectors):
    rng = np.random.default_rng(3)
    named = {name: eo.Policy(**parts_of_policy(document)) for name, document in vectors["policies"].items()}
    pairs = [(name, group) for name, policy in named.items() for group in policy.groups]
    odds = []
    for name, group in pairs:
        policy, n = named[name], 100_000 // len(pairs) + 1
        breaks = policy.curves[group].pieces.breaks
        low, high = (breaks.min(), breaks.max()) if breaks.size else (0.0, 1.0)
        scores = rng.uniform(low, high, n) if high > low else rng.normal(low, 1, n)
        given = policy.odds(scores, np.full(n, group)).tolist()
        pairs_of = zip(scores.tolist(), given, strict=True)
        odds += [{"policy": name, "group": group, "score": score, "odds": one} for score, one in pairs_of]
    assert len(odds) >= 100_000
    found = checked(tmp_path, {"policies": vectors["policies"], "odds": odds})
    assert found["failed"] == []
    assert found["checked"] >= 100_000


def test_people_of_two_columns_and_the_canonical_form(tmp_path):
    pandas = needed("pandas")
    policy = eo.fit(eo.datasets.compas())
    n = 200
    people = pandas.DataFrame(
        {
            "who": [f"p{i}" for i in range(n)],
            "decile": np.arange(n) % 10 + 1,
            "race": ["Caucasian", "African-American"] * (n // 2),
            "sex": ["Male", "Male", "Female", "Female"] * (n // 4),
        }
    )
    key = "0123456789abcdef" * 4
    words = {"score": "decile", "group": ["race", "sex"], "id": "who"}
    decided = eo.decide(policy, people, **words, key=key, round="r")
    rows = [
        {"policy": "c", "values": [row.race, row.sex], "score": row.decile, "id": row.who, "key": key, "round": "r"}
        | {"odds": row.odds, "draw": row.draw, "decision": row.decision}
        for row in decided.itertuples()
    ]
    values = [-0.0, 1e21, 123456789012345680000, 1e-7, 5e-324, {"\U0001f600": 1, "\ufb33": "\x7f\x1f\u2028", "a": []}]
    given = {
        "policies": {"c": policy.document},
        "people": rows,
        "canonical": [{"value": value, "text": canonical(value)} for value in values],
    }
    found = checked(tmp_path, given)
    assert found["failed"] == []
    assert found["checked"] == 3 * n + 1 + len(values)


def test_what_the_documentation_shows_runs(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "policy-format.md"
    blocks = re.findall(r"```js\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    policy = eo.fit(eo.datasets.credit_risk())
    policy.save(tmp_path / "policy.json")
    shutil.copy(str(EVALUATOR), tmp_path)
    for number, block in enumerate(blocks):
        (tmp_path / f"{number}.mjs").write_text(f"{GLOBAL}\n{block}", encoding="utf-8")
        done = subprocess.run([node(), f"{number}.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        odds, draw = (
            policy.odds(49.5, "white").item(),
            eo.draw([4711], key="0123456789abcdef" * 4, round="2026-05").item(),
        )
        assert str(odds) in done.stdout
        assert str(draw) in done.stdout
