"""Estimators with centers="free": few columns, and a certified gap to the SVM's optimum."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.preprocessing import scale

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    On,
    Polynomial,
)
from cgboost.exceptions import KernelError
from cgboost.kernels import Kernel
from cgboost.penalties import RKHS
from tests.estimators.kernel.kernel_data import (
    assert_enclosed,
    cancer,
    diabetes,
    digits,
    odd,
    svc,
    svr,
)

FREE = {"penalty": "rkhs", "centers": "free", "random_state": 0}


@pytest.mark.parametrize(
    ("rows", "kernel", "C"),
    [
        (odd, RBF(0.1), 3.0),
        (odd, Polynomial(3, gamma=0.05, coef0=1.0), 1.0),
        (cancer, RBF(0.02), 10.0),
    ],
)
def test_the_bound_is_one_of_the_svms_optimum(rows: Any, kernel: Kernel, C: float) -> None:
    """Bound ≤ SVC's dual optimum ≤ objective in every round, to 1e-8, and the gap is not wide.

    Rows that lie column by column in memory make the same model.
    """
    X, y = rows()
    optimum, peer = svc(gram := kernel(X, X), y, C)
    model = CGBoostClassifier({"k": kernel}, C=C, max_columns=60, **FREE).fit(X, y)
    assert_enclosed(model, optimum)
    assert model.gap_ <= 0.1
    assert model.history_["columns"].tolist() == [0, 30, 60]
    assert model.stop_reason_ == "max_columns"
    assert np.mean(model.predict(X) == peer.predict(gram)) >= 0.97
    if rows is cancer:
        by_column = clone(model).fit(np.asfortranarray(X), y)
        assert by_column.decision_function(X) == pytest.approx(model.decision_function(X), abs=1e-9)


def test_regression_is_close_to_svr_with_few_columns() -> None:
    """Twenty centres reach SVR's optimum over all 442 rows to a gap of one per cent."""
    X, y = diabetes()
    optimum, peer = svr(gram := RBF(0.01)(X, X), y)
    model = CGBoostRegressor({"k": RBF(0.01)}, epsilon=0.1, max_columns=20, **FREE).fit(X, y)
    assert model.dual_bound_ <= optimum + 1e-8 * optimum <= model.objective_ + 2e-8 * optimum
    assert model.gap_ <= 0.01
    assert model.score(X, y) == pytest.approx(peer.score(gram, y), abs=0.01)


def test_centres_are_in_the_units_of_x() -> None:
    """``centers_`` has a row for each column, scaled back; the kernel's values there make f."""
    X, y = odd()
    X = 5.0 + 100.0 * X[:, X.std(axis=0) > 0]
    library = KernelLibrary({"rbf": RBF(0.01)}, standardize=True)
    model = CGBoostClassifier(library, max_columns=15, **FREE).fit(X, y)
    assert model.centers_.shape == (model.n_columns_, X.shape[1])
    assert set(model.columns_["row"]) == {-1}
    mean, std = X.mean(axis=0), X.std(axis=0)
    values = RBF(0.01)((X - mean) / std, (model.centers_ - mean) / std)
    outputs = values @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(outputs, model.decision_function(X), atol=1e-8)


def test_features_that_no_kernel_reads_change_nothing() -> None:
    """The model is that of the others alone, to float32's digits; the centres are nan there."""
    X, y = odd(200)
    X = X[:, X.std(axis=0) > 0.2]
    noise = 1e4 * np.random.default_rng(0).normal(size=(200, 3))
    wide, places = np.hstack([noise, X]), list(range(3, 3 + X.shape[1]))
    alone = CGBoostClassifier(RBF(0.1), max_columns=15, **FREE).fit(X, y)
    model = CGBoostClassifier({"k": On(RBF(0.1), places)}, max_columns=15, **FREE).fit(wide, y)
    np.testing.assert_allclose(model.decision_function(wide), alone.decision_function(X), atol=0.02)
    assert np.isnan(model.centers_[:, :3]).all()
    np.testing.assert_allclose(model.centers_[:, 3:], alone.centers_, atol=0.02)


