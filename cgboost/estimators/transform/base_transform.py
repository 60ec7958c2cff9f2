"""Common parts of additive models of blocks of rows: parameters, and the fit for any data source.

An estimator adds the meaning of y, its loss, and the form of its predictions.
"""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.additive.builder import StageBuilder
from cgboost.additive.holdout import HoldoutLoss, SmallGain
from cgboost.additive.places.memory import check_size, in_memory
from cgboost.additive.places.partitions import PartitionedRows, Partitions
from cgboost.additive.places.place import Place
from cgboost.additive.sql.place import SQLPlace
from cgboost.additive.sql.source import SQLSource
from cgboost.arrays import Vector
from cgboost.estimators.common.class_outputs import output_labels, output_place
from cgboost.estimators.common.fitted_runs import (
    FittedOutput,
    FittedRun,
    Table,
    unchanged_on_failure,
)
from cgboost.estimators.common.input_checks import check_here
from cgboost.estimators.common.parameters import (
    check_bins,
    check_bool,
    check_choice,
    check_count,
    check_jobs,
    check_learning_rate,
    check_number,
    threads_of,
)
from cgboost.estimators.common.plan import Plan, Rounds, RunTask, Watch
from cgboost.estimators.common.predictors import Classification
from cgboost.estimators.common.stagewise import BaseStagewise, importances_of
from cgboost.estimators.common.training_rows import (
    EvalSets,
    HeldSets,
    TrainingRows,
    errors_of_set,
    of_rows_that_count,
    rows_in,
    rows_of,
    table_of,
)
from cgboost.estimators.transform.constraint_parameters import constraints_of
from cgboost.estimators.transform.elsewhere import CutRows, keeping_executor
from cgboost.estimators.transform.holdouts import average, seed_of
from cgboost.estimators.transform.transform_inspection import class_number, outputs_of
from cgboost.estimators.transform.variants import LARGEST_STEP, VARIANTS
from cgboost.generation.callbacks import EarlyStopping
from cgboost.generation.resuming import RunRecord
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.loss import Loss
from cgboost.losses.multinomial import Multinomial
from cgboost.losses.poisson import Poisson
from cgboost.masters.stagewise.aggregate import AggregateMaster
from cgboost.parallel.threads import blas_threads
from cgboost.pricing.additive import StagePricer
from cgboost.tables.binning import check_weights
from cgboost.tables.table_encoding import Schema


