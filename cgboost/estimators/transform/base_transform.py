"""Common parts of additive models of blocks of rows: parameters, and the fit for any data source.

An estimator adds the meaning of y, its loss, and the form of its predictions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.additive.places.memory import in_memory
from cgboost.additive.places.partitions import PartitionedRows
from cgboost.additive.places.place import Place
from cgboost.additive.sql.place import SQLPlace
from cgboost.additive.stage import Stage
from cgboost.estimators.common import stagewise
from cgboost.estimators.common.base_ensemble import BaseEnsemble
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.parameters import (
    check_bool,
    check_choice,
    check_count,
    check_jobs,
    check_learning_rate,
    check_number,
    threads_of,
)
from cgboost.estimators.common.training_rows import (
    HeldSets,
    TrainingRows,
    errors_of_set,
    of_rows_that_count,
    rows_in,
    rows_of,
    table_of,
)
from cgboost.estimators.transform import holdouts
from cgboost.estimators.transform import transform_inspection as inspection
from cgboost.estimators.transform.constraint_parameters import constraints_of
from cgboost.estimators.transform.elsewhere import is_elsewhere, rows_elsewhere
from cgboost.estimators.transform.variants import VARIANTS, tasks
from cgboost.losses.loss import Loss
from cgboost.parallel.blas import blas_threads


@dataclass(eq=False, repr=False)
class BaseTransform(BaseEnsemble):
    """One additive model of the pseudo-response per stage.

    Must be the first base class of an estimator: its defaults replace the common ones.
    """

    n_estimators: int = field(default=10, kw_only=True)
    variant: Literal[
        "transform",
        "gradient",
        "initial",
        "orthogonal",
        "feed_forward",
        "orthogonal_feed_forward",
    ] = field(default="transform", kw_only=True)
    learning_rate: float = field(default=1.0, kw_only=True)
    max_bins: int = field(default=64, kw_only=True)
    tol: float = field(default=1e-4, kw_only=True)
    categorical_features: Any = field(default="from_dtype", kw_only=True)
    n_jobs: int = field(default=1, kw_only=True)
    executor: Any = field(default=None, kw_only=True)
    early_stopping: bool = field(default=True, kw_only=True)
    validation_fraction: float = field(default=0.3, kw_only=True)
    n_iter_no_change: int = field(default=3, kw_only=True)
    n_holdouts: int = field(default=1, kw_only=True)
    interaction_cst: Any = field(default=None, kw_only=True)
    monotonic_cst: Any = field(default=None, kw_only=True)

    _stops_by_eval_set: ClassVar[bool] = False

    _fits_elsewhere: ClassVar[bool] = True
    """Whether sums over the rows are all that it needs."""

    _limits = stagewise.limits
    _staged_outputs = stagewise.staged_outputs
    _warn = stagewise.warn
    _run_all = holdouts.run_all
    _tasks = tasks
    feature_importances_ = importances_ = property(holdouts.importances)
    feature_importances_std_ = property(holdouts.spread)
    holdout_models_ = property(holdouts.models)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        eval_set: Any = None,
        *,
        resume: Any = None,
    ) -> Self:
        """Fit the model. A fit that fails leaves the estimator unchanged.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), a source of blocks or of sums
            Numbers, with nan for missing values; in a data frame also categories. A source is any
            object that can be iterated over repeatedly and yields (X, y) or (X, y, weights), with
            the same rows in the same order each time. With an :class:`~cgboost.sources.SQLSource`,
            the model is fitted in the database; with :class:`~cgboost.sources.Partitions`, where
            the tasks of the executor run.
        y : array-like of shape (n_rows,), or None with a source
        sample_weight : array-like of shape (n_rows,) or None
            Multiplies the loss of each row; a row of weight 2 counts as two rows. Without a
            holdout, the models are the same. With a holdout they differ only in the choice of its
            rows: a row of weight 2 is held out as a whole, while two equal rows are held out
            independently. Rows of weight 0 are ignored, and so are labels that only occur in them.
            Weights with a mean below 1 count as if their mean were 1. Not with a source.
        eval_set : (X, y), list of such pairs, dict of them by name, or None
            Rows that are scored after every stage, in addition to the rows held out by the fit.
        resume : str, path or None
            Continue from the file of a :class:`~cgboost.Checkpoint` with the same data and
            parameters.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data; the message names the argument and its value.
        DatabaseError
            If a database fails before the first stage is complete.

        Warns
        -----
        ConvergenceWarning
            If Ctrl-C or the time limit ended the fit.
        """
        if is_elsewhere(self, X):
            with rows_elsewhere(self, X, y, sample_weight) as rows:
                return super().fit(rows, None, None, eval_set, resume=resume)
        with blas_threads(1):  # small products of many groups: more would wait for each other
            return super().fit(X, y, sample_weight, eval_set, resume=resume)

    # ------------------------------------------------------------------ checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_bool("early_stopping", self.early_stopping)
        check_count("n_estimators", self.n_estimators)
        check_choice("variant", self.variant, VARIANTS)
        check_count("max_bins", self.max_bins)
        check_learning_rate(self.learning_rate)
        if VARIANTS[self.variant].orthogonal and self.learning_rate != 1.0:
            raise ValueError(
                f"learning_rate must be 1 with variant={self.variant!r}, which refits all "
                f"coefficients after every stage, got {self.learning_rate!r}"
            )
        check_count("n_holdouts", self.n_holdouts)
        if self.n_holdouts > 1 and not self.early_stopping:
            raise ValueError(
                f"n_holdouts={self.n_holdouts!r} needs early_stopping=True: without it no rows are "
                "held out"
            )
        check_number("tol", self.tol, at_least=0)
        check_jobs("n_jobs", self.n_jobs)
        if self.max_bins < 2:
            raise ValueError(f"max_bins must be at least 2, got {self.max_bins!r}")

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        self._check_parameters()
        if isinstance(X, (SQLPlace, PartitionedRows)):
            self._schema, rows = rows_in(self, X, self._learn)
        else:
            learn = partial(of_rows_that_count, self._learn)
            self._schema, rows = rows_of(self, X, y, sample_weight, learn)
        self._constraints = constraints_of(self, self._schema)
        return self._weighted(rows), self._held(eval_set)

    def _checked_set(self, name: str, pair: Any) -> tuple[Any, NDArray[Any]]:
        with errors_of_set(name):
            X, y = table_of(self, *pair, reset=False)
            return self._schema.encode(X), y

    def __sklearn_tags__(self) -> Any:
        """Missing values are their own group."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # ------------------------------------------------------------------ the run

    def _pool(self, rows: TrainingRows, holdout: int = 0) -> Place:
        how: dict[str, Any] = {
            "max_bins": self.max_bins,
            "share": self.validation_fraction if self.early_stopping else 0.0,
            "seed": holdouts.seed_of(self.random_state, holdout),
        }
        if isinstance(rows.X, (SQLPlace, PartitionedRows)):
            return rows.X.divide(**how, keep=holdout + 1 < self.n_holdouts)
        how |= {"n_jobs": threads_of(self.n_jobs), "n_classes": holdouts.n_classes_of(self)}
        return in_memory(rows.X, self._schema, rows.y, rows.weights, **how)

    @property
    @abstractmethod
    def _fitted_loss(self) -> Loss:
        """The loss of one output."""

    # ------------------------------------------------------------------ fitted attributes

    def _described(
        self, hypotheses: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        return {"stage": np.array([h.number for h in hypotheses], dtype=np.intp)}

    def _keep(self, runs: list[FittedRun], rows: TrainingRows) -> None:
        stagewise.keep(self, runs, rows)
        outputs = inspection.outputs_of(runs)
        for output in outputs:  # stages that were found and not kept
            del inspection.stages_of(output)[len(output.coef) :]
        stages = list(map(inspection.stages_of, outputs))
        self.stages_ = stages[0] if len(outputs) == 1 else stages

    def _stages_of(self, output: Any) -> list[Stage]:
        check_is_fitted(self)
        return inspection.stages_of(inspection.output_of(self, output))

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        X, _ = table_of(self, X, None, reset=False)
        return self._schema.encode(X)
