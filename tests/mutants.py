"""Mutants: small wrong changes of the code, and whether the suite notices them.

``tests/mutants.json`` has mutants, drawn by a seed, and which of them the suite of one commit
caught. After a change of the tests, every mutant that was caught then has to be caught still::

    python tests/mutants.py compare HEAD --folder build/mutants

All mutants are planted in one copy of a commit, as ``(changed if _mutant(7) else original)``; the
variable ``MUTANT`` chooses one. A traced run of the suite says which tests reach which mutant, and
only these are run for it. Work goes on where it was interrupted. The other commands: ``draw`` (new
mutants), ``find`` (where they are in a commit), ``run`` (all mutants) and ``record`` (its results
become those to compare with).

A mutant is known by its function, its statement and the changed part of that, not by its file.
Where a change of the code breaks this, the entry ``now`` of the mutant, a dictionary with those of
``function``, ``statement``, ``node`` that changed, says what to look for.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import difflib
import importlib
import io
import itertools
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
RECORD = Path(__file__).with_suffix(".json")
ROOMS = ("generation", "losses", "penalties", "masters", "pricing", "integer", "additive")
DRAWN = 120
SEED = 53
IDENTITY = ("function", "statement", "node")

# ---------------------------------------------------------------------------- what can be changed

NO_RESULT = re.compile(r"progress|live_line|reporting|protocols")
"""Modules whose results are texts, or which have no code."""
NO_SITE = re.compile(r"__repr__|__str__|_repr_html_|describe|summary|message")
"""Functions that only make texts."""
CLOSE = re.compile(r"tol|eps|tiny|round|slack|digits|finfo|margin|accura|precis|noise|1e-", re.I)
"""Allowances for rounding: many of their mutants change no result."""
NO_NUMBER = re.compile(r"max|iter|level|size|indent|seed|state|verbose|dtype|maxsize|order|strict")
"""Keywords whose number changes no result, or only after a long time."""
LOGS = re.compile(r"warn|debug|info|log|warning|print|isinstance|fields?|replace_text")
WHOLE = re.compile(r"^-?\d+$|^len\(|\.(size|ndim)$|\.shape\[|^n_\w+$|\bcounts?\b|_count$")
"""Texts of whole numbers, where < and <= differ."""

NAMES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "any": "all", "floor": "ceil"}
NAMES |= {other: name for name, other in NAMES.items()}
NEARBY = {ast.Lt: ast.LtE, ast.Gt: ast.GtE, ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn}
NEARBY |= {other: kind for kind, other in NEARBY.items()}
FACING = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}


@dataclass(frozen=True)
class Site:
    """One change of one node, and what it is known by; ``which`` of several equal ones."""

    module: str
    function: str
    statement: str
    node: str
    which: int
    kind: str
    changed: str
    place: ast.AST

    def key(self) -> tuple[str, ...]:
        """What a site is looked up by."""
        return (self.function, self.statement, self.node, self.kind)

    def identity(self) -> dict[str, Any]:
        """The entry of the record."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "place"}


def sources(commit: str, *folders: str) -> dict[str, str]:
    """Texts of the modules below some folders of a commit."""
    command = ["git", "-C", str(ROOT), "archive", commit, *(folders or ("cgboost",))]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        members = [member for member in archive if member.name.endswith(".py")]
        return {m.name: archive.extractfile(m).read().decode("utf-8") for m in members}


def sites(module: str, text: str) -> Iterator[Site]:
    """All changes that a module allows, in the order of its text."""
    seen: dict[tuple[str, ...], int] = defaultdict(int)
    for function, body in functions(ast.parse(text)):
        for statement in statements(body):
            header = shown(statement)
            for kind, node, changed in changes(statement):
                site = Site(module, function, header, ast.unparse(node), 0, kind, changed, node)
                which = seen[site.key()]
                seen[site.key()] += 1
                yield Site(**{**vars(site), "which": which})


