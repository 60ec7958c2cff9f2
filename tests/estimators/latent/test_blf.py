"""Boosted Latent Factors as estimators: weights, dtypes, stages, early stopping, persistence."""

import pickle
import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from cgboost import RBF, BLFClassifier, BLFRegressor, Linear, Precomputed
from cgboost.losses import get_loss
from cgboost.pricing.latent.latent_factor_pricer import LatentFactorPricer
from tests.estimators.data import three_classes
from tests.estimators.latent.latent_data import (
    CLASSES,
    DATA,
    LOSSES,
    OPTIONS,
    REGRESSION,
    data_of,
    exact,
    model_of,
    noisy_line,
    options_of,
    outputs,
    overlapping,
)

KERNELS = [None, RBF(0.1)]


@pytest.mark.parametrize("loss", LOSSES)
def test_stages_are_the_models_of_fewer_factors(loss: str) -> None:
    """The first so many factors and their coefficients do not depend on those that follow."""
    X, y = data_of(loss)
    stages = list(model_of(loss, 5).fit(X, y).staged_decision_function(X))
    assert len(stages) == 5
    for count, stage in enumerate(stages, start=1):
        shorter = model_of(loss, count).fit(X, y)
        np.testing.assert_allclose(stage, outputs(shorter, X), atol=1e-12)


