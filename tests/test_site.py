"""The documentation site: built once without a network, read as files, and looked at in a real browser."""

from __future__ import annotations

import functools
import inspect
import os
import re
import shutil
import subprocess
import sys
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree as ET

import click
import pytest

import evenodds as eo
from browser import Browser
from engines import needed
from evenodds.fronts.cli import commands

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page.stem for page in DOCS.glob("*.md"))
WIDE = {"viewport": {"width": 1360, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}}
pytestmark = [
    pytest.mark.skipif(not DOCS.exists(), reason="the documentation is not part of a source distribution"),
    pytest.mark.xdist_group("site"),  # which is built once
]


def _public_names():
    own = {name: getattr(eo, name) for name in eo.__all__}
    rooms = {name: room for name, room in own.items() if inspect.ismodule(room)}
    return own | {f"{room}.{name}": getattr(module, name) for room, module in rooms.items() for name in module.__all__}


NAMES = _public_names()


LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data", "embed": "src"}


class Html(HTMLParser):
    """What a page says, where its anchors are, what it links to, and what it loads."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.said: list[str] = []
        self.ids: set[str] = set()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))
        self.text = "".join(self.said)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.add(tag)
        self.ids |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") not in ("next", "prev", "search", "index", "author", "copyright"):
            self.loads.append(given["href"])
        if given.get(LOADS.get(tag, "")):
            self.loads.append(given[LOADS[tag]])
        self.loads += [part.split()[0] for part in (given.get("srcset") or "").split(",") if part.strip()]
        self.loads += re.findall(r"url\(([^)]*)\)", given.get("style") or "")

    def handle_data(self, data):
        self.said.append(data)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site, built from a copy of the pages: what an earlier build has left there is not used, nor anything left."""
    needed("sphinx")
    home = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, home / "docs", ignore=shutil.ignore_patterns("api", "__pycache__"))
    for beside in ROOT.iterdir():
        if beside.name != "docs" and not beside.name.startswith("."):
            (home / beside.name).symlink_to(beside)
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "-j", "auto", str(home / "docs"), str(home / "html")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return home / "html", done


@pytest.fixture(scope="module")
def site(built):
    return built[0]


@pytest.fixture(scope="module")
def pages(site):
    """Every page that people read, parsed, by its address within the site."""
    return {str(file.relative_to(site)): Html(file) for file in site.rglob("*.html") if "_static" not in file.parts}


def test_it_is_built_without_a_warning(built):
    _, done = built
    assert done.stderr == ""
    assert done.returncode == 0


def test_every_page_is_on_the_site_and_is_reached_by_links(pages):
    assert len(PAGES) > 15
    assert {f"{page}.html" for page in PAGES} <= set(pages)
    reached, ahead = set(), ["index.html"]
    while ahead:
        page = ahead.pop()
        if page in pages and page not in reached:
            reached.add(page)
            ahead += [_place(page, link)[0] for link in pages[page].links if _is_within(link)]
    assert reached >= {page for page in pages if page != "search.html"}


def _is_within(link):
    return not urlsplit(link).scheme


def _place(page, link):
    """Page and anchor that a link on a page leads to."""
    parts = urlsplit(link)
    found = os.path.normpath(Path(page).parent / unquote(parts.path)) if parts.path else page
    return found, unquote(parts.fragment)


def test_every_link_within_the_site_leads_somewhere(site, pages):
    lost = []
    for page, html in pages.items():
        for link in filter(_is_within, html.links):
            found, anchor = _place(page, link)
            known = found in pages
            if not (site / found).exists() or (anchor and known and anchor not in pages[found].ids):
                lost.append((page, link))
    assert not lost


