"""The same draws and places wherever people are, and nothing of the key in queries, plans and logs."""

from __future__ import annotations

import base64
import math
import re

import numpy as np
import pytest

import evenodds as eo
from engines import needed
from evenodds.decisions.keys import pads
from ids import awkward

pytestmark = [
    # What other packages say about each other is not about us.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),
]

pa = needed("pyarrow")

KEY = "0123456789abcdef" * 4
ENGINES = ("duckdb", "ibis", "postgres", "pyspark", "polars-lazy", "dask")
PLACED = ("duckdb", "ibis", "postgres")
WORDS = {"score": "r", "group": "g", "id": "who", "key": KEY}


@pytest.fixture(scope="module")
def policy():
    return eo.fit(eo.datasets.credit_risk())


@pytest.fixture(scope="module")
def reviewing():
    return eo.fit(eo.datasets.credit_risk(), review=eo.Review(capacity=0.1, tpr=0.9, fpr=0.2))


def _people(ids, groups, seed=0):
    rng = np.random.default_rng(seed)
    n = len(ids)
    return pa.table({"id": np.arange(n), "who": ids, "r": rng.integers(0, 200, n) / 2, "g": rng.choice(groups, n)})


@pytest.mark.parametrize("round_", ["", 'it\'s a \\round\\ {x} "café" 🎲'])
@pytest.mark.parametrize("kind", ENGINES)
def test_a_thousand_awkward_ids_bit_for_bit(engines, policy, kind, round_):
    ids = awkward()
    assert len(set(ids)) == 1000
    people = _people(ids, policy.groups)
    decided = eo.decide(policy, engines.frame(kind, people), **WORDS, round=round_)
    columns = engines.columns(decided)
    assert list(columns) == [*people.column_names, "odds", "draw", "decision"]
    assert columns["who"] == ids
    assert columns["draw"] == eo.draw(ids, key=KEY, round=round_).tolist()
    assert columns == engines.columns(eo.decide(policy, people, **WORDS, round=round_))
    assert set(columns["decision"]) == {0, 1}


@pytest.mark.parametrize("kind", ENGINES)
def test_whole_numbers_and_names_of_columns_that_need_quotes(engines, policy, kind):
    people = _people(np.arange(-50, 50) * 10**16, policy.groups)
    odd = "wh\"o {is}'t it"
    people = people.rename_columns(["id", odd, "r", "inner"])
    words = {**WORDS, "id": odd, "group": "inner"}
    columns = engines.columns(eo.decide(policy, engines.frame(kind, people), **words))
    assert columns == engines.columns(eo.decide(policy, people, **words))
    assert columns["draw"] == eo.draw([str(i * 10**16) for i in range(-50, 50)], key=KEY).tolist()


@pytest.mark.parametrize("kind", ENGINES)
def test_three_answers(engines, reviewing, kind):
    people = _people([f"p{i}" for i in range(500)], reviewing.groups)
    columns = engines.columns(eo.decide(reviewing, engines.frame(kind, people), **WORDS))
    assert list(columns)[-4:] == ["odds", "odds_review", "draw", "decision"]
    assert columns == engines.columns(eo.decide(reviewing, people, **WORDS))
    assert set(columns["decision"]) == {"yes", "review", "no"}


@pytest.mark.parametrize("reviews", [False, True])
@pytest.mark.parametrize("kind", ENGINES)
def test_what_is_missing_has_no_decision(engines, policy, reviewing, kind, reviews):
    people = pa.table(
        {
            "id": range(6),
            "who": ["a", None, "", "b", "c", "d"],
            "r": pa.array([40.0, 40.0, 40.0, None, math.nan, 40.0]),
            "g": ["white", "white", "white", "white", "white", "green"],
        }
    )
    columns = engines.columns(eo.decide(reviewing if reviews else policy, engines.frame(kind, people), **WORDS))
    a, b, c, d = eo.draw(list("abcd"), key=KEY).tolist()
    assert columns["draw"] == [a, None, None, b, c, d]
    assert [one is None for one in columns["odds"]] == [False] * 3 + [True] * 3
    assert columns["decision"][0] in {0, 1, "yes", "review", "no"}
    assert columns["decision"][1:] == [None] * 5


