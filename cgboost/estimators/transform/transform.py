"""Transform regression, and the methods that lead up to it, for numbers and for classes.

[P] is Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.common.rows import Vector
from cgboost.estimators.common.targets import Classification, Regression, probabilities
from cgboost.estimators.transform.transform_base import BaseTransform
from cgboost.estimators.transform.transform_inspection import StageInspection
from cgboost.losses.base import DifferentiableLoss
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.squared_error import SquaredError


@dataclass(eq=False, repr=False)
class TransformRegressor(StageInspection, Regression, BaseTransform):
    """Transform regression ([P] Table 8): additive models of piecewise linear transformations.

    Stage i is an additive model of what the stages before it have left over,

        ŷ_i = c + Σ_j λ_j h_ij(x_j | ŷ_1, …, ŷ_{i−1}) + Σ_k λ_k h_ik(ŷ_k | ŷ_1, …, ŷ_{i−1})

    where each h is a linear regression tree that splits on its own input alone: many intervals, or
    the categories, are merged bottom-up, and each leaf has a stepwise linear regression on the
    input and the outputs of earlier stages. Rows held out decide how far to merge, which regressors
    and which h stay, and how many stages. Everything follows from sufficient statistics in two
    passes a stage, so that the data may come in blocks, from a file say.

    Parameters
    ----------
    n_estimators : int, default=10
        Stages at most.
    variant : {"transform", "gradient", "initial", "orthogonal", "feed_forward", \
"orthogonal_feed_forward"}, default="transform"
        The methods of the paper: transform regression (Table 8), gradient boosting of additive
        models (Table 1), the initial algorithm (Table 4: each additive model is followed by a
        transformation of its output), the same with all stages refitted (Table 5), with earlier
        outputs as inputs (Table 6), and with both (Table 7).
    max_bins : int, default=64
        Intervals of a numeric input before merging.
    tol : float, default=1e-4
        A stage that lowers the training loss by less than this, relative to that of the constant,
        is the last.
    early_stopping : bool, default=True
        Whether rows are held out. Otherwise a price for every coefficient (the Bayesian criterion)
        decides in their place, and all stages are kept.
    validation_fraction : float, default=0.3
        Share of the rows to hold out, each by itself, equal rows too. What is in them decides, so
        that neither order nor blocks matter.
    n_iter_no_change : int, default=3
        Stages without a smaller holdout loss after which the run ends; the best one is returned.
    categorical_features : "from_dtype" or sequence of str or int, default="from_dtype"
        Features that are categories. By default those of a data frame that are no numbers, or of a
        categorical type; a column of Python objects that are all numbers is numeric. A list takes
        the place of this rule, so that it must name all of them.
    n_jobs : int, default=1
        Threads that work on blocks of rows; −1 for all cores.
    callbacks, verbose, time_limit
        As in :class:`CGBoostRegressor`.
    random_state : int, RandomState or None
        Chooses among the ways to hold rows out; None stands for 0.

    Attributes
    ----------
    stages_ : list of cgboost.additive.stage.Stage
    n_iter_ : int
        Stages in the model.
    columns_ : dict of str to ndarray
        stage, coefficient, round.
    history_ : dict of str to ndarray
        Has holdout_loss.
    feature_importances_, importances_ : ndarray of shape (n_features,)
    coef_, intercept_, n_columns_, objective_, best_round_, stop_reason_, n_features_in_, \
feature_names_in_
        As in :class:`StagewiseRegressor`. ``stop_reason_`` is "no_column" where the search has
        found no further stage that the held-out rows (or the price) let in, as most fits end;
        "gap" after a stage that gained less than ``tol``; "early_stopping" where stages no longer
        lowered the holdout loss.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import TransformRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(4000, 2))
    >>> y = X[:, 0] + X[:, 1] + 3 * X[:, 0] * X[:, 1]
    >>> TransformRegressor().fit(X, y).score(X, y) > 0.95
    True
    """

    early_stopping: bool = field(default=True, kw_only=True)
    validation_fraction: float = field(default=0.3, kw_only=True)
    n_iter_no_change: int = field(default=3, kw_only=True)

    def _loss(self, target: Vector, weights: Vector) -> DifferentiableLoss:
        return SquaredError().on(target, weights)

    def to_sql(
        self,
        table: str | Sequence[str],
        *,
        output: str = "prediction",
        keep: str | Sequence[str] = (),
    ) -> str:
        """A query that predicts the rows of a table.

        Parameters
        ----------
        table : str or sequence of str
            Its name, or the parts of its name, ("main", "people") say. Its columns are called as
            those of the data frame that the model was fitted to; x0, x1, … where they had no names.
        output : str, default="prediction"
            Name of the column that is made.
        keep : str or sequence of str
            Column or columns of the table that come before it: SQL promises no order of the rows.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            As :func:`cgboost.additive.export.sql.select_statement`.
        """
        return self._statement(table, 0, "identity", output=output, keep=keep)


@dataclass(eq=False, repr=False)
class TransformClassifier(StageInspection, Classification, BaseTransform):
    """Transform regression of 0/1 targets by the log loss ([P] sections 2 and 6).

    Stages are fitted to the pseudo-residuals of Σ w_i log(1 + exp(−2 y_i f_i)), and added with the
    step and the change of the constant that together lower it most, as long as they change no f,
    half the log-odds, by more than 2. More than two classes are handled one against the rest. With
    ``variant="orthogonal"`` and ``"orthogonal_feed_forward"`` all steps and the constant are chosen
    anew after every stage, without that bound.

    Parameters
    ----------
    n_estimators, variant, max_bins, tol, early_stopping, validation_fraction, n_iter_no_change, \
categorical_features, n_jobs, callbacks, verbose, time_limit, random_state
        As in :class:`TransformRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    stages_ : list of cgboost.additive.stage.Stage
        With more than two classes a list for each class.
    n_iter_, columns_, history_, feature_importances_, importances_, coef_, intercept_, \
n_columns_, objective_, best_round_, stop_reason_, n_features_in_, feature_names_in_
        As in :class:`TransformRegressor`.
    """

    early_stopping: bool = field(default=True, kw_only=True)
    validation_fraction: float = field(default=0.3, kw_only=True)
    n_iter_no_change: int = field(default=3, kw_only=True)
    _most: ClassVar[float] = 2.0

    def _loss(self, target: Vector, weights: Vector) -> DifferentiableLoss:
        return LogLoss().on(target, weights)

    def to_sql(
        self,
        table: str | Sequence[str],
        *,
        label: Any = None,
        output: str = "prediction",
        keep: str | Sequence[str] = (),
    ) -> str:
        """A query for a probability, of the second class or of one against the rest.

        Parameters
        ----------
        table, output, keep
            As in :meth:`TransformRegressor.to_sql`.
        label : class label, optional
            Needed with more than two classes: whose probability against all others it is. What
            ``predict_proba`` gives are these numbers divided by their sum over the classes.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there are more than two classes and ``label`` is none of them, or two and it is not
            the second; as :func:`cgboost.additive.export.sql.select_statement`.
        """
        check_is_fitted(self)
        labels = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        places = [0] if label is None and len(labels) == 1 else np.flatnonzero(labels == label)
        if not len(places):
            raise ValueError(f"label must be one of {labels.tolist()}, got {label!r}")
        return self._statement(table, int(places[0]), "logistic", output=output, keep=keep)

    def predict_proba(self, X: Any) -> Vector:
        """Class probabilities, shape (n_rows, n_classes)."""
        return probabilities(self._outputs(X))
