"""Columns, the basis functions behind them, and the ensemble that is their sum.

A *column* is a basis function on the training rows: one number per row. The *basis function*
(:class:`Hypothesis`) can be evaluated on new rows. Basis functions that can be evaluated together,
such as all centres of one kernel, share a *family*.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cgboost.tolerances import RESIDUE

FloatArray = NDArray[np.floating[Any]]

PREDICTION_BLOCK = 2**23
"""Numbers held at once while an ensemble is evaluated (64 MB of float64)."""


class Family(Protocol):
    """Basis functions that are evaluated together.

    A family that can compute Σ_j coef_j h_j faster than from the values of every h_j is also a
    :class:`~cgboost.generation.columns.SummingFamily`.
    """

    def outputs(self, X: Any, hypotheses: Sequence[Any]) -> FloatArray:
        """Values of ``hypotheses`` on the rows of ``X``, shape (n_rows, n_hypotheses)."""
        ...


class Term(NamedTuple):
    """Σ_j coef_j h_j over some basis functions of one family."""

    family: Any
    hypotheses: Sequence[Any]
    coef: NDArray[np.float64]


WeightedSum = Callable[[Any, Sequence[Term]], NDArray[np.float64]]


@runtime_checkable
class SummingFamily(Protocol):
    """A family that can compute Σ_j coef_j h_j faster than from the values of every h_j."""

    @property
    def weighted_sum(self) -> WeightedSum:
        """A static method ``weighted_sum(X, terms)`` that returns the sum, shape (n_rows,).

        It is called once with the :class:`Term` of every family that has the same one.
        """
        ...


@runtime_checkable
class Hypothesis(Protocol):
    """A column as a function of new rows."""

    @property
    def family(self) -> Family:
        """The family that evaluates this basis function."""
        ...


@runtime_checkable
class Combination(Protocol):
    """A basis function that is a linear combination of others, of which a model is made in the end.

    Combinations that have basis functions in common share the objects.
    """

    def terms(self) -> tuple[Sequence[Any], NDArray[np.float64], Sequence[str]]:
        """The basis functions, with the weight and the stratum of each."""
        ...


@dataclass(frozen=True, eq=False)
class Column:
    """One column of the master problem.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        The column on the training rows.
    key : hashable
        Identity of the column; the loop never adds the same key twice.
    hypothesis : Hypothesis or None
        The column as a function of new rows; None if there are no new rows (cutting stock).
    stratum : str
        Name of the priority class of the column (the kernel, for a kernel library).
    cost : float
        Cost of one unit of the column in a :class:`~cgboost.masters.LinearMaster`; masters with a
        loss and a penalty ignore it.
    upper : float
        Upper bound of its variable, for the same master.
    integer : bool
        Whether its variable is integer in :func:`~cgboost.masters.solve_integer`.
    output : int
        Index of the output of the model to which the column contributes; 0 if there is only one.
    variables : mapping of hashable to float
        Amounts of the original variables in one unit of the column, by name; variables that are not
        listed have the amount 0. Used by branching rules and robust cuts.
    block : hashable or None
        The subproblem of the column, if there are several; of all columns in a convexity row, or
        of none.
    ray : bool
        Whether it is a direction, and not a point, of its subproblem: something that may be added
        to points without end. It is in no convexity row.
    """

    values: FloatArray
    key: Hashable
    hypothesis: Hypothesis | None = None
    stratum: str = ""
    cost: float = 0.0
    upper: float = math.inf
    integer: bool = True
    output: int = 0
    variables: Mapping[Hashable, float] = field(default_factory=dict)
    block: Hashable | None = None
    ray: bool = False

    @property
    def parts(self) -> Sequence[tuple[int, Any]]:
        """What the column adds to the model: (number of an output, basis function), one each."""
        return [(self.output, self.hypothesis)]

    def check(self, n_rows: int) -> None:
        """Raise a ValueError unless values and cost are finite numbers, one value for each row."""
        if isinstance(self.values, (list, tuple)) or np.shape(self.values) != (n_rows,):
            kind = f"shape {np.shape(self.values)}"
            if isinstance(self.values, (list, tuple)):
                kind = f"a {type(self.values).__name__} of values, no array"
            raise ValueError(f"column {self.key!r} has {kind}, the master has {n_rows} rows")
        try:
            with np.errstate(over="ignore"):  # huge numbers have a square that is not finite
                square = np.dot(self.values, self.values)
            if math.isfinite(self.cost) and math.isfinite(square):
                return  # the quick way
            finite = np.isfinite(self.values)
            if finite.all() and math.isfinite(self.cost):
                return
        except (TypeError, ValueError):
            raise ValueError(
                f"column {self.key!r} must have numbers for its values and its cost, got values of "
                f"the type {np.asarray(self.values).dtype} and the cost {self.cost!r}"
            ) from None
        if finite.all():
            raise ValueError(f"column {self.key!r} has the cost {self.cost}, which is not finite")
        row = int(np.argmin(finite))
        raise ValueError(
            f"column {self.key!r} has the value {self.values[row]} in row {row}, "
            "which is not finite"
        )


def evaluate(hypotheses: Sequence[Hypothesis], X: Any) -> NDArray[np.float64]:
    """Values of many basis functions on new rows.

    Parameters
    ----------
    X : array-like with n_rows rows

    Returns
    -------
    ndarray of shape (n_rows, len(hypotheses))
    """
    values = np.empty((X.shape[0], len(hypotheses)))
    for family, places in _by_family(hypotheses):
        values[:, places] = family.outputs(X, [hypotheses[j] for j in places])
    return values


def weighted_sum(
    hypotheses: Sequence[Hypothesis], coef: NDArray[np.float64], X: Any
) -> NDArray[np.float64]:
    """Σ_j coef_j h_j on new rows, by the fastest way that each family has.

    Parameters
    ----------
    coef : ndarray of shape (n_hypotheses,)
        Basis functions with a zero coefficient cost nothing.
    X : array-like with n_rows rows

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    active = np.flatnonzero(coef)
    hypotheses, coef = [hypotheses[j] for j in active.tolist()], coef[active]
    terms: dict[WeightedSum, list[Term]] = {}
    for family, places in _by_family(hypotheses):
        term = Term(family, [hypotheses[j] for j in places], coef[places])
        quickest = family.weighted_sum if isinstance(family, SummingFamily) else _by_values
        terms.setdefault(quickest, []).append(term)
    total = np.zeros(X.shape[0])
    for its_sum, its_terms in terms.items():
        total += its_sum(X, its_terms)
    return total