@pytest.mark.parametrize("kind", ENGINES)
def test_columns_that_are_no_ids(engines, policy, kind):
    people = _people([f"p{i}" for i in range(4)], policy.groups)
    for values in ([1.0, 2.0, 3.0, 4.0], [True, False, True, False]):
        frame = engines.frame(kind, people.set_column(1, "who", [values]))
        told = r"The id column 'who' holds \w+, which engines write in different ways\. Allowed: strings and whole"
        with pytest.raises(eo.DataError, match=told):
            eo.decide(policy, frame, **WORDS)
    frame = engines.frame(kind, people)
    for wrong in ({"key": KEY.upper()}, {"key": KEY[1:]}, {"round": "a|b"}, {"places": -1}):
        with pytest.raises(eo.OptionError):
            eo.decide(policy, frame, **{**WORDS, **wrong})
    with pytest.raises(eo.DataError, match="has no column 'name'"):
        eo.decide(policy, frame, **{**WORDS, "id": "name"})
    taken = engines.frame(kind, people.append_column("draw", [[0.5] * 4]))
    with pytest.raises(eo.OptionError, match="has a column 'draw' already"):
        eo.decide(policy, taken, **WORDS)


@pytest.mark.parametrize("kind", ["polars-lazy", "dask"])
def test_batches_refuse_ids_when_they_run(engines, policy, kind):
    people = _people(["a", " b"], policy.groups)
    decided = eo.decide(policy, engines.frame(kind, people), **WORDS)
    with pytest.raises(Exception, match="id ' b' cannot be drawn for"):
        engines.columns(decided)


# -- nothing of the key is told ----------------------------------------------------------------------------------------


def _secrets():
    """The key and its pads in every way in which an engine may write them, whole and in part."""
    forms = {KEY, KEY.upper(), *(KEY.encode().hex()[at : at + 32] for at in (0, 32))}
    for pad in pads(KEY):
        text = pad.decode("latin-1")
        forms |= {
            pad.hex()[:16],
            pad.hex()[:16].upper(),
            text[:8],
            repr(pad)[2:20],
            base64.b64encode(pad).decode()[:12],
        }
        forms |= {"".join(f"\\x{byte:02X}" for byte in pad[:4]), "".join(f"\\x{byte:02x}" for byte in pad[:4])}
        forms |= {"".join(f"\\{byte:03o}" for byte in pad[:4]), ", ".join(map(str, pad[:6]))}
    return forms


def _tells_nothing(*texts):
    for text in texts:
        assert text
        for secret in _secrets():
            assert secret not in text


def test_nothing_of_the_key_in_duckdb(engines, policy):
    people = _people([f"p{i}" for i in range(100)], policy.groups)
    connection = engines.duckdb
    connection.execute("CALL enable_logging('QueryLog')")
    try:
        decided = eo.decide(policy, engines.frame("duckdb", people), **WORDS).filter("draw < 0.5 AND decision = 1")
        assert decided.fetchall()
        plans = [decided.explain(kind) for kind in ("standard", "analyze")]
        placed = eo.decide(policy, engines.frame("duckdb", people), **WORDS, places=True).filter("decision = 1")
        assert placed.fetchall()
        by_ibis = eo.decide(policy, engines.frame("ibis", people), **WORDS)
        by_ibis = by_ibis.filter(by_ibis.draw < 0.5)
        assert len(by_ibis.to_pyarrow())
        sql = needed("ibis").to_sql(by_ibis)
        explained = str(engines.ibis.con.execute(f"EXPLAIN {sql}").fetchall())
        log = "\n".join(row[0] for row in connection.execute("SELECT message FROM duckdb_logs").fetchall())
    finally:
        connection.execute("CALL disable_logging()")
    _tells_nothing(*plans, decided.sql_query(), placed.sql_query(), str(sql), repr(by_ibis), explained, log)
    assert "sha256" in plans[0]


def test_nothing_of_the_key_in_postgres(engines, policy):
    people = _people([f"p{i}" for i in range(100)], policy.groups)
    connection = engines.postgres.connection
    for places in (None, True):
        decided = eo.decide(policy, engines.frame("postgres", people), **WORDS, places=places)
        decided = decided.filter(decided.decision == 1, *([] if places else [decided.draw < 0.5]))
        assert len(decided.to_pyarrow())
        sql = str(needed("ibis").to_sql(decided))
        with connection.con.cursor() as cursor:
            plans = [
                "\n".join(row[0] for row in cursor.execute(f"EXPLAIN ({how}) {sql}").fetchall())
                for how in ("VERBOSE", "VERBOSE, ANALYZE")
            ]
        _tells_nothing(*plans, sql, repr(decided), engines.postgres.log)
    assert re.search(r"COPY evenodds_row_\w+ FROM STDIN", engines.postgres.log)
    assert "EXPLAIN (VERBOSE)" in engines.postgres.log


def test_nothing_of_the_key_in_spark(engines, policy, capsys):
    people = _people([f"p{i}" for i in range(100)], policy.groups)
    decided = eo.decide(policy, engines.frame("pyspark", people), **WORDS).filter("draw < 0.5 AND decision = 1")
    assert decided.count()
    texts = []
    for adaptive in ("true", "false"):  # code is shown of plans that do not change while they run
        engines.spark.conf.set("spark.sql.adaptive.enabled", adaptive)
        for mode in ("extended", "formatted", "cost", "codegen"):
            capsys.readouterr()
            decided.filter("odds > 0").explain(mode=mode)
            texts.append(capsys.readouterr().out)
    engines.spark.conf.set("spark.sql.adaptive.enabled", "true")
    assert "sha2(" in texts[0]
    assert "Generated code" in texts[-1]
    _tells_nothing(*texts, repr(decided))


