"""Random restricted duals of the group penalty, and their optima by CVXPY, over functions."""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np

from cgboost.losses import SupportVectorLoss
from cgboost.optimizers.cones.cone_blocks import FactorBlock, GramBlock
from cgboost.optimizers.cones.cone_interior_point import ConeSession, ConeSolution
from tests.function_norms import optimum
from tests.problems import LOSSES, Problem

KINDS = ("hinge", "epsilon", "squared_hinge", "quantile", "huber")
WITH_MASS = ("nu_hinge", "nu_tube", "one_class")


@dataclass(frozen=True)
class GroupProblem:
    """A loss, kernels and their limits."""

    kind: str
    rows: Problem
    factors: list[np.ndarray]
    kernels: list[np.ndarray]
    limits: np.ndarray
    offset: str
    squared: bool

    @property
    def loss(self) -> SupportVectorLoss:
        """Its box."""
        loss = LOSSES[self.kind][0](self.rows, self.offset == "free")
        return getattr(loss, "box", loss)

    def session(self, blocks: list[GramBlock] | list[FactorBlock] | None = None) -> ConeSession:
        """A session with all kernels in it, by their Gram matrices if nothing else is said."""
        session = ConeSession(self.loss, offset=self.offset, squared=self.squared)
        grams = [GramBlock(K) for K in self.kernels]
        session.add(grams if blocks is None else blocks, self.limits)
        return session

    def objective(self, answer: ConeSolution) -> float:
        """The primal objective of the model in an answer, computed anew."""
        r, norms, output = answer.response, 0.0, np.full(self.loss.n_rows, answer.intercept)
        for K, limit, weight in zip(self.kernels, self.limits, answer.weights, strict=True):
            norms += limit * weight * np.sqrt(max(r @ K @ r, 0.0))
            output += weight * (K @ r)
        norms += abs(answer.intercept) if self.offset == "penalized" else 0.0
        return (0.5 * norms**2 if self.squared else norms) + self.loss.value(output)

    def sizes(self, r: np.ndarray) -> np.ndarray:
        """How far r reaches in each cone, that of a penalized offset too; 1 is the end."""
        sizes = [
            np.sqrt(max(r @ K @ r, 0.0)) / limit
            for K, limit in zip(self.kernels, self.limits, strict=True)
        ]
        return np.array([*sizes, abs(r.sum())] if self.offset == "penalized" else sizes)

    def bound(self, answer: ConeSolution) -> float:
        """The dual objective of the response, shrunk until it is inside all cones."""
        r, size = answer.response, self.sizes(answer.response).max()
        if self.squared:
            return self.loss.gain(r) - 0.5 * size**2
        return self.loss.gain(r / max(1.0, size))

    def optimum(self) -> float:
        """The least penalty and loss over functions of the kernels, by Clarabel."""
        charges = [*self.limits, 1.0]

        def penalty(norms: list[cp.Expression]) -> cp.Expression:
            total = sum(charge * norm for charge, norm in zip(charges, norms, strict=False))
            return cp.square(total) / 2 if self.squared else total

        kernels = dict(enumerate(self.kernels))
        written = LOSSES[self.kind][1]
        return optimum(kernels, lambda f: written(self.rows, f), penalty, offset=self.offset)


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
    target = np.sin(X[:, 0]) + 0.3 * rng.normal(size=n_rows)
    target[:2] = np.abs(target[0]), -np.abs(target[1])
    prices = price * rng.uniform(0.3, 3.0, size=n_rows)
    factors = [rng.normal(size=(n_rows, 1 + g % 3)) for g in range(n_kernels)]
    kernels = [H @ H.T for H in factors]
    if not low_rank:
        distance = ((X[:, None] - X[None]) ** 2).sum(-1)
        kernels = [K + np.exp(-distance * (g + 1)) for g, K in enumerate(kernels)]
    limits = rng.uniform(0.5, 2.0, size=n_kernels)
    rows = Problem(X, target, prices, 0.2)
    return GroupProblem(kind, rows, factors, kernels, limits, offset, squared)
