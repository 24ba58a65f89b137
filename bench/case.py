"""One case in a process of its own: set up, warm up, repeat, and print a line of JSON.

Usage: python bench/case.py CASE --rows N [--groups G] [--kind float|integer|weighted] [--repeat K]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from data import people

Case = Callable[[dict[str, np.ndarray]], Callable[[], object]]
CASES: dict[str, Case] = {}
SLOW = 20.0  # seconds: once is enough
_STATUS = Path("/proc/self/status")


def case(make: Case) -> Case:
    """Register a case: it sets up and returns what is measured."""
    CASES[make.__name__] = make
    return make


# -- the limits --------------------------------------------------------------------------------------------------------


@case
def sort(data):
    return lambda: np.sort(data["score"])


@case
def argsort(data):
    return lambda: np.argsort(data["score"])


@case
def one_read(data):
    return data["score"].sum


# -- ours --------------------------------------------------------------------------------------------------------------


def _policy(data):
    """Fitted on some of the people, which is enough to have curves to measure."""
    import evenodds as eo

    some = slice(0, 20_000)
    joint = eo.JointDistribution.from_arrays(data["score"][some], data["group"][some], data["label"][some])
    return eo.fit(joint, max_slope=2 * np.std(data["score"]) ** -1)


@case
def fit(data):
    """From the arrays to the policy with its certificate, at the defaults."""
    import evenodds as eo

    def run():
        joint = eo.JointDistribution.from_arrays(data["score"], data["group"], data["label"], weight=data["weight"])
        return eo.fit(joint)

    return run


@case
def solve(data):
    """The same once the people are sorted."""
    import evenodds as eo

    joint = eo.JointDistribution.from_arrays(data["score"], data["group"], data["label"], weight=data["weight"])
    return lambda: eo.fit(joint)


@case
def decide(data):
    """Odds and draws by position, as CurveOptimizer.predict makes them."""
    policy = _policy(data)
    rng = np.random.default_rng(0)
    return lambda: rng.random(data["score"].size) < policy.odds(data["score"], codes=data["group"])


@case
def audit(data):
    """Every figure with its interval, and 200 draws of a bootstrap, once the people are sorted."""
    import evenodds as eo

    policy = _policy(data)
    joint = eo.JointDistribution.from_arrays(data["score"], data["group"], data["label"], weight=data["weight"])
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
    from fairlearn.postprocessing import ThresholdOptimizer
    from sklearn.base import BaseEstimator

    class Score(BaseEstimator):
        """An estimator whose score is the first column."""

        def fit(self, *_):
            return self

        def predict(self, table):
            return np.asarray(table)[:, 0]

        def __sklearn_is_fitted__(self):
            return True

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


def measured(run: Callable[[], object], repeat: int) -> dict[str, float]:
    """Median seconds over the repeats, and the most memory in MB beyond what was there before.

    The first run, with imports, is not counted, unless it takes so long that they do not matter.
    """
    start = time.perf_counter()
    run()
    first = time.perf_counter() - start
    if first > SLOW:
        return {"seconds": first, "fastest": first, "extra_mb": float("nan")}
    peak = float("nan")
    if _STATUS.exists():
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
        before = _memory("VmRSS")
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
        del result
    if _STATUS.exists():
        peak = _memory("VmHWM") - before
    return {"seconds": statistics.median(seconds), "fastest": min(seconds), "extra_mb": round(peak, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--kind", default="float", choices=["float", "integer", "weighted"])
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    data = people(given.rows, groups=given.groups, kind=given.kind)
    print(json.dumps(measured(CASES[given.case](data), given.repeat)))


if __name__ == "__main__":
    main()