@pytest.mark.parametrize("kind", ["polars-lazy", "dask"])
def test_nothing_of_the_key_in_batches(engines, policy, kind):
    people = _people([f"p{i}" for i in range(100)], policy.groups)
    decided = eo.decide(policy, engines.frame(kind, people), **WORDS)
    text = decided.explain() if kind == "polars-lazy" else f"{decided!r}{decided.expr.tree_repr()}{decided.dask!r}"
    _tells_nothing(text)


# -- places ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("orientation", ["positive", "negative"])
@pytest.mark.parametrize("kind", PLACED)
def test_places_of_many_people(engines, kind, orientation):
    """100,000 people, whose odds sum to far more than 64 bits hold in parts of 2^-53."""
    rng = np.random.default_rng(1)
    label, group = rng.integers(0, 2, 2000), rng.choice(["é", "z", "Y", "O'B"], 2000)
    points = rng.normal(50 + 9 * label, 9).round(1)
    sign = 1 if orientation == "positive" else -1
    joint = eo.JointDistribution.from_arrays(sign * points, group, label, orientation=orientation)
    policy, n = eo.fit(joint), 100_000
    ids = np.char.add(rng.choice(["a", "B", "é", "\U0001f600", "\uffff", "10"], n), rng.permutation(n).astype(str))
    scores = sign * rng.normal(55, 12, n).round(rng.integers(0, 2))
    people = pa.table(
        {
            "id": np.arange(n),
            "who": ids,
            "r": np.where(scores == 55, -0.0, scores),
            "g": rng.choice(["é", "z", "Y", "O'B"], n),
        }
    )
    known = engines.columns(eo.decide(policy, people, **WORDS, round="1", places=True))
    assert sum(known["odds"]) * 2**53 > 2**64
    frame = engines.frame(kind, people)
    assert engines.columns(eo.decide(policy, frame, **WORDS, round="1", places=True)) == known
    expected = int(sum(known["odds"]))
    again = eo.decide(policy, frame, **WORDS, round="1", places=expected)
    yes = again.filter("decision = 1" if kind == "duckdb" else again.decision == 1)
    assert engines.columns(yes)["id"] == [i for i, one in zip(known["id"], known["decision"], strict=True) if one]
    total = f"{sum(known['odds']):.6g}"
    told = rf"places={expected + 9} is not what the odds of these 100,000 people sum to, which is {total}\."
    with pytest.raises(eo.OptionError, match=told):
        eo.decide(policy, frame, **WORDS, round="1", places=expected + 9)


@pytest.mark.parametrize("kind", PLACED)
def test_who_is_missing_takes_no_place(engines, policy, kind):
    people = _people([f"p{i}" for i in range(300)], policy.groups)
    bad = pa.table({"id": [300, 301, 302], "who": [None, "", "x"], "r": [40.0, 40.0, math.nan], "g": ["white"] * 3})
    known = engines.columns(eo.decide(policy, people, **WORDS, places=True))["decision"]
    frame = engines.frame(kind, pa.concat_tables([people, bad]))
    assert engines.columns(eo.decide(policy, frame, **WORDS, places=True))["decision"] == [*known, None, None, None]
    empty = engines.frame(kind, people[:0])
    assert engines.columns(eo.decide(policy, empty, **WORDS, places=0))["decision"] == []


@pytest.mark.parametrize("kind", ["pyspark", "polars-lazy", "dask"])
def test_places_need_exact_sums_in_order(engines, policy, kind):
    people = _people(["a", "b"], policy.groups)
    with pytest.raises(eo.DataError, match=r"places= needs the whole cohort in memory, DuckDB or PostgreSQL, got "):
        eo.decide(policy, engines.frame(kind, people), **WORDS, places=True)


def test_a_connection_that_takes_no_data_by_name_is_told(policy):
    connection = needed("duckdb").connect()
    relation = connection.sql("SELECT 'a' AS who, 40.0 AS r, 'white' AS g")
    connection.execute("SET python_enable_replacements = false")
    with pytest.raises(
        eo.DataError, match=r"has python_enable_replacements off.*Hint: SET python_enable_replacements = true,"
    ):
        eo.decide(policy, relation, **WORDS)
    connection.execute("SET python_enable_replacements = true")
    assert eo.decide(policy, relation, **WORDS).fetchall()[0][-2:] == (eo.draw(["a"], key=KEY)[0], 1)
