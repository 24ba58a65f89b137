"""What a report says is what the numbers are; how it looks in a browser is tested beside."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import evenodds as eo
from evenodds.geometry import samples
from evenodds.report import rendered
from evenodds.report.document import Bullets, Code, Column, KeyFigures, Picture, Table, Text, plain, shown
from evenodds.report.subject import Subject
from populations import population
from shapes import with_mixes

HOSTILE = "</script ></script><img src=x onerror=alert(1)>|`*_#\n{{}}"
TITLES = (
    "In short", "What was decided, and why", "Before and after", "The curves", "Who the people are",
    "What is possible", "Does it hold for others?", "Each group's parameters", "Limits, and when not to use it",
    "Model card", "Fingerprints",
)  # fmt: skip


def _people(n=4000, seed=0, names=("a", "b"), **options):
    rng = np.random.default_rng(seed)
    group, label = rng.integers(0, len(names), n), rng.integers(0, 2, n)
    score = rng.normal(10 * label * (1 + 0.3 * group), 10)
    if options.get("orientation") == "negative":
        score = -score
    return eo.JointDistribution.from_arrays(score, np.array(names)[group], label, **options)


@pytest.fixture(scope="module")
def joint():
    return eo.datasets.credit_risk()


@pytest.fixture(scope="module")
def policy(joint):
    return eo.fit(joint)


@pytest.fixture(scope="module")
def document(policy, joint):
    return eo.report(policy, joint)


class Balanced(HTMLParser):
    """Whether every element is closed in its turn."""

    VOID = ("meta", "circle", "path", "rect", "br")

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.ids = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag


def checked(text):
    """The page, once it is known to be whole."""
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    assert len(set(parser.ids)) == len(parser.ids)
    return parser


def _table(document, title):
    return next(t for t in document.blocks(Table) if t.title.startswith(title))


# -- what it says ------------------------------------------------------------------------------------------------------


def test_every_section_is_there(document):
    assert tuple(section.title for section in document.sections) == TITLES
    pictures = [picture.name for picture in document.blocks(Picture)]
    assert {"curves", "densities", "score-rates", "roc", "frontier", "audit-fpr", "audit-tpr"} <= set(pictures)
    assert sum(name.startswith("solutions") for name in pictures) == 4
    assert len(set(pictures)) == len(pictures)


def test_machines_are_told_every_column_of_every_table(document):
    """A key of its own for each, also where what a person reads is "after" several times."""
    tables = [block for section in document.sections for block in section.blocks if isinstance(block, Table)]
    every = [block for section in plain(document)["sections"] for block in section["blocks"] if "rows" in block]
    assert len(tables) == len(every) > 5
    for table, told in zip(tables, every, strict=True):
        assert {len(row) for row in told["rows"]} <= {len(table.columns)}, table.title
    (each,) = (table for table in every if "told yes before" in table["rows"][0])
    assert {"told yes after", "FPR after", "TPR after", "by chance after"} <= each["rows"][0].keys()


def test_the_words_are_right_whichever_label_is_the_yes():
    people = _people()
    text = rendered(eo.report(eo.fit(people), people), "markdown")
    assert "label 0" not in text
    assert "label 1" not in text
    assert "of the negatives" in text


def test_before_and_after_are_the_rates_of_both(document, policy, joint):
    after = eo.metrics(policy, joint).groups
    table = _table(document, "What it does to each group")
    thresholds = {m.key: m for m in joint.members}
    assert [row[0] for row in table.rows] == [*joint.groups, "everybody"]
    for group, people, *rates in table.rows[:-1]:
        member = thresholds[group]
        assert people == pytest.approx(member.total)
        above = member.scores >= 27  # the single threshold with the best accuracy, by the next test
        fpr, tpr = (side[above].sum() / side.sum() for side in (member.negatives, member.positives))
        assert rates[2] == pytest.approx(fpr)
        assert rates[4] == pytest.approx(tpr)
        assert rates[1] == pytest.approx(after[group].selection_rate)
        assert rates[3] == pytest.approx(after[group].fpr)
        assert rates[5] == pytest.approx(after[group].tpr)
        assert rates[6] == 0
        assert rates[7] == pytest.approx(after[group].randomized)
        assert rates[8] == pytest.approx(after[group].lipschitz)  # a point of score
    _, people, *rates = table.rows[-1]
    odds = [(m, policy.odds(m.scores, m.key), (m.scores >= 27).astype(float)) for m in joint.members]
    assert people == pytest.approx(joint.total)
    for place, counted in enumerate(
        (lambda m: m.negatives + m.positives, lambda m: m.negatives, lambda m: m.positives)
    ):
        for then, which in ((0, 2), (1, 1)):  # before and after
            known = sum(counted(one[0]) @ one[which] for one in odds) / sum(counted(one[0]).sum() for one in odds)
            assert rates[2 * place + then] == pytest.approx(known)
    assert rates[7] == pytest.approx(eo.metrics(policy, joint).randomized)
    *groups, everybody = _table(document, "How often each group is decided rightly").rows
    assert [row[3] for row in groups] == pytest.approx([after[group].accuracy for group in joint.groups])
    assert everybody[3] == pytest.approx(eo.metrics(policy, joint).accuracy)


def test_before_is_the_best_single_threshold_unless_it_is_given(policy, joint):
    right = {}
    for score in np.unique(np.concatenate([m.scores for m in joint.members])):
        right[score] = sum(
            m.negatives[m.scores < score].sum() + m.positives[m.scores >= score].sum() for m in joint.members
        )
    assert max(right, key=right.get) == 27
    subject = Subject.of(policy, joint)
    assert "a yes from 27" in subject.before
    given = Subject.of(policy, joint, before=50)
    assert "a yes from 50" in given.before
    assert given.audit.before.groups["white"].tpr.value != subject.audit.before.groups["white"].tpr.value
    assert "the policy " in Subject.of(policy, joint, before=eo.fit(joint, curve="fixed")).before


def test_those_affected_are_counted_person_by_person(policy, joint, document):
    rows = _table(document, "Whom the change affects").rows
    assert [row[0] for row in rows] == list(joint.groups)
    for group, people, *moved, change in rows:
        member = next(m for m in joint.members if m.key == group)
        now, then = policy.odds(member.scores, group), (member.scores >= 27).astype(float)
        count = member.negatives + member.positives
        assert people == pytest.approx(count.sum())
        known = [
            side @ np.maximum(sign * (now - then), 0)
            for side in (member.positives, member.negatives)
            for sign in (1, -1)
        ]
        assert moved == pytest.approx(known)
        assert change == pytest.approx(count @ (now - then) / count.sum())


def test_parameters_and_certificate_are_the_policys(document, policy):
    rows = _table(document, "The curves in numbers").rows
    assert [row[0] for row in rows] == list(policy.groups)
    for row in rows:
        curve = policy.curves[row[0]]
        assert row[1:7] == (curve.family, curve.t0, curve.t1, curve.p, curve.knot, curve.lipschitz)
        assert row[7] == policy.certificate.slope_bound[row[0]]
    told = [item for bullets in document.blocks(Bullets) for item in bullets.items]
    lines = str(policy.certificate).splitlines()
    assert len(lines) >= 4
    assert set(lines) <= set(told)
    asked = {row[0]: row[1:] for row in _table(document, "What was asked for").rows}
    assert asked["constraint"][0] == "equalized_odds"
    assert asked["objective"][0] == "accuracy_score"
    assert "loses at most 0.005" in asked["slope budget"][1]
    assert asked["criterion"][0] == "gentlest"


def test_fingerprints_and_the_policy_itself(document, policy, joint):
    rows = {row[0]: row[1] for table in document.sections[-1].blocks if isinstance(table, Table) for row in table.rows}
    assert rows["policy"] == policy.document["fingerprint"]
    assert rows["people"] == joint.fingerprint
    (code,) = document.blocks(Code)
    assert json.loads(code.text) == policy.document


def test_numbers_to_remember(document, policy, joint):
    (figures,) = document.blocks(KeyFigures)
    found = {item.name: item.value for item in figures.items}
    measured = eo.metrics(policy, joint)
    assert found["accuracy"] == f"{100 * measured.accuracy:.1f} %"
    assert found["people decided by chance"] == f"{100 * measured.randomized:.1f} %"
    assert found["largest difference between groups, percentage points"] == "0.0"
    assert found["steepest odds, a point of score"] == f"{policy.curves['black'].lipschitz:.4g}"


def test_people_of_the_fit_are_told_from_others():
    fitted, fresh = _people(seed=0), _people(seed=1)
    policy = eo.fit(fitted)
    own, other = eo.report(policy, fitted), eo.report(policy, fresh, tolerance=0.2)
    assert own.lead.endswith("the people of the fit.")
    assert other.lead.endswith("people other than those of the fit.")
    names = {picture.name for picture in other.blocks(Picture)}
    assert "frontier" not in names  # what is best for other people says nothing of this policy
    assert not any(name.startswith("solutions") for name in names)
    assert not [t for t in other.blocks(Table) if t.title == "What else could be done"]
    assert any("Verdict at a tolerance of 0.2: pass" in text.words for text in other.blocks(Text))


def test_what_is_open_stands_in_the_report():
    policy = eo.fit(_people(names=("a", "b", "c")))
    rng = np.random.default_rng(5)
    group = np.repeat(["a", "b", "new"], [400, 400, 50])
    label = np.r_[rng.integers(0, 2, 400), np.ones(400), rng.integers(0, 2, 50)].astype(int)
    fresh = eo.JointDistribution.from_arrays(rng.normal(10 * label, 10), group, label, one_sided="keep")
    document = eo.report(policy, fresh, tolerance=0.05)
    html = checked(rendered(document, "html"))
    assert "svg" in html.seen
    told = " ".join(item for bullets in document.blocks(Bullets) for item in bullets.items)
    assert "Group 'c' of the policy is not in the data." in told
    assert "Group 'new' is not known to the policy: 50 people." in told
    assert "Group 'b' has 0 negatives" in told
    assert {picture.figure.groups for picture in document.blocks(Picture)} == {policy.groups}


def test_before_is_the_best_for_all_whom_it_is_measured_on():
    """Groups without a label count for the accuracy, so they count for the threshold too."""
    rng = np.random.default_rng(0)
    group, label = rng.choice(["a", "b"], 400), rng.integers(0, 2, 400)
    score = rng.normal(label + 0.2 * (group == "b"), 1)
    policy = eo.fit(eo.JointDistribution.from_arrays(score, group, label))
    kept = ~((group == "b") & (label == 1))
    score, group, label = score[kept], group[kept], label[kept]
    fresh = eo.JointDistribution.from_arrays(score, group, label, one_sided="keep")
    subject = Subject.of(policy, fresh)
    best = max(np.mean((score >= threshold) == label) for threshold in [*score, np.inf])
    assert subject.audit.before.accuracy.value == pytest.approx(best)
    document = eo.report(policy, fresh)
    (figures,) = document.blocks(KeyFigures)
    assert figures.items[0].value == "not defined"  # nobody of b has label 1, so there is no second rate


def test_who_the_people_are_is_not_told_by_rates_alone():
    """A lottery has the same rates on everybody."""
    fitted, other = _people(400, seed=1), _people(50, seed=2)
    policy = eo.fit(fitted, target=(0.4, 0.4))
    assert Subject.of(policy, fitted).is_of_the_fit
    assert not Subject.of(policy, other).is_of_the_fit
    rng = np.random.default_rng(3)
    group, label = rng.choice(["a", "b"], 400), rng.integers(0, 2, 400)
    score = rng.normal(label, 1)
    people = [eo.JointDistribution.from_arrays(np.tile(score, n), np.tile(group, n), np.tile(label, n)) for n in (1, 3)]
    rounded = eo.fit(eo.JointDistribution.from_arrays(score, group, label, resolution=0.25))
    assert Subject.of(rounded, people[0]).is_of_the_fit  # the same people, before their scores were rounded
    own = eo.fit(people[0])
    assert Subject.of(own, people[0]).is_of_the_fit
    assert not Subject.of(own, people[1]).is_of_the_fit


def test_sentences_that_depend_on_the_numbers(joint):
    def words(policy, **options):
        document = eo.report(policy, joint, **options)
        return " ".join(text.words for text in document.blocks(Text)), document

    gentle = eo.fit(joint)
    assert "Nobody stands at a cliff" in words(gentle)[0]
    steep, document = words(eo.fit(joint, max_slope=0.5), before=gentle)
    assert "The odds are continuous, but steep" in steep
    (figures,) = document.blocks(KeyFigures)
    assert "before: 0.1062" in figures.items[2].note  # and not "jump"
    fixed = eo.report(eo.fit(joint, curve="fixed"), joint)
    caption = next(p.caption for p in fixed.blocks(Picture) if p.name == "frontier")
    assert "dot" not in caption
    lottery = eo.report(eo.fit(joint, target=(0.4, 0.4)), joint)
    assert _table(lottery, "The curves in numbers").rows[0][2:5] == (None, None, 0.4)


def test_steeper_than_need_be_and_few_people_at_the_fit_are_limits():
    small = _people(90, seed=4)
    with pytest.warns(eo.EvenoddsWarning, match="very small"):
        policy = eo.fit(small)
    told = " ".join(item for b in eo.report(policy, _people(4000)).blocks(Bullets) for item in b.items)
    assert "was fitted on few people" in told
    certificate = policy.certificate
    steeper = [g for g in policy.groups if policy.curves[g].lipschitz > 1.2 * certificate.slope_bound[g]]
    assert bool(steeper) == ("might be gentler than that of" in told)
    assert steeper  # a jagged sample, on which straight ramps cannot follow


def test_jumps_small_groups_and_missing_proofs_are_limits():
    joint = eo.datasets.credit_risk()
    document = eo.report(eo.fit(joint, target="baseline"), joint)
    told = " ".join(item for bullets in document.blocks(Bullets) for item in bullets.items)
    assert "The odds of hispanic jump" in told
    assert "Individual odds fail between" in told
    assert any("In hispanic the odds jump" in text.words for text in document.blocks(Text))
    asked = {row[0]: row[1:] for row in _table(document, "What was asked for").rows}
    assert "named by whoever fitted the policy" in asked["rates"][1]
    assert asked["slope budget"][0] == "none"
    small = _people(60)
    with pytest.warns(eo.EvenoddsWarning, match="very small"):
        policy = eo.fit(small)
    told = " ".join(item for b in eo.report(policy, small).blocks(Bullets) for item in b.items)
    assert told.count("very small") == 1  # all of them in one sentence


@pytest.mark.parametrize("jumps", [False, True], ids=["gentle", "jumps"])
def test_a_mix_is_told_in_plain_words(policy, joint, jumps):
    ends = ((20, 20, 0), (50, 50, 0)) if jumps else ((10, 40, 0.5), (30, 80, 0.4))
    mix = eo.Curve.mixed([(share, eo.Curve("linear", *end)) for share, end in zip((0.3, 0.7), ends, strict=True)])
    mixed = with_mixes(policy, joint, {"white": mix})
    document = eo.report(mixed, joint)
    checked(rendered(document, "html"))
    assert rendered(document, "markdown")
    within = "" if jumps else " within the slope budget"
    why = f"No single linear curve was found that meets the point of white{within}; a mix of two does."
    told = next(text.words for text in document.blocks(Text) if text.words.startswith("No single"))
    assert told.startswith(why)
    assert "The odds of white are the sum of two such curves, each times its share" in told
    assert ("no steeper than allowed" in told) != jumps
    table = _table(document, "The curves in numbers")
    whole, *parts = [row[1:] for row in table.rows if row[0] == "white"]
    what = "mix of two thresholds" if jumps else "mix of two linear curves"
    assert whole[:6] == (what, mix.t0, mix.t1, mix.p, None, mix.lipschitz)
    assert [row[0] for row in parts] == ["its part with a share of 0.3", "its part with a share of 0.7"]
    for row, (_, part) in zip(parts, mix.parts, strict=True):
        assert row[1:] == (part.t0, part.t1, part.p, part.knot, part.lipschitz, None, None, None)
    assert why in table.note
    asked = {row[0]: row[1:] for row in _table(document, "What was asked for").rows}
    assert asked["curves"][1].endswith("; in white a mix of two such curves")
    captions = {picture.name: picture.caption for picture in document.blocks(Picture)}
    named = next(caption for name, caption in captions.items() if name.startswith("mix-"))
    assert named.startswith(why)
    assert "30 % of the odds of the " + ("threshold 20" if jumps else "curve from 10 to 40") in named
    assert ("what mixes of two thresholds reach (dashed)" in captions["roc"]) == jumps


def test_two_groups_with_mixes(policy, joint):
    mix = eo.Curve.mixed([(0.3, eo.Curve("linear", 10, 40, 0.5)), (0.7, eo.Curve("linear", 30, 80, 0.4))])
    document = eo.report(with_mixes(policy, joint, {"white": mix, "black": mix}), joint)
    told = [text.words for text in document.blocks(Text)]
    assert any("meets the points of black, white within the slope budget" in words for words in told)


def test_the_model_card_says_what_nobody_has_stated(policy, joint):
    document = eo.report(policy, joint, about={"Owner": "Credit team", "Reviewed": "yes"})
    card = dict(next(s for s in document.sections if s.title == "Model card").blocks[0].rows)
    assert card["Owner"] == "Credit team"
    assert card["Reviewed"] == "yes"
    assert card["Intended use"] == "Not stated."


# -- every kind of policy ----------------------------------------------------------------------------------------------

OPTIONS = [
    {"curve": "fixed"},
    {"curve": "optimal"},
    {"curve": "cubic", "criterion": "smoothest"},
    {"curve": "quartic"},
    {"constraints": "demographic_parity"},
    {"constraints": "true_positive_rate_parity", "tolerance": 0.05},
    {"constraints": "false_positive_rate_parity", "objective": "true_positive_rate"},
    {"objective": eo.Cost(3, 1)},
    {"objective": "closest_to_perfect"},
    {"max_loss": 0},
    {"target": "baseline"},
    {"keep_individual_odds": True, "max_slope": 0.05},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(f"{k}={v}" for k, v in o.items()))
def test_every_kind_of_policy_has_a_report(joint, options):
    policy = eo.fit(joint, **options)
    document = eo.report(policy, joint)
    parser = checked(rendered(document, "html"))
    assert parser.seen.count("figure") >= 6
    assert "nan" not in rendered(document, "markdown").lower()
    if "Cost" in str(options):
        asked = {row[0]: row[1:] for row in _table(document, "What was asked for").rows}
        assert asked["objective"][0] == "cost: a wrong yes 1, a wrong no 0.333333"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.filterwarnings("ignore::evenodds.EvenoddsWarning")
def test_jagged_populations(seed):
    joint, other = population(seed), population(seed + 100)
    policy = eo.fit(joint)
    for people in (joint, other):
        checked(rendered(eo.report(policy, people), "html"))


def test_negative_orientation_and_large_groups(monkeypatch):
    plain_ones = _people(6000, orientation="negative")
    assert not plain_ones.members[0].is_large
    monkeypatch.setattr(samples, "FEW", 100)
    joint = _people(6000, orientation="negative")
    assert joint.members[0].is_large
    assert joint.fingerprint == plain_ones.fingerprint
    document = eo.report(eo.fit(joint), joint)
    checked(rendered(document, "html"))
    assert any("A lower score never means lower odds" in text.words for text in document.blocks(Text))
    assert "a yes up to" in " ".join(text.words for text in document.blocks(Text))


def test_one_group_and_one_score():
    one = _people(500, names=("only",))
    document = eo.report(eo.fit(one), one)
    checked(rendered(document, "html"))
    flat = eo.JointDistribution.from_counts({"a": ([5], [20], [40]), "b": ([5], [30], [40])})
    with pytest.warns(eo.EvenoddsWarning):
        policy = eo.fit(flat)
    checked(rendered(eo.report(policy, flat), "html"))


# -- files -------------------------------------------------------------------------------------------------------------


def test_the_page_loads_nothing_and_runs_nothing_but_its_own(document):
    text = rendered(document, "html")
    assert set(re.findall(r"https?://[^\"' <)]+", text)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"<(link|img|iframe|object|embed|form)\b|@import|url\((?!#)|srcset|\bimport\(|fetch\(", text)
    allowed = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert allowed.startswith("default-src 'none'")
    assert "unsafe" not in allowed
    for tag in ("style", "script"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in allowed
    assert " style=" not in text


def test_names_are_text_whatever_they_are():
    joint = _people(names=("a", HOSTILE))
    document = eo.report(eo.fit(joint), joint, title=HOSTILE, about={HOSTILE: HOSTILE})
    text = rendered(document, "html")
    parser = checked(text)
    assert "img" not in parser.seen
    assert text.count("<script") == 1 + text.count("<figure")
    told = re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    assert len(told) == text.count("<figure") >= 6
    for data in told:
        json.loads(data)
        assert not set("<>&") & set(data)  # nothing that could end the script early
    markdown = rendered(document, "markdown")
    outside, _, _ = markdown.partition("```")  # in the policy itself it is text as it stands
    assert "<img" not in outside.replace("\\<img", "")
    _check_markdown_tables(markdown)


def _check_markdown_tables(text):
    found = 0
    for block in re.split(r"\n\n", text):
        lines = block.splitlines()
        if lines and lines[0].startswith("| "):
            found += 1
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
            assert len(counts) == 1, block
    assert found >= 6


def test_markdown_has_the_text_and_the_tables(document, policy):
    text = rendered(document, "markdown")
    for title in TITLES:
        assert f"## {title}" in text
    assert policy.document["fingerprint"] in text
    assert "Figure, in the HTML report: Odds of a yes" in text
    _check_markdown_tables(text)


def test_plain_data_are_json(document):
    told = json.loads(json.dumps(plain(document)))
    assert [section["title"] for section in told["sections"]] == list(TITLES)


def test_the_same_input_makes_the_same_file(policy, joint, tmp_path):
    for name in ("one.html", "two.html", "three.htm", "four.md", "five.markdown"):
        eo.report(policy, joint, tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert (tmp_path / "three.htm").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "four.md").read_text() == (tmp_path / "five.markdown").read_text()
    eo.report(policy, joint, tmp_path / "six.txt", format="markdown")
    assert (tmp_path / "six.txt").read_text() == (tmp_path / "four.md").read_text()


def test_the_fingerprint_of_people_does_not_depend_on_their_order():
    rng = np.random.default_rng(3)
    score, group, label = rng.integers(0, 50, 500), rng.integers(0, 3, 500), rng.integers(0, 2, 500)
    order = rng.permutation(500)
    one = eo.JointDistribution.from_arrays(score, group, label)
    two = eo.JointDistribution.from_arrays(score[order], group[order], label[order])
    assert one.fingerprint == two.fingerprint
    label[0] = 1 - label[0]
    others = [
        eo.JointDistribution.from_arrays(score, group, label),
        eo.JointDistribution.from_arrays(score + 1, group, label),
        eo.JointDistribution.from_arrays(score, group, label, orientation="negative"),
    ]
    assert len({one.fingerprint, *(other.fingerprint for other in others)}) == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"path": "report.pdf"}, r"A PDF is made by a browser: write report\.html and print it"),
        ({"path": "report.docx"}, r"The format of report\.docx cannot be told from its name. Allowed endings: \.html"),
        ({"path": "r.html", "format": "htlm"}, r"format='htlm' is not known. Allowed: html, markdown. Hint: .* 'html'"),
        ({"path": 3}, r"path=3 is not allowed"),
        ({"path": "nowhere/r.html"}, r"There is no folder nowhere"),
        ({"about": ["Owner"]}, r"about=\['Owner'\] is not allowed. Allowed: names and texts"),
        ({"about": {"Owner": 1}}, r"about="),
        ({"about": {"Made with": "magic"}}, r"about= has 'Made with', which the report finds out itself"),
        ({"title": 5}, r"title=5 is not allowed. Allowed: a text"),
        ({"tolerance": 2}, r"tolerance=2 is not allowed"),
        ({"confidence": 1.5}, r"confidence=1.5 is not allowed"),
        ({"before": "x"}, r"before='x' is not allowed"),
        ({"policy": 3}, r"The first argument must be a Policy, got int"),
        ({"joint": 3}, r"The second argument must be a JointDistribution, got int"),
    ],
)
def test_bad_input(policy, joint, change, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"policy": policy, "joint": joint} | change
    with pytest.raises(eo.OptionError, match=message):
        eo.report(given.pop("policy"), given.pop("joint"), **given)
    assert not list(tmp_path.iterdir())


def test_people_of_whom_the_policy_knows_nobody(policy):
    with pytest.raises(eo.DataError, match=r"No group that the policy knows has people of both labels. Known: 'asian'"):
        eo.report(policy, _people())


def test_what_no_encoding_writes_is_replaced(policy, joint, tmp_path):
    eo.report(policy, joint, tmp_path / "r.html", title="\udcff", about={"Owner": "\ud800"})
    assert "<h1>?</h1>" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_report_that_cannot_be_finished_leaves_the_one_before(policy, joint, tmp_path, monkeypatch):
    file = tmp_path / "r.html"
    file.write_text("the one before")
    write = Path.write_text

    def cut_off(self, text, **options):
        write(self, text[:100], **options)
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "write_text", cut_off)
    with pytest.raises(OSError, match="No space left"):
        eo.report(policy, joint, file)
    assert file.read_text() == "the one before"
    assert list(tmp_path.iterdir()) == [file]


def test_values_as_people_read_them():
    assert shown(1234567.0, "count") == "1,234,567"
    assert shown(14702.000000001, "count") == "14,702"
    assert shown(12.34, "count") == "12.3"
    assert shown(float("nan"), "percent") == "not defined"
    assert shown(True) == "yes"
    assert shown(1.0, "rate") == "1.0000"
    assert Column("x").kind == "text"
