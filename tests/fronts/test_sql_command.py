"""The command that writes a policy as SQL: the same text as Python's, and what it refuses."""

from __future__ import annotations

import pytest

import evenodds as eo
from engines import needed

COLUMNS = ["--score", "points", "--group", "race"]
SQL = ["sql", "policy.json", "--dialect", "duckdb", "--table", "people", *COLUMNS]
WORDS = {"dialect": "duckdb", "table": "people", "score": "points", "group": ["race"]}


def test_the_text_is_pythons(run, policy, tmp_path):
    known = eo.to_sql(policy, **WORDS)
    assert run(*SQL) == known
    assert run(*SQL, "-o", "odds.sql") == ""
    assert (tmp_path / "odds.sql").read_text(encoding="utf-8") == known
    more = [
        "--id",
        "name",
        "--round",
        "it's é",
        "--into",
        "chance",
        "--draw",
        "u",
        "--decision",
        "yes",
        "--pads",
        "a.b",
    ]
    words = {"id": "name", "round": "it's é", "into": "chance", "draw": "u", "decision": "yes", "pads": "a.b"}
    assert run(*SQL, *more, "--kinds", "race=text") == eo.to_sql(policy, **WORDS, **words)
    for dialect in ("postgresql", "spark", "snowflake", "bigquery"):
        assert run(*SQL, "--dialect", dialect) == eo.to_sql(policy, **{**WORDS, "dialect": dialect})


@pytest.mark.usefixtures("policy")
def test_the_text_runs(run, past):
    connection = needed("duckdb").connect()
    connection.register("people", past)
    odds = connection.sql(run(*SQL)).fetchall()
    known = eo.apply(eo.Policy.load("policy.json"), past, score="points", group="race")["odds"].to_pylist()
    assert sorted(row[-1] for row in odds) == sorted(known)


@pytest.mark.usefixtures("policy")
def test_what_is_refused_writes_nothing(run, tmp_path):
    before = sorted(tmp_path.iterdir())
    for words, told in (
        (
            ["--dialect", "duckbd"],
            "--dialect duckbd is not known. Allowed: duckdb, postgres, spark, snowflake, bigquery. Hint",
        ),
        (["--table", ""], "--table '' is not a name"),
        (["--group", "race,sex"], "No group of the policy can be made of 2 columns"),
        (["--group", ","], "group names no column"),
        (["--round", "x"], "round is for draws, and these need an id"),
        (["--kinds", "race"], "--kinds race is not allowed. Allowed: columns and what they hold"),
        (
            ["--kinds", "rase=text"],
            "kinds names 'rase', which is no group column. Allowed: race. Hint: did you mean 'race'?",
        ),
        (["--kinds", "race=truth"], "kinds['race']='truth' is not known. Allowed: text, boolean, float"),
        (["--into", "points"], "The new column 'points' has the name of another one"),
        (["-o", ""], "-o names no file"),
    ):
        group = SQL.index("--group")
        start = SQL if "--group" not in words else [*SQL[:group], *SQL[group + 2 :]]
        last = run(*start, "-o", "odds.sql", *words, exit_code=2).strip().splitlines()
        assert len(last) == 1
        assert told in last[0]
        assert sorted(tmp_path.iterdir()) == before
    assert "policy.json is what is read" in run(*SQL, "-o", "policy.json", exit_code=2)
    assert "There is no file gone.json" in run("sql", "gone.json", *SQL[2:], exit_code=2)
    assert "Missing option '--table'" in run(*SQL[:4], *COLUMNS, exit_code=2)
