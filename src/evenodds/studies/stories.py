"""What each study says, section by section: the same story for a terminal and for a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from evenodds import datasets
from evenodds.pictures.figures import Figure
from evenodds.report.contents import policy_sections
from evenodds.report.document import (
    Block,
    Bullets,
    Cell,
    Column,
    Document,
    Kind,
    Picture,
    Section,
    Table,
    Text,
    table_of,
)
from evenodds.report.subject import Subject
from evenodds.studies.choices import Budget, Choice
from evenodds.studies.compas import CompasStudy
from evenodds.studies.credit_risk import CreditRiskStudy, Row
from evenodds.values import check_made_by

__all__ = ["Study", "check_study", "document_of_study", "story_of"]

Study = CreditRiskStudy | CompasStudy
Figures = Mapping[str, Figure]

_ABOUT = {
    "Owner": "the evenodds developers, as an example",
    "Intended use": "to show what can be reached on published data, and how",
    "Out of scope": "any decision about a person",
}
_CREDIT_DATA = (
    "TransUnion TransRisk scores of 2003, from the Federal Reserve Board's report to the Congress on credit scoring "
    "(2007), as shares by group and score: over twenty years old, rounded and smoothed by their source"
)
_COMPAS_DATA = (
    "ProPublica's two-year file of COMPAS decile scores in Broward County, Florida, 2013 and 2014 (Angwin and others, "
    "2016), counted by race, sex, score and whether there was a new charge, which is not a new offence"
)
_CORRECTIONS = (
    "Linear curve: the lower piece is p r / (1 - p), where p (r - 1) / (1 - p) is printed.",
    "Linear curve, appendix: the two branches of its derivative are swapped.",
    "Cubic curve: the upper piece has the constant (p^3 + 3 p^2 - 5 p + 2) / p^3 and -6 (p^2 - 2 p + 1) / p^3 at r.",
    "Cubic curve: the denominator of c_0 is (1 - p)^2; its system is singular at p = 1/2, its closed form is not.",
    "Quartic curve: the right-hand side of its system is (0, 0, 1, 0, p), in the order of the rows shown.",
    "The largest slope is not always at a threshold or at the knot: the cubic's lies in the middle of a piece.",
    "Table 1's quartic figures follow from p = 0.4684 (white) and 0.5464 (Asian), which are printed with three digits.",
    "The change of equalised odds that is given as -0.000634 is -0.0000634.",
    "The equalised odds of the groups' own best thresholds are 0.317, where 0.28 is printed.",
)
_AT_THE_TARGET = {
    "curves_at_the_papers_target": "Linear curves; dashed, the coin flips that they replace.",
    "solutions": "Every linear curve through the target for one group, and the gentlest.",
}


def story_of(study: Study, figures: Figures | None = None) -> tuple[Section, ...]:
    """What a study says, section by section: its text and its tables, with its figures if they are given.

    Parameters
    ----------
    study : CreditRiskStudy or CompasStudy
        Whose story it is.
    figures : mapping of str to Figure, optional
        Such as `study.figures`.

    Returns
    -------
    tuple of Section
        Each with its `title` and its `blocks`.

    See Also
    --------
    studies.write_study : The same as a page, in a folder.

    Examples
    --------
    >>> import evenodds as eo
    >>> [section.title for section in eo.studies.story_of(eo.studies.compas())][:2]
    ["What the paper's table holds", 'The published curves']
    """
    check_study(study)
    drawn = figures or {}
    return _credit_risk(study, drawn) if isinstance(study, CreditRiskStudy) else _compas(study, drawn)


def check_study(study: Study) -> None:
    """Refuse what is no study."""
    check_made_by(study, (CreditRiskStudy, CompasStudy), "studies.credit_risk or studies.compas")


def document_of_study(study: Study, figures: Figures) -> Document:
    """The story, and then the report on the policy that it ends with."""
    credit = isinstance(study, CreditRiskStudy)
    joint = datasets.credit_risk() if credit else datasets.compas()
    about = {**_ABOUT, "Where the data come from": _CREDIT_DATA if credit else _COMPAS_DATA}
    policy = tuple(
        Section(f"The policy: {section.title[0].lower()}{section.title[1:]}", section.blocks)
        for section in policy_sections(Subject.of(study.policy, joint), about)
    )
    return Document(study.title, study.lead, (*story_of(study, figures), *policy))


# -- CreditRisk --------------------------------------------------------------------------------------------------------


def _credit_risk(study: CreditRiskStudy, figures: Figures) -> tuple[Section, ...]:
    base = study.baseline
    target = (
        "The paper lets one group set the rates for all: the one whose best single threshold lies farthest from "
        f"perfect. Target: the {base.group} group's best single threshold, score {base.threshold:g} and above: "
        f"FPR {study.target.fpr:.6f}, TPR {study.target.tpr:.6f}."
    )
    hard = (
        f"The target is a vertex of the {base.group} group's own ROC, so that group keeps a single hard threshold at "
        f"{base.threshold:g}: its L_R is infinite, and it can be given no odds between 0 and 1."
    )
    return (
        Section("The target", (Text(target),)),
        Section(
            "The published curves",
            (
                Text("Evaluated on the data with the corrected formulae, beside the figures as printed."),
                _published(study.published),
                Bullets(_CORRECTIONS),
            ),
        ),
        Section(
            "Exact curves through the same target",
            (
                Text("The gentlest curve of each family; the residual is recomputed from the final curve."),
                _exact(study.exact),
                Text(hard),
                *_families(figures, "Every family reaches the same rates; they differ in how gently."),
                *_pictures(figures, _AT_THE_TARGET),
            ),
        ),
        Section(
            "Individual odds",
            (
                Text("Can every group get the odds that another group can get?"),
                Bullets(tuple(f"{curve}: {verdict}" for curve, verdict in study.individual_odds.items())),
            ),
        ),
        _introduction(study),
        _budgets(study.budgets),
        _criteria(study.criteria),
    )


def _published(rows: Sequence[Row]) -> Table:
    columns = (
        Column("curve"), Column("group"), Column("t0", "number"), Column("t1", "number"), Column("p", "number"),
        Column("accuracy %", "thousandths"), Column("printed", "thousandths"), Column("EO (1e-4)", "thousandths"),
        Column("printed", "thousandths"), Column("L_R", "slope"), Column("printed", "slope"),
    )  # fmt: skip
    cells = tuple(
        (
            row.curve, row.group, row.t0, row.t1, row.p, 100 * row.accuracy, _scaled(row.printed_accuracy, 1e2),
            1e4 * row.equalized_odds, _scaled(row.printed_equalized_odds, 1e4), row.lipschitz,
            row.printed_lipschitz,
        )
        for row in rows
    )  # fmt: skip
    return Table("The published curves, evaluated on the data", columns, cells, "EO: the distance from the target.")


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else scale * value


def _exact(rows: Sequence[Row]) -> Table:
    columns = (
        Column("curve"), Column("group"), Column("t0", "number"), Column("t1", "number"), Column("p", "number"),
        Column("at t0", "number"), Column("accuracy %", "thousandths"), Column("residual", "tiny"),
        Column("L_R", "number"), Column("paper's L_R", "number"),
    )  # fmt: skip
    cells = tuple(
        (
            row.curve, row.group, row.t0, row.t1, row.p, row.at_t0, 100 * row.accuracy, row.residual,
            row.lipschitz, row.printed_lipschitz,
        )
        for row in rows
    )  # fmt: skip
    return Table("Exact: the gentlest curve of each family through the target", columns, cells)


def _introduction(study: CreditRiskStudy) -> Section:
    low, middle, high = study.applicants
    worse, barely = middle.default_rate / high.default_rate, low.default_rate / middle.default_rate
    families = ("linear", "quadratic", "cubic", "quartic")
    times = [getattr(high, f"published_{name}") / getattr(middle, f"published_{name}") for name in families]
    exact, budget = high.exact_linear / middle.exact_linear, high.budget / middle.budget
    fixed = (
        "The paper opens with white applicants who have 24.5, 25 and 49.5 points. Fixed randomisation gives those at "
        f"25 and at 49.5 the same odds, {middle.published_fixed:g}, although {worse:.2f} times as many of the former "
        "default (6.6 in the paper, which is the figure at 50 points). Half a point less, at 24.5, the odds are "
        f"{low.published_fixed:g}, although hardly more default: {barely:.2f} times as many."
    )
    curves = (
        f"The published curves give the applicant at 49.5 points {min(times):.2f} to {max(times):.2f} times the odds "
        f"of the one at 25 (2.6 to 5.25 in the paper), the exact linear curve {exact:.2f} times, and the linear curve "
        f"with a slope budget for every group {budget:.2f} times."
    )
    table = table_of("Their odds, by policy", [_cells(row) for row in study.applicants], {"default_rate": "percent"})
    return Section("The introduction's applicants", (Text(fixed), Text(curves), table))


# -- COMPAS ------------------------------------------------------------------------------------------------------------


def _compas(study: CompasStudy, figures: Figures) -> tuple[Section, ...]:
    truth = (
        "The paper took its table of P(Y=0 | R=r), the share of negatives at a score, from a source whose columns hold "
        "P(Y=0, R>r), the share of people who are negative and score higher. Read as the former, they imply that 74 to "
        "83 % of each group are positive; in the defendants' own records 35 to 54 % are. So of the paper's COMPAS "
        "results only what follows from the curves alone can be checked. That table is not part of this project, and "
        "all results below are on the true records."
    )
    rates = table_of(
        "Positives in the true records",
        [{"group": group, "share of positives": rate} for group, rate in study.base_rates.items()],
        {"share of positives": "percent"},
    )
    slopes: list[dict[str, Cell]] = [
        {
            "curve": row.curve, "group": row.group, "t0": row.t0, "t1": row.t1, "p": row.p,
            "L_R printed": row.printed_lipschitz, "L_R recomputed": row.lipschitz, "note": row.note,
        }
        for row in study.published
        if row.curve != "fixed"
    ]  # fmt: skip
    kinds: dict[str, Kind] = {
        "accuracy": "percent",
        "randomized": "percent",
        "fpr": "rate",
        "tpr": "rate",
        "lipschitz": "slope",
    }
    results = table_of(
        "Equalised odds on the true records, at the defaults",
        [{k: v for k, v in _cells(row).items() if k != "at_t0"} for row in study.results],
        kinds,
    )
    each = "Each family at the point that is best for it, at the same price in accuracy."
    return (
        Section("What the paper's table holds", (Text(truth), rates)),
        Section(
            "The published curves",
            (
                Text("The largest slope needs no data: as printed, and as it follows from the printed parameters."),
                table_of("Largest slopes", slopes, {"L_R printed": "slope", "L_R recomputed": "slope"}),
            ),
        ),
        Section("Results on the true records", (results, *_families(figures, each))),
        _budgets(study.budgets),
        _criteria(study.criteria),
    )


# -- both --------------------------------------------------------------------------------------------------------------


def _budgets(rows: Sequence[Budget]) -> Section:
    return Section(
        "A slope budget for every group",
        (
            Text("With a budget no group's odds jump: they rise by at most so much a point of score."),
            table_of("What it costs", [_cells(row) for row in rows], {"loss": "rate"}),
        ),
    )


def _criteria(rows: Sequence[Choice]) -> Section:
    kinds: dict[str, Kind] = {"largest_slope": "slope", "slope_difference": "slope", "randomized": "percent",
             "randomized_difference": "percent", "accuracy": "percent"}  # fmt: skip
    table = table_of(
        "Every criterion, for cubic curves through the same point",
        [{k: v for k, v in _cells(row).items() if k != "use_it"} for row in rows],
        kinds,
    )
    return Section(
        "Which curve to take",
        (
            Text("Many curves meet one point; the paper leaves open which to take. All of these have the same rates."),
            table,
            Text("When to use which:"),
            Bullets(tuple(f"{row.criterion}: {row.use_it}." for row in rows)),
        ),
    )


def _cells(row: object) -> dict[str, Cell]:
    return asdict(row)  # type: ignore[call-overload, no-any-return]


def _families(figures: Figures, caption: str) -> list[Block]:
    """All families for each group; what shows the policy alone stands in the report on it."""
    return _pictures(figures, {name: caption for name in figures if name.startswith("families_")})


def _pictures(figures: Figures, captions: Mapping[str, str]) -> list[Block]:
    return [Picture(f"study-{name}", figures[name], text) for name, text in captions.items() if name in figures]