@pytest.mark.parametrize(
    "file", ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", *(f"docs/{page}.md" for page in PAGES)]
)
def test_every_link_between_files_leads_somewhere(file):
    """As they are followed on GitHub, where there is no site."""
    text = re.sub(r"```.*?```", "", (ROOT / file).read_text(encoding="utf-8"), flags=re.DOTALL)
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if _is_within(link)]
    lost = [link for link in links if link[0] != "#" and not (ROOT / file).parent.joinpath(link.split("#")[0]).exists()]
    assert not lost


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_markdown_that_github_shows(page):
    """What only Sphinx understands stands in blocks of code, and there are few of them."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^ *[`:]{3,}\{([\w-]+)\}", text, re.MULTILINE)) <= {"eval-rst", "include"}
    assert not re.search(r"\{[\w:-]+\}`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_its_page_with_its_examples(pages, name):
    page, thing = pages[f"api/evenodds.{name}.html"], NAMES[name]
    spoken = "".join(page.text.split())
    lines = [line for line in inspect.getdoc(thing).splitlines() if line.startswith((">>>", "..."))]
    missing = [line for line in lines if "".join(line.split()) not in spoken]
    assert not missing
    if inspect.ismodule(thing):
        assert {f"evenodds.{name}.{one}.html" for one in thing.__all__} <= {link.split("#")[0] for link in page.links}
        return
    assert f"evenodds.{name}" in page.ids
    is_raised = inspect.isclass(thing) and issubclass(thing, Exception)
    assert ">>>" in page.text or is_raised  # exceptions and warnings are shown in docs/errors.md


def test_what_others_base_classes_have_is_left_out_and_ours_is_not(pages):
    ids = pages["api/evenodds.CurveOptimizer.html"].ids
    members = {
        one.removeprefix("evenodds.CurveOptimizer.") for one in ids if one.startswith("evenodds.CurveOptimizer.")
    }
    assert {"fit", "predict", "predict_proba", "score"} <= members
    assert not {one for one in members if one.startswith("set_") and one.endswith("_request")} | (
        members & {"get_params"}
    )
    assert {"evenodds.Policy.frame", "evenodds.Policy.plot"} <= pages["api/evenodds.Policy.html"].ids
    verdict = {one for one in pages["api/evenodds.Verdict.html"].ids if one.startswith("evenodds.Verdict.")}
    assert verdict == {"evenodds.Verdict.reasons"}


def _commands(command=commands, *names):
    yield " ".join(("evenodds", *names)), command
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, *names, name)


def test_every_command_stands_there_with_its_options(site):
    page = (site / "commands.html").read_text(encoding="utf-8")
    sections = re.split(r"<section id=", page)[1:]
    said = {match[1]: section for section in sections if (match := re.search(r"<h2>(.*?)<a", section))}
    every = dict(_commands())
    assert len(every) > 12
    assert set(said) == set(every)
    for name, command in every.items():
        assert f"Usage: {name} " in said[name]
        for option in command.params:
            wanted = option.opts if isinstance(option, click.Option) else [option.make_metavar(click.Context(command))]
            assert all(one in said[name] for one in wanted if one), (name, wanted)


def test_names_in_sentences_lead_to_their_pages(pages):
    """`eo.draw` in a page's prose, a class in a parameter's type, and a type in a signature."""
    assert "api/evenodds.DataError.html#evenodds.DataError" in pages["errors.html"].links
    links = pages["api/evenodds.fit.html"].links
    assert {f"evenodds.{name}.html#evenodds.{name}" for name in ("JointDistribution", "Cost", "Policy")} <= set(links)
    assert "evenodds.Certificate.html#evenodds.Certificate" in pages["api/evenodds.Policy.html"].links


def test_code_is_coloured_and_has_no_empty_last_line(site):
    """Doctest needs that line, and nobody else."""
    page = (site / "index.html").read_text(encoding="utf-8")
    block = next(part for part in re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL) if "credit_risk" in part)
    assert re.search(r'<span class="gp">.*<span class="kn">import</span>', block)
    assert not re.search(r"\n\s*\n$", re.sub("<[^>]*>", "", block))


def test_a_link_that_is_called_as_its_file_is_called_by_its_title(pages):
    for page, html in pages.items():
        if page != "changelog.html":
            assert not re.search(r"\([\w-]+\.md\)", html.text), page
    assert "is defined in The draw." in " ".join(pages["policy-format.html"].text.split())


def test_mathematics_are_written_when_the_site_is_built(pages):
    page = pages["curves.html"]
    assert {"math", "mfrac", "msub", "munder"} <= page.tags
    assert not [load for load in page.loads if "math" in load.lower()]
    assert "\\frac" not in page.text


@pytest.mark.parametrize(
    ("formula", "tags"),
    [
        ("f_a(r) \\le 1", {"msub", "mo"}),
        ("f = \\begin{cases} 0 & r < t_0 \\\\ \\sqrt{p} & \\text{else} \\end{cases}", {"mtable", "msqrt", "mtext"}),
        ("\\begin{aligned} a &= b \\\\ &= \\mathbb{E}[X \\mid Y = 1] \\end{aligned}", {"mtable", "mi"}),
        ("\\max_r |f'(r)| = \\frac{1}{t_1 - t_0}, \\; \\hat{Y} \\in \\{0, 1\\}", {"munder", "mfrac", "mover"}),
    ],
)
@pytest.mark.parametrize("block", [False, True])
def test_formulas_in_tex_become_mathml(mathml, formula, tags, block, caplog):
    found = ET.fromstring(mathml(formula, block=block))  # noqa: S314 our own
    names = {part.tag.rsplit("}", 1)[-1] for part in found.iter()}
    assert {"math", *tags} <= names
    assert found.get("display") == ("block" if block else None)
    assert not caplog.records


def test_a_formula_that_is_not_understood_is_a_warning(mathml, caplog):
    assert mathml("1 < \\nosuchthing{x}", block=False) == "<code>1 &lt; \\nosuchthing{x}</code>"
    assert "not understood: 1 < \\nosuchthing{x}" in caplog.text


@pytest.fixture
def mathml(monkeypatch):
    """Our extension, as Sphinx calls it."""
    needed("sphinx")
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    extension = import_module("mathematics")
    return lambda text, *, block: extension.mathml(needed("docutils.nodes").math(text, text), block=block)


def test_nothing_is_loaded_from_elsewhere(site, pages):
    loads = {(page, load) for page, html in pages.items() for load in html.loads}
    assert {"searchtools.js", "site.css", "mark.svg"} <= {Path(urlsplit(load).path).name for _, load in loads}
    for page, load in loads:
        assert not urlsplit(load).scheme, (page, load)
        assert not load.startswith("//"), (page, load)
        assert (site / _place(page, load)[0]).is_file(), (page, load)
    for style in site.rglob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", style.read_text(encoding="utf-8"), flags=re.DOTALL)
        places = re.findall(r"url\(\s*['\"]?([^)'\"\s]*)", text)
        places += re.findall(r"@import\s+['\"]([^'\"]*)", text)
        assert not [place for place in places if re.match(r"(?:\w+:)?//", place)], style
    for picture in site.rglob("*.svg"):
        assert not re.search(r"(?:href|src)=|@import|url\((?!#)", picture.read_text(encoding="utf-8")), picture


# -- the pictures ------------------------------------------------------------------------------------------------------


def test_the_pictures_are_as_they_would_be_drawn_now(monkeypatch):
    """But for the last tenth of a pixel, which another version of numpy or scipy may move."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    drawn = import_module("rebuild_pictures").pictures()
    assert set(drawn) == {"cliffs.svg", "slopes.svg"}
    places = re.compile(r' (?:d|x|y|transform)="[^"]*"')
    for name, text in drawn.items():
        there = (DOCS / name).read_text(encoding="utf-8")
        assert places.split(there) == places.split(text), f"{name} is not current: python tools/rebuild_pictures.py"
        ours, theirs = (re.findall(r"-?[\d.]+", "".join(places.findall(one))) for one in (text, there))
        assert len(ours) > 100
        assert max(abs(float(one) - float(other)) for one, other in zip(ours, theirs, strict=True)) < 0.11


