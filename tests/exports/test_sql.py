"""SQL in the engines themselves: every bit of odds, draws and decisions, and names and texts of every kind."""

# ruff: noqa: S608  names are ours, or quoted

from __future__ import annotations

import json
import math
import re
import sys
from decimal import Decimal
from importlib.resources import files
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from engines import needed
from evenodds.decisions.formulas import DRAWS
from evenodds.decisions.keys import pads
from evenodds.exports.dialects import DIALECTS, dialect_of
from evenodds.model.storage import parts_of_policy
from ids import awkward
from shapes import at_zero, of_curves

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore:All 54 scores lie between:evenodds.EvenoddsWarning"),  # of a fit far wider
]

pa = needed("pyarrow")
sqlglot = needed("sqlglot")

VECTORS = json.loads((files("evenodds.exports") / "vectors.json").read_text(encoding="utf-8"))
POLICIES = {name: eo.Policy(**parts_of_policy(document)) for name, document in VECTORS["policies"].items()}
KEY = "0123456789abcdef" * 4
RUN = ("duckdb", "postgres", "spark")
WORDS = {"score": "r", "group": "g"}
NUMBERS = count()
FEW = 10_000  # rows that Spark may hold in a plan


ALL = {
    **POLICIES,
    "at zero": at_zero(POLICIES["linear"], "positive"),
    "negative, at zero": at_zero(POLICIES["linear"], "negative"),
}


