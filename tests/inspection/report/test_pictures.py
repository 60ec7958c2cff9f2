"""Pictures of a model and of its history: correct, self-contained SVG without a style sheet."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cgboost.inspection.drawing import INK
from cgboost.inspection.report.pictures import (
    EDGE,
    HEIGHT,
    Curve,
    drawn,
    importances,
    sparkline,
    sparklines,
)
from tests.inspection.report.models import NASTY, fitted


def heights(axes: Axes) -> list[np.ndarray]:
    """For every line, how high its points stand, as shares of the picture."""
    figure = axes.get_figure()
    figure.draw_without_rendering()
    return [
        axes.transAxes.inverted().transform(axes.transData.transform(line.get_xydata()))[:, 1]
        for line in axes.lines
    ]


def one(*values: float) -> Figure:
    """A sparkline of one curve."""
    return sparkline([Curve(np.array(values), INK)])


def test_a_curve_goes_from_edge_to_edge() -> None:
    """The largest value near the top, the smallest near the bottom, with the same margin.

    In wide ranges equal ratios have equal distances.
    """
    [line] = heights(one(4.0, 2.0, 1.0).axes[0])
    assert (np.diff(line) < 0).all()
    assert line[2] == pytest.approx(EDGE / HEIGHT)
    assert line[0] == pytest.approx(1 - line[2])
    [line] = heights(one(1e4, 1e2, 1e0).axes[0])
    assert line[1] == pytest.approx(0.5)


@pytest.mark.parametrize(
    "values", [[np.nan, 2.0, 1.0], [np.inf, 2.0, 1.0], [3.0], [5.0, 5.0], [np.nan], [-np.inf, -2.0]]
)
def test_odd_values_make_no_odd_drawing(values: list[float]) -> None:
    """What is not finite or far below is left out, and what is left stays inside the picture."""
    curves = [
        Curve(np.array(values), INK),
        Curve(np.array(values) - 1e9, INK, dashed=True, ringed=0),
    ]
    figure = sparkline(curves)
    for line in heights(figure.axes[0]):
        assert ((line >= 0) & (line <= 1)).all()
    svg = drawn(figure, "odd").svg
    ElementTree.fromstring(svg)
    assert "nan" not in svg
    assert "inf" not in svg


def test_long_histories_stay_small() -> None:
    """A hundred thousand rounds are drawn by a few hundred points."""
    noise = np.random.default_rng(0).normal(size=100_000)
    assert len(drawn(sparkline([Curve(noise, INK)]), "long").svg) < 9000


def test_a_picture_has_the_inks_of_its_page() -> None:
    """Black and grey are the page's, there is no style sheet, and every id is used."""
    picture = drawn(sparkline([Curve(np.arange(3.0), INK, ringed=1)]), f"a ring {NASTY}", 7)
    assert "currentColor" in picture.svg
    assert INK not in picture.svg
    assert "<style" not in picture.svg
    root = ElementTree.fromstring(picture.svg)
    assert root.get("aria-label") == f"a ring {NASTY}"
    ids = re.findall(r' id="([^"]+)"', picture.svg)
    assert len(ids) == 1
    assert ids[0].startswith("p7-")
    assert f'href="#{ids[0]}"' in picture.svg


def test_a_certified_model_has_its_bound_beside_its_objective() -> None:
    """Objective and bound, the bound dashed; the kept round of a score is ringed."""
    model = fitted("CGBoostClassifier")
    objective, score = sparklines(model.history_, [model.best_round_])
    assert "bound" in objective.caption
    assert objective.svg.count("stroke-dasharray") == 1
    assert score.caption == "validation error by round"
    assert score.svg.count("<use") == 1


def test_an_error_in_importances_is_not_taken_for_none() -> None:
    """Models without importances have no picture of them; what fails is said."""

    class Broken:
        @property
        def feature_importances_(self) -> np.ndarray:
            return np.array([1.0, None]) + np.zeros(2)

    assert importances(object()) is None
    with pytest.raises(TypeError, match="NoneType"):
        importances(Broken())
