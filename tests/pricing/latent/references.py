"""The published algorithms written out with explicit deflation, and the full model by CVXPY."""

import cvxpy as cp
import numpy as np

Vector = np.ndarray


def deflated_factors(X: Vector, responses: list[Vector]) -> tuple[Vector, Vector, Vector]:
    """[M] Alg. 3, lines 1 and 3 to 5, with a deflated copy of X: T, W and P."""
    X = X - X.mean(axis=0)
    T, W, P = [], [], []
    for u in responses:
        w = X.T @ u
        w /= np.linalg.norm(w)
        t = X @ w
        t /= np.linalg.norm(t)
        p = X.T @ t
        X = X - np.outer(t, p)
        T, W, P = [*T, t], [*W, w], [*P, p]
    return np.column_stack(T), np.column_stack(W), np.column_stack(P)


def kernel_pls(K: Vector, y: Vector, count: int) -> tuple[Vector, Vector]:
    """[M] Alg. 5 for the squared error, with a deflated copy of K: T and f on the training rows."""
    centring = np.eye(len(K)) - 1 / len(K)
    K, u = centring @ K @ centring, y - y.mean()
    T = []
    for _ in range(count):
        t = K @ u
        t /= np.linalg.norm(t)
        away = np.eye(len(K)) - np.outer(t, t)
        K, u = away @ K @ away, u - t * (t @ u)
        T.append(t)
    return np.column_stack(T), y - u


def full_optimum(loss: str, X: Vector, y: Vector, weights: Vector, **options: float) -> float:
    """The least loss of any f = Xg + b."""
    g, b = cp.Variable(X.shape[1]), cp.Variable()
    f = X @ g + b
    over, under = cp.Variable(len(y), nonneg=True), cp.Variable(len(y), nonneg=True)
    apart = [over - under == y - f]
    epsilon, delta = options.get("epsilon", 0.1), options.get("delta", 1.0)
    alpha = options.get("alpha", 0.5)
    cost, limits = {
        "squared_error": lambda: (cp.sum(cp.multiply(weights, cp.square(y - f))) / 2, []),
        "absolute_error": lambda: (weights @ (over + under), apart),
        "epsilon_insensitive": lambda: (
            weights @ (over + under),
            [over >= y - f - epsilon, under >= f - y - epsilon],
        ),
        "huber": lambda: (cp.sum(cp.multiply(weights, cp.huber(y - f, delta))) / 2, []),
        "quantile": lambda: (weights @ (alpha * over + (1 - alpha) * under), apart),
        "log_loss": lambda: (cp.sum(cp.multiply(weights, cp.logistic(-2 * cp.multiply(y, f)))), []),
        "exponential": lambda: (cp.sum(cp.multiply(weights, cp.exp(-cp.multiply(y, f)))), []),
    }[loss]()
    problem = cp.Problem(cp.Minimize(cost), limits)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(problem.value)
