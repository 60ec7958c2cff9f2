"""Compression of kernel machines: the given function, few centres, a bound everywhere."""

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import check_grad
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as process
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    compress,
    load,
)  # fmt: skip
from cgboost.estimators.kernel import compression
from cgboost.estimators.kernel.compression import CompressedRegressor
from cgboost.exceptions import KernelError
from cgboost.pricing.centres.agreement import Agreement, Importance, rounded_up

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
NUMBERS = X[:, 0] * X[:, 1] + np.sin(3 * X[:, 2])
THREE = np.array(["a", "b", "c"])[np.digitize(NUMBERS, [-0.5, 0.5])]
TWO = NUMBERS > 0
ELSEWHERE = np.vstack([RNG.normal(size=(2000, 3)), 5 * RNG.normal(size=(500, 3))])

APART = RBF(1.0) - 2.0 * RBF(0.5)
"""The kernel of no space."""

MEAN = 2.0 * process.RBF(1.5) + process.WhiteKernel(0.1) + process.DotProduct(0.5)
MACHINES = {
    "SVC, two classes": SVC(C=10).fit(X, TWO),
    "SVC, pairs": SVC(C=10, gamma=0.5).fit(X, THREE),
    "SVC, a polynomial": SVC(kernel="poly", coef0=1.0).fit(X, TWO),
    "SVC, a kernel of ours": SVC(kernel=Matern(nu=1.5, length_scale=1.0)).fit(X, TWO),
    "NuSVC": NuSVC(nu=0.3).fit(X, THREE),
    "SVR": SVR(C=10).fit(X, 100.0 * NUMBERS),
    "NuSVR": NuSVR(C=10).fit(X, NUMBERS),
    "SVC, ties": SVC(break_ties=True, gamma=2.0).fit(X, THREE),
    "SVC, decisions of pairs": SVC(decision_function_shape="ovo").fit(X, THREE),
    "OneClassSVM": OneClassSVM(nu=0.2).fit(X),
    "KernelRidge": KernelRidge(kernel="rbf", alpha=0.1).fit(X, NUMBERS),
    "KernelRidge, two responses": KernelRidge(kernel="rbf").fit(X, np.c_[NUMBERS, 1e6 * X[:, 0]]),
    "a process": GaussianProcessRegressor(MEAN, optimizer=None, normalize_y=True).fit(X, NUMBERS),
    "a process with a constant": GaussianProcessRegressor(
        (process.ConstantKernel(2.0) + process.RBF()) * process.Matern(), optimizer=None
    ).fit(X, NUMBERS[:, None]),
    "ours, three classes": CGBoostClassifier(C=10).fit(X, THREE),
    "ours, numbers": CGBoostRegressor({"r": RBF(0.5), "l": Linear()}, penalty="rkhs").fit(
        X, NUMBERS
    ),
    "ours, outliers": CGBoostOutlierDetector().fit(X),
}


def squared_lengths(kernel: Any, Z: np.ndarray, coef: np.ndarray) -> np.ndarray:
    """‖Σ_j coef_jo k(·, z_j)‖² of every output o, at least."""
    return rounded_up(kernel, Z, coef, np.sum(coef * (kernel(Z, Z) @ coef), axis=0))


def said(machine: Any, rows: np.ndarray) -> np.ndarray:
    """Decisions of classifiers and detectors, numbers of others."""
    return np.asarray(getattr(machine, "decision_function", machine.predict)(rows))


def outputs(machine: Any, rows: np.ndarray) -> np.ndarray:
    """Outputs that the centres add up to: those of pairs of classes of an SVC."""
    if isinstance(machine, SVC | NuSVC):
        machine = copy.copy(machine).set_params(decision_function_shape="ovo", break_ties=False)
    return said(machine, rows).reshape(len(rows), -1)


@pytest.mark.parametrize("name", MACHINES)
def test_as_many_centres_as_vectors_are_the_given_machine(name: str) -> None:
    """Its decisions, labels and numbers, at every row, with a bound of 0."""
    given = MACHINES[name]
    whole = compress(given, X, size=10**6)
    assert said(whole, ELSEWHERE) == pytest.approx(said(given, ELSEWHERE), rel=1e-9, abs=1e-9)
    assert (whole.predict(ELSEWHERE) == given.predict(ELSEWHERE)).mean() >= 0.999 or (
        whole.predict(ELSEWHERE) == pytest.approx(given.predict(ELSEWHERE))
    )
    assert whole.disagreement_ == 0.0
    assert not whole.agreement_bound_.any()


