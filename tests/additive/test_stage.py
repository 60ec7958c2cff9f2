"""A stage is the sum of its terms; stages are evaluated one after another."""

import numpy as np

from cgboost.additive.stage import Stage, StageOutput, Stages
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.binning import Intervals


def line(feature: int, slope: float, *, coef: list[float] | None = None) -> Transformation:
    """A slope times x, plus earlier outputs times coefficients."""
    groups = Intervals(np.zeros(0), -10.0, 10.0)
    zeros = np.zeros(2)
    own = np.array([[0.0] * len(coef or [])] * 2)
    own[0] = coef or []
    return Transformation(feature, groups, np.array([0, 1]), zeros, np.array([slope, 0.0]), own)


SQUARE = Transformation(  # of a sum: two leaves
    0,
    Intervals(np.array([0.0]), -10.0, 10.0),
    np.array([0, 1, 2]),
    np.zeros(3),
    np.array([-1.0, 1.0, 0.0]),
    np.zeros((3, 0)),
)
X = np.random.default_rng(0).uniform(-2, 2, size=(30, 2))


def chain() -> Stages:
    """Three stages; the second uses the first, the third both and a link."""
    return Stages(
        [
            Stage(1.0, [(2.0, line(0, 1.0))]),
            Stage(0.0, [(1.0, line(1, 3.0, coef=[0.5])), (-1.0, line(2, 1.0, coef=[0.0]))]),
            Stage(-1.0, [(1.0, line(3, 1.0, coef=[0.0, 0.0]))], link=SQUARE),
        ]
    )


def test_stages_are_the_formula() -> None:
    """Weights, intercepts, regressors in the leaves, earlier outputs as inputs, and the link."""
    first = 1 + 2 * X[:, 0]
    second = 3 * X[:, 1] + 0.5 * first - first
    third = np.abs(-1 + second)
    wanted = np.column_stack([first, second, third])
    np.testing.assert_allclose(chain().all_outputs(X, 3), wanted)
    np.testing.assert_allclose(chain().all_outputs(X.astype(np.float32), 3), wanted, rtol=1e-5)


def test_a_constant_that_is_rounding_is_written_as_0() -> None:
    """Beside the terms, whatever their scale; one that is small and no rounding stays."""
    for scale in (1e-9, 1.0, 1e9):
        terms = [(2.0, line(0, scale))]
        assert Stage(-7e-16 * scale, terms).text().split("\n")[0] == "0"
        assert Stage(1e-9 * scale, terms).text().split("\n")[0] == f"{1e-9 * scale:.6g}"
        by_bounds = Stage(3e-17 * scale, [], low=-scale, high=scale)
        assert by_bounds.text().split("\n")[0] == "0"
    assert Stage(-7e-16, []).text() == "-7e-16"


def test_bounds_hold_the_sum_and_what_follows_from_it() -> None:
    """Of a stage that others use they see what is left of it."""
    stages = chain()
    first = stages.stages[0]
    stages.stages[0] = Stage(first.intercept, first.terms, low=-0.5, high=2.0)
    found = stages.all_outputs(X, 3)
    cut = np.clip(1 + 2 * X[:, 0], -0.5, 2.0)
    assert (cut != 1 + 2 * X[:, 0]).any()
    np.testing.assert_allclose(found[:, 0], cut)
    np.testing.assert_allclose(found[:, 1], 3 * X[:, 1] - 0.5 * cut)


def test_hypotheses_are_outputs(monkeypatch) -> None:
    """In any order, and as a weighted sum in blocks of rows."""
    stages = chain()
    wanted = stages.all_outputs(X, 3)
    hypotheses = [StageOutput(stages, k) for k in (2, 0)]
    np.testing.assert_array_equal(stages.outputs(X, hypotheses), wanted[:, [2, 0]])
    monkeypatch.setattr("cgboost.additive.stage.PREDICTION_BLOCK", 100)
    found = Stages.weighted_sum(X, [(stages, hypotheses, np.array([2.0, -1.0]))])
    np.testing.assert_allclose(found, 2 * wanted[:, 2] - wanted[:, 0])


def test_importances_go_through_earlier_stages_to_the_features() -> None:
    """By the absolute weights of the terms."""
    stages = chain()
    np.testing.assert_allclose(StageOutput(stages, 0).importances(2), [1, 0])
    np.testing.assert_allclose(StageOutput(stages, 1).importances(2), [0.5, 0.5])
    np.testing.assert_allclose(StageOutput(stages, 2).importances(2), [0.5, 0.5])
    stages.stages.append(Stage(1.0, []))
    np.testing.assert_array_equal(StageOutput(stages, 3).importances(2), [0, 0])
