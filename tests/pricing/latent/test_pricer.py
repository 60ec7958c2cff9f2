"""Latent factors: the pricer against brute force, and factors as functions of new rows by [M].

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import null_space

from cgboost import RBF, Linear
from cgboost.generation.columns import Term
from cgboost.generation.protocols import MasterState, Priced
from cgboost.kernels import Kernel
from cgboost.masters.stagewise.stagewise import DescentEntry
from cgboost.pricing.latent import (
    FactorHypothesis,
    FactorSearch,
    FactorSpace,
    KernelFactorSpace,
    LinearFactorSpace,
)
from cgboost.pricing.latent import factors as factors_module
from cgboost.pricing.latent.latent_factor_pricer import LatentFactorPricer
from tests.pricing.cases import state_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 6)) + 2.0
ONES = np.ones(30)
CENTRED = X - X.mean(axis=0)


def states(pricer: LatentFactorPricer, responses: np.ndarray) -> tuple[MasterState, list[Priced]]:
    """Price for one response after another, every factor going into the master."""
    state = state_of(responses[0], DescentEntry(1.0))
    found = []
    for response in responses:
        state = replace(state, pseudo_response=response)
        found.append(pricer.price(state, 1))
        state = replace(state, columns=(*state.columns, *found[-1].columns))
    return state, found


def test_no_factor_of_the_same_length_has_a_better_score() -> None:
    """Among X̃w with ‖w‖ = 1 that are orthogonal to those before, the one found is the best.

    Every column is new, and its hypothesis has its values; with no room nothing is kept.
    """
    pricer, responses = LatentFactorPricer(LinearFactorSpace(X, ONES)), RNG.normal(size=(4, 30))
    state, found = states(pricer, responses)
    T = np.column_stack([column.values for column in state.columns])
    for i, (response, priced) in enumerate(zip(responses, found, strict=True)):
        Z = null_space(T[:, :i].T @ CENTRED) if i else np.eye(6)
        W = Z @ RNG.normal(size=(Z.shape[1], 500))
        ways = CENTRED @ (W / np.linalg.norm(W, axis=0))
        deflated = CENTRED - T[:, :i] @ (T[:, :i].T @ CENTRED)
        w = deflated.T @ response
        best = response @ deflated @ w / np.linalg.norm(w)
        assert best >= (response @ ways).max()
        t = priced.columns[0].values
        np.testing.assert_allclose(t, deflated @ w / np.linalg.norm(deflated @ w), atol=1e-10)
        assert priced.exact
        assert priced.max_excess == priced.total_excess == pytest.approx(response @ t)
    assert [column.key for column in state.columns] == [("factor", i) for i in range(4)]
    for column in state.columns:
        values = column.hypothesis.family.outputs(X, [column.hypothesis])[:, 0]
        np.testing.assert_allclose(values, column.values, atol=1e-12)
    pricer = LatentFactorPricer(LinearFactorSpace(X, ONES))
    priced = pricer.price(state_of(responses[0], DescentEntry(1.0)), 0)
    assert priced.exact
    assert priced.max_excess > 0
    assert not priced.columns
    assert len(pricer.family.weights) == 0


def test_without_deflation_factors_are_the_plain_gradients() -> None:
    """T ∝ X̃X̃ᵀu, of length 1."""
    pricer = LatentFactorPricer(LinearFactorSpace(X, ONES), deflate=False)
    responses = RNG.normal(size=(3, 30))
    for response, priced in zip(responses, states(pricer, responses)[1], strict=True):
        t = CENTRED @ (CENTRED.T @ response)
        np.testing.assert_allclose(priced.columns[0].values, t / np.linalg.norm(t), atol=1e-12)


def spaces(features: np.ndarray) -> list[FactorSpace]:
    """The same rows as features, and as a kernel."""
    ones = np.ones(len(features))
    return [
        LinearFactorSpace(features, ones),
        KernelFactorSpace(features, Linear(), ones, name="linear"),
    ]


@pytest.mark.parametrize("kernel", [0, 1], ids=["linear", "kernel"])
def test_exhausted_data_are_told_from_an_optimum(kernel: int) -> None:
    """Nothing is left in all cases; with uᵀT = 0 and uᵀe = 0 a linear model is optimal.

    Of a kernel, functions of 1e-8 of the size of others are rounding, and nothing is proved.
    """
    low_rank = X[:, :2] @ RNG.normal(size=(2, 5))
    T = np.linalg.qr(np.column_stack([ONES, low_rank - low_rank.mean(axis=0)]))[0][:, :3]
    away = RNG.normal(size=30)
    away -= T @ (T.T @ away)
    endings = {}
    for name, last in (("optimal", away), ("slope", away + T[:, 1]), ("offset", away + T[:, 0])):
        pricer = LatentFactorPricer(spaces(low_rank)[kernel])
        responses = np.vstack([RNG.normal(size=(2, 30)), last])
        found = states(pricer, responses)[1]
        assert [len(priced.columns) for priced in found] == [1, 1, 0]
        endings[name] = (found[-1].exhausted, found[-1].max_excess)
    exhausted, excess = endings["optimal"]
    assert (exhausted, excess) == (False, 0.0) if kernel == 0 else exhausted
    assert endings["slope"][0]
    assert endings["offset"][0]


@pytest.mark.parametrize("kernel", [0, 1], ids=["linear", "kernel"])
def test_no_response_or_no_data_is_an_optimum(kernel: int) -> None:
    """U = 0 at once; constant features have nothing to offer; with a kernel that proves nothing."""
    pricer = LatentFactorPricer(spaces(X)[kernel])
    assert pricer.price(state_of(np.zeros(30), DescentEntry(1.0)), 1).max_excess == 0.0
    constant = LatentFactorPricer(spaces(np.full((30, 3), 7.0))[kernel])
    u = RNG.normal(size=30)
    priced = constant.price(state_of(u - u.mean(), DescentEntry(1.0)), 1)
    assert not priced.columns
    assert priced.max_excess == 0.0 if kernel == 0 else priced.exhausted


# ---------------------------------------------------------------------------- new rows

NEW = RNG.normal(size=(9, 6)) + 3.0
RESPONSES = RNG.normal(size=(4, 30))


def filled(search: FactorSearch) -> FactorSearch:
    """The search with a factor for each of the responses."""
    for response in RESPONSES:
        direction = search.direction(response)
        values, along = search.basis.without(direction.values)
        if not search.family.deflated:
            values, along = direction.values, np.zeros(0)
        length = search.basis.length(values)
        search.offer(direction, along, length)
        search.accept(values / length)
    return search


def hypotheses(family: Any, numbers: list[int]) -> list[FactorHypothesis]:
    """Some factors of a family."""
    return [FactorHypothesis(family, number) for number in numbers]


def test_kernel_factors_are_those_of_equations_43_to_47() -> None:
    """β̃ = A(TᵀK̃A)⁻¹c and predictions by the kernel that is not centred."""
    kernel, ones = RBF(0.1), ONES
    search = filled(KernelFactorSpace(X, kernel, ones, name="k").search(deflate=True))
    family, T = search.family, search.basis.factors
    centring = np.eye(30) - 1 / 30
    K = centring @ kernel(X, X) @ centring
    A = np.column_stack(
        [u - T[:, :i] @ (T[:, :i].T @ u) for i, u in enumerate(RESPONSES)]  # eq. 43
    )
    np.testing.assert_allclose(family.dual_weights.values, A, atol=1e-12)
    c = np.array([1.0, -2.0, 0.5, 3.0])
    beta = A @ np.linalg.solve(T.T @ K @ A, c)  # eq. 44
    centred = (kernel(NEW, X) - kernel(X, X).mean(axis=0)) @ centring  # eq. 46
    values = family.outputs(NEW, hypotheses(family, [0, 1, 2, 3])) @ c
    np.testing.assert_allclose(values, centred @ beta, atol=1e-11)
    np.testing.assert_allclose(family.coef(range(4), c), centring @ beta, atol=1e-11)  # eq. 47
    np.testing.assert_allclose(family.outputs(X, hypotheses(family, [0, 1, 2, 3])), T, atol=1e-11)


@pytest.mark.parametrize("kernel", [None, RBF(0.1)], ids=["linear", "kernel"])
@pytest.mark.parametrize("deflate", [True, False])
def test_a_weighted_sum_is_the_sum_of_outputs(kernel: Kernel | None, deflate: bool) -> None:
    """The quick way through coefficients agrees with the factors one by one; in blocks too."""
    weights = RNG.uniform(0.5, 2.0, 30)
    space: Any = (
        LinearFactorSpace(X, weights)
        if kernel is None
        else KernelFactorSpace(X, kernel, weights, name="kernel")
    )
    search = filled(space.search(deflate=deflate))
    family, coef = search.family, np.array([1.0, -2.0, 0.5])
    chosen = hypotheses(family, [0, 1, 3])
    one_by_one = family.outputs(NEW, chosen) @ coef
    terms = [Term(family, chosen[:2], coef[:2]), Term(family, chosen[2:], coef[2:])]
    np.testing.assert_allclose(family.weighted_sum(NEW, terms), one_by_one, atol=1e-12)
    T = search.basis.factors
    np.testing.assert_allclose(family.outputs(X, chosen), T[:, [0, 1, 3]], atol=1e-12)


def test_kernel_values_of_new_rows_are_made_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never more than a block of rows at a time, with the same values, also after pickling."""
    search = filled(KernelFactorSpace(X, RBF(0.1), ONES, name="k").search(deflate=True))
    chosen = hypotheses(search.family, [0, 1])
    whole = search.family.outputs(NEW, chosen)
    sizes: list[int] = []
    original = factors_module.kernel_values

    def counted(name: str, kernel: Kernel, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        sizes.append(len(A))
        return original(name, kernel, A, B)

    monkeypatch.setattr(factors_module, "kernel_values", counted)
    monkeypatch.setattr(factors_module, "PREDICTION_BLOCK", 2 * 30)
    np.testing.assert_allclose(search.family.outputs(NEW, chosen), whole, atol=1e-14)
    assert sizes == [2, 2, 2, 2, 1]
    read = pickle.loads(pickle.dumps(search.family))
    np.testing.assert_allclose(read.outputs(NEW, hypotheses(read, [0, 1])), whole, atol=1e-14)


def test_offering_again_replaces_the_last_offer() -> None:
    """A factor that was offered and not accepted leaves no trace."""
    search = filled(LinearFactorSpace(X, ONES).search(deflate=True))
    before = search.family.rotations.values.copy()
    for response in (RNG.normal(size=30), RESPONSES[0] ** 2):
        direction = search.direction(response)
        values, along = search.basis.without(direction.values)
        search.offer(direction, along, search.basis.length(values))
    again = filled(LinearFactorSpace(X, ONES).search(deflate=True))
    direction = again.direction(RESPONSES[0] ** 2)
    values, along = again.basis.without(direction.values)
    again.offer(direction, along, again.basis.length(values))
    np.testing.assert_array_equal(search.family.rotations.values[:, :4], before)
    np.testing.assert_allclose(
        search.family.rotations.values, again.family.rotations.values, atol=1e-12
    )
