"""Latent factors as functions of new rows, against the matrix formulas of [M].

[M] is Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006.
"""

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from cgboost import RBF
from cgboost.generation.columns import Term
from cgboost.kernels import Kernel
from cgboost.pricing.latent import FactorHypothesis, KernelSpace, LinearSpace, Search
from cgboost.pricing.latent import factors as factors_module

N_ROWS = 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N_ROWS, 5)) + 3.0
NEW = RNG.normal(size=(9, 5)) + 3.0
RESPONSES = RNG.normal(size=(4, N_ROWS))


def filled(search: Search) -> Search:
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


def test_linear_factors_are_those_of_theorem_1() -> None:
    """T(x) = (x − μ)ᵀW(PᵀW)⁻¹ and g = W(PᵀW)⁻¹c, on training rows and new ones."""
    search = filled(LinearSpace(X, np.ones(N_ROWS)).search(deflate=True))
    family = search.family
    W, P = family.weights.values, family.loadings.values
    R = W @ np.linalg.inv(P.T @ W)
    np.testing.assert_allclose(family.rotations.values, R, atol=1e-12)
    expected = (NEW - X.mean(axis=0)) @ R
    np.testing.assert_allclose(
        family.outputs(NEW, hypotheses(family, [0, 1, 2, 3])), expected, atol=1e-12
    )
    on_training = family.outputs(X, hypotheses(family, [2, 0]))
    np.testing.assert_allclose(on_training, search.basis.factors[:, [2, 0]], atol=1e-12)
    coef = np.array([1.0, -2.0, 0.5, 3.0])
    np.testing.assert_allclose(family.coef(range(4), coef), R @ coef, atol=1e-12)


def test_kernel_factors_are_those_of_equations_43_to_47() -> None:
    """β̃ = A(TᵀK̃A)⁻¹c and predictions by the kernel that is not centred."""
    kernel, ones = RBF(0.1), np.ones(N_ROWS)
    search = filled(KernelSpace(X, kernel, ones, name="k").search(deflate=True))
    family, T = search.family, search.basis.factors
    centring = np.eye(N_ROWS) - 1 / N_ROWS
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
    weights = RNG.uniform(0.5, 2.0, N_ROWS)
    space: Any = (
        LinearSpace(X, weights)
        if kernel is None
        else KernelSpace(X, kernel, weights, name="kernel")
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
    """Never more than a block of rows at a time, with the same values."""
    search = filled(KernelSpace(X, RBF(0.1), np.ones(N_ROWS), name="k").search(deflate=True))
    chosen = hypotheses(search.family, [0, 1])
    whole = search.family.outputs(NEW, chosen)
    sizes: list[int] = []
    original = factors_module.kernel_values

    def counted(name: str, kernel: Kernel, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        sizes.append(len(A))
        return original(name, kernel, A, B)

    monkeypatch.setattr(factors_module, "kernel_values", counted)
    monkeypatch.setattr(factors_module, "PREDICTION_BLOCK", 2 * N_ROWS)
    np.testing.assert_allclose(search.family.outputs(NEW, chosen), whole, atol=1e-14)
    assert sizes == [2, 2, 2, 2, 1]


def test_offering_again_replaces_the_last_offer() -> None:
    """A factor that was offered and not accepted leaves no trace."""
    search = filled(LinearSpace(X, np.ones(N_ROWS)).search(deflate=True))
    before = search.family.rotations.values.copy()
    for response in (RNG.normal(size=N_ROWS), RESPONSES[0] ** 2):
        direction = search.direction(response)
        values, along = search.basis.without(direction.values)
        search.offer(direction, along, search.basis.length(values))
    again = filled(LinearSpace(X, np.ones(N_ROWS)).search(deflate=True))
    direction = again.direction(RESPONSES[0] ** 2)
    values, along = again.basis.without(direction.values)
    again.offer(direction, along, again.basis.length(values))
    np.testing.assert_array_equal(search.family.rotations.values[:, :4], before)
    np.testing.assert_allclose(
        search.family.rotations.values, again.family.rotations.values, atol=1e-12
    )


def test_products_are_in_the_dtype_of_the_rows() -> None:
    """A float32 or sparse X is multiplied as it is; what comes out is float64."""
    b = np.random.default_rng(0).normal(size=5)
    seen: list[Any] = []

    class Recorded(np.ndarray):
        def __matmul__(self, other: Any) -> Any:
            seen.append(other.dtype)
            return np.asarray(self) @ other

    single = X.astype(np.float32)
    result = factors_module.product(single.view(Recorded), b)
    assert seen == [np.float32]
    assert result.dtype == np.float64
    for form in (sp.csr_matrix, sp.csc_array):
        np.testing.assert_allclose(factors_module.product(form(X), b), X @ b, atol=1e-12)


def test_families_can_be_pickled() -> None:
    """What is read back evaluates as before."""
    family = filled(KernelSpace(X, RBF(0.1), np.ones(N_ROWS), name="k").search(deflate=True)).family
    read = pickle.loads(pickle.dumps(family))
    chosen, same = hypotheses(family, [1, 3]), hypotheses(read, [1, 3])
    np.testing.assert_array_equal(read.outputs(NEW, same), family.outputs(NEW, chosen))
