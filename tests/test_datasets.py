from __future__ import annotations

from importlib.resources import files

import pytest

import evenodds as eo


def test_credit_risk_totals():
    joint = eo.datasets.credit_risk()
    people = {member.key: round(member.total) for member in joint.members}
    assert people == {"asian": 7906, "black": 18274, "hispanic": 14702, "white": 133165}
    repaid = {member.key: round(member.base_rate, 4) for member in joint.members}
    assert repaid == {"asian": 0.8068, "black": 0.3366, "hispanic": 0.5681, "white": 0.7587}
    assert joint.score_range == (0, 100)


def test_compas_totals():
    joint = eo.datasets.compas()
    people = {member.key: member.total for member in joint.members}
    assert people == {
        "African-American, Female": 652,
        "African-American, Male": 3044,
        "Caucasian, Female": 567,
        "Caucasian, Male": 1887,
    }
    again = {member.key: member.positive_total for member in joint.members}
    assert sum(again.values()) == 2867
    everybody = eo.datasets.compas(races=("African-American", "Caucasian", "Hispanic", "Other"))
    assert len(everybody.groups) == 8


def test_no_personal_column_is_bundled():
    header = (files("evenodds.datasets") / "compas.csv").read_text().splitlines()[0]
    assert header == "race,sex,decile_score,two_year_recid,people"


@pytest.mark.parametrize("races", ["Caucasian", (), ("Caucasion",), 3])
def test_bad_races(races):
    with pytest.raises(eo.OptionError, match=r"races.*Allowed: African-American, Asian, Caucasian"):
        eo.datasets.compas(races=races)