@pytest.mark.parametrize("standardize", [False, True])
def test_words_that_no_kernel_reads_may_stay_in_a_frame(standardize: bool) -> None:
    """The model is that of the frame without them, up to what L-BFGS makes of rounding.

    A kernel that reads words is named, and so is a number that is missing in new rows.
    """
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    y = scale(y)
    words = np.where(X["age"] > 0, "old", "young")
    mixed = X.assign(word=words, missing=None)[["word", "bmi", "missing", "bp", "s5"]]
    numbers = mixed[["bmi", "bp", "s5"]]
    library = KernelLibrary({"k": On(RBF(0.1), ["bmi", "bp", "s5"])}, standardize=standardize)
    model = CGBoostRegressor(library, max_columns=12, **FREE)
    plain = clone(model).fit(numbers, y)
    model.fit(mixed, y)
    assert model.objective_ == pytest.approx(plain.objective_, rel=0.01)
    np.testing.assert_allclose(model.predict(mixed), plain.predict(numbers), atol=0.15)
    assert np.isnan(model.centers_).all(axis=0).tolist() == [True, False, True, False, False]
    assert np.isfinite(model.centers_[:, [1, 3, 4]]).all()
    reads = clone(model).set_params(library={"k": On(RBF(0.1), "bmi"), "w": On(same, "word")})
    with pytest.raises(KernelError, match="kernel 'w' reads columns 'word' of X.*OneHotEncoder"):
        reads.fit(mixed, y)
    with pytest.raises(KernelError, match="column 'bp' must hold finite numbers"):
        model.predict(mixed.assign(bp=np.nan))


def same(a: Any, b: Any) -> Any:
    """1 for equal words."""
    return (np.asarray(a)[:, None] == np.asarray(b)[None, :]).astype(float)


@pytest.mark.parametrize("nu", [0.02, 0.1, 0.3])
def test_margins_of_the_models_choice(nu: float) -> None:
    """Bounds and objectives are on both sides of the optimum over rows, and ρ is near its margin.

    With weights the shares of rows below and at the margin are those that ν says. The first stage
    of few columns is polished again at the margin that it had: its objective is lower then.
    """
    X, y = odd()
    weights = np.random.default_rng(0).uniform(0.5, 1.5, size=300)
    model = CGBoostClassifier(RBF(0.1), nu=nu, max_columns=60, **FREE).fit(X, y, weights)
    rows = CGBoostClassifier(RBF(0.1), nu=nu, penalty="rkhs", tol=1e-7).fit(X, y, weights)
    slack = 1e-6 * abs(rows.objective_)
    assert model.dual_bound_ <= rows.objective_ + slack
    assert model.objective_ >= rows.dual_bound_ - slack
    assert model.gap_ <= 0.2
    assert model.margin_ == pytest.approx(rows.margin_, rel=0.1)
    assert np.mean(model.predict(X) == rows.predict(X)) >= 0.97
    margins = y * model.decision_function(X)
    share = weights / weights.sum()
    assert share @ (margins < model.margin_ * (1 - 1e-3)) <= nu + 1e-9
    assert share @ (margins <= model.margin_ * (1 + 1e-3)) >= nu - 1e-9
    few = CGBoostClassifier(RBF(0.1), nu=0.05, max_columns=20, **FREE).fit(X, y)
    assert few.history_["columns"].tolist() == [0, 20, 20]
    first, second = few.history_["objective"][1:]
    assert second < first < 0


@pytest.mark.parametrize("nu", [0.1, 0.8])
def test_tubes_of_the_models_choice(nu: float) -> None:
    """ν-regression with twenty centres is within one per cent of its optimum over rows."""
    X, y = diabetes()
    model = CGBoostRegressor(RBF(0.01), nu=nu, max_columns=20, **FREE).fit(X, y)
    rows = CGBoostRegressor(RBF(0.01), nu=nu, penalty="rkhs", tol=1e-7).fit(X, y)
    assert model.dual_bound_ <= rows.objective_ * (1 + 1e-6)
    assert rows.dual_bound_ * (1 - 1e-6) <= model.objective_ <= 1.01 * rows.objective_
    assert model.epsilon_ == pytest.approx(rows.epsilon_, abs=0.02)


def test_outliers_with_free_centres() -> None:
    """Forty centres decide as the one-class machine over all rows does, certified."""
    X, _ = digits(400)
    rows = CGBoostOutlierDetector(RBF(0.1), nu=0.1, penalty="rkhs", tol=1e-6).fit(X)
    model = CGBoostOutlierDetector(RBF(0.1), nu=0.1, max_columns=40, **FREE).fit(X)
    assert model.centers_.shape == (40, 64)
    assert model.gap_ <= 0.01
    assert model.dual_bound_ <= rows.objective_ + 1e-6 * abs(rows.objective_)
    unseen = load_digits(return_X_y=True)[0][400:] / 16.0
    assert np.mean(model.predict(unseen) == rows.predict(unseen)) >= 0.97


