"""Make small mistakes in the code, and see how many of them the tests notice.

Run `python tools/mutate.py model evaluation`. Mistakes are made one at a time in the rooms that are named: a comparison
turned, a sign changed, a number off by one, a condition denied, a result withheld. Those tests that run the changed
line, and only those, are then run on it, the quickest first, until one fails. What none of them notices has survived,
and is listed with its line, to be looked at: either a test is missing, or the change changes nothing.

All mistakes would take days, so a random sample of them is tried; the share noticed is given with Wilson's interval.
What the quickest tests do not notice takes minutes each, so that 400 mistakes take some three hours on two cores:
Ctrl-C ends them, and says what is known by then.

Texts of messages are left alone. No file is changed: a mistake lives in a process of its own, which is handed the
changed module as it imports it.

`--again` tries those only that survived before, with whatever tests there are now.
"""

from __future__ import annotations

import argparse
import ast
import importlib.machinery
import importlib.util
import json
import math
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "evenodds"
BUILD = ROOT / "build" / "mutants"
CONTROLS = 400  # tests that must pass where there is no mistake
FIRST = 40  # tests that are tried before all others, which take longer to collect
TOO_LONG = 30.0  # seconds; slower tests are left out, and so are those that start Spark or a database
PATIENCE = 4.0  # a run that takes this many times as long as its tests took, and a minute more, goes round in circles

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
PAIRS = [
    ("min", "max"), ("minimum", "maximum"), ("any", "all"), ("argmin", "argmax"), ("floor", "ceil"), ("left", "right"),
    ("zeros", "ones"), ("sum", "prod"), ("cumsum", "cumprod"), ("nanmin", "nanmax"),
]  # fmt: skip
SILENT = {"annotation", "returns", "decorator_list"}  # fields of nodes that say what something is
RENAMED = {old: new for pair in PAIRS for old, new in (pair, pair[::-1])}


@dataclass(frozen=True, slots=True)
class Mistake:
    """One change in one module: the `number`-th of those that `changes` finds."""

    module: str
    number: int
    lines: tuple[int, int]
    what: str

    def __str__(self) -> str:
        path = f"src/{self.module.replace('.', '/')}.py"
        return f"{path}:{self.lines[0]}: {self.what}"


def changes(tree: ast.Module) -> Iterator[tuple[tuple[int, int], str, Callable[[], None]]]:
    """Every mistake that can be made in a module: the lines of its statement, what it is, and how it is made."""
    for statement in _statements(tree):
        heads = [node for name, node in ast.iter_fields(statement) if name not in SILENT and not _is_block(node)]
        nodes = [part for head in heads for one in _listed(head) for part in _parts(one)]
        ends = [getattr(node, "end_lineno", 0) or 0 for node in nodes]
        lines = (statement.lineno, max([statement.lineno, *ends]))
        for node in [statement, *nodes]:
            for what, make in _mistakes(node):
                yield lines, what, make


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Statements that do something; what a message says is left alone, and so are types and docstrings."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            for one in _listed(getattr(node, field, None)):
                if isinstance(one, ast.stmt) and not _is_talk(one):
                    yield one


def _is_talk(one: ast.stmt) -> bool:
    if isinstance(one, (ast.Raise, ast.Import, ast.ImportFrom)):
        return True
    if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
        return True
    targets = one.targets if isinstance(one, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id in {"msg", "__all__"} for target in targets)


def _is_block(field: Any) -> bool:
    return isinstance(field, list) and any(isinstance(one, (ast.stmt, ast.ExceptHandler)) for one in field)


def _listed(field: Any) -> list[Any]:
    return field if isinstance(field, list) else [field]


def _parts(node: Any) -> Iterator[ast.AST]:
    """An expression and what it is made of, without types and texts that are put together."""
    if not isinstance(node, ast.AST) or isinstance(node, (ast.JoinedStr, ast.stmt)):
        return
    yield node
    for name, field in ast.iter_fields(node):
        if name not in SILENT:
            for one in _listed(field):
                yield from _parts(one)


