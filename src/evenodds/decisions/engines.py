"""Draws and places where the people are: in DuckDB, Spark and PostgreSQL, and by batches in polars and Dask.

An HMAC is two nested hashes, and every engine has SHA-256. What they need of the key, its two pads, tells the key. In
the text of a query it would stand in logs, and so would a parameter; a variable shows up in plans. So it travels as
data: a table of one row that is joined to the people, of which queries and plans name the columns only.

What cannot be seen before a query runs is not looked at: whether ids come twice, have spaces at their ends or U+0000,
and whether they are NFC-normalised. A missing or empty id has no draw and no decision.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from evenodds.decisions.draw import PREFIX, check_round, draw
from evenodds.decisions.formulas import DRAWS
from evenodds.decisions.keys import pads
from evenodds.errors import DataError
from evenodds.frames import Frame, is_missing, narwhals
from evenodds.geometry.pieces import Floats

__all__ = ["check_ids", "check_places", "fresh_name", "sum_of_odds", "with_draws", "with_places"]

_M = 2**53
_POSTGRES = DRAWS["postgres"].format(inner="$1", outer="$2", message="$3")
_DUCKDB = DRAWS["duckdb"].format(inner="i", outer="o", message="m")
# PostgreSQL would compute a draw anew wherever it is named, but leaves what it believes to change where it stands.
_FUNCTION = (
    "CREATE OR REPLACE FUNCTION pg_temp.evenodds_draw(bytea, bytea, text) RETURNS double precision "
    f"LANGUAGE sql VOLATILE PARALLEL SAFE AS $$ SELECT {_POSTGRES} $$"
)
_MACRO = f"CREATE OR REPLACE TEMP MACRO evenodds_draw(i, o, m) AS {_DUCKDB}"
_KINDS = {"inner": "bytea", "outer": "bytea", "start": "bigint"}  # in PostgreSQL


def check_ids(frame: Frame, name: str) -> None:
    """Refuse a column of ids that each engine would write in its own way."""
    nw = narwhals()
    kind = frame.collect_schema()[name]
    objects = kind == nw.Object and frame.implementation.is_dask()
    if not (kind.is_integer() or objects or kind in (nw.String, nw.Categorical, nw.Enum)):
        msg = (
            f"The id column {name!r} holds {kind}, which engines write in different ways. "
            "Allowed: strings and whole numbers. Hint: make strings of the ids."
        )
        raise DataError(msg)


def check_places(frame: Frame) -> None:
    """Refuse to hand out places in an engine that has no exact sums in an order."""
    if not (frame.implementation.is_duckdb() or frame.implementation.is_ibis()):
        msg = (
            f"places= needs the whole cohort in memory, DuckDB or PostgreSQL, got {type(frame.to_native()).__name__}. "
            "Hint: collect it."
        )
        raise DataError(msg)


def with_draws(frame: Frame, *, id: str, key: str, round: str) -> Any:  # noqa: A002 the words for them
    """A lazy frame with a column of draws more, as a frame of its own library."""
    message, (inner, outer) = f"{PREFIX}{check_round(round)}|", pads(key)
    native, engine = frame.to_native(), frame.implementation
    if engine.is_duckdb():

        def query(people: str, row: str) -> str:
            who = f"{_quoted(message)} || {_text(f'{people}.{_named(id)}')}"
            value = DRAWS["duckdb"].format(inner=f"{row}.inner", outer=f"{row}.outer", message=who)
            return f"SELECT {people}.*, {value} AS draw FROM {people} CROSS JOIN {row}"  # noqa: S608 all are quoted

        return _queried(native, query, inner=inner, outer=outer)
    if engine.is_ibis():
        return _drawn_by_ibis(native, id, message, inner=inner, outer=outer)
    if engine.is_pyspark() or engine.is_pyspark_connect():
        return _drawn_by_spark(native, id, message, inner, outer)
    if engine.is_polars():
        return _drawn_by_polars(native, id, _Draws(key, round))
    if engine.is_dask():
        kinds = native._meta.assign(draw=np.zeros(0))  # noqa: SLF001 Dask's own word for an empty frame of its kinds
        return native.map_partitions(_part_with_draws, id, _Draws(key, round), meta=kinds)
    msg = (
        f"decide takes frames in memory, DuckDB, PySpark, Dask, lazy polars and Ibis tables, got "
        f"{type(native).__name__}. Hint: collect it, or decide in batches."
    )
    raise DataError(msg)


# -- DuckDB ------------------------------------------------------------------------------------------------------------


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _named(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(column: str) -> str:
    """An id as text; an empty one is missing."""
    return f"nullif({column}::VARCHAR, '')"


def _queried(relation: Any, query: Callable[[str, str], str], **secret: bytes | int) -> Any:
    """A query over the people and the one row that holds what is secret, told the names of both.

    A relation does not tell its connection, so the row is not registered: DuckDB finds it by its name among our own,
    and keeps it for as long as the relation lives.
    """
    people, row = fresh_name("people"), fresh_name("row")
    for setting in ("python_enable_replacements", "enable_external_access"):
        if relation.query(people, f"SELECT current_setting('{setting}')").fetchall() == [(False,)]:
            msg = (
                f"The relation's connection has {setting} off, and DuckDB then takes no data from Python by name, "
                "in which way the key travels. "
                f"Hint: SET {setting} = true, where that is allowed, or decide for an Ibis table."
            )
            raise DataError(msg)
    globals()[row] = _arrow(secret)
    try:
        return relation.query(people, query(people, row))
    finally:
        del globals()[row]


def fresh_name(what: str) -> str:
    """A name that nobody has."""
    return f"evenodds_{what}_{secrets.token_hex(8)}"


def _arrow(secret: dict[str, bytes | int]) -> Any:
    return import_module("pyarrow").table({name: [value] for name, value in secret.items()})


# -- Spark -------------------------------------------------------------------------------------------------------------


def _drawn_by_spark(people: Any, name: str, message: str, inner: bytes, outer: bytes) -> Any:
    f = import_module("pyspark.sql.functions")
    first, second = fresh_name("inner"), fresh_name("outer")
    row = people.sparkSession.createDataFrame([(inner, outer)], f"{first} binary, {second} binary")
    who = f.col(f"`{name.replace('`', '``')}`").cast("string")
    text = f.encode(f.concat(f.lit(message), f.when(who != "", who)), "UTF-8")
    within = f.unhex(f.sha2(f.concat(f.col(first), text), 256))
    digits = f.substring(f.sha2(f.concat(f.col(second), within), 256), 1, 14)
    whole = f.shiftright(f.conv(digits, 16, 10).cast("bigint"), 3)
    joined = people.crossJoin(f.broadcast(row))
    return joined.withColumn("draw", whole.cast("double") / f.lit(_M).cast("double")).drop(first, second)


# -- Ibis: DuckDB and PostgreSQL ---------------------------------------------------------------------------------------


def _drawn_by_ibis(people: Any, name: str, message: str, **secret: bytes) -> Any:
    ibis = import_module("ibis")
    joined, names = _joined(people, secret)
    code, _ = _functions(_backend_of(people).name)
    text = ibis.literal(message) + joined[name].cast("string").nullif("")
    return joined.mutate(draw=code(joined[names["inner"]], joined[names["outer"]], text)).drop(*names.values())


def _backend_of(people: Any) -> Any:
    backend = people.get_backend()
    if backend.name not in ("duckdb", "postgres"):
        msg = f"decide takes Ibis tables on DuckDB and PostgreSQL, got one on {backend.name}. Hint: collect it."
        raise DataError(msg)
    return backend


def _joined(people: Any, secret: dict[str, Any]) -> tuple[Any, dict[str, str]]:
    """The people beside the one row that holds what is secret, and the names of its columns."""
    backend, row = _backend_of(people), fresh_name("row")
    names = {name: fresh_name(name) for name in secret}
    if backend.name == "duckdb":
        backend.con.register(row, _arrow({names[name]: value for name, value in secret.items()}))
        backend.con.execute(_MACRO)
    else:
        columns = ", ".join(f"{names[name]} {_KINDS[name]}" for name in secret)
        try:
            with backend.con.cursor() as cursor, backend.con.transaction():
                cursor.execute(f"CREATE TEMP TABLE {row} ({columns})")
                with cursor.copy(f"COPY {row} FROM STDIN (FORMAT BINARY)") as copied:  # not told to the log
                    copied.set_types([_KINDS[name] for name in secret])
                    copied.write_row(tuple(secret.values()))
                cursor.execute(_FUNCTION)
        except import_module("psycopg").Error as reason:
            msg = (
                f"PostgreSQL makes no temporary table, in which the key travels: {str(reason).splitlines()[0]}. "
                "Hint: a session that may write temporary tables and functions, or collect the people."
            )
            raise DataError(msg) from None
    return people.cross_join(backend.table(row)), names


@cache
def _functions(backend: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """What the engine has, as Ibis calls it: the draw of pads and a message, and the bytes of a text."""
    builtin = import_module("ibis").udf.scalar.builtin

    def code(inner: bytes, outer: bytes, message: str) -> float:
        raise NotImplementedError

    def encode(text: str) -> bytes:
        raise NotImplementedError

    def convert_to(text: str, encoding: str) -> bytes:
        raise NotImplementedError

    if backend == "duckdb":
        return builtin(code, name="evenodds_draw"), builtin(encode)
    converted = builtin(convert_to)
    return builtin(code, name="evenodds_draw", database="pg_temp"), lambda text: converted(text, "UTF8")


# -- polars and Dask ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Draws:
    """Draws some rows at a time; a plan that shows it does not show the key."""

    key: str = field(repr=False)
    round: str

    def __call__(self, ids: Sequence[object]) -> Floats:
        """NaN for a missing or empty id."""
        held = np.array([not is_missing(one) and one != "" for one in ids], dtype=bool)
        draws = np.full(len(ids), np.nan)
        draws[held] = draw([one for one, kept in zip(ids, held.tolist(), strict=True) if kept], **vars(self))
        return draws


def _drawn_by_polars(people: Any, name: str, draws: _Draws) -> Any:
    polars = import_module("polars")
    who = polars.col(name)
    if not people.collect_schema()[name].is_integer():
        who = who.cast(polars.String)

    def batch(ids: Any) -> Any:
        return polars.Series(draws(ids.to_list())).fill_nan(None)

    return people.with_columns(who.map_batches(batch, return_dtype=polars.Float64, is_elementwise=True).alias("draw"))


def _part_with_draws(part: Any, name: str, draws: _Draws) -> Any:
    return part.assign(draw=draws(part[name].tolist()))


# -- places ------------------------------------------------------------------------------------------------------------


def sum_of_odds(frame: Frame, id: str) -> tuple[float, int]:  # noqa: A002 the word for it
    """What the odds of everybody with an id sum to, and how many these are; this asks the engine."""
    native = frame.to_native()
    if frame.implementation.is_duckdb():
        stretches = f"floor(odds * {_M}::DOUBLE)::HUGEINT"
        held = native.filter(f"{_text(_named(id))} IS NOT NULL AND odds IS NOT NULL")
        ((total, people),) = held.aggregate(f"coalesce(sum({stretches}), 0)::VARCHAR, count(*)").fetchall()
    else:
        held = native.select(stretch=_stretch(native, id))
        sums = held.aggregate(total=held.stretch.sum().cast("string"), people=held.stretch.count())
        (row,) = sums.to_pyarrow().to_pylist()
        total, people = row["total"] or 0, row["people"]
    return int(total) / _M, int(people)


def with_places(frame: Frame, order: Sequence[str], *, id: str, start: int) -> Any:  # noqa: A002 the word for it
    """A frame with a column of decisions in place of those columns that order people, with ids after them.

    As `places.marked`, with whole numbers that do not wrap around: HUGEINT in DuckDB, numeric in PostgreSQL.
    """
    native = frame.to_native()
    if frame.implementation.is_duckdb():
        by = ", ".join([*map(_named, order), f"encode({_text(_named(id))})"])
        stretch, after, mark = fresh_name("stretch"), fresh_name("after"), fresh_name("start")
        helpers = ", ".join([*map(_named, order), stretch, after, mark])

        def query(people: str, row: str) -> str:  # of which names are quoted, and all else is ours
            who = _text(f"{people}.{_named(id)}")
            return (
                f"SELECT * EXCLUDE ({helpers}), CASE WHEN {stretch} IS NOT NULL THEN "  # noqa: S608
                f"(({after} - {stretch} - {mark} + {_M}) % {_M} + {stretch} >= {_M})::BIGINT END AS decision FROM ("
                f"SELECT *, sum({stretch}) OVER (ORDER BY {by} ROWS UNBOUNDED PRECEDING) AS {after} "
                f"FROM (SELECT {people}.*, {row}.start::HUGEINT AS {mark}, CASE WHEN {who} IS NOT NULL THEN "
                f"floor(odds * {_M}::DOUBLE)::HUGEINT END AS {stretch} FROM {people} CROSS JOIN {row}))"
            )

        return _queried(native, query, start=start)
    return _with_places_by_ibis(native, order, id, start)


def _stretch(people: Any, name: str) -> Any:
    ibis = import_module("ibis")
    whole = (people["odds"] * ibis.literal(_M).cast("float64")).floor().cast("int64")
    return people[name].cast("string").nullif("").notnull().ifelse(whole, ibis.null("int64"))


def _with_places_by_ibis(people: Any, order: Sequence[str], name: str, start: int) -> Any:
    """Ibis believes in sums of 64 bits, and writes none into its SQL: both engines make larger numbers of them."""
    ibis = import_module("ibis")
    joined, names = _joined(people, {"start": start})
    _, bytes_of = _functions(_backend_of(people).name)
    stretch, after, place = fresh_name("stretch"), fresh_name("after"), fresh_name("place")
    table = joined.mutate(**{stretch: _stretch(joined, name), place: bytes_of(joined[name].cast("string"))})
    window = ibis.cumulative_window(order_by=[*order, place])
    table = table.mutate(**{after: table[stretch].sum().over(window)})
    held, full = table[stretch], ibis.literal(_M)
    marked = ((table[after] - held - table[names["start"]] + full) % full + held) >= full
    decision = held.notnull().ifelse(marked.ifelse(1, 0).cast("int64"), ibis.null("int64"))
    return table.mutate(decision=decision).drop(*order, *names.values(), stretch, after, place)
