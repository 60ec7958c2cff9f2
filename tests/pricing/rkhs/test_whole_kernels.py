"""The pricer of whole kernels."""

from dataclasses import fields

import numpy as np
import pytest

from cgboost import RBF, KernelLibrary, Linear, Polynomial
from cgboost.generation.protocols import MasterState
from cgboost.generation.spaces import SpaceState
from cgboost.penalties import GroupNorm
from cgboost.pricing import KernelPool
from cgboost.pricing.rkhs.whole_kernels import WholeKernelPool, WholeKernelPricer
from tests.pricing.cases import state_of

LIBRARY = KernelLibrary({"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF(0.3)})
PLAIN = GroupNorm(standardize=False)


def state_at(response: np.ndarray, penalty: GroupNorm) -> MasterState:
    """What a master without columns would say."""
    return state_of(response, penalty.entry(two_sided=True))


def test_scores_are_the_best_of_the_unit_ball() -> None:
    """The column of a kernel scores √(rᵀKr)/w, and no function of its norm scores more."""
    rng = np.random.default_rng(0)
    X, response = rng.normal(size=(40, 3)), rng.normal(size=40)
    penalty = GroupNorm({"quadratic": 3.0}, standardize=False)
    pricer = WholeKernelPricer(WholeKernelPool(KernelPool(LIBRARY, X), penalty, 100.0))
    priced = pricer.price(state_at(response, penalty), 3)
    assert priced.exact
    assert priced.n_evaluated == 3
    scores = [float(column.values @ response) for column in priced.columns]
    assert scores == sorted(scores, reverse=True)
    assert priced.max_excess == pytest.approx(max(scores) - 1.0)
    for column, score in zip(priced.columns, scores, strict=True):
        weight = penalty.weight(column.stratum)
        gram = np.asarray(column.space.gram)
        for _ in range(50):
            beta = rng.normal(size=40)
            norm = weight * np.sqrt(beta @ gram @ beta)
            assert (gram @ beta) @ response / norm <= score * (1 + 1e-12)


def test_columns_are_functions_and_come_once() -> None:
    """Values on the training rows are those of the expansion, and of its terms.

    Kernels that are in the master keep their excess, and leave the offers to others.
    """
    rng = np.random.default_rng(1)
    X, response = rng.normal(size=(30, 3)), rng.normal(size=30)
    pool = WholeKernelPool(KernelPool(LIBRARY, X), PLAIN, 100.0)
    for column in WholeKernelPricer(pool).price(state_at(9 * response, PLAIN), 3).columns:
        hypothesis = column.hypothesis
        assert hypothesis is not None
        assert hypothesis.family.outputs(X, [hypothesis])[:, 0] == pytest.approx(column.values)
        terms, weights, names = hypothesis.terms()
        assert set(names) == {column.stratum}
        values = terms[0].family.outputs(X, terms) @ weights
        assert values == pytest.approx(column.values)
    rng = np.random.default_rng(2)
    X, response = rng.normal(size=(30, 3)), 5 * rng.normal(size=30)
    pricer = WholeKernelPricer(WholeKernelPool(KernelPool(LIBRARY, X), PLAIN, 100.0))
    state = state_at(response, PLAIN)
    first = pricer.price(state, 1)
    own = {each.name: getattr(state, each.name) for each in fields(state)}
    holding = SpaceState(**own | {"held": frozenset({first.columns[0].stratum})})
    second = pricer.price(holding, 3)
    assert first.columns[0].stratum not in {column.stratum for column in second.columns}
    assert second.max_excess == first.max_excess


def test_weights_are_standard_deviations_in_the_spaces_of_the_kernels() -> None:
    """w_p is that of φ_p(x), times the weight by name; a constant kernel has the size of a row."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 3)) + 2.0
    library = KernelLibrary(
        {
            "linear": Linear(),
            "large": 100.0 * Polynomial(1, coef0=7.0),
            "constant": lambda A, B: np.full((len(A), len(B)), 4.0),
            "zero": lambda A, B: np.zeros((len(A), len(B))),
        }
    )
    pool = WholeKernelPool(KernelPool(library, X), GroupNorm({"linear": 3.0}), 100.0)
    size = float(np.sqrt(X.var(axis=0).sum()))
    assert pool.weights == pytest.approx([3 * size, 10 * size, 2.0, 1.0])
