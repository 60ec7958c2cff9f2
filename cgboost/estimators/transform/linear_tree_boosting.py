"""Gradient boosting of linear regression trees, for regression and classification.

[P] is Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.export.tree_sql import trees_statement
from cgboost.additive.holdout import HoldoutLoss, mean_loss
from cgboost.additive.places.memory import in_memory
from cgboost.additive.trees.boosted_tree_growth import TreeGrower
from cgboost.additive.trees.boosted_trees import CodedRows
from cgboost.additive.trees.split_search import Interactions
from cgboost.additive.trees.transformation import formula_in_words
from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.parameters import check_count, check_number, threads_of
from cgboost.estimators.common.plan import Plan, Rounds, RunTask
from cgboost.estimators.common.predictors import ProbabilisticClassification, Regression
from cgboost.estimators.common.targets import mean_log_loss
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.estimators.transform.base_transform import BaseQueriedStages
from cgboost.estimators.transform.constraint_parameters import sets_of
from cgboost.estimators.transform.holdouts import seed_of
from cgboost.estimators.transform.variants import LARGEST_STEP
from cgboost.generation.callbacks import EarlyStopping, Score, error_rate
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.loss import DifferentiableLoss, Loss
from cgboost.losses.multinomial import Multinomial
from cgboost.losses.registry import (
    REGRESSION,
    LossMaker,
    RegressionLoss,
    check_known_loss,
    loss_on_rows,
)
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.parallel.threads import Threads
from cgboost.pricing.linear_trees import LinearTreePricer
from cgboost.tables.binning import Prepared


@dataclass(eq=False, repr=False)
class BaseLinearTreeBoosting(BaseQueriedStages):
    """A shallow linear tree per output and round.

    Must be the first base class of an estimator: its defaults replace the common ones.
    """

    n_estimators: int = field(default=500, kw_only=True)
    learning_rate: float = field(default=0.1, kw_only=True)
    max_depth: int = field(default=2, kw_only=True)
    min_samples_leaf: int = field(default=20, kw_only=True)
    max_bins: int = field(default=64, kw_only=True)
    max_regressors: int = field(default=4, kw_only=True)
    l2_regularization: float = field(default=10.0, kw_only=True)
    interaction_cst: Any = field(default=None, kw_only=True)
    categorical_features: Any = field(default="from_dtype", kw_only=True)
    n_jobs: int = field(default=1, kw_only=True)
    early_stopping: bool = field(default=True, kw_only=True)
    validation_fraction: float = field(default=0.1, kw_only=True)
    n_iter_no_change: int = field(default=30, kw_only=True)

    # ------------------------------------------------------------------ checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("max_depth", "min_samples_leaf", "max_regressors"):
            check_count(name, getattr(self, name))
        check_number("l2_regularization", self.l2_regularization, at_least=0)

    # ------------------------------------------------------------------ the run

    @abstractmethod
    def _loss(self, target: NDArray[Any], weights: Vector) -> DifferentiableLoss:
        """The loss of all outputs, of encoded targets."""

    _most: ClassVar[float] = np.inf
    """What a round changes an output by, at most."""

    def _prepared(self, rows: TrainingRows) -> Prepared:
        place = in_memory(
            rows.X,
            self._schema,
            rows.y,
            rows.weights,
            n_jobs=1,
            n_classes=self._n_classes,
            max_bins=self.max_bins,
            share=self.validation_fraction if self.early_stopping else 0.0,
            seed=seed_of(self.random_state, 0),
        )
        return place.prepared

    def _plan(self, rows: TrainingRows) -> Plan:
        return Rounds(self._target_kind, self._stop_rule(), None, partial(self._tasks, rows))

    def _tasks(self, rows: TrainingRows) -> Iterator[RunTask]:
        pool = self._prepared(rows)
        held = pool.held
        training = np.where(held, 0.0, rows.weights)
        loss = self._loss(rows.y, training)
        outside = self._loss(rows.y[held], rows.weights[held])
        grower = TreeGrower(
            CodedRows.of(pool.rows, pool.groups),
            training,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            max_regressors=self.max_regressors,
            ridge=self.l2_regularization,
            interactions=Interactions.of(
                sets_of(self._schema, self.interaction_cst), self._schema.n_features
            ),
            mapped=Threads(threads_of(self.n_jobs)),
        )
        callbacks: list[Any] = [HoldoutLoss(partial(mean_loss, outside, held))]
        if held.any():
            callbacks.append(EarlyStopping("holdout_loss", patience=self.n_iter_no_change))
        rate, count = float(self.learning_rate), loss.n_outputs
        if count == 1:
            master = StagewiseMaster(loss, learning_rate=rate, start="constant", most=self._most)
        else:
            master = StagewiseMaster(loss, step=rate * (count - 1) / count, start="constant")
        pricer = LinearTreePricer(grower, training)
        yield RunTask(master, pricer, n_outputs=count, columns_per_round=count, callbacks=callbacks)

    # ------------------------------------------------------------------ fitted attributes

    def _described(self, hypotheses: Sequence[Any]) -> Table:
        return {"tree": np.array([h.number for h in hypotheses], dtype=np.intp)}

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        (run,) = runs
        trees = [[h.tree for h in output.active] for output in run.outputs]
        self.trees_ = trees[0] if len(trees) == 1 else trees

    def text(self, *, output: Any = None) -> str:
        """The trees as text: a line for every branch, a formula for every leaf.

        Numbers outside the range of the training rows count as its nearest end; missing values in a
        formula count as the middle of the range of their feature.

        Parameters
        ----------
        output : class label or int, optional
            As in :meth:`TransformClassifier.transformation`.

        Raises
        ------
        IndexError
            If there is no such output.
        """
        fitted = self._output_of(output)
        size = max(
            (
                abs(coef) * hypothesis.tree.size
                for own in self._runs[0].outputs
                for hypothesis, coef in zip(own.hypotheses, own.coef.tolist(), strict=False)
            ),
            default=0.0,
        )
        constant = formula_in_words(fitted.intercept, size=size)
        lines = [f"f = {constant} plus, of each tree, its leaf times its coefficient"]
        for hypothesis, coef in zip(fitted.hypotheses, fitted.coef.tolist(), strict=False):
            lines.append(f"tree_{hypothesis.number}, times {coef:.6g}:")
            lines += ["    " + line for line in hypothesis.tree.text(self._schema).split("\n")]
        return "\n".join(lines)

    def _statement(self, table: str | Sequence[str], link: str, number: int, **columns: Any) -> str:
        outputs = []
        for output in self._runs[0].outputs:
            trees = [hypothesis.tree for hypothesis in output.hypotheses]
            terms = list(zip(output.coef.tolist(), trees, strict=False))
            outputs.append((output.intercept, terms))
        return trees_statement(outputs, self._schema, table, link=link, number=number, **columns)


@dataclass(eq=False, repr=False)
class LinearTreeBoostingRegressor(BaseLinearTreeBoosting, Regression):
    """Gradient boosting of linear regression trees ([P] section 9).

    Each round grows a tree with a few binary splits and a ridge regression in every leaf,

        h(x) = a_j + b_jᵀz(x)      in leaf j,

    by least squares on r/w for the pseudo-response r = −∂loss/∂f and the sample weights w, or on
    r/h with the Newton weights h if the loss has curvature in every row. The model becomes
    f + ``learning_rate``·c·h with the step c that lowers the loss most; the training loss therefore
    falls in every round. Regressors z are the numeric features, clipped to their range in the
    training rows. Splits separate intervals of numbers, or categories, with missing values on
    either side. Intervals, categories and the holdout are determined once and shared by all trees.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "quantile", "expectile", "huber", \
