"""Mathematics as MathML, written when the site is built: browsers draw it by themselves, and nothing is loaded."""

from __future__ import annotations

from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)


def mathml(node: nodes.Element, *, block: bool) -> str:
    """A formula in TeX as MathML; one that is not understood is a warning, and stands as it was written."""
    text = node.astext()
    try:
        return tex2mathml(text, as_block=block)
    except MathError as error:
        LOGGER.warning("mathematics that is not understood: %s (%s)", text, error, location=node)
        return f"<code>{escape(text)}</code>"


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """A formula in a sentence."""
    translator.body.append(mathml(node, block=False))
    raise nodes.SkipNode


def block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """A formula on lines of its own, which scrolls where it is too wide."""
    translator.body.append(f'<div class="mathematics">{mathml(node, block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
