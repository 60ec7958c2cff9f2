"""Columns of kernels as functions: their values and their weighted sums."""

import numpy as np
import pytest

from cgboost import RBF, Linear, Polynomial
from cgboost.exceptions import KernelError
from cgboost.generation.columns import Ensemble, evaluate
from cgboost.kernels import Kernel, Normalized
from cgboost.kernels.precomputed import KernelFamily, KernelHypothesis

RNG = np.random.default_rng(0)
CENTRES = RNG.normal(size=(40, 6))


def hypotheses(kernels: dict[str, Kernel]) -> list[KernelHypothesis]:
    """All centres of each kernel, kernel after kernel."""
    families = [KernelFamily(name, kernel) for name, kernel in kernels.items()]
    centres = list(CENTRES)
    return [
        KernelHypothesis(family, row, centre)
        for family in families
        for row, centre in enumerate(centres)
    ]


@pytest.mark.parametrize("n_rows", [1, 400])
def test_predictions_are_the_plain_evaluation(n_rows: int) -> None:
    """An ensemble of linear, quadratic and RBF columns adds up as its columns do, one by one."""
    X = RNG.normal(size=(n_rows, 6))
    mine = hypotheses(
        {"l": Normalized(Linear()), "q": Normalized(Polynomial(2)), "r": RBF(0.1), "s": RBF(0.3)}
    )
    mine = [mine[j] for j in RNG.permutation(len(mine))]
    coef = RNG.normal(size=len(mine)) * (RNG.uniform(size=len(mine)) < 0.8)
    values = evaluate(mine, X)
    expected = 0.5 + values @ coef
    np.testing.assert_allclose(
        Ensemble(mine, coef, 0.5).decision_function(X),
        expected,
        rtol=0,
        atol=1e-12 * (np.abs(values) @ np.abs(coef)).max(),
    )


def test_kernels_of_any_kind_predict_or_are_named() -> None:
    """A user's kernel may have no hash; values that are not finite name the family."""

    class Unhashable(Kernel):
        __hash__ = None

        def __call__(self, X, Z):
            return np.cos(X.sum(axis=1)[:, None] - Z.sum(axis=1))

    mine = hypotheses({"mine": Unhashable(), "linear": Linear()})
    X, coef = RNG.normal(size=(5, 6)), RNG.normal(size=80)
    np.testing.assert_allclose(
        Ensemble(mine, coef).decision_function(X), evaluate(mine, X) @ coef, atol=1e-12
    )
    mine = hypotheses({"steep": Polynomial(40)})
    X = 1e10 * np.ones((2, 6))
    with pytest.raises(KernelError, match="kernel 'steep' returned"):
        evaluate(mine, X)
    with pytest.raises(KernelError, match="kernel 'steep' returned"):
        Ensemble(mine, np.ones(40)).decision_function(X)
