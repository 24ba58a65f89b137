"""From fairlearn's ThresholdOptimizer to CurveOptimizer: the same data and model, side by side.

For whom: somebody who makes decisions fair by fairlearn's ThresholdOptimizer today and asks what would change. Needed
besides evenodds: scikit-learn, pandas and fairlearn.

What it shows: 48,842 people of a US census (data/PROVENANCE.md), a logistic regression that finds people with an income
over 50,000 dollars, and equal error rates for women and men by both libraries: the accuracy and how far the groups
differ, on the data of the fit and on fresh people; the largest jump between people who hardly differ; what happens to
decisions when rows come in another order; and people of a group that nobody has seen.

Odds are the chance of a yes, from 0 to 1.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from fairlearn.postprocessing import ThresholdOptimizer
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import evenodds as eo

# %% A model, people to fit fair decisions on, and fresh ones. The model sees neither sex nor race.

people = pd.read_csv(Path(__file__).parent / "data" / "adult.csv.gz")
words, numbers = ["marital_status", "occupation"], ["age", "education_num", "hours_per_week"]
by = people[["sex", "over_50k"]]
training, rest = train_test_split(people, train_size=0.4, random_state=0, stratify=by)
calibration, fresh = train_test_split(rest, train_size=0.5, random_state=0, stratify=rest[["sex", "over_50k"]])
columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), (StandardScaler(), numbers))
model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(training, training["over_50k"])

# %% Both take the same words, and a fitted model.

same = {"estimator": model, "constraints": "equalized_odds", "prefit": True, "predict_method": "predict_proba"}
before = ThresholdOptimizer(**same, objective="accuracy_score")
after = eo.CurveOptimizer(**same)
fixed = eo.CurveOptimizer(**same, curve="fixed")  # thresholds and coins, as fairlearn has them
optimizers = {"fairlearn": before, "evenodds fixed": fixed, "evenodds": after}
for optimizer in optimizers.values():
    optimizer.fit(calibration, calibration["over_50k"], sensitive_features=calibration["sex"])
print(after.policy_, "\n")


def odds_of(optimizer: ThresholdOptimizer | eo.CurveOptimizer, some: pd.DataFrame) -> np.ndarray:
    """The chance of a yes of each row: `_pmf_predict` is fairlearn's name for it, and ours too."""
    return optimizer._pmf_predict(some, sensitive_features=some["sex"])[:, 1]


# %% Expected figures, from everybody's odds: no draw of decisions disturbs them.


def figures(optimizer: ThresholdOptimizer | eo.CurveOptimizer, some: pd.DataFrame) -> tuple[float, eo.Estimate]:
    """The expected accuracy, and the largest difference between the groups' rates with its interval."""
    audit = eo.Audit.of_decisions(odds_of(optimizer, some), some["sex"], some["over_50k"])
    return audit.accuracy.value, audit.equalized_odds_difference


print(f"{'':15} accuracy, and the equalised odds difference [with confidence 0.95]")
print(f"{'':15} on the data of the fit            on fresh people")
for name, optimizer in optimizers.items():
    told = [f"{accuracy:.4f}  {apart}" for accuracy, apart in (figures(optimizer, s) for s in (calibration, fresh))]
    print(f"{name:15} {'   '.join(told)}")
print()

# %% People who hardly differ: the same group, and scores next to each other among the fresh people.


def largest_jump(optimizer: ThresholdOptimizer | eo.CurveOptimizer) -> tuple[float, float, str]:
    """The largest change of the odds between neighbours by score, how far apart their scores are, and their group."""
    scores, jumps = model.predict_proba(fresh)[:, 1], []
    for sex in np.unique(fresh["sex"]):
        own = np.flatnonzero(fresh["sex"] == sex)
        own = own[np.argsort(scores[own])]
        rises = np.abs(np.diff(odds_of(optimizer, fresh.iloc[own])))
        jumps.append((float(rises.max()), float(np.diff(scores[own])[rises.argmax()]), str(sex)))
    return max(jumps)


for name, optimizer in optimizers.items():
    jump, gap, sex = largest_jump(optimizer)
    print(f"{name:15} two neighbours' odds differ by up to {jump:.4f}; their scores by {gap:.2g} ({sex})")
print()

# %% Repeated decisions: the same people, the same random_state, in another order.

shuffled = fresh.sample(frac=1, random_state=1)


def changed(optimizer: ThresholdOptimizer | eo.CurveOptimizer, *, by_id: bool) -> int:
    """How many people get another decision because the rows came in another order."""
    decided = []
    for some in (fresh, shuffled):
        who = {"id": some.index} if by_id else {}
        said = optimizer.predict(some, sensitive_features=some["sex"], random_state=0, **who)
        decided.append(pd.Series(np.asarray(said).ravel(), index=some.index))
    return int((decided[0] != decided[1].reindex(decided[0].index)).sum())


moved = {
    "fairlearn": changed(before, by_id=False),
    "evenodds": changed(after, by_id=False),  # without ids, draws go by rows here too
    "evenodds, id=": changed(after, by_id=True),
}
for name, number in moved.items():
    print(f"{name:15} {number:,} of {len(fresh):,} people are decided otherwise when rows are shuffled")
print()

# %% A group that was not there at the fit.

stranger = fresh.head(1).assign(sex="Unknown")
print(f"fairlearn       gives a stranger's group the odds {odds_of(before, stranger)[0]:g}, without a word")
try:
    odds_of(after, stranger)
except eo.UnknownGroupError as error:
    print(textwrap.fill(f"evenodds        {error}", 118, subsequent_indent=" " * 16))
print()

# %% Options that are not needed any more say so; fairlearn's tol is taken.

for option in ({"grid_size": 1000}, {"flip": True}):
    try:
        eo.CurveOptimizer(**same, **option).fit(calibration, calibration["over_50k"], sensitive_features="sex")
    except eo.OptionError as error:
        print(textwrap.fill(str(error), 118, subsequent_indent="  "))
