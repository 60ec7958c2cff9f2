"""The weighted sum of kernels as one kernel."""

import numpy as np
import pytest

from cgboost import RBF, ColumnGeneration, KernelLibrary, On, Polynomial, Precomputed
from cgboost.generation.columns import Combination
from cgboost.kernels.base import Kernel
from cgboost.losses import Hinge
from cgboost.masters.rkhs.master import RKHSMaster
from cgboost.penalties import RKHS
from cgboost.pricing import KernelPool
from cgboost.pricing.rkhs import summed
from cgboost.pricing.rkhs.pricer import RKHSPricer
from cgboost.pricing.rkhs.summed import SummedKernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=50) > 0, 1.0, -1.0)
KERNELS: dict[str, Kernel] = {
    "rbf": RBF(0.5),
    "poly": Polynomial(2, coef0=1.0),
    "part": On(RBF(1.0), [0]),
}
PENALTY = RKHS({"rbf": 2.0, "part": 0.5})


def gram(Z: np.ndarray = X) -> np.ndarray:
    """Σ K_p/w_p of rows with the training rows."""
    part = RBF(1.0)(Z[:, :1], X[:, :1]) / 0.5
    return np.asarray(RBF(0.5)(Z, X) / 2.0 + Polynomial(2, coef0=1.0)(Z, X) + part)


def sum_of(rows: np.ndarray = X, kernels: dict[str, Kernel] = KERNELS) -> SummedKernel:
    """The sum of three kernels."""
    return SummedKernel(KernelPool(KernelLibrary(kernels), rows), PENALTY.weight)


def test_scores_and_values_are_those_of_the_summed_matrix() -> None:
    """S r within the stated errors, S of some rows, and its diagonal."""
    own, response = sum_of(), np.random.default_rng(1).normal(size=50)
    scores, errors = own.all_scores(response)
    assert scores.shape == errors.shape == (1, 50)
    assert (np.abs(scores[0] - gram() @ response) <= errors[0] + 1e-12).all()
    assert own.diagonal(0) == pytest.approx(np.diag(gram()))
    rows = np.array([3, 7, 11])
    values = own.values_on(np.zeros(2, dtype=np.intp), rows[:2], rows)
    assert values == pytest.approx(gram()[np.ix_(rows[:2], rows)])


def test_scores_with_more_digits_are_those_of_kernels_that_have_them() -> None:
    """They agree with the others within the errors of both; with a kernel on columns: none."""
    products = {"rbf": RBF(0.5), "poly": Polynomial(2, coef0=1.0)}
    own, response = sum_of(kernels=products), np.random.default_rng(1).normal(size=50)
    scores, errors = own.all_scores(response)
    found = own.extended_scores(response)
    assert found is None or (np.abs(scores - found[0]) <= errors + found[1]).all()
    assert found is None or (found[1] < errors).all()
    assert sum_of().extended_scores(response) is None


@pytest.mark.parametrize("at_once", [1, 10**6])
def test_columns_are_sums_of_functions(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values on the training rows and on new ones are Σ K_p/w_p, and so are those of the terms."""
    monkeypatch.setattr(summed, "ADDED_AT_ONCE", at_once)
    own, new = sum_of(), np.random.default_rng(2).normal(size=(8, 3))
    columns = own.columns([0, 0], [4, 9], wide=True)
    functions = [column.hypothesis for column in columns]
    expected = gram(new)[:, [4, 9]]
    assert own.columns([0], [4])[0].key == columns[0].key != columns[1].key
    assert functions[0].family.outputs(new, functions) == pytest.approx(expected)
    for place, (row, column) in enumerate(zip([4, 9], columns, strict=True)):
        assert column.values.dtype == np.float64
        assert column.values == pytest.approx(gram()[:, row])
        assert isinstance(column.hypothesis, Combination)
        terms, weights, names = column.hypothesis.terms()
        assert names == ["rbf", "poly", "part"]
        values = [term.family.outputs(new, [term])[:, 0] for term in terms]
        assert weights @ np.array(values) == pytest.approx(expected[:, place])


def test_given_values_in_float32_stay_narrow() -> None:
    """A master must know that a sum has no more digits than its least exact kernel."""
    matrix = RBF(0.5)(X, X).astype(np.float32)
    narrow = SummedKernel(
        KernelPool(KernelLibrary({"a": Precomputed(), "b": Precomputed()}), matrix), PENALTY.weight
    )
    assert narrow.is_narrow(0)
    assert narrow.columns([0], [5], wide=True)[0].values.dtype == np.float32
    assert not sum_of(X.astype(np.float32)).is_narrow(0)
    assert sum_of(X.astype(np.float32)).columns([0], [5], wide=True)[0].values.dtype == np.float64


def test_the_optimum_is_that_of_a_column_for_each_kernel_and_row() -> None:
    """Both ways reach one objective and each other's bound, the sum with fewer columns."""
    loss, found = Hinge().on(Y, np.ones(50)), []
    separate = KernelPool(KernelLibrary(KERNELS), X)
    for master, pricer in (
        (RKHSMaster(loss, PENALTY), RKHSPricer(separate, PENALTY.weight, tol=1e-9)),
        (RKHSMaster(loss, PENALTY), RKHSPricer(sum_of(), tol=1e-9)),
    ):
        found.append(ColumnGeneration(master, pricer, tol=1e-9, columns_per_round=5).run())
    each, together = found
    assert together.objective == pytest.approx(each.objective, rel=1e-8)
    assert together.bound is not None
    assert each.bound is not None
    slack = 1e-9 * each.objective
    assert max(each.bound, together.bound) <= min(each.objective, together.objective) + slack
    assert len(together.columns) <= 50 < len(each.columns)
