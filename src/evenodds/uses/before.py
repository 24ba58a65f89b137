"""What was in use before a policy, for comparison: another policy, or the single threshold of everybody."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from evenodds.errors import OptionError, UnknownGroupError
from evenodds.model.curves import Curve
from evenodds.model.policy import Policy

__all__ = ["curves_before"]


def curves_before(before: Policy | float, policy: Policy, groups: Sequence[str]) -> Mapping[str, Curve]:
    """The curves of what was in use before, for these groups."""
    if isinstance(before, Policy):
        before.check_orientation(policy.orientation)
        lacking = [group for group in groups if group not in before.curves]
        if lacking:
            msg = f"before=: {before.unknown(lacking)}"
            raise UnknownGroupError(msg)
        return before.curves
    if isinstance(before, bool) or not isinstance(before, (int, float, np.number)) or not math.isfinite(before):
        msg = f"before={before!r} is not allowed. Allowed: a policy, or a score, the single threshold of everybody."
        raise OptionError(msg)
    threshold = Curve("fixed", float(before), float(before), 0.0, orientation=policy.orientation)
    return dict.fromkeys(groups, threshold)
