"""Options that several commands share, and how they become Python's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from evenodds.errors import OptionError
from evenodds.fronts.cli.words import WordOption
from evenodds.model.options import OPTIONS, Confidence, Flag, Number, Words

if TYPE_CHECKING:
    from evenodds.model.reviewer import Review

__all__ = [
    "as_json",
    "check_roles",
    "columns",
    "columns_in_words",
    "data",
    "delimiter",
    "file_format",
    "fit_options",
    "fit_settings",
    "force",
    "given_once",
    "goal_options",
    "goal_settings",
    "groups_of",
    "people_of_a_report",
    "people_of_an_audit",
    "people_options",
    "policy_file",
    "words_for",
    "words_in",
]

Command = Callable[..., Any]
Option = Callable[[Command], Command]


def _together(*options: Option) -> Option:
    """Several options as one decorator, listed in help in this order."""
    return lambda command: reduce(lambda decorated, option: option(decorated), reversed(options), command)


def words_in(where: str) -> Callable[[], tuple[str, ...]]:
    """The words that a module has, loaded when they are asked for."""

    def words() -> tuple[str, ...]:
        module, name = where.rsplit(".", 1)
        return tuple(getattr(import_module(module), name))

    return words


def given_once(several: str) -> dict[str, Any]:
    """An option that is refused if it is given twice: click would take the last, where both may be meant."""

    def only(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> str | None:
        if len(given) > 1:
            msg = f"{option.opts[-1]} is given twice. Hint: {several} separated by commas."
            raise click.UsageError(msg, context)
        return given[0] if given else None

    return {"multiple": True, "callback": only}


data = click.argument("data", metavar="DATA")
policy_file = click.argument("policy", metavar="POLICY", type=click.Path())
force = click.option("--force", is_flag=True, help="Write over a policy that is there already, without asking.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print plain JSON instead of tables.")
_formats: dict[str, Any] = {
    "cls": WordOption,
    "words": ("csv", "parquet", "arrow"),
    "help": "DATA's format; without it, by its ending.",
}
file_format = click.option("--format", "file_format", **_formats)
_data_format = click.option("--data-format", "file_format", **_formats)
delimiter = click.option("--delimiter", help="Between the columns of a CSV; a comma, or a tab for .tsv.")
_group = click.option(
    "--group",
    required=True,
    **given_once("several columns are"),
    metavar="COLUMN[,COLUMN]",
    help="The protected group; several make one.",
)
columns = _together(click.option("--score", required=True, metavar="COLUMN", help="The model's score."), _group)
_more = (
    click.option("--positive-label", metavar="VALUE", help="The label that is the yes, if it is not 1."),
    click.option("--weight", metavar="COLUMN", help="How many people a row counts for."),
    click.option("--resolution", type=float, help="Round the scores to multiples of this."),
    click.option(
        "--drop-incomplete",
        is_flag=True,
        help="Leave out rows without a score, group, label or weight, and count them.",
    ),
)
_people = _together(
    columns, click.option("--label", required=True, metavar="COLUMN", help="What came true: 0 or 1."), *_more
)
people_options = _together(_people, file_format, delimiter)
people_of_a_report = _together(_people, _data_format, delimiter)  # whose --format is the report's
_orientation = click.option(
    "--orientation",
    cls=WordOption,
    words=words_in("evenodds.model.scale.ORIENTATIONS"),
    default="positive",
    show_default=True,
    help="Whether a higher score speaks for a yes (positive) or against it (negative).",
)


people_of_an_audit = _together(
    click.option("--score", metavar="COLUMN", help="The model's score; decisions need none."),
    _group,
    click.option("--label", metavar="COLUMN", help="What came true: 0 or 1."),
    *_more,
    _orientation,
    _data_format,
    delimiter,
)


def words_for(name: str) -> dict[str, Any]:
    """The words of an option of a fit, as an option of the command line has them."""
    option = OPTIONS[name]
    if not isinstance(option, Words):
        msg = f"{name} is not one of some words"
        raise TypeError(msg)
    return {"cls": WordOption, "words": words_in(option.where), "elsewhere": option.elsewhere}


def _declared(name: str, **more: Any) -> Option:
    """An option of a fit, as it is declared for all ways in."""
    option = OPTIONS[name]
    flag = f"--{name.replace('_', '-')}"
    if isinstance(option, Flag):
        return click.option(flag, is_flag=True, help=option.help)
    if isinstance(option, Words):
        more |= words_for(name)
    elif isinstance(option, (Number, Confidence)):
        more |= {"type": float}
    shown = option.default is not None
    return click.option(flag, default=option.default, show_default=shown, help=option.help, **more)


goal_options = _together(
    _orientation,
    _declared("constraints"),
    _declared("objective"),
    click.option(
        "--cost",
        nargs=2,
        type=float,
        metavar="YES NO",
        help="In place of an objective: what a wrong yes and a wrong no cost.",
    ),
    _declared("tolerance"),
    _declared("curve"),
)
fit_options = _together(
    goal_options,
    _declared("criterion"),
    _declared("max_slope"),
    _declared("max_loss"),
    _declared("target", metavar="FPR,TPR"),
    _declared("max_randomized"),
    _declared("max_randomized_by_group"),
    _declared("selection_rate"),
    _declared("keep_individual_odds"),
    _declared("confidence"),
    _declared("guarantee"),
    click.option("--review-capacity", type=float, help="Reviews in place of a coin: the share of people, up to 1."),
    click.option("--review-tpr", type=float, help="The chance that a reviewer says yes to a positive."),
    click.option("--review-fpr", type=float, help="The chance that a reviewer says yes to a negative."),
    click.option(
        "--review-equal",
        cls=WordOption,
        words=words_in("evenodds.model.reviewer.EQUAL"),
        help="What groups share: being reviewed equally often too (share, the default), final rates, or three ways.",
    ),
)


def groups_of(group: str) -> list[str]:
    """Columns that are separated by commas; one without a name is refused later, as other columns are."""
    return [name.strip() for name in group.split(",")]


def check_roles(columns: Mapping[str, Sequence[str]]) -> None:
    """Refuse a column that is asked to be two things, and a name that is none."""
    held: dict[str, str] = {}
    for role, names in columns.items():
        if "" in names or (role == "--group" and not names):
            several = ", or several separated by commas" if role == "--group" else ""
            msg = f"{role} names no column. Hint: give it a name{several}."
            raise OptionError(msg)
        for name in names:
            if name in held:
                msg = f"The column {name!r} cannot be {held[name]} and {role} at once."
                raise OptionError(msg)
            held[name] = role


def columns_in_words(given: Mapping[str, Any]) -> str:
    """Which columns were what, for a report."""
    parts = [f"score: {given['score']}", f"group: {given['group']}", f"label: {given['label']}"]
    if given["positive_label"]:
        parts[-1] += f" = {given['positive_label']}"
    return "; ".join([*parts, *([f"weight: {given['weight']}"] if given["weight"] else [])])


def goal_settings(given: dict[str, Any]) -> dict[str, Any]:
    """Constraints, objective, tolerance and curve, as Python takes them."""
    settings = {name: given[name] for name in ("constraints", "objective", "tolerance", "curve")}
    if given["cost"]:
        if click.get_current_context().get_parameter_source("objective") is click.core.ParameterSource.COMMANDLINE:
            msg = "--cost is in place of an objective, and --objective names one: give one of them."
            raise OptionError(msg)
        from evenodds.model.goals import Cost  # noqa: PLC0415 loads numpy

        try:
            settings["objective"] = Cost(*given["cost"])
        except OptionError as error:
            msg = f"--cost {given['cost'][0]:g} {given['cost'][1]:g}: {error}"
            raise OptionError(msg) from None
    return settings


def fit_settings(given: dict[str, Any]) -> dict[str, Any]:
    """The options of a fit, as Python takes them."""
    named = {name: given[name] for name in OPTIONS if name not in ("objective", "target", "review")}
    settings = named | goal_settings(given)
    target = given["target"]
    if target is not None and target != "baseline":
        try:
            fpr, tpr = (float(rate) for rate in target.split(","))
        except ValueError:
            msg = (
                f'--target {target or repr(target)} is not allowed. Allowed: two rates such as 0.2,0.8, or "baseline".'
            )
            raise OptionError(msg) from None
        target = (fpr, tpr)
    return settings | {"target": target, "review": _review_of(given)}


def _review_of(given: dict[str, Any]) -> Review | None:
    """The review that --review-... options ask for, if they do."""
    words = {name: given[f"review_{name}"] for name in ("capacity", "tpr", "fpr", "equal")}
    wanted = {name: value for name, value in words.items() if value is not None}
    if not wanted:
        return None
    lacking = [f"--review-{name}" for name in ("capacity", "tpr", "fpr") if name not in wanted]
    if lacking:
        named = lacking[0] + " is" if len(lacking) == 1 else f"{', '.join(lacking[:-1])} and {lacking[-1]} are"
        msg = f"A review takes --review-capacity, --review-tpr and --review-fpr; {named} not given."
        raise OptionError(msg)
    from evenodds.model.reviewer import Review  # noqa: PLC0415 loads numpy

    return Review(**wanted)
