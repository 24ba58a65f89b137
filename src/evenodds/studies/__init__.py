"""The paper's case studies, recomputed: what was published, evaluated on the data, next to exact solutions."""

from __future__ import annotations

from evenodds.studies.compas import CompasStudy, compas
from evenodds.studies.credit_risk import CreditRiskStudy, credit_risk
from evenodds.studies.folder import write_study
from evenodds.studies.stories import story_of

__all__ = ["CompasStudy", "CreditRiskStudy", "compas", "credit_risk", "story_of", "write_study"]
