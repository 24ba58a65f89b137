"""Measure evenodds beside its peers and beside the limits of the machine, each case in a process of its own.

Usage: python bench/run.py [--full] [--part PART]... [--most ROWS] [--limit SECONDS] [--results FILE]

Writes bench/results.json, and prints the tables of docs/performance.md. Parts that are named replace those that the
file has, and leave its others.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

from job import compared
from page import RESULTS, tables
from plan import plan

IMPORT = "import"


def import_times() -> dict[str, float]:
    """Seconds of a process that imports a package (ours with what a fit needs) and ends: the fastest of some."""
    times = {}
    for package, what in (("numpy", "numpy"), ("evenodds", "evenodds; evenodds.fit")):
        runs = []
        for _ in range(7):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import {what}"], check=True)
            runs.append(time.perf_counter() - start)
        times[package] = round(min(runs), 4)
    return times


def main() -> None:
    every = [*plan(full=True), IMPORT]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the largest sizes too, and what takes long")
    parser.add_argument("--part", action="append", choices=every, help="this part alone; may be given several times")
    parser.add_argument("--most", type=int, default=10_000_000, help="cut larger sizes to this many rows")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds after which a single run is given up")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where to write what was measured")
    given = parser.parse_args()
    parts = plan(full=given.full, most=given.most)
    wanted = given.part or [*parts, IMPORT]
    if missing := set(wanted) - {*parts, IMPORT}:
        parser.error(f"--part {missing.pop()} takes long: it needs --full")
    kept = json.loads(given.results.read_text()) if given.part and given.results.exists() else {}
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    results = {"machine": machine, "imports": kept.get("imports"), "parts": kept.get("parts", {})}
    for part in wanted:
        if part == IMPORT:
            results["imports"] = import_times()
            continue
        records = []
        for number, jobs in enumerate(parts[part], 1):
            size = f", {jobs[-1].rows:,} rows" if jobs[-1].rows else ""
            print(f"{part} {number}/{len(parts[part])}: {len(jobs)} cases{size}", file=sys.stderr)
            records.append(compared(jobs, limit=given.limit))
        results["parts"][part] = records
        given.results.write_text(json.dumps(results, indent=1) + "\n")
    given.results.write_text(json.dumps(results, indent=1) + "\n")
    print(tables(results))


if __name__ == "__main__":
    main()
