"""A CSV of other people's making: line breaks and quotes wherever they may be."""

from __future__ import annotations

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from evenodds.fronts.cli import files

COLUMNS = ["--score", "points", "--group", "race"]
PEOPLE = [*COLUMNS, "--label", "repaid"]
BLOCK = 1 << 22  # bytes that are read at a time

PARTS = ["a", '"', "\n", "\r\n", "\r", ",", "é", " "]


def quoted(cell):
    return '"' + cell.replace('"', '""') + '"'


cells = st.lists(st.sampled_from(PARTS), max_size=6).map("".join).map(lambda cell: (cell, quoted(cell)))
# Whoever does not quote may have quotes that stand for themselves, but not at the start of a cell.
bare = st.lists(st.sampled_from(["a", '"', "é", " "]), max_size=5).map(lambda parts: ("x" + "".join(parts),) * 2)


@given(
    rows=st.lists(st.tuples(*(3 * [cells | bare])), min_size=1, max_size=12),
    ends=st.sampled_from(["\n", "\r\n"]),
    closed=st.booleans(),
    block=st.integers(50, 200),
)
def test_every_row_is_read_wherever_a_block_ends(tmp_path_factory, rows, ends, closed, block):
    """Line breaks, quotes and delimiters within quotes; each row has no more than 48 bytes."""
    file = tmp_path_factory.mktemp("csv") / "rows.csv"
    lines = ["x,y,z", *(",".join(written for _, written in row) for row in rows)]
    file.write_bytes((ends.join(lines) + ends * closed).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_BLOCK", block)
        tables = list(files.Source.of(str(file), None, None).batches(["x"]))
    found = [tuple(row.values()) for table in tables for row in table.to_pylist()]
    assert found == [tuple(cell for cell, _ in row) for row in rows]


def people_around(place, line_break):
    """50,001 people, one of whom has a note with a line break at this place of the rows."""
    rows = [
        f"{50 + i % 7 + 3 * (i % 2)},{'white' if i % 3 else 'black'},{i % 2},p{i:05}{'x' * 80}\n" for i in range(50_000)
    ]
    before = place // len(rows[0])
    begun = f'60,white,1,"{"y" * 30}'
    filler = place - len(rows[0]) * before - len(begun)
    if filler < 0:
        before, filler = before - 1, filler + len(rows[0])
    text = "".join([*rows[:before], begun, "y" * filler, line_break, '70,white,0,z"\n', *rows[before:]])
    assert text[place:].startswith(line_break)
    return "points,race,repaid,note\n" + text


# The names are read first, so that blocks begin after them.
@pytest.mark.parametrize(("place", "line_break"), [(-1, "\n"), (0, "\n"), (-2, "\r\n"), (-1, "\r\n"), (0, "\r\n")])
@pytest.mark.usefixtures("policy")
def test_a_quoted_line_break_at_the_end_of_a_block_makes_nobody(run, tmp_path, place, line_break):
    text = people_around(BLOCK + place, line_break)
    (tmp_path / "new.csv").write_bytes(text.encode())
    (tmp_path / "key.txt").write_text("ab" * 32)
    run("apply", "policy.json", "new.csv", *COLUMNS, "-o", "odds.csv")
    decide = ["decide", "policy.json", "-", *COLUMNS, "--id", "note", "--key-file", "key.txt"]
    decided = run(*decide, stdin=text.encode())
    known = rows_of(text)
    assert len(known) == 50_001
    for found in ((tmp_path / "odds.csv").read_bytes().decode(), decided):
        assert [[row[name] for name in known[0]] for row in rows_of(found)] == [list(row.values()) for row in known]


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_fit_and_an_audit_count_everybody_once(run, policy, tmp_path):
    text = people_around(BLOCK - 1, "\n")
    (tmp_path / "new.csv").write_bytes(text.encode())
    known = rows_of(text)
    joint = eo.JointDistribution.from_arrays(
        [float(row["points"]) for row in known],
        [row["race"] for row in known],
        [int(row["repaid"]) for row in known],
    )
    assert joint.total == 50_001
    fitted = json.loads(run("fit", "new.csv", *PEOPLE, "--json"))
    assert fitted["fingerprint"] == eo.fit(joint).document["fingerprint"]
    audited = json.loads(run("audit", "policy.json", "new.csv", *PEOPLE, "--json"))
    assert audited["figures"] == eo.audit(policy, joint).rows()


@pytest.mark.parametrize("name", ["na\nme", 'na\r\n"me"', "\n"])
@pytest.mark.usefixtures("policy")
def test_a_line_break_in_the_names_of_columns(run, tmp_path, name):
    text = f"points,{quoted(name)},race\r\n50,one,white\r\n60,two,black\r\n"
    (tmp_path / "new.csv").write_bytes(text.encode())
    rows = rows_of(run("apply", "policy.json", "new.csv", *COLUMNS))
    assert [row[name] for row in rows] == ["one", "two"]
    (tmp_path / "key.txt").write_text("ab" * 32)
    words = ["decide", "policy.json", "new.csv", *COLUMNS, "--id", name, "--key-file", "key.txt"]
    assert [float(row["draw"]) for row in rows_of(run(*words))] == eo.draw(["one", "two"], key="ab" * 32).tolist()


@pytest.mark.parametrize("blank", ["\n", "\r\n", "\n \n\n", "\ufeff\n", "\n\ufeff"])
@pytest.mark.usefixtures("policy")
def test_blank_lines_before_the_names_are_passed_over(run, tmp_path, blank):
    (tmp_path / "new.csv").write_bytes(f"{blank}points,race\n50,white\n".encode())
    assert len(rows_of(run("apply", "policy.json", "new.csv", *COLUMNS))) == 1
    (tmp_path / "bad.csv").write_bytes(f"{blank}points,race\n50,white\nmany,white\n".encode())
    told = run("apply", "policy.json", "bad.csv", *COLUMNS, exit_code=2)
    assert told == "evenodds: bad.csv, row 2: 'many' in column 'points' is not a number.\n"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("\n\n  \n", "new.csv has nothing but blank lines."),
        ('points,"race\n50,white\n60,black\n', "opened among the names of the columns, and never closed."),
        (
            'points,"race\n' + "50,white\n" * 20_000,
            "is longer than 131072 characters. Hint: is a quotation mark left open?",
        ),
        ('points,race\n5,"w\n' + "5,w\n" * 3_000_000, "longer than 4 MiB. Hint: is a quotation mark left open?"),
        ('points,race,x\n5,white,\n6,white,"a\n7,black,b\n', "a quotation mark is opened in row 2, and never closed."),
        ('points,race,x\n5,white,"a""', "a quotation mark is opened in row 1, and never closed."),
        (
            'points,x,race\n5,a,white\n6,"b,white\n',
            "row 2 has 2 columns, and 3 are expected. Hint: is a quotation mark left open?",
        ),
        ("points,race\n" + "50,white\n" * 700_000 + "60\n", "row 700001 has 1 column, and 2 are expected."),
        (
            "points,race\n" + "50,white\n" * 700_000 + "60\n" + "50,white\n" * 900_000,
            "row 700001 has 1 column, and 2 are expected.",
        ),
        ("points,race\n\n\n", "new.csv has columns, and no rows."),
        ("points,race\r50,white\r", "in a carriage return alone. Hint: save it with those of Unix or Windows."),
        (("x" * 100 + ",") * 50_000 + "points,race\n", "its first line is longer than 4 MiB."),
        ("points,race\n50,white\n".encode("utf-16"), "it is not UTF-8 text. Hint: save it as UTF-8."),
    ],
    ids=[
        "blank", "open name", "long name", "open quote", "open at the end", "open cell", "open within",
        "few at the end", "few in the middle", "no rows", "returns", "long line", "UTF-16",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("policy")
def test_what_is_wrong_with_a_csv_is_said_precisely(run, tmp_path, file, expected):
    (tmp_path / "new.csv").write_bytes(file if isinstance(file, bytes) else file.encode())
    told = run("apply", "policy.json", "new.csv", *COLUMNS, "-o", "odds.csv", exit_code=2)
    assert told.startswith("evenodds: new.csv ")
    assert told.endswith(f"{expected}\n")
    assert len(told.splitlines()) == 1
    assert {file.name for file in tmp_path.glob("*odds*")} == set()


SURROGATE = b"Zo\xed\xa0\x80e"  # half a character, which some programs write


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("column", ["name", "race"])
@pytest.mark.usefixtures("policy")
def test_text_that_is_not_utf_8_is_named_with_its_row(run, tmp_path, ending, column):
    columns = {"name": [b"a", b"b", b"c"], "points": [b"50"] * 3, "race": [b"white"] * 3}
    columns[column][1] = SURROGATE
    table = pa.table({name: pa.array(values, pa.binary()).view(pa.string()) for name, values in columns.items()})
    if ending == "csv":
        lines = [b"name,points,race", *(b",".join(row) for row in zip(*columns.values(), strict=True))]
        (tmp_path / "new.csv").write_bytes(b"\n".join(lines))
    elif ending == "parquet":
        pa.parquet.write_table(table, tmp_path / "new.parquet")
    else:
        with pa.ipc.new_file(tmp_path / "new.arrow", table.schema) as file:
            file.write_table(table)
    (tmp_path / "key.txt").write_text("ab" * 32)
    (tmp_path / "key.txt").chmod(0o600)
    words = [f"new.{ending}", *COLUMNS, "--id", "name", "--key-file", "key.txt", "-o", "out.csv"]
    told = run("decide", "policy.json", *words, exit_code=2)
    assert told == (
        f"evenodds: new.{ending}, row 2: 'Zo\\xed\\xa0\\x80e' in column {column!r} is not UTF-8 text. "
        "Hint: save the file as UTF-8.\n"
    )
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.usefixtures("policy")
def test_nothing_is_printed_of_a_block_that_has_a_wrong_row(run, tmp_path):
    (tmp_path / "new.csv").write_text("points,race\n50,white\n60\n")
    told = run("apply", "policy.json", "new.csv", *COLUMNS, exit_code=2)
    assert told == "evenodds: new.csv cannot be read as csv: row 2 has 1 column, and 2 are expected.\n"
