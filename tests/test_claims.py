"""The page of the papers' claims: what it names exists, and claims that have no other test.

[B], [M], [L], [N], [P] are the sources that the page names.
"""

import re
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import scale
from sklearn.tree import DecisionTreeClassifier

from cgboost import (
    RBF,
    AdaBoostClassifier,
    BLFClassifier,
    BLFRegressor,
    CGBoostClassifier,
    KernelLibrary,
    L2BoostRegressor,
    LogitBoostClassifier,
    OrthogonalGreedyRegressor,
    TransformRegressor,
)

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "studies" / "claims" / "page.md"
VERDICTS = ("holds", "in a setting", "does not", "not tried")
Matrix = np.ndarray


def rows() -> list[list[str]]:
    """Cells of every row of the tables."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:2] == "| "]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if row[0] != "claim" and set(row[0]) != {"-"}]


def test_every_claim_has_a_verdict_and_its_evidence() -> None:
    """One of the four words, and a test or a study wherever something was tried."""
    for row in rows():
        assert len(row) == 4, row
        assert row[2].startswith(VERDICTS), row
        assert "`" in row[3] or "](" in row[3] or row[2].startswith("not tried"), row


def test_the_tests_that_are_named_exist() -> None:
    """A test that was renamed is renamed on the page, too."""
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE.read_text(encoding="utf-8"))
    assert len(named) > 30
    for file, name in named:
        assert f"def {name}(" in (TESTS / file).read_text(encoding="utf-8"), (file, name)


def test_a_mixture_is_more_than_a_composite() -> None:
    """[B] 2.1: composites are mixtures of equal ratios; a mixture of others is no composite."""
    rng = np.random.default_rng(0)
    K, L = rng.normal(size=(12, 5)), rng.normal(size=(12, 5))
    alpha = rng.normal(size=5)
    both = np.hstack([K, L])
    composite = (K + 0.3 * L) @ alpha
    np.testing.assert_allclose(both @ np.append(alpha, 0.3 * alpha), composite)
    mixture = K @ alpha + L @ alpha[::-1]
    left = [
        np.linalg.norm(mixture - D @ np.linalg.lstsq(D, mixture, rcond=None)[0])
        for D in (both, K + 0.3 * L, K + L)
    ]
    assert left[0] < 1e-9 < 0.1 < min(left[1:])


def test_the_largest_score_leads_the_gap_and_not_always_the_refit() -> None:
    """[B] Prop. 4.1 for squared error: gap ½Σ(r·h)²; a longer column has the larger score."""
    y = np.array([3.0, 2.9, 0.0])
    H = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.8, 1.0]]).T

    def optimum(columns: list[int]) -> float:
        D = H[:, columns]
        alpha = np.linalg.solve(D.T @ D + np.eye(len(columns)), D.T @ y)
        return 0.5 * float(alpha @ alpha + (y - D @ alpha) @ (y - D @ alpha))

    def dual(r: Matrix, columns: list[int]) -> float:
        s = H[:, columns].T @ r
        return float(y @ r - 0.5 * r @ r - 0.5 * s @ s)

    alpha = np.linalg.solve(H[:, [0]].T @ H[:, [0]] + np.eye(1), H[:, [0]].T @ y)
    r = y - H[:, [0]] @ alpha
    gap = optimum([0]) - dual(r, [0, 1, 2])
    scores = H.T @ r
    assert gap == pytest.approx(0.5 * (scores[1] ** 2 + scores[2] ** 2))
    long = 100.0 * np.array([0.0, 0.05, 1.0])  # a large score, and little to gain
    H = np.column_stack([H[:, :2], long])
    scores = H.T @ r
    assert scores[2] > scores[1]
    assert optimum([0, 1]) < optimum([0, 2])


def norms(model: BLFClassifier | BLFRegressor, X: Matrix, y: Matrix, most: int) -> Matrix:
    """‖g‖ of 1, 2, … factors."""
    found = [model.set_params(n_components=n).fit(X, y).coef_ for n in range(1, most + 1)]
    return np.linalg.norm(found, axis=1)


def test_norms_grow_with_the_factors_of_smooth_losses() -> None:
    """[M] section 5: in all draws for squared, Huber and log loss; not for the absolute error."""
    X, y = load_diabetes(return_X_y=True)
    Z, labels = load_breast_cancer(return_X_y=True)
    X, y, Z = scale(X), scale(y), scale(Z[:, :6])
    rng = np.random.default_rng(0)
    absolutes = []
    for _ in range(4):
        part = rng.choice(len(X), 120, replace=False)
        for loss in ("squared_error", "huber"):
            assert np.all(np.diff(norms(BLFRegressor(loss=loss), X[part], y[part], 8)) > -1e-9)
        absolutes.append(np.diff(norms(BLFRegressor(loss="absolute_error"), X[part], y[part], 8)))
        part = rng.choice(len(Z), 300, replace=False)
        wrong = np.where(rng.random(300) < 0.1, 1 - labels[part], labels[part])
        model = BLFClassifier(newton_steps=None, newton_damping=0.0)
        assert np.all(np.diff(norms(model, Z[part], wrong, 6)) > -1e-9)
    assert np.min(absolutes) < -1e-3


def test_two_losses_agree_to_the_second_order() -> None:
    """[M] section 6.3: e^(−m) and log(1 + e^(−2m)) less log 2 − 1 differ by O(m³) at m = 0."""
    m = np.array([1e-1, 1e-2, 1e-3])
    difference = np.exp(-m) - (np.log1p(np.exp(-2 * m)) - np.log(2.0) + 1.0)
    assert np.all(np.abs(difference) <= m**3)


def test_five_rounds_need_no_refit() -> None:
    """[M] section 4: training losses differ by under 10 % then, and by half after 50."""
    X, y = load_diabetes(return_X_y=True)
    X, y = scale(X), np.where(y > np.median(y), 1, 0)

    def loss(count: int, refit: bool) -> float:
        return BLFClassifier(count, kernel=RBF(0.1), refit=refit).fit(X, y).objective_

    assert loss(5, False) < 1.1 * loss(5, True)
    assert loss(50, False) > 1.5 * loss(50, True)


def test_logit_boost_has_two_forms_with_the_same_labels() -> None:
    """[L] Q 1: with T = 2f, p = 1/(1 + e^(−T)), z and full steps, every round has the same f."""
    Z, labels = load_breast_cancer(return_X_y=True)
    X = scale(Z[:, :6])
    T, y = np.zeros(len(X)), labels.astype(float)
    for _ in range(5):
        p = 1.0 / (1.0 + np.exp(-T))
        w = p * (1.0 - p)
        lines = []
        for x in X.T:
            D = np.column_stack([np.ones(len(x)), x])
            lines.append(T + D @ np.linalg.solve(D.T @ (w[:, None] * D), D.T @ (y - p)))
        T = min(lines, key=lambda after: np.log1p(np.exp(-(2 * y - 1) * after)).sum())
    model = LogitBoostClassifier(n_estimators=5).fit(X, labels)
    np.testing.assert_allclose(2 * (X @ model.coef_.ravel() + model.intercept_), T, atol=1e-8)


def test_stages_of_transform_regression_are_hardly_orthogonal() -> None:
    """[P] section 6: on the paper's surface the first two are, later ones are not."""
    ticks = np.arange(-50, 51) / 50
    x, y = (part.ravel() for part in np.meshgrid(ticks, ticks))
    z = x + y + 5 * np.sin(np.pi * x / 2) * np.sin(np.pi * y / 2)
    X = np.column_stack([x, y])
    model = TransformRegressor(n_estimators=6, random_state=0).fit(X, z)
    stages = np.diff(np.array([np.full(len(z), z.mean()), *model.staged_predict(X)]), axis=0)
    angles = np.abs(np.corrcoef(stages) - np.eye(len(stages)))
    assert angles[0, 1] < 0.02
    assert angles.max() > 0.2


