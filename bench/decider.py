"""Whatever makes rates equal, in its own environment: fitted to people, and asked for their odds and for decisions.

Usage: python bench/decider.py METHOD PEOPLE.npz ANSWERS.npz

The people are scores, group codes, labels, and for each of several halves who belongs to it. The answers are the odds
of everybody after a fit to everybody, those of the other half after a fit to one, decisions for the same people in two
orders, and the CPU seconds of fits. All that follows from these is computed once for all methods, in facts.py.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np

FITS = 7  # after a first one, that is not counted
SEED = 0  # of every draw that takes one


class Decider(NamedTuple):
    """What a fit gives: functions of scores and group codes (and of rows, by number, who is decided for)."""

    odds: Callable[[np.ndarray, np.ndarray], np.ndarray]
    decide: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


Method = Callable[[np.ndarray, np.ndarray, np.ndarray], Decider]
METHODS: dict[str, Method] = {}


def method(fit: Method) -> Method:
    """Register a method: it is fitted to scores, group codes and labels."""
    METHODS[fit.__name__] = fit
    return fit


# -- nobody's: what all start from -------------------------------------------------------------------------------------


def best_threshold(score, label):
    """The most accurate threshold; who has it gets a yes."""
    values, place = np.unique(score, return_inverse=True)
    gained = np.bincount(place, weights=2.0 * label - 1)  # by a yes in place of a no
    above = np.append(np.cumsum(gained[::-1])[::-1], 0.0)
    return np.append(values, np.inf)[above.argmax()]


@method
def one_threshold(score, _, label):
    threshold = best_threshold(score, label)
    return Decider(lambda s, _: (s >= threshold).astype(float), lambda s, _, __: (s >= threshold).astype(int))


# -- ours --------------------------------------------------------------------------------------------------------------


def _evenodds(score, group, label, **options):
    import evenodds as eo

    policy = eo.fit(eo.JointDistribution.from_arrays(score, group, label), **options)

    def decide(s, g, who):
        return (eo.draw(who.tolist(), key="00" * 32) < policy.odds(s, g)).astype(int)

    return Decider(policy.odds, decide)


@method
def evenodds(score, group, label):
    return _evenodds(score, group, label)


@method
def evenodds_fixed(score, group, label):
    return _evenodds(score, group, label, curve="fixed")


# -- the peers, at their defaults but for what makes all of them answer the same question ------------------------------


@method
def fairlearn(score, group, label):
    from estimator import Score
    from fairlearn.postprocessing import ThresholdOptimizer

    peer = ThresholdOptimizer(
        estimator=Score(),
        constraints="equalized_odds",
        objective="accuracy_score",
        prefit=True,
        predict_method="predict",
    )
    peer.fit(score[:, None], label, sensitive_features=group)
    return Decider(
        lambda s, g: peer._pmf_predict(s[:, None], sensitive_features=g)[:, 1],
        lambda s, g, _: np.ravel(peer.predict(s[:, None], sensitive_features=g, random_state=SEED)).astype(int),
    )


@method
def error_parity(score, group, label):
    from error_parity import RelaxedThresholdOptimizer

    peer = RelaxedThresholdOptimizer(
        predictor=lambda table: table[:, 0], constraint="equalized_odds", tolerance=0.0, seed=SEED
    )
    peer.fit(X=score[:, None], y=label, group=group)

    def odds_of(one, s):
        """The expectation of one of its classifiers: a mix of others, a coin, or a threshold."""
        if hasattr(one, "probabilities"):
            return sum(p * odds_of(part, s) for part, p in zip(one.classifiers, one.probabilities, strict=True))
        return np.full(s.size, one.target_fpr) if hasattr(one, "target_fpr") else one(s[:, None]).astype(float)

    def odds(s, g):
        mean = np.full(s.size, np.nan)
        for code, one in peer._realized_classifier.group_to_clf.items():
            mean[g == code] = odds_of(one, s[g == code])
        return mean

    return Decider(odds, lambda s, g, _: np.asarray(peer(s[:, None], group=g)).astype(int))


@method
def aif360(score, group, label):
    """It turns over decisions, so it is given those of the best single threshold. It knows two groups."""
    import pandas as pd
    from aif360.algorithms.postprocessing import EqOddsPostprocessing
    from aif360.datasets import BinaryLabelDataset

    threshold = best_threshold(score, label)

    def data(g, decided):
        frame = pd.DataFrame({"group": g.astype(float), "yes": decided.astype(float)})
        return BinaryLabelDataset(df=frame, label_names=["yes"], protected_attribute_names=["group"])

    peer = EqOddsPostprocessing(unprivileged_groups=[{"group": 0}], privileged_groups=[{"group": 1}], seed=SEED)
    peer.fit(data(group, label), data(group, score >= threshold))
    privileged_yes, privileged_no, other_yes, other_no = peer.model_params.x

    def odds(s, g):
        yes = s >= threshold
        return np.where(g == 1, np.where(yes, privileged_yes, privileged_no), np.where(yes, other_yes, other_no))

    return Decider(odds, lambda s, g, _: peer.predict(data(g, s >= threshold)).labels.ravel().astype(int))


# -- asking ------------------------------------------------------------------------------------------------------------


def answers(fit: Method, score, group, label, halves) -> dict[str, np.ndarray]:
    """Everything that facts.py asks for."""
    fit(score, group, label)  # imports, and whatever else is done once
    seconds = []
    for _ in range(FITS):
        start = time.process_time()
        decider = fit(score, group, label)
        seconds.append(time.process_time() - start)
    who = np.arange(score.size)
    shuffled = np.random.default_rng(1).permutation(who)
    first = decider.decide(score, group, who)
    again = np.empty_like(first)
    again[shuffled] = decider.decide(score[shuffled], group[shuffled], shuffled)
    # Neighbours: a group's own scores, each once.
    cells = np.unique(np.column_stack([group, score]), axis=0)
    on_fresh = [
        fit(score[half], group[half], label[half]).odds(score[~half], group[~half]) for half in halves.astype(bool)
    ]
    return {
        "odds": decider.odds(score, group),
        "cell_odds": decider.odds(cells[:, 1], cells[:, 0].astype(group.dtype)),
        "fresh": np.concatenate(on_fresh),
        "changed": np.mean(first != again),
        "drawn": first.mean(),
        "seconds": np.median(seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("people", type=Path)
    parser.add_argument("answers", type=Path)
    given = parser.parse_args()
    with np.load(given.people) as people:
        answered = answers(METHODS[given.method], *(people[name] for name in ("score", "group", "label", "halves")))
    package = {"one_threshold": "numpy"}.get(given.method, given.method.removesuffix("_fixed").replace("_", "-"))
    np.savez(given.answers, **answered, version=version(package), python=sys.version.split()[0])


if __name__ == "__main__":
    main()
