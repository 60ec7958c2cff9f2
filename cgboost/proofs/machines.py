"""Support vector machines of any kernel: they come with a dual point, their own coefficients.

    min ½‖f − b‖² + L(f),     f = Σ_i r_i k(x_i, ·) + b,     bound = gain(r) − ½ rᵀKr

so that a certificate takes the values of the kernel between the rows and the support vectors. With
ν the level (margin ρ, tube ε) is the best one for the outputs; a NuSVC's outputs are those over ρ.
Where the gap is not small, steps along pairs of the rows that have most of it give a better r.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.class_weight import compute_class_weight

from cgboost.arrays import Indices, Vector, blocks_of
from cgboost.estimators.kernel.given_machines import of_pairs
from cgboost.exceptions import CertificateError
from cgboost.forks import cached_property
from cgboost.kernels.numeric.distances import RBF
from cgboost.kernels.numeric.inner_products import Linear
from cgboost.losses import (
    EpsilonInsensitive,
    Hinge,
    SupportVectorLoss,
    nu_hinge,
    nu_insensitive,
    one_class,
)
from cgboost.proofs.pair_steps import take_pair_steps
from cgboost.proofs.problem import DualPoint, Point
from cgboost.proofs.rows import BoxRows, Rows, rows_of

OTHER_ROWS = 1e-4
"""Coefficients of libsvm that leave their box by this share of the largest are of other rows."""

KERNEL_VALUES_AT_ONCE = 2**18
"""Kernel values that are held at once: 2 MB, few enough for a processor's cache."""

LIFTED_GAP = 1e-3
"""A relative gap below which the machine's own dual point will do: what libsvm's default tolerance
leaves."""

ROWS_OF_A_TILE = 256
"""Rows and columns of a square of a kernel's matrix that is made at once."""

ROWS_OF_MOST = 0.99
"""Rows that have this share of the gap may move."""

MOST_ROWS_MOVED = 1000
"""So many of them at most: 8 MB of kernel values. With 2000 a certificate of 4000 rows takes up to
twice as long, for gaps that are 0 to 15 % narrower."""

MORE_VALUES = 3
"""And as many as have so many times the kernel values that the coefficients' own bound took."""