def test_several_kernels_and_classes_share_the_columns() -> None:
    """Each kernel has its part, weights of the penalty count, and the bound is that of the sum.

    One against the rest, each class has ``max_columns`` centres, and ``columns_`` says which.
    """
    X, y = odd()
    kernels = {"linear": Linear(), "rbf": RBF(0.1)}
    weighted = FREE | {"penalty": RKHS({"linear": 2.0})}
    model = CGBoostClassifier(kernels, max_columns=30, **weighted).fit(X, y)
    assert model.columns_per_kernel_ == {"linear": 15, "rbf": 15}
    optimum, _ = svc(0.5 * kernels["linear"](X, X) + kernels["rbf"](X, X), y)
    assert model.dual_bound_ <= optimum * (1 + 1e-8)
    assert model.objective_ >= optimum * (1 - 1e-8)
    assert model.gap_ <= 0.15
    X, y = digits(200)
    few = y < 4
    model = CGBoostClassifier(RBF(0.1), C=10.0, max_columns=12, **FREE).fit(X[few], y[few])
    assert model.score(X[few], y[few]) >= 0.98
    assert np.unique(model.columns_["class"], return_counts=True)[1].tolist() == [12] * 4
    assert model.centers_.shape == (48, 64)
    assert np.all(np.isfinite(model.gap_))


def test_a_seed_gives_the_same_model_again() -> None:
    """``random_state`` decides all that is random."""
    X, y = odd()
    model = CGBoostClassifier(RBF(0.1), max_columns=12, **FREE).fit(X, y)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    other = clone(model).set_params(random_state=1).fit(X, y)
    assert not np.array_equal(model.centers_, other.centers_)


def test_stages_are_rounds_for_histories_and_early_stopping() -> None:
    """Scores, staged predictions and the best round go by stages."""
    X, y = odd(500)
    train, held = (X[:300], y[:300]), (X[300:], y[300:])
    model = CGBoostClassifier(RBF(0.1), C=3.0, max_columns=80, **FREE)
    model.fit(*train, eval_set=held)
    assert model.history_["columns"].tolist() == [0, 20, 40, 80]
    staged = list(model.staged_decision_function(held[0]))
    assert len(staged) == 4
    errors = [np.mean(np.sign(output) != held[1]) for output in staged]
    np.testing.assert_allclose(model.history_["validation_error"][1:], errors[1:])
    np.testing.assert_allclose(staged[-1], model.decision_function(held[0]))
    early = clone(model).set_params(early_stopping=True, n_iter_no_change=1)
    early.fit(*train, eval_set=held)
    assert early.n_columns_ == early.history_["columns"][early.best_round_]
    own = early.history_["validation_error"]
    assert own[early.best_round_] == own.min()


def test_the_number_of_columns_is_limited_by_default() -> None:
    """A quarter of the rows, at most 200; with more than rows the SVM's optimum is reached."""
    X, y = odd(120)
    model = CGBoostClassifier(RBF(0.1), **FREE).fit(X, y)
    assert model.n_columns_ == 30
    assert model.stop_reason_ == "column_limit"
    assert "as many columns as allowed" in " ".join(repr(model).split())
    exact = CGBoostClassifier(RBF(0.1), max_columns=240, **FREE).fit(X, y)
    assert exact.gap_ <= 1e-4
    tiny = CGBoostClassifier(RBF(0.1), **FREE).fit(X[:3], [1, -1, 1])
    assert tiny.n_columns_ == 1


@pytest.mark.parametrize("offset", ["none", "penalized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
def test_losses_and_offsets(loss: Any, offset: Any) -> None:
    """Bounds hold for every loss that has a dual, and every offset; weights of 0 do not count."""
    X, y = odd()
    weights = np.where(np.arange(300) < 150, 0.0, 1.0)
    model = CGBoostClassifier(RBF(0.1), loss=loss, offset=offset, max_columns=20, **FREE)
    model.fit(X, y, sample_weight=weights)
    assert model.dual_bound_ <= model.objective_
    assert model.gap_ <= 0.35
    assert model.score(X[150:], y[150:]) >= 0.97
    part = clone(model).set_params(centers="rows", max_columns=None, tol=1e-5)
    part.fit(X[150:], y[150:])
    assert model.objective_ >= part.dual_bound_ * (1 - 1e-8)
    assert model.dual_bound_ <= part.objective_ * (1 + 1e-8)


def test_scales_of_all_kinds_are_fitted() -> None:
    """Huge values, tiny and shifted features, narrow kernels, equal rows: a model and its gap."""
    X, y = odd(120)
    hard = {
        "huge values": (Polynomial(8), 16.0 * X),
        "tiny features": (RBF(1e11), 1e-6 * X),
        "far away": (RBF(0.1), X + 1e6),
        "narrow": (RBF(30.0), X),
        "equal rows": (RBF(0.1), np.repeat(X[:12], 10, axis=0)),
    }
    for name, (kernel, rows) in hard.items():
        labels = np.repeat(y[:12], 10) if name == "equal rows" else y
        model = CGBoostClassifier(kernel, C=10.0, max_columns=12, **FREE).fit(rows, labels)
        assert 0 < model.n_columns_ <= 12, name
        assert np.isfinite(model.gap_), name
        assert model.dual_bound_ <= model.objective_ * (1 + 1e-6), name
        assert model.score(rows, labels) >= 0.55, name
