"""Every public callable says what it takes, what it gives and how it is used, in numpydoc's sections, and truly.

Public is what `evenodds/__init__.pyi` lists, what the public modules list, and what public classes have that does not
begin with an underscore. Scikit-learn's methods, a number's and an exception's are documented by those whose they are.
"""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
from numpydoc.docscrape import NumpyDocString

import evenodds as eo

NEXT = {
    "JointDistribution": ["fit", "audit"],
    "fit": ["report", "audit", "explain", "frontier", "apply"],
    "apply": ["decide"],
    "decide": ["apply", "verify"],
    "audit": ["stability", "update"],
    "stability": ["audit"],
}


@dataclass(frozen=True)
class Named:
    """Something public: by which name, what it is, and what kind of thing that is."""

    name: str
    thing: Any
    kind: str

    @property
    def doc(self) -> NumpyDocString:
        return NumpyDocString(inspect.getdoc(self.thing) or "")

    @property
    def parameters(self) -> list[str]:
        """As numpydoc writes them: *these and **those with their stars."""
        stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        every = inspect.signature(self.thing).parameters.values()
        return [stars.get(one.kind, "") + one.name for one in every if one.name not in ("self", "cls")]

    @property
    def documented(self) -> list[str]:
        return [name for entry in self.doc["Parameters"] for name in entry.name.split(", ")]


def is_ours(thing: Any) -> bool:
    return (getattr(thing, "__module__", None) or "").split(".")[0] == "evenodds"


def members(name: str, cls: type) -> Iterator[Named]:
    """What a class has that is ours and public; a field's default is no member of its own."""
    for attribute in dir(cls):
        owner = next(base for base in cls.__mro__ if attribute in vars(base) or base is object)
        if attribute.startswith("_") or not is_ours(owner):
            continue
        held, path = vars(owner)[attribute], f"{name}.{attribute}"
        if isinstance(held, (classmethod, staticmethod)):
            yield Named(path, getattr(cls, attribute), "constructor")
        elif inspect.isfunction(held):
            yield Named(path, held, "method")
        elif isinstance(held, (property, cached_property)):
            yield Named(path, held, "property")


def listed(where: Any, prefix: str = "") -> Iterator[Named]:
    for name in where.__all__:
        thing = getattr(where, name)
        if isinstance(thing, ModuleType):
            yield Named(name, thing, "module")
            yield from listed(thing, f"{name}.")
        elif inspect.isclass(thing):
            yield Named(prefix + name, thing, "class")
            yield from members(prefix + name, thing)
        elif callable(thing):
            yield Named(prefix + name, thing, "function")


PUBLIC = list(listed(eo))
BY_NAME = {one.name: one for one in PUBLIC}


def those(*kinds: str) -> Any:
    some = [one for one in PUBLIC if one.kind in kinds]
    return pytest.mark.parametrize("one", some, ids=[one.name for one in some])


# -- what may be missing -----------------------------------------------------------------------------------------------


def takes_values(one: Named) -> bool:
    """Whether values of people who call it come in here.

    They do where a class makes or checks its values itself. All other classes are results: evenodds makes them, and
    what they hold are fields. Exceptions are raised, and not made.
    """
    if one.kind != "class":
        return True
    own = vars(one.thing)
    makes = "__post_init__" in own or (not is_dataclass(one.thing) and ("__init__" in own or "__new__" in own))
    return makes and not issubclass(one.thing, BaseException)


def wrong_parameters(one: Named) -> list[str]:
    """Parameters that are not named as in the signature, or of which nothing is said; references that lead nowhere."""
    documented = one.documented
    if not documented and not takes_values(one):
        return []
    problems = [] if documented == one.parameters else [f"it takes {one.parameters}, and documents {documented}"]
    for entry in one.doc["Parameters"]:
        said = " ".join(entry.desc)
        elsewhere = re.match(r"As for `(?:evenodds\.)?([\w.]+)`", said)
        if not said or not (entry.type or elsewhere):
            problems.append(f"of {entry.name} there is no {'type' if said else 'description'}")
        if elsewhere:
            other = BY_NAME.get(elsewhere[1])
            if other is None:
                problems.append(f"{elsewhere[1]} is no public name")
            elif lacking := set(entry.name.split(", ")) - set(other.documented):
                problems.append(f"{elsewhere[1]} does not document {sorted(lacking)}")
    return problems


def wrong_returns(one: Named) -> list[str]:
    """A method without parameters may say in its one sentence what it gives; all others have a section for it."""
    found = one.doc["Returns"] + one.doc["Yields"]
    gives = inspect.signature(one.thing).return_annotation not in ("None", None)
    if gives and not found and (one.parameters or one.kind != "method"):
        return ["what it returns is not documented"]
    if found and not gives:
        return ["it returns nothing, and documents what"]
    # A text that is not indented is read as a list of types.
    return [] if len(found) <= 1 else [f"{len(found)} values are documented, and one is returned"]


def wrong_examples(one: Named) -> list[str]:
    if inspect.isclass(one.thing) and issubclass(one.thing, BaseException):
        return []  # raised by others, in whose examples it would stand
    examples = doctest.DocTestParser().get_examples("\n".join(one.doc["Examples"]))
    if not examples:
        return ["it has no example"]
    return [f"{e.source!r} is not run" for e in examples if e.options.get(doctest.SKIP)]


def seen_also(one: Named) -> list[str]:
    return [name for names, _ in one.doc["See Also"] for name, _ in names]


