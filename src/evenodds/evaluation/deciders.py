"""Whatever decides: a policy, the single threshold of everybody, or a threshold for each group. All are curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenodds.errors import OptionError, UnknownGroupError
from evenodds.model.curves import Curve
from evenodds.model.policy import Policy, check_policy
from evenodds.model.reviewed import Treatment
from evenodds.model.scale import Orientation
from evenodds.values import number_of

__all__ = ["Decider", "curves_before", "curves_of", "named_policies"]

Decider = Policy | float | Mapping[str, float]
_ALLOWED = "a policy, a score (the single threshold of everybody), or such a score for each group"


def curves_of(decider: object, groups: Sequence[str], orientation: Orientation, name: str) -> Mapping[str, Treatment]:
    """The curves of whatever decides (with reviews: both, and the reviewers); a single threshold is all groups'."""
    if isinstance(decider, Policy):
        decider.check_orientation(orientation)
        return decider.treatments
    if isinstance(decider, Mapping):
        if not decider:
            msg = f"{name} has no group. Allowed: {_ALLOWED}."
            raise OptionError(msg)
        thresholds = {str(group): number_of(f"{name}[{group!r}]", at, "a score") for group, at in decider.items()}
    elif hasattr(decider, "policy_"):
        msg = (
            f"{name} is a {type(decider).__name__}. Hint: its .policy_ is the policy, for people with scores of its "
            ".estimator_; or Audit.of_decisions takes the odds that its predict_proba gives."
        )
        raise OptionError(msg)
    else:
        thresholds = dict.fromkeys(groups, number_of(name, decider, _ALLOWED))
    return {group: Curve.threshold(at, orientation=orientation) for group, at in thresholds.items()}


def curves_before(
    before: Decider, groups: Sequence[str], orientation: Orientation, name: str = "before"
) -> Mapping[str, Treatment]:
    """The curves of what was in use before, for all of these groups."""
    curves = curves_of(before, groups, orientation, name)
    lacking = [group for group in groups if group not in curves]
    if lacking:
        known = before.unknown(lacking) if isinstance(before, Policy) else _unknown(lacking, curves)
        msg = f"{name}=: {known}"
        raise UnknownGroupError(msg)
    return {group: curves[group] for group in groups}


def named_policies(option: str, policies: object) -> Mapping[str, Policy]:
    """Policies by the names that an option gives them; none where it is None."""
    if policies is None:
        return {}
    if not isinstance(policies, Mapping):
        msg = f"{option} must map names to policies, such as {{'old': policy}}; got {type(policies).__name__}."
        raise OptionError(msg)
    for name, policy in policies.items():
        check_policy(policy, f"{option}[{name!r}]")
    return policies


def _unknown(groups: Sequence[str], curves: Mapping[str, Treatment]) -> str:
    return f"There is no threshold for the group {', '.join(map(repr, groups))}. Known: {', '.join(map(repr, curves))}."
