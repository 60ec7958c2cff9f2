"""Componentwise L2-Boosting: the residual is fitted by one feature after another.

Bühlmann, Yu, *Boosting with the L2 loss*, Journal of the American Statistical Association 98, 2003;
Bühlmann, *Boosting for high-dimensional linear models*, Annals of Statistics 34, 2006.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cgboost.estimators.boosting.componentwise import BaseComponentwise
from cgboost.estimators.common.parameters import check_number
from cgboost.estimators.common.rows import Rows, Vector
from cgboost.estimators.common.subproblems import Task
from cgboost.inspection.model_selection import CRITERIA, CorrectedAIC, HeldOutError, RoundCriterion
from cgboost.losses.squared_error import SquaredError
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.features.correlation import CentredFeatures, GramPricer


@dataclass(eq=False, repr=False)
class L2BoostRegressor(BaseComponentwise):
    """Componentwise L2-Boosting of a linear model (Bühlmann and Yu 2003).

    Every round takes the feature most correlated with the residual u and a step along it,

        j = arg max |x_j·u| / |x_j|      coef_j += learning_rate · x_j·u / |x_j|²

    with features taken from their means, if there is an intercept, and sums weighted. A feature may
    be chosen many times. Scaling a feature scales its coefficient and nothing else.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds; fewer if nothing correlates with the residual any more.
    learning_rate : float, default=0.1
        Share of the best step that is taken, in (0, 2); 1 is the method as first published.
    fit_intercept : bool, default=True
        Whether features and response are centred.
    criterion : {"hdic", "hdbic", "hdhq", "aicc", "cv"} or None, default=None
        What chooses the round to keep among the ``n_estimators``; None keeps the last.

        * "hdic", "hdbic", "hdhq": n log ‖u‖² + |J| c log p for the set J of features in the model,
          with c = C, log n, C log log n (Ing and Lai 2011). n is the sum of the weights.
        * "aicc": log σ̂² + (1 + d/n)/(1 − (d + 2)/n), d the trace of the boosting operator
          (Bühlmann 2006).
        * "cv": the mean squared error of cross-validation, weighted.
    C : float, default=2.01
        The constant of "hdic" and "hdhq".
    cv : int, splitter or list of splits, default=5
        The folds of "cv", as in scikit-learn.
    early_stopping : bool, default=False
        As in :class:`CGBoostRegressor`, watching the mean absolute error; instead of a criterion.
    validation_fraction, n_iter_no_change, callbacks, verbose, time_limit, random_state
        As in :class:`CGBoostRegressor`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    intercept_ : float
    coef_path_ : ndarray of shape (n_features, n_iter_ + 1)
        Coefficients after 0, 1, … steps.
    selected_ : ndarray of shape (n_iter_,)
        The feature of each step.
    support_ : ndarray of int
        The features with a nonzero coefficient, ascending.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in the fall of the training loss.
    criterion_ : ndarray of shape (n_rounds,) or None
        The criterion after 1, 2, … steps, also those after the chosen one.
    n_iter_ : int
        Steps in the model.
    columns_ : dict of str to ndarray
        feature, coefficient and round of every step.
    objective_, history_, n_columns_, best_round_, stop_reason_, n_features_in_, feature_names_in_
        As in :class:`CGBoostRegressor`; ``objective_`` is ½‖u‖², and ``history_`` has the criterion
        (for "aicc" also the degrees of freedom, ``df``).

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import L2BoostRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 50))
    >>> y = 2 * X[:, 3] - X[:, 7] + np.random.default_rng(1).normal(size=200)
    >>> L2BoostRegressor(n_estimators=300, criterion="hdbic").fit(X, y).support_
    array([3, 7])
    """

    learning_rate: float = field(default=0.1, kw_only=True)
    criterion: Literal["hdic", "hdbic", "hdhq", "aicc", "cv"] | None = field(
        default=None, kw_only=True
    )
    cv: Any = field(default=5, kw_only=True)

    _criteria: ClassVar[tuple[str, ...]] = CRITERIA

    @property
    def selected_(self) -> NDArray[np.intp]:
        """The feature of each step, shape (n_iter_,)."""
        return self.columns_["feature"]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("learning_rate", self.learning_rate, above=0, below=2)

    def _usable(self, rows: Rows) -> Rows:
        if self.criterion in ("hdic", "hdbic", "hdhq") and rows.X.shape[1] == 1:
            raise ValueError(
                f"criterion={self.criterion!r} needs at least 2 features, got n_features=1: its "
                "price log(n_features) of a feature would be 0"
            )
        return super()._usable(rows)

    def _tasks(self, pool: CentredFeatures, rows: Rows) -> Iterator[Task]:
        criterion = self._chosen_by(rows)
        yield Task(
            StagewiseMaster(
                SquaredError().on(rows.y, rows.weights),
                step="newton",
                learning_rate=self.learning_rate,
                start="constant" if self.fit_intercept else "zero",
            ),
            GramPricer(pool, repeats=True),
            callbacks=() if criterion is None else (criterion,),
        )

    def _chosen_by(self, rows: Rows) -> RoundCriterion | None:
        if self.criterion is None:
            return None
        if self.criterion == "aicc":
            return CorrectedAIC(rows.weights, self.learning_rate, n_fixed=int(self.fit_intercept))
        if self.criterion == "cv":
            return HeldOutError(self._held_out_errors(rows))
        return self._hdic(self.criterion, rows)

    def _held_out_errors(self, rows: Rows) -> Vector:
        """Weighted mean squared error of 1, 2, … steps, each row predicted without itself.

        A fold that stopped earlier contributes its last model.
        """
        from sklearn.model_selection import check_cv

        model = clone(self).set_params(criterion=None, callbacks=None, verbose=0)
        errors = np.zeros(self.n_estimators)
        for train, test in check_cv(self.cv).split(rows.X, rows.y):
            model.fit(rows.X[train], rows.y[train], rows.weights[train])
            stages = [
                float(rows.weights[test] @ (rows.y[test] - output) ** 2)
                for output in model.staged_predict(rows.X[test])
            ]
            errors += np.pad(stages, (0, len(errors) - len(stages)), mode="edge")
        return errors / rows.weights.sum()
