"""Pages whose own words stand around tables that are written anew: a table stands between two marks."""

from __future__ import annotations


def filled(page: str, mark: str, text: str) -> str:
    """A page with another text between its marks.

    >>> filled("before <!-- sizes -->old<!-- end of sizes --> after", "sizes", "new").splitlines()
    ['before <!-- sizes -->', 'new', '<!-- end of sizes --> after']
    """
    start, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    before, rest = page.split(start)
    return f"{before}{start}\n{text}\n{end}{rest.split(end)[1]}"
