"""Random fits of odd people with odd options, each checked from outside.

    python tests/fuzz.py --fits 20000 --seed 0 [--seconds 600]    many of them; what is found is printed
    python tests/fuzz.py --seed 0 --only 123                      one of them, as a program that can be run

A case is made from the seed and its number alone. What a fit returns is recomputed from the odds of its people and held
against linear programs of our own (tests/oracles.py).
"""

# ruff: noqa: T201 a command says what it found

from __future__ import annotations

import argparse
import math
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import evenodds as eo
from evenodds.geometry.program import SolverError
from oracles import (
    RATES,
    Measured,
    UnsolvedError,
    goal_of,
    highest,
    highest_exactly,
    hull,
    hull_optimum,
    largest_slopes,
    lp_optimum,
    measured,
    roc_points,
)

FAMILIES = ("fixed", "linear", "quadratic", "cubic", "quartic", "optimal")
CONTINUOUS = FAMILIES[1:5]
CRITERIA = ("even_slopes", "smoothest", "robust", "fewest_randomized", "even_randomized")
OBJECTIVES = ("balanced_accuracy_score", "selection_rate", "true_positive_rate", "true_negative_rate")
SLOW = 10.0  # seconds that no fit of a few hundred scores may take
HOPELESS = 60  # seconds after which it is stopped
RATE_ERROR = 1e-7  # of rates and losses
COARSE = 1e-9  # thresholds that are no more exact than this may break a promise, if that is said
ARC_ERROR = 1e-6  # of the objective where hulls have arcs, which are looked at in places
GAIN_ERROR = 1e-8  # of the objective against a program's optimum
SLOPE_ERROR = 1e-6  # relative
EXACT = 1e-14  # of a program's own rates, where a group's weights leave it room to cheat


# -- cases -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """One fit: who is there, and what is asked."""

    score: np.ndarray
    group: np.ndarray
    label: np.ndarray
    weight: np.ndarray | None
    orientation: str
    spread: float
    """How far most scores are apart."""
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def rounding(self) -> float:
        """How exact thresholds can be where most scores are, relative to how far these are apart."""
        low, lower, higher, high = np.percentile(self.score, [5, 25, 75, 95])  # sentinels are far from most
        near = min(apart for apart in (higher - lower, high - low, self.spread) if apart > 0)
        return float(np.spacing(np.median(np.abs(self.score)).astype(float))) / near

    def joint(self) -> eo.JointDistribution:
        return eo.JointDistribution.from_arrays(
            self.score, self.group, self.label, weight=self.weight, orientation=self.orientation
        )

    def __str__(self) -> str:
        """The case as a program."""
        weight = "None" if self.weight is None else f"np.array({self.weight.tolist()})"
        return "\n".join(
            [
                "import numpy as np",
                "import evenodds as eo",
                "from math import inf",
                f"score = np.array({self.score.tolist()})",
                f"group = {self.group.tolist()}",
                f"label = {self.label.astype(int).tolist()}",
                f"weight = {weight}",
                f"people = {{'weight': weight, 'orientation': {self.orientation!r}}}",
                "joint = eo.JointDistribution.from_arrays(score, group, label, **people)",
                f"policy = eo.fit(joint, {', '.join(f'{k}={_code(v)}' for k, v in self.options.items())})",
            ]
        )


def _code(value: object) -> str:
    return f"eo.{value!r}" if isinstance(value, eo.Cost) else repr(value)


def case_of(seed: int, number: int) -> Case:
    """The case of a number."""
    rng = np.random.default_rng([seed, number])
    score, group, label, spread = _people(rng)
    score, spread = _elsewhere(rng, score, spread)
    weight = None
    if rng.random() < 0.3:
        weight = rng.uniform(0.2, 3, score.size) if rng.random() < 0.5 else 10 ** rng.uniform(-8, 8, score.size)
    orientation = "positive" if rng.random() < 0.7 else "negative"
    if orientation == "negative" and rng.random() < 0.9:
        score = -score
    case = Case(score, group, label, weight, orientation, spread)
    case.options.update(_goals(rng))
    case.options.update(_budget(rng, case))
    return case


