"""Weighted sums over a library, and of columns as functions: the sum of their values."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cgboost.kernels.combinations
from cgboost import RBF, Linear, Polynomial
from cgboost.exceptions import KernelError
from cgboost.generation.columns import Ensemble, evaluate
from cgboost.kernels import FunctionKernel, Kernel, Normalized
from cgboost.kernels.combinations import WeightedCentres, library_sum
from cgboost.kernels.kernel_family import KernelFamily, KernelHypothesis
from tests.effort import examples
from tests.kernels.cases import OF_PRODUCTS, by_formula

TANH = FunctionKernel(lambda A, B: np.tanh(A @ B.T), "tanh")


def random_parts(
    kernels: Sequence[Kernel], rng: np.random.Generator, n_centres: int, n_features: int
) -> list[WeightedCentres]:
    """Each kernel with some of the same centres, in any order, some of them twice."""
    pool = list(rng.normal(size=(n_centres, n_features)))
    parts = []
    for place, kernel in enumerate(kernels):
        chosen = rng.integers(n_centres, size=rng.integers(1, n_centres + 1))
        weights = rng.normal(size=len(chosen))
        parts.append(WeightedCentres(f"k{place}", kernel, [pool[j] for j in chosen], weights))
    return parts


def explicit(X: np.ndarray, parts: Sequence[WeightedCentres]) -> tuple[np.ndarray, float]:
    """The sum by the kernels' formulas, and the sum of all absolute values, what rounds."""
    total, size = np.zeros(len(X)), 1.0
    for part in parts:
        centres = np.stack(part.centres)
        values = TANH(X, centres) if part.kernel is TANH else by_formula(part.kernel, X, centres)
        total += values @ part.weights
        size += (np.abs(values) @ np.abs(part.weights)).max()
    return total, size


@settings(max_examples=examples(60))
@given(
    kernels=st.lists(OF_PRODUCTS | st.just(TANH), max_size=4),
    n_rows=st.integers(1, 100),
    n_centres=st.integers(1, 20),
    n_features=st.sampled_from([2, 5, 90]),
    seed=st.integers(0, 10**6),
)
def test_the_sum_is_that_of_the_values(
    kernels: list[Kernel], n_rows: int, n_centres: int, n_features: int, seed: int
) -> None:
    """Few or many rows, centres and features, any mixture of kernels, overlapping centres."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) / np.sqrt(n_features)
    parts = random_parts(kernels, rng, n_centres, n_features)
    expected, size = explicit(X, parts)
    np.testing.assert_allclose(library_sum(X, parts), expected, rtol=0, atol=1e-12 * size)


def case(n_features: int = 80) -> tuple[np.ndarray, list[WeightedCentres]]:
    """500 rows; linear, quadratic, RBF and a user's kernel over 60 centres."""
    rng = np.random.default_rng(3)
    kernels = [Normalized(Linear()), Polynomial(2, gamma=0.1), RBF(0.05), TANH]
    return rng.normal(size=(500, n_features)), random_parts(kernels, rng, 60, n_features)


