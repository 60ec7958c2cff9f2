"""What estimators share whose columns are single features: a linear model, stage by stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.common.fit_loop import FittedRun, Table
from cgboost.estimators.common.parameters import check_choice, check_number
from cgboost.estimators.common.rows import Rows, Vector
from cgboost.estimators.common.stagewise import BaseStagewise
from cgboost.estimators.common.targets import Regression
from cgboost.inspection.model_selection import HighDimensionalCriterion
from cgboost.pricing.features.correlation import CentredFeature, CentredFeatures

FEWEST_ROWS = 3
"""Rows that a criterion needs: log log n must be positive."""


@dataclass(eq=False, repr=False)
class BaseComponentwise(Regression, BaseStagewise):
    """Squared error over features, one a round, and a criterion that chooses the round."""

    fit_intercept: bool = field(default=True, kw_only=True)
    criterion: str | None = field(default=None, kw_only=True)
    C: float = field(default=2.01, kw_only=True)

    _criteria: ClassVar[tuple[str, ...]]

    def __sklearn_tags__(self) -> Any:
        """Sparse X is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def coef_path_(self) -> Vector:
        """Coefficients after every stage, that without features first: (n_features, n_stages)."""
        check_is_fitted(self)
        used, stages = self._stages()
        path = np.zeros((self.n_features_in_, stages.shape[1]))
        path[used] = stages
        return path

    # ------------------------------------------------------------------ checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise ValueError(f"fit_intercept must be True or False, got {self.fit_intercept!r}")
        if self.criterion is not None:
            check_choice("criterion", self.criterion, self._criteria)
            if self.early_stopping:
                raise ValueError(
                    f"criterion={self.criterion!r} and early_stopping=True both choose the number "
                    "of rounds; set one of them to None or False"
                )
        check_number("C", self.C, above=0)

    @property
    def _accept_sparse(self) -> Any:
        return "csc"

    def _usable(self, rows: Rows) -> Rows:
        """The rows that cost anything, where there are enough for the criterion."""
        rows = super()._usable(rows)
        if self.criterion is not None and rows.weights.sum() < FEWEST_ROWS:
            raise ValueError(
                f"criterion={self.criterion!r} needs at least {FEWEST_ROWS} rows, got "
                f"n_samples={rows.weights.sum():g} (the sum of sample_weight); "
                "criterion=None does without"
            )
        return rows

    # ------------------------------------------------------------------ the run

    def _pool(self, rows: Rows) -> CentredFeatures:
        return CentredFeatures(rows.X, rows.weights, centre=bool(self.fit_intercept))

    def _hdic(self, kind: str, rows: Rows) -> HighDimensionalCriterion:
        return HighDimensionalCriterion(
            kind,
            float(rows.weights.sum()),
            rows.X.shape[1],
            constant=self.C,
            n_fixed=int(self.fit_intercept),
        )

    @property
    def _offset(self) -> Literal["free", "none"]:
        return "free" if self.fit_intercept else "none"

    # ------------------------------------------------------------------ fitted attributes

    def _described(self, hypotheses: Any, strata: NDArray[np.str_], rows: Rows) -> Table:
        return {"feature": np.array([h.index for h in hypotheses], dtype=np.intp)}

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        used, stages = self._stages()
        self.coef_ = np.zeros(self.n_features_in_)
        self.coef_[used] = stages[:, -1]
        self.intercept_ = float(self._intercepts()[-1])
        self.support_ = np.flatnonzero(self.coef_)
        self.criterion_ = None if self.criterion is None else runs[0].history[self.criterion][1:]

    @property
    def _hypotheses(self) -> list[CentredFeature]:
        return self._runs[0].outputs[0].hypotheses

    def _indices(self) -> NDArray[np.intp]:
        """The feature of every column, in the order they came."""
        return np.array([h.index for h in self._hypotheses], dtype=np.intp)

    def _stages(self) -> tuple[NDArray[np.intp], Vector]:
        """The features used, and their coefficients: shape (n_used, n_stages)."""
        used, place = np.unique(self._indices(), return_inverse=True)
        path = self._runs[0].outputs[0].path
        stages = np.zeros((len(used), len(path)))
        for stage, (coef, _) in enumerate(path):
            stages[:, stage] = np.bincount(place[: len(coef)], weights=coef, minlength=len(used))
        return used, stages

    def _intercepts(self) -> Vector:
        """The intercept of every stage, of features that are not centred."""
        centres = np.array([h.centre for h in self._hypotheses])
        path = self._runs[0].outputs[0].path
        return np.array([intercept - coef @ centres[: len(coef)] for coef, intercept in path])

    # ------------------------------------------------------------------ predictions

    def _outputs(self, X: ArrayLike) -> Vector:
        rows = self._rows(X)
        return np.asarray(rows[:, self.support_] @ self.coef_[self.support_])[:, None] + (
            self.intercept_
        )

    def _staged_outputs(self, X: ArrayLike) -> Iterator[Vector]:
        rows = self._rows(X)
        used, stages = self._stages()
        columns = rows[:, used]
        outputs = (
            np.asarray(columns @ stages[:, stage])[:, None] + intercept
            for stage, intercept in enumerate(self._intercepts())
        )
        return islice(outputs, 1, None) if self.n_iter_ else outputs
