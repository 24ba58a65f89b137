"""Month by month: decisions that can be checked, audits of each month's people, drift, and updates in small steps.

For whom: somebody who runs a policy after it was fitted, and whoever checks them. pandas is needed besides evenodds.

What it shows: applicants of six months, drawn from the bundled credit scores, of whom one group's scores fall by eight
points from April on, as when a bureau changes its formula. Each month: decisions drawn with a key to which the operator
is committed beforehand, the key revealed and every decision checked, an audit once the outcomes are known, drift told
apart from chance, and, where there was a reason, a new policy in which nobody's odds differ by more than so much.

Odds are the chance of a yes, from 0 to 1.
"""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd

import evenodds as eo
from evenodds.decisions.keys import chain, commitment

TOLERANCE = 0.1  # what the operator answers for
MONTHS = ["2026-01", "2026-02", "2026-03", "2026-04", "2026-05", "2026-06"]
folder = Path(tempfile.mkdtemp(prefix="evenodds-months-"))
words = {"score": "points", "group": "race", "label": "repaid"}
rng = np.random.default_rng(0)


def told(text: object) -> None:
    """Print a long sentence in short lines."""
    print(textwrap.fill(str(text), 118, initial_indent="  ", subsequent_indent="    "))


# %% Applicants of a month, as many of each group: people drawn from the bundled counts.

source = eo.datasets.credit_risk()


def applicants(month: str, each: int = 5000) -> pd.DataFrame:
    """People of every group with a score; repaid is what will be known of them later."""
    parts = []
    for member in source.members:
        people = np.concatenate([member.negatives, member.positives])
        cells = rng.choice(people.size, each, p=people / people.sum())
        points, repaid = np.tile(member.scores, 2)[cells], (cells >= member.negatives.size).astype(int)
        if member.key == "hispanic" and month >= "2026-04":
            points = np.maximum(points - 8, 0)
        parts.append(pd.DataFrame({"race": member.key, "points": points, "repaid": repaid}))
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(who=[f"{month}/{number}" for number in range(len(frame))])


# %% Before the first month: a policy, and a chain of keys, one a month. Each is the commitment of the one after it, so
# publishing one commitment binds the operator for all six months. (Leave `last` out: then nobody can foretell them.)

people = eo.JointDistribution.from_frame(applicants("2025-12", 10_000), **words)
policy = eo.fit(people, tolerance=0.05, max_slope=0.1)
policy.save(folder / "2025-12.json")
keys = chain(len(MONTHS), last="00" * 32)
published = commitment(keys[0])
print(f"Fitted: accuracy {policy.certificate.objective:.4f}, steepest {max(policy.certificate.slopes):.3f} a point.")
print(f"Published before January: the policy, and the commitment {published}\n")

# %% The months.

for month, key in zip(MONTHS, keys, strict=True):
    frame = applicants(month)
    draw = {"score": "points", "group": "race", "id": "who", "key": key, "round": month}

    # Decide while the key is secret, then reveal it: everybody can check every decision, and that it is the key
    # which was committed to. From now on this key is the commitment of the next one.
    decided = eo.decide(policy, frame, **draw)
    checked = eo.verify(policy, decided, **draw, commitment=published)
    published = key
    print(f"{month}: {decided['decision'].sum():,} of {len(decided):,} got a yes; {checked!r}")

    # When outcomes are known: do the groups still keep to the tolerance, and have their people changed?
    now = eo.JointDistribution.from_frame(frame, **words)
    audit = eo.audit(policy, now, reference=people, tolerance=TOLERANCE)
    told(f"groups differ by {audit.equalized_odds_difference}: {audit.verdict}")
    for group, drift in audit.drift.items():
        if drift.changes:
            told(f"{group}: {' and '.join(drift.changes)}")
    if audit.verdict != "fail":
        continue

    # The best policy on these people in which nobody's odds differ by more than 0.2 from those of last month.
    previous, policy = policy, eo.update(policy, now, max_change=0.2)
    told(policy.certificate.change)
    assert policy.certificate.change.previous == previous.document["fingerprint"]  # it names the one before it
    policy.save(folder / f"{month}.json")
    people = now

# %% What if somebody is told another decision than the one that was drawn?

forged = decided.copy()
forged.loc[7, "decision"] = 1 - forged.loc[7, "decision"]
saved = sorted(folder.glob("*.json"))
checked = eo.verify(eo.Policy.load(saved[-1]), forged, **draw)
print(f"\nWith one decision of June turned over: {checked!r}; {checked.first}")
print(f"The policies that were in use: {', '.join(path.name for path in saved)}, in {folder}")
