"""Fair odds from the scores of any black-box model.

A policy gives each group a curve that turns a score into the odds of a yes; everything before it finds it,
everything after it uses it.

>>> import evenodds as eo
>>> joint = eo.datasets.credit_risk()
>>> policy = eo.fit(joint, target=(0.2, 0.8))
>>> policy.odds([25, 49.5], "white").round(3)
array([0.243, 0.685])
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from evenodds.errors import (
    DataError,
    EvenoddsError,
    EvenoddsWarning,
    MissingPackageError,
    OptionError,
    UnknownGroupError,
    UnreachableError,
)
from evenodds.model.certificate import Certificate
from evenodds.model.curves import Curve
from evenodds.model.fit import Solutions, fit, solutions
from evenodds.model.goals import Cost
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy
from evenodds.model.roc import Point
from evenodds.uses.apply import apply
from evenodds.uses.compare import Comparison, compare
from evenodds.uses.frontier import Frontier, frontier
from evenodds.uses.metrics import (
    GroupMetrics,
    IndividualOdds,
    Metrics,
    individual_odds,
    metrics,
    odds_distance,
)

__version__ = "0.1.0"

__all__ = [
    "Audit",
    "Certificate",
    "Comparison",
    "Cost",
    "Curve",
    "CurveOptimizer",
    "DataError",
    "Drift",
    "Estimate",
    "EvenoddsError",
    "EvenoddsWarning",
    "Explanation",
    "Frontier",
    "GroupAudit",
    "GroupMetrics",
    "IndividualOdds",
    "JointDistribution",
    "Metrics",
    "MissingPackageError",
    "OptionError",
    "Point",
    "Policy",
    "Solutions",
    "Stability",
    "UnknownGroupError",
    "UnreachableError",
    "Verdict",
    "apply",
    "audit",
    "compare",
    "datasets",
    "explain",
    "fit",
    "frontier",
    "individual",
    "individual_odds",
    "metrics",
    "odds_distance",
    "solutions",
    "stability",
    "studies",
]

_LATE = {  # modules, loaded when first asked for
    "datasets": "evenodds.datasets",
    "individual": "evenodds.uses.individual",
    "studies": "evenodds.studies",
}
_LATE_NAMES = {  # names that need more than numpy, or that not every use of the package needs
    "Audit": "evenodds.uses.audit",
    "CurveOptimizer": "evenodds.fronts.estimator",
    "Drift": "evenodds.uses.drift",
    "Estimate": "evenodds.uses.intervals",
    "Explanation": "evenodds.uses.explain",
    "GroupAudit": "evenodds.uses.audit",
    "Stability": "evenodds.uses.stability",
    "Verdict": "evenodds.uses.audit",
    "audit": "evenodds.uses.audit",
    "explain": "evenodds.uses.explain",
    "stability": "evenodds.uses.stability",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return import_module(_LATE[name])
    if name in _LATE_NAMES:
        return getattr(import_module(_LATE_NAMES[name]), name)
    msg = f"module 'evenodds' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE, *_LATE_NAMES})