"epsilon_insensitive", "squared_epsilon_insensitive", "poisson"}, Loss or callable, \
default="squared_error"
        A name, a :class:`~cgboost.losses.Loss` with parameters, such as ``Quantile(0.9)`` or
        ``Huber(1.5)``, or a callable ``loss(target, weights)`` that returns a
        :class:`~cgboost.losses.loss.DifferentiableLoss`. With "poisson", f is the log of the mean,
        and the mean is predicted.
    n_estimators : int, default=500
        Maximum number of rounds.
    learning_rate : float, default=0.1
        Factor of the best step. Must be below 2; from 2 on, steps no longer lower the loss.
    max_depth : int, default=2
        Maximum number of splits above a leaf.
    min_samples_leaf : int, default=20
        Minimum number of training rows in a leaf, by sample weight.
    max_bins : int, default=64
        Number of intervals of a numeric feature; splits lie between them.
    max_regressors : int, default=4
        Number of numeric features used as regressors in the leaves of a tree: the features that
        individually explain most of its response. Features that the leaf was split on are added.
    l2_regularization : float, default=10.0
        λ in Σ_rows h(r/h − a − bᵀz)² + λ Σ_k b_k² var(z_k) for every leaf. It shrinks the slopes in
        small leaves most; the constant is free.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of sets of int or str, or None
        Which features may occur together in a tree: the output is then a sum of functions, each of
        the features of one set. Features in no set form another set. Names or indices.
    early_stopping : bool, default=True
        Whether to hold out rows and use the round with the smallest loss on them as the model.
    validation_fraction : float, default=0.1
        Share of the rows to hold out. Rows are held out independently, including equal rows; the
        choice depends on their contents, not on their order or division into blocks.
    n_iter_no_change : int, default=30
        Rounds without a smaller holdout loss after which the run ends.
    categorical_features : "from_dtype" or sequence of str or int, default="from_dtype"
        As in :class:`TransformRegressor`.
    n_jobs : int, default=1
        Threads that work on blocks of rows; −1 for all cores.
    scoring, callbacks, verbose, time_limit
        As in :class:`CGBoostRegressor`.
    random_state : int, RandomState or None
        Determines which rows are held out; None means 0.

    Attributes
    ----------
    trees_ : list of ModelTree
        With the models of the leaves, before multiplication by ``column_weights_``.
    n_iter_ : int
        Number of trees in the model.
    columns_ : dict of str to ndarray
        tree, coefficient, round.
    history_ : dict of str to ndarray
        Includes holdout_loss.
    feature_importances_ : ndarray of shape (n_features,)
        Shares of the features in the decrease of the training loss. The decrease of each round is
        divided by how much splits between means, and slopes in leaves, lower the squared error of
        the tree.
    column_weights_, intercept_, n_columns_, objective_, best_round_, stop_reason_, \
