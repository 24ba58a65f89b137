"""Measure evenodds beside its peers and beside the limits of the machine, each case in a fresh process.

Usage: python bench/run.py [--full]

Writes bench/results.json, and prints a table with the ratios that matter.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import venv
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENTS = HERE / ".environments"
PEERS = {"fairlearn": ["fairlearn"], "error_parity": ["error-parity", "ecos"]}
LARGE = 1_000_000
OWN_APPLY = (
    "odds_by_codes",
    "odds_by_group",
    "apply_pandas_integers",
    "apply_pandas_categories",
    "apply_polars_integers",
    "apply_polars_categories",
)


@dataclass(frozen=True)
class Job:
    """One case at one size."""

    case: str
    rows: int
    kind: str = "float"
    groups: int = 4
    result: dict[str, float] = field(default_factory=dict, compare=False, hash=False)

    @property
    def peer(self) -> str | None:
        """Whose environment it needs."""
        return next((peer for peer in PEERS if self.case.startswith(peer)), None)

    def run(self) -> Job:
        repeat = 3 if self.rows >= LARGE else 7
        options = ["--rows", str(self.rows), "--kind", self.kind, "--groups", str(self.groups)]
        command = [str(_python(self.peer)), str(HERE / "case.py"), self.case, *options, "--repeat", str(repeat)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=HERE)
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or ["no message"]
            sys.exit(f"{self.case} failed: {last[0]}")
        return Job(self.case, self.rows, self.kind, self.groups, json.loads(done.stdout))


def _python(peer: str | None) -> Path:
    """The interpreter that has evenodds, or one that has the peer: made when it is first needed."""
    if peer is None:
        return Path(sys.executable)
    home = ENVIRONMENTS / peer
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        print(f"setting up {peer} ...", file=sys.stderr)
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[peer]], check=True)
        (home / "ready").touch()
    return python


def plan(*, full: bool) -> list[Job]:
    """Every case of a run: limits, ours, peers, at every size and of every kind."""
    jobs = []
    for rows in [100_000, 1_000_000] + [10_000_000] * full:
        for kind in ("float", "integer", "weighted"):
            jobs += [Job(case, rows, kind) for case in ("sort", "argsort", "one_read", "fit", "solve")]
            if kind != "weighted":  # fairlearn takes no weights into account
                jobs += [Job(case, rows, kind) for case in ("error_parity_fit", "fairlearn_fit")]
        jobs += [Job(case, rows) for case in (*OWN_APPLY, "decide", "error_parity_odds", "fairlearn_odds", "audit")]
    return jobs + [Job(case, 1_000_000, groups=groups) for groups in (2, 8, 50) for case in ("sort", "fit")]


def compared(job: Job, done: list[Job]) -> dict[str, float]:
    """How a case of ours compares, as ratios: with the limits, and how many times as long the peers take."""
    others = {
        j.case: j.result["seconds"] for j in done if (j.rows, j.kind, j.groups) == (job.rows, job.kind, job.groups)
    }
    use = "fit" if job.case == "fit" else "odds" if job.case in (*OWN_APPLY, "decide") else None
    if use is None:
        return {}
    own = job.result["seconds"]
    limits = {limit: own / others[limit] for limit in ("sort", "argsort") if use == "fit" and limit in others}
    return limits | {peer: others[f"{peer}_{use}"] / own for peer in PEERS if f"{peer}_{use}" in others}


def table(done: list[Job]) -> str:
    """Rows of a table in Markdown: seconds, memory, and ratios."""
    heads = ["case", "rows", "scores", "groups", "seconds", "extra MB", "of sort", "of argsort", *PEERS]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    for job in done:
        ratios = compared(job, done)
        shown = [f"{ratios[k]:.1f} x" if k in ratios else "" for k in ("sort", "argsort", *PEERS)]
        cells = [job.case, f"{job.rows:.0e}", job.kind, str(job.groups)]
        cells += [f"{job.result['seconds']:.4f}", f"{job.result['extra_mb']:.0f}", *shown]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="1e7 rows too")
    given = parser.parse_args()
    jobs = plan(full=given.full)
    done = []
    for number, job in enumerate(jobs, 1):
        print(f"{number}/{len(jobs)} {job.case} {job.rows:.0e} {job.kind}", file=sys.stderr)
        done.append(job.run())
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}
    records = [
        {"case": j.case, "rows": j.rows, "kind": j.kind, "groups": j.groups, **j.result, "ratios": compared(j, done)}
        for j in done
    ]
    results = {"machine": machine, "imports": import_times(), "results": records}
    (HERE / "results.json").write_text(json.dumps(results, indent=1).replace("NaN", "null") + "\n")
    print(table(done))
    print("\nimport:", ", ".join(f"{name} {seconds:.3f} s" for name, seconds in results["imports"].items()))


if __name__ == "__main__":
    main()