@pytest.mark.parametrize(
    "name", ["PREDICTED_VALUE_COST", "PICK_COST", "VALUES_AT_ONCE", "FEWEST_BLOCK_ROWS"]
)
@pytest.mark.parametrize("number", [1, 10**9])
@pytest.mark.parametrize("n_features", [3, 80])
def test_the_way_does_not_change_the_sum(
    name: str, number: int, n_features: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Expanded, from a shared product or from one each, in any blocks: the same sum."""
    X, parts = case(n_features)
    expected, size = explicit(X, parts)
    monkeypatch.setattr(cgboost.kernels.combinations, name, number)
    np.testing.assert_allclose(library_sum(X, parts), expected, rtol=0, atol=1e-12 * size)


@pytest.mark.parametrize(
    ("kernels", "n_features", "n_rows", "expanded"),
    [
        ([Linear(), RBF(0.1)], 80, 500, ["Linear"]),
        ([Linear(), Polynomial(2)], 10, 500, ["Linear", "Polynomial"]),
        ([Linear(), Polynomial(2)], 200, 500, ["Linear"]),  # more features than centres
        ([Linear(), Polynomial(2)], 50, 1, ["Linear"]),
        ([Polynomial(2), RBF(0.1)], 100, 500, []),  # the RBF needs the products anyway
        ([Polynomial(2), RBF(0.1)], 5, 500, ["Polynomial"]),
    ],
)
def test_each_kernel_takes_the_cheapest_way(
    kernels: list[Kernel],
    n_features: int,
    n_rows: int,
    expanded: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A kernel gives up its expansion where products with its centres come for nearly nothing."""
    seen = []
    for kind in {type(kernel) for kernel in kernels} - {RBF}:
        original = kind.expanded
        monkeypatch.setattr(
            kind,
            "expanded",
            lambda self, *args, original=original: (
                seen.append(type(self).__name__) or original(self, *args)
            ),
        )
    rng = np.random.default_rng(6)
    centres = list(rng.normal(size=(60, n_features)))
    parts = [WeightedCentres("", kernel, centres, np.ones(60)) for kernel in kernels]
    library_sum(rng.normal(size=(n_rows, n_features)), parts)
    assert sorted(seen) == expanded


def test_features_that_no_centre_has_are_left_out_of_the_product() -> None:
    """Pixels that are black in all centres matter for the norms alone."""
    rng = np.random.default_rng(4)
    X, parts = rng.normal(size=(300, 100)), random_parts([RBF(0.01)], rng, 80, 100)
    for centre in parts[0].centres:
        centre[20:] = 0.0
    parts[0].centres[0][3] = 0.0  # which other centres have
    expected, size = explicit(X, parts)
    np.testing.assert_allclose(library_sum(X, parts), expected, rtol=0, atol=1e-12 * size)


def test_single_precision_rows_make_single_precision_products(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither the rows nor the products are made double; the sum is, and is as good as single."""
    X, parts = case()
    seen = []
    original = RBF.fill

    def watched(self, out, products, x_norms, z_norms):
        seen.extend([out.dtype, products.dtype, x_norms.dtype, z_norms.dtype])
        original(self, out, products, x_norms, z_norms)

    monkeypatch.setattr(RBF, "fill", watched)
    total = library_sum(X.astype(np.float32), parts)
    assert set(seen) == {np.dtype(np.float32)}
    assert total.dtype == np.float64
    expected, size = explicit(X, parts)
    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-5 * size)


def test_a_sum_that_is_not_finite_names_its_kernel() -> None:
    """Overflow is reported with the name of the kernel, whichever way its sum is made."""
    rng = np.random.default_rng(5)
    X = 1e200 * rng.normal(size=(200, 3))
    for kernel in (
        Polynomial(2),
        Polynomial(3),
        FunctionKernel(lambda A, B: (A @ B.T) ** 2, "mine"),
    ):
        fine, broken = random_parts([Linear(), kernel], rng, 50, 3)
        broken = broken._replace(name="mine", centres=[1e200 * z for z in broken.centres])
        with pytest.raises(KernelError, match="kernel 'mine' returned (nan|-?inf).*scale the fea"):
            library_sum(X, [fine, broken])


def test_a_library_without_centres_sums_to_zero() -> None:
    """No parts, or no rows, are no special case."""
    X, parts = case()
    np.testing.assert_array_equal(library_sum(X, []), np.zeros(500))
    assert library_sum(X[:0], parts).shape == (0,)


RANDOM = np.random.default_rng(0)
CENTRES = RANDOM.normal(size=(40, 6))


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
    X = RANDOM.normal(size=(n_rows, 6))
    mine = hypotheses(
        {"l": Normalized(Linear()), "q": Normalized(Polynomial(2)), "r": RBF(0.1), "s": RBF(0.3)}
    )
    mine = [mine[j] for j in RANDOM.permutation(len(mine))]
    coef = RANDOM.normal(size=len(mine)) * (RANDOM.uniform(size=len(mine)) < 0.8)
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
    X, coef = RANDOM.normal(size=(5, 6)), RANDOM.normal(size=80)
    np.testing.assert_allclose(
        Ensemble(mine, coef).decision_function(X), evaluate(mine, X) @ coef, atol=1e-12
    )
    mine = hypotheses({"steep": Polynomial(40)})
    X = 1e10 * np.ones((2, 6))
    with pytest.raises(KernelError, match="kernel 'steep' returned"):
        evaluate(mine, X)
    with pytest.raises(KernelError, match="kernel 'steep' returned"):
        Ensemble(mine, np.ones(40)).decision_function(X)