@dataclass(frozen=True, eq=False)
class MachineProblem:
    """The problem of one output of a machine.

    Attributes
    ----------
    loss : bound loss or SupportVectorLoss
        Of the rows of this problem.
    sums : ndarray of shape (n_rows,)
        Kr.
    rows_used : ndarray of shape (n_rows,)
        Their numbers in X.
    balanced : bool
        Whether there is a free intercept.
    largest : float
        The largest k(x, x) of the rows.
    matrix : callable
        Makes the matrix of the kernel between some of the rows, symmetric to the last digit.
    """

    loss: Any
    sums: Vector
    rows_used: NDArray[np.intp]
    balanced: bool
    name: str = ""
    largest: float = 1.0
    matrix: Callable[[Indices], Vector] = field(default=lambda _: np.zeros((0, 0)), repr=False)

    of_columns = True

    @cached_property
    def rows(self) -> Rows:
        """The losses of the rows."""
        return rows_of(self.loss)

    def at(self, response: Vector, intercept: float) -> Point:
        """The machine itself."""
        output = self.sums + intercept
        penalty = 0.5 * float(response @ self.sums)
        return Point(response, intercept, output, float(self.rows.values(output).sum()) + penalty)

    def dual_at(self, response: Vector) -> DualPoint:
        """Its bound: the coefficients, moved by no more than rounding and tolerance ask for."""
        inside = self.rows.feasible(response, balanced=self.balanced)
        moved = np.abs(inside - response).max(initial=0.0)
        if moved > OTHER_ROWS * float(np.abs(response).max(initial=0.0)):
            raise CertificateError(
                "the signs or sizes of dual_coef_ do not go with these targets and weights: give "
                "y and sample_weight of the fit, in their order"
            )
        return self._dual(response, inside, np.zeros(0, dtype=np.intp), np.zeros((0, 0)))

    def _dual(self, given: Vector, inside: Vector, block: Indices, gram: Vector) -> DualPoint:
        """The bound of a feasible r near the coefficients a, farther only on a block of rows.

        rᵀKr = aᵀKa + 2 Δᵀ Ka + ΔᵀKΔ with Δ = r − a. Off the block ‖Δ‖² in the RKHS is at most
        (Σ|Δ| √k)², and all of that is added: a lower bound stays one.
        """
        moved = inside - given
        on_block = moved[block]
        size = float(given @ self.sums) + 2.0 * float(moved @ self.sums)
        size += float(on_block @ gram @ on_block)
        moved[block] = 0.0
        rest = float(np.abs(moved).sum())
        size += rest * (rest + 2.0 * float(np.abs(on_block).sum())) * self.largest
        bound = float(self.rows.gains(inside).sum()) - 0.5 * size
        if self._loss.mass is None:
            bound = max(0.0, bound)  # no loss is below 0, but for those with a level
        return DualPoint(inside, np.zeros(0), bound)

    def lifted(self, point: Point, dual: DualPoint) -> DualPoint:
        """A better dual point, where that is worth its time."""
        gap = point.objective - dual.bound
        if gap <= LIFTED_GAP * abs(point.objective):
            return dual
        parts = self.rows.parts(point.output, dual.response)
        order = np.argsort(-parts)
        most = np.searchsorted(np.cumsum(parts[order]), ROWS_OF_MOST * parts.sum())
        values = MORE_VALUES * len(parts) * np.count_nonzero(point.coef)
        block = np.sort(order[: min(int(most) + 1, MOST_ROWS_MOVED, int(np.sqrt(values)))])
        gram = self.matrix(block)
        r = dual.response.copy()
        r[block] = take_pair_steps(self._loss, block, gram, self.sums, dual.response)
        inside = self.rows.feasible(r, balanced=self.balanced)
        better = self._dual(point.coef, inside, block, gram)
        return better if better.bound > dual.bound else dual

    @property
    def _loss(self) -> SupportVectorLoss:
        assert isinstance(self.rows, BoxRows)
        return self.rows.loss

    def parts(self, point: Point, dual: DualPoint) -> tuple[Vector, Vector]:
        """The parts of the gap to the coefficients as a dual point: of the rows alone."""
        return self.rows.parts(point.output, point.coef), np.zeros(1)


def machine_problems(
    model: Any, X: Any, y: NDArray[Any], weights: Vector
) -> tuple[list[tuple[MachineProblem, Point, DualPoint]], list[str]]:
    """Problems, points and duals of a fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM."""
    kind = type(model).__name__
    support = model.support_
    coef = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    classes = getattr(model, "classes_", None)
    pairs = classes is not None and len(classes) > 2
    A = of_pairs(coef, model.n_support_) if pairs else coef.T
    problems = _outputs(model, kind, y, weights, classes)
    kept = np.flatnonzero(weights > 0)  # libsvm counts support vectors among these
    X = X[kept][:, kept] if model.kernel == "precomputed" else X[kept]
    _check_vectors(model, X)
    sums = _sums(model, X, support, A)
    place = np.full(len(y), -1)
    place[kept] = np.arange(len(kept))
    found = []
    for k, (rows, y_own, costs, name) in enumerate(problems):
        used = place[rows] >= 0
        own = place[rows[used]]
        r = np.zeros(len(kept))
        r[support] = A[:, k]
        b = float(np.ravel(model.intercept_)[k])
        loss, r, f, b = _loss(model, kind, y_own[used], costs[used], r[own], sums[own, k], b)
        if float(r @ f) < -CLEARLY_NEGATIVE * float(np.abs(r) @ np.abs(f)):
            raise CertificateError("the kernel is not positive semidefinite: not convex")
        largest = float(_diagonal(model, X, own).max())
        matrix = partial(_matrix, model, X, own)
        balanced = kind != "OneClassSVM"
        problem = MachineProblem(loss, f, rows[used], balanced, name, largest, matrix)
        point = problem.at(r, b)
        found.append((problem, point, problem.lifted(point, problem.dual_at(r))))
    assumed = [WORDS[kind]]
    if pairs:
        assumed.append("one problem for each pair of classes")
    if model.kernel == "precomputed" or callable(model.kernel):
        assumed.append("the kernel is positive semidefinite")
    return found, assumed


