"""How Sphinx builds the site from these pages: `make docs`. Nothing is fetched, for the build or by the pages."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

import evenodds
from pages import SECTIONS, listed

project = "evenodds"
author = "The evenodds developers"
project_copyright = f"{author}. MIT licence"
release = version = evenodds.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    # Our own, in _extensions/
    "pages",
    "commands",
    "names",
    "mathematics",
]
exclude_patterns = ["_*"]
templates_path = ["_templates"]

# Pages are Markdown as GitHub shows it, and mathematics as GitHub has it: $...$, and blocks of ```math.
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

# The reference is made from docstrings. Their examples are run by pytest, and not once more here.
autosummary_ignore_module_all = False
autodoc_member_order = "bysource"
autodoc_typehints = "description"  # those of parameters stand in the docstrings, in words; attributes show theirs
autodoc_typehints_description_target = "documented_params"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False  # autodoc lists them
maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"
default_role = "code"
smartquotes = False
nitpicky = True

html_theme = "pydata_sphinx_theme"
html_title = project
html_favicon = "_static/mark.svg"
html_static_path = ["_static"]
html_context = {"default_mode": "auto"}  # light or dark as the browser is, until somebody chooses
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_use_index = False  # the reference lists every name
html_domain_indices = False
html_copy_source = False
html_show_sourcelink = False
alone = [page for _, page in listed((HERE / "index.md").read_text(encoding="utf-8")) if page not in SECTIONS]
html_sidebars = {page: [] for page in ("index", *alone)} | {"**": ["sidebar-nav-bs"]}
html_theme_options = {
    "logo": {"text": project, "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg", "alt_text": ""},
    "header_links_before_dropdown": 8,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "search_bar_text": "Search",
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