def _mistakes(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:  # noqa: C901, PLR0912 a case for each kind
    def setting(name: str, value: Any) -> Callable[[], None]:
        return lambda: setattr(node, name, value)

    match node:
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                new = SWAPPED[type(op)]()
                yield _swap(op, new), lambda i=i, new=new: ops.__setitem__(i, new)
        case ast.BinOp(op=op) | ast.AugAssign(op=op) | ast.BoolOp(op=op) if type(op) in SWAPPED:
            new = SWAPPED[type(op)]()
            yield _swap(op, new), setting("op", new)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert() as op, operand=operand):
            yield f"{type(op).__name__} taken away", lambda: _become(node, operand)
        case ast.Constant(value=bool(value)):
            yield f"{value} becomes {not value}", setting("value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield f"{value} becomes {value + 1}", setting("value", value + 1)
        case ast.Constant(value=str(value)) if value in RENAMED:
            yield f"{value!r} becomes {RENAMED[value]!r}", setting("value", RENAMED[value])
        case ast.Name(id=name) if name in RENAMED and isinstance(node.ctx, ast.Load):
            yield f"{name} becomes {RENAMED[name]}", setting("id", RENAMED[name])
        case ast.Attribute(attr=name) if name in RENAMED and isinstance(node.ctx, ast.Load):
            yield f".{name} becomes .{RENAMED[name]}", setting("attr", RENAMED[name])
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "condition denied", setting("test", ast.UnaryOp(ast.Not(), test))
        case ast.comprehension(ifs=tests) if tests:
            yield "condition of a comprehension denied", setting("ifs", [ast.UnaryOp(ast.Not(), tests[0]), *tests[1:]])
            yield "conditions of a comprehension dropped", setting("ifs", [])
        case ast.Return(value=ast.AST() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield "nothing is returned", setting("value", ast.Constant(None))
        case ast.Expr(value=ast.Call()):
            yield "call left out", setting("value", ast.Constant(None))
        case ast.AugAssign(target=ast.Name() | ast.Attribute()):
            pass  # its sign is turned above
        case ast.Break():
            yield "break becomes continue", lambda: _become(node, ast.Continue())
        case ast.Continue():
            yield "continue becomes break", lambda: _become(node, ast.Break())


def _swap(old: ast.AST, new: ast.AST) -> str:
    return f"{type(old).__name__} becomes {type(new).__name__}"


def _become(node: ast.AST, other: ast.AST) -> None:
    """Make a node another one, wherever it hangs."""
    kept = {name: getattr(node, name) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")}
    node.__class__ = other.__class__
    node.__dict__.clear()
    node.__dict__.update(kept | dict(ast.iter_fields(other)))


def path_of(module: str) -> Path:
    return ROOT / "src" / Path(*module.split(".")).with_suffix(".py")


def modules_of(rooms: list[str]) -> list[str]:
    files = sorted(file for room in rooms for file in (SOURCE / room).rglob("*.py"))
    return [".".join(file.relative_to(ROOT / "src").with_suffix("").parts) for file in files]


def mistakes_of(modules: list[str]) -> list[Mistake]:
    return [
        Mistake(module, number, lines, what)
        for module in modules
        for number, (lines, what, _) in enumerate(changes(ast.parse(path_of(module).read_text(encoding="utf-8"))))
    ]


def code_with(mistake: Mistake) -> CodeType:
    """A module's code with a mistake in it."""
    path = path_of(mistake.module)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    list(changes(tree))[mistake.number][2]()
    return compile(ast.fix_missing_locations(tree), str(path), "exec", dont_inherit=True)


class Suite:
    """Which tests run a line, and how long each of them takes."""

    def __init__(self) -> None:
        from coverage import CoverageData  # noqa: PLC0415 only a child that records may know what else there is

        self._data = CoverageData(str(BUILD / "coverage"))
        self._data.read()
        self._seconds: dict[str, float] = json.loads((BUILD / "seconds.json").read_text(encoding="utf-8"))
        self._lines: dict[str, dict[int, list[str]]] = {}

    def tests_of(self, mistake: Mistake) -> list[str]:
        """The tests that run a mistake's lines, the quickest first."""
        path = str(path_of(mistake.module))
        if path not in self._lines:
            self._lines[path] = self._data.contexts_by_lineno(path)
        found = self._lines[path]
        first, last = mistake.lines
        contexts = {one for line in range(first, last + 1) for one in found.get(line, [])}
        if "" in contexts:  # what runs at import: whoever uses the module
            contexts = {one for line in found.values() for one in line}
        tests = {one.rpartition("|")[0] for one in contexts} & self._seconds.keys()
        return sorted(
            (one for one in tests if self._seconds[one] <= TOO_LONG), key=lambda one: (self._seconds[one], one)
        )

    def seconds(self, tests: list[str]) -> float:
        return sum(self._seconds[one] for one in tests)


class Seconds:
    """A plugin of pytest that keeps how long each test took; those that share a server (`@engines`) are left out."""

    def __init__(self) -> None:
        self.found: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if "@" not in report.nodeid.rpartition("::")[2]:
            self.found[report.nodeid] = self.found.get(report.nodeid, 0.0) + report.duration


def record(jobs: int) -> int:
    """Run every test once, and keep which lines it ran."""
    import pytest  # noqa: PLC0415 in the child

    BUILD.mkdir(parents=True, exist_ok=True)
    os.environ["COVERAGE_FILE"] = str(BUILD / "coverage")
    seconds = Seconds()
    words = ["-q", "-n", str(jobs), "--dist", "loadgroup", "-p", "no:randomly", "--cov", "--cov-context=test"]
    status = pytest.main([*words, "--cov-report=", "--cov-fail-under=0"], plugins=[seconds])
    (BUILD / "seconds.json").write_text(json.dumps(seconds.found), encoding="utf-8")
    return int(status)


def prepare() -> None:
    """Load what tests need and what is not ours, once for all children."""
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "HYPOTHESIS_PROFILE": "mistakes"}
    for package in ("numpy", "scipy.optimize", "pandas", "pyarrow", "narwhals", "sklearn.linear_model", "pytest"):
        importlib.import_module(package)
    from hypothesis import HealthCheck, Phase, settings  # noqa: PLC0415 as the others

    settings.register_profile(
        "mistakes",
        deadline=None,
        database=None,
        derandomize=True,
        max_examples=40,
        phases=[Phase.explicit, Phase.generate],  # that it fails is enough
        suppress_health_check=list(HealthCheck),
    )


class Importer:
    """Hands a module with a mistake to whoever imports it."""

    def __init__(self, mistake: Mistake) -> None:
        self._mistake = mistake
        self._code = code_with(mistake)

    def find_spec(self, name: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        if name != self._mistake.module:
            return None
        loader = importlib.machinery.SourceFileLoader(name, str(path_of(name)))
        loader.get_code = lambda _: self._code  # type: ignore[method-assign]
        return importlib.util.spec_from_file_location(name, loader.path, loader=loader)


def fails(mistake: Mistake | None, tests: list[str]) -> int:
    """In a child: 0 if no test notices a mistake, or that there is none."""
    import pytest  # noqa: PLC0415 loaded by prepare

    if mistake is not None:
        sys.meta_path.insert(0, Importer(mistake))  # type: ignore[arg-type]
    words = ["-x", "-q", "-p", "no:randomly", "-n", "0", "-p", "no:cov", "-p", "no:cacheprovider"]
    # What pytest rewrites it reads from the file: modules whose doctests are run would be without the mistake.
    return int(pytest.main([*words, "--assert=plain", *tests]))


class Children:
    """Work in processes of their own, some at a time, each stopped when it takes too long."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._running: dict[int, tuple[Mistake, float]] = {}

    def start(self, mistake: Mistake, tests: list[str], seconds: float) -> None:
        log = BUILD / "last.log"
        pid = os.fork()
        if not pid:
            os.setsid()
            with log.open("wb") as file:
                os.dup2(file.fileno(), 1)
                os.dup2(file.fileno(), 2)
                status = 1
                try:
                    status = fails(mistake, tests)
                finally:
                    os._exit(status)
        self._running[pid] = mistake, time.monotonic() + seconds

    def stop(self) -> None:
        """End all of it."""
        for pid in self._running:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    @property
    def full(self) -> bool:
        return len(self._running) >= self._jobs

    @property
    def busy(self) -> bool:
        return bool(self._running)

    def ended(self) -> list[tuple[Mistake, int]]:
        """Who is done by now, and how it ended: 0 for no test that noticed, negative for too long."""
        found = []
        for pid, (mistake, until) in list(self._running.items()):
            done, status = os.waitpid(pid, os.WNOHANG)
            if not done and time.monotonic() > until:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                done, status = pid, -1
            if done:
                del self._running[pid]
                found.append((mistake, status if status < 0 else os.waitstatus_to_exitcode(status)))
        return found


def tried(mistakes: list[Mistake], suite: Suite, jobs: int) -> dict[Mistake, str]:
    """What became of each mistake: "noticed", "too long", "survived", "not run" by any test, or "open" if stopped."""
    found: dict[Mistake, str] = dict.fromkeys(mistakes, "open")
    children = Children(jobs)
    try:
        _try_all(mistakes, suite, children, found)
    except KeyboardInterrupt:
        children.stop()
    return found


def _try_all(mistakes: list[Mistake], suite: Suite, children: Children, found: dict[Mistake, str]) -> None:
    """Some quick tests on each mistake; then, on those that none noticed, all others."""
    left = set()  # for the second round
    rest = {one: suite.tests_of(one) for one in mistakes}
    waiting = list(reversed(mistakes))
    while waiting or children.busy:
        while waiting and not children.full:
            mistake = waiting.pop()
            tests, rest[mistake] = rest[mistake][:FIRST], rest[mistake][FIRST:]
            if tests:
                if mistake in left:
                    tests, rest[mistake] = tests + rest[mistake], []
                children.start(mistake, tests, 60 + PATIENCE * suite.seconds(tests))
            else:
                found[mistake] = "not run"
        for mistake, status in children.ended():
            if status == 0 and rest[mistake]:
                left.add(mistake)
                waiting.insert(0, mistake)  # to be looked at by all others, when the quick ones are through
                continue
            found[mistake] = {0: "survived"}.get(status, "noticed" if status >= 0 else "too long")
            if status == 0:
                print(mistake, flush=True)
        time.sleep(0.01)


def wilson(share: float, count: int, z: float = 1.96) -> tuple[float, float]:
    """An interval for a share, of 95 %."""
    middle, half = share + z * z / (2 * count), z * math.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return (middle - half) / (1 + z * z / count), (middle + half) / (1 + z * z / count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", default=["model", "evaluation"], help="folders of src/evenodds")
    parser.add_argument("--sample", type=int, default=500, help="how many mistakes are tried")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="try those that survived the last time")
    parser.add_argument("--recorded", action="store_true", help="trust what was kept of an earlier run of the tests")
    chosen = parser.parse_args()
    kept = BUILD / "survivors.json"
    if chosen.again:
        sample = [Mistake(**one | {"lines": tuple(one["lines"])}) for one in json.loads(kept.read_text("utf-8"))]
        every = len(sample)
    else:
        mistakes = mistakes_of(modules_of(chosen.rooms))
        every = len(mistakes)
        sample = random.Random(chosen.seed).sample(mistakes, min(chosen.sample, every))  # noqa: S311 no secret
    if not chosen.recorded:
        pid = os.fork()
        if not pid:
            os._exit(record(chosen.jobs))
        if os.waitpid(pid, 0)[1]:
            sys.exit("The tests fail as things stand.")
    prepare()
    suite = Suite()
    first = sorted({test for one in sample for test in suite.tests_of(one)[:FIRST]})
    if (pid := os.fork()) == 0:
        some = random.Random(chosen.seed).sample(first, min(CONTROLS, len(first)))  # noqa: S311 no secret
        os._exit(fails(None, some))
    if os.waitpid(pid, 0)[1]:
        sys.exit("Tests fail where there is no mistake, so that they would notice every one.")
    found = tried(sample, suite, chosen.jobs)
    survivors = [one for one, what in found.items() if what in {"survived", "not run"}]
    kept.write_text(json.dumps([asdict(one) for one in survivors], indent=1), encoding="utf-8")
    noticed, unknown = (
        sum(what in {"noticed", "too long"} for what in found.values()),
        list(found.values()).count("open"),
    )
    low, high = wilson(noticed / len(sample), len(sample))
    print()
    for one in sorted(survivors, key=lambda one: (one.module, one.number)):
        line = path_of(one.module).read_text(encoding="utf-8").splitlines()[one.lines[0] - 1].strip()
        print(f"{one}{' (no test runs it)' if found[one] == 'not run' else ''}: {line}")
    shares = f"{noticed / len(sample):.1%} ({low:.1%} to {high:.1%})"
    if unknown:
        shares = f"{noticed / len(sample):.1%} to {(noticed + unknown) / len(sample):.1%}, as {unknown} are open"
    print(f"{noticed} of {len(sample)} mistakes noticed, {shares}, of {every} that can be made.")


if __name__ == "__main__":
    main()
