"""The master of the group norm against the full problem in CVXPY."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from cgboost import RBF, ColumnGeneration, KernelLibrary, Linear, Polynomial
from cgboost.generation.columns import Column
from cgboost.generation.history import Result
from cgboost.losses import Hinge, LogLoss, Loss, Poisson, Quantile, SquaredError
from cgboost.masters.rkhs.group_norm_master import WholeKernelMaster
from cgboost.penalties import GroupNorm, SquaredGroupNorm
from cgboost.pricing import KernelPool
from cgboost.pricing.rkhs.whole_kernel_pricer import WholeKernelPool, WholeKernelPricer
from tests.effort import examples
from tests.function_norms import optimum

LIBRARY = KernelLibrary(
    {"linear": Linear(), "quadratic": Polynomial(2), "wide": RBF(0.1), "narrow": RBF(2.0)}
)

PLAIN = GroupNorm(standardize=False)


def grams(X: np.ndarray) -> dict[str, np.ndarray]:
    """The matrices of the library, made without it."""
    own = X @ X.T
    return {
        "linear": own,
        "quadratic": own**2,
        "wide": rbf_kernel(X, gamma=0.1),
        "narrow": rbf_kernel(X, gamma=2.0),
    }


def run(
    X: np.ndarray, bound: Any, penalty: GroupNorm, tol: float, at_once: int = 4, **options: str
) -> tuple[WholeKernelMaster, Result]:
    """Column generation over the kernels of the library."""
    own = PLAIN if isinstance(penalty, SquaredGroupNorm) else penalty
    pricer = WholeKernelPricer(WholeKernelPool(KernelPool(LIBRARY, X), own, 100.0))
    master = WholeKernelMaster(bound, penalty, **options)
    return master, ColumnGeneration(master, pricer, tol=tol, columns_per_round=at_once).run()


WEIGHTED = GroupNorm({"linear": 0.5, "narrow": 2.0}, standardize=False)


@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@pytest.mark.parametrize("penalty", [WEIGHTED, SquaredGroupNorm(standardize=False)], ids=repr)
@pytest.mark.parametrize("loss", [Hinge(), Quantile(0.7), LogLoss(), SquaredError()], ids=repr)
@settings(max_examples=examples(6))
@given(seed=st.integers(0, 10**6), C=st.sampled_from([0.05, 1.0, 20.0]))
def test_reaches_the_optimum_over_all_functions(
    loss: Loss, penalty: GroupNorm, offset: str, seed: int, C: float
) -> None:
    """Objective and bound meet at CVXPY's optimum, within bounds in every round."""
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(25, 3)), C * rng.uniform(0.2, 2.0, 25)
    noise = 0.5 * rng.normal(size=25)
    y = np.sign(X[:, 0] * X[:, 1] + noise) if loss.classification else X[:, 0] ** 2 + noise
    bound, squared = loss.on(y, weights), isinstance(penalty, SquaredGroupNorm)
    charges = [1, 1, 1, 1, 1] if squared else [0.5, 1, 1, 2, 1]

    def charged(norms: list[Any]) -> Any:
        total = sum(w * norm for w, norm in zip(charges, norms, strict=False))
        return cp.square(total) / 2 if squared else total

    best = optimum(grams(X), bound.to_cvxpy, charged, offset=offset)
    _, result = run(X, bound, penalty, 1e-6, 2, offset=offset)
    scale = max(1.0, abs(best))
    assert result.gap <= 1e-6
    assert result.objective == pytest.approx(best, abs=1e-6 * scale)
    bounds, objectives = result.history["bound"], result.history["objective"]
    assert (bounds[~np.isnan(bounds)] <= best + 1e-8 * scale).all()
    assert (objectives >= best - 1e-8 * scale).all()
    assert result.history["columns"].max() <= len(LIBRARY)


