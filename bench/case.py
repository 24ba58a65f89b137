"""One case in a process of its own: set up, then run once for every line that comes in, and answer in a line of JSON.

Usage: yes | head -n 5 | python bench/case.py CASE [--rows N] [--groups G] [--kind float|integer|weighted]
                                                   [--options '{"curve": "cubic"}']

The first answer has lazy imports in it. Who measures several cases asks them in turn: they feel the same machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from data import KINDS, ids, people

Case = Callable[..., Callable[[], object]]
CASES: dict[str, Case] = {}
_KEY = "00" * 32  # of draws by id
_STATUS = Path("/proc/self/status")


def case(make: Case) -> Case:
    """Register a case: it takes the people, and options if it has any, sets up, and returns what is measured."""
    CASES[make.__name__] = make
    return make


# -- the limits --------------------------------------------------------------------------------------------------------


@case
def sort(data):
    return lambda: np.sort(data["score"])


@case
def argsort(data):
    return lambda: np.argsort(data["score"])


# -- ours --------------------------------------------------------------------------------------------------------------


def _joint(data):
    import evenodds as eo

    return eo.JointDistribution.from_arrays(data["score"], data["group"], data["label"], weight=data["weight"])


def _policy(data):
    """Fitted on some of the people, which is enough to have curves to measure."""
    import evenodds as eo

    some = {name: column if column is None else column[:20_000] for name, column in data.items()}
    return eo.fit(_joint(some), max_slope=2 * np.std(data["score"]) ** -1)


@case
def fit(data, **options):
    """From the arrays to the policy with its certificate."""
    import evenodds as eo

    return lambda: eo.fit(_joint(data), **options)


@case
def resolve(_, **options):
    """A joint distribution that was solved before is solved again."""
    import evenodds as eo

    joint = eo.datasets.credit_risk()
    eo.fit(joint)
    return lambda: eo.fit(joint, **options)


@case
def one_fit(_):
    """What stability does many times."""
    import evenodds as eo

    joint = eo.datasets.compas()
    return lambda: eo.fit(joint)


@case
def stability(_, **options):
    import evenodds as eo

    joint = eo.datasets.compas()
    return lambda: eo.stability(joint, **options)


@case
def draw_by_position(data):
    """Odds and draws in the order of the rows, as CurveOptimizer.predict makes them."""
    policy = _policy(data)
    rng = np.random.default_rng(0)
    return lambda: rng.random(data["score"].size) < policy.odds(data["score"], codes=data["group"])


@case
def draw_by_id(data):
    """Draws that depend on who is drawn for, without odds."""
    import evenodds as eo

    who = ids(data["score"].size)
    return lambda: eo.draw(who, key=_KEY)


@case
def decide_by_id(data):
    """Odds, draws by id and decisions of a whole data frame."""
    import pandas as pd

    import evenodds as eo

    policy = _policy(data)
    frame = pd.DataFrame({"who": ids(data["score"].size), "score": data["score"], "group": data["group"]})
    return lambda: eo.decide(policy, frame, score="score", group="group", id="who", key=_KEY)


@case
def audit(data):
    """Every figure with its interval, and 200 draws of a bootstrap, once the people are sorted."""
    import evenodds as eo

    policy, joint = _policy(data), _joint(data)
    return lambda: eo.audit(policy, joint, bootstrap=200)


@case
def odds_by_codes(data):
    policy = _policy(data)
    codes = data["group"].astype(np.int8)
    return lambda: policy.odds(data["score"], codes=codes)


@case
def odds_by_group(data):
    policy = _policy(data)
    return lambda: policy.odds(data["score"], data["group"])


@case
def apply_pandas_integers(data):
    import pandas as pd

    return _apply(data, pd.DataFrame({"score": data["score"], "group": data["group"]}))


@case
def apply_pandas_categories(data):
    import pandas as pd

    names = [str(i) for i in range(data["group"].max() + 1)]
    group = pd.Categorical.from_codes(data["group"], names)
    return _apply(data, pd.DataFrame({"score": data["score"], "group": group}))


@case
def apply_polars_integers(data):
    import polars as pl

    return _apply(data, pl.DataFrame({"score": data["score"], "group": data["group"]}))


@case
def apply_polars_categories(data):
    import polars as pl

    group = pl.Series(data["group"]).cast(pl.String).cast(pl.Categorical)
    return _apply(data, pl.DataFrame({"score": data["score"], "group": group}))


def _apply(data, frame):
    import evenodds as eo

    policy = _policy(data)
    return lambda: eo.apply(policy, frame, score="score", group="group")


# -- the peers, each in an environment of its own ----------------------------------------------------------------------


def _fairlearn(data, rows=slice(None)):
    from estimator import Score
    from fairlearn.postprocessing import ThresholdOptimizer

    peer = ThresholdOptimizer(
        estimator=Score(), constraints="equalized_odds", prefit=True, predict_method="predict", grid_size=1000
    )
    return lambda: peer.fit(data["score"][rows, None], data["label"][rows], sensitive_features=data["group"][rows])


@case
def fairlearn_fit(data):
    return _fairlearn(data)


@case
def fairlearn_odds(data):
    fitted = _fairlearn(data, slice(0, 20_000))()
    return lambda: fitted._pmf_predict(data["score"][:, None], sensitive_features=data["group"])


def _error_parity(data, rows=slice(None)):
    from error_parity import RelaxedThresholdOptimizer

    def fitted():
        peer = RelaxedThresholdOptimizer(
            predictor=lambda table: table[:, 0], constraint="equalized_odds", tolerance=0.0, seed=0
        )
        peer.fit(X=data["score"][rows, None], y=data["label"][rows], group=data["group"][rows])
        return peer

    return fitted


@case
def error_parity_fit(data):
    return _error_parity(data)


@case
def error_parity_odds(data):
    fitted = _error_parity(data, slice(0, 20_000))()
    return lambda: fitted(data["score"][:, None], group=data["group"])


# -- measuring ---------------------------------------------------------------------------------------------------------


def _memory(field: str) -> float:
    lines = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
    return int(lines[field].split()[0]) / 1024


def measured(run: Callable[[], object]) -> dict[str, float | None]:
    """Seconds by the clock and of CPU (of all threads), and the most memory in MB beyond what was there before."""
    before = None
    if _STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        before = _memory("VmRSS")
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = None if before is None else _memory("VmHWM") - before
    del result
    return {"wall": wall, "cpu": cpu, "extra_mb": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--rows", type=int, default=0)
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--kind", default="float", choices=KINDS)
    parser.add_argument("--options", type=json.loads, default={}, help="of the fit, as JSON")
    given = parser.parse_args()
    data = people(given.rows, groups=given.groups, kind=given.kind)
    run = CASES[given.case](data, **given.options)
    for _ in sys.stdin:
        print(json.dumps(measured(run)), flush=True)


if __name__ == "__main__":
    main()
