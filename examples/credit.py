"""Credit scores of four groups: equal error rates, and what it costs to have no cliff in them.

For whom: somebody at a lender, a regulator or a university who has a score, knows that one cut-off treats groups
differently, and wants to see the ways out side by side. Nothing but evenodds is needed.

What it shows: TransUnion scores of 174,047 people in the United States in 2003 (bundled), one threshold for everybody,
fixed randomisation (what fairlearn's ThresholdOptimizer and the literature after Hardt and others, 2016, do), a curve
with a known largest slope, what gentler slopes cost, one person's odds in words, and a report for everybody else.

Odds are the chance of a yes, from 0 to 1.
"""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path

import numpy as np

import evenodds as eo

folder = Path(tempfile.mkdtemp(prefix="evenodds-credit-"))

# %% The people: how many of each group have which score, and how many of these repaid (label 1).

joint = eo.datasets.credit_risk()
print(joint, "\n")

# %% The default: a straight ramp for each group, as gentle as half a point of accuracy buys.

linear = eo.fit(joint)
print(linear, "\n")

# %% What most do today: one threshold for everybody. The certificate says which would be the most accurate.

today = linear.certificate.before
audited = eo.audit(today.score, joint)
print(f"One threshold for everybody, at a score of {today.score:g}: accuracy {today.objective:.4f}")
for group, figures in audited.groups.items():
    good, bad = figures.tpr.value, figures.fpr.value
    print(f"  {group:9} a yes for {good:.1%} of those who repay, and for {bad:.1%} of those who do not")
print(f"The largest difference between two groups is {audited.equalized_odds_difference.value:.3f}.\n")

# %% Equalised odds as in the textbook: between two thresholds a coin of one fixed probability decides.

fixed = eo.fit(joint, curve="fixed")

# %% What a single step of score does to somebody. Scores come in steps of half a point.

steps = np.arange(0, 100.5, 0.5)


def largest_jump(policy: eo.Policy) -> tuple[float, str, float]:
    """The largest rise of the odds from one score to the next: how much, in which group, and up to which score."""
    rises = {group: np.diff(policy.odds(steps, [group] * steps.size)) for group in policy.groups}
    group = max(rises, key=lambda one: rises[one].max())
    return float(rises[group].max()), group, float(steps[rises[group].argmax() + 1])


for name, policy in {"fixed": fixed, "linear": linear}.items():
    size, group, score = largest_jump(policy)
    print(f"{name:6} half a point more is worth up to {size:.3f} of the odds: group {group!r}, at {score:g}")
print()

# %% The price of gentleness: a budget on every group's slope, the change of the odds a point of score.

print("slope budget   accuracy   odds from 0 to 1 take at least")
budgets = [0.03, 0.05, 0.1, 0.2, float("inf")]
price = eo.frontier(joint, max_slopes=budgets)
for budget, accuracy in zip(budgets, price.objectives, strict=True):
    points = "no points: a threshold" if np.isinf(budget) else f"{1 / budget:.1f} points"
    print(f"{budget:12g}   {accuracy:.4f}     {points}")
print()

# %% The ways side by side: thresholds, which leave rates apart, and curves, which make them equal.

print(eo.compare(joint, curves=["fixed", "linear", "cubic", "optimal"]), "\n")

# %% One person.

print(textwrap.fill(str(eo.explain(linear, score=30, group="white", joint=joint)), 118), "\n")

# %% A report that a colleague can open without Python, and the policy as a file.

eo.report(linear, joint, folder / "report.html", before=today.score, about={"Owner": "An example"})
linear.save(folder / "policy.json")
assert eo.Policy.load(folder / "policy.json") == linear  # to the last bit
print(f"Written: {folder / 'report.html'} and {folder / 'policy.json'}")