@pytest.mark.parametrize("loss", [LogLoss(), SquaredError(), Hinge()], ids=repr)
def test_a_penalized_offset_is_in_the_square(loss: Loss) -> None:
    """Most labels are 1, so that there is an offset: ½(Σ‖f_p‖ + |b|)² has no smaller minimum."""
    rng = np.random.default_rng(5)
    X, weights = rng.normal(size=(30, 3)), rng.uniform(0.5, 3.0, 30)
    y = np.where(X[:, 0] * X[:, 1] + rng.normal(size=30) > -1.0, 1.0, -1.0)
    bound = loss.on(y, weights)
    best = optimum(
        grams(X), bound.to_cvxpy, lambda norms: cp.square(sum(norms)) / 2, offset="penalized"
    )
    _, result = run(X, bound, SquaredGroupNorm(), 1e-6, offset="penalized")
    assert abs(result.intercept) > 0.1
    assert result.gap <= 1e-6
    assert result.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("loss", [LogLoss(), Poisson()], ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_smooth_losses_are_certified_to_eight_digits(seed: int, loss: Loss) -> None:
    """The response of the last model has a better bound than that of a rounded output."""
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(30, 3)), rng.uniform(0.5, 3.0, 30)
    score = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=30) + 1.0
    y = rng.poisson(np.exp(np.minimum(score, 2.0))) if loss == Poisson() else np.sign(score)
    bound = loss.on(y.astype(float), weights)
    assert run(X, bound, PLAIN, 2e-8, offset="none")[1].gap <= 2e-8


def test_functions_of_earlier_answers_have_left() -> None:
    """Only the functions of the last answer have coefficients; each kernel has at most one."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = np.sign(X[:, 0] * X[:, 1])
    master, result = run(X, Hinge().on(y, np.ones(40)), PLAIN, 1e-6, 1)
    active = [result.columns[j] for j in np.flatnonzero(result.coef)]
    assert len({column.stratum for column in active}) == len(active) < len(result.columns)
    assert result.ensemble.decision_function(X) == pytest.approx(result.output, abs=1e-9)
    assert master.warm_start.columns
    again = WholeKernelMaster(Hinge().on(y, np.ones(40)), PLAIN)
    again.start_from(master.warm_start)
    assert again.solve().objective == pytest.approx(result.objective, rel=1e-6)


@pytest.mark.parametrize("offset", ["none", "free"])
def test_rounding_of_scores_costs_the_bound_no_share_of_the_errors(offset: str) -> None:
    """With noise for labels and C = 10⁴ scores may be off by a tenth, and the gap is 10⁻⁵."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 10)), np.where(rng.random(120) < 0.5, 1.0, -1.0)
    pool = WholeKernelPool(KernelPool(KernelLibrary({"l": Linear()}), X), PLAIN, 100.0)
    master = WholeKernelMaster(Hinge().on(y, np.full(120, 1e4)), PLAIN, offset=offset)
    result = ColumnGeneration(master, WholeKernelPricer(pool), tol=1e-5).run()
    space = pool.space(0)
    response = master.solve().pseudo_response
    _, most = pool.scores(response)
    assert most[0] <= 1.0 + 1e-9
    assert space.score_error(response) > 1e3 * result.gap
    assert space.score_error(response) == pytest.approx(pool.forms.values(response)[1][0])
    assert result.gap <= 1e-5


def test_duplicate_and_zero_kernels_do_no_harm() -> None:
    """The optimum is that without them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    y = np.sign(X[:, 0] + 0.3 * rng.normal(size=30))

    def objective(library: dict[str, object]) -> float:
        pool = WholeKernelPool(KernelPool(KernelLibrary(library), X), PLAIN, 100.0)
        master = WholeKernelMaster(Hinge().on(y, np.ones(30)), PLAIN)
        result = ColumnGeneration(
            master, WholeKernelPricer(pool), tol=1e-8, columns_per_round=5
        ).run()
        assert result.gap <= 1e-8
        return result.objective

    one = objective({"rbf": RBF(0.5)})
    nothing = lambda A, B: np.zeros((len(A), len(B)))  # noqa: E731
    twice = objective({"a": RBF(0.5), "b": RBF(0.5), "zero": nothing})
    assert twice == pytest.approx(one, abs=1e-7)


def test_what_it_cannot_take_is_named() -> None:
    """Columns that are no kernels, signs and solvers are refused."""
    y = np.array([1.0, -1.0])
    box = Hinge().on(y, np.ones(2))
    with pytest.raises(ValueError, match="sign|coefficients"):
        WholeKernelMaster(box, PLAIN, coef="nonneg")
    with pytest.raises(ValueError, match="cone program"):
        WholeKernelMaster(box, PLAIN, solver="highs")
    with pytest.raises(TypeError, match="whole kernels"):
        WholeKernelMaster(box, PLAIN).add([Column(np.zeros(2), key="plain")])
