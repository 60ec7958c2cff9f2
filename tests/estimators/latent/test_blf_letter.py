"""Boosted Latent Factors where the paper is followed to the letter."""

import numpy as np
import pytest

from cgboost import BLFClassifier, BLFRegressor
from tests.estimators.latent.latent_data import CLASSES, noisy_line, overlapping


def printed(
    loss: str, X: np.ndarray, y: np.ndarray, gamma: np.ndarray, count: int, damping: float
) -> tuple[np.ndarray, np.ndarray]:
    """[M] Algorithm 3 with sections 6.2 and 6.3: T, and f, by one step of eq. 42 a round."""
    mu = 0.5 * np.log(gamma[y > 0].sum() / gamma[y < 0].sum())
    D, coef, deflated = np.ones((len(y), 1)), np.array([mu]), X - X.mean(axis=0)

    def pieces(f: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        if loss == "log_loss":
            value = float(gamma @ np.log1p(np.exp(-2 * y * f)))
            return value, gamma * (y - np.tanh(f)), gamma / np.cosh(f) ** 2
        d = gamma * np.exp(-y * f)
        return float(d.sum()), d * y, d

    for _ in range(count):
        _, u, _ = pieces(D @ coef)
        t = deflated @ (deflated.T @ u)
        t /= np.linalg.norm(t)
        deflated = deflated - np.outer(t, t @ deflated)
        D, coef = np.column_stack([D, t]), np.append(coef, 0.0)
        before, r, d = pieces(D @ coef)
        H = D.T @ (d[:, None] * D)
        modified = (1 - damping) * H + damping * np.trace(H) / len(H) * np.eye(len(H))
        step = np.linalg.solve(modified, D.T @ r)
        assert pieces(D @ (coef + step))[0] <= before  # full steps here, as in the model
        coef = coef + step
    return D[:, 1:], D @ coef


@pytest.mark.parametrize("damping", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("loss", CLASSES)
def test_models_are_those_of_the_printed_algorithm(loss: str, damping: float) -> None:
    """With weights in the loss alone, and a constant column of ones in eq. 42."""
    X, y = overlapping()
    gamma = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    T, f = printed(loss, X, 2.0 * y - 1.0, gamma, 4, damping)
    model = BLFClassifier(4, loss=loss, newton_damping=damping, to_the_letter=True)
    model.fit(X, y, sample_weight=gamma)
    np.testing.assert_allclose(model.x_scores_, T, atol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-8)


def test_weights_count_in_the_loss_alone() -> None:
    """TᵀT = I; with full refits the models of both ways are the same all the same.

    After these Σu = 0 and uᵀT = 0, so that factors span the same; after single steps not.
    """
    X, y = noisy_line()
    weights = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    for loss in ("squared_error", "absolute_error", "huber"):
        for count in (2, 6):
            letter = BLFRegressor(count, loss=loss, to_the_letter=True).fit(X, y, weights)
            ours = BLFRegressor(count, loss=loss).fit(X, y, weights)
            T = letter.x_scores_
            np.testing.assert_allclose(T.T @ T, np.eye(count), atol=1e-8)
            assert letter.objective_ == pytest.approx(ours.objective_, rel=1e-8)
            np.testing.assert_allclose(letter.predict(X), ours.predict(X), atol=1e-7)
    X, y = overlapping()
    weights = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    f, g = (
        BLFClassifier(3, to_the_letter=way).fit(X, y, weights).decision_function(X)
        for way in (True, False)
    )
    assert not np.allclose(f, g, atol=1e-3)


def test_what_the_paper_has_not_is_refused() -> None:
    """The penalty, and the deviance of several classes."""
    for parameters, words in (
        ({"l2_regularization": 1.0}, "l2_regularization"),
        ({"loss": "multinomial"}, "multinomial"),
        ({"to_the_letter": "yes"}, "to_the_letter must be"),
    ):
        with pytest.raises(ValueError, match=words):
            BLFClassifier(**{"to_the_letter": True} | parameters).fit(*overlapping())
