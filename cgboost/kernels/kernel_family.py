"""Basis functions of kernels, columns that are functions of new rows: h(x) = k(x, centre).

Whole kernels are columns of multiple kernel learning. The column of a kernel is the function of the
unit ball of its space that has the best score against a pseudo-response r:

    h_p = K_p r / (w_p √(rᵀK_p r)),     h_p·r = √(rᵀK_p r)/w_p,      w_p‖h_p‖ = 1

It changes with r (:mod:`cgboost.generation.spaces`). Of several outputs, r is one after the other,
and the space has a function for each: K_p is then block diagonal, and ‖h_p‖² the sum over the
outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from cgboost.arrays import Indices, Matrix, Vector, blocks_of
from cgboost.exceptions import KernelError, see
from cgboost.generation.columns import Column, Combination, Term
from cgboost.generation.packed import PackedMatrix
from cgboost.generation.spaces import OutputsColumn, SpaceColumn
from cgboost.kernels.checked_values import kernel_values
from cgboost.kernels.combinations import WeightedCentres, library_sum
from cgboost.kernels.expansions import ROWS_AT_ONCE
from cgboost.kernels.kernel import Kernel
from cgboost.kernels.scaling import Scaler, scaled
from cgboost.kernels.sparse_rows import is_sparse, like, single, stacked
from cgboost.tolerances import UNIT_ROUNDOFF


@dataclass(frozen=True)
class KernelFamily:
    """One named kernel; evaluates its basis functions together.

    Attributes
    ----------
    scaler : FeatureScaler or None
        What the kernel, and its centres, see of the features of a row.
    """

    name: str
    kernel: Kernel
    scaler: Scaler | None = None

    def outputs(self, X: Matrix, hypotheses: Sequence[KernelHypothesis]) -> Matrix:
        """Kernel values of the rows of X with the centres, shape (len(X), n_hypotheses)."""
        X = scaled(X, self.scaler)
        centres = stacked([hypothesis.centre for hypothesis in hypotheses])
        if is_sparse(X) == is_sparse(centres):
            return kernel_values(self.name, self.kernel, X, centres)
        blocks = blocks_of(X.shape[0], ROWS_AT_ONCE)
        return np.concatenate(
            [kernel_values(self.name, self.kernel, like(X[b], centres), centres) for b in blocks]
        )

    def inner_products(
        self, left: Sequence[KernelHypothesis], right: Sequence[KernelHypothesis]
    ) -> Vector:
        """⟨K(·, z), K(·, z')⟩ = K(z, z') in the RKHS, shape (len(left), len(right)).

        Raises
        ------
        KernelError
            Of a kernel whose values stand in X: they are not there for other centres than rows.
        """
        if self.kernel.is_precomputed:
            raise KernelError(
                f"kernel {self.name!r} is given by its values: its centres must be training rows"
                f"{see('precomputed-kernels')}"
            )
        A, B = (stacked([one.centre for one in side]) for side in (left, right))
        if A.dtype != object:
            A, B = A.astype(np.float64), B.astype(np.float64)
        return kernel_values(self.name, self.kernel, A, B).astype(np.float64, copy=False)

    @staticmethod
    def weighted_sum(X: Matrix, terms: Sequence[Term]) -> Vector:
        """Σ_j coef_j h_j on the rows of X, over functions of any kernels, shape (len(X),).

        Those of the same fit share what is computed of X.
        """
        parts: dict[int, list[WeightedCentres]] = {}
        scalers = {}
        for family, hypotheses, coef in terms:
            centres = [hypothesis.centre for hypothesis in hypotheses]
            part = WeightedCentres(family.name, family.kernel, centres, coef)
            scalers[id(family.scaler)] = family.scaler
            parts.setdefault(id(family.scaler), []).append(part)
        sums = [library_sum(scaled(X, scalers[fit]), own) for fit, own in parts.items()]
        return np.sum(sums, axis=0)


@dataclass(frozen=True, eq=False)
class KernelHypothesis:
    """h(x) = k(x, centre), with the training row the centre came from."""

    family: KernelFamily
    row: int
    centre: NDArray[Any]


Terms = tuple[Sequence[KernelHypothesis], Vector, Sequence[str]]


class ExpansionFamily:
    """Evaluates weighted sums of functions k(·, x_i) of any kernels."""

    def outputs(self, X: Matrix, hypotheses: Sequence[Combination]) -> Matrix:
        """Values of the sums on the rows of X, shape (len(X), n_hypotheses)."""
        values = np.zeros((X.shape[0], len(hypotheses)))
        parts: dict[int, list[tuple[int, float, KernelHypothesis]]] = {}
        for place, hypothesis in enumerate(hypotheses):
            functions, weights, _ = hypothesis.terms()
            for function, weight in zip(functions, weights.tolist(), strict=True):
                parts.setdefault(id(function.family), []).append((place, weight, function))
        for part in parts.values():
            places, shares, centred = zip(*part, strict=True)
            shape = len(part), len(hypotheses)
            sums = csr_array((shares, (np.arange(len(part)), places)), shape=shape)
            own = centred[0].family.outputs(X, centred)
            values += own.astype(np.float64, copy=False) @ sums
        return values


EXPANSIONS = ExpansionFamily()


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """h(x) = Σ_p Σ_i weight_pi k_p(x, x_i) over training rows x_i.

    Attributes
    ----------
    spaces : sequence of KernelSpace
        One for each kernel.
    weights : array-like of shape (n_spaces, n_rows)
        Mostly 0.
    """

    spaces: Sequence[KernelSpace]
    weights: Sequence[Vector] | Vector

    @property
    def family(self) -> ExpansionFamily:
        """What evaluates expansions."""
        return EXPANSIONS

    def terms(self) -> Terms:
        """The functions k_p(·, x_i) of nonzero weights, these, and the kernel's name for each."""
        functions: list[KernelHypothesis] = []
        names: list[str] = []
        supports = [np.flatnonzero(weights) for weights in self.weights]
        for space, support in zip(self.spaces, supports, strict=True):
            functions += space.centred_at(support)
            names += [space.name] * len(support)
        kept = [own[support] for own, support in zip(self.weights, supports, strict=True)]
        return functions, np.concatenate(kept), names