def functions(node: ast.AST, above: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Qualified names and nodes of all functions whose results are more than a text."""
    for child in ast.iter_child_nodes(node):
        inner = above
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{above}.{child.name}".lstrip(".")
            if not isinstance(child, ast.ClassDef) and not NO_SITE.search(child.name):
                yield inner, child
        yield from functions(child, inner)


def statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Statements of a function, those of functions and classes in it left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Raise):
            continue
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, ast.expr):
            yield from statements(child)


def shown(statement: ast.stmt) -> str:
    """The text of a statement; of one with a body, its first line."""
    if not hasattr(statement, "body") and not hasattr(statement, "cases"):
        return ast.unparse(statement)
    empty = copy.copy(statement)
    for part in ("orelse", "finalbody", "handlers", "cases"):
        if hasattr(empty, part):
            setattr(empty, part, [])
    if hasattr(empty, "body"):
        empty.body = [ast.Pass()]
    return ast.unparse(empty).split("\n    pass")[0]


def changes(statement: ast.stmt) -> Iterator[tuple[str, ast.AST, str]]:
    """Kind, node and new text of every change of a statement, not of those inside it."""
    if isinstance(statement, ast.AugAssign):
        yield "delete", statement, "pass"
    if isinstance(statement, ast.Return) and is_number(statement.value):
        yield "sign", statement.value, f"-({ast.unparse(statement.value)})"
    answer = statement.value if isinstance(statement, ast.Return) else None
    if isinstance(answer, ast.Constant) and isinstance(answer.value, bool):
        yield "answer", answer, str(not answer.value)
    if isinstance(statement, ast.If):
        yield from negated(statement.test)
    for node in parts(statement):
        if isinstance(node, ast.IfExp):
            yield from negated(node.test)
        for test in getattr(node, "ifs", []):
            yield from negated(test)
        changed = change(node)
        if changed is not None:
            yield (*changed[:1], node, ast.unparse(changed[1]))


def is_number(node: ast.AST | None) -> bool:
    """Whether an expression is clearly arithmetic."""
    operators = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow)
    return isinstance(node, ast.BinOp) and isinstance(node.op, operators) and not is_text(node)


def is_text(node: ast.AST) -> bool:
    """Whether an operation joins texts, lists or tuples."""
    kinds = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
    return any(
        isinstance(part, kinds) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in (getattr(node, "left", node), getattr(node, "right", node))
    )


def negated(test: ast.expr) -> Iterator[tuple[str, ast.AST, str]]:
    """The opposite of a condition, unless another kind of change makes it, or it is of types."""
    is_not = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    if not is_not and "isinstance" not in ast.unparse(test):
        yield "negate", test, f"not ({ast.unparse(test)})"


def parts(node: ast.AST) -> Iterator[ast.AST]:
    """Expressions of a statement, without annotations, texts, messages and patterns."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "msg"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.stmt | ast.pattern):
                continue
            if isinstance(child, ast.JoinedStr) or is_unwanted(child):
                continue
            yield child
            minus = isinstance(child, ast.UnaryOp) and isinstance(child.operand, ast.Constant)
            if not minus:
                yield from parts(child)


def is_unwanted(node: ast.AST) -> bool:
    """Whether a part changes no result: logs, tests of types, sizes and limits, last axes."""
    if isinstance(node, ast.keyword):
        number = isinstance(node.value, ast.Constant | ast.UnaryOp)
        last_axis = node.arg == "axis" and ast.unparse(node.value) == "-1"
        return last_axis or bool(number and NO_NUMBER.search(node.arg or ""))
    if isinstance(node, ast.Call):
        return bool(LOGS.fullmatch(last(ast.unparse(node.func))))
    return False


def change(node: ast.AST) -> tuple[str, ast.AST] | None:
    """Kind and new form of a node, if it has one."""
    if isinstance(node, ast.Constant):
        return number(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return ("not" if isinstance(node.op, ast.Not) else "minus"), node.operand
    new = copy.copy(node)
    if isinstance(node, ast.BoolOp):
        new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return "logic", new
    if isinstance(node, ast.Call):
        new.func = copy.copy(node.func)
        part = "id" if isinstance(node.func, ast.Name) else "attr"
        if getattr(node.func, part, None) not in NAMES:
            return None
        setattr(new.func, part, NAMES[getattr(node.func, part)])
        return "extreme", new
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        kind = type(node.ops[0])
        whole = any(WHOLE.search(ast.unparse(side)) for side in (node.left, *node.comparators))
        new.ops = [(FACING if kind in FACING and not whole else NEARBY)[kind]()]
        return "compare", new
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        if is_text(node) or CLOSE.search(ast.unparse(node)):
            return None
        new.op = ARITHMETIC[type(node.op)]()
        return "arithmetic", new
    return None


def number(node: ast.Constant) -> tuple[str, ast.AST] | None:
    """Another number: 0 and 1 change places, others grow by 1; none for small and large ones."""
    value = node.value
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > 1000:
        return None
    if 0 < abs(value) < 1e-2:
        return None
    return "number", ast.Constant({0: 1, 1: 0}.get(value, value + 1) + type(value)(0))


# -------------------------------------------------------------------------------- draw and find


def draw(commit: str, also: str) -> list[dict[str, Any]]:
    """Mutants of a commit that another one has too: at most one a function, all rooms alike."""
    rng = random.Random(SEED)
    kept = Catalogue(sources(also))
    texts = sources(commit)
    drawn: list[dict[str, Any]] = []
    for index, room in enumerate(ROOMS):
        found: dict[tuple[str, str], dict[str, list[Site]]] = {}
        for module in sorted(texts):
            if not module.startswith(f"cgboost/{room}/") or NO_RESULT.search(module):
                continue
            for site in sites(module, texts[module]):
                if site.key() in kept.exact:
                    kinds = found.setdefault((module, site.function), defaultdict(list))
                    kinds[site.kind].append(site)
        share = DRAWN * (index + 1) // len(ROOMS) - len(drawn)
        for name in sorted(rng.sample(sorted(found), share)):
            kind = rng.choice(sorted(found[name]))
            site = rng.choice(found[name][kind])
            drawn.append({"id": len(drawn), "room": room, **site.identity()})
    return drawn


class Catalogue:
    """All sites of a tree, by what they are known by."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.all = [site for module in sorted(texts) for site in sites(module, texts[module])]
        self.exact: dict[tuple[str, ...], list[Site]] = defaultdict(list)
        for site in self.all:
            self.exact[site.key()].append(site)

    def find(self, mutant: dict[str, Any]) -> tuple[str, Site | None]:
        """How well a mutant was found, and where: the same function, or one that resembles it."""
        if "now" in mutant:
            new = {name: text for name, text in mutant.items() if name != "now"} | mutant["now"]
            found = self.find(new)
            if found[0] == "exact":
                return found
        wanted = mutant
        name = last(wanted["function"])
        parts = [site for site in self.all if site.kind == wanted["kind"]]
        same = [site for site in parts if all(getattr(site, p) == wanted[p] for p in IDENTITY)]
        if same:
            return "exact", self.best(same, wanted)
        same = [s for s in parts if (s.statement, s.node) == (wanted["statement"], wanted["node"])]
        for how, few in (
            ("class renamed", [s for s in same if last(s.function) == name]),
            ("moved into another function", same if len(wanted["statement"]) > 20 else []),
        ):
            if few:
                return how, self.best(few, wanted)
        near = [s for s in parts if last(s.function) == name and resembles(s, wanted) > 0.7]
        return ("statement changed", self.best(near, wanted)) if near else ("gone", None)

    @staticmethod
    def best(found: list[Site], wanted: dict[str, Any]) -> Site:
        """The one with the most alike statement, module and place in the function."""

        def closeness(site: Site) -> tuple[float, ...]:
            same = site.function == wanted["function"]
            module = alike(site.module, wanted["module"])
            return same, resembles(site, wanted), module, site.which == wanted["which"]

        return max(found, key=closeness)


def last(name: str) -> str:
    """A name without what is before its last dot."""
    return name.rsplit(".", 1)[-1]


def resembles(site: Site, wanted: dict[str, Any]) -> float:
    """How alike the texts of a site are to those that are looked for, 0 to 1."""
    return min(alike(site.statement, wanted["statement"]), alike(site.node, wanted["node"]))


def alike(one: str, other: str) -> float:
    """How alike two texts are, 0 to 1."""
    return difflib.SequenceMatcher(None, one, other).ratio()


# ------------------------------------------------------------------------------------ plant

SWITCH = """import mmap, os
CURRENT = int(os.environ.get("MUTANT", "-1"))
HITS = bytearray(1000)
if "MUTANT_HITS" in os.environ:
    with open(os.environ["MUTANT_HITS"], "r+b") as file:
        HITS = mmap.mmap(file.fileno(), 0)
def mutant(k):
    HITS[k] = 1
    return k == CURRENT
"""
"""The module that the planted code imports. Processes of one worker share their hits in a file."""


def plant(commit: str, tree: Path, mutants: list[dict[str, Any]]) -> dict[int, str]:
    """Copy a commit with all mutants in it, with an interpreter of its own; how each was found."""
    how: dict[int, str] = {}
    wanted: dict[str, list[tuple[int, Site]]] = defaultdict(list)
    texts = sources(commit)
    catalogue = Catalogue(texts)
    for mutant in mutants:
        how[mutant["id"]], site = catalogue.find(mutant)
        if site is not None:
            wanted[site.module].append((mutant["id"], site))
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    packed = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=True
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(tree, filter="data")
    for module, places in wanted.items():
        text, left_out = planted(texts[module], places)
        how.update(dict.fromkeys(left_out, "overlaps another mutant"))
        (tree / module).write_text(text, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tree / ".venv"], check=True)
    (packages,) = (tree / ".venv").glob("lib/python*/site-packages")
    others = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "aa_here.pth").write_text(f"{tree}\n")
    (packages / "zz_others.pth").write_text("\n".join(others) + "\n")
    (packages / "mutant_switch.py").write_text(SWITCH)
    return how


def planted(text: str, places: list[tuple[int, Site]]) -> tuple[str, list[int]]:
    """A module with its mutants, on the same lines, and those that overlap another one."""
    raw = text.encode("utf-8")
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    spans = []
    for k, site in places:
        node: Any = site.place
        start = starts[node.lineno - 1] + node.col_offset
        spans.append((start, starts[node.end_lineno - 1] + node.end_col_offset, k, site))
    left_out = []
    before = len(raw)
    for start, end, k, site in sorted(spans, key=lambda span: span[:2], reverse=True):
        if end > before:
            left_out.append(k)
            continue
        old = raw[start:end]
        new = f"if not _mutant({k}): ".encode() + old
        if site.kind != "delete":
            new = f"(({site.changed}) if _mutant({k}) else (".encode() + old + b"))"
        raw = raw[:start] + new + raw[end:]
        before = start
    first = next(node for node in ast.parse(text).body if not is_opening(node))
    line = b"from mutant_switch import mutant as _mutant"
    line += b"; " if isinstance(first, ast.Import | ast.ImportFrom) else b"\n"
    at = starts[first.lineno - 1]
    raw = raw[:at] + line + raw[at:]
    compile(raw, "planted", "exec")
    return raw.decode("utf-8"), left_out


def is_opening(node: ast.stmt) -> bool:
    """Whether a statement has to stay at the start of its module."""
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


# ------------------------------------------------------- in the processes of pytest: -p mutants


class Trace:
    """Write for every test its time, its outcome and the mutants that it reached."""

    def __init__(self, folder: Path) -> None:
        name = os.environ.get("PYTEST_XDIST_WORKER", "main")
        lines = [line for file in folder.glob("*.jsonl") for line in file.read_text().splitlines()]
        self.done = {json.loads(line)["test"] for line in lines}
        self.file = folder / f"{name}.jsonl"
        hits = folder / f"{name}.hits"
        hits.write_bytes(bytes(1000))
        os.environ["MUTANT_HITS"] = str(hits)
        self.hits = importlib.import_module("mutant_switch").HITS
        self.phases: dict[str, Any] = {}

    def taken(self) -> list[int]:
        """The mutants reached since the last call."""
        found = [k for k, hit in enumerate(self.hits[:]) if hit]
        self.hits[:] = bytes(len(self.hits))
        return found

    def write(self, **entry: Any) -> None:
        """Append one line."""
        with self.file.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the tests that an interrupted run has done."""
        items[:] = [item for item in items if item.nodeid not in self.done]

    def pytest_collection_finish(self) -> None:
        """What imports reach belongs to no test."""
        self.write(test="", seconds=0.0, passed=False, setup=[], call=self.taken())

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Each test has three phases; the last writes."""
        if "PYTEST_XDIST_WORKER" not in os.environ and hasattr(report, "node"):
            return
        self.phases[report.when] = (report.outcome, report.duration, self.taken())
        if report.when != "teardown":
            return
        self.write(
            test=report.nodeid,
            seconds=round(sum(phase[1] for phase in self.phases.values()), 3),
            passed=all(phase[0] == "passed" for phase in self.phases.values()),
            outcome=[phase[0] for phase in self.phases.values()],
            setup=self.phases["setup"][2],
            call=sorted(set(self.phases.get("call", (0, 0, []))[2] + self.phases["teardown"][2])),
        )
        self.phases = {}


class Hunt:
    """Run the wanted tests in the wanted order, and write which is running and which failed."""

    def __init__(self, report: Path) -> None:
        self.report = report
        self.wanted = json.loads(report.with_suffix(".wanted").read_text())
        self.ran = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the wanted tests."""
        place = {test: index for index, test in enumerate(self.wanted)}
        items[:] = sorted((i for i in items if i.nodeid in place), key=lambda i: place[i.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """For the process that watches the time."""
        self.ran += 1
        self.report.with_suffix(".now").write_text(nodeid)

    def failed(self, report: Any) -> None:
        """Write the first failure."""
        if report.failed and not self.report.exists():
            crash = getattr(report.longrepr, "reprcrash", None)
            text = str(crash.message if crash else report.longrepr).strip().splitlines()
            said = {"test": report.nodeid, "ran": self.ran, "error": (text or [""])[-1][:200]}
            said["error"] = (text or [""])[0][:200] if crash else said["error"]
            self.report.write_text(json.dumps(said))

    pytest_runtest_logreport = failed
    pytest_collectreport = failed


def pytest_configure(config: pytest.Config) -> None:
    """Start the part that the environment asks for."""
    if "MUTANT_TRACE" in os.environ:
        config.pluginmanager.register(Trace(Path(os.environ["MUTANT_TRACE"])))
    if "MUTANT_REPORT" in os.environ:
        config.pluginmanager.register(Hunt(Path(os.environ["MUTANT_REPORT"])))


# ---------------------------------------------------------------------------------- run

STEPS = (15.0, 45.0, 90.0, 400.0)
"""Seconds of tests, as measured without a mutant: steps in which all mutants are hunted."""
HANGS = (60.0, 20.0)
"""A test hangs that takes this long and this many times the longest one of its file."""
MEMORY = 10 * 2**30
"""Bytes that one process may address: a mutant may ask for any number of them."""
NUMBERS = itertools.count()
"""Numbers of the folders of attempts."""


class Work:
    """The folder of one run: the planted tree, what tests reach, and the results so far."""

    def __init__(self, folder: Path, commit: str, mutants: list[dict[str, Any]]) -> None:
        self.folder = folder.resolve()
        self.tree = self.folder / "tree"
        self.traces = self.folder / "traces"
        self.file = self.folder / "results.json"
        self.mutants = {mutant["id"]: mutant for mutant in mutants}
        self.lock = threading.Lock()
        name = subprocess.run(
            ["git", "-C", str(ROOT), "rev-parse", "--short=8", commit],
            capture_output=True,
            text=True,
            check=True,
        )
        commit = name.stdout.strip()
        if self.file.exists():
            self.state = json.loads(self.file.read_text())
            if self.state["commit"] != commit:
                raise SystemExit(f"{folder} has a run of {self.state['commit']}, not of {commit}")
        else:
            self.traces.mkdir(parents=True, exist_ok=True)
            how = plant(commit, self.tree, mutants)
            self.state = {"commit": commit, "found": how, "results": {}, "sound": [], "unfit": []}
            self.save()
        (packages,) = (self.tree / ".venv").glob("lib/python*/site-packages")
        shutil.copy(__file__, packages / "mutants.py")
        self.found = {int(k): how for k, how in self.state["found"].items()}
        self.results: dict[str, Any] = self.state["results"]

    def save(self) -> None:
        """Write the results, as a whole or not at all."""
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.state, indent=1, ensure_ascii=False))
        new.replace(self.file)

    def environment(self, **more: str) -> dict[str, str]:
        """Variables of a run: linear algebra has one thread."""
        one = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        others = ("MUTANT", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
        kept = {name: text for name, text in os.environ.items() if not name.startswith(others)}
        return {**kept, **one, **more}

    def command(self, *options: str) -> list[str]:
        """Pytest in the planted tree."""
        python = str(self.tree / ".venv" / "bin" / "python")
        return [python, "-m", "pytest", "-q", "-p", "mutants", "-p", "no:cacheprovider", *options]

    def trace(self) -> None:
        """One run of the whole suite without a mutant."""
        if self.state.get("traced"):
            return
        start = time.monotonic()
        with (self.folder / "trace.log").open("a") as log:
            done = subprocess.run(
                self.command("-n", "2", "--dist", "worksteal"),
                cwd=self.tree,
                env=self.environment(MUTANT_TRACE=str(self.traces)),
                stdout=log,
                stderr=log,
                check=False,
            )
        if done.returncode not in (0, 1):
            raise SystemExit(f"the traced run ended with {done.returncode}: see trace.log")
        self.state["traced"] = {"wall": round(time.monotonic() - start), "rc": done.returncode}
        self.save()

    def covering(self) -> tuple[dict[int, list[str]], dict[str, float]]:
        """Tests that reach each mutant, the most telling first, and the seconds of every test."""
        lines = [
            json.loads(line)
            for file in self.traces.glob("*.jsonl")
            for line in file.read_text().splitlines()
        ]
        passed = {line["test"]: line for line in lines if line["passed"]}
        seconds = {test: line["seconds"] for test, line in passed.items()}
        by_file = defaultdict(list)
        for test in passed:
            by_file[file_of(test)].append(test)
        keeps = {
            file
            for file in by_file
            if re.search(r"@cache|lru_cache|scope=", (self.tree / file).read_text())
        }
        reached: dict[int, list[str]] = {}
        for k, mutant in self.mutants.items():
            own = {test for test, line in passed.items() if k in line["call"] or k in line["setup"]}
            # A fixture or a cached function reaches a mutant once, for all tests of the file.
            files = {file_of(test) for test in own} & keeps
            shared = {test for file in files for test in by_file[file]} - own
            reached[k] = ranked(own, seconds, mutant) + ranked(shared, seconds, mutant)
        return reached, seconds

    def hunt(
        self, k: int, tests: list[str], seconds: dict[str, float], until: float
    ) -> dict[str, Any]:
        """Go on with one mutant until a test fails, or the tests so far take ``until`` seconds."""
        new = {"status": "survived" if tests else "uncovered", "ran": 0, "cpu": 0.0, "wall": 0.0}
        result: dict[str, Any] = {**new, "covering": len(tests), **self.results.get(str(k), {})}
        first = first_of(tests, seconds, until)[result["ran"] :]
        batch = sorted(
            set(first) - set(self.state["unfit"]), key=lambda t: (file_of(t), seconds[t])
        )
        while batch:
            said = self.attempt(k, batch, seconds)
            result["cpu"] = round(result["cpu"] + said["cpu"], 1)
            result["wall"] = round(result["wall"] + said["wall"], 1)
            if said["status"] == "survived":
                break
            if said["status"] == "slow" or self.is_sound(said["test"], seconds):
                result |= {key: said[key] for key in ("status", "test", "error")}
                return result | {"ran": result["ran"] + said["ran"]}
            batch = [test for test in batch if said["test"] not in (test, file_of(test))]
        return result | {"ran": result["ran"] + len(first)}

    def is_sound(self, test: str, seconds: dict[str, float]) -> bool:
        """Whether a test that failed passes alone, without a mutant."""
        if test not in self.state["sound"]:
            said = self.attempt(-1, [test], seconds)
            with self.lock:
                self.state["sound" if said["status"] == "survived" else "unfit"].append(test)
                self.save()
        return test in self.state["sound"]

    def attempt(self, k: int, tests: list[str], seconds: dict[str, float]) -> dict[str, Any]:
        """One process of pytest with one mutant: survived, caught, hangs or slow."""
        place = self.folder / "runs" / f"{k}-{next(NUMBERS)}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        report = place / "report"
        report.with_suffix(".wanted").write_text(json.dumps(tests))
        files = list(dict.fromkeys(file_of(test) for test in tests))
        start = time.monotonic()
        with (place / "log").open("w") as log, scratch() as temporary:
            process = subprocess.Popen(
                self.command("-x", "-p", "no:xdist", *files),
                cwd=self.tree,
                env=self.environment(MUTANT=str(k), MUTANT_REPORT=str(report), TMPDIR=temporary),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            resource.prlimit(process.pid, resource.RLIMIT_AS, (MEMORY, MEMORY))
            late, usage, code = self.watch(process, report, tests, seconds)
            end_group(process.pid, temporary)
        now = report.with_suffix(".now")
        said = {
            "status": "survived",
            "wall": time.monotonic() - start,
            "cpu": usage,
            "test": now.read_text() if now.exists() else files[0],
            "error": late or f"exit code {code}",
            "ran": 0,
        }
        if late:
            said["status"] = late.split(":")[0]
        elif report.exists():
            said |= json.loads(report.read_text()) | {"status": "caught"}
        elif code not in (0, 5):
            said["status"] = "caught"
        return said

    def watch(
        self, process: subprocess.Popen[bytes], report: Path, tests: list[str], seconds: Any
    ) -> tuple[str, float, int]:
        """Wait for a process: why it was ended, its CPU seconds with its children's, its code."""
        start = time.time()
        most = 300.0 + 5 * sum(seconds.get(test, 5.0) for test in tests)
        now = report.with_suffix(".now")
        # Any test of a file may be the one that has to wait for its fixtures.
        longest: dict[str, float] = defaultdict(float)
        for test, its_time in seconds.items():
            longest[file_of(test)] = max(longest[file_of(test)], its_time)
        late = ""
        while True:
            done, code, usage = os.wait4(process.pid, os.WNOHANG)
            if done:
                process.returncode = os.waitstatus_to_exitcode(code)
                return late, usage.ru_utime + usage.ru_stime, process.returncode
            time.sleep(0.2)
            since, test = start, "import"
            if now.exists():
                since, test = now.stat().st_mtime, now.read_text()
            patience = HANGS[0] + HANGS[1] * longest.get(file_of(test), 5.0)
            if time.time() - since > patience + (120 if test == "import" else 0):
                late = f"hangs: {time.time() - since:.0f} s, {seconds.get(test)} s without"
            elif time.time() - start > most:
                late = f"slow: more than {most:.0f} s"
            if late:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def has(self, test: str) -> bool:
        """Whether the file of a test exists."""
        return (self.tree / file_of(test)).exists()

    def settle(
        self,
        hunts: list[tuple[int, list[str]]],
        seconds: dict[str, float],
        until: float,
        final: bool = True,
    ) -> None:
        """Hunt mutants, two at a time, and keep every result; of a first try, only catches."""

        def one(hunt: tuple[int, list[str]]) -> None:
            k, tests = hunt
            result = self.hunt(k, tests, seconds, until)
            with self.lock:
                if final or result["status"] == "caught":
                    self.results[str(k)] = result
                self.save()
                said = f"{k}: {result['status']} {result.get('test', '')}"
                print(f"{said} ({result['ran']} of {result['covering']} tests)", flush=True)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(one, hunts))

    def run(self, wanted: list[int]) -> None:
        """Trace the suite, then hunt what is wanted and has no result."""
        self.trace()
        reached, seconds = self.covering()
        left = [k for k in wanted if self.is_open(k)]
        planted = [k for k in left if self.found[k] not in ("gone", "overlaps another mutant")]
        self.results.update({str(k): {"status": "gone"} for k in left if k not in planted})
        for until in STEPS:
            self.settle([(k, reached[k]) for k in planted if self.is_open(k)], seconds, until)

    def is_open(self, k: int) -> bool:
        """Whether more tests may catch a mutant."""
        result = self.results.get(str(k), {"status": "survived", "ran": 0, "covering": 1})
        return result["status"] == "survived" and result["ran"] < result["covering"]


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """A temporary folder with a short name, as sockets need; others may read it."""
    folder = Path(f"/tmp/mu{os.getpid()}-{next(NUMBERS)}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755)
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def end_group(group: int, temporary: str) -> None:
    """End what a run left: processes of its group, and those with its temporary folder."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"TMPDIR={temporary}\0".encode() in (entry / "environ").read_bytes():
                os.kill(int(entry.name), signal.SIGKILL)


def ranked(tests: set[str], seconds: dict[str, float], mutant: dict[str, Any]) -> list[str]:
    """First tests of the mutant's module, then the cheapest of every file in turn."""
    own = Path(mutant["module"].replace("cgboost/", "tests/", 1))
    mirror = str(own.with_name(f"test_{own.name}"))
    by_file: dict[str, list[str]] = defaultdict(list)
    for test in sorted(tests, key=lambda test: (seconds[test], test)):
        by_file[file_of(test)].append(test)
    first = by_file.pop(mirror, [])
    turns: list[tuple[int, int, str]] = []
    for file, found in by_file.items():
        near = sum(one == other for one, other in zip(Path(file).parts, own.parts, strict=False))
        turns += [(turn, -near, test) for turn, test in enumerate(found)]
    return first + [test for *_, test in sorted(turns, key=lambda t: (*t[:2], seconds[t[2]]))]


def first_of(tests: list[str], seconds: dict[str, float], until: float) -> list[str]:
    """The tests at the start of a list that take some time together, at least one."""
    times = itertools.accumulate(seconds[test] + 0.01 for test in tests)
    return tests[: 1 + sum(time < until for time in times)]


def file_of(test: str) -> str:
    """The file of a test."""
    return test.split("::")[0]


# ----------------------------------------------------------------------------- commands


def compare(work: Work) -> int:
    """Hunt those that were caught, first with the tests that caught them; list what is lost."""
    caught = [k for k, m in work.mutants.items() if m["result"]["status"] in ("caught", "hangs")]
    there = [k for k in caught if work.found[k] not in ("gone", "overlaps another mutant")]
    if "traced" not in work.state:
        # A test that still catches its mutant needs no traced run.
        left = [k for k in there if str(k) not in work.results]
        killers = [(k, [work.mutants[k]["result"]["test"]]) for k in left]
        there_still = [(k, tests) for k, tests in killers if work.has(*tests)]
        work.settle(there_still, defaultdict(lambda: 5.0), 1.0, final=False)
    if any(str(k) not in work.results or work.is_open(k) for k in caught):
        work.run(caught)
    lost = [k for k in caught if work.results[str(k)]["status"] not in ("caught", "hangs")]
    for k in lost:
        mutant, result = work.mutants[k], work.results[str(k)]
        print(f"{k} {result['status']} ({work.found[k]}): {mutant['module']} {mutant['function']}")
        print(f"    {mutant['statement']}\n    {mutant['node']} -> {mutant['changed']}")
        print(f"    before: {mutant['result']['test']}")
    print(f"{len(caught)} were caught, {len(caught) - len(lost)} are, {len(lost)} are not")
    return len(lost)


def write(record: dict[str, Any]) -> None:
    """Write the record."""
    RECORD.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main() -> int:
    """Run one command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["draw", "find", "run", "record", "compare"])
    parser.add_argument("commit", nargs="?", default="HEAD")
    parser.add_argument("--also", default="HEAD", help="draw: a commit that has the mutants, too")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--only", type=int, nargs="*", help="run: some mutants")
    given = parser.parse_args()
    if given.command == "draw":
        drawn = draw(given.commit, given.also)
        write({"seed": SEED, "drawn from": [given.commit, given.also], "mutants": drawn})
        return 0
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    mutants = record["mutants"]
    if given.command == "find":
        catalogue = Catalogue(sources(given.commit))
        for mutant in mutants:
            how, site = catalogue.find(mutant)
            print(f"{mutant['id']} {how}: {site and (site.module, site.function, site.statement)}")
        return 0
    work = Work(given.folder, given.commit, mutants)
    if given.command == "run":
        work.run(given.only or list(work.mutants))
    elif given.command == "record":
        kept = ("status", "test", "error", "covering", "ran")
        for mutant in mutants:
            result = work.results[str(mutant["id"])]
            mutant["result"] = {key: result[key] for key in kept if key in result}
        write({**record, "results of": work.state["commit"]})
    else:
        return compare(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())