def test_blf_with_squared_error_is_conjugate_gradients() -> None:
    """[M] section 2.2: after k factors g is the k-th iterate for X̃ᵀX̃g = X̃ᵀy, from 0 on."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X - X.mean(axis=0), y - y.mean()
    g, r = np.zeros(X.shape[1]), X.T @ y
    direction = r.copy()
    for k in range(1, 6):
        bent = X.T @ (X @ direction)
        length = (r @ r) / (direction @ bent)
        g = g + length * direction
        rest = r - length * bent
        direction, r = rest + (rest @ rest) / (r @ r) * direction, rest
        model = BLFRegressor(n_components=k).fit(X, y)
        np.testing.assert_allclose(model.predict(X), X @ g, rtol=0, atol=1e-9 * np.abs(y).max())


@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier(max_depth=2, random_state=0)])
def test_the_next_weights_of_ada_boost_are_orthogonal_to_the_last_learner(learner: Any) -> None:
    """[M] below Corollary 2: u_{j+1}·t_j = 0, and only there: earlier learners have other products.

    u are the signed weights of the rows, t_j the learner of round j.
    """
    X, y = load_breast_cancer(return_X_y=True)
    signs, n_rounds = 2.0 * y - 1.0, 6
    model = AdaBoostClassifier(learner, n_estimators=n_rounds).fit(X, y)
    f = np.vstack([np.zeros(len(y)), *model.staged_decision_function(X)])
    steps = np.diff(f, axis=0)
    u = signs * np.exp(-signs * f)
    cosines = np.array(
        [[u[j] @ t / np.linalg.norm(u[j]) / np.linalg.norm(t) for t in steps] for j in range(1, 7)]
    )
    np.testing.assert_allclose(np.diag(cosines), 0.0, atol=1e-9)
    assert np.abs(np.tril(cosines, -1)).max() > 1e-3


def test_the_listing_of_l2_boosting_has_a_square_too_many() -> None:
    """[N] page 10: the feature of largest |x·u|/‖x‖² need not take most off the squared error.

    That of largest |x·u|/‖x‖ does, as derived on page 9, and it is the one that is chosen.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8)) * np.logspace(-2, 2, 8)
    y = X @ (1.0 / np.logspace(-2, 2, 8)) + rng.normal(size=60)
    model = L2BoostRegressor(n_estimators=10, learning_rate=1.0, fit_intercept=False).fit(X, y)
    u, listed = y.copy(), 0
    for j in model.selected_:
        scores, lengths = np.abs(X.T @ u), np.linalg.norm(X, axis=0)
        left = [((u - x * (x @ u) / (x @ x)) ** 2).sum() for x in X.T]
        assert j == np.argmin(left) == np.argmax(scores / lengths)
        listed += int(np.argmax(scores / lengths**2) == np.argmin(left))
        u = u - X[:, j] * (X[:, j] @ u) / (X[:, j] @ X[:, j])
    assert listed < 3
    np.testing.assert_allclose(y - model.predict(X), u, rtol=0, atol=1e-9 * np.abs(y).max())