def _people(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Scores of a few groups, some of them odd; last how far most scores are apart."""
    sizes = rng.integers(4, 61, rng.integers(2, 5))
    scores, labels = [], []
    grid = rng.choice([0.0, 0.1, 0.5, 1.0])
    for n in sizes:
        y = rng.random(n) < rng.uniform(0.1, 0.9)
        y[:2] = [False, True]
        s = rng.normal(rng.uniform(0.2, 2.5) * y, 1)
        kind = rng.choice(
            ["plain", "one score", "two scores", "separated", "nearly separated", "backwards", "skewed", "integers"],
            p=[0.6, 0.04, 0.06, 0.06, 0.06, 0.04, 0.07, 0.07],
        )
        if kind == "one score":
            s = np.full(n, rng.normal())
        elif kind == "two scores":
            s = np.where(rng.random(n) < 0.3 + 0.4 * y, 1.0, 0.0)
        elif kind in ("separated", "nearly separated"):
            s = y + rng.uniform(0, 0.9, n)
            s[2:4] = 1 - s[2:4] if kind == "nearly separated" else s[2:4]
        elif kind == "backwards":
            s = -s
        elif kind == "skewed":
            s = np.exp(3 * s)
        elif kind == "integers":
            s = np.round(3 * s)
        scores.append(np.round(s / grid) * grid if grid and kind == "plain" else s)
        labels.append(y)
    score = np.concatenate(scores)
    spread = float(np.ptp(score)) or 1.0
    if rng.random() < 0.2:  # people whose score is not known, or was mistyped
        score[rng.random(score.size) < rng.uniform(0.005, 0.2)] = rng.choice([-999.0, 1e6, 1e9, -1e6])
    return score, np.repeat([f"g{i}" for i in range(sizes.size)], sizes), np.concatenate(labels), spread


def _elsewhere(rng: np.random.Generator, score: np.ndarray, spread: float) -> tuple[np.ndarray, float]:
    """The same scores on another scale, or far from 0."""
    where = rng.choice(["here", "moved", "scaled", "both", "near 2^53"], p=[0.5, 0.15, 0.2, 0.1, 0.05])
    if where == "near 2^53":
        whole = np.round(10 * score).astype(np.int64)
        return 2**53 - int(whole.max()) + whole, 10 * spread
    if where in ("scaled", "both"):
        scale = 10 ** rng.uniform(-30, 30)
        score, spread = score * scale, spread * scale
    if where in ("moved", "both"):
        score = score + rng.choice([-1, 1]) * 10 ** rng.uniform(0, 12) * spread
    return score, spread


def _goals(rng: np.random.Generator) -> dict[str, Any]:
    options: dict[str, Any] = {"curve": str(rng.choice(FAMILIES, p=[0.1, 0.35, 0.12, 0.14, 0.14, 0.15]))}
    if rng.random() < 0.4:
        options["constraints"] = str(rng.choice(list(RATES)))
    if rng.random() < 0.4:
        options["tolerance"] = float(rng.choice([0.01, 0.05, 0.2, 1e-9, 1.0, rng.uniform(0, 0.3)]))
    kind = rng.random()
    if kind < 0.15:
        costs = [(1, 1), (0, 1), (1, 0), (1, 1000), tuple(10 ** rng.uniform(-3, 3, 2))][rng.integers(5)]
        options["objective"] = eo.Cost(*(float(cost) for cost in costs))
    elif kind < 0.3:
        options["objective"] = str(rng.choice(OBJECTIVES if "constraints" in options else OBJECTIVES[:1]))
    elif kind < 0.4 and _one_point(options):
        options["objective"] = "closest_to_perfect"
    if rng.random() < 0.3 and options["curve"] != "optimal":
        options["criterion"] = str(rng.choice(CRITERIA))
    if rng.random() < 0.1 and options["curve"] in CONTINUOUS:
        options["keep_individual_odds"] = True
    return options


def _one_point(options: dict[str, Any]) -> bool:
    return options.get("constraints", "equalized_odds") == "equalized_odds" and not options.get("tolerance")


def _budget(rng: np.random.Generator, case: Case) -> dict[str, Any]:
    kind = rng.choice(["default", "slope", "loss", "none", "target"], p=[0.3, 0.35, 0.1, 0.1, 0.15])
    jumps = case.options["curve"] == "fixed"
    wide = float(np.ptp(case.score)) or 1.0
    slope = float(10 ** rng.uniform(-1.5, 3) / (case.spread if rng.random() < 0.8 else wide))
    if kind == "target" and _one_point(case.options):
        steep = {"max_slope": slope} if rng.random() < 0.4 and not jumps else {}
        return {"target": _target(rng, case), **steep}
    if jumps or kind in ("default", "target"):
        return {}
    losses = [0.0, 1e-6, 1e-3, 0.005, 0.02, 0.1, 1.0]
    return {
        "slope": {"max_slope": slope},
        "loss": {"max_loss": float(rng.choice(losses))},
        "none": {"max_slope": math.inf},
    }[str(kind)]


def _target(rng: np.random.Generator, case: Case) -> tuple[float, float] | str:
    """A point that every group reaches, now and then on a ROC, on the diagonal, or beyond."""
    if rng.random() < 0.1:
        return "baseline"
    fpr = float(rng.uniform(0, 1))
    corners = [hull(roc_points(member)) for member in case.joint().members]
    if rng.random() < 0.2:
        chosen = corners[rng.integers(len(corners))]
        fpr = float(chosen[rng.integers(len(chosen)), 0])
    top = min(float(np.interp(fpr, *points.T)) for points in corners)
    share = float(rng.choice([0.0, 1.0, 1.1, 1 - 1e-9, 1e-9, rng.uniform(0, 1)], p=[0.05, 0.1, 0.05, 0.05, 0.05, 0.7]))
    return fpr, min(fpr + share * (top - fpr), 1.0)


# -- checks ------------------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What became of a case."""

    word: str
    """"fit", or the name of the error that refused it."""
    seconds: float
    findings: list[str]


class TooLongError(Exception):
    """Not of the package's: a fit was stopped."""


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome_of(case: Case) -> Outcome:
    """Fit a case and check what comes of it."""
    start = time.process_time()
    told: list[str] = []
    try:
        with warnings.catch_warnings(record=True) as seen, _at_most(HOPELESS):
            warnings.simplefilter("error")
            warnings.simplefilter("always", eo.EvenoddsWarning)
            joint = case.joint()
            policy = eo.fit(joint, **case.options)
            str(policy)
        told = [str(warning.message) for warning in seen]
    except eo.EvenoddsError as error:
        return Outcome(type(error).__name__, time.process_time() - start, list(_refusal(case, error)))
    except TooLongError:
        return Outcome("stopped", HOPELESS, [f"no answer after {HOPELESS} s"])
    except Exception as error:  # noqa: BLE001 whatever it is, it is a finding
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({place.filename.rsplit('evenodds/')[-1]}:{place.lineno})"
        return Outcome("crash", time.process_time() - start, [text])
    seconds = time.process_time() - start
    try:
        wrongs = list(_wrongs(case, joint, policy, told))
    except UnsolvedError:
        return Outcome("fit (unchecked)", seconds, [])
    findings = [f"took {seconds:.1f} s"] if seconds > SLOW else []
    return Outcome("fit", seconds, [*findings, *wrongs])


def _refusal(case: Case, error: eo.EvenoddsError) -> Iterator[str]:
    """Without a target there is always an answer: a lottery, if nothing else.

    Only where scores are so large that thresholds cannot be told apart may a promise be too much.
    """
    free = "target" not in case.options and not case.options.get("keep_individual_odds")
    free_to_answer = isinstance(error, eo.UnreachableError) and free and case.rounding < COARSE
    if isinstance(error, SolverError) or free_to_answer:
        yield f"{type(error).__name__}: {error}"


def _wrongs(case: Case, joint: eo.JointDistribution, policy: eo.Policy, told: list[str]) -> Iterator[str]:
    found, options, certificate = measured(policy, joint), case.options, policy.certificate
    constraint, tolerance = options.get("constraints", "equalized_odds"), options.get("tolerance", 0.0)
    imprecise = any("miss their points" in text for text in told)  # said, not hidden
    for group, odds in zip(joint.groups, found.odds, strict=True):
        if not (odds.min() >= 0 and odds.max() <= 1):
            yield f"odds of {group} from {odds.min()} to {odds.max()}"
        if np.diff(odds).min(initial=0) < -1e-12:
            yield f"odds of {group} fall by {-np.diff(odds).min():.2e}"
    if found.apart(constraint) > tolerance + RATE_ERROR and not imprecise:
        yield f"rates differ by {found.apart(constraint):.3e}, {found.apart(constraint) - tolerance:.1e} too much"
    target = options.get("target")
    if isinstance(target, tuple) and np.abs(found.points - target).max() > RATE_ERROR and not imprecise:
        yield f"the target is missed by {np.abs(found.points - target).max():.1e}"
    budget = min(options.get("max_slope", math.inf), certificate.max_slope)
    slopes = largest_slopes(policy, joint)
    for group, slope in zip(joint.groups, slopes, strict=True):
        stated = policy.curves[group].lipschitz
        room = 1 + SLOPE_ERROR + 8 * case.rounding * slope * case.spread if math.isfinite(slope) else 1.0
        if slope > budget * room:
            yield f"{group} has a slope of {slope:.9g} where {budget:.9g} is allowed ({slope / budget - 1:.1e} more)"
        if slope > stated * room:
            yield f"{group} has a slope of {slope:.9g}, and {stated:.9g} is stated"
    if not imprecise:
        yield from _against_programs(case, joint, policy, found, budget)
    yield from _slope_bounds(joint, policy, found)


def _against_programs(
    case: Case, joint: eo.JointDistribution, policy: eo.Policy, found: Measured, budget: float
) -> Iterator[str]:
    """The objective from both sides."""
    options, certificate = case.options, policy.certificate
    asked = (
        options.get("constraints", "equalized_odds"),
        options.get("tolerance", 0.0),
        options.get("objective", "accuracy_score"),
    )
    goal = goal_of(joint, asked[2])
    sign = -1.0 if goal.smaller_is_better else 1.0
    reached = goal.value(found.points)
    if abs(reached - certificate.objective) > GAIN_ERROR:
        yield f"the objective is {reached:.12g}, and {certificate.objective:.12g} is stated"
    best = lp_optimum(joint, budget, *asked)
    if sign * (reached - best) > GAIN_ERROR:
        yield f"the objective {reached:.12g} is better than the best there is, {best:.12g}"
    if sign * (best - certificate.objective_bound) > GAIN_ERROR:
        yield f"the bound {certificate.objective_bound:.12g} is below what can be had, {best:.12g}"
    if "target" in options or options.get("keep_individual_odds"):
        return
    if "max_slope" not in options:
        yield from _loss(options, certificate, sign * (lp_optimum(joint, math.inf, *asked) - reached))
    elif math.isinf(budget) or options["curve"] == "optimal":
        if sign * (best - reached) > RATE_ERROR:
            yield f"the objective {reached:.12g} falls short of {best:.12g}"
    else:
        least = hull_optimum(joint, budget, *asked, options["curve"])
        if sign * (least - reached) > (RATE_ERROR if options["curve"] == "linear" else ARC_ERROR):
            yield f"the objective {reached:.12g} falls short of what mixes of the family reach, {least:.12g}"


def _loss(options: dict[str, Any], certificate: eo.Certificate, loss: float) -> Iterator[str]:
    allowed = options.get("max_loss", 0.0 if options["curve"] == "fixed" else 0.005)
    if loss > allowed + RATE_ERROR:
        yield f"{loss:.9g} is lost, where {allowed:g} is allowed"
    if abs(max(loss, 0.0) - certificate.loss) > RATE_ERROR:
        yield f"{loss:.9g} is lost, and {certificate.loss:.9g} is stated"


def _slope_bounds(joint: eo.JointDistribution, policy: eo.Policy, found: Measured) -> Iterator[str]:
    """Rising odds that are gentler than the bound must stay below the point."""
    certificate = policy.certificate
    for member, (fpr, tpr) in zip(joint.members, found.points, strict=True):
        bound, own = certificate.slope_bound[member.key], policy.curves[member.key].lipschitz
        if bound > own * (1 + SLOPE_ERROR):
            yield f"{member.key} cannot be gentler than {bound:.9g}, and is: {own:.9g}"
        elif 0 < bound < math.inf and tpr - fpr > GAIN_ERROR:  # a program cannot tell nearer ones from the diagonal
            right, above = highest(member, fpr, bound * (1 - SLOPE_ERROR)) - (fpr, tpr)
            if above <= GAIN_ERROR + 4 * certificate.residual or right > EXACT:
                continue
            # Weights over many decades leave a program room to cheat, and fractions none.
            if highest_exactly(member, fpr, bound * (1 - SLOPE_ERROR)) > tpr + GAIN_ERROR + 4 * certificate.residual:
                yield f"{member.key} reaches its point with a slope below {bound:.9g} (by {above:.1e} of TPR)"


# -- the command -------------------------------------------------------------------------------------------------------


def main() -> int:
    """Fit and report; exit with 1 if anything was found."""
    parser = argparse.ArgumentParser(description="Fit random odd cases and check what comes of them.")
    parser.add_argument("--fits", type=int, default=1000, help="how many cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so many")
    parser.add_argument("--start", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", type=int, help="print and check this case")
    given = parser.parse_args()
    if given.only is not None:
        case = case_of(given.seed, given.only)
        outcome = outcome_of(case)
        print(case, f"# {outcome.word}, {outcome.seconds:.2f} s", *(f"# {text}" for text in outcome.findings), sep="\n")
        return bool(outcome.findings)
    words: Counter[str] = Counter()
    found = 0
    slowest = (0.0, 0)
    start = time.monotonic()
    for number in range(given.start, given.start + given.fits):
        if time.monotonic() - start > given.seconds:
            break
        case = case_of(given.seed, number)
        outcome = outcome_of(case)
        words[outcome.word] += 1
        slowest = max(slowest, (outcome.seconds, number))
        found += bool(outcome.findings)
        for text in outcome.findings:
            print(f"--seed {given.seed} --only {number}: {text}\n    {case.options}", flush=True)
    counts = ", ".join(f"{count} {word}" for word, count in words.most_common())
    print(f"{counts}; slowest {slowest[0]:.1f} s (--only {slowest[1]}); {found} with findings")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
