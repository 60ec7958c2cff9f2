"""The corrective master of columns that outputs share."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax

from cgboost.generation.columns import Column
from cgboost.losses import AbsoluteError, Multinomial, SquaredError
from cgboost.masters.stagewise.shared_master import ClassScores, Responses, SharedMaster
from cgboost.optimizers.refits.refits import refit_of

RNG = np.random.default_rng(0)
H, WEIGHTS = RNG.normal(size=(60, 3)), RNG.uniform(0.2, 2.0, 60)
Y = RNG.normal(size=(60, 2))
LABELS = RNG.integers(0, 3, 60).astype(float)


def fed(master: SharedMaster, count: int) -> SharedMaster:
    """The columns of H, each once for every output, one a round."""
    for j in range(H.shape[1]):
        master.solve()
        master.add([Column(H[:, j], (j, k), output=k) for k in range(count)])
    return master


def test_responses_are_refitted_each() -> None:
    """Squared error by least squares; absolute error with r·h = 0 by its linear program."""
    losses = [SquaredError().on(Y[:, 0], WEIGHTS), AbsoluteError().on(Y[:, 1], WEIGHTS)]
    refits = [refit_of(loss, newton_steps=None, damping=0.0, solver="auto") for loss in losses]
    state = fed(SharedMaster(Responses(losses, refits)), 2).solve()
    D, roots = np.column_stack([np.ones(60), H]), np.sqrt(WEIGHTS)
    least = np.linalg.lstsq(D * roots[:, None], Y[:, 0] * roots, rcond=None)[0]
    np.testing.assert_allclose(state.coef.reshape(3, 2)[:, 0], least[1:], atol=1e-9)
    np.testing.assert_allclose(D.T @ state.pseudo_response, 0.0, atol=1e-7)
    assert state.objective == pytest.approx(
        sum(loss.value(f) for loss, f in zip(losses, state.output.T, strict=True))
    )


@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_class_scores_are_where_no_descent_is_left(ridge: float) -> None:
    """As SciPy finds it by the value alone; the Hessian is that of the gradient."""
    outputs = ClassScores(Multinomial(3).on(LABELS, WEIGHTS), ridge, None, 0.0)
    state = fed(SharedMaster(outputs), 3).solve()
    D = np.column_stack([np.ones(60), H])
    found = minimize(lambda b: outputs.value(D @ b.reshape(4, 3)), np.zeros(12), tol=1e-12)
    assert state.objective == pytest.approx(found.fun, rel=1e-8)
    np.testing.assert_allclose(D.T @ state.pseudo_response, 0.0, atol=1e-7)
    B, step = RNG.normal(size=(4, 3)), 1e-6
    slopes = [
        -(D.T @ outputs.pseudo_response(D @ (B + step * e.reshape(4, 3)))).ravel()
        + (D.T @ outputs.pseudo_response(D @ (B - step * e.reshape(4, 3)))).ravel()
        for e in np.eye(12)
    ]
    np.testing.assert_allclose(
        outputs.hessian(D @ B, D), np.array(slopes) / (2 * step), rtol=1e-5, atol=1e-5
    )


def test_intercepts_begin_at_the_shares() -> None:
    """Without columns probabilities are the weighted shares of the classes."""
    outputs = ClassScores(Multinomial(3).on(LABELS, WEIGHTS), 0.0, None, 0.0)
    state = SharedMaster(outputs).solve()
    shares = np.bincount(LABELS.astype(int), WEIGHTS) / WEIGHTS.sum()
    np.testing.assert_allclose(softmax(state.intercept), shares)