@pytest.mark.parametrize("name", MACHINES)
def test_the_bound_holds_everywhere(name: str) -> None:
    """|f − g| ≤ ε √k(x, x) on rows far and near, and few centres say about the same on the rows."""
    given = MACHINES[name]
    small = compress(given, X, size=20, random_state=0)
    assert len(small.centers_) == len(small.dual_coef_) == 20
    off = np.abs(outputs(given, ELSEWHERE) - small.outputs(ELSEWHERE))
    assert np.all(off <= small.agreement(ELSEWHERE) * (1 + 1e-9) + 1e-9)
    assert small.disagreement_ <= 0.15
    if hasattr(given, "classes_"):
        assert small.disagreement_ == np.mean(small.predict(X) != given.predict(X))


@pytest.mark.parametrize("kernels", [[RBF(0.3)], [RBF(0.3), Polynomial(2, coef0=1.0)]])
def test_the_distance_from_given_functions(kernels: list[Any]) -> None:
    """Its minimum over coefficients is that of least squares, its gradient that of differences.

    Squared differences have weights by row, and by output in two groups of rows. Squared lengths
    are quadratic forms of the Gram matrix. One product of rows and centres does for both.
    """
    rng = np.random.default_rng(1)
    vectors = [rng.normal(size=(15, 3)) for _ in kernels]
    coefs = [rng.normal(size=(15, 2)) for _ in kernels]
    norm = sum(squared_lengths(*p).sum() for p in zip(kernels, vectors, coefs, strict=True))
    own = sum(np.trace(A.T @ k(V, V) @ A) for k, V, A in zip(kernels, vectors, coefs, strict=True))
    assert norm == pytest.approx(own)
    rows = np.vstack([X, *vectors])
    given = [np.zeros((len(rows), 2)) for _ in kernels]
    for p, A in enumerate(coefs):
        given[p][len(X) + 15 * p :][:15] = A
    values = sum(k(rows, V) @ A for k, V, A in zip(kernels, vectors, coefs, strict=True))
    group = rng.integers(2, size=len(rows))
    outputs = np.array([[1.0, 0.2], [0.5, 3.0]])
    counts = np.r_[rng.uniform(size=len(X)), np.zeros(len(rows) - len(X))]
    W = np.array([count * outputs[g] for count, g in zip(counts, group, strict=True)])
    importance = Importance(counts, group, outputs)
    ones = np.ones(len(kernels))
    agreement = Agreement(kernels, rows, ones, given, values, importance, 0.7, norm)
    centres = [rng.normal(size=(4, 3)) for _ in kernels]
    best = agreement.best(centres)

    def value(coef: np.ndarray) -> float:
        parts = np.split(coef, len(kernels))
        g = sum(k(rows, Z) @ B for k, Z, B in zip(kernels, centres, parts, strict=True))
        apart = sum(
            squared_lengths(k, np.vstack([V, Z]), np.vstack([A, -B])).sum()
            for k, V, A, Z, B in zip(kernels, vectors, coefs, centres, parts, strict=True)
        )
        return float(0.5 * 0.7 * apart + 0.5 * np.sum(W * (values - g) ** 2))

    together, slopes = agreement.evaluated(centres)
    assert together.coef == pytest.approx(best.coef)
    assert np.array(slopes) == pytest.approx(np.array(agreement.gradient(centres, best)))
    assert best.objective == pytest.approx(value(best.coef), rel=1e-6)
    for _ in range(5):
        assert value(best.coef + 1e-2 * rng.normal(size=best.coef.shape)) > best.objective

    def of(flat: np.ndarray) -> float:
        sets = [part.reshape(4, 3) for part in np.split(flat, len(kernels))]
        return agreement.best(sets).objective

    def slope(flat: np.ndarray) -> np.ndarray:
        sets = [part.reshape(4, 3) for part in np.split(flat, len(kernels))]
        return np.concatenate([g.ravel() for g in agreement.gradient(sets, agreement.best(sets))])

    start = np.concatenate([Z.ravel() for Z in centres])
    assert check_grad(of, slope, start) <= 1e-4 * np.linalg.norm(slope(start))


