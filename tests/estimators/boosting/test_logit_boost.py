"""LogitBoost is its pseudo-code, round by round, and one linear model in the end."""

import warnings

import numpy as np
import pytest
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeRegressor

from cgboost import LogitBoostClassifier
from cgboost.inspection.report.facts import runs_of
from tests.estimators.data import two_classes


def wide(n_rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """More features than rows, one of them constant, two of them alike."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n_rows, 80)) + 3.0
    X[:, 5], X[:, 7] = 1.0, X[:, 6]
    return X, (X[:, 6] - X[:, 9] + rng.normal(size=n_rows) > 0).astype(int)


def noisy(n_rows: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Labels that no line separates."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n_rows, 30))
    return X, (X[:, :10].sum(axis=1) + 3 * rng.normal(size=n_rows) > 0).astype(int)


DATA = {"cancer": load_breast_cancer(return_X_y=True), "noisy": noisy(), "wide": wide()}
"""None has converged when the rounds end: there rounding would choose between equal losses."""


def transcription(X: np.ndarray, y: np.ndarray, n_rounds: int) -> tuple[list, np.ndarray]:
    """The pseudo-code with its own loop over the features: losses, and β after every round."""
    n_rows, n_features = X.shape
    beta, losses, path = np.zeros(n_features + 1), [], []
    for _ in range(n_rounds):
        H = beta[0] + X @ beta[1:]
        p = 1 / (1 + np.exp(-2 * H))
        w = p * (1 - p)
        z = np.divide((y + 1) / 2 - p, w, out=np.zeros(n_rows), where=w != 0)
        fits, new_losses = [], []
        for x in X.T:
            a, b, c = w.sum(), (w * x).sum(), (w * x**2).sum()
            d, e = (w * z).sum(), (w * x * z).sum()
            constant = np.ptp(x) == 0  # a c − b² = 0, but for rounding
            fit = (
                (d / a, 0)
                if constant
                else np.array([c * d - b * e, a * e - b * d]) / (a * c - b**2)
            )
            fits.append(fit)
            H_j = H + 0.5 * (fit[0] + fit[1] * x)
            new_losses.append(np.log(1 + np.exp(-2 * y * H_j)).sum())
        best = int(np.argmin(new_losses))
        beta[0] += 0.5 * fits[best][0]
        beta[best + 1] += 0.5 * fits[best][1]
        losses.append(new_losses[best])
        path.append(beta.copy())
    return losses, np.array(path)


@pytest.mark.parametrize("name", DATA)
def test_every_round_is_that_of_the_pseudo_code(name: str) -> None:
    """Losses, outputs and the linear model agree to 1e-10, round by round."""
    X, y = DATA[name]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 0.1) if name == "cancer" else X
    losses, path = transcription(X, 2.0 * y - 1, 40)
    model = LogitBoostClassifier(n_estimators=40).fit(X, y)
    np.testing.assert_allclose(model.history_["objective"][1:], losses, rtol=1e-10, atol=1e-10)
    outputs = np.array(list(model.staged_decision_function(X)))
    np.testing.assert_allclose(outputs, path[:, :1] + path[:, 1:] @ X.T, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.coef_, path[-1][1:], rtol=1e-10, atol=1e-10)
    assert model.intercept_ == pytest.approx(path[-1][0], rel=1e-10, abs=1e-10)


def symmetric(X: np.ndarray, y: np.ndarray, n_rounds: int) -> tuple[list, list]:
    """Algorithm 6 over lines with its own loop over the features: losses, and F after every round.

    Of the lines of a class the one comes that lowers the loss most if added to F_k alone.
    """
    own, n_classes = np.arange(len(y)), y.max() + 1
    F, losses, path = np.zeros((len(y), n_classes)), [], []
    for _ in range(n_rounds):
        p = softmax(F, axis=1)
        g = np.empty_like(F)
        for k in range(n_classes):
            w = p[:, k] * (1 - p[:, k])
            z = ((y == k) - p[:, k]) / w
            best = np.inf
            for x in X.T:
                line = np.polyval(np.polyfit(x, z, 1, w=np.sqrt(w)), x)
                moved = F.copy()
                moved[:, k] += line
                loss = -log_softmax(moved, axis=1)[own, y].sum()
                if loss < best:
                    best, g[:, k] = loss, line
        F = F + (n_classes - 1) / n_classes * (g - g.mean(axis=1, keepdims=True))
        losses.append(-log_softmax(F, axis=1)[own, y].sum())
        path.append(F)
    return losses, path


SEVERAL = {"iris": load_iris, "wine": load_wine}


@pytest.mark.parametrize("name", SEVERAL)
def test_classes_together_are_algorithm_6(name: str) -> None:
    """Losses, scores and the linear model of every round agree with it to 1e-8."""
    X, y = SEVERAL[name](return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    losses, path = symmetric(X, y, 12)
    model = LogitBoostClassifier(n_estimators=12).fit(X, y)
    best = int(np.argmin(losses)) + 1
    assert model.n_iter_ == best >= 5
    np.testing.assert_allclose(model.history_["objective"][1 : best + 1], losses[:best], rtol=1e-8)
    for scores, F in zip(model.staged_decision_function(X), path, strict=False):
        np.testing.assert_allclose(scores, F, rtol=1e-8, atol=1e-8)
    scores = model.decision_function(X)
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, scores, atol=1e-10)
    np.testing.assert_allclose(scores.sum(axis=1), 0.0, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores, axis=1), atol=1e-12)


def test_trees_of_classes_together_are_algorithm_6() -> None:
    """Trees are grown on z, cut off at ±4, with the weights of rows, and step as it says."""
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(y))
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = LogitBoostClassifier(tree, n_estimators=6, random_state=0)
    model.fit(X, y, sample_weight=weights)
    F, seeds = np.zeros((len(y), 3)), [each.random_state for each in model.estimators_]
    rounds = model.columns_["round"]
    for number, scores in enumerate(model.staged_decision_function(X), start=1):
        p, g = softmax(F, axis=1), np.empty_like(F)
        for k in range(3):
            place = np.flatnonzero((rounds == number) & (model.columns_["class"] == k))[0]
            w = p[:, k] * (1 - p[:, k])
            z = np.clip(((y == k) - p[:, k]) / w, -4, 4)
            own = DecisionTreeRegressor(max_depth=2, random_state=seeds[place])
            g[:, k] = own.fit(X, z, sample_weight=w * weights).predict(X)
        F = F + 2 / 3 * (g - g.mean(axis=1, keepdims=True))
        np.testing.assert_allclose(scores, F, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("multi_class", ["joint", "ovr"])
def test_the_round_of_the_lowest_loss_is_kept(multi_class: str) -> None:
    """Steps of nearly twice the Newton step make the loss rise without end; the model is before."""
    X, y = load_iris(return_X_y=True)
    model = LogitBoostClassifier(n_estimators=40, learning_rate=1.99, multi_class=multi_class)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    lowest = [table["objective"].min() for table in runs_of(model.history_)]
    assert model.objective_ == pytest.approx(sum(lowest), abs=1e-8)
    assert max(table["objective"].max() for table in runs_of(model.history_)) > 2 * max(lowest)


def test_trees_are_fitted_to_the_working_response() -> None:
    """With a regressor every round adds half its weighted fit to z, cut off at ±4.

    A refit with lines leaves none of them behind.
    """
    X, y = two_classes(80)
    tree = DecisionTreeRegressor(max_depth=2, random_state=0)
    model = LogitBoostClassifier(tree, n_estimators=8, random_state=0).fit(X, y)
    H = np.zeros(len(X))
    for fitted, output in zip(model.estimators_, model.staged_decision_function(X), strict=True):
        p = 1 / (1 + np.exp(-2 * H))
        z = np.clip((y - p) / (p * (1 - p)), -4, 4)
        own = DecisionTreeRegressor(max_depth=2, random_state=fitted.random_state)
        H = H + 0.5 * own.fit(X, z, sample_weight=p * (1 - p)).predict(X)
        np.testing.assert_allclose(output, H, rtol=1e-8, atol=1e-8)
    assert not hasattr(model.set_params(estimator="linear").fit(X, y), "estimators_")


def test_shift_and_scale_of_features_do_not_matter() -> None:
    """Lines do not notice units; a far-off origin costs no accuracy."""
    X, y = noisy()
    plain = LogitBoostClassifier(n_estimators=30).fit(X, y)
    moved = LogitBoostClassifier(n_estimators=30).fit(1e-6 * X + 1e3, y)
    np.testing.assert_array_equal(moved.columns_["feature"], plain.columns_["feature"])
    np.testing.assert_allclose(
        moved.decision_function(1e-6 * X + 1e3), plain.decision_function(X), atol=1e-5
    )


def test_separated_rows() -> None:
    """Perfectly separated rows end with finite numbers and no error."""
    X = np.linspace(-1, 1, 20)[:, None]
    model = LogitBoostClassifier(n_estimators=2000).fit(X, X[:, 0] > 0)
    assert np.isfinite(model.coef_).all()
    assert model.score(X, X[:, 0] > 0) == 1.0