def _scores(policy, group, rng, n):
    """Scores everywhere, most of them where odds change, some at breaks and beside them, some that are no numbers."""
    curves = [policy.curves[group], *([policy.review_curves[group]] if policy.review else [])]
    breaks = np.unique(np.concatenate([curve.pieces.breaks for curve in curves]))
    if not breaks.size:
        breaks = np.array([0.0, 1.0])
    beside = np.concatenate([breaks, np.nextafter(breaks, np.inf), np.nextafter(breaks, -np.inf)])
    width = np.ptp(breaks) or 1.0
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -5e-324, 1e-310, 1e-200, 1e308, -1e308, 1.7e308])
    tiny = 10.0 ** rng.uniform(-324, 0, n // 10) * rng.choice([-1, 1], n // 10)
    many = breaks[0] + width * rng.uniform(-0.1, 1.1, n)
    return np.concatenate([beside, odd, tiny, many])[:n] if n > 100 else np.concatenate([beside, odd])


@pytest.fixture(scope="module")
def crowd():
    """200,000 people and more, of whom each is under one of the policies; first those of the vectors."""
    rng = np.random.default_rng(7)
    columns = {"which": [], "r": [], "g": []}
    share = 200_000 // len(ALL) + 1
    for which, (name, policy) in enumerate(ALL.items()):
        own = [one for one in VECTORS["odds"] if one["policy"] == name]
        groups = list(policy.groups)
        scores = [_scores(policy, group, rng, share // (len(groups) + 1) + 1) for group in groups]
        more = share - len(own) - sum(map(len, scores))
        strangers = [None, "nobody", " ", groups[0] + " ", groups[0].upper() + "'", "a, b"]
        columns["r"] += [float(one["score"]) for one in own] + np.concatenate(scores).tolist()
        columns["g"] += [one["group"] for one in own]
        columns["g"] += [group for group, some in zip(groups, scores, strict=True) for _ in some]
        columns["r"] += [None if i % 7 == 0 else float(i % 90) for i in range(more)]
        columns["g"] += [groups[0] if i % 7 == 0 else strangers[i % len(strangers)] for i in range(more)]
        columns["which"] += [which] * (len(columns["r"]) - len(columns["which"]))
    table = pa.table({**columns, "r": pa.array(columns["r"], pa.float64())})
    assert table.num_rows >= 200_000
    return table.append_column("id", pa.array(range(table.num_rows)))


class Place:
    """An engine where tables are made of Arrow's, and queries asked as text."""

    def __init__(self, engines, dialect, folder=None):
        self.engines, self.dialect, self.folder = engines, dialect, folder

    def name(self):
        return f"sql_{next(NUMBERS)}"

    def made(self, table, name=None):
        """The name of a new table with these columns."""
        name = name or self.name()
        quoted = dialect_of(self.dialect).quoted(name)
        if self.dialect == "duckdb":
            connection = self.engines.duckdb
            connection.register("incoming", table)
            connection.execute(f"CREATE OR REPLACE TABLE {quoted} AS SELECT * FROM incoming")
            connection.unregister("incoming")
        elif self.dialect == "postgres":
            self.say(f"DROP TABLE IF EXISTS {quoted}")
            self.engines.postgres.table(table, name)
        elif table.num_rows > FEW:
            file = self.folder / f"{name}.parquet"
            needed("pyarrow.parquet").write_table(table, file)
            self.engines.spark.read.parquet(str(file)).createOrReplaceTempView(quoted)
        else:
            self.engines.spark.createDataFrame(table).createOrReplaceTempView(quoted)
        return name

    def say(self, text):
        if self.dialect == "duckdb":
            self.engines.duckdb.execute(text)
        elif self.dialect == "postgres":
            with self.engines.postgres.connection.con.cursor() as cursor:
                cursor.execute(text)
        else:
            self.engines.spark.sql(text)

    def asked(self, text, order="id"):
        """The columns of an answer as lists, in order."""
        if self.dialect == "duckdb":
            table = self.engines.duckdb.sql(text).to_arrow_table()
        elif self.dialect == "spark":
            table = self.engines.spark.sql(text).toArrow()
        else:
            with self.engines.postgres.connection.con.cursor() as cursor:
                rows = cursor.execute(text).fetchall()
                names = [one.name for one in cursor.description]
            table = pa.table(list(map(list, zip(*rows, strict=True))), names=names)
        assert len(set(table.column_names)) == len(table.column_names)
        return {name: column.to_pylist() for name, column in zip(table.column_names, table.sort_by(order), strict=True)}

    def asked_together(self, *wanted):
        """A column of each of several answers, in the order of id: one query, of which each text is a part."""
        parts = [
            f"SELECT {part} AS part, id, {column} AS answer FROM (\n{text}) AS t"
            for part, (text, column) in enumerate(wanted)
        ]
        found = self.asked("\nUNION ALL\n".join(parts), [("part", "ascending"), ("id", "ascending")])
        answers = [[] for _ in wanted]
        for part, answer in zip(found["part"], found["answer"], strict=True):
            answers[part].append(answer)
        return answers

    def with_pads(self, key=KEY, name="evenodds_pads"):
        inner, outer = pads(key)
        return self.made(pa.table({"i": [inner], "o": [outer]}), name)


@pytest.fixture(params=RUN)
def place(request, engines, tmp_path):
    return Place(engines, request.param, tmp_path)


def _bits(values):
    """Floats as whole numbers, so that every bit counts; what is missing is -1."""
    return [-1 if value is None else int(np.float64(value).view(np.int64)) for value in values]


def test_every_policy_every_vector_and_two_hundred_thousand_people_bit_for_bit(place, crowd):
    name, asked = place.made(crowd), {}
    for which, (title, policy) in enumerate(ALL.items()):
        part = place.name()
        place.say(f"CREATE TEMPORARY VIEW {part} AS SELECT id, r, g FROM {name} WHERE which = {which}")
        text = eo.to_sql(policy, dialect=place.dialect, table=part, **WORDS)
        asked[title, "odds"] = text, "odds"
        if policy.review:
            asked[title, "review"] = text, "odds_review"
    found = dict(zip(asked, place.asked_together(*asked.values()), strict=True))
    assert sum(len(found[title, "odds"]) for title in ALL) == crowd.num_rows
    for which, (title, policy) in enumerate(ALL.items()):
        own = crowd.filter(pa.compute.equal(crowd["which"], which)).select(["id", "r", "g"])
        known = eo.apply(policy, own, **WORDS, on_invalid="null")
        vectors = [one for one in VECTORS["odds"] if one["policy"] == title]
        for new, column in (("odds", "odds"), ("review", "odds_review")):
            if (title, new) in found:
                assert found[title, new][: len(vectors)] == [one[new] for one in vectors]
                assert _bits(found[title, new]) == _bits(known[column].to_pylist()), title


@pytest.mark.parametrize("round_", ["", 'it\'s a \\round\\ {x} ${y} "café" 🎲'])
@pytest.mark.parametrize("name", ["linear", "reviews"])
def test_draws_and_decisions_of_a_thousand_awkward_ids(place, name, round_):
    policy, ids, rng = POLICIES[name], awkward(), np.random.default_rng(5)
    groups = rng.choice(policy.groups, len(ids))
    people = pa.table({"id": range(len(ids)), "who": ids, "r": rng.integers(0, 120, len(ids)) / 2, "g": groups})
    odd = pa.table({"id": range(1000, 1004), "who": [None, "", "x", "y"], "r": [40.0, 40.0, math.nan, 40.0],
                    "g": ["white", "white", "white", "green"]})  # fmt: skip
    table, where = place.made(pa.concat_tables([people, odd])), place.with_pads()
    text = eo.to_sql(policy, dialect=place.dialect, table=table, **WORDS, id="who", round=round_, pads=where)
    columns = place.asked(text)
    known = eo.decide(policy, people, **WORDS, id="who", key=KEY, round=round_)
    assert list(columns) == known.column_names
    for new in known.column_names:
        assert columns[new][:1000] == known[new].to_pylist()
    assert columns["draw"][1000:] == [None, None, *eo.draw(["x", "y"], key=KEY, round=round_).tolist()]
    assert columns["decision"][1000:] == [None] * 4
    assert [one is None for one in columns["odds"][1000:]] == [False, False, True, True]
    assert set(columns["decision"][:1000]) == ({"yes", "review", "no"} if policy.review else {0, 1})


def test_every_vector_of_draws(place):
    """The published draws themselves, with each key and each round that they name; in Spark with each key."""
    asked, known = [], []
    pairs = sorted({(one["key"], one["round"]) for one in VECTORS["draws"]})
    for key, round_ in pairs[::4] if place.dialect == "spark" else pairs:
        own = [one for one in VECTORS["draws"] if (one["key"], one["round"]) == (key, round_)]
        people = {"id": range(len(own)), "who": [str(one["id"]) for one in own], "r": [40.0] * len(own)}
        table = place.made(pa.table({**people, "g": ["white"] * len(own)}))
        where = place.with_pads(key, name=place.name())
        words = {**WORDS, "id": "who", "round": round_, "pads": where}
        asked.append((eo.to_sql(POLICIES["linear"], dialect=place.dialect, table=table, **words), "draw"))
        known.append([one["draw"] for one in own])
    assert place.asked_together(*asked) == known


def test_whole_numbers_as_ids(place):
    ids = [-7, 0, 4711, 2**53 - 1, -(10**18)]
    table = place.made(pa.table({"id": ids, "r": [40.0] * 5, "g": ["white"] * 5}))
    place.with_pads()
    columns = place.asked(eo.to_sql(POLICIES["linear"], dialect=place.dialect, table=table, **WORDS, id="id"))
    assert columns["draw"] == eo.draw(sorted(ids), key=KEY).tolist()


SETTINGS = {
    "duckdb": ({"default_collation": "'nocase'"}, {"default_collation": "''"}),
    "postgres": (
        {"standard_conforming_strings": "off", "escape_string_warning": "off"},
        {"standard_conforming_strings": "DEFAULT", "escape_string_warning": "DEFAULT"},
    ),
    "spark": (
        {"spark.sql.ansi.enabled": "false", "spark.sql.parser.escapedStringLiterals": "true"},
        {"spark.sql.ansi.enabled": "true", "spark.sql.parser.escapedStringLiterals": "false"},
    ),
}


def test_settings_of_the_engine_change_nothing(place):
    own = [one for one in VECTORS["odds"] if one["policy"] == "edges"]
    people = {"id": range(len(own)), "r": [one["score"] for one in own], "g": [one["group"] for one in own]}
    ids = [f"{i}\\'" for i in range(len(own))]
    table, round_ = place.made(pa.table({**people, "who": ids})), "\\n it's"
    place.with_pads()
    text = eo.to_sql(POLICIES["edges"], dialect=place.dialect, table=table, **WORDS, id="who", round=round_)
    other, usual = SETTINGS[place.dialect]
    try:
        for name, value in other.items():
            place.say(f"SET {name} = {value}")
        found = place.asked(text)
    finally:
        for name, value in usual.items():
            place.say(f"SET {name} = {value}")
    assert found["draw"] == eo.draw(ids, key=KEY, round=round_).tolist()
    assert found["odds"] == [one["odds"] for one in own]


def test_the_ways_to_fill_the_table_of_pads_that_the_documentation_shows(place):
    page = (Path(__file__).parents[2] / "docs" / "sql.md").read_text(encoding="utf-8")
    blocks = dict(zip(("postgres", "spark"), re.findall(r"```py\n(.*?)```", page, re.DOTALL), strict=True))
    if place.dialect not in blocks:
        return  # DuckDB's is a doctest
    what = {"postgres": "TABLE", "spark": "VIEW"}[place.dialect]
    place.say(f"DROP {what} IF EXISTS evenodds_pads")
    inner, outer = (bytes(one ^ pad for one in KEY.encode()) for pad in (0x36, 0x5C))
    known = {"inner": inner, "outer": outer}
    if place.dialect == "postgres":
        known["connection"] = place.engines.postgres.connection.con
    else:
        known["spark"] = place.engines.spark
    exec(blocks[place.dialect], known)  # noqa: S102 this is what it is for
    table = place.made(pa.table({"id": [0], "r": [40.0], "g": ["white"]}))
    text = eo.to_sql(POLICIES["linear"], dialect=place.dialect, table=table, **WORDS, id="id")
    assert place.asked(text)["draw"] == eo.draw([0], key=KEY).tolist()
    if place.dialect == "postgres":
        told = place.engines.postgres.log
        assert "COPY evenodds_pads (i, o) FROM STDIN" in told
    else:
        told = str(place.engines.spark.sql(f"EXPLAIN EXTENDED {text}").collect())
        assert "sha2" in told
    for pad in (inner, outer):
        for secret in (KEY, pad.hex()[:16], repr(pad)[2:20], ", ".join(map(str, pad[:6]))):
            assert secret not in told
    place.say(f"DROP {what} evenodds_pads")


# -- what columns hold -------------------------------------------------------------------------------------------------


def _of_kinds(n=3000):
    rng = np.random.default_rng(3)
    label = rng.integers(0, 2, n)
    return pa.table(
        {
            "id": range(n),
            "r": rng.normal(10 * label, 8).round(1),
            "y": label,
            "sex": rng.choice(["f", "m, x"], n),
            "region": rng.integers(1, 3, n),
            "urban": rng.random(n) < 0.5,
            "band": rng.choice([1.0, 2.5, 1e16], n),
        }
    )


def test_groups_of_every_kind_and_of_several_columns(place):
    people = _of_kinds()
    gone = {"sex": 5, "region": 6, "urban": 7, "band": 8}
    shown = people
    for at, name in enumerate(people.column_names):
        if name in gone:
            values = [None if row == gone[name] else value for row, value in enumerate(people[name].to_pylist())]
            shown = shown.set_column(at, name, pa.array(values, people.schema.field(name).type))
    table = place.made(shown)
    cases = [
        ("region", None),
        ("region", {"region": "text"}),
        ("urban", {"urban": "boolean"}),
        ("band", {"band": "float"}),
        (["sex", "region"], None),
        (["urban", "sex", "band"], {"urban": "boolean", "band": "float"}),
    ]
    asked, known = [], []
    for group, kinds in cases:
        policy = eo.fit(eo.JointDistribution.from_frame(people, score="r", group=group, label="y"), max_slope=1.0)
        text = eo.to_sql(policy, dialect=place.dialect, table=table, score="r", group=group, kinds=kinds)
        asked.append((text, "odds"))
        known.append(eo.apply(policy, shown, score="r", group=group, on_invalid="null")["odds"].to_pylist())
        missing = sorted(gone[name] for name in ([group] if isinstance(group, str) else group))
        assert [i for i, one in enumerate(known[-1]) if one is None] == missing
    assert place.asked_together(*asked) == known


def test_scores_of_every_kind_become_float64(place):
    policy, values = POLICIES["quartic"], np.arange(0, 70, 0.013).round(3)
    decimals = [Decimal(f"{one:.3f}") for one in values.tolist()]
    columns = {
        "whole": pa.array(range(values.size), pa.int32()),
        "long": pa.array(range(values.size), pa.int64()),
        "single": pa.array(values, pa.float32()),
        "decimal": pa.array(decimals, pa.decimal128(12, 3)),
    }
    table = place.made(pa.table({"id": range(values.size), "g": ["black"] * values.size, **columns}))
    words = {"dialect": place.dialect, "table": table, "group": "g"}
    asked = [(eo.to_sql(policy, score=name, **words), "odds") for name in columns]
    known = [policy.odds([float(one) for one in column.to_pylist()], "black").tolist() for column in columns.values()]
    assert place.asked_together(*asked) == known


def test_numbers_of_postgres_may_be_no_numbers(engines):
    place, table = Place(engines, "postgres"), "sql_numeric"
    place.say(f"DROP TABLE IF EXISTS {table}")
    rows = "(0, 'NaN', 'white'), (1, 'Infinity', 'white'), (2, '-Infinity', 'white'), (3, '40.25', 'white')"
    place.say(f"CREATE TABLE {table} AS SELECT id, r::numeric, g FROM (VALUES {rows}) AS v(id, r, g)")
    text = eo.to_sql(POLICIES["linear"], dialect="postgresql", table=table, **WORDS)
    (odds,) = place.asked_together((text, "odds"))
    assert odds == [None, None, None, POLICIES["linear"].odds(40.25, "white").item()]


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_columns_that_do_not_tell_upper_from_lower_case(engines, dialect):
    """Groups are compared byte by byte, whatever the column's own way is."""
    place, policy = Place(engines, dialect), POLICIES["linear"]
    table, ours, plain = place.name(), {"duckdb": "NOCASE", "postgres": "sql_nocase"}[dialect], '"C"'
    if dialect == "postgres":
        how = "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        place.say(f"CREATE COLLATION IF NOT EXISTS sql_nocase {how}")
    place.say(f"CREATE TABLE {table} (id int, r float8, g text COLLATE {ours}, h text COLLATE {plain})")
    place.say(f"INSERT INTO {table} VALUES (0, 40, 'white', 'x'), (1, 40, 'White', 'x')")
    odds = policy.odds(40, "white").item()
    assert place.asked(eo.to_sql(policy, dialect=dialect, table=table, **WORDS))["odds"] == [odds, None]
    both = of_curves(policy, {"white, x": policy.curves["white"]})
    text = eo.to_sql(both, dialect=dialect, table=table, score="r", group=["g", "h"])
    assert place.asked(text)["odds"] == [odds, None]


def test_a_draw_that_equals_the_odds_is_no_yes(place):
    u = eo.draw(["a"], key=KEY).item()
    assert u > 0.25
    table = place.made(pa.table({"id": [0], "who": ["a"], "r": [0.5], "g": ["g"]}))
    place.with_pads()

    def asked(known, odds, upper, column):
        curves = {"g": eo.Curve("fixed", 0, 1, odds)}
        policy = of_curves(POLICIES[known], curves, upper and (eo.Curve("fixed", 0, 1, upper),))
        return eo.to_sql(policy, dialect=place.dialect, table=table, **WORDS, id="who"), column

    for wanted, known in (
        ([asked("linear", u, (), column) for column in ("odds", "draw")], [[u], [u]]),
        ([asked("linear", odds, (), "decision") for odds in (u, math.nextafter(u, 1))], [[0], [1]]),
        ([asked("reviews", 0.25, u, "odds_review")], [[u - 0.25]]),
        ([asked("reviews", 0.25, upper, "decision") for upper in (u, math.nextafter(u, 1))], [["no"], ["review"]]),
    ):
        assert place.asked_together(*wanted) == known


# -- names -------------------------------------------------------------------------------------------------------------


ODD = "wh\"o {is}'t `it`\n\\ -- */ é 女"


def test_names_that_need_quotes(place):
    """Those of columns and tables, among them the names that the text itself uses."""
    policy, n = POLICIES["reviews"], 50
    rng = np.random.default_rng(1)
    ids = [f"p{i}" for i in range(n)]
    columns = {"id": range(n), ODD: ids, "select": rng.integers(0, 120, n) / 2, "k": rng.choice(policy.groups, n)}
    people = pa.table({**columns, **{name: [0] * n for name in ("p", "i", "o", "v", "grp", "low", "c0", "origin")}})
    words = {"score": "select", "group": "k", "id": ODD}
    known = eo.decide(policy, people, **words, key=KEY)
    for title in ("evenodds_odds", ODD + "t"):
        table, where = place.made(people, title), place.with_pads(name="evenodds_draw")
        given = {"table": [table], "pads": where, "into": ODD + "odds", "draw": "from", "decision": "Where"}
        found = place.asked(eo.to_sql(policy, dialect=place.dialect, **words, **given))
        new = {"odds": ODD + "odds", "odds_review": ODD + "odds_review", "draw": "from", "decision": "Where"}
        assert list(found) == [*people.column_names, *new.values()]
        for ours, theirs in new.items():
            assert found[theirs] == known[ours].to_pylist()


def test_tables_in_schemas(place):
    people = pa.table({"id": [0], "r": [40.0], "g": ["white"]})
    table, schema = place.made(people), "sql schema.2"
    quoted = dialect_of(place.dialect).quoted
    if place.dialect == "spark":
        table, schema = place.made(people), "global_temp"
        place.say(f"CREATE OR REPLACE GLOBAL TEMPORARY VIEW `a.b` AS SELECT * FROM {table}")
    else:
        place.say(f"CREATE SCHEMA IF NOT EXISTS {quoted(schema)}")
        place.say(f"DROP TABLE IF EXISTS {quoted(schema, 'a.b')}")
        place.say(f"CREATE TABLE {quoted(schema, 'a.b')} AS SELECT * FROM {table}")
    odds = [POLICIES["linear"].odds(40, "white").item()]
    text = eo.to_sql(POLICIES["linear"], dialect=place.dialect, table=[schema, "a.b"], **WORDS)
    assert place.asked(text)["odds"] == odds
    main = {"duckdb": f"main.{table}", "postgres": f"public.{table}", "spark": table}[place.dialect]
    assert place.asked(eo.to_sql(POLICIES["linear"], dialect=place.dialect, table=main, **WORDS))["odds"] == odds


_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
_NAMES = st.lists(_TEXT.filter(bool), min_size=5, max_size=5, unique_by=str.lower)


@given(st.lists(_TEXT, min_size=8, max_size=8, unique=True), _NAMES)
def test_any_names_of_groups_and_columns_in_duckdb(groups, names):
    policy, connection = POLICIES["edges"], needed("duckdb").connect()
    curves = dict(zip(groups, policy.group_curves, strict=True))
    other = of_curves(POLICIES["linear"], curves)
    score, group, who, into, table = names
    people = pa.table({who: [f"{i}" for i in range(9)], score: [0.2] * 9, group: [*groups, "nobody, surely"]})
    connection.register("incoming", people)
    quoted = dialect_of("duckdb").quoted(table)
    connection.execute(f"CREATE OR REPLACE TABLE {quoted} AS SELECT * FROM incoming")
    inner, outer = pads(KEY)
    connection.register("evenodds_pads", pa.table({"i": [inner], "o": [outer]}))
    words = {"score": score, "group": group, "id": who}
    made = {"into": into, "draw": into + "u", "decision": into + "d"}
    try:
        text = eo.to_sql(other, dialect="duckdb", table=[table], **words, **made, kinds={group: "text"})
    except eo.OptionError as error:
        assert "has the name of another one" in str(error)  # noqa: PT017 names that are made may be there already
        return
    found = connection.sql(text)
    assert found.columns == [who, score, group, into, into + "u", into + "d"]
    known = [*(policy.odds(0.2, old).item() for old in policy.groups), None]
    drawn = eo.draw(list("012345678"), key=KEY).tolist()
    rows = zip("012345678", people[group].to_pylist(), known, drawn, strict=True)
    assert sorted(row[:5] for row in found.fetchall()) == [(i, 0.2, own, odds, u) for i, own, odds, u in rows]


# -- the text ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", POLICIES)
def test_sqlglots_own_parser_reads_every_text(dialect, name):
    words = {"table": "a.b", "score": ODD[:4] + "r", "group": ["g", "h"], "id": "who", "round": 'it\'s \\ "x" é\n'}
    policy = POLICIES[name]
    curves = {f"{group}, x": curve for group, curve in policy.curves.items()}
    policy = of_curves(policy, curves, policy.group_review_curves)
    text = eo.to_sql(policy, dialect=dialect, **words)
    (read,) = sqlglot.parse(text, read=dialect)
    assert isinstance(read, sqlglot.exp.Select)
    tables = {".".join(part.name for part in table.parts) for table in read.find_all(sqlglot.exp.Table)}
    assert {"a.b", "evenodds_pads", "evenodds_pieces", "evenodds_odds", "evenodds_draw"} <= tables
    written = {literal.name for literal in read.find_all(sqlglot.exp.Literal) if literal.is_string}
    numbers = {repr(float(c)) for curve in policy.group_curves for c in np.ravel(curve.pieces.coefficients)}
    assert numbers - {"-0.0"} <= written
    if dialect in ("snowflake", "bigquery"):
        assert {*policy.groups, f"evenodds/draw/v1|{words['round']}|"} <= written


@pytest.mark.parametrize("dialect", ["snowflake", "bigquery"])
@pytest.mark.parametrize("name", ALL)
def test_what_another_makes_of_the_text_for_engines_that_are_not_here(dialect, name, engines):
    """sqlglot translates it for DuckDB, which then gives the same odds; hashes it does not translate as it should."""
    policy, place = ALL[name], Place(engines, "duckdb")
    vectors = [one for one in VECTORS["odds"] if one["policy"] == name]
    scores = [float(one["score"]) for one in vectors] or [0.0, 0.2, -0.2, 5e-324, 0.7, 1e-310, math.nan, math.inf] * 9
    groups = [one["group"] for one in vectors] or [group for group in policy.groups for _ in range(8)]
    people = pa.table({"id": range(len(scores)), "r": scores, "g": groups})
    text = eo.to_sql(policy, dialect=dialect, table=place.made(people), **WORDS)
    (read,) = sqlglot.transpile(text, read=dialect, write="duckdb")
    odds = place.asked(read)["odds"]
    assert odds == eo.apply(policy, people, **WORDS, on_invalid="null")["odds"].to_pylist()


MEANINGS = {
    "snowflake": {
        "SHA2(m, bits)": "CASE WHEN bits = 256 THEN sha256(m) END",
        "SHA2_BINARY(m, bits)": "CASE WHEN bits = 256 THEN unhex(sha256(m)) END",
        "TO_BINARY(t, how)": "CASE WHEN how = 'UTF-8' THEN encode(t) END",
        "TO_NUMBER(t, how)": "CASE WHEN how = repeat('X', length(t)) THEN ('0x' || t)::UBIGINT END",
        "BITSHIFTRIGHT(n, k)": "n >> k",
    },
    "bigquery": {
        "SHA256(m)": "unhex(sha256(m))",
        "TO_HEX(b)": "lower(hex(b))",
        "CONCAT(a, b)": "a || b",
        "CAST_AS_BYTES(t)": "encode(t)",
    },
}


@pytest.mark.parametrize("dialect", MEANINGS)
def test_draws_of_engines_that_are_not_here_by_what_their_functions_are_said_to_do(dialect):
    """The formulas, with each function that DuckDB lacks, or means otherwise, written for it as documented."""
    connection = needed("duckdb").connect()
    formula = DRAWS[dialect].format(inner="i", outer="o", message="m")
    formula = formula.replace("CAST(m AS BYTES)", "CAST_AS_BYTES(m)").replace("FLOAT64", "DOUBLE")
    for signature, meaning in MEANINGS[dialect].items():
        name = signature[: signature.index("(")]
        assert f"{name}(" in formula
        connection.execute(f"CREATE MACRO own_{signature} AS {meaning}")
        formula = re.sub(rf"\b{name}\(", f"own_{name}(", formula)
    for one in VECTORS["draws"]:
        inner, outer = pads(one["key"])
        people = pa.table({"i": [inner], "o": [outer], "m": [f"evenodds/draw/v1|{one['round']}|{one['id']}"]})
        connection.register("people", people)
        assert connection.sql(f"SELECT {formula} FROM people").fetchall() == [(one["draw"],)]


WRONG = {
    "the other piece at breaks": lambda text: text.replace(">= k.low", "> k.low").replace("< k.high", "<= k.high"),
    "both pieces at breaks": lambda text: text.replace("< k.high", "<= k.high"),
    "no piece at breaks": lambda text: text.replace(">= k.low", "> k.low"),
    "divides": lambda text: text.replace(" * k.rate", " / (1 / k.rate)"),
    "single precision": lambda text: text.replace("AS DOUBLE) AS c1", "AS REAL) AS c1"),
    "decimals": lambda text: text.replace("CAST(rate AS DOUBLE)", "CAST(CAST(rate AS DECIMAL(38, 15)) AS DOUBLE)"),
    "infinite scores": lambda text: text.replace("-1.7976931348623157e+308", "-inf").replace("< k.high", "<= k.high"),
    "ignores case": lambda text: text.replace("COLLATE C = k.grp", "COLLATE NOCASE = k.grp"),
    "only people with odds": lambda text: text.replace("LEFT JOIN", "JOIN"),
    "another order": lambda text: text.replace(" - k.origin) * k.rate)", " * k.rate - k.origin * k.rate))"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_text_that_is_wrong_anywhere_is_noticed(wrong, engines):
    """The people of the tests above find each of these."""
    place, differs = Place(engines, "duckdb"), False
    for name in ("linear", "edges", "quartic"):
        policy = POLICIES[name]
        vectors = [one for one in VECTORS["odds"] if one["policy"] == name]
        people = {"id": range(len(vectors)), "r": [float(one["score"]) for one in vectors]}
        table = place.made(pa.table({**people, "g": [one["group"] for one in vectors]}))
        text = eo.to_sql(policy, dialect="duckdb", table=table, **WORDS)
        known = [one["odds"] for one in vectors]
        assert place.asked(text)["odds"] == known
        differs |= WRONG[wrong](text) != text and place.asked(WRONG[wrong](text))["odds"] != known
    assert differs


def test_nothing_of_a_name_leaves_a_comment_or_a_literal(engines):
    place = Place(engines, "duckdb")
    bad = "x\n; DROP TABLE sql_kept; --"
    place.made(pa.table({"id": [0]}), "sql_kept")
    curves = {f"{bad}' */ {quote}": POLICIES["linear"].curves["white"] for quote in ("'", '"', "\\")}
    policy = of_curves(POLICIES["linear"], curves)
    people = pa.table({"id": range(3), bad: [40.0] * 3, f"*/ {bad}": list(curves)})
    words = {"score": bad, "group": f"*/ {bad}", "into": f'"; {bad}', "kinds": {f"*/ {bad}": "text"}}
    text = eo.to_sql(policy, dialect="duckdb", table=[place.made(people)], **words)
    head = text[: text.index("WITH")].splitlines()
    assert all(line.startswith("-- ") for line in head)
    assert place.asked(text)[f'"; {bad}'] == [POLICIES["linear"].odds(40, "white").item()] * 3
    assert place.asked("SELECT * FROM sql_kept") == {"id": [0]}
    for dialect in DIALECTS:
        given = {**WORDS} if dialect == "bigquery" else words  # where no such names are
        text = eo.to_sql(policy, dialect=dialect, table="people", id="who", round=bad, **given)
        (read,) = sqlglot.parse(text, read=dialect)
        assert not list(read.find_all(sqlglot.exp.Drop))


def test_spark_finds_no_variables_to_replace():
    curves = {"${env:HOME}": POLICIES["linear"].curves["white"]}
    words = {"dialect": "spark", "table": "people", **WORDS, "id": "who", "round": "${user.name}"}
    assert "${" not in eo.to_sql(of_curves(POLICIES["linear"], curves), **words)


def test_the_text_says_whose_it_is_and_is_the_same_each_time():
    policy = POLICIES["negative, reviews"]
    words = {"table": "people", **WORDS, "id": "who", "round": "May\n-- x"}
    text = eo.to_sql(policy, dialect="postgresql", **words)
    head = text[: text.index("WITH")]
    names = "'odds', 'odds_review', 'draw', 'decision'"
    parts = ["PostgreSQL", "negative (a lower score speaks for a yes)", "'r'", "'g' (text)", "'who'", "'May\\n-- x'"]
    for part in (policy.document["fingerprint"], eo.__version__, names, *parts):
        assert part in head
    assert text == eo.to_sql(policy, dialect="postgres", **words)
    assert KEY not in text
    assert text.endswith("FROM evenodds_decision\n")
    assert "-0.0" not in head


# -- what is refused ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"dialect": "postgrse"}, r"Allowed: duckdb, postgres, spark, snowflake, bigquery\. Hint: did you mean 'po"),
        ({"dialect": "databricks"}, "dialect='databricks' is not known"),
        ({"dialect": None}, "dialect=None is not known"),
        ({"score": ""}, "score='' is not a name. Allowed: a string that is not empty"),
        ({"score": 7}, "score=7 is not a name"),
        ({"group": []}, "group names no column"),
        ({"group": ["g", ""]}, "group='' is not a name"),
        ({"id": ""}, "id='' is not a name"),
        ({"table": ""}, "table='' is not a name"),
        ({"table": "a..b"}, "table='' is not a name"),
        ({"table": "a.b.c.d"}, r"table='a.b.c.d' has 4 parts\. Allowed: a table, with or without a schema"),
        ({"table": None}, "table=None is not allowed. Allowed: a name, with dots between its parts"),
        ({"table": ()}, r"table=\(\) is not allowed"),
        ({"score": "a\0b"}, r"The name score='a\\x00b' has the character U\+0000"),
        ({"score": "a\ud800"}, r"The name score='a\\ud800' has half a character"),
        ({"into": "r"}, "The new column 'r' has the name of another one"),
        ({"into": "R"}, "The new column 'R' has the name of another one"),
        ({"id": "who", "draw": "who"}, "The new column 'who' has the name of another one"),
        ({"id": "who", "draw": "x", "decision": "X"}, "The new column 'X' has the name of another one"),
        ({"round": "May"}, "round is for draws, and these need an id"),
        ({"pads": "other"}, "pads is for draws, and these need an id"),
        ({"id": "who", "pads": ""}, "pads='' is not a name"),
        ({"id": "who", "round": "a|b"}, r"round='a\|b' is not allowed"),
        ({"id": "who", "round": 5}, "round=5 is not allowed"),
        ({"kinds": {"h": "text"}}, r"kinds names 'h', which is no group column\. Allowed: g"),
        ({"kinds": {"g": "bool"}}, r"kinds\['g'\]='bool' is not known\. Allowed: text, boolean, float\. Hint"),
        ({"kinds": {"g": "boolean"}}, "kinds says that 'g' holds boolean values, and none of the policy's groups"),
        ({"kinds": ["text"]}, r"kinds=\['text'\] is not allowed"),
        ({"group": ["g", "h"]}, "No group of the policy can be made of 2 columns. The policy knows: 'asian'"),
        ({"dialect": "bigquery", "score": "a`b"}, "cannot be written for BigQuery: BigQuery has no names with"),
        ({"dialect": "bigquery", "table": "a\\b"}, "cannot be written for BigQuery"),
        ({"dialect": "spark", "score": "${x}"}, "cannot be written for Spark: Spark puts the values of variables"),
        ({"dialect": "postgres", "into": "ö" * 32}, "is of 64 bytes, and PostgreSQL cuts names after 63"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for(wrong, told):
    words = {"dialect": "duckdb", "table": "people", **WORDS}
    with pytest.raises(eo.OptionError, match=told):
        eo.to_sql(POLICIES["linear"], **{**words, **wrong})


def test_groups_that_look_like_other_values_must_be_explained():
    curve, words = POLICIES["linear"].curves["white"], {"dialect": "duckdb", "table": "people", **WORDS}
    for groups, kind in ((["False", "True"], "boolean"), (["1.0", "2.5"], "float"), (["1e+16"], "float")):
        policy = of_curves(POLICIES["linear"], dict.fromkeys(groups, curve))
        with pytest.raises(eo.OptionError, match=rf"look like {kind} values.*kinds=\{{'g': '{kind}'\}}, or 'text'"):
            eo.to_sql(policy, **words)
        assert f"'g' ({kind})" in eo.to_sql(policy, **words, kinds={"g": kind})
        assert "'g' (text)" in eo.to_sql(policy, **words, kinds={"g": "text"})
    for groups in (["1", "2"], ["True", "Truly"], ["nan"], ["01.0"]):
        assert eo.to_sql(of_curves(POLICIES["linear"], dict.fromkeys(groups, curve)), **words)


@pytest.mark.parametrize("group", ["a\0b", "a\ud800"])
def test_groups_that_no_text_can_hold(group):
    policy = of_curves(POLICIES["linear"], dict.fromkeys(["x", group], POLICIES["linear"].curves["white"]))
    with pytest.raises(eo.OptionError, match=r"The group 'a\\.*Hint"):
        eo.to_sql(policy, dialect="duckdb", table="people", **WORDS)


def test_only_policies():
    with pytest.raises(eo.OptionError, match="The first argument must be a Policy, got dict"):
        eo.to_sql({}, dialect="duckdb", table="people", **WORDS)


def test_without_sqlglot_the_error_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "sqlglot"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(eo.MissingPackageError, match=r"pip install 'evenodds\[sql\]'"):
        eo.to_sql(POLICIES["linear"], dialect="duckdb", table="people", **WORDS)


@pytest.mark.parametrize("name", ["odds", "ODDS", "draw", "decision"])
def test_a_new_column_that_is_there_already_is_an_error_in_duckdb(name):
    """And not another name for the new one, beside which the old one would be read."""
    duckdb = needed("duckdb")
    policy = eo.fit(eo.datasets.credit_risk())
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE people AS SELECT 'a' AS who, 25.0 AS points, 'white' AS race, 0.0 AS {name}")
    connection.execute("CREATE TABLE evenodds_pads (i BLOB, o BLOB)")
    text = eo.to_sql(policy, dialect="duckdb", table="people", score="points", group="race", id="who")
    with pytest.raises(duckdb.BinderException, match="Ambiguous"):
        connection.execute(text)


def test_booleans_are_asked_about_whatever_other_values_hold():
    rng = np.random.default_rng(0)
    veteran = rng.choice([True, False], 400)
    city = rng.choice(["Paris, France", "Rome"], 400)
    label = rng.integers(0, 2, 400)
    joint = eo.JointDistribution.from_arrays(rng.normal(size=400) + label, [veteran, city], label)
    words = {"dialect": "duckdb", "table": "people", "score": "points", "group": ["veteran", "city"]}
    policy = eo.fit(joint)
    with pytest.raises(eo.OptionError, match="in 'veteran' look like boolean values"):
        eo.to_sql(policy, **words)
    assert "WHEN p.\"veteran\" THEN 'True'" in eo.to_sql(policy, kinds={"veteran": "boolean"}, **words)
