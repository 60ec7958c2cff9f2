"""The orthogonal greedy algorithm with a high-dimensional criterion and trimming.

Ing, Lai, *A stepwise regression method and consistent model selection for high-dimensional sparse
linear models*, Statistica Sinica 21, 2011.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.estimators.boosting.componentwise import BaseComponentwise
from cgboost.estimators.common.fit_loop import FittedRun
from cgboost.estimators.common.rows import Held, Rows
from cgboost.estimators.common.subproblems import Task
from cgboost.inspection.model_selection import HighDimensionalCriterion
from cgboost.losses.squared_error import SquaredError
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.pricing.features.correlation import (
    CentredFeatures,
    CorrelationPricer,
    ScreenedPricer,
    feature_of,
)

STEPS = 5.0
"""Factor of √(n/log p), the default number of steps, as in the authors' own software."""


@dataclass(frozen=True)
class _Search:
    """What one fit works with.

    Attributes
    ----------
    features : CentredFeatures
    master : OrthogonalMaster
    criterion : HighDimensionalCriterion or None
    most : int
        Steps at most.
    """

    features: CentredFeatures
    master: OrthogonalMaster
    criterion: HighDimensionalCriterion | None
    most: int


@dataclass(eq=False, repr=False)
class OrthogonalGreedyRegressor(BaseComponentwise):
    """The orthogonal greedy algorithm, OGA + HDIC + trimming (Ing and Lai 2011).

    Every round takes the feature most correlated with the residual u, arg max |x_j·u| / |x_j|, and
    refits all coefficients by least squares, so that no feature comes twice. After at most M steps
    the criterion chooses how many to keep,

        HDIC(J) = n log ‖u_J‖² + |J| c log p

    and of these the features stay without which it would be higher:
    HDIC(J∖j) > HDIC(J). The coefficients are least squares on what stays. Features are taken from
    their means, if there is an intercept; scaling one scales its coefficient and nothing else.

    Parameters
    ----------
    n_estimators : int or None, default=None
        Steps M at most; None stands for the whole part of 5 √(n / log p), at least 1 and at most p.
    fit_intercept : bool, default=True
        Whether features and response are centred.
    criterion : {"hdic", "hdbic", "hdhq"} or None, default="hdbic"
        c = C, log n, C log log n; n is the sum of the weights. None keeps all M steps and trims
        nothing. A model with as many coefficients as rows is never chosen.
    C : float, default=2.01
        The constant of "hdic" and "hdhq".
    trim : bool, default=True
        Whether superfluous features are taken out at the end, where more than one was chosen.
    early_stopping : bool, default=False
        As in :class:`CGBoostRegressor`, watching the mean absolute error; needs ``criterion=None``.
    validation_fraction, n_iter_no_change, callbacks, verbose, time_limit, random_state
        As in :class:`CGBoostRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    support_ : ndarray of int
        The features of the model, ascending.
    path_ : ndarray of int
        The features in the order they were found, also those that were not kept.
    criterion_ : ndarray of shape (len(path_),) or None
        The criterion after 1, 2, … steps.
    coef_path_ : ndarray of shape (n_features, n_stages)
        Coefficients after 0, 1, …, ``n_iter_`` steps; a last stage if anything was trimmed.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the fall of the training loss, step by step.
    n_iter_ : int
        Steps that were kept, before trimming.
    columns_ : dict of str to ndarray
        feature, coefficient and round of every feature of the model.
    objective_, history_, n_columns_, best_round_, stop_reason_, n_features_in_, feature_names_in_
        As in :class:`CGBoostRegressor`; ``objective_`` is ½‖u‖² of the model, and ``history_`` has
        the criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import OrthogonalGreedyRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 1000))
    >>> y = 2 * X[:, 3] - X[:, 7] + np.random.default_rng(1).normal(size=200)
    >>> OrthogonalGreedyRegressor().fit(X, y).support_
    array([3, 7])
    """

    n_estimators: int | None = field(default=None, kw_only=True)  # type: ignore[assignment]
    criterion: Literal["hdic", "hdbic", "hdhq"] | None = field(default="hdbic", kw_only=True)
    trim: bool = field(default=True, kw_only=True)

    _criteria: ClassVar[tuple[str, ...]] = ("hdic", "hdbic", "hdhq")
    _may_choose_rounds: ClassVar[bool] = True

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.trim, (bool, np.bool_)):
            raise ValueError(f"trim must be True or False, got {self.trim!r}")

    def _limits(self) -> dict[str, Any]:
        return {"tol": 0.0}

    def _pool(self, rows: Rows) -> Any:
        n_rows, n_features = float(rows.weights.sum()), rows.X.shape[1]
        most = n_features if self.n_estimators is None else self.n_estimators
        if self.n_estimators is None and n_features > 1:
            most = min(most, max(1, math.floor(STEPS * math.sqrt(n_rows / math.log(n_features)))))
        return _Search(
            features=super()._pool(rows),
            master=OrthogonalMaster(SquaredError().on(rows.y, rows.weights), offset=self._offset),
            criterion=None if self.criterion is None else self._hdic(self.criterion, rows),
            most=most,
        )

    def _tasks(self, pool: _Search, rows: Rows) -> Iterator[Task]:
        # every feature comes once, so that Gram rows would cost as much as scans
        pricer = CorrelationPricer if sparse.issparse(rows.X) else ScreenedPricer
        yield Task(
            pool.master,
            pricer(pool.features, repeats=False),
            callbacks=() if pool.criterion is None else (pool.criterion,),
            max_rounds=pool.most + 1,  # the first has no column yet
        )

    def _run_all(
        self, pool: _Search, rows: Rows, held: Held | None, started: float
    ) -> list[FittedRun]:
        (run,) = super()._run_all(pool, rows, held, started)
        columns = pool.master.columns
        self.path_ = np.array([feature_of(column) for column in columns], dtype=np.intp)
        if self.trim and pool.criterion is not None and run.best_round > 1:
            run = trimmed(run, pool.master, pool.criterion)
        return [run]


def trimmed(
    run: FittedRun, master: OrthogonalMaster, criterion: HighDimensionalCriterion
) -> FittedRun:
    """A run with one stage more: least squares on the j of J with HDIC(J∖j) > HDIC(J)."""
    size = run.best_round
    with_all = criterion.of(2.0 * run.objective, size)
    needed = criterion.of(master.squares_without(size), size - 1) > with_all
    if needed.all():
        return run
    places: list[int] = np.flatnonzero(needed).tolist()
    coef: NDArray[np.float64] = np.zeros(size)
    coef[places], intercept, objective = master.refitted(places)
    (output,) = run.outputs
    longer = replace(output, path=[*output.path, (coef, intercept)])
    return replace(run, outputs=[longer], objective=objective)
