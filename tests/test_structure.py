"""Walls: which room may import which, no circles, and faces that load what is asked for."""

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOPS = ("cgboost", "solvers")

Graph = dict[str, set[str]]

GROUND = {"arrays", "exceptions", "tolerances", "forks", "optional", "compiled", "_version"}
"""Modules that every room may import; they import each other at most."""

ALLOWED = {
    "_solvers": {"solvers"},
    "parallel": set(),
    "losses": set(),
    "generation": {"above"},
    "penalties": {"losses", "generation"},
    "kernels": {"generation", "tables"},
    "tables": {"parallel"},
    "additive": {"tables", "losses", "generation", "parallel"},
    "optimizers": {"losses", "penalties", "generation", "parallel", "solvers"},
    "masters": {"optimizers", "losses", "penalties", "generation", "solvers"},
    "pricing": {"generation", "kernels", "losses", "penalties", "tables", "additive", "parallel"},
    "integer": {"generation", "optimizers", "masters", "pricing", "parallel", "solvers", "above"},
    "estimators": {
        *("above", "generation", "losses", "penalties", "kernels", "tables", "additive"),
        *("optimizers", "masters", "pricing", "parallel", "solvers"),
    },
    "constraints": {"estimators"},
    "linear": {"estimators"},
    "routing": {"integer"},
    "sources": {"additive", "tables"},
    "proofs": {
        *("estimators", "generation", "losses", "penalties", "optimizers", "masters", "pricing"),
        *("integer", "kernels"),
    },
    "persistence": {"generation"},
    "inspection": {
        *("estimators", "integer", "persistence", "generation", "losses", "kernels", "tables"),
        *("additive", "pricing", "proofs"),
    },
    "studies": {
        *("estimators", "inspection", "persistence", "generation", "kernels", "explain", "proofs"),
        *("solvers", "cgboost"),
    },
    "above": set(),
    "explain": set(),
    "cgboost": set(),
    "solvers": set(),
}
"""The rooms of cgboost (folders and modules at its root) that each may import, besides GROUND."""

ABOVE = "above"
"""The one module below that imports rooms above it, each inside a function."""


def module_name(path: Path) -> str:
    """The dotted name of a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for top in TOPS for path in ROOT.glob(f"{top}/**/*.py")}


@functools.cache
def doors() -> dict[str, str]:
    """The names of the faces that load lazily, and the module that each comes from."""
    found = {}
    for face in (name for name, path in FILES.items() if path.with_suffix(".pyi").exists()):
        for node in ast.parse(FILES[face].with_suffix(".pyi").read_text("utf-8")).body:
            if not isinstance(node, ast.ImportFrom):
                continue
            for alias in node.names:
                found[f"{face}.{alias.name}"] = f"{face}.{node.module or alias.name}"
    return found


def imported(name: str, text: str) -> Iterator[str]:
    """Modules of ours that a module imports anywhere: inside functions and for types too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom):
            source = absolute(name, node)
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                module = doors().get(inner, inner if inner in FILES else source)
                if module in FILES:
                    yield module


def absolute(name: str, node: ast.ImportFrom) -> str:
    """The module that is imported from: relative in ``solvers``, which has two names."""
    is_relative = name.startswith("solvers") and is_own(node)
    assert is_relative == (node.level > 0), f"{name}: {node.module}"
    if not node.level:
        return "solvers" if node.module == "cgboost._solvers" else str(node.module)
    above = name.split(".") if FILES[name].stem == "__init__" else name.split(".")[:-1]
    parts = above[: len(above) - node.level + 1]
    return ".".join([*parts, node.module] if node.module else parts)


def is_own(node: ast.ImportFrom) -> bool:
    """Whether the package itself is imported from."""
    return node.level > 0 or str(node.module).split(".")[0] == "solvers"


@functools.cache
def modules() -> Graph:
    """Every module and those it imports."""
    return {name: set(imported(name, path.read_text("utf-8"))) for name, path in FILES.items()}


def below() -> Graph:
    """The same without what the module ABOVE is there for."""
    return {name: set() if room(name) == ABOVE else others for name, others in modules().items()}