def test_many_sparse_features_stay_sparse() -> None:
    """100000 binary features: a tenth of the memory of dense rows, and right answers."""
    rng = np.random.default_rng(0)
    places = np.sort(rng.integers(0, 100_000, size=(800, 200)), axis=1).ravel()
    X = sp.csr_matrix((np.ones(len(places)), places, 200 * np.arange(801)), (800, 100_000))
    X.sum_duplicates()
    X.data[:] = 1.0
    y = np.asarray(X[:, :2000].sum(axis=1)).ravel() > 4
    before = X.copy()
    tracemalloc.start()
    probabilities = BLFClassifier(4).fit(X, y).predict_proba(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * 8 * 800 * 100_000
    assert (before != X).nnz == 0
    assert np.mean((probabilities[:, 1] > 0.5) == y) > 0.9


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_float32_stays_float32(kernel: Any) -> None:
    """Nearly the model of float64, in less memory than a copy of X, which is not changed."""
    rng = np.random.default_rng(0)
    shape = (3000, 400) if kernel is None else (300, 5)
    X = rng.normal(size=shape)
    y = X[:, :3].sum(axis=1) + rng.normal(size=shape[0])
    single = X.astype(np.float32)
    before = single.copy()
    tracemalloc.start()
    model = BLFRegressor(3, kernel=kernel).fit(single, y)
    predictions = model.predict(single)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(single, before)
    np.testing.assert_allclose(
        predictions, BLFRegressor(3, kernel=kernel).fit(X, y).predict(X), atol=1e-3
    )
    if kernel is None:
        assert peak < single.nbytes


def test_coefficients_are_the_model() -> None:
    """X·coef_ + intercept_; with a kernel K·dual_coef_ + intercept_; factors add up to f − μ."""
    X, y = noisy_line()
    new = np.random.default_rng(0).normal(size=(9, 6))
    model = BLFRegressor(3, loss="absolute_error").fit(X, y)
    np.testing.assert_allclose(new @ model.coef_ + model.intercept_, model.predict(new))
    np.testing.assert_allclose(model.x_rotations_ @ model.factor_coef_, model.coef_)
    scaled = model.transform(new, scaled=True)
    np.testing.assert_allclose(scaled, model.transform(new) * model.factor_coef_)
    constant = model.predict(X.mean(axis=0)[None])[0]
    np.testing.assert_allclose(scaled.sum(axis=1) + constant, model.predict(new))
    kernel = BLFRegressor(3, loss="absolute_error", kernel=RBF(0.1)).fit(X, y)
    values = RBF(0.1)(new, X) @ kernel.dual_coef_ + kernel.intercept_
    np.testing.assert_allclose(values, kernel.predict(new))
    assert not hasattr(kernel, "coef_")
    assert not hasattr(model, "dual_coef_")
    wide = BLFRegressor(2).fit(np.random.default_rng(0).normal(size=(500, 20)), np.arange(500))
    assert len(pickle.dumps(wide)) < 500 * 20 * 8 / 2  # the training rows are not in it


def test_several_classes_have_factors_of_their_own() -> None:
    """One against the rest: every class is the model of its own labels."""
    X, y = three_classes()
    model = BLFClassifier(2).fit(X, np.array(["a", "b", "c"])[y])
    assert model.n_components_ == [2, 2, 2]
    assert model.coef_.shape == (3, 2)
    assert model.vip_.shape == (2,)
    assert model.transform(X).shape == model.x_scores_.shape == (45, 6)
    np.testing.assert_allclose(model.transform(X), model.x_scores_, atol=1e-10)
    for k in range(3):
        own = BLFClassifier(2).fit(X, y == k)
        np.testing.assert_allclose(model.decision_function(X)[:, k], own.decision_function(X))
        np.testing.assert_allclose(model.transform(X)[:, 2 * k : 2 * k + 2], own.transform(X))
    assert BLFClassifier("cv", cv=3, kernel=RBF(0.5)).fit(X, y).dual_coef_.shape == (3, 45)


def test_importance_is_one_on_average() -> None:
    """The mean of vip² is 1, and features that matter have more; not with a kernel."""
    X, y = load_diabetes(return_X_y=True)
    for loss in ("squared_error", "huber"):
        vip = BLFRegressor(3, loss=loss).fit(X, y).vip_
        assert np.mean(vip**2) == pytest.approx(1.0)
        assert set(np.argsort(vip)[-2:]) == {2, 8}
    assert not hasattr(BLFRegressor(2, kernel=Linear()).fit(X, y), "vip_")


def test_factors_are_features_for_other_models() -> None:
    """Names, pandas output, and a pipeline into a linear SVM; squares on labels are PLS of ±1."""
    X, y = overlapping()
    model = BLFClassifier(3).fit(X, y)
    names = [f"blfclassifier{i}" for i in range(3)]
    assert list(model.get_feature_names_out()) == names
    frame = clone(model).set_output(transform="pandas").fit(X, y).transform(X)
    assert list(frame.columns) == names
    np.testing.assert_allclose(frame.to_numpy(), model.transform(X))
    np.testing.assert_allclose(clone(model).fit_transform(X, y), model.transform(X))
    assert make_pipeline(BLFClassifier(3), LinearSVC()).fit(X, y).score(X, y) > 0.6
    model = BLFClassifier(3, loss="squared_error").fit(X, y)
    reference = PLSRegression(3, scale=False).fit(X, 2.0 * y - 1)
    np.testing.assert_allclose(model.decision_function(X), reference.predict(X).ravel(), atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("end", [3, 0])
def test_a_run_cut_short_is_the_model_of_its_last_round(kernel: Any, end: int) -> None:
    """After Ctrl-C factors, loadings and coefficients are those of the rounds before."""
    X, y = data_of("absolute_error")

    def stop(turn: Any) -> None:
        if turn.number == end + 1:
            raise KeyboardInterrupt

    model = BLFRegressor(6, loss="absolute_error", kernel=kernel, callbacks=[stop])
    with pytest.warns(ConvergenceWarning, match="n_components=6: interrupted"):
        model.fit(X, y)
    assert (model.n_components_, model.stop_reason_) == (end, "interrupted")
    np.testing.assert_allclose(model.transform(X), model.x_scores_, atol=1e-10)
    if end:
        shorter = BLFRegressor(end, loss="absolute_error", kernel=kernel).fit(X, y)
        np.testing.assert_allclose(model.predict(X), shorter.predict(X), atol=1e-12)
        np.testing.assert_allclose(model.x_scores_, shorter.x_scores_)


@pytest.mark.parametrize("deflate", [True, False])
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_four_switches_lower_the_loss_of_every_loss(
    loss: str, refit: bool, deflate: bool
) -> None:
    """Each descends round by round, and its factors map new rows; deflated ones are orthonormal."""
    X, y = data_of(loss)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = exact(loss, 4, refit=refit, deflate=deflate).fit(X, y)
    objectives = model.history_["objective"]
    assert np.all(np.diff(objectives) <= 1e-9 * objectives[0])
    assert objectives[-1] < objectives[0]
    np.testing.assert_allclose(model.transform(X), model.x_scores_, atol=1e-9)
    angles = model.x_scores_.T @ model.x_scores_
    assert np.allclose(angles, np.eye(model.n_components_), atol=1e-9) == deflate


CHANGES: dict[str, Any] = {
    "epsilon": 2.0,
    "delta": 0.1,
    "alpha": 0.9,
    "subgradient": "sign",
    "newton_steps": 3,
    "newton_damping": 0.7,
    "refit": False,
    "deflate": False,
    "l2_regularization": 2.0,
    "to_the_letter": True,
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_does_something(name: str) -> None:
    """Changing it changes the model of some loss."""
    X, y = noisy_line()
    changed = []
    for loss in REGRESSION:
        if name in OPTIONS and name not in options_of(loss):
            continue
        base = BLFRegressor(4, loss=loss, newton_steps=1, newton_damping=0.1)
        other = clone(base).set_params(**{name: CHANGES[name]})
        changed.append(not np.allclose(base.fit(X, y).predict(X), other.fit(X, y).predict(X)))
    assert any(changed)


def test_precomputed_values_are_the_kernel() -> None:
    """Given as a matrix: the same outputs, also for new rows, and for cross-validation around."""
    X, y = overlapping()
    new = np.random.default_rng(0).normal(size=(9, 5))
    given = BLFClassifier(3, kernel=Precomputed()).fit(RBF(0.1)(X, X), y)
    direct = BLFClassifier(3, kernel=RBF(0.1)).fit(X, y)
    np.testing.assert_allclose(
        given.decision_function(RBF(0.1)(new, X)), direct.decision_function(new)
    )
    assert given.__sklearn_tags__().input_tags.pairwise
    assert not direct.__sklearn_tags__().input_tags.pairwise
    rows = np.arange(len(X))[:, None]  # of a matrix that the kernel has
    named = BLFClassifier(3, kernel=Precomputed("rbf", RBF(0.1)(X, X))).fit(rows, y)
    np.testing.assert_allclose(named.decision_function(rows), direct.decision_function(X))
    assert not named.__sklearn_tags__().input_tags.pairwise


WAYS: dict[str, dict[str, Any]] = {
    "signs": {"subgradient": "sign"},
    "signs, kernel": {"subgradient": "sign", "kernel": RBF()},
    "signs, plain": {"subgradient": "sign", "deflate": False},
    "steps": {"refit": False},
    "steps, plain": {"refit": False, "deflate": False},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("loss", ["absolute_error", "epsilon_insensitive", "quantile"])
@pytest.mark.parametrize("name", ["diabetes", "tall", "shifted", "correlated", "wide, low rank"])
def test_the_order_of_the_rows_does_not_matter(
    name: str, loss: str, way: str, weighted: bool
) -> None:
    """After a linear program some residuals are 0 up to rounding, and count as 0: no ±1.

    A line search ends where one is; factors may overlap, and best steps be many.
    """
    X, y, _ = DATA[name]
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    order = rng.permutation(len(y))
    for count in (2, 5, 8):
        model = model_of(loss, count, **WAYS[way])
        predictions = model.fit(X, y, weights).predict(X)
        again = clone(model).fit(X[order], y[order], weights[order]).predict(X)
        assert np.abs(again - predictions).max() <= 1e-6 * y.std()


SMOOTH = ["squared_epsilon_insensitive", "poisson", "squared_hinge", *CLASSES, *REGRESSION[::3]]


@pytest.mark.parametrize("deflate", [True, False])
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("loss", SMOOTH)
def test_the_constant_is_the_best_one(loss: str, refit: bool, deflate: bool) -> None:
    """With full refits and with single steps, at the end and after every round: Σr = 0."""
    X, y = overlapping() if get_loss(loss).classification else noisy_line()
    y = np.round(np.exp((y - y.mean()) / y.std())) if loss == "poisson" else y
    kind = BLFClassifier if get_loss(loss).classification else BLFRegressor
    model = kind(3, loss=loss, refit=refit, deflate=deflate, newton_steps=None, newton_damping=0.0)
    model.fit(X, y)
    target = np.where(y == model.classes_[1], 1.0, -1.0) if kind is BLFClassifier else y
    bound = get_loss(loss).on(target, np.ones(len(y)))
    for output in model.staged_decision_function(X):
        assert abs(bound.pseudo_response(output).sum()) <= 1e-5 * len(y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_ctrl_c_while_the_number_of_factors_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no model yet: the interruption goes on, and the estimator is as it was."""
    X, y = noisy_line()
    rounds = iter(range(100))
    price = LatentFactorPricer.price

    def interrupted(*given: Any) -> Any:
        if next(rounds) == 1:  # in the second round of the first fold
            raise KeyboardInterrupt
        return price(*given)

    monkeypatch.setattr(LatentFactorPricer, "price", interrupted)
    model = BLFRegressor("cv", max_components=4)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert next(rounds) == 2
    assert not hasattr(model, "cv_errors_")