def test_a_loss_is_reached_or_the_vectors_are_kept() -> None:
    """The number of centres grows until few decisions differ.

    Of a loss of 0 that no few have, the machine itself is left. By default there is one centre for
    ten vectors.
    """
    given = MACHINES["SVC, pairs"]
    some = compress(given, X, loss=0.05, random_state=0)
    assert some.disagreement_ <= 0.05
    assert len(some.centers_) < len(given.support_)
    assert len(compress(given, X, loss=0.6, random_state=0).centers_) < 5
    numbers = MACHINES["SVR"]
    all_of_it = compress(numbers, X, loss=0.0, random_state=0)
    assert len(all_of_it.centers_) == len(numbers.support_)
    assert len(compress(given, X).centers_) == len(given.support_) // 10


def test_a_pipeline_stays_one() -> None:
    """The steps before are those that were fitted; names of columns go with the machine."""
    given = make_pipeline(StandardScaler(), SVC(C=10)).fit(1000 * X, THREE)
    small = compress(given, 1000 * X, size=30, random_state=0)
    assert small[0] is given[0]
    assert np.mean(small.predict(1000 * X) == given.predict(1000 * X)) >= 0.95


@pytest.mark.parametrize(
    "name",
    [
        "SVC, pairs",
        "SVC, ties",
        "SVC, decisions of pairs",
        "KernelRidge, two responses",
        "OneClassSVM",
        "ours, numbers",
    ],
)
def test_machines_are_taken_away(name: str, tmp_path: Any) -> None:
    """Files and ONNX have the same outputs; arrays say what they are; ``fit`` changes nothing."""
    small = compress(MACHINES[name], X, size=10, random_state=0)
    known = said(small, X)
    assert (said(load(small.save(tmp_path / "m.cgb")), X) == known).all()
    assert (said(clone(small).fit(X, NUMBERS), X) == known).all()
    again = compress(small, X, size=10)
    assert said(again, X) == pytest.approx(known)
    assert len(compress(small, X, size=4).centers_) == 4
    arrays = small.to_numpy()
    assert arrays["centers"].shape == (10, 3)
    if name == "SVC, pairs":
        squares = ((X[:, None] - arrays["centers"]) ** 2).sum(axis=2)
        own = np.exp(-0.5 * squares) @ arrays["coef"] + arrays["intercept"]
        assert own == pytest.approx(small.outputs(X))
    runtime = pytest.importorskip("onnxruntime")
    graph = small.to_onnx(dtype="float64")
    session = runtime.InferenceSession(graph.SerializeToString())
    results = dict(
        zip([o.name for o in graph.graph.output], session.run(None, {"X": X}), strict=True)
    )
    assert results.get("decision", results.get("prediction")) == pytest.approx(known, rel=1e-9)
    if "label" in results:
        assert (results["label"] == small.predict(X)).all()


@pytest.mark.parametrize(
    ("given", "options", "error", "words"),
    [
        (LinearSVC().fit(X, TWO), {}, TypeError, "takes a fitted kernel machine, got LinearSVC"),
        (SVC(kernel="sigmoid").fit(X, TWO), {}, KernelError, "no space of functions"),
        (SVC(kernel="precomputed").fit(X @ X.T, TWO), {}, KernelError, "no gradient by a centre"),
        (SVC().fit(csr_array(X), TWO), {}, KernelError, "sparse rows"),
        (KernelRidge(kernel="laplacian").fit(X, TWO), {}, KernelError, "cannot be compressed"),
        (SVC(kernel="poly", coef0=-1.0).fit(X, TWO), {}, KernelError, "coef0=-1 is that of no"),
        (SVR(gamma=1e3).fit(X, NUMBERS), {"X": 50 + X}, KernelError, "X has to be scaled"),
        (CompressedRegressor(), {}, ValueError, "not fitted"),
        (MACHINES["SVR"], {"size": 0}, ValueError, "at least 1, got 0"),
        (MACHINES["SVR"], {"size": 2.5}, ValueError, "whole number"),
        (MACHINES["SVR"], {"loss": 1.0}, ValueError, r"\[0, 1\), got 1.0"),
        (MACHINES["SVR"], {"loss": 0.1, "size": 3}, ValueError, "size or loss"),
        (MACHINES["SVR"], {"X": X[:, :2]}, ValueError, "2 features"),
        (MACHINES["SVR"], {"X": None}, TypeError, "needs X, rows on which"),
        (MACHINES["SVR"], {"X": X[:0]}, ValueError, "0 sample"),
        (MACHINES["SVR"], {"X": csr_array(X)}, TypeError, "Sparse data was passed"),
        (CGBoostClassifier(RBF(1.0)).fit(csr_array(X), TWO), {}, KernelError, "to sparse rows"),
        (
            CGBoostClassifier(Precomputed()).fit(X @ X.T, TWO),
            {"X": X @ X.T},
            KernelError,
            "no gradient by its centre",
        ),
        (SVC(kernel=APART).fit(X, TWO), {"size": 5}, KernelError, "smallest eigenvalue"),
        (SVC(), {}, ValueError, "not fitted"),
        (GaussianProcessRegressor(), {}, ValueError, "not fitted"),
    ],
)
def test_what_cannot_be_compressed(given: Any, options: Any, error: Any, words: str) -> None:
    """The error says what it is, and what would do."""
    with pytest.raises(error, match=words):
        compress(given, **{"X": X, **options})


