from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from strategies import counts


def _rows(scores, negatives, positives):
    """The same people one by one."""
    score = np.concatenate([np.repeat(scores, negatives.astype(int)), np.repeat(scores, positives.astype(int))])
    label = np.repeat([0, 1], [int(negatives.sum()), int(positives.sum())])
    return score, label


def _same(one, other):
    assert one.groups == other.groups
    for a, b in zip(one.members, other.members, strict=True):
        assert np.array_equal(a.scores, b.scores)
        assert np.array_equal(a.negatives, b.negatives)
        assert np.array_equal(a.positives, b.positives)


@given(counts(), st.integers(0, 2**32 - 1))
def test_rows_counts_weights_and_their_order_agree(table, seed):
    scores, negatives, positives = table
    counted = eo.JointDistribution.from_counts({"a": table})
    score, label = _rows(*table)
    order = np.random.default_rng(seed).permutation(score.size)
    one_by_one = eo.JointDistribution.from_arrays(score[order], ["a"] * score.size, label[order])
    _same(counted, one_by_one)
    weighted = eo.JointDistribution.from_arrays(
        np.concatenate([scores, scores]),
        ["a"] * (2 * scores.size),
        np.repeat([0, 1], scores.size),
        weight=np.concatenate([negatives, positives]),
    )
    _same(counted, weighted)


def test_ties_are_merged_and_empty_scores_dropped():
    joint = eo.JointDistribution.from_counts({"a": ([3, 1, 3, 9], [1, 2, 1, 0], [4, 0, 1, 0])})
    (member,) = joint.members
    assert member.scores.tolist() == [1, 3]
    assert member.negatives.tolist() == [2, 2]
    assert member.positives.tolist() == [0, 5]
    assert joint.score_range == (1, 3)


@pytest.mark.parametrize("orientation", ["positive", "negative"])
def test_the_fingerprint_takes_no_notice_of_the_sign_of_zero(orientation):
    score, group, label = np.array([-0.0, 0.0, 1.5, 0.0, 0.0, 2.5]), ["a"] * 6, np.array([0, 0, 1, 1, 0, 1])
    first, last, plain = (
        eo.JointDistribution.from_arrays(r, group, y, orientation=orientation).fingerprint
        for r, y in ((score, label), (score[::-1], label[::-1]), (np.abs(score), label))
    )
    assert first == last == plain


def test_it_cannot_be_changed():
    joint = eo.JointDistribution.from_counts({"a": ([1, 2], [1, 1], [1, 1])})
    with pytest.raises(ValueError, match="read-only"):
        joint.members[0].scores[0] = 5
    with pytest.raises(AttributeError):
        joint.orientation = "negative"


def test_the_callers_arrays_are_neither_kept_nor_changed():
    score = np.array([2.0, 1.0, 1.0, 2.0])
    joint = eo.JointDistribution.from_arrays(score, list("aaaa"), [1, 0, 1, 0])
    score[:] = 99
    assert joint.score_range == (1, 2)
    assert score.flags.writeable


def test_negative_orientation_mirrors_the_scale_inside_only():
    joint = eo.JointDistribution.from_counts({"a": ([1, 2, 5], [1, 1, 2], [2, 1, 1])}, orientation="negative")
    assert joint.members[0].scores.tolist() == [-5, -2, -1]
    assert joint.score_range == (1, 5)


def test_group_keys():
    joint = eo.JointDistribution.from_arrays([1, 2, 1, 2], np.array([2, 2, 10, 10]), [0, 1, 0, 1])
    assert joint.groups == ("10", "2")
    columns = [["w", "w", "b", "b"], [True, True, False, False]]
    assert eo.JointDistribution.from_arrays([1, 2, 1, 2], columns, [0, 1, 0, 1]).groups == ("b, False", "w, True")
    table = np.array([columns[0], ["x", "x", "y", "y"]]).T
    assert eo.JointDistribution.from_arrays([1, 2, 1, 2], table, [0, 1, 0, 1]).groups == ("b, y", "w, x")
    tuples = {("w", 1): ([1, 2], [1, 1], [1, 1])}
    assert eo.JointDistribution.from_counts(tuples).groups == ("w, 1",)


