"""COMPAS: groups that are combinations, some of them tiny, and a score that speaks against people.

For whom: somebody who audits decisions about people, in a court, a ministry or a newspaper, and anybody whose score is
a risk, so that a high one speaks against a yes. pandas is needed besides evenodds.

What it shows: 7,214 people of Broward County, Florida, 2013 and 2014 (bundled as counts): the score of risk from 1 to
10, and whether they were charged again within two years. Negative orientation, groups of race and sex together, groups
that are too small for a rate of their own, how far a promise reaches with so few people, and a verdict on fresh people
that may be "undecided". A new charge is not a new offence, and is recorded where policing is: this is about method,
and nobody should be detained by it.

Odds are the chance of a yes, from 0 to 1. A yes is release here.
"""

from __future__ import annotations

import textwrap
import warnings

import numpy as np
import pandas as pd

import evenodds as eo

RACES = ("African-American", "Caucasian", "Hispanic", "Other", "Asian", "Native American")


def told(text: object) -> None:
    """Print a long sentence in short lines."""
    print(textwrap.fill(str(text), 118, subsequent_indent="  "), "\n")


# %% The people one by one again: a row for each of those whom the bundled table counts.

rows = [
    (*member.key.split(", "), decile, charged == 0)
    for member in eo.datasets.compas(races=RACES).members
    for charged, counts in enumerate((member.negatives, member.positives))
    for decile, number in zip(member.scores, counts, strict=True)
    for _ in range(round(number))
]
everybody = pd.DataFrame(rows, columns=["race", "sex", "decile", "stayed_clear"])
print(everybody.groupby(["race", "sex"])["stayed_clear"].agg(people="size", stayed_clear="mean").round(3), "\n")

# %% A yes is release, and a high score speaks against it: negative orientation. A group is race and sex together.

words = {"score": "decile", "group": ["race", "sex"], "label": "stayed_clear", "orientation": "negative"}
people = everybody[everybody["race"].isin(RACES[:2])]
joint = eo.JointDistribution.from_frame(people, **words)
policy = eo.fit(joint)
print(policy, "\n")

deciles = np.arange(1, 11)
odds = {group: policy.odds(deciles, [group] * deciles.size) for group in policy.groups}
print("The odds of release, for deciles 1 to 10:")
for group, falling in odds.items():
    print(f"  {group:24}", *(f"{chance:4.2f}" for chance in falling))

# %% It is the mirror of the question that the label was made for: will they be charged again?

held = eo.fit(eo.datasets.compas())
sums = [falling + held.odds(deciles, [group] * deciles.size) for group, falling in odds.items()]
off = max(float(np.abs(both - 1).max()) for both in sums)
print(f"Fitted as a risk, positive orientation, the odds of being held are 1 minus these, to {off:.0e}.\n")

# %% Whom does one threshold fail? By race and sex together, and by each of them alone.

today = policy.certificate.before.score
now = eo.audit(today, joint, columns=["race", "sex"], tolerance=0.1)
print(f"One threshold for everybody: release up to decile {today:g}.")
for group, figures in now.groups.items():
    print(f"  {group:24} of those who stayed clear {figures.tpr.value:.1%} are released, of the others", end=" ")
    print(f"{figures.fpr.value:.1%}")
for column, alone in now.marginals.items():
    print(f"  by {column} alone, groups differ by {alone.equalized_odds_difference}")
told(f"Within 0.1 of each other? {now.verdict}. {now.verdict.reasons[0]}")

# %% Small groups. Nobody is merged or dropped silently: all twelve are fitted, and who is too few for that is named.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", eo.EvenoddsWarning)
    twelve = eo.fit(eo.JointDistribution.from_frame(everybody, **words))
for warning in caught:
    told(f"Warning: {warning.message}")
print(f"{'group':26} people   by chance")
measured = eo.metrics(twelve, eo.JointDistribution.from_frame(everybody, **words))
for group, figures in measured.groups.items():
    print(f"{group:26} {figures.people:6g}   {figures.randomized:.0%}")
told(
    f"All share a point that each of them reaches: with the twelve the accuracy is {twelve.certificate.objective:.3f}, "
    f"with the four large ones alone {policy.certificate.objective:.3f}."
)

# %% A promise about people yet to come. What cannot be promised is refused, with what it would take.

for tolerance in (0.05, 0.1):
    try:
        sure = eo.fit(joint, tolerance=tolerance, confidence=0.95)
    except eo.UnreachableError as error:
        told(f"tolerance={tolerance}: {error}")
    else:
        stricter = sure.certificate.sample_tolerance
        told(f"tolerance={tolerance}: held for new people, since these were held to {stricter:.3f}.")

# %% Fresh people: one half is fitted, the other audited. So few people leave the verdict open, and it says so.

fitted = people.sample(frac=0.5, random_state=0)
fresh = people.drop(fitted.index)
half, others = (eo.JointDistribution.from_frame(some, **words) for some in (fitted, fresh))
audit = eo.audit(eo.fit(half), others, before=today, columns=["race", "sex"], tolerance=0.1)
print(f"On fresh people groups differ by {audit.equalized_odds_difference}; before, they differed by", end=" ")
print(f"{audit.before.equalized_odds_difference}.")
told(f"Within 0.1 of each other? {audit.verdict}. {audit.verdict.reasons[0]}")

# %% One defendant, in words.

told(eo.explain(policy, score=6, group="African-American, Male", joint=joint))
