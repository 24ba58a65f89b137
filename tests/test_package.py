"""The house rules: what is public, what loads when, and which way imports point."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import evenodds as eo

SOURCE = Path(eo.__file__).parent
LAYERS = (
    "version",
    "errors",
    "visible",
    "values",
    "progress",
    "files",
    "frames",
    "showing",
    "geometry",
    "model",
    "datasets",
    "evaluation",
    "decisions",
    "exports",
    "pictures",
    "report",
    "studies",
    "fronts",
)
LATE = (
    "click", "hypothesis", "matplotlib", "mlflow", "narwhals", "numpy", "onnx", "pandas", "pyarrow", "pydantic", "rich",
    "scipy", "sklearn", "sqlglot",
)  # fmt: skip
OPTIONAL = {
    "matplotlib": "plot",
    "mlflow": "mlflow",
    "onnx": "onnx",
    "pandas": "mlflow",
    "sklearn": "sklearn",
    "sqlglot": "sql",
}


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("evenodds"):
            found |= {
                f"{node.module}.{alias.name}" if node.module == "evenodds" else node.module for alias in node.names
            }
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("evenodds")}
    return found


MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem in ("errors", "frames"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_layer_imports_only_layers_above_it(path):
    own = path.relative_to(SOURCE).with_suffix("").parts[0]
    for name in _imports(path):
        layer = name.split(".")[1]
        assert LAYERS.index(layer) <= LAYERS.index(own), f"{path} imports {name}"


def test_no_file_of_the_model_is_longer_than_a_newcomer_reads_at_once():
    long = {
        path.name: lines
        for path in (SOURCE / "model").glob("*.py")
        if (lines := len(path.read_text().splitlines())) > 400
    }
    assert not long


def test_modules_form_no_cycle():
    graph = {}
    for path in MODULES:
        parts = ("evenodds", *path.relative_to(SOURCE).with_suffix("").parts)
        graph[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = _imports(path)
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name not in done:
            for other in graph.get(name, ()):
                if other != name:
                    visit(other, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_what_is_imported_is_installed_with_it(path):
    """Wherever it is imported; what needs an extra must not be in the way of the command line."""
    project = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text())["project"]
    installed = {re.split(r"\W", one)[0] for one in project["dependencies"]}
    assert set(OPTIONAL.values()) <= set(project["optional-dependencies"])
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
    allowed = installed if "cli" in path.parts else installed | set(OPTIONAL)
    assert found - set(sys.stdlib_module_names) - {"evenodds"} <= allowed


def test_the_public_names_are_those_listed():
    assert sorted(eo.__all__) == list(eo.__all__)
    for name in eo.__all__:
        assert getattr(eo, name) is not None
    assert dir(eo) == eo.__all__
    rooms = set(LAYERS) - set(eo.__all__)  # which Python sets once a module of theirs is loaded
    assert {name for name in vars(eo) if not name.startswith("_")} - rooms == set(eo.__all__)
    with pytest.raises(AttributeError, match="attribute nothing"):
        _ = eo.nothing


def test_a_room_that_is_loaded_does_not_hide_the_function_of_its_name():
    code = "import evenodds.report.html, evenodds; print(evenodds.report.__name__, callable(evenodds.report))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["report", "True"]


@pytest.mark.parametrize(("use", "loaded"), [("evenodds", []), ("evenodds.fit", ["numpy"])])
def test_importing_loads_nothing_heavy_and_a_fit_numpy_only(use, loaded):
    code = f"import sys, evenodds; {use}; print([name for name in {LATE!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(loaded)


def test_every_way_in_has_the_options_that_are_declared():
    """The same names with the same defaults: in Python, for scikit-learn and on the command line."""
    from evenodds.fronts.cli import commands  # noqa: PLC0415
    from evenodds.model.options import OPTIONS  # noqa: PLC0415

    declared = {name: option.default for name, option in OPTIONS.items()}
    assert eo.fit.__kwdefaults__ == declared
    estimator = eo.CurveOptimizer().get_params()
    assert {name: estimator[name] for name in declared} == declared
    for shared in (eo.compare, eo.frontier):
        some = {name: value for name, value in shared.__kwdefaults__.items() if name in declared}
        assert some == {name: declared[name] for name in some}
        assert len(some) >= 4
    for command in ("fit", "frontier"):
        given = {option.name: option for option in commands.commands[command].params}
        for name, default in declared.items():
            if name in given:
                shown = given[name].default
                assert shown == default or (default is None and not shown) or str(shown) == "Sentinel.UNSET", name
                assert given[name].help == OPTIONS[name].help
        assert {"constraints", "objective", "tolerance", "curve"} <= set(given)
