"""Small drawings of the history: correct, self-contained SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from cgboost.inspection.report.facts import facts_of
from cgboost.inspection.report.panel import panel
from cgboost.inspection.report.sparkline import HEIGHT, WIDTH, Curve, sparkline, sparklines
from tests.inspection.report.models import CASES, NASTY, fitted


def points(svg: str) -> list[np.ndarray]:
    """The points of every line."""
    lines = re.findall(r'points="([^"]*)"', svg)
    return [np.array([pair.split(",") for pair in line.split()], dtype=float) for line in lines]


def test_a_curve_goes_from_edge_to_edge() -> None:
    """The largest value is on top, the smallest at the bottom, rounds go from left to right."""
    [line] = points(sparkline([Curve(np.array([4.0, 2.0, 1.0]))], "falling"))
    assert (np.diff(line[:, 0]) > 0).all()
    assert (np.diff(line[:, 1]) > 0).all()
    assert line[0, 1] == pytest.approx(HEIGHT - line[2, 1])
    assert line[0, 0] == pytest.approx(WIDTH - line[2, 0])


def test_wide_ranges_are_logarithmic() -> None:
    """Equal ratios have equal distances."""
    [line] = points(sparkline([Curve(np.array([1e4, 1e2, 1e0]))], "steep"))
    assert line[1, 1] == pytest.approx(HEIGHT / 2, abs=0.1)


@pytest.mark.parametrize(
    "values", [[np.nan, 2.0, 1.0], [np.inf, 2.0, 1.0], [3.0], [5.0, 5.0], [np.nan], [-np.inf, -2.0]]
)
def test_odd_values_make_no_odd_drawing(values: list[float]) -> None:
    """What is not finite is left out, and a constant is a line in the middle."""
    svg = sparkline([Curve(np.array(values)), Curve(np.array(values) - 1e9, dashed=True)], "odd")
    ElementTree.fromstring(svg)
    assert "nan" not in svg
    assert "inf" not in svg
    for line in points(svg):
        assert (line >= 0).all()
        assert (line[:, 1] <= HEIGHT).all()


def test_long_histories_stay_small() -> None:
    """A hundred thousand rounds are drawn by a few hundred points."""
    assert len(sparkline([Curve(np.arange(1e5))], "long")) < 5000


def test_a_certified_model_has_its_bound_beside_its_objective() -> None:
    """Objective and bound end at nearly the same height; the kept round of a score is ringed."""
    model = fitted("CGBoostClassifier")
    (caption, svg), (score, ringed) = sparklines(model.history_, [model.best_round_])
    objective, bound = points(svg)
    assert "bound" in caption
    assert objective[-1] == pytest.approx(bound[-1], abs=0.2)
    assert score == "validation error by round"
    assert ringed.count("<circle") == 1


@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_every_model_has_a_panel(name: str, n_classes: int) -> None:
    """Well-formed, without scripts, and with a drawing where there is a history."""
    model = fitted(name, n_classes)
    html = panel(model, facts_of(model))
    ElementTree.fromstring(html)
    assert "<script" not in html
    assert ("<svg" in html) == (name != "LinearTreeRegressor")


def test_names_of_users_are_text() -> None:
    """A kernel called like a tag does not become one."""
    html = panel(fitted("CGBoostClassifier"), facts_of(fitted("CGBoostClassifier")))
    assert NASTY not in html
    assert "&lt;b&gt;&amp;" in html
