"""The warm start: columns from a part of the rows, which change the way and not the answer."""

from unittest.mock import Mock

import numpy as np
import pytest

from cgboost import RBF, CGBoostClassifier, CGBoostRegressor, KernelLibrary, Linear
from cgboost.estimators.kernel import kernel_columns
from cgboost.estimators.kernel.kernel_columns import warm_start_from_part
from cgboost.losses import hinge
from cgboost.masters import OneNormMaster
from cgboost.pricing import KernelPool

LIBRARY = KernelLibrary({"linear": Linear(), "rbf": RBF(0.5)})


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, np.ndarray]:
    """500 rows, which count as many."""
    monkeypatch.setattr(kernel_columns, "MANY_ROWS", 60)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=500) > 0, 1.0, -1.0)


@pytest.mark.parametrize("kind", [CGBoostClassifier, CGBoostRegressor])
def test_the_optimum_is_that_without_a_warm_start_from_part(
    kind: type, rows: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fit that starts warm has columns in round 0, each its own, and ends at the same objective.

    Each column is that of its key on all rows.
    """
    X, y = rows
    pool = KernelPool(LIBRARY, X)
    columns = warm_start_from_part(pool, hinge(y, np.ones(500)), OneNormMaster).columns
    assert len({column.key for column in columns}) == len(columns) > 0
    for column in columns:
        name, row = column.key
        expected = pool.column(LIBRARY.names.index(name), row)
        np.testing.assert_allclose(column.values, expected.values)
        np.testing.assert_array_equal(column.hypothesis.centre, X[row])
    warm = kind(LIBRARY, penalty="l1", tol=1e-7).fit(X, y)
    monkeypatch.setattr(kernel_columns, "MANY_ROWS", 10**6)
    plain = kind(LIBRARY, penalty="l1", tol=1e-7).fit(X, y)
    assert plain.history_["columns"][0] == 0 < warm.history_["columns"][0]
    assert warm.history_["objective"][0] < 0.9 * plain.history_["objective"][0]
    assert warm.objective_ == pytest.approx(plain.objective_, rel=2e-7)


def test_ctrl_c_in_a_warm_start_ends_the_fit(
    rows: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no model of all rows yet that could be kept."""
    monkeypatch.setattr(kernel_columns.StrataPricer, "price", Mock(side_effect=KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        warm_start_from_part(
            KernelPool(LIBRARY, rows[0]), hinge(rows[1], np.ones(500)), OneNormMaster
        )


def test_weights_limits_and_other_norms(rows: tuple[np.ndarray, np.ndarray]) -> None:
    """Rows of weight 0 may fill the part; a limit on columns and the 2-norm need no warm start."""
    X, y = rows
    weights = np.zeros(500)
    weights[:40] = 1.0
    model = CGBoostClassifier(LIBRARY, penalty="l1", tol=1e-6).fit(X, y, sample_weight=weights)
    assert model.converged_
    limited = CGBoostClassifier(LIBRARY, penalty="l1", max_columns=3).fit(X, y)
    assert limited.n_columns_ <= 3
    two_norm = CGBoostClassifier(LIBRARY, penalty="l2", tol=1e-2).fit(X, y)
    assert two_norm.history_["columns"][0] == 0


@pytest.mark.parametrize("kind", [CGBoostClassifier, CGBoostRegressor])
def test_a_small_two_norm_takes_all_columns_at_once(kind: type) -> None:
    """Unless rounds are asked for; the optimum is the same. "all" asks for them at any size."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.sign(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=30))
    for own in ({"columns_per_round": "all", "max_columns": 99}, {}):
        whole = kind(penalty="l2", **own).fit(X, y)
        assert whole.n_iter_ == 2
        assert whole.gap_ < 1e-8
    rounds = kind(penalty="l2", columns_per_round=9, tol=1e-6).fit(X, y)
    assert rounds.n_iter_ > 5
    assert whole.objective_ == pytest.approx(rounds.objective_, rel=1e-5)
    for parameters in ({"early_stopping": True}, {"max_columns": 9}):
        assert kind(penalty="l2", random_state=0, **parameters).fit(X, y).n_iter_ > 2
