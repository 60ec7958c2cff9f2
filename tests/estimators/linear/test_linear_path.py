"""Regularisation paths of linear models."""

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from cgboost import ColumnGeneration, SparseLinearClassifier, SparseLinearRegressor
from cgboost.exceptions import DataWarning, TrivialModelWarning
from tests.estimators.linear.test_sparse_linear import rows


@pytest.mark.filterwarnings("error::cgboost.exceptions.TrivialModelWarning")
def test_the_beginning_of_a_path_is_no_surprise() -> None:
    """A model of a path without features gives no warning; a fit of its own does."""
    X, y = rows(1)
    first = SparseLinearRegressor().path(X, y, n_alphas=3).models[0]
    assert first.n_columns_ == 0
    with pytest.raises(TrivialModelWarning):
        SparseLinearRegressor(alpha=first.alpha).fit(X, y)


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
@pytest.mark.parametrize(
    "model", [SparseLinearRegressor(loss=loss) for loss in ("quantile", "epsilon_insensitive")]
)
def test_neighbouring_models_are_certified_vertices(model: SparseLinearRegressor) -> None:
    """Every gap is within tol and every bound below the optimum, from no feature to all."""
    X, y = rows(2)
    path = model.path(X, y, n_alphas=30)
    assert path.coefs.shape == (X.shape[1], 30)
    np.testing.assert_array_equal(path.alphas, path.values)
    assert not path.coefs[:, 0].any()
    assert path.coefs[:, -1].any()
    for fitted in list(path)[::7]:
        alone = SparseLinearRegressor(**fitted.get_params()).fit(X, y)
        assert fitted.gap_ <= model.tol
        assert fitted.dual_bound_ <= alone.objective_ * (1 + 1e-9)
        assert fitted.objective_ == pytest.approx(alone.objective_, rel=2e-6)


def test_a_limit_of_columns_holds_for_each_model() -> None:
    """Columns that a model of the path no longer uses do not count for the next."""
    X, y = rows(2)
    for model in SparseLinearRegressor(max_columns=3, columns_per_round=1).path(X, y, n_alphas=8):
        assert model.n_columns_ <= 3


PATHS = {
    "squared_error": SparseLinearRegressor(loss="squared_error"),
    "elastic net": SparseLinearRegressor(loss="squared_error", penalty="elasticnet", positive=True),
    "huber": SparseLinearRegressor(loss="huber", standardize=True),
    "free": SparseLinearRegressor(loss="huber", penalty_weights=[0.0, *[1.0] * 29]),
    "log_loss": SparseLinearClassifier(loss="log_loss"),
    "squared_hinge": SparseLinearClassifier(loss="squared_hinge", fit_intercept=False),
}


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
@pytest.mark.parametrize("model", PATHS.values(), ids=PATHS)
def test_curved_losses_have_the_models_of_separate_fits(model: Any) -> None:
    """In any order of values, near each other or far, with a certificate over all features."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(70, 30))
    y = X[:, :6] @ rng.normal(size=6) + 0.5 * rng.normal(size=70)
    labelled = isinstance(model, SparseLinearClassifier)
    values = [0.3, 0.001, 0.03, 0.029, 0.2] if not labelled else [0.05, 20.0, 0.7, 0.71, 0.06]
    path = model.path(X, y > 0 if labelled else y, values)
    for value, fitted in zip(values, path, strict=True):
        alone = clone(model).set_params(**{path.parameter: value})
        alone.fit(X, y > 0 if labelled else y)
        assert fitted.objective_ == pytest.approx(alone.objective_, rel=2e-7)
        assert fitted.gap_ <= 1e-6
        assert alone.dual_bound_ <= fitted.objective_ * (1.0 + 1e-12)
        assert fitted.dual_bound_ <= alone.objective_ * (1.0 + 1e-12)


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
@pytest.mark.parametrize("loss", ["squared_error", "huber"])
def test_most_models_of_a_path_take_one_round(loss: str) -> None:
    """The columns of the next value are there before it is solved, and are proven to be all."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 400))
    y = X[:, :10] @ np.ones(10) + rng.normal(size=100)
    path = SparseLinearRegressor(loss=loss).path(X, y, n_alphas=30, eps=0.05)
    assert np.mean([model.n_iter_ for model in path]) <= 1.5
    assert max(model.gap_ for model in path) <= 1e-6


def test_a_scorer_names_the_scores_of_a_path() -> None:
    """With ``scoring`` the scores are the scorer's, and called so; the text of a path is short."""
    X, y = rows(3)
    model = SparseLinearRegressor(scoring="neg_mean_absolute_error")
    path = model.path(X, y, [0.3, 0.03], eval_set=(X, y))
    expected = [-np.abs(y - fitted.predict(X)).mean() for fitted in path]
    np.testing.assert_allclose(path.scores, expected)
    assert path.score_name == "neg_mean_absolute_error"
    assert repr(path) == "RegularizationPath(2 models, alpha from 0.3 to 0.03)"


