"""Gradient boosting of regression trees, for K classes and for regression.

Friedman, *Greedy Function Approximation: A Gradient Boosting Machine*, Annals of Statistics 29,
2001, Algorithms 2, 3 and 6.

A split t of a tree T reduces the squared error by î²_t. The relevance of feature l is the sum over
its splits, I²_l(T) = Σ_t î²_t [v(t) = l], and in a model of M trees the mean over the trees. With K
classes and the trees T_km of each class k,

    I²_lk = 1/M Σ_m I²_l(T_km),     I²_l = 1/K Σ_k I²_lk.

Breiman, Friedman, Olshen, Stone, *Classification and Regression Trees*, 1984.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.parameters import (
    check_bins,
    check_choice,
    check_count,
    check_learning_rate,
    check_number,
)
from cgboost.estimators.common.plan import Plan, RunTask
from cgboost.estimators.common.predictors import ProbabilisticClassification, Regression
from cgboost.estimators.common.stagewise import BaseLearnerStages
from cgboost.estimators.common.targets import centred_outputs
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses.exponential import Exponential
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.loss import DifferentiableLoss, Loss
from cgboost.losses.multinomial import Multinomial
from cgboost.losses.registry import (
    REGRESSION,
    LossMaker,
    RegressionLoss,
    check_known_loss,
    get_loss,
    loss_on_rows,
)
from cgboost.losses.squared_error import WeightedSquaredError
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.learners.tree_growth import TreeLimits
from cgboost.pricing.learners.trees import LeafRule, TreePricer, newton_leaves, search_leaves


@dataclass(eq=False, repr=False)
class BaseGradientBoosting(BaseLearnerStages):
    """Trees grown on the residuals, with leaf values that minimise the loss, one per output."""

    n_estimators: int = field(default=100, kw_only=True)
    learning_rate: float = field(default=0.1, kw_only=True)
    subsample: float = field(default=1.0, kw_only=True)
    max_depth: int | None = field(default=3, kw_only=True)
    min_samples_split: int | float = field(default=2, kw_only=True)
    min_samples_leaf: int | float = field(default=1, kw_only=True)
    max_features: int | float | str | None = field(default=None, kw_only=True)
    max_leaf_nodes: int | None = field(default=None, kw_only=True)
    max_bins: int = field(default=255, kw_only=True)
    start: Literal["constant", "zero"] = field(default="constant", kw_only=True)

    @property
    def _joint(self) -> bool:
        """Whether a round grows one tree for all outputs."""
        return False

    @property
    def feature_importances_(self) -> Vector:
        """Share of each feature in I²_l, the gain of its splits; the shares add up to 1."""
        check_is_fitted(self)
        return shares(self._importances)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_estimators", self.n_estimators)
        check_learning_rate(self.learning_rate)
        check_number("subsample", self.subsample, above=0)
        check_choice("start", self.start, ("constant", "zero"))
        self._check_limits()
        if self.subsample > 1:
            raise ValueError(f"subsample must be a number > 0 and ≤ 1, got {self.subsample!r}")

    def _check_limits(self) -> None:
        """Limits of the trees, as scikit-learn has them, and the bins."""
        for name, least in (("max_depth", 1), ("max_leaf_nodes", 2)):
            check_count(name, getattr(self, name), least=least, optional=True)
        for name, least, most in (("min_samples_split", 2, 1.0), ("min_samples_leaf", 1, 0.5)):
            value = getattr(self, name)
            if isinstance(value, Integral):
                check_count(name, value, least=least)
                continue
            check_number(name, value, above=0)
            if value > most:
                raise ValueError(f"{name} must be a count, or a share ≤ {most:g}, got {value!r}")
        if isinstance(self.max_features, str):
            check_choice("max_features", self.max_features, ("sqrt", "log2"))
        elif isinstance(self.max_features, Integral):
            check_count("max_features", self.max_features)
        else:
            check_number("max_features", self.max_features, above=0, optional=True)
        check_bins(self.max_bins)

    @abstractmethod
    def _loss(self, rows: TrainingRows) -> tuple[DifferentiableLoss, LeafRule]:
        """The loss of all outputs, and how leaves are chosen for it."""

    def _tasks(self, rows: TrainingRows) -> Iterator[RunTask]:
        loss, leaves = self._loss(rows)
        pricer = TreePricer(
            rows.X,
            rows.weights,
            leaves,
            joint=self._joint,
            subsample=self.subsample,
            max_bins=self.max_bins,
            limits=TreeLimits(
                max_depth=self.max_depth,
                min_samples_split=self.min_samples_split,
                min_samples_leaf=self.min_samples_leaf,
                max_features=self.max_features,
                max_leaf_nodes=self.max_leaf_nodes,
            ),
            random_state=self.random_state,
        )
        master = StagewiseMaster(loss, step=float(self.learning_rate), start=self.start)
        yield RunTask(master, pricer, n_outputs=loss.n_outputs, columns_per_round=loss.n_outputs)

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        trees = [[h.estimator for h in output.active] for output in runs[0].outputs]
        self._importances = np.stack([importances(part, self.n_features_in_) for part in trees])


@dataclass(eq=False, repr=False)
class GradientBoostingClassifier(ProbabilisticClassification, BaseGradientBoosting):
    """Gradient boosting for K classes: K regression trees per round, for the multinomial deviance.

    With p_k = e^{f_k} / Σ_l e^{f_l} and the residuals r_ik = [y_i = k] − p_k(x_i), one tree is
    grown on the residuals of each class. Its value in the leaf R is

        γ = (K − 1)/K · Σ_{i ∈ R} r_ik / Σ_{i ∈ R} |r_ik|(1 − |r_ik|),

    times ``learning_rate``. Adding the same number to all f_k changes nothing; scores are
    normalised to Σ_k f_k = 0. For two classes, f_2 = −f_1 and the second tree would mirror the
    first: one tree is grown, and the single output f = f_2 is half the log-odds of the second
    class.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, LogLoss or Exponential, default="log_loss"
        The multinomial deviance; or, for two classes only, AdaBoost's Σ w_i exp(−y_i f_i), whose
        minimum is also at half the log-odds.
    n_estimators : int, default=100
        Maximum number of rounds.
    learning_rate : float, default=0.1
        Multiplies every tree; 1 is the algorithm without shrinkage. Must be below 2; from 2 on,
        steps no longer lower the loss.
    subsample : float, default=1.0
        Share of the rows, drawn again in every round, on which its trees are grown.
    max_depth, min_samples_split, min_samples_leaf, max_features, max_leaf_nodes
        Limits of the trees, as in :class:`~sklearn.tree.DecisionTreeRegressor`;
        ``max_depth=3``.
    max_bins : int, default=255
        Features with more distinct values are cut into so many bins of about equally many rows;
        splits lie between bins. For other features all thresholds are tried.
    leaves : {"class", "joint"}, default="class"
        With more than two classes, a round grows one tree for each class, or one tree for all,
        with a value for each class in every leaf: faster, the larger the number of classes.
    start : {"constant", "zero"}, default="constant"
        f before the first round: from the shares of the classes (a mean or median in regression),
        or 0, exactly as in the algorithm.
    early_stopping : bool, default=False
        Stop when the log-loss of held-out rows (a part of the training rows, or ``eval_set``) has
        not improved for ``n_iter_no_change`` rounds.
    validation_fraction, n_iter_no_change, class_weight, scoring, callbacks, verbose, time_limit
        As in :class:`CGBoostClassifier`.
    random_state : int, RandomState or None
        Determines the rows that early stopping holds out, the rows of subsamples, and the features
        that are looked at with ``max_features``.

    Attributes
    ----------
    classes_, class_weight_ : ndarray of shape (n_classes,)
    estimators_ : list of DecisionTreeRegressor
        In the order of ``columns_``, with the final values of the leaves; a joint tree stands there
        once for each class.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each feature in I²_l = Σ_k I²_lk / K.
    class_importances_ : ndarray of shape (n_classes, n_features)
        I_lk, the relevance of feature l in separating class k from the others. Its square is the
        mean over the trees of the reduction in squared error by the splits on l.
    columns_ : dict of str to ndarray
        estimator (index in ``estimators_``), coefficient, round (and class).
    column_weights_, intercept_, n_columns_, objective_, history_, best_round_, stop_reason_, \
