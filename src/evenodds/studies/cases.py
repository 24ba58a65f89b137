"""Who asks for what: the cases of the guide, each with its options, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from evenodds.datasets import compas, credit_risk
from evenodds.model.goals import Cost
from evenodds.model.joint import JointDistribution
from evenodds.model.reviewer import Review
from evenodds.values import Frozen

__all__ = ["CASES", "Case", "People", "Step"]


@dataclass(frozen=True)
class People:
    """A bundled table, and what its columns are called in the lines that are shown."""

    name: str
    load: Callable[[], JointDistribution] = field(repr=False)
    score: str
    group: tuple[str, ...]
    label: str

    @property
    def flags(self) -> str:
        """The columns, on the command line."""
        return f"--score {self.score} --group {','.join(self.group)} --label {self.label}"

    @property
    def words(self) -> str:
        """The columns, in Python."""
        group = f'"{self.group[0]}"' if len(self.group) == 1 else "[" + ", ".join(f'"{g}"' for g in self.group) + "]"
        return f'score="{self.score}", group={group}, label="{self.label}"'


@dataclass(frozen=True)
class Step:
    """What is done with a policy next: the same on the command line and in Python.

    {flags} and {words} stand for the columns of the people.
    """

    command: str
    python: str


@dataclass(frozen=True)
class Case:
    """Somebody's situation, and the options that are for them."""

    name: str
    who: str
    people: People
    options: Mapping[str, Any]
    """As `evenodds.fit` takes them; the lines to run are made of these."""
    gets: str
    """What they get by these options."""
    avoid: str
    """When these options are not for them, and which are."""
    then: tuple[Step, ...] = ()
    also: tuple[str, ...] = ()
    """Other names of the case."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", Frozen(self.options))

    @property
    def flags(self) -> str:
        """The options, on the command line; nothing where there are none."""
        return " ".join(_flag(name, value) for name, value in self.options.items())

    @property
    def words(self) -> str:
        """The options, in Python; nothing where there are none."""
        return ", ".join(f"{name}={_python(value)}" for name, value in self.options.items())

    @property
    def commands(self) -> tuple[str, ...]:
        """The lines to run on the command line; past.csv has the people whose outcome is known."""
        fit = " ".join(filter(None, ("evenodds fit past.csv", self.people.flags, self.flags, "-o policy.json")))
        return (fit, *(step.command.replace("{flags}", self.people.flags) for step in self.then))

    @property
    def python(self) -> tuple[str, ...]:
        """The same in Python; past is a data frame of the people whose outcome is known."""
        fit = f"policy = eo.fit({', '.join(filter(None, ('joint', self.words)))})"
        people = f"joint = eo.JointDistribution.from_frame(past, {self.people.words})"
        then = (line for step in self.then for line in step.python.splitlines())
        return (people, fit, *(line.replace("{words}", self.people.words) for line in then))


def _python(value: Any) -> str:
    if isinstance(value, Cost):
        return f"eo.Cost(false_positive={value.false_positive:g}, false_negative={value.false_negative:g})"
    if isinstance(value, Review):
        return f"eo.Review(capacity={value.capacity:g}, tpr={value.tpr:g}, fpr={value.fpr:g})"
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _flag(name: str, value: Any) -> str:
    if isinstance(value, Cost):
        return f"--cost {value.false_positive:g} {value.false_negative:g}"
    if isinstance(value, Review):
        return f"--review-capacity {value.capacity:g} --review-tpr {value.tpr:g} --review-fpr {value.fpr:g}"
    flag = f"--{name.replace('_', '-')}"
    return flag if value is True else f"{flag} {value}"


_CREDIT = People("credit", credit_risk, "points", ("race",), "repaid")
_COMPAS = People("COMPAS", compas, "decile", ("race", "sex"), "charged")
_SMALL = People(
    "COMPAS, 4 races",
    partial(compas, races=("African-American", "Caucasian", "Hispanic", "Other")),
    "decile",
    ("race", "sex"),
    "charged",
)

_KEY = Step("evenodds draw-key -o key.txt", "import secrets\nkey = secrets.token_hex(32)")
_REPORT = Step(
    "evenodds report policy.json past.csv {flags} -o report.html",
    'eo.report(policy, joint, "report.html")',
)


def _audited(tolerance: float) -> Step:
    return Step(
        f"evenodds audit policy.json fresh.csv {{flags}} --tolerance {tolerance}",
        f"people = eo.JointDistribution.from_frame(fresh, {{words}})\n"
        f"audit = eo.audit(policy, people, tolerance={tolerance})",
    )


def _decided(flags: str = "", words: str = "") -> Step:
    columns = f"--score {_CREDIT.score} --group {_CREDIT.group[0]} --id name --key-file key.txt"
    return Step(
        f"evenodds decide policy.json new.csv {columns}{flags} -o decided.csv",
        f'decided = eo.decide(policy, new, score="{_CREDIT.score}", group="{_CREDIT.group[0]}", id="name", '
        f"key=key{words})",
    )


_CASES = (
    Case(
        "default",
        "nothing special: equal rates, and no cliffs",
        _CREDIT,
        {},
        "All groups get the same false positive rate and the same true positive rate. The accuracy is at most 0.005 "
        "below the best with such rates, and for that price the probability of a yes rises with the score as gently as "
        "was found.",
        "Where many people must not be decided by chance: few or none. Where a small difference between groups is "
        "allowed, say so by a tolerance: it costs less.",
        then=(_REPORT,),
        also=("nothing",),
    ),
    Case(
        "lender",
        "a lender who knows what mistakes cost",
        _CREDIT,
        {"objective": Cost(false_positive=5, false_negative=1), "tolerance": 0.05, "confidence": 0.95},
        "A wrong yes, a loan that is not repaid, costs five times as much as a wrong no, and the policy makes the mean "
        "cost of a person small; the dearer mistake counts as 1. Groups may differ by the tolerance, and with the "
        "confidence they do not differ by more among new applicants either.",
        "Where nobody knows what the mistakes cost: leave out the costs, and accuracy counts both alike. Where there "
        "are too few people for the confidence the fit refuses, and says how many it takes: see small.",
        then=(_audited(0.05),),
        also=("bank", "insurer"),
    ),
    Case(
        "places",
        "a school or an employer with 30 places for 100",
        _CREDIT,
        {"selection_rate": 0.3},
        "As many are told yes as there are places: the selection rate is places / applicants. Then `decide` with "
        "places hands them out over the whole list, and the number of yeses is within one of what is expected, in each "
        "group and in all.",
        "Where applicants come one by one there is no list to hand places out over: leave out --places. Equal rates "
        "with few places leave many to chance: a tolerance of 0.05 and a max_randomized of 0.05 leave few.",
        then=(_KEY, _decided(" --places", ", places=True")),
        also=("school", "employer", "university"),
    ),
    Case(
        "court",
        "a court, or whoever must answer for each decision",
        _COMPAS,
        {"keep_individual_odds": True},
        "The same false positive rate and the same true positive rate in every group, with no tolerance (a yes says "
        "here that somebody will be charged again). Within the scores that there are, every group's probability runs "
        "from 0 to 1. Each decision can be explained; every month an audit on new people says whether the promise "
        "holds, and an update follows them in small changes.",
        "Where the law wants no decision by chance: none, or review. Where one point of score still changes too much: "
        "a max_slope makes it gentler, and costs accuracy. A label that is biased, such as an arrest, makes a biased "
        "policy.",
        then=(
            Step(
                "evenodds explain policy.json --score 7 --group African-American,Male",
                'print(eo.explain(policy, score=7, group="African-American, Male"))',
            ),
            _audited(0.1),
            Step(
                "evenodds update policy.json fresh.csv {flags} --max-change 0.2 -o next.json",
                "later = eo.update(policy, people, max_change=0.2)",
            ),
        ),
        also=("bail", "judge"),
    ),
    Case(
        "few",
        "whoever may leave few people to chance",
        _CREDIT,
        {"max_randomized": 0.05, "tolerance": 0.03},
        "At most 5 in 100 people are decided by chance; all others get a sure yes or no. Within that, it is the most "
        "accurate that any rising curves reach. The frontier tells what each such share costs.",
        "Without a tolerance little is left but one answer for nearly everybody. Where a point of score must not "
        "decide: few by chance means steep, so take the default or a max_slope.",
        then=(
            Step(
                "evenodds frontier past.csv {flags} --against randomized --tolerance 0.03 --budgets 0,0.02,0.05,0.1",
                'price = eo.frontier(joint, against="randomized", tolerance=0.03, budgets=[0, 0.02, 0.05, 0.1])',
            ),
        ),
        also=("chance",),
    ),
    Case(
        "none",
        "whoever may leave nobody to chance",
        _CREDIT,
        {"curve": "threshold", "tolerance": 0.03},
        "One threshold for each group, the best within the tolerance: who has the score gets the yes. Nobody is drawn "
        "for.",
        "Where the tolerance must be small: thresholds cannot make rates equal, and each step towards it costs more; "
        "few may be better. One point below a threshold everything is lost.",
        then=(_REPORT,),
        also=("threshold", "thresholds", "nobody"),
    ),
    Case(
        "small",
        "whoever has small groups",
        _SMALL,
        {"tolerance": 0.25, "confidence": 0.9},
        "A tolerance that is wide enough to be kept: with the confidence, groups differ by no more among new people. "
        "Groups with fewer than 30 positives or negatives are named in a warning. Merging groups, such as race alone "
        "in place of race and sex, allows a smaller tolerance.",
        "Where groups are merged, nothing is promised to the parts. Where the fit says that there are too few people, "
        "a narrower tolerance cannot be promised by anybody: get more people, or merge groups that belong together.",
        then=(
            Step(
                "evenodds fit past.csv --score decile --group race --label charged --tolerance 0.15 --confidence 0.9 "
                "-o merged.json",
                'merged = eo.JointDistribution.from_frame(past, score="decile", group="race", label="charged")\n'
                "merged = eo.fit(merged, tolerance=0.15, confidence=0.9)",
            ),
        ),
    ),
    Case(
        "review",
        "whoever has reviewers at hand",
        _CREDIT,
        {"review": Review(capacity=0.05, tpr=0.8, fpr=0.2)},
        "Up to 5 in 100 people are looked at by a person, equally often in every group. It says yes, no or review. "
        "That reviewers say yes to 80 in 100 positives and to 20 in 100 negatives is assumed: measure it.",
        "Where reviewers know no more than the score, or treat groups unequally: nothing is gained, or worse. Reviews "
        "do not end chance: where rates must be equal, some others are still drawn for.",
        then=(_KEY, _decided()),
        also=("reviewer", "reviewers"),
    ),
    Case(
        "already",
        "one threshold may already do",
        _CREDIT,
        {"tolerance": 0.25},
        "Before groups get curves of their own: the certificate says whether one threshold for everybody is within the "
        "tolerance already, and what each way costs. If it is, and gentler odds are not worth the price, keep it.",
        "Where the tolerance was made as wide as the threshold needs it. A tolerance is what you can answer for, and "
        "comes first.",
        then=(
            Step(
                "evenodds audit fresh.csv --threshold 27 {flags} --tolerance 0.25",
                "people = eo.JointDistribution.from_frame(fresh, {words})\n"
                "audit = eo.audit(27, people, tolerance=0.25)",
            ),
        ),
        also=("one",),
    ),
)
CASES: Mapping[str, Case] = Frozen({case.name: case for case in _CASES})
"""By name, in the order of the guide."""
