"""The pricer of free centres."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cgboost import RBF, KernelLibrary, Laplacian, Linear, Polynomial, Precomputed
from cgboost.exceptions import KernelError
from cgboost.kernels import Normalized
from cgboost.losses import Hinge, nu_hinge
from cgboost.masters.rkhs.master import RKHSMaster
from cgboost.masters.rkhs.staged import StagedMaster
from cgboost.pricing import KernelPool
from cgboost.pricing.centres.pricer import (
    FreeCentrePricer,
    check_gradients,
    exact_values,
    narrowed,
)
from cgboost.pricing.rkhs.pricer import RKHSPricer
from cgboost.studies.datasets import load_digits

DIGITS, LABELS = load_digits()
X, Y = DIGITS[:300], np.where(LABELS[:300] % 2, 1.0, -1.0)
LOSS = Hinge().dual_box(Y, np.full(300, 3.0))


def parts(X: Any = X, n_centres: int = 40, loss: Any = LOSS, **kernels: Any) -> tuple[Any, Any]:
    """A master of stages and a pricer."""
    pool = KernelPool(KernelLibrary(kernels or {"rbf": RBF(0.1)}), X)
    pricer = FreeCentrePricer(
        pool,
        RKHSPricer(pool),
        loss,
        n_centres,
        weight=lambda name: 1.0,
        offset="free",
        random=np.random.RandomState(0),
    )
    return StagedMaster(lambda: RKHSMaster(loss)), pricer


def test_stages_come_one_after_the_other() -> None:
    """Each call has all columns of a stage, an exact bound, and centres that are no rows."""
    master, pricer = parts()
    objectives = []
    for size in (20, 40):
        state = master.solve()
        found = pricer.price(state, 1)
        assert (found.replaces, found.exact, len(found.columns)) == (True, True, size)
        assert all(column.hypothesis.row == -1 for column in found.columns)
        assert len({column.key for column in found.columns}) == size
        for column in found.columns:
            values = column.hypothesis.family.outputs(X, [column.hypothesis])[:, 0]
            np.testing.assert_allclose(column.values, values, atol=1e-12)
        master.replace(found.columns)
        objectives.append(master.solve().objective)
    assert objectives[1] < objectives[0]
    after = pricer.price(master.solve(), 3)
    assert not after.replaces
    assert [column.hypothesis.row >= 0 for column in after.columns] == [True] * 3


def test_after_the_stages_the_bound_is_sharper() -> None:
    """An ascent over the rows, once, finds a better pseudo-response than the master's."""
    master, pricer = parts(n_centres=10)
    master.replace(pricer.price(master.solve(), 1).columns)
    state = master.solve()
    plain = RKHSPricer(pricer.pool).price(state, 0)
    sharp = pricer.price(state, 1)
    assert sharp.exact
    assert sharp.response is not None
    at = replace(state, pseudo_response=sharp.response)
    assert master.bound(state, plain) < 0.99 * master.bound(at, sharp) < state.objective
    assert pricer.price(state, 1).response is None


def test_the_certificate_alone_is_a_pass_over_the_rows() -> None:
    """``limit=0`` polishes nothing."""
    master, pricer = parts()
    found = pricer.price(master.solve(), 0)
    assert found.exact
    assert not found.replaces
    assert not found.columns


def test_many_rows_have_a_bound_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many rows stages are not exact, and what follows them is."""
    monkeypatch.setattr("cgboost.pricing.centres.pricer.CERTIFIED_ROWS", 100)
    master, pricer = parts(n_centres=10)
    found = pricer.price(master.solve(), 1)
    assert not found.exact
    master.replace(found.columns)
    assert pricer.price(master.solve(), 1).exact


def test_it_goes_on_from_the_centres_in_the_master() -> None:
    """A warm start is polished again, as one stage, and no worse than before."""
    master, pricer = parts(n_centres=20)
    found = pricer.price(master.solve(), 1)
    master.replace(found.columns)
    before = master.solve()
    again, other = parts(n_centres=20)
    again.start_from(master.warm_start)
    better = other.price(again.solve(), 1)
    assert len(better.columns) == 20
    again.replace(better.columns)
    assert again.solve().objective <= before.objective * 1.01


def test_little_time_ends_the_polishing() -> None:
    """With no time left a stage is as it started."""
    master, pricer = parts()
    pricer.seconds_left = 0.0
    found = pricer.price(master.solve(), 1)
    assert len(found.columns) == 20
    assert found.n_evaluated <= 3 * 20 + 300


def test_products_are_made_in_float32_where_that_is_enough() -> None:
    """Not for rows far from the origin, nor for values that overflow."""
    assert narrowed([RBF(0.1), Normalized(Polynomial(5))], X).dtype == np.float32
    assert narrowed([RBF(0.1)], X + 1e5).dtype == np.float64
    assert narrowed([Polynomial(30)], X * 100).dtype == np.float64
    narrow = X.astype(np.float32)
    assert narrowed([RBF(0.1)], narrow) is narrow


def test_columns_are_made_in_float64() -> None:
    """Whatever the rows are, values are those of the centres in float64."""
    narrow, Z = X.astype(np.float32), X[:3].astype(np.float32) + 0.5
    values = exact_values("rbf", RBF(0.1), narrow, Z)
    expected = RBF(0.1)(narrow.astype(np.float64), Z.astype(np.float64)).T
    np.testing.assert_allclose(values, expected, rtol=1e-13)


@pytest.mark.parametrize("kernel", [Laplacian(0.1), Precomputed("given", np.eye(300))])
def test_kernels_without_a_gradient_are_refused(kernel: Any) -> None:
    """Before anything is computed."""
    with pytest.raises(KernelError, match="no gradient by its centre"):
        check_gradients([kernel], X)


@pytest.mark.parametrize("rows", [sparse.csr_array(X), X.astype(object)])
def test_rows_must_be_dense_numbers(rows: Any) -> None:
    """The error says what X is, and what to do."""
    with pytest.raises(KernelError, match=r"needs rows of dense numbers.*centers='rows'"):
        check_gradients([Linear()], rows)


def test_a_margin_of_its_own_is_that_of_the_model_so_far() -> None:
    """With nu the second stage has the centres of the first, moved for the margin of its model."""
    master, pricer = parts(loss=nu_hinge(Y, np.ones(300), 0.2, balanced=True))
    sizes, objectives = [], []
    for _ in range(3):
        state = master.solve()
        objectives.append(state.objective)
        priced = pricer.price(state, 10)
        sizes.append(len(priced.columns))
        master.replace(priced.columns)
    assert sizes[0] == sizes[1] < sizes[2]
    assert objectives[0] > objectives[1] > objectives[2]
