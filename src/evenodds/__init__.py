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
from typing import TYPE_CHECKING, Any

from evenodds.version import __version__ as __version__

if TYPE_CHECKING:  # what a name is, for those who read the code instead of running it
    from evenodds import datasets, studies
    from evenodds.errors import (
        DataError,
        EvenoddsError,
        EvenoddsWarning,
        MissingPackageError,
        OptionError,
        UnknownGroupError,
        UnreachableError,
    )
    from evenodds.fronts.estimator import CurveOptimizer
    from evenodds.model.certificate import Certificate
    from evenodds.model.curves import Curve
    from evenodds.model.fit import Solutions, fit, solutions
    from evenodds.model.goals import Cost
    from evenodds.model.joint import JointDistribution
    from evenodds.model.policy import Policy
    from evenodds.model.roc import Point
    from evenodds.uses import individual, plot
    from evenodds.uses.apply import apply
    from evenodds.uses.audit import Audit, GroupAudit, Verdict, audit
    from evenodds.uses.compare import Comparison, compare
    from evenodds.uses.decide import decide
    from evenodds.uses.draw import draw
    from evenodds.uses.drift import Drift
    from evenodds.uses.explain import Explanation, explain
    from evenodds.uses.frontier import Frontier, frontier
    from evenodds.uses.intervals import Estimate
    from evenodds.uses.metrics import GroupMetrics, IndividualOdds, Metrics, individual_odds, metrics, odds_distance
    from evenodds.uses.report import report
    from evenodds.uses.stability import Stability, stability

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
    "decide",
    "draw",
    "explain",
    "fit",
    "frontier",
    "individual",
    "individual_odds",
    "metrics",
    "odds_distance",
    "plot",
    "report",
    "solutions",
    "stability",
    "studies",
]

_WHERE = {  # each name's module, loaded when the name is first asked for: a command that needs none starts at once
    "Audit": "evenodds.uses.audit",
    "Certificate": "evenodds.model.certificate",
    "Comparison": "evenodds.uses.compare",
    "Cost": "evenodds.model.goals",
    "Curve": "evenodds.model.curves",
    "CurveOptimizer": "evenodds.fronts.estimator",
    "DataError": "evenodds.errors",
    "Drift": "evenodds.uses.drift",
    "Estimate": "evenodds.uses.intervals",
    "EvenoddsError": "evenodds.errors",
    "EvenoddsWarning": "evenodds.errors",
    "Explanation": "evenodds.uses.explain",
    "Frontier": "evenodds.uses.frontier",
    "GroupAudit": "evenodds.uses.audit",
    "GroupMetrics": "evenodds.uses.metrics",
    "IndividualOdds": "evenodds.uses.metrics",
    "JointDistribution": "evenodds.model.joint",
    "Metrics": "evenodds.uses.metrics",
    "MissingPackageError": "evenodds.errors",
    "OptionError": "evenodds.errors",
    "Point": "evenodds.model.roc",
    "Policy": "evenodds.model.policy",
    "Solutions": "evenodds.model.fit",
    "Stability": "evenodds.uses.stability",
    "UnknownGroupError": "evenodds.errors",
    "UnreachableError": "evenodds.errors",
    "Verdict": "evenodds.uses.audit",
    "apply": "evenodds.uses.apply",
    "audit": "evenodds.uses.audit",
    "compare": "evenodds.uses.compare",
    "decide": "evenodds.uses.decide",
    "draw": "evenodds.uses.draw",
    "explain": "evenodds.uses.explain",
    "fit": "evenodds.model.fit",
    "frontier": "evenodds.uses.frontier",
    "individual_odds": "evenodds.uses.metrics",
    "metrics": "evenodds.uses.metrics",
    "odds_distance": "evenodds.uses.metrics",
    "report": "evenodds.uses.report",
    "solutions": "evenodds.model.fit",
    "stability": "evenodds.uses.stability",
}
_MODULES = {
    "datasets": "evenodds.datasets",
    "individual": "evenodds.uses.individual",
    "plot": "evenodds.uses.plot",
    "studies": "evenodds.studies",
}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        found = getattr(import_module(_WHERE[name]), name)
    elif name in _MODULES:
        found = import_module(_MODULES[name])
    else:
        msg = f"module 'evenodds' has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = found  # asked for once
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE, *_MODULES})
