"""What was never to change cannot be changed after a pickle either."""

from __future__ import annotations

import copy
import io
import pickle

import joblib
import numpy as np
import pytest

import evenodds as eo


def _by_joblib(thing):
    stream = io.BytesIO()
    joblib.dump(thing, stream)
    stream.seek(0)
    return joblib.load(stream)


WAYS = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),  # noqa: S301 our own bytes
    "an old pickle": lambda thing: pickle.loads(pickle.dumps(thing, protocol=2)),  # noqa: S301 as above
    "deepcopy": copy.deepcopy,
    "joblib": _by_joblib,
}


def people(kind):
    rng = np.random.default_rng(0)
    n = 150_000 if kind.startswith("large") else 2000
    label = rng.integers(0, 2, n)
    score = rng.normal(label, 1, n).round(0 if kind == "whole" else 6)
    weight = rng.uniform(0.5, 2, n) if kind.endswith("weighted") else None
    return eo.JointDistribution.from_arrays(score, rng.choice(["a", "b"], n), label, weight=weight)


def arrays(thing):
    """Every array that can be reached from a thing."""
    if isinstance(thing, np.ndarray):
        return [thing]
    if isinstance(thing, dict):
        return [array for value in thing.values() for array in arrays(value)]
    if isinstance(thing, (list, tuple)):
        return [array for value in thing for array in arrays(value)]
    return arrays(vars(thing)) if hasattr(thing, "__dict__") else []


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("kind", ["whole", "small", "small, weighted", "large", "large, weighted"])
def test_a_joint_distribution_comes_back_locked_and_the_same(kind, way):
    joint = people(kind)
    # What is kept once it is computed.
    known = joint.fingerprint, [member.class_conditional.tolist() for member in joint.members]
    back = way(joint)
    found = arrays(back)
    assert len(found) >= 2 * len(joint.groups)
    assert not any(array.flags.writeable for array in found)
    for member in back.members:
        for array in (member.scores, member.negatives, member.positives, member.class_conditional):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7
    assert (back.fingerprint, [member.class_conditional.tolist() for member in back.members]) == known
    if kind.startswith("large"):
        assert all(member.is_large for member in back.members)


@pytest.mark.parametrize("options", [{}, {"review": eo.Review(capacity=0.05, tpr=0.8, fpr=0.2)}])
def test_a_policy_that_was_used_is_pickled(options):
    joint = eo.datasets.compas()
    policy = eo.fit(joint, **options)
    eo.metrics(policy, joint)
    policy.odds([1, 2], policy.groups[0], outcome="review")
    assert str(policy) == str(pickle.loads(pickle.dumps(policy)))  # noqa: S301 our own
    assert pickle.loads(pickle.dumps(policy)) == policy  # noqa: S301 as above
