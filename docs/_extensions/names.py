"""Public names: where they are documented, and links to there from wherever they are mentioned."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

import evenodds

MODULES = [name for name in evenodds.__all__ if inspect.ismodule(getattr(evenodds, name))]
MENTION = re.compile(r"(?:eo|evenodds)\.([\w.]+)(?:\(.*\))?")
OWN = re.compile(r"([A-Z]\w+(?:\.\w+)*)(?:\(.*\))?")
"""Within the reference classes and their members stand without `eo.`; other words are mostly parameters."""


def public_names() -> dict[str, Any]:
    """Every public name with what it names: those of evenodds, and those of its public modules.

    >>> {"fit", "plot", "plot.roc"} <= set(public_names())
    True
    """
    own = {name: getattr(evenodds, name) for name in evenodds.__all__}
    return own | {f"{room}.{name}": getattr(own[room], name) for room in MODULES for name in own[room].__all__}


# Where a thing is defined is nobody's business: a type in a signature is found under its public name.
PUBLIC = {
    f"{thing.__module__}.{thing.__qualname__}": name
    for name, thing in reversed(public_names().items())
    if not inspect.ismodule(thing)
}


def target_of(env: BuildEnvironment, name: str) -> tuple[str, str, str] | None:
    """Document, anchor and full name of a public name."""
    full = f"evenodds.{name}"
    found = env.domains.python_domain.objects.get(full)
    return found and (found.docname, found.node_id, full)


def resolved(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Find our own types under their public names; others, such as numpy's and those without one, are words only."""
    if node.get("refdomain") != "py":
        return None
    name = node["reftarget"]
    known = target_of(env, PUBLIC.get(name, name.removeprefix("evenodds.")))
    if known:
        return make_refnode(app.builder, node["refdoc"], known[0], known[1], content, known[2])
    return content if node.get("reftype") == "class" else None


def untyped(_app: Sphinx, tree: nodes.document) -> None:
    """Drop what autodoc says of a function's result: docstrings say it in words."""
    for field in list(tree.findall(nodes.field)):
        if field[0].astext() == "Return type":
            lists = field.parent
            lists.remove(field)
            if not lists.children:
                lists.parent.remove(lists)


def is_type(node: nodes.Node) -> bool:
    """Whether a node is the type of a parameter, or what a function returns or raises."""
    return isinstance(node, nodes.classifier) or (
        isinstance(node, nodes.term) and len(node) == 1 and isinstance(node[0], nodes.Text)
    )


class Mentions(SphinxPostTransform):
    """`eo.fit(...)` in a sentence becomes a link to its page, and so does a class in a parameter's type."""

    default_priority = 700

    def run(self, **_: Any) -> None:
        reference = self.env.current_document.docname.startswith("api/")
        for node in list(self.document.findall(nodes.literal)):
            if isinstance(node.parent, nodes.reference | nodes.title) or "xref" in node["classes"]:
                continue
            text = node.astext()
            match = MENTION.fullmatch(text) or (OWN.fullmatch(text) if reference else None)
            link = match and self.link(match[1], node.deepcopy())
            if link:
                node.replace_self(link)
        for node in list(self.document.findall(is_type)) if reference else []:
            words = re.split(r"(\b[A-Z]\w+\b)", node.astext())
            node[:] = [self.link(word, nodes.Text(word)) or nodes.Text(word) for word in words]

    def link(self, name: str, content: nodes.Node) -> nodes.reference | None:
        """A link to a public name's page; none from there to itself, and none where there is no such name."""
        found = target_of(self.env, name)
        here = self.env.current_document.docname
        if not found or found[0] == here:
            return None
        return make_refnode(self.app.builder, here, found[0], found[1], [content], found[2])


def unwanted(_app: Sphinx, _what: str, _name: str, thing: Any, _skip: bool, _options: Any) -> bool | None:  # noqa: FBT001 so Sphinx calls it
    """Leave out what others' base classes add: of str, of float, and scikit-learn's routing of metadata."""
    inner = getattr(thing, "fget", None) or getattr(thing, "func", None) or getattr(thing, "__func__", None) or thing
    defined = str(getattr(inner, "__module__", None))
    if inspect.isroutine(inner) or inspect.isdatadescriptor(inner):
        return None if defined.startswith("evenodds") else True
    return None


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    for name in MODULES:  # autodoc imports modules by their names; where these lie is nobody's business either
        sys.modules.setdefault(f"evenodds.{name}", getattr(evenodds, name))
    app.connect("missing-reference", resolved)
    app.connect("autodoc-skip-member", unwanted)
    app.connect("doctree-read", untyped)
    app.add_post_transform(Mentions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
