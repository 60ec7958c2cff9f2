"""Fitted models of every estimator, and of what else they may hold: the rows they predict for."""

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cgboost
from cgboost import (
    RBF,
    AdditiveRegressor,
    AnyBoostClassifier,
    AnyBoostRegressor,
    BLFClassifier,
    CGBoostClassifier,
    CGBoostRegressor,
    Chi2,
    Cosine,
    GradientBoostingRegressor,
    IntervalRegressor,
    Jaccard,
    KernelLibrary,
    Laplacian,
    Linear,
    LPBoostClassifier,
    Matern,
    On,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    SparseLinearRegressor,
    Spectrum,
    Tanimoto,
    ThinnedEnsemble,
    TransformClassifier,
    TransformRegressor,
    linear,
)
from cgboost.losses import Huber
from cgboost.penalties import ElasticNet
from tests.inspection.report import models as reported

Fit = Callable[[], tuple[Any, Any]]

RNG = np.random.default_rng(0)
X = RNG.uniform(0.05, 1, size=(60, 3))
Y = X[:, 0] + np.abs(X[:, 1] - 0.5)
LABELS = np.where(np.median(Y) < Y, "yes", "no")
THREE = np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": pd.Categorical(LABELS)})
WORDS = np.array(["apple", "pear", "apricot", "plum", "peach"] * 12, dtype=object)
TREE = DecisionTreeRegressor(max_depth=2, random_state=0)


def on_rows(model: Any, y: Any, rows: Any = X, **fit: Any) -> Fit:
    """What fits a model and returns it with its rows."""
    return lambda: (model.fit(rows, y, **fit), rows)


def kernels(kernel: Any, rows: Any = X, **parameters: Any) -> Fit:
    """A classifier with one kernel."""
    library = KernelLibrary({"own": kernel}, **parameters)
    return on_rows(CGBoostClassifier(library, max_columns=12), LABELS, rows)


KERNELS: dict[str, Fit] = {
    **{
        type(kernel).__name__: kernels(kernel)
        for kernel in (
            Chi2(),
            Cosine(),
            Laplacian(),
            Matern(),
            Periodic(),
            Polynomial(2),
            RationalQuadratic(),
        )
    },
    "sums, normalised, standardised": kernels(
        0.5 * RBF(1.0) + Linear() * RBF(), normalize=True, standardize=True
    ),
    "columns of a frame": kernels(On(RBF(), columns=["b"]), FRAME[["a", "b"]]),
    "sparse rows": kernels(RBF(), sparse.csr_array(X.round())),
    "single precision": kernels(RBF(), X.astype(np.float32)),
    "words": kernels(Spectrum(2), WORDS),
    "sets": kernels(Jaccard(), np.array([frozenset(word) for word in WORDS], dtype=object)),
    "bits": kernels(Tanimoto(), (X > 0.5).astype(float)),
    "precomputed": on_rows(
        CGBoostClassifier(KernelLibrary({"K": Precomputed()}), max_columns=12), LABELS, X @ X.T
    ),
    "free centres": on_rows(
        CGBoostRegressor(KernelLibrary({"rbf": RBF()}), penalty="rkhs", centers="free"), Y
    ),
    "elastic net": on_rows(
        CGBoostRegressor(
            KernelLibrary({"rbf": RBF()}), penalty=ElasticNet(0.5), loss="squared_error"
        ),
        Y,
    ),
}
"""Kernels of all kinds, and rows of all kinds."""

THINNED: dict[str, Fit] = {
    name: on_rows(ThinnedEnsemble(model, size=3, **more), y)
    for name, model, y, more in (
        ("forest", RandomForestClassifier(8, random_state=0), LABELS, {}),
        ("forest, numbers", ExtraTreesRegressor(8, bootstrap=True, random_state=0), Y, {}),
        ("leaves", RandomForestClassifier(8, max_depth=2), LABELS, {"members": "leaves"}),
        ("bagging", BaggingClassifier(LogisticRegression(), 6, random_state=0), LABELS, {}),
        ("AdaBoost", AdaBoostClassifier(n_estimators=6, random_state=0), THREE, {}),
    )
}  # fmt: skip

