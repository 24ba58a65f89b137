"""Bad input, command by command: one line that says what is wrong, exit code 2, and nothing else anywhere.

The cases run in this process, by the module that `python -m evenodds` runs, so that there can be many of them; a
sample also runs in processes of its own, and must end alike.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import evenodds as eo
from evenodds.fronts.cli import commands
from evenodds.model.storage import fingerprint

KEY = "ab" * 32
COLUMNS = "--score points --group race"
PEOPLE = f"{COLUMNS} --label repaid"
DRAWN = f"{COLUMNS} --id name --key-file key.txt"

FIT = f"fit past.csv {PEOPLE}"
FRONTIER = f"frontier past.csv {PEOPLE}"
AUDIT = f"audit policy.json past.csv {PEOPLE}"
BEHIND = f"audit past.csv {PEOPLE} --threshold"
DECIDED = "audit past.csv --group race --label repaid --decision repaid"
IMPACT = "audit past.csv --group race --decision weight --format ll144"
UPDATE = f"update policy.json past.csv {PEOPLE} --max-change"
REPORT = f"report policy.json past.csv {PEOPLE}"
APPLY = f"apply policy.json past.csv {COLUMNS}"
DECIDE = f"decide policy.json past.csv {DRAWN}"
VERIFY = f"verify decided.csv --policy policy.json {DRAWN}"
EXPLAIN = "explain policy.json --score 50 --group white"
SQL = f"sql policy.json --dialect duckdb --table people {COLUMNS}"

# -- the folder that every case finds, and leaves as it was ------------------------------------------------------------


def people():
    """Of two groups, whose scores say something about the outcome, and not all."""
    return [
        {
            "name": f"p{i}",
            "points": str(40 + 7 * i % 31 + 9 * (i // 2 % 2)),
            "race": ("white", "black")[i % 2],
            "sex": ("f", "m")[i // 4 % 2],
            "repaid": str(i // 2 % 2),
            "weight": "1",
            "word": "well",
        }
        for i in range(240)
    ]


def table(change=lambda *_: None):
    """The people as CSV, after a change of each."""
    rows = people()
    for number, person in enumerate(rows, 1):
        change(person, number)
    return "\n".join(",".join(line) for line in [list(rows[0]), *(one.values() for one in rows)]) + "\n"


def cell(row, column, value):
    return table(lambda person, number: person.update({column: value}) if number == row else None)


def each(column, value):
    return table(lambda person, _: person.update({column: value(person)}))


def texts():
    """The CSV files."""
    plain = table()
    head, first, *rest = plain.splitlines(keepends=True)
    return {
        "past.csv": plain,
        "empty.csv": "",
        "blank.csv": "\n\n",
        "header.csv": head,
        "single.csv": "points\n1\n2\n",
        "semicolons.csv": plain.replace(",", ";"),
        "twice.csv": plain.replace("sex", "race", 1),
        "short row.csv": "".join([head, first, "p1,50,white\n", *rest]),
        "long row.csv": "".join([head, first, first.rstrip() + ",1\n", *rest]),
        "open quote.csv": cell(3, "word", '"well'),
        "open name.csv": plain.replace("word", '"word', 1),
        "returns.csv": plain.replace("\n", "\r"),
        "plain.dat": plain,
        "packed.csv.gz": plain,
        "text score.csv": cell(5, "points", "fifty"),
        "no score.csv": cell(6, "points", ""),
        "nan score.csv": cell(7, "points", "nan"),
        "inf score.csv": cell(8, "points", "inf"),
        "no group.csv": cell(9, "race", ""),
        "space group.csv": cell(9, "race", "  "),
        "no label.csv": cell(10, "repaid", ""),
        "label 2.csv": cell(11, "repaid", "2"),
        "label half.csv": cell(11, "repaid", "0.5"),
        "label words.csv": each("repaid", lambda one: ("no", "yes")[int(one["repaid"])]),
        "all yes.csv": each("repaid", lambda _: "1"),
        "all no.csv": each("repaid", lambda _: "0"),
        "one sided.csv": each("repaid", lambda one: "1" if one["race"] == "black" else one["repaid"]),
        "one group.csv": each("race", lambda _: "white"),
        "one score.csv": each("points", lambda _: "50"),
        "backwards.csv": each("points", lambda one: str(100 - 50 * int(one["repaid"]))),
        "green.csv": cell(12, "race", "green"),
        "all green.csv": each("race", lambda _: "green"),
        "own group.csv": each("race", lambda one: one["name"] + ".5"),
        "weight text.csv": cell(13, "weight", "heavy"),
        "weight negative.csv": cell(13, "weight", "-1"),
        "weight none.csv": cell(13, "weight", ""),
        "weight inf.csv": cell(13, "weight", "inf"),
        "weight nan.csv": cell(13, "weight", "nan"),
        "weight zeros.csv": each("weight", lambda _: "0"),
        "weight group zeros.csv": each("weight", lambda one: "0" if one["race"] == "white" else "1"),
        "no id.csv": cell(14, "name", ""),
        "doubled id.csv": cell(15, "name", "p1"),
        "spaced id.csv": cell(16, "name", " p15"),
        "unnormal id.csv": cell(17, "name", "Ange\u0301le"),
        "zero id.csv": cell(18, "name", "p\0"),
        "has odds.csv": plain.replace("word", "odds", 1),
        "has draw.csv": plain.replace("word", "draw", 1),
        "word decision.csv": plain.replace("word", "decision", 1),
        "all lacking.csv": each("points", lambda _: ""),
    }


def keys():
    return {
        "key.txt": KEY,
        "upper.txt": KEY.upper(),
        "cut.txt": KEY[:-1],
        "long.txt": KEY + "a",
        "other.txt": "xy" * 32,
        "nothing.txt": "",
        "marked.txt": "\ufeff" + KEY,
        "two.txt": f"{KEY}\n{KEY}\n",
        "accent.txt": KEY[:-1] + "é",
    }


def policies(text):
    """What may be wrong with a policy file."""
    document = json.loads(text)
    return {
        "cut.json": text[: len(text) // 2],
        "empty.json": "",
        "words.json": "no policy",
        "list.json": "[1, 2]",
        "another.json": '{"format": "geojson", "version": 1}',
        "number.json": "7",
        "changed.json": text.replace('"p": 0.', '"p": 0.1', 1),
        "newer.json": text.replace('"version": 4', '"version": 5'),
        "text version.json": text.replace('"version": 4', '"version": "4"'),
        "nan.json": text.replace('"tolerance": 0.0', '"tolerance": NaN'),
        "no curves.json": refingered({name: part for name, part in document.items() if name != "curves"}),
        "no certificate.json": refingered({**document, "certificate": {}}),
        "no groups.json": refingered({**document, "curves": []}),
    }


def refingered(document):
    """As somebody writes it who knows how fingerprints are made."""
    return json.dumps({**document, "fingerprint": fingerprint(document)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a file for everything that can be wrong with one."""
    place = tmp_path_factory.mktemp("folder")
    for name, text in {**texts(), **keys()}.items():
        (place / name).write_text(text, encoding="utf-8", newline="")
        (place / name).chmod(0o600)
    made = pa.csv.read_csv(place / "past.csv")
    joint = eo.JointDistribution.from_frame(made, score="points", group="race", label="repaid")
    policy = eo.fit(joint)
    policy.save(place / "policy.json")
    review = eo.Review(capacity=0.1, tpr=0.9, fpr=0.1)
    eo.fit(joint, review=review).save(place / "reviews.json")
    two = eo.JointDistribution.from_frame(made, score="points", group=["race", "sex"], label="repaid")
    eo.fit(two).save(place / "two columns.json")
    for name, text in policies((place / "policy.json").read_text()).items():
        (place / name).write_text(text)
    asked = {"score": "points", "group": "race", "id": "name", "key": KEY}
    decided = eo.decide(policy, made, **asked)
    pa.csv.write_csv(decided, place / "decided.csv")
    pa.csv.write_csv(eo.decide(policy, made, **asked, places=True), place / "placed.csv")
    perhaps = pa.array(["perhaps"] * made.num_rows)
    at = decided.column_names.index("decision")
    pa.csv.write_csv(decided.set_column(at, "decision", perhaps), place / "perhaps.csv")
    for name, row, column, value in (
        ("odds text.csv", 3, "odds", "high"),
        ("green decided.csv", 4, "race", "green"),
        ("decision 2.csv", 5, "decision", 2),
    ):
        rows = decided.to_pylist()
        rows[row][column] = value
        as_text = pa.table({key: [str(one[key]) for one in rows] for key in rows[0]})
        pa.csv.write_csv(as_text, place / name)
    pa.parquet.write_table(made, place / "past.parquet")
    whole = (place / "past.parquet").read_bytes()
    (place / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (place / "empty.parquet").write_bytes(b"")
    (place / "text.parquet").write_text(table())
    (place / "text.arrow").write_text(table())
    with pa.ipc.new_file(place / "past.arrow", made.schema) as file:
        file.write_table(made)
    (place / "cut.arrow").write_bytes((place / "past.arrow").read_bytes()[:900])
    pa.parquet.write_table(made.slice(0, 0), place / "header.parquet")
    nested = made.set_column(1, "points", pa.array([[1.0]] * made.num_rows))
    pa.parquet.write_table(nested, place / "nested.parquet")
    days = pa.array(range(made.num_rows), pa.timestamp("ms"))
    pa.parquet.write_table(made.set_column(made.column_names.index("repaid"), "repaid", days), place / "days.parquet")
    (place / "binary.csv").write_bytes(bytes(range(128, 256)) * 4)
    (place / "zeros.csv").write_bytes(bytes(64))
    (place / "latin.csv").write_bytes(table().replace("well", "gut\u00e4", 1).encode("latin-1"))
    (place / "latin group.csv").write_bytes(cell(4, "race", "ros\u00e9").encode("latin-1"))
    (place / "utf16.csv").write_bytes(table().encode("utf-16"))
    (place / "binary.json").write_bytes(bytes(range(128, 256)))
    (place / "utf16.txt").write_bytes(KEY.encode("utf-16"))
    (place / "full").mkdir()
    (place / "full" / "kept.txt").write_text("kept")
    (place / "folder.csv").mkdir()
    (place / "dangling.csv").symlink_to("nowhere.csv")
    (place / "loop.csv").symlink_to("loop.csv")
    return place


def contents(folder):
    """Every file with its bytes, every folder, every link with its end."""
    return {
        str(one.relative_to(folder)): one.readlink() if one.is_symlink() else one.is_file() and one.read_bytes()
        for one in folder.rglob("*")
    }


@pytest.fixture(scope="module")
def last(folder):
    """What the last case left."""
    return [contents(folder)]


@pytest.fixture
def ended(folder, last, command_line, monkeypatch):
    """How the command line ends, which leaves every file as it was."""

    def call(line, stdin=b""):
        monkeypatch.chdir(folder)
        ended = command_line(*_with_one_group(shlex.split(line)), stdin=stdin)
        before, last[0] = last[0], contents(folder)
        assert last[0] == before
        return ended.code, ended.printed, ended.told

    return call


def _with_one_group(words):
    """The words of a call with the last --group alone: cases add to calls that have one, and two are refused."""
    places = [i for i, word in enumerate(words) if word == "--group"]
    return [word for i, word in enumerate(words) if not any(i in (at, at + 1) for at in places[:-1])]


def check(ended, expected):
    code, printed, told = ended
    assert (code, printed) == (2, ""), told
    assert told.startswith("evenodds: ")
    assert told.endswith("\n")
    assert len(told.splitlines()) == 1
    assert "Traceback" not in told
    assert expected in told


# -- files of people ---------------------------------------------------------------------------------------------------

READERS = {
    "fit": f"fit {{}} {PEOPLE}",
    "frontier": f"frontier {{}} {PEOPLE}",
    "audit": f"audit policy.json {{}} {PEOPLE}",
    "update": f"update policy.json {{}} {PEOPLE} --max-change 0.1",
    "report": f"report policy.json {{}} {PEOPLE}",
    "apply": f"apply policy.json {{}} {COLUMNS}",
    "decide": f"decide policy.json {{}} {DRAWN}",
    "verify": f"verify {{}} --policy policy.json {DRAWN}",
}
NO_FILES = [  # whoever reads them
    ("nowhere.csv", "There is no file nowhere.csv."),
    ("nowhere/past.csv", "There is no file nowhere/past.csv."),
    ("past.csv/past.csv", "There is no file past.csv/past.csv."),
    ("''", "'' is not the name of a file."),
    (".", ". is a folder, and not a file."),
    ("folder.csv", "folder.csv is a folder, and not a file."),
    ("dangling.csv", "There is no file dangling.csv."),
    ("loop.csv", "There is no file loop.csv."),
    ("empty.csv", "empty.csv is empty."),
    ("empty.parquet", "empty.parquet is empty."),
    ("blank.csv", "blank.csv has nothing but blank lines."),
    ("packed.csv.gz", "Hint: unpack it, and give it as standard input: gunzip -c packed.csv.gz | evenodds ... -."),
    ("plain.dat", "The format of plain.dat cannot be told from its name. Hint: --"),
    ("binary.csv", "binary.csv cannot be read as csv: it is not UTF-8 text. Hint: save it as UTF-8."),
    ("utf16.csv", "utf16.csv cannot be read as csv: it is not UTF-8 text."),
    ("zeros.csv", r"zeros.csv has no column 'points' and no column 'race'"),
    ("zeros.csv", r"Its columns: \x00\x00\x00"),
    ("single.csv", "single.csv has no column 'race'"),
    ("semicolons.csv", "word. Hint: --delimiter ';'."),
    ("twice.csv", "twice.csv has more than one column 'race'."),
    ("'open name.csv'", "a quotation mark is opened among the names of the columns, and never closed."),
    ("returns.csv", "its lines end in a carriage return alone. Hint: save it with those of Unix or Windows."),
    ("cut.parquet", "cut.parquet cannot be read as parquet: "),
    ("text.parquet", "text.parquet cannot be read as parquet: "),
    ("cut.arrow", "cut.arrow cannot be read as arrow: it is no Arrow file, or was cut off."),
    ("text.arrow", "text.arrow cannot be read as arrow: it is no Arrow file, or was cut off."),
    ("-", "standard input is empty."),
    ("- --{}format parquet", "standard input is empty."),
    ("past.csv --{}format parquet", "past.csv cannot be read as parquet: "),
    ("past.csv --{}format xls", "format xls is not known. Allowed: csv, parquet, arrow."),
    ("past.csv --delimiter ''", "--delimiter '' is not allowed. Allowed: one character, such as ; or \\t for a tab."),
    ("past.csv --delimiter ab", "--delimiter 'ab' is not allowed."),
    ("past.csv --delimiter é", "--delimiter 'é' is not allowed."),
]
NO_ROWS = [  # whoever finds the columns in them
    ("header.csv", "header.csv has columns, and no rows."),
    ("header.parquet", "header.parquet has columns, and no rows."),
    ("'short row.csv'", "short row.csv cannot be read as csv: row 2 has 3 columns, and 7 are expected."),
    ("'long row.csv'", "long row.csv cannot be read as csv: row 2 has 8 columns, and 7 are expected."),
    (
        "'open quote.csv'",
        "open quote.csv cannot be read as csv: a quotation mark is opened in row 3, and never closed.",
    ),
    ("'latin group.csv'", r"latin group.csv, row 4: 'ros\xe9' in column 'race' is not UTF-8 text."),
    ("nested.parquet", "nested.parquet: The score column 'points' holds List(Float64), not numbers."),
    ("'text score.csv'", "text score.csv, row 5: 'fifty' in column 'points' is not a number."),
]
LABELED = [name for name in READERS if name not in ("apply", "decide", "verify")]
NO_PEOPLE = [  # whoever needs labels
    ("'no score.csv'", "1 without a finite score in 'points' (the first is row 6). Hint: repair these rows, or --drop"),
    ("'nan score.csv'", "1 without a finite score in 'points' (the first is row 7)."),
    ("'inf score.csv'", "1 without a finite score in 'points' (the first is row 8)."),
    ("'no group.csv'", "1 without a group in 'race' (the first is row 9)."),
    ("'space group.csv'", "1 without a group in 'race' (the first is row 9)."),
    ("'no label.csv'", "1 without a label in 'repaid' (the first is row 10)."),
    ("'all lacking.csv' --drop-incomplete", "240 of 240 rows are incomplete"),
    (
        "'label 2.csv'",
        "must be 0 or 1, got 2 in 1 row (first at row 11). Hint: repair these rows, or --positive-label",
    ),
    ("'label half.csv'", "label column 'repaid' must be 0 or 1, got 0.5 in 1 row (first at row 11)."),
    ("'label words.csv'", "column 'repaid' has the values 'no', 'yes'. Hint: --positive-label says which is the yes."),
    ("'label words.csv' --positive-label Yes", "--positive-label 'Yes' does not occur in label column 'repaid'."),
    ("'weight text.csv' --weight weight", "row 13: 'heavy' in column 'weight' is not a number."),
    ("'weight negative.csv' --weight weight", "weight column 'weight' has 1 negative value (first at row 13: -1)."),
    ("'weight none.csv' --weight weight", "1 without a finite weight in 'weight' (the first is row 13)."),
    ("'weight inf.csv' --weight weight", "1 without a finite weight in 'weight' (the first is row 13)."),
    ("'weight nan.csv' --weight weight", "1 without a finite weight in 'weight' (the first is row 13)."),
    ("'weight zeros.csv' --weight weight", "weight column 'weight' is 0 for everybody: nobody is left to fit."),
    ("past.csv --weight ''", "--weight names no column."),
    ("past.csv --weight missing", "past.csv has no column 'missing'."),
    ("past.csv --weight points", "The column 'points' cannot be --score and --weight at once."),
    ("past.csv --label ''", "--label names no column."),
    ("past.csv --label race", "The column 'race' cannot be --group and --label at once."),
    ("past.csv --label word", "column 'word' has the values 'well'."),
    ("past.csv --resolution 0", "--resolution 0.0 is not allowed. Allowed: a finite number above 0"),
    ("past.csv --resolution nan", "--resolution nan is not allowed."),
    (
        "past.csv --resolution 1e-300",
        "--resolution 1e-300 is not allowed. Allowed: a finite number above 0, between 1e-150",
    ),
    ("past.csv --resolution some", "Invalid value for '--resolution': 'some' is not a number."),
]
NO_COLUMNS = [  # of everybody
    ("past.csv --score ''", "--score names no column."),
    ("past.csv --group ''", "--group names no column."),
    ("past.csv --group ,", "--group names no column."),
    ("past.csv --group race,", "--group names no column. Hint: give it a name, or several separated by commas."),
    ("past.csv --group points", "The column 'points' cannot be --score and --group at once."),
    ("past.csv --group race,race", "The column 'race' cannot be --group and --group at once."),
    ("past.csv --score missing", "past.csv has no column 'missing'"),
    ("past.csv --group race,missing", "past.csv has no column 'missing'"),
]
ONE_SIDED = [
    ("'all yes.csv'", "Group 'black' has weight 120 of positives, none of negatives"),
    ("'all no.csv'", "Group 'black' has weight 120 of negatives, none of positives"),
    ("'one sided.csv'", "Group 'black' has weight 120 of positives, none of negatives"),
    ("'weight group zeros.csv' --weight weight", "Group 'white' has weight 0 of negatives, none of positives"),
]


def given_to(readers, files):
    """Each file where the command has its own, and the words that go with it at the end, where they count."""
    for command, (words, expected) in product(readers, files):
        parts = shlex.split(words)
        prefix = "data-" if command in ("audit", "report") else ""
        rest = " ".join(shlex.quote(part) for part in parts[1:])
        yield f"{READERS[command].format(shlex.quote(parts[0]))} {rest}".strip().replace("{}", prefix), expected


# -- files of policies -------------------------------------------------------------------------------------------------

POLICY_READERS = [
    f"audit {{}} past.csv {PEOPLE}",
    f"update {{}} past.csv {PEOPLE} --max-change 0.1",
    f"report {{}} past.csv {PEOPLE}",
    f"apply {{}} past.csv {COLUMNS}",
    f"decide {{}} past.csv {DRAWN}",
    f"verify decided.csv --policy {{}} {DRAWN}",
    "explain {} --score 50 --group white",
    f"sql {{}} --dialect duckdb --table people {COLUMNS}",
    "onnx {} -o policy.onnx",
]
NO_POLICIES = [
    ("nowhere.json", "There is no file nowhere.json."),
    ("nowhere/policy.json", "There is no folder nowhere."),
    ("full", "full is a folder, and not a file."),
    ("loop.csv", "loop.csv: Too many levels of symbolic links."),
    ("empty.json", "empty.json is not JSON, or was cut off"),
    ("cut.json", "cut.json is not JSON, or was cut off"),
    ("words.json", "words.json is not JSON, or was cut off"),
    ("binary.json", "binary.json is not JSON, or was cut off"),
    ("nan.json", "nan.json is not JSON, or was cut off: NaN is no number."),
    ("past.parquet", "past.parquet is not JSON, or was cut off"),
    ("list.json", 'list.json is not a policy: it does not say "format": "evenodds/policy".'),
    ("number.json", "number.json is not a policy"),
    ("another.json", "another.json is not a policy"),
    ("changed.json", "changed.json was changed since it was saved: its fingerprint does not match."),
    ("newer.json", "newer.json has version 5; this evenodds reads up to 4. Hint: pip install -U evenodds."),
    ("'text version.json'", "text version.json has version '4'; this evenodds reads up to 4.\n"),
    ("'no curves.json'", "The policy lacks a part, or has one that is not what it should be: it has no 'curves'."),
    ("'no certificate.json'", "The policy lacks a part, or has one that is not what it should be: it has no 'asked'."),
    ("'no groups.json'", "0 groups, 0 different ones, which must be texts."),
]

# -- words and numbers of each command ---------------------------------------------------------------------------------

REVIEW = f"{FIT} --review-capacity 0.1 --review-tpr 0.9 --review-fpr 0.1"
UNIT = "from 0 to 1"
CALLS = [  # commands, options and arguments that are missing, unknown, misspelt or too many
    ("nothing", "No such command 'nothing'. Hint: evenodds --help."),
    ("fti past.csv", "No such command 'fti'. Hint: did you mean 'fit'?"),
    ("--nonsense", "No such option '--nonsense'. Hint: evenodds --help."),
    ("fit", "Missing argument 'DATA'. Hint: evenodds fit --help."),
    ("fit past.csv", "Missing option '--score'. Hint: evenodds fit --help."),
    (f"fit past.csv {COLUMNS}", "Missing option '--label'. Hint: evenodds fit --help."),
    (f"{FIT} more.csv", "Got unexpected extra argument (more.csv). Hint: evenodds fit --help."),
    (f"{FIT} --tolerence 0.1", "No such option '--tolerence'. Hint: did you mean '--tolerance'?"),
    (f"{FIT} --tolerance", "Option '--tolerance' requires an argument. Hint: evenodds fit --help."),
    (f"{FIT} --force=yes", "Option '--force' does not take a value. Hint: evenodds fit --help."),
    (f"{FIT} --cost 1", "Option '--cost' requires 2 arguments. Hint: evenodds fit --help."),
    (f"{FIT} --tolerance 0.1 0.2", "Got unexpected extra argument (0.2)."),
    ("frontier", "Missing argument 'DATA'. Hint: evenodds frontier --help."),
    (f"{FRONTIER} --max-slope 1", "No such option '--max-slope'. Hint: did you mean '--max-slopes'?"),
    (f"{FRONTIER} -o out.csv", "No such option '-o'. Hint: evenodds frontier --help."),
    ("audit", "Missing option '--group'. Hint: evenodds audit --help."),
    (
        f"audit past.csv {PEOPLE}",
        "1 file was given: past.csv. Allowed: POLICY DATA, or DATA with --decision or --thresh",
    ),
    (f"audit {PEOPLE}", "0 files were given: none. Allowed: POLICY DATA"),
    (f"{AUDIT} more.csv", "3 files were given: policy.json, past.csv, more.csv."),
    ("audit policy.json past.csv --group race", "Missing option --label. Hint: evenodds audit --help."),
    ("audit policy.json past.csv --group race --label repaid", "Missing option --score. Hint: evenodds audit --help."),
    ("update policy.json", "Missing argument 'DATA'. Hint: evenodds update --help."),
    (f"update policy.json past.csv {PEOPLE}", "Missing option '--max-change'. Hint: evenodds update --help."),
    (f"{UPDATE} 0.1 --orientation negative", "No such option '--orientation'."),
    ("report policy.json", "Missing argument 'DATA'. Hint: evenodds report --help."),
    ("report policy.json past.csv", "Missing option '--score'. Hint: evenodds report --help."),
    ("apply policy.json", "Missing argument 'DATA'. Hint: evenodds apply --help."),
    (f"{APPLY} --label repaid", "No such option '--label'."),
    (f"apply past.csv policy.json {COLUMNS}", "past.csv is not JSON, or was cut off"),
    (f"{APPLY} --drop-incomplete", "'--drop-incomplete'. Hint: --on-invalid null leaves the odds of incomplete rows"),
    (f"{DECIDE} --drop-incomplete", "No such option '--drop-incomplete'. Hint: evenodds decide --help."),
    (f"decide policy.json past.csv {COLUMNS}", "Missing option '--id'. Hint: evenodds decide --help."),
    (f"decide policy.json past.csv {COLUMNS} --id name", "Missing option '--key-file'."),
    ("verify", "Missing argument 'DECISIONS'. Hint: evenodds verify --help."),
    (f"verify decided.csv {DRAWN}", "Missing option '--policy'. Hint: evenodds verify --help."),
    ("explain", "Missing argument 'POLICY'. Hint: evenodds explain --help."),
    ("explain policy.json --group white", "Missing option '--score'."),
    ("explain policy.json --score 5", "Missing option '--group'."),
    (f"sql policy.json --table people {COLUMNS}", "Missing option '--dialect'. Hint: evenodds sql --help."),
    (f"sql policy.json --dialect duckdb {COLUMNS}", "Missing option '--table'."),
    ("onnx", "Missing argument 'POLICY'. Hint: evenodds onnx --help."),
    ("onnx policy.json", "Missing option '-o' / '--output'. Hint: evenodds onnx --help."),
    ("onnx policy.json more.json -o p.onnx", "Got unexpected extra argument (more.json)."),
    ("draw-key more", "Got unexpected extra argument (more). Hint: evenodds draw-key --help."),
    ("draw-key --outptu k.txt", "No such option '--outptu'. Hint: did you mean '--output'?"),
    ("draw-chain", "Missing argument 'ROUNDS'. Hint: evenodds draw-chain --help."),
    ("draw-chain 3", "Missing option '-o' / '--output'."),
    ("study nothing", "No such command 'nothing'. Hint: evenodds study --help."),
    ("study credti", "No such command 'credti'. Hint: did you mean 'credit'?"),
    ("study credit more", "Got unexpected extra argument (more). Hint: evenodds study credit --help."),
    ("study compas --nonsense", "No such option '--nonsense'."),
    ("guide somebody", "CASE 'somebody' is not known. Allowed: default, lender, places, court,"),
    ("guide lendr", "Hint: did you mean 'lender'?"),
    ("guide ''", "CASE '' is not known."),
    ("guide lender court", "Got unexpected extra argument (court)."),
    ("guide --case lender", "No such option '--case'."),
]
FITS = [
    *((f"{FIT} --tolerance={bad}", f"--tolerance {shown} is not allowed. Allowed: {UNIT}") for bad, shown in (
        ("nan", "nan"), ("inf", "inf"), ("-inf", "-inf"), ("-1", "-1.0"), ("2", "2.0"), ("1e400", "inf"),
    )),
    *((f"{FIT} --max-slope={bad}", f"--max-slope {shown} is not allowed. Allowed: a number above 0") for bad, shown in (
        ("nan", "nan"), ("-inf", "-inf"), ("-1", "-1.0"), ("0", "0.0"),
    )),
    *((f"{FIT} --max-loss={bad}", f"--max-loss {shown} is not allowed. Allowed: a number from 0 on") for bad, shown in (
        ("nan", "nan"), ("inf", "inf"), ("-1", "-1.0"),
    )),
    *((f"{FIT} --max-randomized={bad}", f"--max-randomized {shown} is not allowed. Allowed: a number {UNIT}")
      for bad, shown in (("nan", "nan"), ("inf", "inf"), ("-1", "-1.0"), ("2", "2.0"))),
    *((f"{FIT} --max-randomized-by-group={bad}", f"--max-randomized-by-group {shown} is not allowed.")
      for bad, shown in (("nan", "nan"), ("-1", "-1.0"), ("2", "2.0"))),
    *((f"{FIT} --selection-rate={bad}", f"--selection-rate {shown} is not allowed. Allowed: a number above 0, up to 1")
      for bad, shown in (("nan", "nan"), ("0", "0.0"), ("-1", "-1.0"), ("2", "2.0"))),
    *((f"{FIT} --tolerance 0.1 --confidence={bad}", f"--confidence {shown} is not allowed. Allowed: a number above 0.5")
      for bad, shown in (("nan", "nan"), ("0", "0.0"), ("2", "2.0"), ("0.5", "0.5"))),
    *((f"{REVIEW} --review-{name}={bad}", f"--review-{name} {shown} is not allowed. Allowed: {UNIT}")
      for name in ("capacity", "tpr", "fpr") for bad, shown in (("nan", "nan"), ("-1", "-1.0"), ("2", "2.0"))),
    *((f"{FIT} --{name} some", f"Invalid value for '--{name}': 'some' is not a number. Hint: evenodds fit --help.")
      for name in ("tolerance", "max-slope", "max-loss", "max-randomized", "max-randomized-by-group",
                   "selection-rate", "confidence", "review-capacity", "review-tpr", "review-fpr")),
    *((f"{FIT} --{name} ''", f"--{name} '' is not known. Allowed: ")
      for name in ("orientation", "constraints", "objective", "curve", "criterion", "guarantee", "review-equal")),
    (f"{FIT} --tolerance 0,5", "'--tolerance': '0,5' is not a number. Hint: write it with a point, 0.5."),
    (f"{FIT} --tolerance 5%", "'--tolerance': '5%' is not a number. Hint: 5 % is 0.05, with a point."),
    (f"fit days.parquet {PEOPLE}", "days.parquet: column 'repaid' holds timestamp[ms]. Allowed: numbers, truth values"),
    (f"fit days.parquet {PEOPLE} --positive-label 1", "days.parquet: column 'repaid' holds timestamp[ms]."),
    (f"fit 'x label=9.csv' {PEOPLE}", "There is no file x label=9.csv."),
    (f"{FIT} -o 'x max_slope=3.csv'", "-o x max_slope=3.csv: a policy is JSON. Hint: -o x max_slope=3.json."),
    (f"{FIT} -o 'no max_slope=3/p.json'", "There is no folder no max_slope=3. Hint: make it first."),
    (f"{FIT} --positive-label 'a label=3'", "'a label=3' does not occur"),
    (f"{FIT} -o policy.html", "-o policy.html: a policy is JSON. Hint: -o policy.json."),
    (f"{UPDATE} 0.1 -o new.CSV", "-o new.CSV: a policy is JSON. Hint: -o new.json."),
    (f"{FIT} --orientation negatve", "--orientation negatve is not known. Allowed: positive, negative. Hint: did you"),
    (f"{FIT} --constraints equal_opportunity", "Hint: the nearest here is 'true_positive_rate_parity'."),
    (f"{FIT} --objective f1", "Hint: the nearest here is 'balanced_accuracy_score'."),
    (f"{FIT} --curve Linear", "--curve Linear is not known. Allowed: fixed, linear,"),
    (f"{FIT} --criterion gentle", "Hint: did you mean 'gentlest'?"),
    (f"{FIT} --guarantee proven", "--guarantee proven is not known. Allowed: asymptotic, finite."),
    (f"{REVIEW} --review-equal all", "--review-equal all is not known. Allowed: share, final, threeway."),
    (f"{FIT} --review-capacity 0.1", "--review-tpr and --review-fpr are not given."),
    (f"{FIT} --review-tpr 0.1", "--review-capacity and --review-fpr are not given."),
    (f"{FIT} --review-equal share", "--review-fpr; --review-capacity, --review-tpr and --review-fpr are not given."),
    (f"{REVIEW} --review-tpr 0", "--review-tpr 0 is less than --review-fpr 0.1: such reviewers are worse"),
    (f"{REVIEW} --max-randomized 0.1", "--max-randomized 0.1 does not go with reviews."),
    (f"{FIT} --cost -1 1", "false_positive=-1.0 is not allowed. Allowed: a number from 0 on"),
    (f"{FIT} --cost 1 nan", "false_negative=nan is not allowed."),
    (f"{FIT} --cost inf 1", "false_positive=inf is not allowed."),
    (f"{FIT} --cost 0 0", "one of the errors must cost something."),
    (f"{FIT} --cost some 1", "Invalid value for '--cost': 'some' is not a number."),
    (f"{FIT} --cost 1 2 --objective accuracy_score", "--cost is in place of an objective, and --objective names one"),
    *((f"{FIT} --target={bad}", f'--target {bad} is not allowed. Allowed: two rates such as 0.2,0.8, or "baseline".')
      for bad in ("0.3", "a,b", "0.1,0.2,0.3", "baselin", "''")),
    *((f"{FIT} --target={bad}", "is not a pair of rates. Allowed: (fpr, tpr), each between 0 and 1.")
      for bad in ("0.2,nan", "0.2,1.5", "-0.1,0.5", "inf,0.2")),
    (f"{FIT} --target 0,1", "Group 'black' cannot reach the target (fpr=0, tpr=1)"),
    (f"{FIT} --target 0.8,0.2", "below the diagonal, where no odds that rise with the score lead."),
    (f"{FIT} --max-slope 0.1 --max-loss 0.1", "Give --max-slope or --max-loss, and not both"),
    (f"{FIT} --target 0.2,0.3 --max-loss 0.1", "--max-loss chooses the point, and --target names it: give one"),
    (f"{FIT} --target 0.2,0.3 --selection-rate 0.5", "--selection-rate and --target both name the point"),
    (f"{FIT} --target 0.2,0.3 --constraints demographic_parity", "--target names one point for all groups"),
    (f"{FIT} --selection-rate 0.5 --objective selection_rate", "is what --selection-rate 0.5 says already."),
    (f"{FIT} --max-randomized 0.1 --max-slope 0.1", "--max-randomized 0.1 does not go with --max-slope 0.1"),
    (f"{FIT} --curve threshold --max-slope 0.1", "A threshold jumps, so no slope budget can hold."),
    (f"{FIT} --curve threshold --max-randomized 0.1", "with --curve threshold nobody is: give one of them."),
    (f"{FIT} --curve optimal --criterion robust", "an optimal curve has none. Allowed: 'gentlest'."),
    (f"{FIT} --curve optimal --keep-individual-odds", "Allowed with it: linear, quadratic, cubic, quartic."),
    (f"{FIT} --keep-individual-odds --max-slope 1e-5", "No point was found that all groups reach"),
    (f"{FIT} --confidence 0.9", "--confidence 0.9 is about a tolerance for new people, and tolerance is 0"),
    (f"{FIT} --tolerance 0.01 --confidence 0.9", "There are too few people to promise --tolerance 0.01"),
    (f"fit 'own group.csv' {PEOPLE}", "Group 'p0.5' has weight 1 of negatives, none of positives"),
]  # fmt: skip
FRONTIERS = [
    (f"{FRONTIER} --max-slopes 0.1,abc", "0.1,abc is not a list of numbers such as 0.05,0.1,inf. Hint: evenodds front"),
    (f"{FRONTIER} --max-slopes ''", "Invalid value for --max-slopes: '' is not a list of numbers"),
    (f"{FRONTIER} --budgets 0.1,,0.2", "Invalid value for --budgets: 0.1,,0.2 is not a list of numbers"),
    (f"{FRONTIER} --max-slopes 0", "--max-slopes 0.0 is not allowed. Allowed: a number above 0"),
    (f"{FRONTIER} --max-slopes=-1", "--max-slopes -1.0 is not allowed."),
    (f"{FRONTIER} --max-slopes nan", "--max-slopes nan is not allowed."),
    (f"{FRONTIER} --budgets 0.1 --max-slopes 0.1", "Hint: give --budgets alone."),
    (f"{FRONTIER} --against randomized --max-slopes 0.1", "--max-slopes are the budgets against 'slope'."),
    (f"{FRONTIER} --against randomized --budgets 2", "--budgets 2.0 is not allowed. Allowed: a number from 0 to 1"),
    (f"{FRONTIER} --against randomized --budgets nan", "--budgets nan is not allowed."),
    (
        f"{FRONTIER} --against slop",
        "--against slop is not known. Allowed: slope, randomized. Hint: did you mean 'slope'?",
    ),
    (f"{FRONTIER} --curve threshold", "A threshold jumps, so no slope budget can hold."),
    (f"{FRONTIER} --tolerance 2", "--tolerance 2.0 is not allowed."),
    (f"{FRONTIER} --cost 0 0", "one of the errors must cost something."),
    (f"{FRONTIER} --cost 1 1 --objective selection_rate", "--cost is in place of an objective"),
]
AUDITS = [
    (f"{AUDIT} --threshold 50", "2 files were given: policy.json, past.csv. Allowed: DATA."),
    (f"{BEHIND} 50 --decision weight", "--decision and --threshold both say what decides: give one of them."),
    (f"{BEHIND} nan", "--threshold nan is not allowed. Allowed: a finite number."),
    (f"{BEHIND} inf", "--threshold inf is not allowed."),
    (f"{BEHIND} high", "Invalid value for '--threshold': 'high' is not a number. Hint: evenodds audit --help."),
    *((f"{AUDIT} --tolerance={bad}", f"--tolerance {shown} is not allowed. Allowed: a number from 0 to 1")
      for bad, shown in (("nan", "nan"), ("inf", "inf"), ("-1", "-1.0"), ("2", "2.0"))),
    *((f"{AUDIT} --confidence={bad}", f"--confidence {shown} is not allowed. Allowed: a number from 0.5 to 0.9999")
      for bad, shown in (("nan", "nan"), ("0", "0.0"), ("1", "1.0"), ("0.4", "0.4"))),
    (f"{AUDIT} --before nan", "--before nan is not allowed."),
    (f"{AUDIT} --reference nowhere.csv", "There is no file nowhere.csv."),
    (f"{AUDIT} --reference ''", "'' is not the name of a file."),
    (f"{AUDIT} --reference 'text score.csv'", "text score.csv, row 5: 'fifty' in column 'points' is not a number."),
    (f"{AUDIT} --constraints parity", "--constraints parity is not known."),
    (f"{AUDIT} --format xml", "--format xml is not known. Allowed: text, json, ll144."),
    (f"{AUDIT} --format ll144", "Missing option --decision."),
    (f"{AUDIT} --constraints demographic_parity", "there is none without --tolerance: give both."),
    (f"{AUDIT} --orientation negative", "--orientation negative is not that of the policy, positive. Hint: leave"),
    (f"{IMPACT} --tolerance 0.01", "--tolerance does not go with --format ll144, which has selection rates alone."),
    (f"{IMPACT} --json", "--json does not go with --format ll144"),
    (f"audit policy.json days.parquet {PEOPLE}", "column 'repaid' holds timestamp[ms]. Allowed: numbers, truth values"),
    (f"{AUDIT} -o out.csv", "-o is where --format ll144 is written; other formats go to standard output."),
    ("audit policy.json 'all green.csv' " + PEOPLE, "There is nobody to audit. The policy does not know the group 'gr"),
    (f"audit policy.json past.csv {PEOPLE} --group race,sex", "The policy does not know the groups 'black, f'"),
    (f"audit 'two columns.json' past.csv {PEOPLE} --group sex,race", "give the group's columns in the order of the fi"),
    (f"audit policy.json 'all yes.csv' {PEOPLE}", "No group has both negatives and positives"),
    (f"audit - past.csv {PEOPLE}", "There is no file -."),
    ("audit past.csv --group race --decision weight", "Missing option --label."),
    (DECIDED, "The column 'repaid' cannot be --decision and --label at once."),
    (f"{DECIDED} --decision missing", "past.csv has no column 'missing'."),
    (f"{DECIDED} --decision ''", "--decision names no column."),
    (f"{DECIDED} --decision points", "decision has 240 values outside 0 to 1 (first at row 1: 40)."),
    (f"{DECIDED} --decision word", "row 1: 'well' in column 'word' is not a number."),
    (f"{DECIDED} --decision race", "The column 'race' cannot be --decision and --group at once."),
    (f"{DECIDED} --decision weight --score points", "--score is about scores, and --decision needs none"),
    (f"{DECIDED} --decision weight --before 3", "--before is about scores, and --decision needs none"),
    (f"{DECIDED} --decision weight --reference past.csv", "--reference is about scores, and --decision needs none"),
    (f"{DECIDED} --decision weight --weight ''", "--weight names no column."),
    ("audit past.csv --group race --decision points --format ll144", "decision has 240 values outside 0 to 1"),
    ("audit past.csv --group missing --decision weight --format ll144", "past.csv has no column 'missing'."),
    ("audit 'no label.csv' --group race --decision repaid --format ll144", "1 without a finite decision in 'repaid'"),
]  # fmt: skip
UPDATES = [
    *((f"{UPDATE}={bad}", f"--max-change {shown} is not allowed. Allowed: a number above 0, up to 1")
      for bad, shown in (("0", "0.0"), ("2", "2.0"), ("-1", "-1.0"), ("nan", "nan"), ("inf", "inf"))),
    (f"{UPDATE} some", "Invalid value for '--max-change': 'some' is not a number."),
    (f"update policy.json 'one group.csv' {PEOPLE} --max-change 0.1", "these are not among the people: 'black'."),
    (f"update policy.json 'all green.csv' {PEOPLE} --max-change 0.1", "The policy does not know the group 'green'."),
    (f"update 'two columns.json' past.csv {PEOPLE} --max-change 0.1", "does not know the groups 'black', 'white'."),
    (f"update policy.json backwards.csv {PEOPLE} --max-change 0.0001", "No change of odds by up to --max-change 0.0"),
    (f"update reviews.json past.csv {PEOPLE} --max-change 0.1", "update is about one curve a group"),
]  # fmt: skip
REPORTS = [
    (f"{REPORT} --format pdf", "--format pdf is not known. Allowed: html, markdown."),
    (f"{REPORT} -o r.pdf", "A PDF is made by a browser: write r.html and print it"),
    (f"{REPORT} -o r.doc", "The format of r.doc cannot be told from its name. Allowed endings: .html"),
    (f"{REPORT} --before nan", "--before nan is not allowed."),
    (f"report 'two columns.json' past.csv {PEOPLE} --group sex,race", "give the group's columns in the order of the"),
    (f"report policy.json plain.dat {PEOPLE}", "Hint: --data-format csv, parquet or arrow."),
    (f"{REPORT} --before some", "Invalid value for '--before': 'some' is not a number."),
    *((f"{REPORT} --tolerance={bad}", f"--tolerance {shown} is not allowed. Allowed: a number from 0 to 1")
      for bad, shown in (("nan", "nan"), ("-1", "-1.0"), ("2", "2.0"))),
    *((f"{REPORT} --confidence={bad}", f"--confidence {shown} is not allowed. Allowed: a number from 0.5 to 0.9999")
      for bad, shown in (("nan", "nan"), ("0", "0.0"), ("1", "1.0"))),
    (f"{REPORT} --about Owner", "Owner is not a field and its text, such as Owner=Credit team. Hint: evenodds report"),
    (f"{REPORT} --about ''", "Invalid value for --about: '' is not a field and its text"),
    (f"{REPORT} --about =x", "=x is not a field and its text"),
    (f"{REPORT} --group sex", "No group that the policy knows has people of both labels."),
    (f"report policy.json 'all yes.csv' {PEOPLE}", "No group has both negatives and positives"),
]  # fmt: skip
APPLIES = [
    (
        f"{APPLY} --into points",
        "past.csv has a column 'points' already. Hint: --into takes another name for the new one.",
    ),
    (f"{APPLY} --into ''", "--into names no column."),
    (f"apply policy.json 'has odds.csv' {COLUMNS}", "has odds.csv has a column 'odds' already."),
    (f"{APPLY} --on-invalid drop", "--on-invalid drop is not known. Allowed: raise, null."),
    (f"{APPLY} --score word", "row 1: 'well' in column 'word' is not a number."),
    (f"{APPLY} --group sex", "240 with a group that the policy does not know (row 1: score 40, group 'f'"),
    (f"{APPLY} --group race,sex", "240 with a group that the policy does not know (row 1: score 40, group 'white, f'"),
    (
        f"apply 'two columns.json' past.csv {COLUMNS} --group sex,race",
        "give the group's columns in the order of the fit",
    ),
    (f"apply - past.csv {COLUMNS}", "There is no file -."),
    (f"apply policy.json latin.csv {COLUMNS}", r"latin.csv, row 1: 'gut\xe4' in column 'word' is not UTF-8 text."),
    (
        f"apply policy.json 'no score.csv' {COLUMNS}",
        "1 with a score that is missing, NaN or infinite (row 6: score nan",
    ),
    (
        f"apply policy.json 'nan score.csv' {COLUMNS}",
        "1 with a score that is missing, NaN or infinite (row 7: score nan",
    ),
    (
        f"apply policy.json 'inf score.csv' {COLUMNS}",
        "1 with a score that is missing, NaN or infinite (row 8: score inf",
    ),
    (f"apply policy.json 'no group.csv' {COLUMNS}", "1 with no group (row 9: score 65"),
    (f"apply policy.json green.csv {COLUMNS}", "1 with a group that the policy does not know (row 12: score 64"),
    (
        f"apply policy.json 'text score.csv' {COLUMNS} --on-invalid null",
        "row 5: 'fifty' in column 'points' is not a num",
    ),
]
KEYS = [  # of whoever draws
    ("upper.txt", "got one with upper-case letters, which reads as the same key and would draw differently"),
    ("cut.txt", "key must be a string of 64 lower-case hexadecimal digits, got 63 characters."),
    ("long.txt", "got 65 characters."),
    ("other.txt", "got one with other characters."),
    ("nothing.txt", "got 0 characters."),
    ("two.txt", "got 129 characters."),
    ("accent.txt", "key must be a string of 64 lower-case hexadecimal digits"),
    ("marked.txt", "marked.txt begins with a byte order mark, as some editors write it."),
    ("utf16.txt", "utf16.txt begins with a byte order mark"),  # which others can read, too: that is not said of no key
    ("nowhere.txt", "There is no file nowhere.txt."),
    ("nowhere/key.txt", "There is no folder nowhere."),
    ("full", "Invalid value for '--key-file': File 'full' is a directory."),
]
DECIDES = [
    *((f"{DECIDE} --key-file {file}", expected) for file, expected in KEYS),
    *((f"decide policy.json '{file} id.csv' {DRAWN}", expected) for file, expected in (
        ("no", "an id cannot be drawn for (row 14): it is missing. Hint: everybody who is drawn for needs an id."),
        ("doubled", "id 'p1' comes 2 times (row 2, row 15). In a round everybody is decided for once."),
        ("spaced", "id ' p15' cannot be drawn for (row 16): an id must be without spaces at its ends"),
        ("unnormal", "cannot be drawn for (row 17): an id must be without spaces at its ends and NFC-normalised."),
        ("zero", r"id 'p\x00' cannot be drawn for (row 18): it has the character U+0000"),
    )),
    (f"decide policy.json 'doubled id.csv' {DRAWN} --places", "a cohort in which everybody stands once."),
    (f"{DECIDE} --id ''", "--id names no column."),
    (f"{DECIDE} --id missing", "past.csv has no column 'missing'."),
    (f"{DECIDE} --id points", "The column 'points' cannot be --score and --id at once."),
    (f"{DECIDE} --id sex", "id 'f' comes 120 times (row 1, row 2, row 3, row 4, row 9, ...); so does 1 other id."),
    (f"{DECIDE} --round 'a|b'", "--round 'a|b' is not allowed. Allowed: a string without '|'"),
    (f"{DECIDE} --places-count=-1", "Invalid value for '--places-count': -1 is not in the range x>=0."),
    (f"{DECIDE} --places-count 2.5", "Invalid value for '--places-count': '2.5' is not a whole number."),
    (f"{DECIDE} --places-count 7", "--places-count 7 is not what the odds of these 240 people sum to, which is 120."),
    (f"{DECIDE} --places-count 1000", "Hint: there are only 240 people."),
    (f"decide reviews.json past.csv {DRAWN} --places", "--places hands out a yes or a no, and this policy also says r"),
    (f"decide reviews.json past.csv {DRAWN} --places-count 5", "and this policy also says review."),
    (f"decide policy.json 'has draw.csv' {DRAWN}", "has draw.csv has a column 'draw' already."),
    (f"decide policy.json 'word decision.csv' {DRAWN}", "word decision.csv has a column 'decision' already."),
    (f"decide policy.json green.csv {DRAWN}", "1 with a group that the policy does not know (row 12: score 64"),
    (f"decide policy.json 'no score.csv' {DRAWN}", "1 with a score that is missing, NaN or infinite (row 6: score nan"),
]  # fmt: skip
VERIFIES = [
    *((f"{VERIFY} --key-file {file}", expected) for file, expected in KEYS),
    (f"{VERIFY} --round 'a|b'", "verify: --round 'a|b' is not allowed."),
    (f"{VERIFY} --digits 0", "verify: --digits 0 is not allowed. Allowed: a whole number from 1 on."),
    (f"{VERIFY} --digits=-1", "verify: --digits -1 is not allowed."),
    (f"{VERIFY} --digits 2.5", "Invalid value for '--digits': '2.5' is not a valid integer."),
    *((f"{VERIFY} --confidence={bad}", f"verify: --confidence {shown} is not allowed. Allowed: a number from 0.5")
      for bad, shown in (("nan", "nan"), ("0", "0.0"), ("1", "1.0"))),
    (f"{VERIFY} --commitment 00", "verify: --commitment must be 64 hexadecimal digits, the SHA-256 of a key's digits;"),
    (f"{VERIFY} --commitment ''", "verify: --commitment must be 64 hexadecimal digits"),
    (f"{VERIFY} --commitment {'xy' * 32}", "verify: --commitment must be 64 hexadecimal digits"),
    (f"verify placed.csv --policy policy.json {DRAWN}", "placed.csv has no column 'draw'."),
    (f"verify placed.csv --policy policy.json {DRAWN}", "Hint: --places, if places were handed out"),
    (f"{VERIFY} --places-count=-1", "Invalid value for '--places-count': -1 is not in the range x>=0."),
    (f"{VERIFY} --places-count some", "Invalid value for '--places-count': 'some' is not a whole number."),
    (f"{VERIFY} --odds missing", "decided.csv has no column 'missing'."),
    (f"{VERIFY} --odds ''", "--odds names no column."),
    (f"{VERIFY} --odds name", "The column 'name' cannot be --id and --odds at once."),
    (f"{VERIFY} --odds draw", "The column 'draw' cannot be --odds and --draw at once."),
    (f"{VERIFY} --odds word", "decided.csv, row 1: 'well' in column 'word' is not a number."),
    (f"{VERIFY} --draw missing", "else --draw names the column of draws."),
    (f"{VERIFY} --draw word", "decided.csv, row 1: 'well' in column 'word' is not a number."),
    (f"{VERIFY} --decision missing", "decided.csv has no column 'missing'."),
    (f"{VERIFY} --score word", "decided.csv, row 1: 'well' in column 'word' is not a number."),
    (f"{VERIFY} --group sex", "240 rows are of a group that the policy does not know (the first is row 1)."),
    (f"{VERIFY} --policy reviews.json", "decided.csv has no column 'odds_review'."),
    (f"verify perhaps.csv --policy policy.json {DRAWN}", "row 1: 'perhaps' in column 'decision' is not a number. Hint"),
    (f"verify 'odds text.csv' --policy policy.json {DRAWN}", "row 4: 'high' in column 'odds' is not a number."),
    (f"verify 'green decided.csv' --policy policy.json {DRAWN}", "1 row is of a group that the policy does not know"),
    (f"verify past.csv --policy policy.json {DRAWN}", "past.csv has no column 'odds' and no column 'draw' and no colu"),
    (f"verify reviews.json --policy policy.json {DRAWN}", "The format of reviews.json cannot be told from its name."),
]  # fmt: skip
EXPLAINS = [
    (f"{EXPLAIN} --group green", "The policy does not know the group 'green'. Known: 'black', 'white'."),
    (f"{EXPLAIN} --group ''", "The policy does not know the group ''."),
    (f"{EXPLAIN} --group White", "not know the group 'White'. Known: 'black', 'white'. Hint: did you mean 'white'?"),
    (f"{EXPLAIN} --group white,f", "The policy does not know the group 'white, f'."),
    ("explain 'two columns.json' --score 50 --group f,white", "give the group's columns in the order of the fit."),
    (f"{EXPLAIN} --score nan", "--score nan is not allowed. Allowed: a finite number."),
    (f"{EXPLAIN} --score=-inf", "--score -inf is not allowed."),
    (f"{EXPLAIN} --score high", "Invalid value for '--score': 'high' is not a number."),
    *((f"{EXPLAIN} --odds={bad}", f"--odds {shown} is not allowed. Allowed: numbers from 0 to 1.")
      for bad, shown in (("2", "2.0"), ("-1", "-1.0"), ("nan", "nan"))),
    (f"{EXPLAIN} --odds half", "Invalid value for '--odds': 'half' is not a number."),
]  # fmt: skip
SQLS = [
    (
        f"{SQL} --dialect oracle",
        "--dialect oracle is not known. Allowed: duckdb, postgres, spark, snowflake, bigquery.",
    ),
    (f"{SQL} --dialect pyspark", "Hint: the nearest here is 'spark'."),
    (f"{SQL} --dialect Duckdb", "Hint: did you mean 'duckdb'?"),
    (f"{SQL} --dialect ''", "--dialect '' is not known."),
    (f"{SQL} --table ''", "--table '' is not a name. Allowed: a string that is not empty."),
    (
        f"{SQL} --table a.b.c.d",
        "--table 'a.b.c.d' has 4 parts. Allowed: a table, with or without a schema and a catalog.",
    ),
    (f"{SQL} --table a..b", "--table '' is not a name."),
    (f"{SQL} --dialect bigquery --table 'a`b'", "cannot be written for BigQuery"),
    (f"{SQL} --dialect postgres --table {'x' * 64}", "is of 64 bytes, and PostgreSQL cuts names after 63."),
    (f"{SQL} --score ''", "--score names no column."),
    (f"{SQL} --group ,", "--group names no column."),
    (f"{SQL} --group points", "The column 'points' cannot be --score and --group at once."),
    (f"{SQL} --id race", "The column 'race' cannot be --group and --id at once."),
    (f"{SQL} --id ''", "--id names no column."),
    (f"{SQL} --group race,sex", "No group of the policy can be made of 2 columns."),
    (
        f"{SQL} --kinds race",
        "--kinds race is not allowed. Allowed: columns and what they hold, such as veteran=boolean.",
    ),
    (f"{SQL} --kinds =text", "--kinds =text is not allowed."),
    (f"{SQL} --kinds race=number", "='number' is not known. Allowed: text, boolean, float."),
    (f"{SQL} --kinds sex=boolean", "kinds names 'sex', which is no group column. Allowed: race."),
    (f"{SQL} --kinds race=boolean", "kinds says that 'race' holds boolean values, and none of the policy's groups has"),
    (f"{SQL} --into points", "The new column 'points' has the name of another one."),
    (f"{SQL} --into ''", "--into '' is not a name."),
    (f"{SQL} --id name --draw odds", "The new column 'odds' has the name of another one."),
    (f"{SQL} --id name --decision draw", "The new column 'draw' has the name of another one."),
    (f"{SQL} --id name --round 'a|b'", "--round 'a|b' is not allowed."),
    (f"{SQL} --id name --pads ''", "--pads '' is not a name."),
    (f"{SQL} --round x", "round is for draws, and these need an id."),
]
CHAINS = [
    ("draw-chain 0 -o keys", "Invalid value for 'ROUNDS': 0 is not in the range 1<=x<=10000."),
    ("draw-chain -o keys -- -1", "Invalid value for 'ROUNDS': -1 is not in the range 1<=x<=10000."),
    ("draw-chain 10001 -o keys", "Invalid value for 'ROUNDS': 10001 is not in the range 1<=x<=10000."),
    ("draw-chain 1.5 -o keys", "Invalid value for 'ROUNDS': '1.5' is not a whole number."),
    ("draw-chain many -o keys", "Invalid value for 'ROUNDS': 'many' is not a whole number. Hint: evenodds draw-chain"),
    *((f"draw-chain 2 -o {place}", f"{place} is there already, and keys that are written over are lost.")
      for place in ("full", "past.csv", "dangling.csv", "loop.csv", ".", "..", "/")),
    ("draw-chain 2 -o nowhere/keys", "There is no folder nowhere. Hint: make it first."),
    ("draw-chain 2 -o past.csv/keys", "past.csv is a file, and not a folder."),
    ("draw-chain 2 -o ''", "-o names no folder."),
    ("draw-key -o key.txt", "key.txt holds a key, which would be lost. Hint: choose another file for -o."),
    ("draw-key -o dangling.csv", "dangling.csv is there already, and a key that is written over is lost."),
    ("study credit -o past.csv", "past.csv is a file, and not a folder."),
    ("study compas -o past.csv/out", "past.csv is a file, and not a folder."),
    ("study compas -o dangling.csv", "dangling.csv is a link that leads to no folder."),
    ("study compas -o loop.csv", "loop.csv is a link that leads to no folder."),
    ("study credit -o ''", "-o names no folder."),
]  # fmt: skip

# -- where it is written -----------------------------------------------------------------------------------------------

WRITERS = {
    f"{FIT} -o": ".json",
    f"{FIT} --report": ".html",
    f"{IMPACT} -o": ".csv",
    f"{UPDATE} 0.1 -o": ".json",
    f"{REPORT} -o": ".html",
    f"{APPLY} -o": ".csv",
    f"{DECIDE} -o": ".csv",
    f"{SQL} -o": ".sql",
    "onnx policy.json -o": ".onnx",
    "draw-key -o": ".txt",
}
NO_PLACES = [
    *((f"{writer} nowhere/out{ending}", "There is no folder nowhere. Hint: make it first.")
      for writer, ending in WRITERS.items()),
    *((f"{writer} past.csv/out{ending}", "past.csv is a file, and not a folder.")
      for writer, ending in WRITERS.items()),
    *((f"{writer} ''", " names no file.") for writer in WRITERS),
    *((f"{writer} full", "full' is a directory.")
      for writer in WRITERS if writer.startswith(("fit", "audit", "update"))),
    *((f"{writer} full", "full is a folder, and not a file.")
      for writer in WRITERS if not writer.startswith(("fit", "audit", "update"))),
    *((f"{writer} policy.json", "policy.json is what is read. Hint: choose another file for -o.")
      for writer in WRITERS if " policy.json " in writer),
    *((f"{writer} past.csv", "past.csv is what is read. Hint: choose another file for -")
      for writer in WRITERS if writer.startswith(("fit", "audit", "update", "report"))),
    (f"{DECIDE} -o key.txt", "key.txt is what is read."),
    (f"{IMPACT} -o out.pdf", "-o out.pdf: the ending says what is written. Allowed: .csv, .html."),
    (f"{FIT} -o policy.json", "policy.json is there already. Hint: --force writes over it."),
    (f"{UPDATE} 0.1 -o reviews.json", "reviews.json is there already. Hint: --force writes over it."),
    (f"{FIT} -o loop.csv", "loop.csv: Too many levels of symbolic links."),
    (f"{FIT} -o both.html --report ./both.html", "both.html is what -o writes. Hint: choose another file for --report"),
    (f"{FIT} -o p.json --report r.pdf", "A PDF is made by a browser"),
    (f"{FIT} -o p.json --report nowhere/r.html", "There is no folder nowhere."),
    # what is wrong with the people, too, leaves nothing where it was to be written
    (f"fit 'label 2.csv' {PEOPLE} -o p.json --report r.html", "must be 0 or 1, got 2"),
    (f"apply policy.json 'open quote.csv' {COLUMNS} -o odds.csv", "a quotation mark is opened in row 3"),
    (f"apply policy.json green.csv {COLUMNS} -o odds.parquet", "a group that the policy does not know"),
    (f"decide policy.json 'doubled id.csv' {DRAWN} -o out.csv", "id 'p1' comes 2 times"),
    (f"report policy.json 'no score.csv' {PEOPLE} -o r.md", "1 without a finite score"),
    (f"update policy.json backwards.csv {PEOPLE} --max-change 0.0001 -o p.json", "No change of odds by up to"),
]  # fmt: skip

CASES = [
    *given_to(READERS, [*NO_FILES, *NO_COLUMNS]),
    *given_to([name for name in READERS if name != "verify"], NO_ROWS),
    *given_to(LABELED, NO_PEOPLE),
    *given_to(["fit", "frontier", "update"], ONE_SIDED),
    *((line.format(file), expected) for line, (file, expected) in product(POLICY_READERS, NO_POLICIES)),
    *CALLS, *FITS, *FRONTIERS, *AUDITS, *UPDATES, *REPORTS, *APPLIES, *DECIDES, *VERIFIES, *EXPLAINS, *SQLS, *CHAINS,
    *NO_PLACES,
]  # fmt: skip


@pytest.mark.parametrize(("line", "expected"), CASES, ids=[line for line, _ in CASES])
def test_bad_input_is_one_clear_line(ended, line, expected):
    check(ended(line), expected)


@pytest.mark.parametrize(
    ("line", "stdin", "expected"),
    [
        (f"fit - {PEOPLE}", b"points,race\n1,white\n", "standard input has no column 'repaid'."),
        (f"fit - {PEOPLE} --format parquet", b"nonsense", "standard input cannot be read as parquet: "),
        (f"fit - {PEOPLE} --format arrow", b"nonsense", "standard input cannot be read as arrow: it is no Arrow file"),
        (f"apply policy.json - {COLUMNS}", b"points,race\n", "standard input has columns, and no rows."),
        (f"apply policy.json - {COLUMNS}", b'points,race\n1,white\n2,"white\n', "opened in row 2, and never closed."),
        (f"apply policy.json - {COLUMNS}", b"points,race\n1,white\n\xff,white\n", "standard input, row 2: "),
        (
            f"decide policy.json - {DRAWN}",
            b"points,race,name\n1,white,a\n2,white,a\n",
            "id 'a' comes 2 times (row 1, row",
        ),
        (f"apply policy.json - {COLUMNS}", b"points,race\n1,\x1b[31m\n", r"group '\x1b[31m'"),
        (f"apply policy.json - {COLUMNS}", b"points,race,\x1b[31m\n1\n", "row 1 has 1 column, and 3 are expected."),
        (f"apply policy.json - {COLUMNS}", b"\x1b[31m,race\n1\n", r"Its columns: \x1b[31m, race."),
        (f"audit policy.json - {PEOPLE}", b"points;race;repaid\n1;white;1\n", "Hint: --delimiter ';'."),
        (f"verify - --policy policy.json {DRAWN}", b"name\n", "standard input has no column 'points'"),
    ],
)
def test_bad_input_that_is_piped_in(ended, line, stdin, expected):
    check(ended(line, stdin), expected)


@pytest.mark.parametrize(
    ("line", "stdin"),
    [
        ("fti past.csv", b""),
        (f"{FIT} --tolerance", b""),
        (f"{FIT} --tolerance 2 -o p.json", b""),
        (f"apply policy.json - {COLUMNS}", b"points,race\n1,white\n\xff,white\n"),
        (f"{DECIDE} --key-file utf16.txt -o out.csv", b""),
        ("draw-chain 2 -o .", b""),
    ],
)
def test_a_process_of_its_own_says_the_same(ended, folder, line, stdin):
    source = str(Path(eo.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "evenodds", *shlex.split(line)],
        env={**os.environ, "PYTHONPATH": source},
        cwd=folder,
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert ended(line, stdin) == (done.returncode, done.stdout.decode(), done.stderr.decode())
    assert done.returncode == 2


def test_every_command_is_tried():
    assert {line.split()[0] for line, _ in CASES} >= set(commands.commands)
    assert len({line for line, _ in CASES}) >= 150