def _check_vectors(model: Any, X: Any) -> None:
    """Raise CertificateError where the support vectors are other rows than those of X."""
    support = model.support_
    if int(support.max(initial=-1)) >= X.shape[0]:
        raise CertificateError(
            f"X has {X.shape[0]} rows that count, and row {support.max()} is a support vector: "
            "give all rows of the fit, in their order"
        )
    if model.kernel == "precomputed" or callable(model.kernel):
        return
    apart = abs(X[support] - model.support_vectors_)
    if apart.shape[0] and apart.max() > 0:
        raise CertificateError(
            "the support vectors are not the rows of X with their numbers: give the rows of the "
            "fit, in their order, with their sample_weight"
        )


CLEARLY_NEGATIVE = 1e-9
"""A squared norm below 0 by this share of its terms is no rounding."""

WORDS = {
    "SVC": "C times the sum over the rows, plus ½‖f‖², the intercept free",
    "SVR": "C times the sum over the rows, plus ½‖f‖², the intercept free",
    "NuSVC": "½‖f‖² − ν n ρ plus the sum over the rows, with the best margin ρ (libsvm's scaling)",
    "NuSVR": "½‖f‖² plus C times (ν n ε and the sum over the rows), with the best tube ε",
    "OneClassSVM": "½‖f‖² − ν n ρ plus the sum over the rows, with the best ρ (libsvm's scaling)",
}


def _outputs(
    model: Any, kind: str, y: NDArray[Any], weights: Vector, classes: NDArray[Any] | None
) -> list[tuple[NDArray[np.intp], Vector, Vector, str]]:
    """Rows, targets, costs and name of each problem."""
    everything = np.arange(len(y))
    if classes is None:
        return [(everything, np.asarray(y, dtype=float), weights, "")]
    own = np.asarray(
        compute_class_weight(getattr(model, "class_weight", None), classes=classes, y=y)
    )
    costs = weights * own[np.searchsorted(classes, y)]
    if kind == "NuSVC" and model.class_weight is not None:
        raise CertificateError("class_weight of a NuSVC is not known")
    if len(classes) == 2:
        return [(everything, np.where(y == classes[1], 1.0, -1.0), costs, "")]
    found = []
    for i, j in combinations(range(len(classes)), 2):
        rows = np.flatnonzero((y == classes[i]) | (y == classes[j]))
        signs = np.where(y[rows] == classes[i], 1.0, -1.0)
        found.append((rows, signs, costs[rows], f"classes {classes[i]} and {classes[j]}"))
    return found


def _loss(
    model: Any, kind: str, y: Vector, costs: Vector, r: Vector, f: Vector, b: float
) -> tuple[Any, Vector, Vector, float]:
    """The loss of a problem, with coefficients, sums and intercept in its scale."""
    if kind == "SVC":
        return Hinge().on(y, model.C * costs), r, f, b
    if kind == "SVR":
        return EpsilonInsensitive(model.epsilon).on(y, model.C * costs), r, f, b
    if kind == "NuSVR":
        return nu_insensitive(y, model.C * costs, model.nu), r, f, b
    if kind == "OneClassSVM":
        loss: SupportVectorLoss = one_class(costs, model.nu)
        return loss, r, f, 0.0
    if (r * y <= 0).all() and r.any():
        raise CertificateError(
            "every sign in dual_coef_ is opposite to its label: libsvm ended at a negative margin, "
            f"and the model predicts the other class (nu={model.nu} is too small for its tolerance "
            "on these features: scale them, or raise nu), or y is not that of the fit"
        )
    margin = model.nu * float(costs.sum()) / float(np.abs(r).sum())
    return nu_hinge(y, costs, model.nu, balanced=True), margin * r, margin * f, margin * b