OTHERS: dict[str, Fit] = {
    **{
        name: on_rows(getattr(linear, name)(), LABELS if "Class" in name or "SVC" in name else Y)
        for name in linear.__all__
    },
    "intervals": on_rows(IntervalRegressor(cv=2), Y),
    "constraints": on_rows(SparseLinearRegressor(constraints=["x0 >= 2 * x1"]), Y),
    "sparse features": on_rows(linear.L1LinearSVC(), LABELS, sparse.csr_matrix(X.round(1))),
    "sigmoid": on_rows(LPBoostClassifier(probability="sigmoid", max_columns=9), LABELS),
    "isotonic": on_rows(LPBoostClassifier(probability="isotonic", max_columns=9), THREE),
    "sign trees": on_rows(LPBoostClassifier(max_depth=2, max_columns=9), THREE),
    "Huber": on_rows(GradientBoostingRegressor(loss=Huber(0.2), n_estimators=4), Y),
    "pipeline learner": on_rows(
        AnyBoostRegressor(make_pipeline(StandardScaler(), Ridge()), n_estimators=3), Y
    ),
    "classifier learner": on_rows(
        AnyBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4), THREE
    ),
    "orthonormal": on_rows(AnyBoostRegressor(TREE, orthogonalize=True, n_estimators=3), Y),
    "random state": on_rows(
        AnyBoostRegressor(TREE, n_estimators=3, random_state=np.random.RandomState(3)), Y
    ),
    "scoring": on_rows(
        LPBoostClassifier(max_columns=9, scoring="roc_auc"), LABELS, eval_set=(X, LABELS)
    ),
    "early stopping": on_rows(LPBoostClassifier(max_columns=9, early_stopping=True), LABELS),
    "frame with words": on_rows(TransformRegressor(), Y, FRAME),
    "transform, classes": on_rows(TransformClassifier(n_holdouts=2), THREE, FRAME[["a", "b"]]),
    "additive": on_rows(AdditiveRegressor(), Y, FRAME),
    "latent, classes": on_rows(BLFClassifier(), THREE),
    "not fitted": lambda: (LPBoostClassifier(C=3.0, random_state=np.random.default_rng(0)), X),
}


def _reported(name: str, n_classes: int) -> tuple[Any, Any]:
    return reported.fitted(name, n_classes), reported.data(n_classes)[0]


MODELS: dict[str, Fit] = {
    **{
        f"{name}, {n_classes}": (lambda name=name, n=n_classes: _reported(name, n))
        for name, n_classes in reported.CASES
        if (name, n_classes) != ("LinearTreeBoostingClassifier", 3)  # two million numbers
    },
    **KERNELS,
    **{f"thinned {name}": fit for name, fit in THINNED.items()},
    **OTHERS,
}


@cache
def fitted(name: str) -> tuple[Any, Any]:
    """A fitted model, not to be changed, and rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name]()


METHODS = (
    "predict",
    "decision_function",
    "predict_proba",
    "predict_interval",
    "predict_quantiles",
    "transform",
)
"""What says something of rows."""


def outputs(model: Any, rows: Any) -> Iterator[tuple[str, Any]]:
    """All that a model says of rows, by the name of the method."""
    for name in METHODS:
        if hasattr(model, name):
            yield name, np.asarray(getattr(model, name)(rows))


def target(model: Any) -> Any:
    """Something that a model can be fitted to."""
    return LABELS if is_classifier(model) else Y


def covered() -> set[str]:
    """Names of the estimators among the models."""
    return {type(fitted(name)[0]).__name__ for name in MODELS}


def estimators() -> set[str]:
    """Names of all public estimators."""
    names = {
        name
        for name in cgboost.__all__
        if hasattr(getattr(cgboost, name), "get_params") and hasattr(getattr(cgboost, name), "save")
    }
    return names | set(linear.__all__)
