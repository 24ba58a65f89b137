from __future__ import annotations

import numpy as np
import pytest

import evenodds as eo


@pytest.fixture(scope="module")
def joint():
    return eo.datasets.credit_risk()


@pytest.fixture(scope="module", params=["share", "final"])
def policy(joint, request):
    return eo.fit(joint, review=eo.Review(capacity=0.05, tpr=0.8, fpr=0.2, equal=request.param))


def test_metrics_are_those_in_the_end(policy, joint):
    measured, certificate = eo.metrics(policy, joint), policy.certificate
    assert measured.accuracy == pytest.approx(certificate.objective, abs=1e-12)
    assert measured.equalized_odds_difference < 1e-12
    for group, point in certificate.points.items():
        found = measured.groups[group]
        assert (found.fpr, found.tpr) == pytest.approx((point.fpr, point.tpr), abs=1e-12)
    for member in joint.members:
        odds = [policy.odds(member.scores, member.key, outcome=outcome) for outcome in ("yes", "review", "no")]
        certain = np.max(odds, axis=0) > 1 - 1e-9
        people = member.negatives + member.positives
        assert measured.groups[member.key].randomized == pytest.approx(people[~certain].sum() / people.sum(), abs=1e-12)


def test_an_audit_is_of_the_end_and_has_the_shares_reviewed(policy, joint):
    audit = eo.audit(policy, joint, tolerance=0.05, before=30, reference=joint, bootstrap=5)
    certificate = policy.certificate
    assert audit.accuracy.value == pytest.approx(certificate.objective, abs=1e-12)
    assert audit.equalized_odds_difference.value < 1e-12
    for group, shares in audit.reviewed.items():
        negatives, positives = certificate.reviewed.by_label[group]
        assert shares["negatives"].value == pytest.approx(negatives, abs=1e-12)
        assert shares["positives"].value == pytest.approx(positives, abs=1e-12)
        assert shares["everybody"].value == pytest.approx(certificate.reviewed.by_group[group], abs=1e-12)
        assert shares["everybody"].low <= shares["everybody"].value <= shares["everybody"].high
    assert "Rates are those in the end, if reviewers say yes as often as was assumed." in str(audit)
    assert str(audit.verdict) == "pass"
    assert eo.audit(30, joint, before=policy).before.accuracy.value == pytest.approx(certificate.objective)


def test_a_simulated_lottery_with_reviewers_agrees(policy, joint):
    """What comes of draws and of reviewers who are as assumed is what the certificate says, but for chance."""
    rng = np.random.default_rng(0)
    for member in joint.members:
        for label, people in enumerate((member.negatives, member.positives)):
            scores = rng.choice(member.scores, 200_000, p=people / people.sum())
            draw, said = rng.random((2, scores.size))
            yes, looked = (policy.odds(scores, member.key, outcome=outcome) for outcome in ("yes", "review"))
            final = (draw < yes) | ((draw >= yes) & (draw < yes + looked) & (said < (0.2, 0.8)[label]))
            expected = policy.certificate.points[member.key]
            assert final.mean() == pytest.approx((expected.fpr, expected.tpr)[label], abs=0.005)


def test_policies_side_by_side(policy, joint):
    rows = {row.policy: row for row in eo.compare(joint, curves=["fixed"], policies={"looked at": policy}).rows}
    assert rows["looked at"].objective == pytest.approx(policy.certificate.objective, abs=1e-12)
    assert rows["looked at"].objective > rows["fixed"].objective


def test_an_explanation_tells_of_the_review(policy, joint):
    told = eo.explain(policy, score=27, group="hispanic", joint=joint)
    assert told.review == policy.odds(27, "hispanic", outcome="review")
    assert "of a review 100 %" in str(told)
    assert told.fixed is None
    assert eo.explain(eo.fit(joint), score=27, group="hispanic").review is None


def test_what_is_about_one_curve_refuses_reviews(policy, joint):
    with pytest.raises(eo.OptionError, match="update is about one curve a group, and this policy has reviews"):
        eo.update(policy, joint, max_change=0.1)
    with pytest.raises(eo.OptionError, match="stability fits one curve a group"):
        eo.stability(joint, draws=2, review=policy.review)
    with pytest.raises(eo.OptionError, match=r"individual\.report is about one curve"):
        eo.individual.report(policy, np.arange(4.0)[:, None], np.arange(4.0), ["white"] * 4)
    rng = np.random.default_rng(0)
    score, group = rng.normal(size=300), rng.choice(["a", "b"], 300)
    fair = eo.CurveOptimizer(review=policy.review).fit(
        score, score + rng.normal(size=300) > 0, sensitive_features=group
    )
    assert fair.policy_.review == policy.review
    with pytest.raises(eo.OptionError, match=r"A classifier is about one curve .* evenodds\.decide"):
        fair.predict_proba(score, sensitive_features=group)


def test_other_promises_to_new_people(joint):
    review = eo.Review(capacity=0.05, tpr=0.8, fpr=0.2)
    certificate = eo.fit(joint, review=review, constraints="demographic_parity").certificate
    assert 0 < certificate.population_bound() < 0.1
    with pytest.raises(eo.OptionError, match="'finite' is about rates given the label"):
        certificate.population_bound(guarantee="finite")
    fair = eo.fit(joint, review=review).certificate
    assert fair.population_bound() < fair.population_bound(guarantee="finite") < 0.1


def test_the_figures_show_the_band(policy, joint):
    frame = eo.plot.curves_figure(policy, joint=joint).frame()
    assert {"white", "white, yes or review"} <= set(frame["series"])
    assert "automatic yes" in eo.plot.curves_figure(policy).title
    bands = [series for series in eo.plot.curves_figure(policy).series if series.shaded_to is not None]
    assert len(bands) == len(policy.groups)
    assert all((series.y >= series.shaded_to - 1e-9).all() for series in bands)
    assert len(eo.plot.densities_figure(joint, policy).series) == 3 * len(policy.groups)


def test_a_report_says_who_is_reviewed(policy, joint, tmp_path):
    eo.report(policy, joint, tmp_path / "r.md")
    text = (tmp_path / "r.md").read_text()
    section = text[text.index("## Who is reviewed") : text.index("## Before and after")]
    assert "What if reviewers are not as assumed" in section
    assert f"{policy.certificate.if_reviewers(tpr=0.7, fpr=0.3):.4f}" in section
    assert "measured on 174,047 people: the people of the fit" in text
    assert "All rates here are those in the end" in text
    eo.report(policy, joint, tmp_path / "r.html")
    assert "Who is reviewed" in (tmp_path / "r.html").read_text()
    eo.report(eo.fit(joint), joint, tmp_path / "plain.md")
    assert "Who is reviewed" not in (tmp_path / "plain.md").read_text()