class BaseTableStages(BaseStagewise):
    """Stages fitted to tables of numbers and categories, of which some rows are held out."""

    learning_rate: float
    max_bins: int
    categorical_features: Any
    n_jobs: int

    _stops_by_eval_set: ClassVar[bool] = False

    _schema: Schema
    classes_: NDArray[Any]

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSets | None = None,
        *,
        resume: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit the model. A fit that fails leaves the estimator unchanged.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), a source of blocks or of sums
            Numbers, with nan for missing values; in a data frame also categories. A source is any
            object that can be iterated over repeatedly and yields (X, y) or (X, y, weights), with
            the same rows in the same order each time; boosted linear trees hold five or six bytes
            per row and feature in memory, and 8 more per numeric feature. With an
            :class:`~cgboost.sources.SQLSource`, a :class:`TransformRegressor` or
            :class:`TransformClassifier` is fitted in the database; with
            :class:`~cgboost.sources.Partitions`, where the tasks of the executor run. The others
            reject these two.
        y : array-like of shape (n_rows,), or None with a source
        sample_weight : array-like of shape (n_rows,) or None
            Multiplies the loss of each row; a row of weight 2 counts as two rows. Without a
            holdout, the models are the same. With a holdout they differ only in the choice of its
            rows: a row of weight 2 is held out as a whole, while two equal rows are held out
            independently. Rows of weight 0 are ignored, and so are labels that only occur in them.
            Weights with a mean below 1 count as if their mean were 1. Not with a source.
        eval_set : (X, y), list of such pairs, dict of them by name, or None
            Rows that are scored after every round, in addition to the rows held out by the fit.
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
        with self._located(X, y, sample_weight) as rows:
            return super().fit(*rows, eval_set, resume=resume)

    @contextmanager
    def _located(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
        """The training rows where they are during the fit: here."""
        with blas_threads(1):  # small products of many groups: more would wait for each other
            yield X, y, sample_weight

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_bool("early_stopping", self.early_stopping)
        check_count("n_estimators", self.n_estimators)
        check_bins(self.max_bins)
        check_learning_rate(self.learning_rate)
        check_jobs("n_jobs", self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        """Missing values have a place in every tree."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        self._check_parameters()
        self._schema, rows = self._read_training(X, y, sample_weight)
        return rows, self._held(eval_set)

    def _read_training(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Schema, TrainingRows]:
        """What the columns are, and the training rows with the weights of their classes."""
        schema, rows = rows_of(self, X, y, sample_weight, partial(of_rows_that_count, self._learn))
        return schema, self._weighted(rows)

    def _checked_set(self, name: str, pair: Any) -> tuple[Any, NDArray[Any]]:
        with errors_of_set(name):
            X, y = table_of(self, *pair, reset=False)
            return self._schema.encode(X), y

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        X, _ = table_of(self, X, None, reset=False)
        return self._schema.encode(X)

    @property
    def _n_classes(self) -> int:
        """How many classes there are; of a regressor all rows are one."""
        return 1 if self._y_numeric else len(self.classes_)

    def _output_of(self, output: Any) -> FittedOutput:
        """The output of a class, or of a place, as :func:`output_place` reads it.

        Raises
        ------
        IndexError
            If there is no such output.
        """
        check_is_fitted(self)
        return outputs_of(self._runs)[output_place(output, output_labels(self))]


class BaseQueriedStages(BaseTableStages):
    """Stages whose predictions a database can make."""

    @abstractmethod
    def _statement(self, table: str | Sequence[str], link: str, number: int, **columns: Any) -> str:
        """A query for the prediction of the output of this number; softmax is of all outputs."""

    @property
    def _link_in_sql(self) -> str:
        """How predictions follow from outputs: "identity", "log", "logistic" or "softmax"."""
        if isinstance(self, Classification):
            return "softmax" if self._is_joint else "logistic"
        known = getattr(self, "_known_loss", None)
        if isinstance(known, Poisson):
            return "log"
        if known is None or type(known).inverse_link is Loss.inverse_link:
            return "identity"
        raise ValueError(f"the predictions of loss={known!r} cannot be written in SQL")

    def to_sql(
        self,
        table: str | Sequence[str],
        *,
        label: Any = None,
        output: str = "prediction",
        keep: str | Sequence[str] = (),
        dialect: str = "duckdb",
    ) -> str:
        """An SQL query that predicts the rows of a table: numbers, or the probability of a class.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table, or the parts of its name, such as ("main", "people"). Its columns
            must have the names in the data frame that the model was fitted to, or x0, x1, … if
            those had no names.
        label : class label, optional
            The class of the probability, for a classifier alone; with two classes, the second by
            default. With ``multi_class="ovr"``, the query computes the probability against the
            rest; ``predict_proba`` divides these by their sum over the classes.
        output : str, default="prediction"
            Name of the column of predictions.
        keep : str or sequence of str
            Columns of the table to select before the prediction, since SQL does not guarantee the
            order of rows.
        dialect : {"duckdb", "postgresql", "sqlite", "mysql", "bigquery", "snowflake"}, \
default="duckdb"
            The database for which the query is written (MySQL from 8.0.17, PostgreSQL from 12,
            SQLite from 3.35).

        Returns
        -------
        str

        Raises
        ------
        ImportError
            Without the package sqlglot (extra "sql").
        ValueError
            If the dialect is unknown; if there are more than two classes and ``label`` is not one
            of them, or two and it is not the second, or it is given to a regressor; if the loss is
            your own and has a link: only the link of the Poisson loss is available in SQL; as
            :func:`cgboost.additive.export.sql.models_statement`.

        Notes
        -----
        Names are quoted, as in the data frame. Names created without quotes are in lower case in
        PostgreSQL and in upper case in Snowflake; BigQuery interprets a dot in the name of a table
        as a separator of its parts. Missing values are NULL or NaN; numbers outside the range of
        the training rows, including infinite ones, count as its nearest end. Dates and times used
        as categories are text in SQLite, in the format of Python's ``sqlite3``:
        2020-02-29 01:02:03, 2020-02-29. Text is compared exactly, regardless of its collation.
        Features of dates, such as ``when_hour``, are columns of the table:
        :func:`cgboost.sources.date_features_query` writes a view that has them.
        MySQL must read a backslash in text as an escape, as it does unless ``sql_mode`` includes
        NO_BACKSLASH_ESCAPES.
        """
        check_is_fitted(self)
        number = 0
        if not self._y_numeric:
            number = class_number(self.classes_, label)
        elif label is not None:
            raise ValueError(f"label is for classifiers: leave it out, got {label!r}")
        link = self._link_in_sql
        return self._statement(table, link, number, output=output, keep=keep, dialect=dialect)


@dataclass(frozen=True)
class Bags(Rounds):
    """The runs of one choice of rows to hold out, and how those of others are planned.

    Attributes
    ----------
    others : callable
        The plan of the choice of this number.
    """

    others: Callable[[int], Plan] = field(repr=False)


@dataclass(eq=False, repr=False)
class BaseTransform(BaseTableStages):
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

    _fits_elsewhere: ClassVar[bool] = True
    """Whether sums over the rows are all that it needs."""

    # ------------------------------------------------------------------ checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("variant", self.variant, VARIANTS)
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

    # ------------------------------------------------------------------ the rows

    def _read_training(
        self, X: Any, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Schema, TrainingRows]:
        if isinstance(X, (SQLPlace, PartitionedRows)):
            schema, rows = rows_in(self, X, self._learn)
            if getattr(self, "class_weight", None) is None:  # else the rows have gone with it
                rows = self._weighted(rows)
        else:
            schema, rows = super()._read_training(X, y, sample_weight)
        self._constraints = constraints_of(
            schema,
            monotonic_cst=self.monotonic_cst,
            interaction_cst=self.interaction_cst,
            variant=self.variant,
            n_classes=self._n_classes,
        )
        return schema, rows

    @contextmanager
    def _located(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
        sent = self.executor is not None and not isinstance(X, (SQLPlace, PartitionedRows))
        if sent or isinstance(X, (SQLSource, Partitions)):
            with self._rows_elsewhere(X, y, sample_weight) as rows:
                yield rows, None, None
        else:
            with super()._located(X, y, sample_weight) as here:
                yield here

    @contextmanager
    def _rows_elsewhere(
        self, X: Any, y: Any, sample_weight: Any
    ) -> Iterator[SQLPlace | PartitionedRows]:
        """Training rows where they stay, as long as the context lasts.

        A table and a source of blocks are read here for an executor, and their rows go out once, as
        numbers, in as many partitions as it has tasks. An error leaves the estimator as it was.

        Raises
        ------
        ValueError
            As :func:`~cgboost.estimators.common.training_rows.rows_of`, or for fewer than 2 rows.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            if not self._fits_elsewhere:
                check_here(self, X, reset=True)
            if isinstance(X, SQLSource):
                rows: SQLPlace | PartitionedRows = self._of_database(X, y, sample_weight)
            elif isinstance(X, Partitions):
                rows = self._of_partitions(X, y, sample_weight)
            else:
                rows = self._of_table(X, y, sample_weight)
            with closing(rows):
                yield rows

    def _check_weighed_there(self, what: str, where: str) -> None:
        """Raise a ValueError for weights of classes, where the rows are out of reach."""
        given = getattr(self, "class_weight", None)
        if given is not None:
            raise ValueError(
                f"class_weight={given!r} is for rows that fit is given: the rows of {what} have "
                f"their weights {where}, multiply these by those of the classes"
            )

    def _of_database(self, X: SQLSource, y: Any, sample_weight: Any) -> SQLPlace:
        self._check_weighed_there("an SQLSource", "in a column of its table")
        if y is not None or sample_weight is not None:
            raise ValueError(
                "y and the weights of an SQLSource are columns of its table: give target and "
                "weight there, and leave y and sample_weight out"
            )
        if self.executor is not None:
            raise ValueError(
                "the rows of an SQLSource stay in its database: executor must be None, got "
                f"{self.executor!r}"
            )
        classes = not self._y_numeric
        return SQLPlace(X, self.categorical_features, classification=classes)

    def _of_table(self, X: Any, y: Any, sample_weight: Any) -> PartitionedRows:
        executor = keeping_executor(self.executor, self.n_jobs, type(self).__name__)
        schema, here = super()._read_training(X, y, sample_weight)
        check_size(len(here.y), float(np.abs(here.y).max()))
        rows = PartitionedRows(executor, CutRows(here, executor.n_tasks).loaders())
        rows.know(schema, None if self._y_numeric else self.classes_, encoded=True)
        return rows

    def _of_partitions(self, X: Partitions, y: Any, sample_weight: Any) -> PartitionedRows:
        self._check_weighed_there("Partitions", "in them, (X, y, weights)")
        executor = keeping_executor(self.executor, self.n_jobs, type(self).__name__)
        if y is not None:
            raise ValueError("y of Partitions belongs in them, (X, y): leave y out")
        if sample_weight is not None:
            raise ValueError("weights of Partitions belong in them: (X, y, weights)")
        if X.is_lazy and not hasattr(executor, "client"):
            raise ValueError(
                "Partitions with futures of Dask need executor=DaskExecutor(client), got "
                f"executor={self.executor!r}"
            )
        with ExitStack() as stack:
            rows = stack.enter_context(closing(PartitionedRows(executor, X.loaders())))
            numeric = self._y_numeric
            found = rows.look(self.categorical_features, numeric)
            schema, n_rows = found.maker.schema(), sum(found.n_rows)
            if not n_rows:
                raise ValueError(f"Partitions must have rows, got {len(found.n_rows)} without any")
            check_size(n_rows, float(np.abs(found.responses).max()) if numeric else 0.0)
            classes = None
            if not numeric:
                if not len(found.responses):  # no row counts
                    check_weights("the weights in the partitions", np.zeros(n_rows))
                self._learn(found.responses)
                classes = self.classes_
            rows.know(schema, classes, encoded=False)
            stack.pop_all()
        return rows

    # ------------------------------------------------------------------ the run

    def _plan(self, rows: TrainingRows, holdout: int = 0) -> Plan:
        place = self._place(rows, holdout)
        tasks = partial(self._tasks, place, rows)
        return Bags(self._target_kind, self._stop_rule(), place, tasks, partial(self._plan, rows))

    def _place(self, rows: TrainingRows, holdout: int) -> Place:
        """Where the rows are, and which of them are held out."""
        how: dict[str, Any] = {
            "max_bins": self.max_bins,
            "share": self.validation_fraction if self.early_stopping else 0.0,
            "seed": seed_of(self.random_state, holdout),
        }
        if isinstance(rows.X, (SQLPlace, PartitionedRows)):
            return rows.X.divide(**how, keep=holdout + 1 < self.n_holdouts)
        how |= {"n_jobs": threads_of(self.n_jobs), "n_classes": self._n_classes}
        return in_memory(rows.X, self._schema, rows.y, rows.weights, **how)

    @property
    @abstractmethod
    def _fitted_loss(self) -> Loss:
        """The loss of one output."""

    def _tasks(self, place: Place, rows: TrainingRows) -> Iterator[RunTask]:
        """A run for every output, or one for all classes."""
        variant, rules, loss = VARIANTS[self.variant], self._constraints, self._fitted_loss
        of_logarithm = isinstance(loss, (LogLoss, Poisson, Multinomial))
        builder = StageBuilder(
            self.max_bins, variant.feed_forward, variant.regressors, variant.link, rules
        )
        for target in (
            [rows.y] if isinstance(loss, Multinomial) else self._target_kind.of_runs(rows.y)
        ):
            sums = place.aggregates(loss, target)
            pricer = StagePricer(builder, sums.parts)
            master = AggregateMaster(
                sums,
                corrective=variant.orthogonal,
                learning_rate=self.learning_rate,
                most=LARGEST_STEP if of_logarithm else np.inf,
                positive=bool(rules.signs),
            )
            callbacks: list[Any] = [HoldoutLoss(master.holdout_loss)]
            if place.has_holdout:
                callbacks.append(EarlyStopping("holdout_loss", patience=self.n_iter_no_change))
            callbacks.append(SmallGain(self.tol))
            yield RunTask(master, pricer, n_outputs=master.n_outputs, callbacks=callbacks)

    def _solve(
        self, plan: Any, watch: Watch, records: Iterator[RunRecord] | None = None
    ) -> list[FittedRun]:
        """One run for each class, of every holdout: their average."""
        count = self.n_holdouts
        if count == 1:
            return super()._solve(plan, watch, records)
        bags = []
        for k in range(count):
            if self.time_limit is not None and watch.deadline is not None:
                later = (1 - (k + 1) / count) * self.time_limit  # of the holdouts that follow
                own = replace(watch, deadline=watch.deadline - later)
            else:
                own = watch
            bags.append(super()._solve(plan.others(k) if k else plan, own, records))
        self._bags = bags
        return [average(runs, self._schema.n_features) for runs in zip(*bags, strict=True)]

    # ------------------------------------------------------------------ fitted attributes

    def _described(self, hypotheses: Sequence[Any]) -> Table:
        return {"stage": np.array([h.number for h in hypotheses], dtype=np.intp)}

    @property
    def feature_importances_(self) -> Vector:
        """Shares of the features in the decrease of the loss, shape (n_features,).

        The share of an earlier output goes to the features of its stage. With several holdouts,
        this is the mean.
        """
        return self.importances_

    @property
    def importances_(self) -> Vector:
        """Shares of the features in the decrease of the loss, as ``feature_importances_``."""
        return np.asarray(self._importances_of_holdouts.mean(axis=0))

    @property
    def feature_importances_std_(self) -> Vector:
        """Standard deviation of ``feature_importances_`` over the holdouts, shape (n_features,)."""
        return np.asarray(self._importances_of_holdouts.std(axis=0))

    @property
    def _importances_of_holdouts(self) -> Vector:
        check_is_fitted(self)
        bags = [self._runs] if self.n_holdouts == 1 else self._bags
        return np.array([importances_of(runs, self.n_features_in_) for runs in bags])

    @property
    def holdout_models_(self) -> list[Any]:
        """Fitted estimator of each holdout; this model is their mean (itself if there is one)."""
        check_is_fitted(self)
        if self.n_holdouts == 1:
            return [self]
        found = []
        for runs in self._bags:
            own: Any = copy.copy(self)
            del own._bags
            own.n_holdouts = 1
            nothing = Rounds(own._target_kind, own._stop_rule(), None, lambda: iter(()))
            own._keep(nothing, list(runs), None)
            found.append(own)
        return found