def test_a_machine_that_was_changed_is_refused() -> None:
    """What the vectors add up to is compared with what the machine says."""
    given = SVR(C=10).fit(X, NUMBERS)
    given._gamma *= 2.0
    given.dual_coef_ = given.dual_coef_ * 1.5
    with pytest.raises(KernelError, match="changed after its fit"):
        compress(given, X, size=5)


@pytest.mark.filterwarnings("error")
def test_frames_and_their_names() -> None:
    """Names of columns are those of the machine; nothing warns of arrays in their place."""
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    small = compress(SVC().fit(frame, THREE), frame, size=5, random_state=0)
    assert small.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        small.predict(frame[["b", "a", "c"]])
    assert "5 centers instead of" in repr(small)


def test_a_kernel_of_no_space_has_no_bound() -> None:
    """A squared norm that is negative by more than rounding is an error, and not taken for 0."""
    with pytest.raises(KernelError, match="of no space"):
        squared_lengths(APART, X, NUMBERS[:, None])
    assert squared_lengths(RBF(1.0), np.vstack([X, X]), np.r_[NUMBERS, -NUMBERS][:, None]) <= 1e-6


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_machine_that_is_its_intercept_needs_no_centres(kernel: str, tmp_path: Any) -> None:
    """Equal rows, all 0: the function is 0 everywhere, and what is left of rounding is bounded."""
    rows = np.zeros_like(X)
    given = SVC(kernel=kernel, gamma=1.0).fit(rows, TWO)
    small = compress(given, rows, size=5)
    assert small.centers_.shape == (0, 3)
    off = np.abs(given.decision_function(ELSEWHERE) - small.decision_function(ELSEWHERE))
    assert np.all(off <= small.agreement(ELSEWHERE)[:, 0] + 1e-15)
    assert small.agreement_bound_[0] <= 1e-4
    again = load(small.save(tmp_path / "m.cgb"))
    assert (again.predict(ELSEWHERE) == given.predict(ELSEWHERE)).all()


@pytest.mark.filterwarnings("ignore:The number of unique classes")
@pytest.mark.parametrize(
    ("rows", "labels", "weights"),
    [
        (X[:30], np.arange(30), None),
        (np.repeat(X[:12], 10, axis=0), THREE, None),
        (X, THREE, np.r_[np.zeros(60), np.ones(60)]),
    ],
    ids=["a class a row", "equal rows", "weights of 0"],
)
def test_rows_of_little_use(rows: Any, labels: Any, weights: Any) -> None:
    """Classes of one row, equal rows, rows that the fit ignored: finite, and the bound holds."""
    given = SVC(C=10, gamma=0.5, decision_function_shape="ovo").fit(rows, labels, weights)
    small = compress(given, rows, size=12, random_state=0)
    assert np.isfinite(small.centers_).all()
    off = np.abs(given.decision_function(ELSEWHERE) - small.outputs(ELSEWHERE))
    assert np.all(off <= small.agreement(ELSEWHERE) * (1 + 1e-9) + 1e-9)
    assert small.disagreement_ <= 0.2


def test_decisions_agree_more_than_with_equal_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows near a border, and pairs with the decided class, count more: half the labels differ."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 3))
    labels = np.digitize(rows @ [1, 1, 0] + np.sin(3 * rows[:, 2]), [-1.5, -0.5, 0.5, 1.5])
    given = SVC(C=10, gamma=0.5).fit(rows, labels)
    own = compress(given, rows, size=15, random_state=0).disagreement_
    monkeypatch.setattr(compression, "NEAR_BORDER", 1e6)
    monkeypatch.setattr(compression, "OTHER_PAIRS", 1.0)
    assert own <= 0.5 * compress(given, rows, size=15, random_state=0).disagreement_