def labels_for(model: Any, y: np.ndarray) -> np.ndarray:
    """Numbers for a regressor, three classes for a classifier."""
    cuts = np.quantile(y, [0.3, 0.7])
    return np.digitize(y, cuts) if isinstance(model, SparseLinearClassifier) else y


ONE_FIT = {name: model for name, model in PATHS.items() if name != "free"}
"""Those whose paths are one fit at many prices, with few features."""


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
@pytest.mark.parametrize("model", ONE_FIT.values(), ids=ONE_FIT)
def test_few_features_have_a_path_without_a_loop(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All points are certified together: no run of the loop, and every gap within tol."""
    X, y = rows(6, 90, 30)
    monkeypatch.setattr(ColumnGeneration, "run", None)
    path = model.path(X, labels_for(model, y))
    assert len(path) == 100
    assert path.table()["gap"].max() <= 1e-6
    assert {model.n_iter_ for model in path} == {len(np.atleast_2d(path.models[0].coef_))}


@pytest.mark.filterwarnings("ignore::cgboost.exceptions.TrivialModelWarning")
@pytest.mark.parametrize("model", ONE_FIT.values(), ids=ONE_FIT)
def test_points_have_the_numbers_of_their_models(model: Any) -> None:
    """Models are made when they are asked for, once, and say what the path says; pickled, too."""
    X, y = rows(7, 80, 12)
    path = model.path(X, labels_for(model, y))
    coefs, table = path.coefs, path.table()
    copied = pickle.loads(pickle.dumps(path))
    assert path.models[3] is path.models[3]
    for models in (path.models, copied.models):
        own = np.stack([np.atleast_2d(fitted.coef_) for fitted in models], axis=-1)
        np.testing.assert_array_equal(own[0] if len(own) == 1 else own, coefs)
        for name in ("objective", "gap", "n_columns"):
            values = [getattr(fitted, f"{name}_") for fitted in models]
            np.testing.assert_allclose(values, table[name], rtol=1e-12)
    fitted = path.models[60]
    assert set(np.atleast_1d(fitted.stop_reason_)) == {"optimal"}
    assert fitted.history_["objective"].sum() == pytest.approx(fitted.objective_, rel=1e-9)
    assert (fitted.columns_["coefficient"] != 0).all()
    assert len(fitted.columns_["feature"]) == fitted.n_columns_


@pytest.mark.parametrize("name", ["log_loss", "elastic net"])
def test_points_without_a_proof_are_left_to_the_loop(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Newton steps do not come to an end, the loop's models take their place."""
    X, y = rows(8, 60, 10)
    model, run, runs = PATHS[name], ColumnGeneration.run, []

    def counted(loop: ColumnGeneration, **options: Any) -> Any:
        runs.append(loop)
        return run(loop, **options)

    monkeypatch.setattr(ColumnGeneration, "run", counted)
    monkeypatch.setattr("cgboost.optimizers.newton.priced_path.STEPS_PER_PRICE", 1)
    values = [0.3, 0.01, 0.1] if name == "elastic net" else [0.05, 5.0, 0.5]
    path = model.path(X, labels_for(model, y), values)
    assert runs
    for value, fitted in zip(values, path, strict=True):
        alone = clone(model).set_params(**{path.parameter: value}).fit(X, labels_for(model, y))
        assert fitted.objective_ == pytest.approx(alone.objective_, rel=2e-6)
        assert fitted.gap_ <= 1e-6


def test_held_out_rows_are_scored_in_every_history() -> None:
    """The scores of an eval_set, in each model's history, are those of its outputs."""
    X, y = rows(9, 100, 8)
    model = SparseLinearRegressor(loss="squared_error")
    path = model.path(X[:60], y[:60], n_alphas=20, eval_set=(X[60:], y[60:]))
    for fitted, score in zip(path, path.scores, strict=True):
        errors = y[60:] - fitted.predict(X[60:])
        assert score == pytest.approx(-0.5 * np.mean(errors**2))
        assert fitted.history_["validation_mse"] == pytest.approx([np.mean(errors**2)])
    assert path.best is path.models[int(np.argmax(path.scores))]


def test_who_watches_rounds_sees_those_of_every_model() -> None:
    """With a callback each value has a run of its own."""
    X, y = rows(9, 60, 8)
    seen: list[int] = []
    model = SparseLinearRegressor(loss="squared_error", callbacks=[lambda own: seen.append(1)])
    model.path(X, y, n_alphas=4)
    assert len(seen) >= 4


def test_odd_rows_are_told_of_by_the_path_alone() -> None:
    """Weights that are far from 1 give a warning when the path is fitted, and none later."""
    X, y = rows(9, 60, 8)
    model = SparseLinearClassifier(loss="log_loss")
    with pytest.warns(DataWarning, match="sample weights"):
        path = model.path(X, y > np.median(y), n_Cs=5, sample_weight=np.full(60, 1e-3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(path.models) == 5
