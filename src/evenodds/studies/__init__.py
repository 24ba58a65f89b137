"""The paper's case studies, recomputed: what was published, evaluated on the data, next to exact solutions."""

from __future__ import annotations

from evenodds.studies.credit_risk import CreditRiskStudy, credit_risk

__all__ = ["CreditRiskStudy", "credit_risk"]