class KernelSpace:
    """The functions of one kernel over the training rows.

    Parameters
    ----------
    make_gram : callable
        Makes K_p(x_i, x_j) of all training rows.
    rows : matrix of n_rows rows
        The training rows as kernels see them, from which centres are taken.
    weight : float
        w_p, what a unit of the norm costs.
    """

    def __init__(
        self,
        functions: KernelFamily,
        make_gram: Callable[[], PackedMatrix],
        rows: Any,
        weight: float = 1.0,
    ) -> None:
        self.functions, self.rows, self.weight = functions, rows, weight
        self._make_gram, self._gram = make_gram, None
        self._centres: dict[int, KernelHypothesis] = {}
        self._n_offers = 0

    _gram: PackedMatrix | None

    @property
    def gram(self) -> PackedMatrix:
        """K_p(x_i, x_j) of all training rows."""
        if self._gram is None:
            self._gram = self._make_gram()
        return self._gram

    def release(self) -> None:
        """Forget the matrix; it is made again where it is asked for."""
        self._gram = None

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.functions.name

    def norm(self, vector: Vector) -> float:
        """w_p√(aᵀK_p a), the norm of a function by its vector a."""
        forms = (self.gram.form(own) for own in self._by_output(vector))
        return self.weight * float(np.sqrt(max(0.0, sum(forms))))

    def _by_output(self, vector: Vector) -> Vector:
        """A line for each output."""
        return vector.reshape(-1, len(self.gram))

    def score_error(self, response: Vector) -> float:
        """What rounding may do to rᵀK_p r/w_p², at most."""
        n_terms = np.count_nonzero(response) + self.rows.shape[1]
        roots = np.sqrt(np.maximum(self.gram.diagonal(), 0.0))
        sums = self._by_output(np.abs(response)) @ roots
        largest = float(sums @ sums)  # (Σ|r_i|√K_ii)² ≥ |r|ᵀ|K||r|
        return n_terms * UNIT_ROUNDOFF * largest / self.weight**2

    def best(self, response: Vector, key: Hashable) -> Column:
        """The function of the unit ball with the best score; 0 where every function scores 0."""
        values, functions = self._maximiser(response)
        return OutputsColumn(values, key, functions[0], self.name, functions=functions)

    def whole(self, response: Vector) -> SpaceColumn:
        """The kernel as a column, with the function of the best score for its values."""
        values, functions = self._maximiser(response)
        self._n_offers += 1  # it may have left the master, and come back
        key = ("kernel", self.name, self._n_offers)
        return SpaceColumn(values, key, functions[0], self.name, functions=functions, space=self)

    def centred_at(self, rows: Indices) -> list[KernelHypothesis]:
        """The functions k(·, x_i) of some rows, always the same objects."""
        new = [row for row in rows.tolist() if row not in self._centres]
        if new:
            centres = self.functions.kernel.centres(self.rows, np.array(new))
            for place, row in enumerate(new):
                own = KernelHypothesis(self.functions, row, single(centres, place))
                self._centres[row] = own
        return [self._centres[row] for row in rows.tolist()]

    def _maximiser(self, response: Vector) -> tuple[Vector, Sequence[KernelExpansion]]:
        """The values of the function of the norm 1, and what it is for each output; 0 if K r is."""
        own = self._by_output(response)
        values = np.concatenate([self.gram @ part for part in own])
        size = self.weight * float(np.sqrt(max(0.0, float(values @ response))))
        factor = 1.0 / size if size > 0 else 0.0
        return factor * values, [KernelExpansion([self], [factor * part]) for part in own]
