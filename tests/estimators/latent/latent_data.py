"""Data and models that the tests of Boosted Latent Factors share."""

from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_digits,
    load_iris,
    load_linnerud,
    load_wine,
)

from cgboost import BLFClassifier, BLFRegressor
from cgboost.generation.history import Round
from cgboost.losses import Loss, get_loss
from tests.problems import least

Vector = np.ndarray


def standardised(X: Vector) -> Vector:
    """Features of mean 0 and deviation 1; constant ones stay."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def random_rows(n_rows: int, n_features: int, *, rank: int = 0, shift: float = 0.0) -> Any:
    """Normal features, correlated if a rank is given, and a response that is linear in some."""
    rng = np.random.default_rng(n_rows + n_features)
    X = rng.normal(size=(n_rows, n_features))
    if rank:
        X = 0.1 * X + rng.normal(size=(n_rows, rank)) @ rng.normal(size=(rank, n_features))
    y = X[:, : min(5, n_features)].sum(axis=1) + rng.normal(size=n_rows)
    return X + shift, y


def data_sets() -> dict[str, tuple[Vector, Vector, int]]:
    """X, y and a number of factors: six sets of scikit-learn, six made ones, three with p > n."""
    cancer, wine, digits = load_breast_cancer(), load_wine(), load_digits()
    exercise = load_linnerud()
    return {
        "diabetes": (*load_diabetes(return_X_y=True), 8),
        "cancer": (standardised(cancer.data), cancer.target.astype(float), 10),
        "wine": (wine.data, wine.target.astype(float), 4),
        "iris": (*(a.astype(float) for a in load_iris(return_X_y=True)), 4),
        "digits": (digits.data[:400], digits.target[:400].astype(float), 10),
        "linnerud": (exercise.data, exercise.target[:, 0], 3),
        "tall": (*random_rows(200, 8), 8),
        "shifted": (*random_rows(80, 10, shift=100.0), 5),
        "correlated": (*random_rows(100, 30, rank=4), 10),
        "wide": (*random_rows(40, 500), 10),
        "very wide": (*random_rows(20, 3000), 8),
        "wide, low rank": (*random_rows(50, 400, rank=6), 8),
    }


DATA = data_sets()


def noisy_line(n_rows: int = 60, n_features: int = 6, seed: int = 0) -> tuple[Vector, Vector]:
    """A linear response with heavy tails."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) + rng.normal(size=n_features)
    return X, X @ rng.normal(size=n_features) + rng.standard_t(2, size=n_rows)


def overlapping(n_rows: int = 80, n_features: int = 5, seed: int = 0) -> tuple[Vector, Vector]:
    """Classes 0 and 1 that no plane separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, (X[:, 0] - X[:, 1] + 1.5 * rng.normal(size=n_rows) > 0.3).astype(int)


REGRESSION = ["squared_error", "absolute_error", "epsilon_insensitive", "huber", "quantile"]
CLASSES = ["log_loss", "exponential"]
LOSSES = REGRESSION + CLASSES
OPTIONS = {"epsilon": 0.3, "delta": 0.8, "alpha": 0.3}
OWNERS = {"epsilon_insensitive": "epsilon", "huber": "delta", "quantile": "alpha"}


def options_of(loss: str) -> dict[str, float]:
    """The parameter that the loss has."""
    return {OWNERS[loss]: OPTIONS[OWNERS[loss]]} if loss in OWNERS else {}


def model_of(loss: str, n_components: Any = 3, **parameters: Any) -> BLFRegressor | BLFClassifier:
    """An estimator for a loss."""
    if loss in CLASSES:
        return BLFClassifier(n_components, loss=loss, **parameters)
    return BLFRegressor(n_components, loss=loss, **options_of(loss), **parameters)


def data_of(loss: str, seed: int = 0) -> tuple[Vector, Vector]:
    """Rows that suit a loss."""
    return overlapping(seed=seed) if loss in CLASSES else noisy_line(seed=seed)


def exact(loss: str, n_components: Any = 3, **parameters: Any) -> BLFRegressor | BLFClassifier:
    """With full refits."""
    return model_of(loss, n_components, newton_steps=None, newton_damping=0.0, **parameters)


def outputs(model: Any, X: Any) -> Vector:
    """F on the rows of X."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


class Watching:
    """A callback that keeps the pseudo-response of every round."""

    def __init__(self) -> None:
        self.responses: list[Vector] = []

    def __call__(self, turn: Round) -> None:
        self.responses.append(turn.state.pseudo_response)


def known(loss: str) -> Loss:
    """The loss with the parameter that models of it have here."""
    own = {"alpha": "quantile"}
    return get_loss(loss, **{own.get(name, name): v for name, v in options_of(loss).items()})


def optimum(loss: Loss, T: Vector, target: Vector, weights: Vector, ridge: float) -> float:
    """The least of loss + ½λ‖c‖² over f = μ + Tc."""
    c, mu = cp.Variable(T.shape[1]), cp.Variable()
    cost = weights @ loss.to_cvxpy(target, T @ c + mu)
    return least(cost + 0.5 * ridge * cp.sum_squares(c))