def _by_values(X: Any, terms: Sequence[Term]) -> NDArray[np.float64]:
    total = np.zeros(X.shape[0])
    for family, hypotheses, coef in terms:
        step = max(1, PREDICTION_BLOCK // len(hypotheses))
        for start in range(0, X.shape[0], step):
            rows = slice(start, start + step)
            total[rows] += family.outputs(X[rows], hypotheses) @ coef
    return total


def _by_family(hypotheses: Sequence[Hypothesis]) -> list[tuple[Family, list[int]]]:
    groups: dict[int, tuple[Family, list[int]]] = {}
    for place, hypothesis in enumerate(hypotheses):
        family = hypothesis.family
        groups.setdefault(id(family), (family, []))[1].append(place)
    return list(groups.values())


@dataclass
class Ensemble:
    """The model f(x) = Σ_j α_j h_j(x) + b.

    Attributes
    ----------
    hypotheses : list of Hypothesis
    coef : ndarray of shape (n_hypotheses,)
    intercept : float
    """

    hypotheses: list[Hypothesis] = field(default_factory=list)
    coef: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    intercept: float = 0.0

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Model output f, shape (n_rows,); functions with a zero coefficient cost nothing."""
        return self.intercept + weighted_sum(self.hypotheses, self.coef, X)


ReducedCost = float | Mapping[Hashable, float]


def least_of(bound: ReducedCost) -> float:
    """The least reduced cost, nan if any is unknown."""
    values = list(bound.values()) if isinstance(bound, Mapping) else [bound]
    return float(np.min(values)) if values else math.nan


def combined(bounds: Sequence[ReducedCost]) -> ReducedCost:
    """One bound for the columns of all ``bounds``: per row if each is, else the least of all."""
    by_row: dict[Hashable, float] = {}
    for bound in bounds:
        if not isinstance(bound, Mapping):
            return float(np.min([least_of(each) for each in bounds]))
        for row, value in bound.items():
            by_row[row] = float(np.minimum(value, by_row.get(row, math.inf)))  # keeps a nan
    return by_row


def multiple(response: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """The t with r = t·r' but for rounding, so that scores are h·r = t·(h·r'); None without one."""
    size = float(other @ other)
    factor = float(other @ response) / size if size > 0 else 0.0
    missed = float(np.abs(response - factor * other).sum())
    return factor if missed <= RESIDUE * float(np.abs(response).sum()) else None