n_features_in_, feature_names_in_
        As in :class:`TransformRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from cgboost import LinearTreeBoostingRegressor
    >>> X, y = make_friedman1(1200, noise=1.0, random_state=0)
    >>> model = LinearTreeBoostingRegressor().fit(X[:1000], y[:1000])
    >>> model.score(X[1000:], y[1000:]) > 0.93
    True
    """

    loss: RegressionLoss | Loss | LossMaker = field(default="squared_error", kw_only=True)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_known_loss(self.loss, REGRESSION)

    def _loss(self, target: Vector, weights: Vector) -> DifferentiableLoss:
        return loss_on_rows(self.loss, target, weights)


@dataclass(eq=False, repr=False)
class LinearTreeBoostingClassifier(BaseLinearTreeBoosting, ProbabilisticClassification):
    """Gradient boosting of linear regression trees by the log loss, K classes jointly.

    Two classes have one output f, half the log-odds, and one tree per round, added with
    ``learning_rate`` times its best step; no step changes any f by more than 2. With more classes,
    the loss is the multinomial deviance, and each class has an output: p_k = e^{f_k}/Σ_l e^{f_l}.
    Each round grows a tree for every class, on (y_k − p_k)/(p_k(1 − p_k)) with the weights
    p_k(1 − p_k), all from the same f, and adds it with ``learning_rate``·(K − 1)/K, as in
    :class:`GradientBoostingClassifier`. No rows of a class are held out if none with positive
    weight would be left for training. As in :class:`TransformClassifier`, the order of the labels
    affects which rows are held out.

    Parameters
    ----------
    n_estimators, learning_rate, max_depth, min_samples_leaf, max_bins, max_regressors, \
l2_regularization, interaction_cst, early_stopping, validation_fraction, n_iter_no_change, \
categorical_features, n_jobs, scoring, callbacks, verbose, time_limit, random_state
        As in :class:`LinearTreeBoostingRegressor`.
    class_weight : dict, "balanced" or None, default=None
        As in :class:`CGBoostClassifier`; also of rows that are held out.

    Attributes
    ----------
    classes_, class_weight_ : ndarray of shape (n_classes,)
    trees_ : list of ModelTree
        With more than two classes, one list per class.
    n_iter_, columns_, history_, feature_importances_, column_weights_, intercept_, n_columns_, \
objective_, best_round_, stop_reason_, n_features_in_, feature_names_in_
        As in :class:`LinearTreeBoostingRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cgboost import LinearTreeBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearTreeBoostingClassifier(n_estimators=50).fit(X[::2], y[::2])
    >>> model.score(X[1::2], y[1::2]) > 0.9
    True
    """

    _scores: ClassVar[dict[str, Score]] = {"log_loss": mean_log_loss, "error": error_rate}
    _fitted_jointly = True

    _most: ClassVar[float] = LARGEST_STEP

    def _loss(self, target: NDArray[Any], weights: Vector) -> DifferentiableLoss:
        if len(self.classes_) == 2:
            return LogLoss().on(self._target_kind.of_runs(target)[0], weights)
        return Multinomial(len(self.classes_)).on(target, weights)
