"""The scripts of the gallery run, draw, and say in their first lines what they are."""

import ast
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

GALLERY = Path(__file__).parents[1] / "examples" / "gallery"
SCRIPTS = sorted(path.name for path in GALLERY.glob("plot_*.py"))


@pytest.fixture(autouse=True)
def without_a_display() -> Iterator[None]:
    """Figures are drawn in memory, and closed."""
    backend = mpl.get_backend()
    plt.switch_backend("Agg")
    yield
    plt.close("all")
    plt.switch_backend(backend)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example_runs_and_draws(name: str) -> None:
    """It needs no files and gives no warnings, and pyplot, and so the gallery, sees its figures."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        runpy.run_path(str(GALLERY / name), run_name="__main__")
    assert plt.get_fignums()
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_example_begins_with_its_title(name: str) -> None:
    """The gallery makes a page of the first docstring: a title, underlined in full, and a text."""
    text = ast.get_docstring(ast.parse((GALLERY / name).read_text(encoding="utf-8")))
    title, line, empty, first, *_ = text.splitlines()
    assert line == "=" * len(title)
    assert empty == ""
    assert first


def test_the_gallery_is_no_smaller_than_it_says() -> None:
    """There are at least eight examples, all with the prefix that has them executed."""
    assert len(SCRIPTS) >= 8
    assert {path.name for path in GALLERY.glob("*.py")} == set(SCRIPTS)
