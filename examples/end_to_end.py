"""End to end: from real people and a model of scikit-learn to decisions that can be answered for.

For whom: a data scientist who has X, y and a classifier, and is asked that it err as often for women as for men, among
people yet to come. Needed besides evenodds: scikit-learn and pandas.

What it shows: 48,842 people of a US census (data/PROVENANCE.md). The story is made up: whoever earns more than 50,000
dollars shall be approved without having to prove it, and a model guesses who does. Model, calibration and test split;
scores that flatter nobody, by a calibration split and by cross-fitting; a tolerance that holds for new people with a
confidence of 0.95; an audit on the test split with a verdict; a report, a saved policy, and decisions by id.

Odds are the chance of a yes, from 0 to 1.
"""

from __future__ import annotations

import secrets
import tempfile
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import evenodds as eo

folder = Path(tempfile.mkdtemp(prefix="evenodds-end-to-end-"))


def told(text: object) -> None:
    """Print a long sentence in short lines."""
    print(textwrap.fill(str(text), 118, subsequent_indent="  "))


# %% People, in three splits: to fit the model on, to fit the odds on, and to test both on. Each has its share of women
# and men, with an income over 50,000 dollars and without.

people = pd.read_csv(Path(__file__).parent / "data" / "adult.csv.gz")
by = ["sex", "over_50k"]
past, test = train_test_split(people, test_size=0.3, random_state=0, stratify=people[by])
training, calibration = train_test_split(past, test_size=0.4, random_state=0, stratify=past[by])
print(people.groupby("sex")["over_50k"].agg(people="size", over_50k="mean").round(3), "\n")

# %% A model that sees neither sex nor race, and what one threshold makes of it.

words, numbers = ["marital_status", "occupation"], ["age", "education_num", "hours_per_week"]
columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), words), (StandardScaler(), numbers))
model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(training, training["over_50k"])


def scored(some: pd.DataFrame) -> pd.DataFrame:
    """The people with the model's score."""
    return some.assign(score=model.predict_proba(some)[:, 1])


approved = model.predict(test)
today = eo.Audit.of_decisions(approved, test["sex"], test["over_50k"], tolerance=0.05)
print("The model as it is, approving where it says that over 50,000 dollars are likelier than not:")
for sex, figures in today.groups.items():
    print(f"  {sex:6} approved: {figures.tpr.value:.1%} of those who earn it, {figures.fpr.value:.1%} of the others")
told(f"Within 0.05 of each other? {today.verdict}. {today.verdict.reasons[0]}")
print()

# %% The odds by a calibration split: people whom the model has not seen. The tolerance shall hold for new people.

column = {"score": "score", "group": "sex", "label": "over_50k"}
joint = eo.JointDistribution.from_frame(scored(calibration), **column)
policy = eo.fit(joint, tolerance=0.05, confidence=0.95)

# %% The odds by cross-fitting: everybody's score is of a model that has not seen them, so that all past people count,
# for the model and for the odds. More people leave more of the tolerance for use, and the model is better.

fair = eo.CurveOptimizer(model, tolerance=0.05, confidence=0.95)
fair.fit(past, past["over_50k"], sensitive_features=past["sex"])
print(f"{'':14} people   accuracy at the fit   difference at the fit that keeps 0.05 among new people")
for name, one, count in (("calibration", policy, len(calibration)), ("cross-fitting", fair.policy_, len(past))):
    certificate = one.certificate
    print(f"{name:14} {count:6,}   {certificate.objective:.4f}                {certificate.sample_tolerance:.4f}")
policy, model = fair.policy_, fair.estimator_
print("\n", policy, "\n", sep="")

# %% The audit, on people whom neither the model nor the odds have seen.

fresh = eo.JointDistribution.from_frame(scored(test), **column)
audit = eo.audit(policy, fresh, before=policy.certificate.before.score, reference=fair.joint_)
print(audit)
for tolerance in (0.05, 0.1):
    verdict = audit.passed(tolerance=tolerance)
    told(f"Within {tolerance:g} of each other? {verdict}. {verdict.reasons[0]}")
ratio = audit.demographic_parity_ratio
told(
    f"Equal error rates are not equal shares: women are approved {ratio.value:.2f} times as often as men, since fewer "
    "of them earn as much. Who wants equal shares asks for constraints='demographic_parity'."
)
print()

# %% A report for those who must live with it, and the policy as a file.

about = {"Owner": "An example", "Intended use": "None: a made-up story", "The scoring model": "Logistic regression"}
eo.report(policy, fresh, folder / "report.html", tolerance=0.1, about=about)
policy.save(folder / "policy.json")
policy = eo.Policy.load(folder / "policy.json")

# %% The rule for a database, as one SELECT; it says on top whose it is.

if find_spec("sqlglot"):
    text = eo.to_sql(policy, dialect="postgres", table="applicants", score="score", group="sex")
    (folder / "odds.sql").write_text(text, encoding="utf-8")

# %% Decisions: a draw belongs to the person and the key, so that they can be repeated, in any order, by an auditor.

key = secrets.token_hex(32)
draw = {"score": "score", "group": "sex", "id": "person", "key": key, "round": "first"}
applicants = scored(test).drop(columns="over_50k").assign(person=[f"person {row}" for row in test.index])
decided = eo.decide(policy, applicants, **draw)
print(decided[["person", "sex", "score", "odds", "draw", "decision"]].head(4).round(3).to_string(index=False))
again = eo.decide(policy, applicants.sample(frac=1, random_state=0), **draw)
assert (again["decision"].reindex(decided.index) == decided["decision"]).all()
print(eo.verify(policy, decided, **draw))
sure = decided["odds"].isin([0, 1]).mean()
print(f"{sure:.1%} of them have a sure yes or no. Written into {folder}: report.html, policy.json")
