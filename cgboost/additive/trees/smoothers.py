"""Smoothers: what makes a function of one feature that follows a response.

The linear regression tree of one feature is made from statistics, whatever the feature is. Any
scikit-learn regressor can take its place for numbers without gaps: it is cloned, fitted to one
column, and asked to predict,

    clone(smoother).fit(x[:, None], response[, sample_weight]).predict(x[:, None])

Splines, nearest neighbours and kernel smoothers are of this kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from cgboost.additive.builder import StageBuilder
from cgboost.additive.stage import Stage, StageOutputs
from cgboost.additive.statistics.passes import Passes
from cgboost.additive.trees.transformation import transformation
from cgboost.arrays import Matrix, Vector
from cgboost.tables.binning import FeatureGroups
from cgboost.tables.row_blocks import RowBlock

BESIDE = StageOutputs([])
"""Functions of one feature have nothing next to it."""


class SmoothTerm(Protocol):
    """A function of one feature, called as a transformation is."""

    @property
    def feature(self) -> int:
        """Number of the feature."""
        ...

    @property
    def is_constant(self) -> bool:
        """Whether it says nothing."""
        ...

    def __call__(self, x: Matrix, regressors: Vector) -> Vector:
        """Values for x, shape (n_rows,)."""
        ...


class Smoother(Protocol):
    """Follows a response along one feature."""

    def smooth(self, feature: int, response: Vector) -> SmoothTerm:
        """A function of the feature; the response has shape (n_rows,), on holdout rows too."""
        ...


@dataclass(frozen=True, eq=False)
class AdditiveFunction:
    """h(x) = weight·term(x) + offset, one function of an additive model.

    Attributes
    ----------
    term : SmoothTerm or None
        None stands for 0.
    """

    term: SmoothTerm | None = None
    weight: float = 1.0
    offset: float = 0.0

    def __call__(self, x: Matrix) -> Vector:
        """Values for x, shape (n_rows,): numbers, or numbers of categories."""
        if self.term is None:
            return np.full(len(x), self.offset)
        return self.weight * self.term(x, np.zeros((len(x), 0))) + self.offset

    def shifted(self, by: float) -> AdditiveFunction:
        """The same function, higher by a constant."""
        return AdditiveFunction(self.term, self.weight, self.offset + by)


@dataclass(frozen=True)
class TreeSmoother:
    """Linear regression trees, each from one pass over the rows."""

    passes: Passes
    groups: list[FeatureGroups]

    def smooth(self, feature: int, response: Vector) -> SmoothTerm:
        """The tree that splits on this feature alone."""
        groups = self.groups[feature]
        parts = self.passes.by_group({feature: groups}, BESIDE, BESIDE, response)[feature]
        parts = parts.without_noise(groups)
        return transformation(feature, groups, parts.training, parts.holdout)


@dataclass(frozen=True, eq=False)
class FittedRegressor:
    """A regressor fitted to one feature.

    Attributes
    ----------
    model : regressor or None
        None for a feature that is the same in all rows.
    name : str or None
        Of the feature, where it has one.
    """

    feature: int
    model: Any
    name: str | None = None

    @property
    def is_constant(self) -> bool:
        """Whether there is no model."""
        return self.model is None

    def __call__(self, x: Matrix, regressors: Vector) -> Vector:
        """Predictions for x, shape (n_rows,)."""
        if self.model is None or not len(x):
            return np.zeros(len(x))
        check_complete(x, self.name or self.feature)
        return np.asarray(self.model.predict(x[:, None]), dtype=np.float64).reshape(len(x))


class RegressorSmoother:
    """Clones of a regressor, fitted to the training rows of one feature.

    Parameters
    ----------
    regressor : scikit-learn regressor
        If its fit takes no ``sample_weight``, the weights of all training rows must be the same.
    names : sequence of str or None
        Of the features, where they have any.
    """

    def __init__(self, passes: Passes, regressor: Any, names: Sequence[str] | None = None) -> None:
        self.passes, self.regressor, self.names = passes, regressor, names
        self._rows = np.flatnonzero(~passes.held & (passes.weights > 0))
        weights = passes.weights[self._rows]
        self._named = named_weights(regressor, weights)

    def smooth(self, feature: int, response: Vector) -> SmoothTerm:
        """The regressor, fitted to the response."""

        def own(block: RowBlock) -> Vector:
            return np.asarray(block.X[:, feature], dtype=np.float64)

        x = self.passes.values(own)
        name = None if self.names is None else self.names[feature]
        check_complete(x, feature if name is None else name)
        x = x[self._rows]
        if x.min() == x.max():
            return FittedRegressor(feature, None, name)
        model = clone(self.regressor).fit(x[:, None], response[self._rows], **self._named)
        return FittedRegressor(feature, model, name)


class SmoothedStages(StageBuilder):
    """Stages of smoothed features: each is smoothed, a stepwise regression combines them."""

    smoother: Smoother

    def stage(self, sums: Any, belongings: Any = None) -> Stage:
        """The additive model of the response ([P] Table 3), of rows in memory."""
        terms: list[Any] = [self.smoother.smooth(j, sums.response) for j in range(sums.n_features)]
        told = [term for term in terms if not term.is_constant]
        return self._combined(told, [], sums, 0, np.zeros(len(told) + 1))


def named_weights(regressor: Any, weights: Vector) -> dict[str, Vector]:
    """Weights as an argument of a regressor's fit; none where all are the same.

    Raises
    ------
    ValueError
        If they differ and the regressor takes none.
    """
    if not len(weights) or weights.min() == weights.max():
        return {}
    if has_fit_parameter(regressor, "sample_weight"):
        return {"sample_weight": weights}
    steps = getattr(regressor, "steps", None)
    if steps and has_fit_parameter(steps[-1][1], "sample_weight"):
        return {f"{steps[-1][0]}__sample_weight": weights}
    raise ValueError(
        f"smoother={regressor!r} takes no sample_weight in its fit: leave the weights away, or use "
        "smoother=None"
    )


def check_complete(x: Matrix, feature: int | str) -> None:
    """Raise a ValueError where values are missing or infinite."""
    missing, infinite = int(np.isnan(x).sum()), int(np.isinf(x).sum())
    if missing or infinite:
        counts = ((missing, "missing values (NaN)"), (infinite, "infinite ones (inf)"))
        found = " and ".join(f"{count} {kind}" for count, kind in counts if count)
        raise ValueError(f"feature {feature!r} has {found}, which only smoother=None can deal with")