def test_intersectional_groups_are_a_product_of_columns():
    race, sex = list("wwwwbbbb"), list("mmffmmff")
    joint = eo.JointDistribution.from_arrays([1, 2] * 4, [race, sex], [0, 1] * 4)
    assert joint.groups == ("b, f", "b, m", "w, f", "w, m")


GOOD = {"score": [1.0, 2.0, 3.0], "group": list("aaa"), "label": [0, 1, 1]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": [1, np.nan, 3]}, r"score has 1 missing, NaN or infinite value \(first at position 1: nan\)"),
        ({"score": [1, np.inf, -np.inf]}, r"score has 2 missing, NaN or infinite values \(first at position 1: inf\)"),
        ({"score": [1, None, 3]}, r"score has 1 missing, NaN or infinite value \(first at position 1: None\)"),
        ({"score": ["1", "2", "3"]}, r"score must be numbers, got <U1 \(first value '1'\)"),
        ({"score": np.array([1, "x", 3], object)}, r"score must be numbers, got 'x' at position 1"),
        ({"score": [[1], [2], [3]]}, r"score must be one column, got an array of shape \(3, 1\)"),
        ({"score": [1, 2]}, r"different lengths: score 2, group 3, label 3\."),
        ({"score": [-1.7e308, 0, 1.7e308]}, r"beyond what floating-point numbers can square. Hint: rescale"),
        ({"score": np.array([1.0, 2.0, 3.0]) * 1e-160}, r"beyond what floating-point numbers can square"),
        ({"score": [[1], [2, 3], [4]]}, r"score must be one column, got rows of different lengths"),
        ({"score": [1, 10**400, 3]}, r"score must be numbers, got 10+ at position 1"),
        ({"score": np.ma.array([1.0, 2, 3], mask=[0, 1, 0])}, r"score has 1 masked values"),
        ({"group": np.ma.array(["a", "b", "a"], mask=[0, 1, 0])}, r"group has 1 masked values"),
        ({"group": [1, 1, "1"]}, r"Two different groups would share the key '1': 1 and '1'"),
        ({"group": ["a", float("nan"), "a"]}, r"group has 1 missing value"),
        ({"group": np.array(["a", [1], "a"], object)}, r"A column has values that cannot be told apart \(lists"),
        ({"label": np.array([0, 1, None], object)}, r"label must be 0 or 1, got None in 1 row"),
        ({"weight": [1e308, 1e308, 1e308]}, r"weight has values up to 1e\+308, too large to add up"),
        ({"positive_label": np.array([1, 2])}, r"positive_label=array\(\[1, 2\]\) does not occur in label"),
        ({"weight": [5e149, 5e149, 5e149]}, r"weight has values up to 5e\+149, too large to add up"),
        ({"label": [0, 1, 2]}, r"label must be 0 or 1, got 2 in 1 row \(first at position 2\)"),
        ({"label": [0, 1, np.nan]}, r"label must be 0 or 1, got nan in 1 row"),
        (
            {"label": ["no", "yes", "yes"]},
            r"label must be 0 or 1, got 'no', 'yes' in 3 rows.*Hint: repair these rows, or positive_label= names",
        ),
        ({"label": [[0], [1], [1]]}, r"label must be one column"),
        ({"label": [0, 0, 0]}, r"Group 'a' has weight 3 of negatives, none of positives.*true positive rate"),
        ({"label": [1, 1, 1]}, r"Group 'a' has weight 3 of positives, none of negatives.*false positive rate"),
        ({"weight": [1, 1, np.nan]}, r"weight has 1 missing, NaN or infinite value"),
        ({"weight": [1, np.inf, 1]}, r"weight has 1 missing, NaN or infinite value"),
        ({"weight": [1, -2, 1]}, r"weight has 1 negative value \(first at position 1: -2\)"),
        ({"weight": [1, 1]}, r"different lengths: score 3, group 3, label 3, weight 2\."),
        ({"weight": [0, 1, 1]}, r"Group 'a' has weight 2 of positives, none of negatives"),
        ({"group": ["a", None, "a"]}, r"group has 1 missing value \(first at position 1\).*'unknown'"),
        ({"group": [1.0, np.nan, np.nan]}, r"group has 2 missing values \(first at position 1\)"),
        ({"group": np.array([1, "1", 1], object)}, r"Two different groups would share the key '1': 1 and '1'"),
        ({"group": [["a, b", "a", "a"], ["c", "b, c", "c"]]}, r"share the key 'a, b, c'"),
        ({"group": [["a", "a", "a"], ["c", "b"]]}, r"columns of group have different lengths: 3, 2"),
        ({"group": "a"}, r"group must be one column or several"),
        ({"orientation": "up"}, r"orientation='up' is not known. Allowed: positive, negative"),
        ({"score": [], "group": [], "label": []}, r"The table is empty"),
    ],
)
def test_bad_rows(change, message):
    arguments = {**GOOD, **change}
    score, group, label = (arguments.pop(name) for name in ("score", "group", "label"))
    with pytest.raises(eo.EvenoddsError, match=message) as caught:
        eo.JointDistribution.from_arrays(score, group, label, **arguments)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, r"The table is empty: no group was given"),
        ([1, 2], r"must map groups to \(scores, negatives, positives\), got list"),
        ({"a": 5}, r"Group 'a' must be given as \(scores, negatives, positives\), got int"),
        ({"a": np.array(5)}, r"Group 'a' must be given as \(scores, negatives, positives\), got ndarray"),
        ({"a": ([1, 2], [1, 1])}, r"Group 'a' must be given as \(scores, negatives, positives\), got 2 columns"),
        (
            {"a": ([1, 2], [1], [1, 1])},
            r"columns of group 'a' have different lengths: scores 2, negatives 1, positives 2",
        ),
        ({"a": ([1, 2], [1, -1], [1, 1])}, r"negatives of group 'a' has 1 negative value \(first at position 1: -1\)"),
        ({"a": ([1, 2], [1, 1], [1, -1])}, r"positives of group 'a' has 1 negative value"),
        ({"a": ([1, np.nan], [1, 1], [1, 1])}, r"score of group 'a' has 1 missing, NaN or infinite value"),
        ({"a": ([1, 2], [1, 1], [0, 0])}, r"Group 'a' has weight 2 of negatives, none of positives"),
        ({1: ([1, 2], [1, 1], [1, 1]), "1": ([1, 2], [1, 1], [1, 1])}, r"share the key '1': 1 and '1'"),
        ({"a": ([], [], [])}, r"Group 'a' has"),
    ],
)
def test_bad_counts(table, message):
    with pytest.raises(eo.DataError, match=message):
        eo.JointDistribution.from_counts(table)