def room(name: str) -> str:
    """The folder or module right below ``cgboost`` that a module is in; ``solvers`` is one."""
    parts = name.split(".")
    return parts[1] if parts[0] == "cgboost" and len(parts) > 1 else parts[0]


def rooms_of_solvers() -> Graph:
    """The folders of ``solvers`` and the modules beside them."""
    own = {name: others for name, others in modules().items() if name.startswith("solvers")}
    graph: Graph = {}
    for name, others in own.items():
        start = ".".join(name.split(".")[:2])
        ends = {".".join(other.split(".")[:2]) for other in others}
        graph.setdefault(start, set()).update(ends - {start})
    return graph


def wrong(name: str, others: set[str]) -> list[str]:
    """The imports of a module that a wall forbids."""
    own = room(name)
    may = ALLOWED.get(own, set()) | GROUND | {own}
    return [f"{name} → {other}" for other in sorted(others) if room(other) not in may]


def circle(graph: Graph) -> list[str]:
    """Some circle of arrows; empty if there is none."""
    done: set[str] = set()

    def search(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            found = search(other, [*way, name])
            if found:
                return found
        done.add(name)
        return []

    return next((found for name in graph if (found := search(name, []))), [])


def test_a_circle_is_found():
    """The search sees a circle behind a chain, an import of oneself, and no circle in a diamond."""
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}}) == ["b", "c", "d", "b"]
    assert circle({"a": {"a"}}) == ["a", "a"]
    assert circle({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}) == []


def test_what_is_imported_is_there():
    """Mypy takes a module that it does not find for a foreign one without types."""
    lost = [
        f"{name}: {node.module}.{alias.name}"
        for name, path in FILES.items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        and (source := absolute(name, node)).partition(".")[0] in TOPS
        for alias in node.names
        if source not in FILES and f"{source}.{alias.name}" not in FILES
    ]
    assert lost == []


def test_no_circle_among_modules():
    """No module imports itself on any way, those inside functions and for types included."""
    assert not circle(below()), " → ".join(circle(below()))


def test_no_circle_among_rooms():
    """The table of walls has no circle, and neither have the folders of solvers."""
    assert not circle(ALLOWED), " → ".join(circle(ALLOWED))
    assert not circle(rooms_of_solvers()), " → ".join(circle(rooms_of_solvers()))


def test_every_room_has_its_line():
    """No room is forgotten in the table, and none is in it that is not there."""
    rooms = {room(name) for name in FILES} - GROUND
    assert rooms == set(ALLOWED)


@pytest.mark.parametrize("own", sorted({room(name) for name in FILES} - {ABOVE}))
def test_walls_hold(own):
    """A room imports no other than those that the table names."""
    found = [
        line
        for name, others in modules().items()
        if room(name) == own
        for line in wrong(name, others)
    ]
    assert found == []


def test_one_module_knows_the_rooms_above():
    """It imports them inside functions alone: persistence, inspection and proofs."""
    text = FILES[f"cgboost.{ABOVE}"].read_text("utf-8")
    rooms = {room(name) for name in imported("cgboost.above", text)}
    assert rooms == {"inspection", "persistence", "proofs"}
    outside = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    assert not [node for node in outside if str(node.module).startswith("cgboost")]


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    from cgboost.persistence.models import save\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from cgboost import inspection\n",
        "from cgboost.masters import LinearMaster\n",
        "import cgboost.estimators.common.base_ensemble\n",
    ],
)
def test_a_wrong_import_is_caught(text):
    """Planted in a module of losses: inside a function, for types, through a face, as a whole."""
    assert wrong("cgboost.losses.hinge", set(imported("cgboost.losses.hinge", text)))


LOADED = """
import sys
import cgboost
assert not [name for name in sys.modules if name.startswith(("cgboost.est", "cgboost.los"))]
cgboost.{name}
print(len([name for name in sys.modules if name.partition(".")[0] in ("cgboost", "solvers")]))
"""


@pytest.mark.parametrize(("name", "most"), [("AdaBoostClassifier", 90), ("CGBoostClassifier", 192)])
def test_a_first_name_loads_what_it_needs(name, most):
    """The face of the package loads nothing; an estimator a part of the modules that there are."""
    code = LOADED.format(name=name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= most < len(FILES) / 2