n_features_in_, feature_names_in_
        As in :class:`CGBoostClassifier`; one run fits the outputs of all classes. ``objective_``
        is the training loss.
    n_iter_ : int
        Number of rounds in the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cgboost import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9, model.class_importances_.shape
    (True, (3, 4))
    """

    loss: Literal["log_loss", "exponential"] | LogLoss | Exponential = field(
        default="log_loss", kw_only=True
    )

    leaves: Literal["class", "joint"] = field(default="class", kw_only=True)

    _fitted_jointly = True

    @property
    def _joint(self) -> bool:
        return self.leaves == "joint"

    @property
    def class_importances_(self) -> Vector:
        """I_lk of every class and feature."""
        check_is_fitted(self)
        return np.sqrt(
            np.broadcast_to(self._importances, (len(self.classes_), self.n_features_in_))
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.loss, (LogLoss, Exponential)):
            check_choice("loss", self.loss, ("log_loss", "exponential"))
        check_choice("leaves", self.leaves, ("class", "joint"))

    def _loss(self, rows: TrainingRows) -> tuple[DifferentiableLoss, LeafRule]:
        n_classes = len(self.classes_)
        if n_classes == 2:  # half log-odds have the factor ½ in the Newton step already
            return get_loss(self.loss).on(
                self._target_kind.of_runs(rows.y)[0], rows.weights
            ), newton_leaves()
        if get_loss(self.loss) != LogLoss():
            raise UnsupportedLossError(
                f"loss={self.loss!r} is for two classes, got {n_classes}: use loss='log_loss'"
            )
        loss = Multinomial(n_classes).on(rows.y, rows.weights)
        return loss, newton_leaves((n_classes - 1) / n_classes)

    def _outputs(self, X: ArrayLike) -> Vector:
        return centred_outputs(super()._outputs(X))

    def _staged_outputs(self, X: ArrayLike) -> Iterator[Vector]:
        return map(centred_outputs, super()._staged_outputs(X))


@dataclass(eq=False, repr=False)
class GradientBoostingRegressor(Regression, BaseGradientBoosting):
    """Gradient boosting of regression trees for any regression loss.

    Trees are grown on the pseudo-response, such as y − f or its sign. The value of each leaf is the
    constant that minimises the loss (the mean, the median, a quantile, … of y − f), times
    ``learning_rate``. For the Poisson loss it is one Newton step.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "quantile", "expectile", "huber", \
