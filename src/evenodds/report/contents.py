"""What a report on a policy says, section by section, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evenodds.errors import OptionError
from evenodds.progress import tracked
from evenodds.report.card import card, fingerprints, limits, parameters
from evenodds.report.decision import before_and_after, decided, reviews
from evenodds.report.document import Block, Document, Section
from evenodds.report.drawings import curves, holds, people, possible
from evenodds.report.subject import Subject, quietly
from evenodds.report.summary import in_short
from evenodds.showing import people_text

__all__ = ["document_of", "policy_sections"]


def document_of(subject: Subject, *, title: str | None = None, about: Mapping[str, str] | None = None) -> Document:
    """The whole report."""
    stated = _checked_about(about)
    heading = _checked_title(title)
    count, n = sum(g.people for g in subject.audit.by_group), len(subject.policy.groups)
    lead = (
        f"{n} group{'s' * (n > 1)}, {subject.family} curves, measured on {people_text(count)} people: {subject.whose}."
    )
    sections = policy_sections(subject, stated)
    return Document(heading, lead, sections)


def policy_sections(subject: Subject, about: Mapping[str, str]) -> tuple[Section, ...]:
    """Every section on a policy, in the order in which it is read."""
    makers: Sequence[tuple[str, Callable[[], list[Block]]]] = (
        ("In short", lambda: in_short(subject)),
        ("What was decided, and why", lambda: decided(subject)),
        *([("Who is reviewed", lambda: reviews(subject))] if subject.policy.review else []),
        ("Before and after", lambda: before_and_after(subject)),
        ("The curves", lambda: curves(subject)),
        ("Who the people are", lambda: people(subject)),
        ("What is possible", lambda: possible(subject)),
        ("Does it hold for others?", lambda: holds(subject)),
        ("Each group's parameters", lambda: parameters(subject)),
        ("Limits, and when not to use it", lambda: limits(subject)),
        ("Model card", lambda: card(subject, about)),
        ("Fingerprints", lambda: fingerprints(subject)),
    )
    with quietly():
        return tuple(Section(title, tuple(make())) for title, make in tracked(makers, "Writing the report"))


def _checked_title(title: object) -> str:
    if title is None:
        return "Fair odds: a report on a policy"
    if not isinstance(title, str):
        msg = f"title={title!r} is not allowed. Allowed: a text."
        raise OptionError(msg)
    return title


def _checked_about(about: Mapping[str, str] | None) -> dict[str, str]:
    if about is None:
        return {}
    if not isinstance(about, Mapping) or not all(isinstance(text, str) for pair in about.items() for text in pair):
        msg = f"about={about!r} is not allowed. Allowed: names and texts, such as {{'Owner': 'Credit team'}}."
        raise OptionError(msg)
    return dict(about)