# -- in a browser ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    found = Browser()
    yield found
    found.stop()


def _complaints(page):
    return [said for said in page.complaints if not said.startswith("[PST]")]  # the theme says which mode it is in


# Wide tables, code and formulas scroll by themselves; nothing else of an article is wider than the window.
CUT_OFF = """() => {
  const scrolls = one => one && one.tagName != "ARTICLE" &&
    (["auto", "scroll"].includes(getComputedStyle(one).overflowX) || scrolls(one.parentElement));
  return [...document.querySelectorAll("article *")]
    .filter(one => one.getBoundingClientRect().right > innerWidth + 1 && !scrolls(one.parentElement))
    .map(one => one.outerHTML.slice(0, 100));
}"""
LOOKED_AT = ["index", "guide", "curves", "performance", "commands", "api", "api/evenodds.fit", "api/evenodds.Policy"]


@pytest.mark.parametrize(
    "options",
    [WIDE, {**WIDE, "color_scheme": "dark"}, PHONE, {**PHONE, "color_scheme": "dark"}],
    ids=["light", "dark", "phone", "dark phone"],
)
def test_pages_open_as_files_without_a_request_or_a_complaint(browser, site, options):
    with browser.opened(site / "start.html", **options) as page:
        for name in LOOKED_AT:
            page.requests.clear()
            page.goto((site / f"{name}.html").as_uri())
            assert len(page.requests) > 5
            assert [url for url in page.requests if not url.startswith((f"{site.as_uri()}/", "data:"))] == []
            assert _complaints(page) == []
            assert page.locator("h1").first.is_visible()
            for element in ("document.documentElement", "document.body"):
                assert page.evaluate(f"{element}.scrollWidth") <= options["viewport"]["width"], name
            assert page.evaluate(CUT_OFF) == [], name
            assert page.evaluate("[...document.images].every(one => one.complete && one.naturalWidth > 0)")
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert ground == ("rgb(20, 24, 30)" if options.get("color_scheme") == "dark" else "rgb(255, 255, 255)")