def test_as_many_steps_as_the_order_says_need_a_factor() -> None:
    """[N] page 11: M = O(√(n/log p)) leaves the factor open; with 1 relevant features are missed.

    With 5, the default, all are among those chosen, with fewer steps than rows.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1000))
    true = rng.choice(1000, 8, replace=False)
    y = X[:, true] @ rng.choice([-1.0, 1.0], 8) + 0.5 * rng.normal(size=200)
    order = np.sqrt(200 / np.log(1000))
    runs = [
        OrthogonalGreedyRegressor(n_estimators=int(factor * order), criterion=None).fit(X, y)
        for factor in (1, 5)
    ]
    found = [len(np.intersect1d(run.path_, true)) for run in runs]
    assert found == [5, 8]
    assert len(OrthogonalGreedyRegressor(criterion=None).fit(X, y).path_) == int(5 * order)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_a_penalized_offset_has_both_signs(penalty: str) -> None:
    """[B] section 4.1 with α ≥ 0: a column of ones alone leaves b ≥ 0, which costs more here.

    Ours is the optimum over columns of 1 and of −1, by programs that are written out.
    """
    rng = np.random.default_rng(0)
    X, C = rng.normal(size=(40, 2)), 1.0
    y = np.where(X[:, 0] > 0.7, 1.0, -1.0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    library = KernelLibrary({"rbf": RBF(1.0)}, negation=False)
    model = CGBoostClassifier(
        library, C=C, penalty=penalty, coef="nonneg", offset="penalized", tol=1e-10
    ).fit(X, y)
    optima = []
    for ones in ([1.0], [1.0, -1.0]):
        columns = np.column_stack([K, *(np.full(40, one) for one in ones)])
        alpha, slack = cp.Variable(columns.shape[1], nonneg=True), cp.Variable(40, nonneg=True)
        norm = cp.sum(alpha) if penalty == "l1" else 0.5 * cp.sum_squares(alpha)
        rows = [cp.multiply(y, columns @ alpha) + slack >= 1]
        problem = cp.Problem(cp.Minimize(norm + C * cp.sum(slack)), rows)
        accuracy = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
        optima.append(problem.solve(solver="CLARABEL", **accuracy))
    assert model.intercept_ < 0
    assert model.objective_ == pytest.approx(optima[1], rel=1e-9)
    assert optima[0] > 1.01 * optima[1]
