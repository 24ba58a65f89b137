"""The paper's case studies, recomputed: what was published, evaluated on the data, next to exact solutions.

And a guide to the options: for each kind of user the lines to run, and what they cost on the bundled data.
"""

from __future__ import annotations

from evenodds.studies.advising import Advice, Guide, advice, guide
from evenodds.studies.compas import CompasStudy, compas
from evenodds.studies.credit_risk import CreditRiskStudy, credit_risk
from evenodds.studies.folder import write_study
from evenodds.studies.stories import story_of

__all__ = [
    "Advice",
    "CompasStudy",
    "CreditRiskStudy",
    "Guide",
    "advice",
    "compas",
    "credit_risk",
    "guide",
    "story_of",
    "write_study",
]