def test_a_search_finds_what_is_there_opened_as_a_file(browser, site):
    with browser.opened(site / "index.html", **WIDE) as page:
        page.keyboard.press("Control+k")
        page.keyboard.type("gentlest")
        page.keyboard.press("Enter")
        page.wait_for_selector('#search-results li a[href*="evenodds.fit"]')  # results come one after another
        assert _complaints(page) == []


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def served(site):
    """The site behind a server on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(site)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_search_on_a_server_shows_extracts_and_asks_nobody_else(browser, served):
    with browser.opened(f"{served}/search.html?q=threshold", **PHONE) as page:
        page.wait_for_selector("#search-results li p.context")
        assert [url for url in page.requests if not url.startswith((f"{served}/", "data:"))] == []
        assert _complaints(page) == []
        assert page.locator("#search-results li").count() > 5
        page.goto(f"{served}/search.html?q=nosuchword")
        page.wait_for_selector(".search-summary")
        assert page.locator("#search-results li").count() == 0


def test_the_reader_chooses_light_or_dark_and_pictures_follow(browser, site):
    """By the page's own switch, whatever the browser's scheme is."""
    with browser.opened(site / "index.html", **WIDE) as page:
        picture = page.locator('article img[src$="slopes.svg"]')
        light = picture.screenshot()
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
        assert picture.evaluate("image => getComputedStyle(image).filter") == "none"
        page.wait_for_timeout(100)
        dark = picture.screenshot()
    assert _lightness(light) > 0.85
    assert _lightness(dark) < 0.25


def _lightness(png):
    from io import BytesIO  # noqa: PLC0415

    image = needed("matplotlib.image").imread(BytesIO(png))
    return float(image[..., :3].mean())
