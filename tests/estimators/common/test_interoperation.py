"""Estimators inside the rest of the ecosystem: clone, pickle, pipelines, searches, data frames."""

import pickle
import pickletools
import re
from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cgboost
import cgboost.linear
from cgboost import RBF, CGBoostClassifier, CGBoostRegressor, KernelLibrary, Linear, Precomputed
from cgboost.kernels.library import DEFAULT_LIBRARY
from tests.estimators.data import (
    LIBRARY,
    PENALTIES,
    classifier,
    curve,
    regressor,
    three_classes,
    two_classes,
)


def test_clone_keeps_parameters_and_drops_the_fit():
    """A clone has equal parameters, an equal library and no fitted attribute."""
    X, y = two_classes()
    model = classifier(C=3.0, coef="nonneg").fit(X, y)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert copy.library == model.library
    assert not [name for name in vars(copy) if name.endswith("_")]


def test_the_library_is_a_parameter():
    """get_params and set_params reach the library, and a search may choose between libraries."""
    linear, rbf = KernelLibrary({"linear": Linear()}), KernelLibrary({"rbf": RBF()})
    model = classifier(library=linear)
    assert model.get_params()["library"] is linear
    assert model.set_params(library=rbf).library is rbf
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X**2).sum(axis=1) > 1.5
    search = GridSearchCV(classifier(), {"library": [linear, rbf]}, cv=3).fit(X, y)
    assert search.best_params_["library"].names == ("rbf",)


def reachable(value, seen):
    """Every object that a fitted model holds, through dicts, sequences and dataclasses."""
    if id(value) in seen:
        return
    seen[id(value)] = value
    inside = list(vars(value).values()) if hasattr(value, "__dict__") else []
    if isinstance(value, dict):
        inside += [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set)):
        inside += list(value)
    elif is_dataclass(value) and not isinstance(value, type):
        inside += [getattr(value, f.name) for f in fields(value)]
    for item in inside:
        reachable(item, seen)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_fitted_model_holds_neither_solver_nor_training_matrix(penalty):
    """Nothing that a model reaches comes from solvers, or is an array of n_rows × anything."""
    X, y = two_classes(150)
    model = classifier(penalty=penalty, max_columns=20).fit(X, y)
    seen = {}
    reachable(model, seen)
    assert len(seen) > 50
    for value in seen.values():
        assert not type(value).__module__.startswith(("solvers", "highspy", "piqp", "clarabel"))
        array = value if value is None or not isinstance(value, np.ndarray) else value.base
        for held in (value, array):
            assert not isinstance(held, np.ndarray) or len(X) not in held.shape


@pytest.mark.parametrize("penalty", PENALTIES)
def test_pickle_is_small_and_predicts_the_same(penalty):
    """A pickled model is far smaller than its training data and names no solver module."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 300))
    y = X[:, 0] > 0
    model = classifier(penalty=penalty, max_columns=20).fit(X, y)
    data = pickle.dumps(model)
    assert len(data) < 0.25 * X.nbytes
    named = [str(argument) for _, argument, _ in pickletools.genops(data)]
    assert not [name for name in named if "solvers" in name]
    np.testing.assert_array_equal(
        pickle.loads(data).decision_function(X), model.decision_function(X)
    )


def test_several_classes_and_kernels_share_their_centres():
    """A training row is pickled at most once, however many columns are centred on it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 500)), np.arange(40) % 4
    model = classifier(C=100.0).fit(X, y)
    n_columns = sum(len(output.hypotheses) for run in model._runs for output in run.outputs)
    assert n_columns > 2 * len(X)
    assert len(pickle.dumps(model)) < 1.5 * X.nbytes


def test_pipeline_and_grid_search():
    """The estimator works behind a scaler and in a search over C, sample weights included."""
    X, y = two_classes(60)
    pipeline = make_pipeline(StandardScaler(), classifier())
    search = GridSearchCV(pipeline, {"cgboostclassifier__C": [1e-6, 1.0]}, cv=3)
    search.fit(X * [1, 100, 1e-3], y, cgboostclassifier__sample_weight=np.ones(len(y)))
    assert search.best_params_ == {"cgboostclassifier__C": 1.0}
    assert search.best_score_ > 0.6


