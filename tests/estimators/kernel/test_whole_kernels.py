"""Multiple kernel learning as a user meets it: ``penalty="group"``."""

import warnings
import weakref
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale as standardized
from sklearn.svm import SVC

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    KernelLibrary,
    Linear,
    On,
    Polynomial,
    Precomputed,
)
from cgboost.estimators.kernel.multiple_kernel_learning import WORKING_MATRICES
from cgboost.exceptions import KernelError, TrivialModelWarning
from cgboost.generation.packed import PackedMatrix
from cgboost.penalties import GroupNorm, SquaredGroupNorm
from cgboost.pricing.rkhs.whole_kernel_pricer import QuadraticForms, gram_megabytes
from tests.function_norms import optimum, roots
from tests.problems import least

LIBRARY = {
    "linear": Linear(),
    "wide": RBF(0.05),
    "narrow": RBF(1.0),
    "first": On(RBF(1.0), 0),
}


def grams(X: np.ndarray) -> dict[str, np.ndarray]:
    """The matrices of the library, made without it."""
    return {
        "linear": X @ X.T,
        "wide": rbf_kernel(X, gamma=0.05),
        "narrow": rbf_kernel(X, gamma=1.0),
        "first": rbf_kernel(X[:, :1], gamma=1.0),
    }


def deviations(X: np.ndarray) -> np.ndarray:
    """Standard deviations of the rows in the spaces of the kernels."""
    return np.sqrt([np.trace(own) / len(X) - own.mean() for own in grams(X).values()])


