"""What transform regression and the methods that lead up to it share: the fit from passes.

[P] is Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.additive.builder import StageBuilder
from cgboost.additive.statistics.passes import Passes
from cgboost.additive.tables.preparation import Prepared, prepared
from cgboost.additive.tables.rows import HoldoutLoss, SmallGain, SourceRows, TableRows
from cgboost.additive.tables.schema import LARGEST_NUMBER
from cgboost.estimators.common.fit_loop import FittedRun, Table
from cgboost.estimators.common.parameters import (
    check_choice,
    check_count,
    check_jobs,
    check_number,
    threads_of,
)
from cgboost.estimators.common.rows import Held, Rows, Vector, rows_of, table_of
from cgboost.estimators.common.stagewise import BaseStagewise
from cgboost.estimators.common.subproblems import Task
from cgboost.estimators.transform.transform_inspection import stages_of
from cgboost.generation.callbacks import EarlyStopping
from cgboost.losses.base import DifferentiableLoss
from cgboost.masters.stagewise.fully_corrective import CorrectiveMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.additive import StagePricer


class Variant(NamedTuple):
    """What a stage may use, and how stages are combined."""

    feed_forward: bool = False
    regressors: bool = False
    link: bool = False
    orthogonal: bool = False


VARIANTS = {
    "gradient": Variant(),
    "initial": Variant(link=True),
    "orthogonal": Variant(link=True, orthogonal=True),
    "feed_forward": Variant(link=True, feed_forward=True),
    "orthogonal_feed_forward": Variant(link=True, feed_forward=True, orthogonal=True),
    "transform": Variant(feed_forward=True, regressors=True),
}
"""[P]: Table 1 with Table 3 as its base learner, Tables 4, 5, 6, 7 and 8."""


@dataclass(eq=False, repr=False)
class BaseTransform(BaseStagewise):
    """One additive model of the pseudo-response a stage."""

    n_estimators: int = field(default=10, kw_only=True)
    variant: Literal[
        "transform",
        "gradient",
        "initial",
        "orthogonal",
        "feed_forward",
        "orthogonal_feed_forward",
    ] = field(default="transform", kw_only=True)
    max_bins: int = field(default=64, kw_only=True)
    tol: float = field(default=1e-4, kw_only=True)
    categorical_features: Any = field(default="from_dtype", kw_only=True)
    n_jobs: int = field(default=1, kw_only=True)
    _most: ClassVar[float] = np.inf
    """What a stage changes an output by, at most."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        eval_set: Any = None,
    ) -> Self:
        """Fit the model. A fit that fails leaves the estimator as it was before.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), or a source of blocks
            Numbers, with nan where missing; in a data frame also categories. A source is anything
            that can be iterated over again and again and yields (X, y) or (X, y, weights), the same
            rows in the same order each time.
        y : array-like of shape (n_rows,), or None with a source
        sample_weight : array-like of shape (n_rows,) or None
            Multiplies the loss row by row; a row of weight 2 counts as two rows. It is held out
            whole or not at all, where of two equal rows each is by itself, so that the models are
            the same without a holdout, and with one the same but for the choice of its rows.
            A row of weight 0 is no row. Weights with a mean below 1 count as if their mean were 1.
            Not with a source.
        eval_set : (X, y) or None
            Rows that are scored after every stage, beside those that the fit holds out itself.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For bad parameters or data, naming the argument and its value.

        Warns
        -----
        ConvergenceWarning
            If Ctrl-C or the time limit ended the fit.
        """
        return super().fit(X, y, sample_weight, eval_set)

    # ------------------------------------------------------------------ checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("variant", self.variant, VARIANTS)
        check_count("max_bins", self.max_bins)
        check_number("tol", self.tol, at_least=0)
        check_jobs("n_jobs", self.n_jobs)
        if self.max_bins < 2:
            raise ValueError(f"max_bins must be at least 2, got {self.max_bins!r}")

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
    ) -> tuple[Rows, Held | None]:
        self._check_parameters()
        self._schema, rows = rows_of(self, X, y, sample_weight, self._learn)
        return rows, self._monitored_rows(eval_set)

    def _monitored_rows(self, eval_set: Any) -> Held | None:
        if eval_set is None:
            return None
        if not isinstance(eval_set, (tuple, list)) or len(eval_set) != 2:
            raise ValueError(f"eval_set must be a pair (X, y), got a {type(eval_set).__name__}")
        X, y = table_of(self, *eval_set, reset=False)
        return self._schema.encode(X), self._encode(y)

    def __sklearn_tags__(self) -> Any:
        """Missing values are a group of their own."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # ------------------------------------------------------------------ the run

    def _pool(self, rows: Rows) -> Prepared:
        if len(rows.weights) < 2:
            raise ValueError(f"at least 2 rows are needed, got n_samples={len(rows.weights)}")
        largest = float(np.abs(rows.y).max())
        if largest > LARGEST_NUMBER:
            raise ValueError(f"y must be at most {LARGEST_NUMBER:g} in size, it has {largest:g}")
        seed = 0 if self.random_state is None else self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = int(seed.randint(2**31))
        table = rows.X if isinstance(rows.X, SourceRows) else TableRows(rows.X)
        share = self.validation_fraction if self.early_stopping else 0.0
        return prepared(
            table,
            self._schema,
            np.asarray(rows.y, dtype=np.float64),
            rows.weights,
            max_bins=self.max_bins,
            share=share,
            seed=int(seed),
        )

    @abstractmethod
    def _loss(self, target: Vector, weights: Vector) -> DifferentiableLoss:
        """The loss of one output."""

    def _tasks(self, pool: Prepared, rows: Rows) -> Iterator[Task]:
        held, variant = pool.held, VARIANTS[self.variant]
        for target in self._targets(rows.y):
            builder = StageBuilder(
                Passes(pool.rows, rows.weights, held, threads_of(self.n_jobs)),
                pool.groups,
                pool.sample,
                self.max_bins,
                feed_forward=variant.feed_forward,
                regressors=variant.regressors,
                link=variant.link,
            )
            training = self._loss(target, np.where(held, 0.0, rows.weights))
            pricer = StagePricer(builder, self._loss(target, np.broadcast_to(1.0, len(target))))
            outside = self._loss(target[held], rows.weights[held])
            callbacks: list[Any] = [HoldoutLoss(outside, held)]
            if held.any():
                callbacks.append(EarlyStopping("holdout_loss", patience=self.n_iter_no_change))
            callbacks.append(SmallGain(self.tol))
            if variant.orthogonal:
                yield Task(CorrectiveMaster(training, offset="free"), pricer, callbacks=callbacks)
            else:
                master = StagewiseMaster(training, start="constant", offset="free", most=self._most)
                yield Task(master, pricer, callbacks=callbacks)

    def _callbacks(self, monitored: Any, label: str) -> list[Any]:
        callbacks: list[Any] = list(super()._callbacks(None, label))
        return callbacks if monitored is None else [self._monitor(monitored), *callbacks]

    # ------------------------------------------------------------------ fitted attributes

    def _described(self, hypotheses: Sequence[Any], strata: NDArray[np.str_], rows: Rows) -> Table:
        return {"stage": np.array([h.number for h in hypotheses], dtype=np.intp)}

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        for run in runs:  # stages that were found and not kept
            del stages_of(run)[len(run.outputs[0].coef) :]
        stages = [stages_of(run) for run in runs]
        self.stages_ = stages[0] if len(runs) == 1 else stages

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        X, _ = table_of(self, X, None, reset=False)
        return self._schema.encode(X)

    @property
    def importances_(self) -> Vector:
        """Share of the features in the training loss that the stages took off."""
        return self.feature_importances_