def test_cross_validation_cuts_a_precomputed_kernel_both_ways():
    """With one precomputed kernel, cross-validation gives the scores of the kernel itself."""
    X, y = two_classes(60)
    direct = classifier(library=KernelLibrary({"linear": Linear()}))
    given = classifier(library=KernelLibrary({"given": Precomputed()}))
    np.testing.assert_allclose(
        cross_val_score(direct, X, y, cv=3), cross_val_score(given, X @ X.T, y, cv=3)
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames(frame):
    """A frame gives feature_names_in_ and the model of its array; other names are refused."""
    X, y = three_classes()
    named = np.array(["x", "y", "z"])[y]
    series = pd.Series if frame is pd.DataFrame else pl.Series
    table = frame({"a": X[:, 0], "b": X[:, 1]})
    model = classifier().fit(table, series(named), eval_set=(table, series(named)))
    assert list(model.feature_names_in_) == ["a", "b"]
    plain = classifier().fit(X, named)
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_allclose(
        model.decision_function(table), plain.decision_function(X), atol=1e-10
    )
    with pytest.raises(ValueError, match="eval_set: .*feature names"):
        classifier().fit(table, named, eval_set=(frame({"c": X[:, 0], "b": X[:, 1]}), named))


def test_a_refit_replaces_everything():
    """A second fit, to other data of another shape, leaves nothing of the first behind."""
    X, y = three_classes()
    model = classifier().fit(pd.DataFrame(X, columns=["a", "b"]), y)
    Z, t = two_classes()
    again, fresh = model.fit(Z, t), classifier().fit(Z, t)
    assert set(vars(again)) == set(vars(fresh))
    np.testing.assert_array_equal(again.decision_function(Z), fresh.decision_function(Z))
    assert again.n_features_in_ == 3


@pytest.mark.parametrize(
    ("make", "first"),
    [
        (classifier, {"penalty": "group"}),
        (classifier, {"penalty": "rkhs", "centers": "free", "max_columns": 3}),
        (classifier, {"nu": 0.2}),
        (regressor, {"nu": 0.5}),
    ],
)
def test_a_refit_with_other_parameters_keeps_no_attribute_of_the_first(make, first):
    """Kernel weights, centres, margins and tubes are those of this fit, or are not there."""
    X, y = two_classes() if make is classifier else curve()
    loss = "log_loss" if make is classifier else "squared_error"
    last = {"penalty": "l2", "centers": "rows", "nu": None, "max_columns": None, "loss": loss}
    again = make(**first).fit(X, y).set_params(**last).fit(X, y)
    assert set(vars(again)) == set(vars(make(**last).fit(X, y)))


def test_two_fits_give_the_same_model():
    """Nothing in a fit is random, apart from the rows that early stopping holds out."""
    X, y = curve()
    first, second = regressor().fit(X, y), regressor().fit(X, y)
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)
    stopping = {"early_stopping": True, "random_state": 3}
    first, second = regressor(**stopping).fit(X, y), regressor(**stopping).fit(X, y)
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)


def test_the_default_library():
    """Without a library the kernels are linear, quadratic and RBF, in this order."""
    X, y = two_classes()
    model = CGBoostClassifier(penalty="l1").fit(X, y)
    assert list(model.columns_per_kernel_) == ["linear", "quadratic", "rbf"]
    assert LIBRARY.names == ("linear", "rbf")
    for estimator in (CGBoostClassifier, CGBoostRegressor):
        literal = re.search(r"``(KernelLibrary\(.*?)``", estimator.__doc__, re.DOTALL).group(1)
        written = eval(literal, dict(vars(cgboost)))
        assert written.kernels == DEFAULT_LIBRARY.kernels
        assert repr(written) == repr(DEFAULT_LIBRARY)


PUBLIC = [
    own
    for room in (cgboost.linear, cgboost)
    for own in (getattr(room, name) for name in room.__all__)
    if isinstance(own, type)
    and issubclass(own, BaseEstimator)
    and own.__name__ != "ThinnedEnsemble"
]
SMALL = {"max_columns": 60, "n_estimators": 6, "n_alphas": 3, "n_Cs": 3, "cv": 2}


def fitted_to_two_features(kind):
    """An estimator, fitted to rows of six features of which the last and the third matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 6))
    y = 2 * X[:, 5] - 2 * X[:, 2] + 0.1 * rng.normal(size=90)
    model = kind()
    parameters = model.get_params()
    model.set_params(**{k: v for k, v in SMALL.items() if k in parameters})
    if kind is cgboost.linear.QuantileRegressor:
        model.set_params(alpha=0.05)  # 1, as scikit-learn's, leaves no feature
    y = (y > 0).astype(int) if is_classifier(model) else y
    return model.fit(X, y), X, y


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: kind.__name__)
def test_coef_is_a_number_for_each_feature(kind):
    """Selectors find what matters by it or by importances, or refuse; the error names the other."""
    model, X, y = fitted_to_two_features(kind)
    wanted = [False, False, True, False, False, True]
    if not hasattr(model, "coef_"):
        words = "use column_weights_" if hasattr(model, "columns_") else "no attribute 'coef_'"
        with pytest.raises(AttributeError, match=words):
            model.coef_  # noqa: B018
    elif (shape := np.shape(model.coef_)) != (6,):
        assert shape[1:] == (6,)
    for select in (
        SelectFromModel(model, threshold=-np.inf, max_features=2, prefit=True),
        RFE(model, n_features_to_select=2, step=4),
    ):
        if hasattr(model, "coef_") or hasattr(model, "feature_importances_"):
            assert select.fit(X, y).get_support().tolist() == wanted
        else:
            with pytest.raises(ValueError, match="importance_getter"):
                select.fit(X, y).get_support()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: kind.__name__)
def test_shap_takes_linear_models_alone_for_linear(kind):
    """What it adds up to is the output of the model; it asks for a function of other models."""
    shap = pytest.importorskip("shap")
    model, X, _ = fitted_to_two_features(kind)
    if not hasattr(model, "coef_"):
        with pytest.raises(TypeError, match="callable"):
            shap.Explainer(model, X)
        return
    found = shap.Explainer(model, X)(X[:3])
    output = getattr(model, "decision_function", model.predict)(X[:3])
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1), output, atol=1e-6)