def rows(n_rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that no line separates."""
    X, y = make_classification(n_rows, 4, n_informative=3, n_redundant=0, random_state=0)
    return X, y


@pytest.mark.parametrize(
    ("C", "standardize"), [(0.1, True), (1.0, True), (10.0, True), (1.0, False)]
)
def test_classifier_is_certified_at_the_optimum(C: float, standardize: bool) -> None:
    """Objective and bound enclose CVXPY's optimum, of Σ‖f_p‖ or of it over standard deviations.

    With Σ η_p K_p for the kernel SVC makes the same decisions.
    """
    X, y = rows()
    signs, own = 2.0 * y - 1.0, grams(X)
    scales = deviations(X) if standardize else np.ones(4)
    best = optimum(
        own,
        lambda f: C * cp.sum(cp.pos(1 - cp.multiply(signs, f))),
        lambda norms: sum(s * norm for s, norm in zip(scales, norms, strict=True)),
    )
    penalty = GroupNorm(standardize=standardize)
    model = CGBoostClassifier(LIBRARY, penalty=penalty, C=C, tol=1e-8).fit(X, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert model.dual_bound_ <= best * (1 + 1e-8) <= model.objective_ * (1 + 2e-8)
    table = model.columns_
    norms = []
    for name in LIBRARY:
        mine, alpha = table["kernel"] == name, np.zeros(len(X))
        alpha[table["row"][mine]] = table["coefficient"][mine]
        norms.append(np.sqrt(alpha @ own[name] @ alpha))
    weights = np.array(norms) / scales
    kernel = sum(weight * own[name] for weight, name in zip(weights, LIBRARY, strict=True))
    svc = SVC(C=C, kernel="precomputed", tol=1e-9).fit(kernel, y)
    assert svc.decision_function(kernel) == pytest.approx(model.decision_function(X), abs=1e-4)
    shares = scales * norms / sum(scales * norms)
    assert list(model.kernel_weights_.values()) == pytest.approx(shares, abs=1e-5)


def test_regressor_is_certified_at_the_optimum() -> None:
    """ε-insensitive loss under the group norm with weights."""
    X, y = make_regression(50, 4, n_informative=2, noise=5.0, random_state=1)
    y = y / y.std()
    weights = {"linear": 2.0, "narrow": 0.5}
    best = optimum(
        grams(X),
        lambda f: 3.0 * cp.sum(cp.pos(cp.abs(y - f) - 0.2)),
        lambda norms: sum(
            w * s * norm for w, s, norm in zip((2, 1, 0.5, 1), deviations(X), norms, strict=True)
        ),
    )
    model = CGBoostRegressor(LIBRARY, penalty=GroupNorm(weights), C=3.0, epsilon=0.2, tol=1e-7).fit(
        X, y
    )
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert model.dual_bound_ <= best * (1 + 1e-8)


def of_classes(X: np.ndarray, Y: np.ndarray, loss: Any, penalty: Any, offset: str) -> float:
    """CVXPY's optimum of penalty(√Σ_c‖f_pc‖², …) + loss(Y, f) over functions for each class."""
    b = cp.Variable((1, Y.shape[1])) if offset != "none" else np.zeros((1, Y.shape[1]))
    parts = [
        (root := roots(own), cp.Variable((root.shape[1], Y.shape[1]))) for own in grams(X).values()
    ]
    norms = [cp.norm(beta, "fro") for _, beta in parts] + [cp.norm(b)] * (offset == "penalized")
    output = sum(root @ beta for root, beta in parts) + np.ones((len(X), 1)) @ b
    return least(penalty(norms) + cp.sum(loss(cp.multiply(Y, output))))


HINGE, SQUARED, LOGISTIC = (
    ("hinge", lambda margins: cp.pos(1 - margins)),
    ("squared_hinge", lambda margins: cp.square(cp.pos(1 - margins))),
    ("log_loss", lambda margins: cp.logistic(-2 * margins)),
)


@pytest.mark.parametrize(
    ("loss", "penalty", "offset"),
    [
        (HINGE, GroupNorm(standardize=False), "free"),
        (HINGE, SquaredGroupNorm(standardize=False), "penalized"),
        (SQUARED, GroupNorm(standardize=False), "free"),
        (LOGISTIC, SquaredGroupNorm(standardize=False), "free"),
        (LOGISTIC, GroupNorm(standardize=False), "penalized"),
    ],
)
def test_classes_share_their_kernels_at_the_optimum(loss: Any, penalty: Any, offset: str) -> None:
    """Objective and bound enclose CVXPY's optimum of Σ_p √(Σ_c‖f_pc‖²); one weight a kernel."""
    X, y = (part[::3] for part in load_iris(return_X_y=True))
    name, written = loss
    squared = isinstance(penalty, SquaredGroupNorm)

    def charged(norms: list[Any]) -> Any:
        return cp.square(sum(norms)) / 2 if squared else sum(norms)

    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    best = of_classes(X, Y, written, charged, offset)
    model = CGBoostClassifier(LIBRARY, loss=name, penalty=penalty, offset=offset, tol=1e-7)  # type: ignore[arg-type]
    model.fit(X, y)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert model.dual_bound_ <= best * (1 + 1e-8)
    assert model.gap_ <= 1e-7
    assert sum(model.kernel_weights_.values()) == pytest.approx(1.0)
    assert model.intercept_.shape == (3,)
    if name == "log_loss":  # one against the rest
        shares = 1.0 / (1.0 + np.exp(-2.0 * model.decision_function(X)))
        shares /= shares.sum(axis=1, keepdims=True)
        assert model.predict_proba(X) == pytest.approx(shares)


@pytest.mark.parametrize(
    "parameters", [{"penalty": GroupNorm(shared=False)}, {"penalty": "group", "nu": 0.2}]
)
def test_classes_may_choose_kernels_each(parameters: Any) -> None:
    """One fit for each class, and an array of weights for each kernel that adds up to 1."""
    X, y = load_iris(return_X_y=True)
    model = CGBoostClassifier(LIBRARY, **parameters).fit(X, y)
    weights = np.array(list(model.kernel_weights_.values()))
    assert weights.shape == (4, 3)
    assert weights.sum(axis=0) == pytest.approx(np.ones(3))
    alone = CGBoostClassifier(LIBRARY, **parameters).fit(X, y == 1)
    assert weights[:, 1] == pytest.approx(np.array(list(alone.kernel_weights_.values())), abs=1e-6)


def test_a_class_without_rows_that_count_has_no_part_in_the_choice() -> None:
    """It is a constant, and the other classes have fits of their own."""
    X, y = load_iris(return_X_y=True)
    model = CGBoostClassifier(LIBRARY, penalty="group")
    with pytest.warns(TrivialModelWarning, match="class 2: no column"):
        model.fit(X, y, sample_weight=y != 2)
    assert model.kernel_weights_["linear"].shape == (3,)
    assert model.score(X[:100], y[:100]) > 0.9


def test_views_as_matrices_with_names() -> None:
    """Precomputed kernels of several views get a weight each, and predict new rows."""
    X, y = rows(80)
    own = grams(X)
    library = {name: Precomputed(name) for name in ("linear", "narrow")}
    train, test = np.arange(60), np.arange(60, 80)
    views = {name: own[name][np.ix_(train, train)] for name in library}
    model = CGBoostClassifier(KernelLibrary(library), penalty="group").fit(views, y[:60])
    new = {name: own[name][np.ix_(test, train)] for name in library}
    plain = CGBoostClassifier({"linear": Linear(), "narrow": RBF(1.0)}, penalty="group")
    assert model.decision_function(new) == pytest.approx(
        plain.fit(X[:60], y[:60]).decision_function(X[60:]), abs=1e-4
    )


def test_wrong_parameters_are_named() -> None:
    """Signs, weights of unknown kernels, weights that are none, kernels without a norm."""
    X, y = rows()
    with pytest.raises(ValueError, match="kernel 'linear' must be positive"):
        GroupNorm({"linear": 0.0})
    indefinite = {"rbf": RBF(0.5), "tanh": lambda A, B: np.tanh(A @ B.T - 1.0)}
    for library, parameters, words in (
        (LIBRARY, {"coef": "nonneg"}, "coef='nonneg'"),
        (LIBRARY, {"penalty": GroupNorm({"cubic": 1.0})}, "'cubic'"),
        (indefinite, {}, "tanh"),
    ):
        with pytest.raises((ValueError, KernelError), match=words):
            CGBoostClassifier(library, **{"penalty": "group"} | parameters).fit(X, y)


def test_memory_limits_the_kernels_that_are_held() -> None:
    """With memory for few matrices the fit stops at so many, certified; with less it is refused."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    y = np.sin(2 * X).sum(axis=1)
    library = {f"feature {j}": On(RBF(1.0), j) for j in range(6)}
    each, work = gram_megabytes(len(X)), WORKING_MATRICES
    model = CGBoostRegressor(library, penalty="group", cache_size=(3.5 + work) * each, C=10.0)
    with pytest.warns(ConvergenceWarning, match="memory holds no more kernels"):
        model.fit(X, y)
    assert model.history_["columns"].max() == 3
    assert np.isfinite(model.gap_)
    assert not model.converged_
    assert model.stop_reason_ == "column_limit"
    more = clone(model).set_params(max_columns=5)
    with pytest.warns(ConvergenceWarning, match="column_limit: memory holds no more kernels"):
        more.fit(X, y)
    assert clone(model).set_params(max_columns=2).fit(X, y).stop_reason_ == "max_columns"
    with pytest.raises(ValueError, match=r"KB for 3 kernels .* cache_size=0.1\d+ is \d+ KB"):
        clone(model).set_params(cache_size=(2.5 + work) * each).fit(X, y)
    with pytest.raises(ValueError, match=r"cache_size=0.001 is 1 KB"):
        clone(model).set_params(cache_size=0.001).fit(X, y)


def test_runs_do_not_keep_each_others_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory does not hold all kernels, those held at once are no more than the budget."""
    X, y = load_iris(return_X_y=True)
    library = {f"{j}, {width}": On(RBF(width), j) for j in range(4) for width in (0.3, 3.0, 30.0)}
    each, most = gram_megabytes(len(X)), 5
    alive: weakref.WeakSet[PackedMatrix] = weakref.WeakSet()
    counts, make = [], QuadraticForms.gram

    def counted(self: QuadraticForms, stratum: int) -> PackedMatrix:
        assert self.grams is None
        alive.add(own := make(self, stratum))
        counts.append(len(alive))
        return own

    monkeypatch.setattr(QuadraticForms, "gram", counted)
    budget = (most + 0.5 + WORKING_MATRICES) * each
    penalty = GroupNorm(shared=False)
    model = CGBoostClassifier(library, penalty=penalty, tol=0.1, cache_size=budget)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.path(X, y, [0.3, 3.0])
    assert len(counts) > 6 * most / 2
    assert max(counts) <= most + 1  # the last pass looks at one more


@pytest.mark.parametrize("penalty", [GroupNorm(), SquaredGroupNorm()], ids=repr)
def test_rows_beyond_the_margin_have_no_coefficient(penalty: GroupNorm) -> None:
    """As in any support vector machine: only rows that cost something, or lie at the margin."""
    X, y = load_breast_cancer(return_X_y=True)
    X, signs = standardized(X)[:200], 2.0 * y[:200] - 1.0
    library = {"linear": Linear(), "rbf": RBF(0.05), "wide": RBF(0.005)}
    model = CGBoostClassifier(library, penalty=penalty, C=1.0).fit(X, y[:200])
    beyond = np.flatnonzero(signs * model.decision_function(X) > 1.0 + 1e-3)
    assert len(beyond) > 100
    assert not np.isin(model.columns_["row"], beyond).any()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_kernels_on_any_scale_have_the_same_model(scale: float) -> None:
    """Kernels times 1e±6 and plus a constant make the same decisions, and no warning of scales."""
    X, y = rows()
    plain = CGBoostClassifier({"r": RBF(0.5), "l": Linear()}, penalty="group", tol=1e-8).fit(X, y)
    library = {"r": scale * RBF(0.5), "l": Polynomial(1, coef0=3.0)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CGBoostClassifier(library, penalty="group", tol=1e-8).fit(X, y)
    assert model.decision_function(X) == pytest.approx(plain.decision_function(X), abs=1e-3)
    assert model.kernel_weights_ == pytest.approx(plain.kernel_weights_, abs=1e-4)


def test_the_order_of_rows_does_not_count() -> None:
    """Many rows in another order have the same optimum: standard deviations are those of all."""
    X, y = make_classification(500, 4, n_informative=3, n_redundant=0, random_state=0)
    order = np.random.default_rng(0).permutation(500)
    model = CGBoostClassifier(LIBRARY, penalty="group", C=0.1, tol=1e-6)
    first = model.fit(X, y).objective_
    assert model.fit(X[order], y[order]).objective_ == pytest.approx(first, rel=2e-6)


def test_novelty_detection_and_nu_take_the_squared_norm() -> None:
    """ν is the share of rows below the margin, and the kernels have weights."""
    X, y = rows()
    detector = CGBoostOutlierDetector(LIBRARY, penalty="group", nu=0.2).fit(X)
    assert np.mean(detector.predict(X) < 0) <= 0.2 + 1e-9
    assert sum(detector.kernel_weights_.values()) == pytest.approx(1.0)
    model = CGBoostClassifier(LIBRARY, penalty="group", nu=0.3, tol=1e-6).fit(X, y)
    assert model.converged_
    margins = (2.0 * y - 1.0) * model.decision_function(X)
    assert np.mean(margins < model.margin_ * (1 - 1e-3)) <= 0.3
    path = [model.set_params(nu=nu).fit(X, y).margin_ for nu in (0.2, 0.5)]
    assert path[0] <= path[1]


def test_a_matrix_that_few_entries_make_indefinite_is_refused() -> None:
    """All rows of a kernel in the master are looked at, not a part of them."""
    rng = np.random.default_rng(0)
    Q = rng.normal(size=(600, 2))
    y = Q[:, 0] * Q[:, 1] > 0
    gram = rbf_kernel(Q, gamma=1.0)
    CGBoostClassifier(Precomputed(), penalty="group").fit(gram, y)
    gram[5, 6] += 1.0
    gram[6, 5] += 1.0
    with pytest.raises(KernelError, match="smallest eigenvalue .* 600 rows"):
        CGBoostClassifier(Precomputed(), penalty="group").fit(gram, y)


def test_float32_rows_are_predicted_as_exactly_as_others() -> None:
    """Coefficients of smooth kernels are huge: values in float32 would not do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)).astype(np.float32)
    y = np.sin(X.sum(axis=1)) + X[:, 0]
    model = CGBoostRegressor({"rbf": RBF(0.02)}, penalty="group", loss="huber", C=30.0).fit(X, y)
    assert np.abs(model.dual_coef_).sum() > 1e4
    assert model.predict(X) == pytest.approx(model.predict(X.astype(np.float64)), abs=1e-9)
