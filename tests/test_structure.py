"""Who imports whom, and how full the folders are: the layers of the architecture page."""

import ast
import functools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOPS = ("cgboost", "solvers")
MOST_FILES = 15
MOST_ROOMS = 13

Graph = dict[str, set[str]]


def module_name(path: Path) -> str:
    """The dotted name of a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for top in TOPS for path in ROOT.glob(f"{top}/**/*.py")}


def imported(name: str) -> Iterator[str]:
    """Modules of ours that a module imports anywhere: inside functions and for types too."""
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom):
            source = absolute(name, node)
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                module = inner if inner in FILES else source
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
    return {name: set(imported(name)) for name in FILES}


def rooms() -> Graph:
    """Folders right below ``cgboost`` and ``solvers``, and the modules beside them."""
    graph: Graph = {}
    for name, others in modules().items():
        own = room(name)
        graph.setdefault(own, set()).update({room(other) for other in others} - {own})
    return graph


def room(name: str) -> str:
    """The folder right below the top that a module is in."""
    return ".".join(name.split(".")[:2])


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


def test_no_circle_among_modules():
    """No module imports itself on any way, those inside functions and for types included."""
    assert not circle(modules()), " → ".join(circle(modules()))


def test_no_circle_among_rooms():
    """The packages of cgboost and of solvers import each other in one direction."""
    assert not circle(rooms()), " → ".join(circle(rooms()))


@pytest.mark.parametrize(
    ("below", "above"),
    [
        ("solvers", "cgboost"),
        ("cgboost.masters", "cgboost.pricing"),
        ("cgboost.masters", "cgboost.kernels"),
        ("cgboost.masters", "cgboost.estimators"),
        ("cgboost.pricing", "solvers"),
        ("cgboost.pricing", "cgboost.masters"),
        ("cgboost.pricing", "cgboost.estimators"),
        ("cgboost.kernels", "cgboost.pricing"),
        ("cgboost.losses", "cgboost.masters"),
        ("cgboost.generation", "solvers"),
    ],
)
def test_imports_point_one_way(below, above):
    """No module of the lower layer imports one of the layer above it."""
    assert arrows(below, above) == []


def arrows(start: str, end: str) -> list[str]:
    """Imports of modules below ``end`` in modules below ``start``."""

    def inside(name: str, top: str) -> bool:
        return name == top or name.startswith(f"{top}.")

    return [
        f"{name} → {other}"
        for name, others in modules().items()
        if inside(name, start)
        for other in sorted(others)
        if inside(other, end)
    ]


def test_the_loop_imports_only_exceptions_and_tolerances():
    """Of cgboost, the loop knows its own folder, the exceptions and the shared tolerances."""
    known = {
        other
        for name, others in modules().items()
        for other in others
        if name.startswith("cgboost.generation")
    }
    allowed = {"cgboost.generation", "cgboost.exceptions", "cgboost.tolerances"}
    assert {room(other) for other in known} <= allowed


def test_no_folder_is_full():
    """A folder holds at most fifteen Python files."""
    counts = Counter(str(path.parent.relative_to(ROOT)) for path in FILES.values())
    assert {folder: n for folder, n in counts.items() if n > MOST_FILES} == {}


def test_the_root_has_few_rooms():
    """At most thirteen folders stand at the root of cgboost."""
    folders = [
        path.name for path in (ROOT / "cgboost").iterdir() if (path / "__init__.py").exists()
    ]
    assert len(folders) <= MOST_ROOMS, sorted(folders)
