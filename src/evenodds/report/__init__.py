"""A report on a policy: one file that explains it to those who must live with it, check it or answer for it."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from evenodds.errors import OptionError, one_of
from evenodds.files import path_text, placed
from evenodds.model.joint import JointDistribution
from evenodds.model.policy import Policy
from evenodds.report.contents import document_of
from evenodds.report.document import Document
from evenodds.report.html import html_of
from evenodds.report.markdown import markdown_of
from evenodds.report.subject import Subject

__all__ = ["FORMATS", "format_of", "rendered", "report"]

FORMATS = ("html", "markdown")
_ENDINGS = {".html": "html", ".htm": "html", ".md": "markdown", ".markdown": "markdown"}


def report(
    policy: Policy,
    joint: JointDistribution,
    path: str | PathLike[str] | None = None,
    *,
    format: str | None = None,  # noqa: A002 the word that people know
    before: Policy | float | None = None,
    tolerance: float | None = None,
    confidence: float = 0.95,
    title: str | None = None,
    about: Mapping[str, str] | None = None,
) -> Document:
    """Write a report on a policy: what was decided and why, what it does to whom, and when not to use it.

    An HTML report is one file that needs nothing else: it works offline, in light and dark, and prints well (the
    browser's print makes a PDF of it). All figures answer the pointer, and every number is recomputed on `joint`.

    Parameters
    ----------
    policy : Policy
        What is reported on.
    joint : JointDistribution
        The people to measure the policy on: those of the fit, or, better, others. The report says which they are.
    path : str or path, optional
        Where to write; without it nothing is written.
    format : "html" or "markdown", optional
        Without it, by the path's ending. Markdown has the text and the tables, and no figures.
    before : Policy or float, optional
        What was in use before: a policy, or a score, the single threshold of everybody. Without it the best single
        threshold stands in.
    tolerance : float, optional
        The largest difference between groups that is allowed, for a verdict: "pass", "fail" or "undecided".
    confidence : float
        How often an interval shall contain the truth.
    title : str, optional
        The heading; "Fair odds: a report on a policy" without it.
    about : mapping, optional
        What only people know, for the model card: "Owner", "Date", "Intended use", "Out of scope", "The scoring model",
        "Where the data come from", or any other field.

    Returns
    -------
    Document
        What was written, as plain data: it has `sections`, and a notebook shows it.

    See Also
    --------
    audit : The figures alone, with intervals and a verdict.
    explain : One person's odds in words.
    plot.curves, plot.roc : Single pictures.

    Examples
    --------
    >>> import evenodds as eo, tempfile, pathlib
    >>> joint = eo.datasets.credit_risk()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "report.html"
    ...     document = eo.report(eo.fit(joint), joint, file, about={"Owner": "Credit team"})
    ...     file.stat().st_size < 1_000_000
    True
    >>> [section.title for section in document.sections][:3]
    ['In short', 'What was decided, and why', 'Before and after']
    """
    kind = None if path is None and format is None else format_of(path, format)
    subject = Subject.of(policy, joint, before=before, tolerance=tolerance, confidence=confidence)
    document = document_of(subject, title=title, about=about)
    if path is not None:
        assert kind is not None  # noqa: S101 a path has a format
        with placed(path) as part:
            part.write_text(rendered(document, kind), encoding="utf-8")
    return document


def rendered(document: Document, format: str) -> str:  # noqa: A002 as above
    """The document as text; what no encoding can write becomes a question mark."""
    text = html_of(document) if one_of("format", format, FORMATS) == "html" else markdown_of(document)
    return text.encode("utf-8", "replace").decode()


def format_of(path: str | PathLike[str] | None, format: str | None) -> str:  # noqa: A002 as above
    """The format that is asked for, or that the path's ending tells."""
    if format is not None:
        return one_of("format", format, FORMATS)
    file = Path(path_text(path))
    ending = file.suffix.lower()
    if ending == ".pdf":
        msg = (
            f"A PDF is made by a browser: write {file.with_suffix('.html')} and print it, or run "
            "chromium --headless --print-to-pdf=report.pdf report.html."
        )
        raise OptionError(msg)
    if ending not in _ENDINGS:
        msg = f"The format of {path} cannot be told from its name. Allowed endings: {', '.join(_ENDINGS)}."
        raise OptionError(msg)
    return _ENDINGS[ending]
