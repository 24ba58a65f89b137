from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import evenodds as eo
from evenodds.values import flag_of, number_of, whole_number_of

NUMBERS = [
    0, 1, 0.05, np.float64(0.05), np.float32(0.05), np.float16(0.05), np.longdouble(0.05), np.int64(0), np.uint8(1),
    np.int8(1), Decimal("0.05"), Fraction(1, 20),
]  # fmt: skip
NO_NUMBERS = [
    True, False, np.True_, np.False_, "0.05", b"0.05", None, 0.5j, np.complex64(0.5), [0.05], np.array([0.05, 0.1]),
    np.array(0.05), np.timedelta64(1, "s"), np.datetime64(1, "s"), dt.timedelta(1), math.nan, np.float32("nan"),
    math.inf, Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), 10**400, Fraction(10**400, 3), object,
]  # fmt: skip


@pytest.mark.parametrize("value", NUMBERS, ids=repr)
def test_every_number_of_python_and_numpy_is_one(value):
    found = number_of("share", value, "from 0 to 1", low=0, high=1)
    assert type(found) is float
    assert found == float(value)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: repr(value)[:30])
def test_truth_values_text_and_what_is_not_finite_are_no_numbers(value):
    with pytest.raises(eo.OptionError) as caught:
        number_of("share", value, "any number")
    shown = repr(value) if len(repr(value)) <= 80 else repr(value)[:77] + "..."
    assert str(caught.value) == f"share={shown} is not allowed. Allowed: any number."


@pytest.mark.parametrize(
    ("value", "ends", "fits"),
    [
        (0, {"low": 0}, True),
        (0, {"low": 0, "above": True}, False),
        (np.int64(0), {"low": 0, "above": True}, False),
        (1, {"high": 1}, True),
        (np.nextafter(1, 2), {"high": 1}, False),
        (-1e-300, {"low": 0}, False),
        (Decimal("1.0000000000000000000001"), {"high": 1}, True),  # as floating-point numbers have it
    ],
)
def test_the_ends_of_what_is_allowed(value, ends, fits):
    if fits:
        assert number_of("share", value, "so many", **ends) == float(value)
    else:
        with pytest.raises(eo.OptionError, match="Allowed: so many"):
            number_of("share", value, "so many", **ends)


def test_a_number_that_python_does_not_print_is_refused_all_the_same():
    with pytest.raises(eo.OptionError) as caught:
        number_of("share", 10**5000, "from 0 to 1", low=0, high=1)
    assert str(caught.value) == "share=a number of thousands of digits is not allowed. Allowed: from 0 to 1."


@pytest.mark.parametrize("value", [2, 7, np.int64(7), np.uint8(7), 10**400], ids=lambda value: repr(value)[:20])
def test_whole_numbers(value):
    found = whole_number_of("draws", value, least=2)
    assert type(found) is int
    assert found == value


@pytest.mark.parametrize(
    "value", [1, np.int64(1), -3, 2.0, np.float64(7), True, np.True_, "7", None, Decimal(7), np.timedelta64(7, "s")]
)
def test_what_is_no_whole_number(value):
    with pytest.raises(eo.OptionError) as caught:
        whole_number_of("draws", value, least=2)
    assert str(caught.value) == f"draws={value!r} is not allowed. Allowed: a whole number from 2 on."


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_, np.bool_(1), np.array([True])[0]], ids=repr)
def test_flags(value):
    found = flag_of("keep", value)
    assert type(found) is bool
    assert found == value


class bool_:  # noqa: N801 like numpy's in name only
    def __repr__(self):
        return "maybe"


@pytest.mark.parametrize("value", ["no", "False", 0, 1, 1.0, None, np.int64(1), [], [True], np.array([True]), bool_()])
def test_what_might_be_taken_for_a_flag(value):
    with pytest.raises(eo.OptionError) as caught:
        flag_of("keep", value)
    assert str(caught.value) == f"keep={value!r} is not allowed. Allowed: True or False."
