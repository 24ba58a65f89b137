"""What was in use before a policy, for comparison: another policy, or the single threshold of everybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenodds.errors import UnknownGroupError
from evenodds.model.curves import Curve
from evenodds.model.policy import Policy
from evenodds.values import number_of

__all__ = ["curves_before"]


def curves_before(before: Policy | float, policy: Policy, groups: Sequence[str]) -> Mapping[str, Curve]:
    """The curves of what was in use before, for these groups."""
    if isinstance(before, Policy):
        before.check_orientation(policy.orientation)
        lacking = [group for group in groups if group not in before.curves]
        if lacking:
            msg = f"before=: {before.unknown(lacking)}"
            raise UnknownGroupError(msg)
        return {group: before.curves[group] for group in groups}
    allowed = "a policy, or a score, the single threshold of everybody"
    threshold = number_of("before", before, allowed)
    return dict.fromkeys(groups, Curve("fixed", threshold, threshold, 0.0, orientation=policy.orientation))