"epsilon_insensitive", "squared_epsilon_insensitive", "poisson"}, Loss or callable, \
default="squared_error"
        A name, a :class:`~cgboost.losses.Loss` with parameters, such as ``Huber(1.5)`` or
        ``Quantile(0.9)``, or a callable ``loss(target, weights)`` that returns a
        :class:`~cgboost.losses.loss.DifferentiableLoss`. With "poisson", f is the log of the mean,
        and the mean is predicted.
    n_estimators, learning_rate, subsample, max_depth, min_samples_split, min_samples_leaf, \
max_features, max_leaf_nodes, max_bins, start, early_stopping, validation_fraction, \
n_iter_no_change, scoring, callbacks, verbose, time_limit, random_state
        As in :class:`GradientBoostingClassifier`; early stopping watches the mean absolute error,
        or the loss for quantiles and counts.

    Attributes
    ----------
    estimators_, feature_importances_, columns_, column_weights_, intercept_, n_columns_, \
objective_, history_, best_round_, stop_reason_, n_iter_, n_features_in_, feature_names_in_
        As in :class:`GradientBoostingClassifier` with two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import GradientBoostingRegressor
    >>> x = np.linspace(-3, 3, 60)[:, None]
    >>> model = GradientBoostingRegressor().fit(x, np.sin(x[:, 0]))
    >>> bool(np.abs(model.predict(x) - np.sin(x[:, 0])).max() < 0.1)
    True
    """

    loss: RegressionLoss | Loss | LossMaker = field(default="squared_error", kw_only=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_known_loss(self.loss, REGRESSION)

    def _loss(self, rows: TrainingRows) -> tuple[DifferentiableLoss, LeafRule]:
        loss = loss_on_rows(self.loss, rows.y, rows.weights)
        kind = getattr(loss, "loss", loss)  # whatever the targets
        searched = kind.attains_minimum and not isinstance(loss, WeightedSquaredError)
        return loss, search_leaves(loss) if searched else newton_leaves()


def importances(trees: Sequence[Any], n_features: int) -> Vector:
    """I²_l of every feature: the mean over scikit-learn trees, 0 without any."""
    gains = np.zeros(n_features)
    for tree in trees:
        inner = tree.tree_
        # scikit-learn divides the gains by the weight of all rows
        per_row = inner.compute_feature_importances(normalize=False)
        gains += inner.weighted_n_node_samples[0] * per_row
    return gains / max(1, len(trees))


def shares(squared: Vector) -> Vector:
    """Overall relevance from that of each output, shape (n_outputs, n_features), adding up to 1."""
    overall = squared.mean(axis=0)
    return overall / (overall.sum() or 1.0)