def test_pandas_style_objects_and_booleans_are_taken():
    joint = eo.JointDistribution.from_arrays(
        np.array([1, 2, 3], np.float32), np.array(["a", "a", "a"], object), np.array([False, True, True])
    )
    assert joint.total == 3
    assert "1 group, 3 scores" in repr(joint)


def test_weights_that_are_all_0_are_refused():
    with pytest.raises(eo.DataError, match="weight is 0 for everybody"):
        eo.JointDistribution.from_arrays([1, 2, 3, 4], ["a"] * 4, [0, 1, 0, 1], weight=[0, 0, 0, 0])


@pytest.mark.parametrize("groups", [["a\ud800", "b"], [("a", "\udcff"), ("b", "c")]])
def test_a_group_that_no_file_can_hold_is_refused(groups):
    people = ([1.0, 2.0], [1, 1], [1, 1])
    with pytest.raises(eo.DataError, match="has half a character, a lone surrogate"):
        eo.JointDistribution.from_counts(dict.fromkeys(groups, people))
    if isinstance(groups[0], str):
        with pytest.raises(eo.DataError, match="read the groups with the encoding that they have"):
            eo.JointDistribution.from_arrays([1, 2, 1, 2], groups * 2, [0, 0, 1, 1])


def test_whole_numbers_below_zero_too_are_refused_where_floats_cannot_tell_them_apart():
    scores = -(2**53) - np.arange(8)
    with pytest.raises(
        eo.DataError, match=r"score has 8 whole numbers so large that a float tells only 5 of them apart"
    ):
        eo.JointDistribution.from_arrays(scores, list("aabb") * 2, [0, 1] * 4)
