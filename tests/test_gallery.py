"""The scripts of the gallery run, draw, and say in their first lines what they are."""

import ast
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"
SCRIPTS = sorted(path.relative_to(GALLERY).as_posix() for path in GALLERY.rglob("plot_*.py"))


@pytest.fixture(autouse=True)
def without_a_display() -> Iterator[None]:
    """Figures are drawn in memory, and closed."""
    backend = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(backend)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example_runs_and_draws(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It needs no files, gives no warnings, and no block draws on the figures of an earlier one.

    The gallery takes the pictures of pyplot's figures, and closes them, after each block.
    """
    source = (GALLERY / name).read_text(encoding="utf-8")
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)  # where its functions are looked up
    figures = []
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for block in re.split(r"^# %%$", source, flags=re.MULTILINE):
            exec(compile(block, name, "exec"), module.__dict__)
            figures += [plt.figure(number) for number in plt.get_fignums()]
            for figure in figures[len(figures) - len(plt.get_fignums()) :]:
                figure.canvas.draw()
            plt.close("all")
    assert figures
    assert not [figure for figure in figures if figure.stale]


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example_begins_with_its_title(name: str) -> None:
    """The gallery makes a page of the first docstring: a title, underlined in full, and a text."""
    text = ast.get_docstring(ast.parse((GALLERY / name).read_text(encoding="utf-8")))
    title, line, empty, first, *_ = text.splitlines()
    assert line == "=" * len(title)
    assert empty == ""
    assert first


def test_the_gallery_is_no_smaller_than_it_says() -> None:
    """There are at least eight examples, all in a group, with the prefix that has them executed."""
    assert len(SCRIPTS) >= 8
    assert {path.relative_to(GALLERY).as_posix() for path in GALLERY.rglob("*.py")} == set(SCRIPTS)
    assert all((GALLERY / name).with_name("GALLERY_HEADER.rst").exists() for name in SCRIPTS)
    assert not list(GALLERY.glob("*.py"))