def _kernel(model: Any) -> Callable[[Any, Any], Any]:
    if callable(model.kernel):
        return lambda X, Z: np.asarray(model.kernel(X, Z), dtype=np.float64)
    if model.kernel == "linear":
        return Linear()
    if model.kernel == "rbf" and model._gamma > 0:
        return RBF(float(model._gamma))
    own = {"gamma": model._gamma, "coef0": model.coef0, "degree": model.degree}
    given = own if model.kernel == "poly" else {"gamma": model._gamma}
    return lambda X, Z: pairwise_kernels(X, Z, metric=model.kernel, **given)


def _sums(model: Any, X: Any, support: Indices, A: Vector) -> Vector:
    """K(X, support) A, a tile at a time; those between support vectors are symmetric."""
    if model.kernel == "sigmoid":
        raise CertificateError("a sigmoid is the kernel of no space of functions: not convex")
    if model.kernel == "precomputed":
        return np.asarray(X[:, support] @ A)
    kernel, n_rows = _kernel(model), X.shape[0]
    sums = np.zeros((n_rows, A.shape[1]))
    if not len(support):
        return sums
    others = np.setdiff1d(np.arange(n_rows), support)
    vectors = X[support]
    step = max(1, KERNEL_VALUES_AT_ONCE // len(support))
    for part in blocks_of(len(others), step):
        sums[others[part]] = kernel(X[others[part]], vectors) @ A
    own = np.zeros_like(A)
    for one, two, values in _tiles(kernel, vectors):
        own[one] += values @ A[two]
        if one != two:
            own[two] += values.T @ A[one]
    sums[support] = own
    return sums


def _tiles(kernel: Callable[[Any, Any], Any], X: Any) -> Iterator[tuple[slice, slice, Vector]]:
    """The upper triangle of a kernel's matrix, a square at a time."""
    parts = list(blocks_of(X.shape[0], ROWS_OF_A_TILE))
    for k, one in enumerate(parts):
        rows = X[one]
        for two in parts[k:]:
            yield one, two, kernel(rows, X[two])


def _matrix(model: Any, X: Any, own: Indices, rows: Indices) -> Vector:
    """The matrix of the kernel between some rows, symmetric to the last digit."""
    X = X[own[rows]]
    n_rows = X.shape[0]
    if model.kernel == "precomputed":
        values: Any = X[:, own[rows]]
        values = values.toarray() if sparse.issparse(values) else np.asarray(values, dtype=float)
        return 0.5 * values + 0.5 * values.T
    values = np.empty((n_rows, n_rows))
    for one, two, tile in _tiles(_kernel(model), X):
        values[one, two] = tile if one != two else 0.5 * tile + 0.5 * tile.T
        values[two, one] = values[one, two].T
    return values


def _diagonal(model: Any, X: Any, rows: NDArray[np.intp]) -> Vector:
    """k(x, x) of rows."""
    if model.kernel == "precomputed":
        return np.asarray(X[rows, rows]).ravel()
    if model.kernel == "rbf":
        return np.ones(len(rows))
    kernel = _kernel(model)
    if callable(model.kernel):
        return np.array([float(kernel(X[[i]], X[[i]])[0, 0]) for i in rows])
    own = X[rows]
    squares = (
        np.asarray(own.multiply(own).sum(axis=1)).ravel()
        if sparse.issparse(X)
        else (np.einsum("ij,ij->i", own, own))
    )
    if model.kernel == "poly":
        return np.asarray((model._gamma * squares + model.coef0) ** model.degree)
    return squares
