"""One case at one size, and several of them measured in turn."""

from __future__ import annotations

import json
import statistics
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from peer import peer_of, python_of

CASE = Path(__file__).parent / "case.py"
SLOW = 20.0  # seconds: the first run is then the only one, since imports do not matter
ENOUGH = 10.0  # seconds that the repeats of a case may take together, if
FEWEST, MOST = 3, 15  # of them are allowed by that


@dataclass(frozen=True)
class Job:
    """One case at one size."""

    case: str
    rows: int = 0
    kind: str = "float"
    groups: int = 4
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return ", ".join([self.case.replace("_", " "), *(f"{key}={value}" for key, value in self.options.items())])

    def record(self, **result: Any) -> dict[str, Any]:
        """The job and what was measured, as plain data."""
        return {"name": self.name, **asdict(self), **result}


class Worker:
    """The process of a job, which runs it once each time it is asked."""

    def __init__(self, job: Job, stack: ExitStack) -> None:
        self.job = job
        options = ["--rows", str(job.rows), "--kind", job.kind, "--groups", str(job.groups)]
        options += ["--options", json.dumps(dict(job.options))]
        command = [python_of(peer_of(job.case)), "-W", "ignore", str(CASE), job.case, *options]
        self._process: Any = stack.enter_context(
            subprocess.Popen(command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        )
        self.runs: list[dict[str, float]] = []
        self.wanted = 0
        self.note = ""
        """Why there is no time, if there is none."""

    def warm_up(self, limit: float) -> None:
        """Run for the first time, and tell from it how often to repeat."""
        self.run(limit)
        if self.runs and self.runs[0]["wall"] <= SLOW:
            self.wanted = int(min(max(ENOUGH / self.runs.pop()["wall"], FEWEST), MOST))

    def run(self, limit: float) -> None:
        """Measure once; a run that takes too long is ended, and so is one that fails."""
        over = threading.Event()

        def end() -> None:
            over.set()
            self._process.kill()

        timer = threading.Timer(limit, end)
        timer.start()
        try:
            self._process.stdin.write(b"\n")
            answer = self._process.stdout.readline()
        except BrokenPipeError:  # it failed before it was asked
            answer = b""
        finally:
            timer.cancel()
        if answer:
            self.runs.append(json.loads(answer))
        else:
            self.runs, self.wanted = [], 0
            self.note = f"over {limit:g} s" if over.is_set() else "failed"

    @property
    def record(self) -> dict[str, Any]:
        """The job with the medians of its seconds, and the most memory; None where there are no runs."""
        result = dict.fromkeys(("wall", "cpu", "extra_mb"))
        if self.runs:
            result = {clock: statistics.median(run[clock] for run in self.runs) for clock in ("wall", "cpu")}
            result["extra_mb"] = max((run["extra_mb"] for run in self.runs), key=lambda peak: peak or 0.0)
        return self.job.record(**result, runs=len(self.runs), note=self.note)


def compared(jobs: Sequence[Job], *, limit: float) -> list[dict[str, Any]]:
    """Measure jobs in turn, so that all of them feel what else the machine does.

    Parameters
    ----------
    jobs : sequence of Job
    limit : float
        Seconds after which a single run, with what it has to set up the first time, is given up.
    """
    with ExitStack() as stack:
        workers = []
        for job in jobs:
            workers.append(Worker(job, stack))
            workers[-1].warm_up(limit)
        for number in range(MOST):
            for worker in workers:
                if number < worker.wanted:
                    worker.run(limit)
        return [worker.record for worker in workers]
