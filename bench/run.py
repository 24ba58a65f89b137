"""Measure evenodds beside its peers and beside the limits of the machine, each case in a fresh process.

Usage: python bench/run.py [--full] [--only PART]

Writes bench/results.json, and prints a table with the ratios that matter.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
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
    """Every case of a run."""
    sizes = [100_000, 1_000_000] + [10_000_000] * full
    jobs = []
    for rows in sizes:
        jobs += [Job(case, rows) for case in ("one_read", *OWN_APPLY, "error_parity_odds", "fairlearn_odds")]
    return jobs


def table(done: list[Job]) -> str:
    """Rows of a table in Markdown: seconds, memory, and how many times as long as ours a peer takes."""
    by_key = {(j.case, j.rows, j.kind, j.groups): j for j in done}
    lines = ["| case | rows | scores | groups | seconds | extra MB | fairlearn | error-parity |", "|---|" + "---:|" * 7]
    for job in done:
        ratios = []
        for peer in PEERS:
            other = by_key.get((f"{peer}_{'odds' if job.case in OWN_APPLY else 'fit'}", job.rows, job.kind, job.groups))
            known = other is not None and job.peer is None and job.case in OWN_APPLY
            ratios.append(f"{other.result['seconds'] / job.result['seconds']:.1f} times" if known else "")
        cells = [job.case, f"{job.rows:.0e}", job.kind, str(job.groups)]
        cells += [f"{job.result['seconds']:.4f}", f"{job.result['extra_mb']:.0f}", *ratios]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="1e7 rows too")
    given = parser.parse_args()
    jobs = plan(full=given.full)
    done = []
    for number, job in enumerate(jobs, 1):
        print(f"{number}/{len(jobs)} {job.case} {job.rows:.0e} {job.kind}", file=sys.stderr)
        done.append(job.run())
    machine = {"python": platform.python_version(), "machine": platform.machine()}
    records = [{"case": j.case, "rows": j.rows, "kind": j.kind, "groups": j.groups, **j.result} for j in done]
    (HERE / "results.json").write_text(json.dumps({"machine": machine, "results": records}, indent=1) + "\n")
    print(table(done))


if __name__ == "__main__":
    main()
