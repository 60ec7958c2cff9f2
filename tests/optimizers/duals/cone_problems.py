"""Random restricted duals of the group penalty, and their optima by Clarabel."""

import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from cgboost.losses import (
    Huber,
    Quantile,
    SquaredHinge,
    SupportVectorLoss,
    epsilon_insensitive,
    hinge,
    nu_hinge,
    nu_insensitive,
    one_class,
)
from cgboost.optimizers.cones.cone_blocks import FactorBlock, GramBlock
from cgboost.optimizers.cones.cone_interior_point import ConeSession, ConeSolution

KINDS = ("hinge", "tube", "squared_hinge", "quantile", "huber")
WITH_MASS = ("nu", "nu_tube", "one_class")


@dataclass(frozen=True)
class GroupProblem:
    """A loss, kernels and their limits."""

    loss: SupportVectorLoss
    factors: list[np.ndarray]
    kernels: list[np.ndarray]
    limits: np.ndarray
    offset: str
    squared: bool

    def session(self, blocks: list[GramBlock] | list[FactorBlock] | None = None) -> ConeSession:
        """A session with all kernels in it, by their Gram matrices if nothing else is said."""
        session = ConeSession(self.loss, offset=self.offset, squared=self.squared)
        grams = [GramBlock(K) for K in self.kernels]
        session.add(grams if blocks is None else blocks, self.limits)
        return session

    def charged(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Kernels and limits, with those of a penalized offset."""
        if self.offset != "penalized":
            return self.kernels, self.limits
        n_rows = self.loss.n_rows
        return [*self.kernels, np.ones((n_rows, n_rows))], np.append(self.limits, 1.0)

    def objective(self, answer: ConeSolution) -> float:
        """The primal objective of the model in an answer, computed anew."""
        r, norms, output = answer.response, 0.0, np.full(self.loss.n_rows, answer.intercept)
        for K, limit, weight in zip(self.kernels, self.limits, answer.weights, strict=True):
            norms += limit * weight * np.sqrt(max(r @ K @ r, 0.0))
            output += weight * (K @ r)
        norms += abs(answer.intercept) if self.offset == "penalized" else 0.0
        return (0.5 * norms**2 if self.squared else norms) + self.loss.value(output)

    def bound(self, answer: ConeSolution) -> float:
        """The dual objective of the response, shrunk until it is inside all cones."""
        r = answer.response
        kernels, limits = self.charged()
        size = max(
            np.sqrt(max(r @ K @ r, 0.0)) / limit for K, limit in zip(kernels, limits, strict=True)
        )
        if self.squared:
            return self.loss.gain(r) - 0.5 * size**2
        return self.loss.gain(r / max(1.0, size))

    def optimum(self) -> float:
        """The optimal value of the dual, by Clarabel."""
        variables = self.loss.variables
        u = cp.Variable(len(variables), nonneg=True)
        into_rows = np.zeros((self.loss.n_rows, len(variables)))
        into_rows[variables.row, np.arange(len(variables))] = variables.sign
        r, height = into_rows @ u, cp.Variable() if self.squared else 1.0
        gain = variables.gain() @ u - cp.sum(cp.multiply(variables.curvature, cp.square(u))) / 2
        limits = [u[j] <= variables.cap[j] for j in np.flatnonzero(np.isfinite(variables.cap))]
        for K, limit in zip(*self.charged(), strict=True):
            values, vectors = np.linalg.eigh(K)
            some = values > 1e-13 * values.max()
            root = vectors[:, some] * np.sqrt(values[some])
            limits.append(cp.norm(root.T @ r) <= limit * height)
        if self.offset == "free":
            limits.append(cp.sum(r) == 0)
        if (mass := self.loss.mass) is not None:
            limits.append(cp.sum(u) <= mass.amount if mass.at_most else cp.sum(u) == mass.amount)
        if self.squared:
            gain -= cp.square(height) / 2
        problem = cp.Problem(cp.Maximize(gain), limits)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Solution may be inaccurate")
            for tolerance in (1e-10, 1e-9, 1e-8):  # the finer one is not always reached
                names = ("tol_gap_abs", "tol_gap_rel", "tol_feas")
                try:
                    problem.solve(solver=cp.CLARABEL, **dict.fromkeys(names, tolerance))
                    break
                except cp.SolverError:
                    continue
        return float(problem.value)


def random_group_problem(
    seed: int,
    kind: str = "hinge",
    offset: str = "free",
    *,
    squared: bool = False,
    n_rows: int = 24,
    n_kernels: int = 3,
    price: float = 1.0,
    low_rank: bool = False,
) -> GroupProblem:
    """Kernels of random columns, and unless of low rank of distances, for a loss with weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    labels = np.where(X[:, 0] + 0.5 * rng.normal(size=n_rows) > 0, 1.0, -1.0)
    labels[:2] = 1.0, -1.0
    target = np.sin(X[:, 0]) + 0.3 * rng.normal(size=n_rows)
    prices = price * rng.uniform(0.3, 3.0, size=n_rows)
    losses = {
        "hinge": lambda: hinge(labels, prices),
        "tube": lambda: epsilon_insensitive(target, prices, 0.2),
        "squared_hinge": lambda: SquaredHinge().dual_box(labels, prices),
        "quantile": lambda: Quantile(0.3).dual_box(target, prices),
        "huber": lambda: Huber(0.5).dual_box(target, prices),
        "nu": lambda: nu_hinge(labels, prices, 0.1, balanced=offset == "free"),
        "nu_tube": lambda: nu_insensitive(target, prices, 0.4),
        "one_class": lambda: one_class(prices, 0.3),
    }
    factors = [rng.normal(size=(n_rows, 1 + g % 3)) for g in range(n_kernels)]
    kernels = [H @ H.T for H in factors]
    if not low_rank:
        distance = ((X[:, None] - X[None]) ** 2).sum(-1)
        kernels = [K + np.exp(-distance * (g + 1)) for g, K in enumerate(kernels)]
    limits = rng.uniform(0.5, 2.0, size=n_kernels)
    return GroupProblem(losses[kind](), factors, kernels, limits, offset, squared)
