"""The command line: it parses, calls, prints and sets the exit code."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from evenodds.errors import DataError, EvenoddsWarning, OptionError
from evenodds.fronts.cli import options
from evenodds.fronts.cli.endings import Commands, run
from evenodds.fronts.cli.onnx import onnx
from evenodds.fronts.cli.sql import sql

if TYPE_CHECKING:
    from evenodds.report.document import Table
    from evenodds.studies import Advice

__all__ = ["main"]

# What a command needs loads when it runs, so that --help stays quick: hence the imports inside.
# ruff: noqa: PLC0415


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="evenodds")
def commands() -> None:
    """Fair odds from the scores of any black-box model.

    A policy gives each group a curve that turns a score into the odds of a yes. DATA is a CSV, Parquet or Arrow
    file; "-" is standard input.

    \b
    Example:
      evenodds fit past.csv --score points --group race,sex --label repaid -o policy.json
      evenodds audit policy.json fresh.csv --score points --group race,sex --label repaid --tolerance 0.05
      evenodds apply policy.json new.csv --score points --group race,sex > odds.csv

    \b
    Tab completion (bash; for zsh and fish put their name in place of bash):
      eval "$(_EVENODDS_COMPLETE=bash_source evenodds)"
    """


@commands.command()
@options.data
@options.people_options
@options.fit_options
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write the policy here; without it, print it.")
@click.option("--report", type=click.Path(dir_okay=False), help="Write a report on the policy here: .html or .md.")
@options.as_json
def fit(*, output: str | None, report: str | None, as_json: bool, **given: Any) -> None:
    """Find a curve for each group so that all groups share the rates asked for.

    \b
    Example:
      evenodds fit past.csv --score points --group race --label repaid --max-slope 0.1 -o policy.json
    """
    from evenodds.fronts.cli.outputs import check_outputs, placed
    from evenodds.model.fit import fit as fitted
    from evenodds.model.storage import written

    check_outputs({"-o": output, "--report": report}, given["data"])
    if report:
        from evenodds.report import format_of, rendered
        from evenodds.report import report as reported

        kind = format_of(report, None)  # refused before the work is done
    settings = options.fit_settings(given)
    joint = options.joint_of(given, orientation=given["orientation"])
    policy = fitted(joint, **settings)
    if output:
        with placed(output) as part:
            policy.save(part)
    if report:
        document = reported(policy, joint, about={"Columns": options.told_columns(given)})
        with placed(report) as part:
            part.write_text(rendered(document, kind), encoding="utf-8")
    if as_json:
        click.echo(written(policy.document), nl=False)
        return
    click.echo(str(policy))
    for path in (output, report):
        if path:
            click.echo(f"Written to {path}.")


@commands.command()
@options.data
@options.people_options
@options.goal_options
@click.option(
    "--against",
    type=click.Choice(["slope", "randomized"]),
    default="slope",
    show_default=True,
    help="What the budgets are on: the largest slope, or the share of people decided by chance.",
)
@click.option("--max-slopes", metavar="L,L,...", help="Budgets against slope; another name for --budgets.")
@click.option("--budgets", metavar="B,B,...", help="The budgets; without it, a range from next to nothing to none.")
@options.as_json
def frontier(
    *,
    against: str,
    max_slopes: str | None,
    budgets: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """What each budget costs: on the largest slope, or on the share of people who are decided by chance.

    \b
    Example:
      evenodds frontier past.csv --score points --group race --label repaid --max-slopes 0.05,0.1,0.5,inf
      evenodds frontier past.csv --score points --group race --label repaid --against randomized
    """
    from evenodds.evaluation.frontier import frontier as priced
    from evenodds.fronts.cli.tables import print_json, print_table
    from evenodds.report.document import table_of

    slopes = None if max_slopes is None else _numbers("--max-slopes", max_slopes)
    several = None if budgets is None else _numbers("--budgets", budgets)
    joint = options.joint_of(given, orientation=given["orientation"])
    asked: dict[str, Any] = {"against": against, "max_slopes": slopes, "budgets": several}
    price = priced(joint, **asked, **options.goal_settings(given))
    names, table = price.table()
    rows = [dict(zip(names, row, strict=True)) for row in table]
    what = {"slope": "the largest slope", "randomized": "the share of people decided by chance"}[against]
    if as_json:
        print_json(rows)
    else:
        print_table(table_of(f"{price.objective_name} against {what}", rows))


def _numbers(name: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise click.BadParameter(f"{text} is not a list of numbers such as 0.05,0.1,inf", param_hint=name) from None  # noqa: EM102, TRY003


@commands.command()
@options.policy_file
@options.data
@options.people_options
@click.option("--max-change", type=float, required=True, help="The largest change of anybody's odds: above 0, up to 1.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Write the new policy here; else only tell of it."
)
@options.as_json
def update(*, policy: str, max_change: float, output: str | None, as_json: bool, **given: Any) -> None:
    """Find the best policy on new people whose odds are near those of the policy in use.

    What the policy promised is asked of the people in DATA, of odds that change by at most --max-change, for anybody
    and at any score. Told are the largest change, the least that would keep the promise, by how much the groups differ
    under the policy in use, and whether that is more than chance explains: if it is not, nothing had to change.

    \b
    Example:
      evenodds update policy.json fresh.csv --score points --group race --label repaid --max-change 0.05 -o new.json
    """
    from dataclasses import asdict

    from evenodds.fronts.cli.outputs import check_outputs, placed
    from evenodds.fronts.cli.tables import print_json
    from evenodds.model.policy import Policy
    from evenodds.model.update import update as updated

    check_outputs({"-o": output}, policy, given["data"])
    read = Policy.load(policy)
    found = updated(read, options.joint_of(given, orientation=read.orientation), max_change=max_change)
    if output:
        with placed(output) as part:
            found.save(part)
    change = found.certificate.change
    if as_json and change is not None:
        told = {**asdict(change), "is_warranted": change.is_warranted}
        print_json({"constraints": found.certificate.constraints, **told, "fingerprint": found.document["fingerprint"]})
        return
    click.echo(str(found))
    if output:
        click.echo(f"Written to {output}.")


@commands.command()
@click.argument("files", nargs=-1, metavar="[POLICY] DATA")
@options.people_of_an_audit
@click.option("--decision", metavar="COLUMN", help="In place of a policy: the decisions in DATA, 0 or 1, or odds.")
@click.option("--threshold", type=float, metavar="SCORE", help="In place of a policy: a yes from this score on.")
@click.option("--tolerance", type=float, help="Exit with 1 if two groups differ by more than this for sure.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How often an interval has the truth.")
@click.option("--before", type=float, metavar="SCORE", help="The single threshold of before, for comparison.")
@click.option(
    "--reference", metavar="DATA", help="The people of the fit, of the same columns: how far have others drifted?"
)
@click.option("--constraints", help="In place of the policy's: what the verdict is about, such as demographic_parity.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json", "ll144"]),
    default="text",
    show_default=True,
    help="ll144: selection rates and impact ratios, as New York City's Local Law 144 asks for.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write ll144 here: .csv or .html.")
@options.as_json
def audit(**given: Any) -> None:
    """Measure a policy, a threshold or anybody's decisions on fresh people, every figure with an interval.

    Groups that the policy does not know, or that lack a label, are named and leave the verdict open. The exit code is 1
    if the verdict is "fail"; "undecided" is no failure, and is said.

    \b
    Example:
      evenodds audit policy.json fresh.csv --score points --group race --label repaid --tolerance 0.05
      evenodds audit fresh.csv --decision approved --group race,sex --label repaid --tolerance 0.05
      evenodds audit fresh.csv --decision hired --group sex,race --format ll144 -o impact.html
    """
    from evenodds.fronts.cli.audits import audited, impact_written, policy_and_data
    from evenodds.fronts.cli.tables import print_json

    policy, data = policy_and_data(given)
    if given["output_format"] == "ll144":
        impact_written(given, data)
        return
    measured = audited(given, policy, data)
    verdict = measured.verdict
    if given["as_json"] or given["output_format"] == "json":
        said = None if verdict is None else {"outcome": str(verdict), "reasons": list(verdict.reasons)}
        print_json({"verdict": said, "confidence": given["confidence"], "figures": measured.rows()})
    else:
        click.echo(str(measured))
    if verdict == "fail":
        sys.exit(1)


@commands.command()
@options.policy_file
@options.data
@options.people_of_a_report
@click.option("-o", "--output", default="-", help="Where to write: .html or .md; standard output without it.")
@click.option("--format", "report_format", metavar="html|markdown", help="Without it, by the output's ending, or html.")
@click.option("--before", type=float, metavar="SCORE", help="The single threshold of before; without it, the best one.")
@click.option("--tolerance", type=float, help="The largest difference between groups that is allowed, for a verdict.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="How often an interval has the truth.")
@click.option("--title", help="The report's heading.")
@click.option("--about", multiple=True, metavar="FIELD=TEXT", help="For the model card, such as Owner=...; repeatable.")
@options.as_json
def report(
    *, policy: str, output: str, report_format: str | None, about: tuple[str, ...], as_json: bool, **given: Any
) -> None:
    """Write a report on a policy: what was decided and why, what it does to whom, and when not to use it.

    The HTML is one file that needs no other; a browser's print makes a PDF of it. DATA are the people to measure the
    policy on: those of the fit, or fresh ones. The report says which they are.

    \b
    Example:
      evenodds report policy.json past.csv --score points --group race --label repaid -o report.html
    """
    from evenodds.fronts.cli.outputs import check_outputs, placed
    from evenodds.fronts.cli.tables import print_json
    from evenodds.model.policy import Policy
    from evenodds.report import format_of, rendered
    from evenodds.report import report as reported
    from evenodds.report.document import plain

    check_outputs({"-o": output}, policy, given["data"])
    kind = "html" if output == "-" and report_format is None else format_of(output, report_format)
    stated = {"Columns": options.told_columns(given), **dict(_field(text) for text in about)}
    read = Policy.load(policy)
    joint = options.joint_of(given, orientation=read.orientation, one_sided="keep")
    wanted = {name: given[name] for name in ("before", "tolerance", "confidence", "title")}
    document = reported(read, joint, about=stated, **wanted)
    if output != "-":
        with placed(output) as part:
            part.write_text(rendered(document, kind), encoding="utf-8")
    if as_json:
        print_json(plain(document))
    elif output == "-":
        click.echo(rendered(document, kind), nl=False)
    if output != "-":
        click.echo(f"Written to {output}.", err=as_json)


def _field(text: str) -> tuple[str, str]:
    name, equals, words = text.partition("=")
    if not (name.strip() and equals):
        raise click.BadParameter(f"{text} is not a field and its text, such as Owner=Credit team", param_hint="--about")  # noqa: EM102, TRY003
    return name.strip(), words.strip()


@commands.command()
@options.policy_file
@click.option("--score", type=float, required=True, help="The person's score.")
@click.option("--group", required=True, help="The person's group; values of several columns separated by commas.")
@click.option("--odds", type=float, multiple=True, help="Odds whose score is wanted too.")
@options.as_json
def explain(*, policy: str, score: float, group: str, odds: tuple[float, ...], as_json: bool) -> None:
    """Explain one person's odds in words.

    \b
    Example:
      evenodds explain policy.json --score 49.5 --group white
    """
    from dataclasses import asdict

    from evenodds.evaluation.explain import explain as explained
    from evenodds.fronts.cli.tables import print_json
    from evenodds.model.policy import Policy

    read = Policy.load(policy)
    known = group if group in read.groups else ", ".join(part.strip() for part in group.split(","))
    explanation = explained(read, score=score, group=known, odds=odds)
    if as_json:
        print_json({name: value for name, value in asdict(explanation).items() if value is not None})
    else:
        click.echo(str(explanation))


@commands.command()
@options.policy_file
@options.data
@options.columns
@click.option("--into", default="odds", show_default=True, metavar="COLUMN", help="The name of the new column.")
@click.option(
    "--on-invalid",
    type=click.Choice(["raise", "null"]),
    default="raise",
    show_default=True,
    help="A row without a known group or a finite score: stop, or leave its odds empty.",
)
@click.option("-o", "--output", default="-", help="Where to write; standard output without it.")
@options.file_format
@options.delimiter
def apply(*, policy: str, into: str, on_invalid: str, output: str, **given: Any) -> None:
    """Give each row its odds of a yes, and of a review; files larger than memory stream through.

    \b
    Example:
      evenodds apply policy.json new.csv --score points --group race -o odds.csv
    """
    from evenodds.decisions.apply import apply as applied
    from evenodds.fronts.cli.outputs import check_outputs
    from evenodds.model.policy import Policy

    check_outputs({"-o": output}, policy)
    read = Policy.load(policy)

    def treated(people: Any, score: str, group: list[str]) -> Any:
        return applied(read, people, score=score, group=group, into=into, on_invalid=on_invalid)  # type: ignore[arg-type]

    _stream(treated, [into, *([f"{into}_review"] if read.review else [])], given, output)


@commands.command()
@options.policy_file
@options.data
@options.columns
@click.option("--id", "who", required=True, metavar="COLUMN", help="Who a row is: the same person, the same draw.")
@click.option(
    "--key-file",
    type=click.Path(dir_okay=False),
    required=True,
    help="A file with the secret key (draw-key makes one).",
)
@click.option("--round", "round_", default="", help="Tells repeated lotteries for the same people apart.")
@click.option(
    "--places",
    is_flag=True,
    help="One draw for the whole file: the yeses of each group and of all are within one of what is expected.",
)
@click.option(
    "--places-count", type=click.IntRange(min=0), metavar="K", help="The same, and refuse odds that do not sum to K."
)
@click.option("-o", "--output", default="-", help="Where to write; standard output without it.")
@options.file_format
@options.delimiter
def decide(
    *,
    policy: str,
    who: str,
    key_file: str,
    round_: str,
    places: bool,
    places_count: int | None,
    output: str,
    **given: Any,
) -> None:
    """Decide for each row: odds, the person's draw, and 1 if it is below them; with reviews yes, review or no.

    An id that comes twice is an error: nothing is written to -o, while rows may have gone to standard output.
    With --places the draw is one for all: DATA must be the whole cohort with different ids, and is read into memory.

    \b
    Example:
      evenodds draw-key -o key.txt
      evenodds decide policy.json new.csv --score points --group race --id name --key-file key.txt -o decided.csv
      evenodds decide policy.json new.csv --score points --group race --id name --key-file key.txt --places > out.csv
    """
    from evenodds.decisions.decide import decide as decided
    from evenodds.decisions.keys import check_key
    from evenodds.fronts.cli.outputs import check_outputs, key_of
    from evenodds.model.policy import Policy

    check_outputs({"-o": output}, policy, key_file)
    asked = places if places_count is None else places_count
    read, key = Policy.load(policy), check_key(key_of(key_file))

    def treated(people: Any, score: str, group: list[str]) -> Any:
        return decided(read, people, score=score, group=group, id=who, key=key, round=round_, places=asked)

    if asked is not False:
        _stream(treated, ["odds", "decision"], given, output, also=who, at_once=True)
    else:
        reviews = ["odds_review"] if read.review else []
        _stream(treated, ["odds", *reviews, "draw", "decision"], given, output, also=who)


def _stream(
    treated: Any, new: list[str], given: dict[str, Any], output: str, *, also: str | None = None, at_once: bool = False
) -> None:
    """Read some rows, or all at once, treat them, write them; every other column passes through as it stands."""
    from contextlib import ExitStack

    import pyarrow as pa

    from evenodds.fronts.cli.columns import Seen, numbers, rows_from, texts
    from evenodds.fronts.cli.files import Source, sink

    source = Source.of(given["data"], given["file_format"], given["delimiter"])
    score, groups = given["score"], options.groups_of(given["group"])
    options.check_roles({"--score": [score], "--group": groups, "--id": [also] if also else []})
    writer, rows, seen = None, 0, Seen()
    with ExitStack() as stack:
        tables = source.batches([score, *groups, *([also] if also else [])])
        for table in [pa.concat_tables(tables)] if at_once else tables:
            taken = [name for name in new if name in table.column_names]
            if taken:
                msg = f"{source.name} has a column {taken[0]!r} already. Hint: rename it first."
                raise DataError(msg)
            people = {score: numbers(table, score, where=source.name, first_row=rows + 1)}
            people |= {name: texts(table, name) for name in groups}
            if also:
                people[also] = table[also]
            with rows_from(rows + 1, source.name):
                results = treated(type(table).from_pydict(people), score, groups)
            whole = table
            for name in new:
                whole = whole.append_column(name, results[name])
            if writer is None:
                writer = stack.enter_context(sink(output, whole.schema, given["file_format"], given["delimiter"]))
            writer.write_table(whole)
            if also and "draw" in new:
                seen.add(whole["draw"], table[also])
            rows += table.num_rows
        seen.check(source.name)


@commands.command()
@click.argument("data", metavar="DECISIONS")
@click.option("--policy", required=True, type=click.Path(), help="The policy that the decisions were made by.")
@options.columns
@click.option("--id", "who", required=True, metavar="COLUMN", help="Who a row is.")
@click.option(
    "--key-file", type=click.Path(dir_okay=False), required=True, help="A file with the key of these decisions."
)
@click.option("--round", "round_", default="", help="The round that they were made in.")
@click.option("--places", is_flag=True, help="Places were handed out: DECISIONS is the whole cohort, without draws.")
@click.option("--places-count", type=click.IntRange(min=0), metavar="K", help="The same, and there were K of them.")
@click.option("--commitment", metavar="SHA256", help="What was published of the key beforehand; another key's fails.")
@click.option("--odds", default="odds", show_default=True, metavar="COLUMN", help="The published odds of a yes.")
@click.option("--draw", default="draw", show_default=True, metavar="COLUMN", help="The published draw.")
@click.option("--decision", default="decision", show_default=True, metavar="COLUMN", help="The published decision.")
@click.option("--digits", type=int, metavar="N", help="Decimal places of odds and draws; without it, every bit.")
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, help="How sure to be before dice are doubted."
)
@options.file_format
@options.delimiter
@options.as_json
def verify(*, as_json: bool, **given: Any) -> None:
    """Check published decisions one by one: odds, draws and decisions are computed again, and compared.

    Told are the first wrong row, how many there are, ids that come twice, and whether as many people of each group got
    a yes as their odds say. The exit code is 1 if anything is wrong, an id comes twice, or the
    key is not the one that was committed to. Files larger than memory
    stream through; with --places DECISIONS is read into memory.

    \b
    Example:
      evenodds verify decided.csv --policy policy.json --key-file key.txt --score points --group race --id name
      evenodds verify placed.csv --policy policy.json --key-file key.txt --score points --group race --id name --places
    """
    from evenodds.fronts.cli.columns import in_words_of_the_command_line
    from evenodds.fronts.cli.tables import print_json
    from evenodds.fronts.cli.verifications import verified

    verification = verified(given)
    if as_json:
        print_json(verification.as_json())
    else:
        click.echo(in_words_of_the_command_line(str(verification)))
    if not verification.passed:
        sys.exit(1)


commands.add_command(sql)


@commands.command("draw-key")
@click.option("-o", "--output", metavar="FILE", help="Write the key here, for its owner only; without it, print it.")
def draw_key(*, output: str | None) -> None:
    """Make a new secret key for draws: 64 hexadecimal digits. Who knows it can foretell every draw.

    Its commitment, the SHA-256 of these digits, goes to standard error: publish it before the draw, and the key after
    it, and everybody can check that the key was not chosen to suit. A file that is there already is not written over.

    \b
    Example:
      evenodds draw-key -o key.txt
    """
    from evenodds.decisions.keys import commitment, new_key
    from evenodds.fronts.cli.outputs import check_outputs, write_secret

    check_outputs({"-o": output})
    key = new_key()
    if output in (None, "-"):
        if sys.stdout is None:
            msg = "Standard output is closed, and the key would be lost. Hint: -o writes it to a file."
            raise DataError(msg)
        click.echo(key)
    else:
        write_secret(str(output), f"{key}\n")
    click.echo(f"Commitment: {commitment(key)}", err=True)


@commands.command("draw-chain")
@click.argument("rounds", type=click.IntRange(1, 10_000))
@click.option("-o", "--output", required=True, metavar="FOLDER", help="Write the keys here: a new folder.")
def draw_chain(*, rounds: int, output: str) -> None:
    """Make a secret key for each of several ROUNDS, bound by one commitment, which is printed: publish it first.

    FOLDER gets a file for each round (1.txt, 2.txt, ...), for its owner only. Each key is the commitment of the next
    round's, so reveal them in order, each once its round is over: a key tells every key before it.

    \b
    Example:
      evenodds draw-chain 4 -o keys
      evenodds decide policy.json new.csv --score points --group race --id name --key-file keys/1.txt -o decided.csv
    """
    from evenodds.decisions.keys import chain, commitment
    from evenodds.fronts.cli.outputs import write_keys

    if not output:
        msg = "-o names no folder. Hint: give it a name."
        raise OptionError(msg)
    keys = chain(rounds)
    write_keys(output, keys)
    click.echo(commitment(keys[0]))


@commands.group()
def study() -> None:
    """Recompute a case study of the paper on the bundled data."""


_study_folder = click.option(
    "-o", "--output", metavar="FOLDER", help="Write the tables (CSV), the figures (SVG, PNG) and report.html here too."
)


@study.command()
@_study_folder
@options.as_json
def credit(*, output: str | None, as_json: bool) -> None:
    """Credit scores of four groups: the published solutions, exact ones, and slope budgets beside them.

    \b
    Example:
      evenodds study credit -o credit-study
    """
    from evenodds.studies import credit_risk as recomputed

    _tell_study(recomputed, output, as_json=as_json)


@study.command()
@_study_folder
@options.as_json
def compas(*, output: str | None, as_json: bool) -> None:
    """COMPAS scores by race and sex: the published curves' slopes, and all results on the true records.

    \b
    Example:
      evenodds study compas -o compas-study
    """
    from evenodds.studies import compas as recomputed

    _tell_study(recomputed, output, as_json=as_json)


def _tell_study(recomputed: Callable[[], Any], folder: str | None, *, as_json: bool) -> None:
    """Print a study, and write its folder if one is given."""
    from evenodds.fronts.cli.outputs import check_folder
    from evenodds.fronts.cli.tables import print_json, print_sections
    from evenodds.studies import story_of, write_study

    check_folder(folder)
    result = recomputed()
    if folder is not None:  # first, since whoever reads what is printed may have enough of it
        written = write_study(result, folder)
        click.echo(f"{len(written)} files written to {folder}; report.html has it all.", err=True)
    if as_json:
        print_json(result.as_json())
    else:
        print_sections(story_of(result))
        click.echo(f"Computed in {result.seconds:.2f} s.")


@commands.command()
@click.argument(
    "case", required=False, metavar="[CASE]", shell_complete=options.words_of("evenodds.studies.cases.CASES")
)
@options.as_json
def guide(*, case: str | None, as_json: bool) -> None:
    """Which options are for me: who asks for what, the lines to run, and what they cost.

    Without CASE, a table of all cases; with one of its names, that case in full. Every figure is computed on the
    bundled data as you ask.

    \b
    Example:
      evenodds guide
      evenodds guide lender
    """
    from evenodds.fronts.cli.tables import print_json, print_table
    from evenodds.studies import advice
    from evenodds.studies import guide as guided

    if case is not None:
        advised = advice(case)
        if as_json:
            print_json(advised.as_json())
        else:
            click.echo(str(advised))
        return
    every = guided()
    if as_json:
        print_json([one.as_json() for one in every.cases])
        return
    print_table(_cases_table(every.cases))
    click.echo("evenodds guide CASE, such as guide lender, has the lines to run, and when not to take them.")


def _cases_table(cases: Sequence[Advice]) -> Table:
    """A row for each case; lines are broken where they belong, so that nothing is torn apart in a terminal."""
    from textwrap import fill

    from evenodds.report.document import Cell, table_of

    rows: list[dict[str, Cell]] = [
        {
            "case": one.case.name,
            "for whom": fill(one.case.who, 20),
            "options of fit": one.case.flags.replace(" --", "\n--") or "none",
            "one threshold ->\nthese options": (
                f"{one.objective_name}\n{one.before:.4f} -> {one.after:.4f}\n({one.case.people.name})"
            ),
            "groups\ndiffer by": f"{one.difference_before:.3f} -> {one.difference:.3f}",
            "by chance\n(worst\ngroup)": f"{one.randomized:.1%}\n({one.worst_randomized:.1%})",
            "steepest\na point": one.slope,
        }
        for one in cases
    ]
    return table_of("Which options are for me", rows, {"steepest\na point": "slope"})


commands.add_command(onnx)


def main() -> None:
    """Run the command line."""
    warnings.simplefilter("always", EvenoddsWarning)
    warnings.showwarning = _warn
    run(lambda: commands(prog_name="evenodds"))


def _warn(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """A warning of ours in one line; others are for those who work on the code."""
    if issubclass(category, EvenoddsWarning):
        click.echo(f"evenodds: warning: {message}", err=True)
