"""The interactive page of the site: its scenes are runs of the loop, its file is complete.

`make docs` walks through its steps in a browser (`docs/_build/check_interactive.py`).
"""

import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "interactive"
sys.path[:0] = [str(ROOT / "docs" / "_build" / "extensions"), str(FOLDER)]

import scenes  # noqa: E402
from interactive_page import PICTURES, assembled  # noqa: E402

LARGEST = 300_000
"""Bytes of the page, and of the moving picture."""
ACCURACY = 1e-6


def stored(name: str) -> dict[str, Any]:
    """A scene as it is in the repository."""
    return json.loads((FOLDER / "scenes" / f"{name}.json").read_text(encoding="utf-8"))


def assert_equal(found: Any, expected: Any, where: str) -> None:
    """The same structure, words and whole numbers, and numbers within `ACCURACY`."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            assert_equal(found[key], value, f"{where}.{key}")
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), where
        for place, value in enumerate(expected):
            assert_equal(found[place], value, f"{where}[{place}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=ACCURACY, abs=ACCURACY), where
    else:
        assert found == expected, where


@pytest.mark.parametrize("name", scenes.SCENES)
def test_a_scene_is_the_run_that_it_shows(name: str) -> None:
    """A new run has the rounds, coefficients, duals, bounds and columns of the stored scene."""
    assert_equal(stored(name), scenes.SCENES[name](), name)


@pytest.mark.parametrize("name", scenes.SCENES)
def test_what_the_page_says_of_a_scene_is_true(name: str) -> None:
    """Each column costs 1: objective over worth is a bound, the best is kept, the last is tight."""
    rounds = stored(name)["rounds"]
    best = -np.inf
    for number, one in enumerate(rounds):
        worth = max(1.0, abs(one["worth"]))
        best = max(best, one["objective"] / worth)
        assert one["bound"] == pytest.approx(best, rel=1e-6)
        assert one["bound"] <= one["objective"] * (1 + 1e-9)
        assert one["gap"] == pytest.approx(1 - one["bound"] / one["objective"], abs=1e-9)
        assert (abs(one["worth"]) > 1 + 1e-9) == (number < len(rounds) - 1)
        duals = np.array(one["duals"])
        assert duals @ stored(name)["target"] == pytest.approx(one["objective"], rel=1e-6)
    assert rounds[-1]["gap"] < 1e-8


def all_columns(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The values of every column, and the target, from the data that the page has."""
    scene = stored(name)
    data = scene["data"]
    if name == "cutting_stock":
        values = np.array(data["patterns"], dtype=float).T
    elif name == "lpboost":
        points = np.array(data["points"])
        squares = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
        values = np.hstack([np.exp(-gamma * squares) for gamma in data["gammas"]])
    else:
        t, centres, sizes = (np.array(data[key]) for key in ("t", "centres", "sizes"))
        values = np.exp(-0.5 * ((t[:, None] - centres) / sizes) ** 2)
    return values, np.array(scene["target"])


@pytest.mark.parametrize("name", scenes.SCENES)
def test_the_last_round_is_optimal_over_all_columns(name: str) -> None:
    """The dual program over every column, by SciPy, has the objective of the last round."""
    (values, target), scene = all_columns(name), stored(name)
    if name == "cutting_stock":
        program = linprog(-target, A_ub=values.T, b_ub=np.ones(values.shape[1]))
    else:
        cost, y = scene["data"]["cost"], target
        sides = [(min(0, s * cost), max(0, s * cost)) for s in y] if name == "lpboost" else None
        limits = sides or [(-cost, cost)] * len(y)
        both = np.vstack([values.T, -values.T])
        program = linprog(-y, A_ub=both, b_ub=np.ones(len(both)), bounds=limits)
    assert scene["rounds"][-1]["objective"] == pytest.approx(-program.fun, rel=1e-7)


class Loads(HTMLParser):
    """Addresses that a page loads by itself, and the scripts in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag loads, and its name."""
        values = {name: value or "" for name, value in attrs}
        self.ids.append(values.get("id", ""))
        if tag != "a":
            self.addresses += [values[name] for name in ("src", "href", "srcset") if name in values]


def test_the_page_is_one_file_that_loads_nothing() -> None:
    """No script, style, picture or font comes from elsewhere, and it is small."""
    page = assembled(FOLDER)
    found = Loads(page)
    assert all(address.startswith("data:") for address in found.addresses)
    assert not re.findall(r"fetch\(|XMLHttpRequest|@import|url\(|import\(", page)
    assert {f"scene-{name}" for name in scenes.SCENES} <= set(found.ids)
    assert len(page.encode()) < LARGEST


def test_a_script_that_would_end_its_element_is_refused(tmp_path: Path) -> None:
    """Text with a closing script tag cannot stand inside a page."""
    for folder in ("js", "scenes"):
        (tmp_path / folder).mkdir()
    for name in ("charts", "scenes", "page"):
        (tmp_path / "js" / f"{name}.js").write_text("const a = '</SCRIPT>';", encoding="utf-8")
    with pytest.raises(ValueError, match="closing script tag"):
        assembled(tmp_path)


def test_the_pictures_are_light() -> None:
    """The moving picture and the still one are below 300 kB."""
    assert all(0 < (FOLDER / name).stat().st_size < LARGEST for name in PICTURES)