def undocumented_fields(cls: type) -> list[str]:
    """Fields of a dataclass of which neither a section nor a text below them speaks."""
    doc = NumpyDocString(inspect.getdoc(cls) or "")
    said = {name for part in ("Parameters", "Attributes") for entry in doc[part] for name in entry.name.split(", ")}
    for base in filter(is_dataclass, cls.__mro__):
        (written,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        lines = written.body
        said |= {
            before.target.id
            for before, after in pairwise(lines)
            if isinstance(before, ast.AnnAssign)
            and isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        }
    return [field.name for field in fields(cls) if not field.name.startswith("_") and field.name not in said]


# -- tests -------------------------------------------------------------------------------------------------------------


@those("module", "class", "function", "method", "constructor", "property")
def test_it_begins_with_a_sentence(one):
    said = one.thing.__doc__ or ""  # its own, not inherited
    first = " ".join(said.split("\n\n")[0].split())
    assert first.endswith(".")
    assert not first.startswith(f"{one.name.split('.')[-1]}(")  # what dataclass writes where nobody did


@those("class", "function", "method", "constructor")
def test_every_parameter_is_documented_in_order(one):
    assert wrong_parameters(one) == []


@those("function", "method", "constructor")
def test_what_comes_back_is_documented(one):
    assert wrong_returns(one) == []


@those("class", "function", "constructor")
def test_there_is_an_example_that_runs_as_a_doctest(one):
    assert wrong_examples(one) == []


@those("class", "function", "method", "constructor")
def test_whoever_looks_further_finds_something_else(one):
    names = seen_also(one)
    assert [name for name in names if name not in BY_NAME] == []
    assert len({id(BY_NAME[name].thing) for name in [one.name, *names]}) == 1 + len(names)


def test_every_function_is_found_from_fit_by_looking_further():
    """From one See Also to the next; who is shown a method of a class is shown the class."""
    ahead, found = ["fit"], {}
    while ahead:
        one = BY_NAME[ahead.pop()]
        if id(one.thing) not in found:
            found[id(one.thing)] = one
            ahead += seen_also(one)
            ahead += [one.name.rpartition(".")[0]] if one.kind in ("method", "constructor") else []
    lost = [one.name for one in PUBLIC if one.kind == "function" and id(one.thing) not in found]
    assert lost == []


@pytest.mark.parametrize(("name", "after"), NEXT.items())
def test_what_people_do_next_is_shown_at_once(name, after):
    assert set(after) <= set(seen_also(BY_NAME[name]))


@pytest.mark.parametrize("one", [one for one in PUBLIC if is_dataclass(one.thing)], ids=lambda one: one.name)
def test_every_field_is_documented(one):
    assert undocumented_fields(one.thing) == []


@pytest.mark.parametrize("name", ["fit", "Policy", "apply"])
def test_odds_are_explained_where_they_are_first_spoken_of(name):
    text = " ".join(inspect.getdoc(BY_NAME[name].thing).split())
    first = re.search(r"\bodds\b", text)
    assert re.match(r"odds[:,] the chance of a yes, from 0 to 1", text[first.start() :])


# -- what is wrong is found --------------------------------------------------------------------------------------------


def test_what_is_missing_or_wrong_is_found():
    def bare(one: int, *others: int, **options: int) -> int:
        """Add numbers."""
        return one + sum(others) + sum(options.values())

    def well(one: int, *others: int, **options: int) -> int:
        """Add numbers.

        Parameters
        ----------
        one : int
            A number.
        *others, **options : int
            Further numbers.

        Returns
        -------
        int
            Their sum.

        See Also
        --------
        audit, nothing : There is no such name.

        Examples
        --------
        >>> 1 + 1
        2
        """
        return bare(one, *others, **options)

    def ill(one: int, two: int) -> None:
        """Add numbers.

        Parameters
        ----------
        two, one : int
            As for `solutions`.
        three

        Returns
        -------
        A sum of
        two numbers.

        Examples
        --------
        >>> 1 + 1  # doctest: +SKIP
        3
        """

    def misspelt() -> None:
        """Do nothing.

        Exampels
        --------
        >>> 1 + 1
        2
        """

    @dataclass
    class Result:
        """A result.

        Attributes
        ----------
        one : int
        """

        one: int
        two: int
        """Told below."""
        three: int

    def problems(thing: Any) -> tuple[list[str], list[str], list[str]]:
        one = Named("it", thing, "function")
        return wrong_parameters(one), wrong_returns(one), wrong_examples(one)

    assert problems(bare) == (
        ["it takes ['one', '*others', '**options'], and documents []"],
        ["what it returns is not documented"],
        ["it has no example"],
    )
    assert problems(well) == ([], [], [])
    assert seen_also(Named("it", well, "function")) == ["audit", "nothing"]
    assert problems(ill) == (
        [
            "it takes ['one', 'two'], and documents ['two', 'one', 'three']",
            "solutions does not document ['one', 'two']",
            "of three there is no description",
        ],
        ["it returns nothing, and documents what"],
        ["'1 + 1  # doctest: +SKIP\\n' is not run"],
    )
    with pytest.raises(UserWarning, match="Unknown section Exampels"):
        problems(misspelt)
    assert undocumented_fields(Result) == ["three"]


def test_nothing_public_is_passed_over():
    """What is walked are the names of the stub, and what their classes have; scikit-learn's and others' are theirs."""
    assert {one.name for one in PUBLIC} >= set(eo.__all__) - {"__version__"}
    kinds = {
        "plot": "module",
        "plot.Figure": "class",
        "plot.Figure.frame": "method",  # of its base class
        "Curve.lipschitz": "property",
        "Policy.load": "constructor",
        "individual.gower": "function",
    }
    assert {name: BY_NAME[name].kind for name in kinds} == kinds
    others = {"CurveOptimizer.get_params", "CurveOptimizer.set_fit_request", "Estimate.hex", "DataError.args"}
    assert not others & set(BY_NAME)
