"""Transform regression and its precursors, for regression and classification.

The common fit is in :mod:`cgboost.estimators.transform.base_transform`. [P] is Pednault, *Transform
Regression and the Kolmogorov Superposition Theorem*, SDM 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sklearn.utils.validation import check_is_fitted

from cgboost.additive.export.curve import StageCurve
from cgboost.additive.export.curve import stage_graph as _stage_graph
from cgboost.additive.export.sql import models_statement
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.trees.transformation import INDENT, formula_in_words, input_of, names_of
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.parameters import check_choice
from cgboost.estimators.common.plan import Plan
from cgboost.estimators.common.predictors import ProbabilisticClassification, Regression
from cgboost.estimators.common.targets import mean_log_loss
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.estimators.transform.base_transform import BaseQueriedStages, BaseTransform
from cgboost.estimators.transform.transform_inspection import (
    called,
    largest_stage,
    outputs_of,
    stage_number,
    stages_of,
)
from cgboost.estimators.transform.variants import VARIANTS
from cgboost.generation.callbacks import Score, error_rate
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.loss import Loss
from cgboost.losses.multinomial import Multinomial
from cgboost.losses.registry import REGRESSION, RegressionLoss, check_known_loss, get_loss
from cgboost.losses.squared_error import SquaredError

if TYPE_CHECKING:
    from networkx import DiGraph


class BaseTransformRegression(BaseTransform, BaseQueriedStages):
    """Stages of piecewise linear transformations, and what can be seen of them."""

    def transformation(self, stage: int, feature: int | str, *, output: Any = None) -> StageCurve:
        """The piecewise linear function of an input in a stage, in the units of the data.

        Parameters
        ----------
        stage : int
            0, 1, …, or −1 for the last.
        feature : int or str
            Index or name of a feature; ``n_features_in_ + k`` for the output of stage k.
        output : class label or int, optional
            Label of a class, or its index in ``classes_``; integers are read as labels first. By
            default the first. Two classes have one output, the f of the second class: its label, or
            0.

        Returns
        -------
        StageCurve
            ``curve(x)`` is h(x), with outputs of earlier stages at 0; the stage is the sum of
            ``curve.weight * curve(x)``.

        Raises
        ------
        KeyError
            If there is no such feature, or the stage does not use it.
        IndexError
            If there is no such stage or output.
        """
        check_is_fitted(self)
        names = list(self._schema.names or ())
        if isinstance(feature, str) and feature not in names:
            raise KeyError(f"there is no feature {feature!r}; features are {names}")
        number = names.index(feature) if isinstance(feature, str) else feature
        stages = self._stages_of(output)
        place = stage_number(stage, len(stages))
        terms = {term.feature: (weight, term) for weight, term in stages[place].terms}
        if number not in terms:
            used = [called(k, self._schema) for k in terms]
            raise KeyError(f"stage {place} does not use {feature!r}; it uses {', '.join(used)}")
        name, categories = input_of(number, self._schema)
        earlier = number - self._schema.n_features
        weight, term = terms[number]
        return StageCurve(name, place, weight, term, categories, earlier if earlier >= 0 else None)

    def text(self, *, output: Any = None) -> str:
        """The model as text: the functions of every stage, with one line per leaf.

        Functions are multiplied by their weights: a stage is the sum of the functions listed below
        it. Numbers outside the range of the training rows count as its nearest end. Outputs of
        earlier stages are named stage_0, stage_1, …

        Parameters
        ----------
        output : class label or int, optional
            As in :meth:`transformation`.
        """
        stages, fitted = self._stages_of(output), self._output_of(output)
        coef, constant = fitted.path[-1]
        named = [(value, f"stage_{k}") for k, value in enumerate(coef.tolist())]
        lines = [f"f = {formula_in_words(float(constant), named, largest_stage(self._runs))}"]
        for k, stage in enumerate(stages):
            words = stage.text(self._schema).replace("\n", "\n" + INDENT)
            lines += [f"stage_{k}:", INDENT + words]
        return "\n".join(lines)

    def stage_graph(self, *, output: Any = None) -> DiGraph:
        """The inputs of every stage, as a directed graph.

        Parameters
        ----------
        output : class label or int, optional
            As in :meth:`transformation`.

        Returns
        -------
        networkx.DiGraph
            As in :func:`cgboost.additive.export.curve.stage_graph`: features by their names (x0,
            x1, … if they have none) and stages by their numbers.
        """
        stages = self._stages_of(output)
        coef = self._output_of(output).coef.tolist()
        return _stage_graph(stages, coef, names_of(self._schema))

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        outputs = outputs_of(runs)
        for output in outputs:  # stages that were found and not kept
            del stages_of(output)[len(output.coef) :]
        stages = list(map(stages_of, outputs))
        self.stages_ = stages[0] if len(outputs) == 1 else stages

    def _stages_of(self, output: Any) -> list[Stage]:
        return stages_of(self._output_of(output))

    def _statement(self, table: str | Sequence[str], link: str, number: int, **columns: Any) -> str:
        chosen = outputs_of(self._runs)
        if link != "softmax":
            chosen, number = chosen[number : number + 1], 0
        models = []
        for output in chosen:
            coef, intercept = output.path[-1]
            models.append((Stages(stages_of(output)), coef.tolist(), float(intercept)))
        return models_statement(models, self._schema, table, link=link, number=number, **columns)


@dataclass(eq=False, repr=False)
class TransformRegressor(BaseTransformRegression, Regression):
    """Transform regression ([P] Table 8): additive models of piecewise linear transformations.

    Stage i is an additive model of the residuals of the earlier stages,

        ŷ_i = c + Σ_j λ_j h_ij(x_j | ŷ_1, …, ŷ_{i−1}) + Σ_k λ_k h_ik(ŷ_k | ŷ_1, …, ŷ_{i−1})

    where each h is a linear regression tree that splits only on its own input: intervals, or
    categories, are merged bottom-up, and each leaf has a stepwise linear regression on the input
    and the outputs of earlier stages. Held-out rows decide how far to merge, which regressors and
    which h to keep, and how many stages. Everything is computed from sufficient statistics in two
    passes per stage, and the data may therefore be read in blocks, for example from a file.

    Parameters
    ----------
    n_estimators : int, default=10
        Maximum number of rounds. Each has one stage, or several if ``interaction_cst`` needs them.
    loss : {"squared_error", "absolute_error", "quantile", "expectile", "huber", \
"epsilon_insensitive", "squared_epsilon_insensitive", "poisson"} or Loss, default="squared_error"
        A name, or a :class:`~cgboost.losses.Loss` with parameters, such as ``Quantile(0.9)``.
        Stages are fitted to its pseudo-residuals, and added with the step and the change of the
        constant that together lower it most. With "poisson", the output is the log of the mean.
    learning_rate : float, default=1.0
        Factor of every step. Must be below 2; from 2 on, steps no longer lower the loss. Smaller
        values need more rounds. Must be 1 for variants that refit all coefficients.
    variant : {"transform", "gradient", "initial", "orthogonal", "feed_forward", \
"orthogonal_feed_forward"}, default="transform"
        The methods of the paper: transform regression (Table 8), gradient boosting of additive
        models (Table 1), the initial algorithm (Table 4: each additive model is followed by a
        transformation of its output), and the initial algorithm with all stages refitted (Table 5),
        with earlier outputs as inputs (Table 6), and with both (Table 7).
    max_bins : int, default=64
        Number of intervals of a numeric input before merging.
    tol : float, default=1e-4
        The run ends with a stage that lowers the training loss by less than this, relative to the
        loss of the constant.
    early_stopping : bool, default=True
        Whether rows are held out. If not, a penalty for every coefficient (the Bayesian criterion)
        decides, and all stages are kept.
    validation_fraction : float, default=0.3
        Share of the rows to hold out. Rows are held out independently, including equal rows; the
        choice depends on their contents, not on their order or division into blocks.
    n_iter_no_change : int, default=3
        Stages without a smaller holdout loss after which the run ends; the best one is returned.
    n_holdouts : int, default=1
        Number of models with different holdout rows; the fitted model is their average and has the
        stages of all of them. ``history_`` has the holdout of each entry, ``holdout_models_`` are
        the models, and ``feature_importances_`` is their mean, with ``feature_importances_std_``.
    interaction_cst : {"pairwise", "no_interactions"}, sequence of sets of int or str, or None
        Features that may interact: f is a sum of functions, each of the features of one set.
        Features in no set form another set. A round then has several stages, each with a part of
        its additive model.
    monotonic_cst : array-like of shape (n_features,), dict of str or int to int, or None
        1: f never decreases in the feature; −1: it never increases; 0: no constraint. Only for
        numeric features; missing values are not compared. Such a feature has no interactions in f.
    categorical_features : "from_dtype" or sequence of str or int, default="from_dtype"
        Categorical features. By default the columns of a data frame that are non-numeric or have a
        categorical type; a column of Python objects that are all numbers is numeric. A list
        replaces this rule and must name all categorical features.
    n_jobs : int, default=1
        Threads that work on blocks of rows; −1 for all cores.
    executor : Executor, concurrent.futures.Executor or None, default=None
        Where the rows are kept, in partitions that return sums: ``DaskExecutor(client)`` or an
        executor of ``concurrent.futures``. None: in this process, on ``n_jobs`` threads.
    scoring, callbacks, verbose, time_limit
        As in :class:`CGBoostRegressor`.
    random_state : int, RandomState or None
        Determines which rows are held out; None means 0.

    Attributes
    ----------
    stages_ : list of cgboost.additive.stage.Stage
    n_iter_ : int
        Number of rounds in the model; ``n_columns_`` counts stages.
    columns_ : dict of str to ndarray
        stage, coefficient, round.
    history_ : dict of str to ndarray
        Includes holdout_loss.
    feature_importances_, importances_ : ndarray of shape (n_features,)
    column_weights_, intercept_, n_columns_, objective_, best_round_, stop_reason_, \
n_features_in_, feature_names_in_
        As in :class:`StagewiseRegressor`. ``stop_reason_`` is "no_column" if the search found no
        further stage accepted by the held-out rows (or the penalty), as in most fits; "gap" after a
        stage that gained less than ``tol``; "early_stopping" if stages no longer lowered the
        holdout loss; "unbounded" where a loss without a least value is next to 0: with counts that
        are 0 wherever the model says so, or classes that the model separates.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import TransformRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(4000, 2))
    >>> y = X[:, 0] + X[:, 1] + 3 * X[:, 0] * X[:, 1]
    >>> TransformRegressor().fit(X, y).score(X, y) > 0.95
    True
    """

    loss: RegressionLoss | Loss = field(default="squared_error", kw_only=True)

    @property
    def _fitted_loss(self) -> Loss:
        return get_loss(self.loss)

    @property
    def _known_loss(self) -> Loss | None:
        return None if isinstance(self._fitted_loss, SquaredError) else self._fitted_loss

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_known_loss(self.loss, REGRESSION)
        if not isinstance(self.loss, (str, Loss)):
            raise ValueError(f"loss must be one of {REGRESSION} or a Loss, got {self.loss!r}")
        smooth = "hessian_diag" in self._fitted_loss.abilities
        if VARIANTS[self.variant].orthogonal and not smooth:
            raise ValueError(
                f"variant={self.variant!r} refits all coefficients by Newton's method, but "
                f"{self._fitted_loss!r} has no second derivative: use another variant or loss"
            )


@dataclass(eq=False, repr=False)
class TransformClassifier(BaseTransformRegression, ProbabilisticClassification):
    """Transform regression for classification by the log loss ([P] sections 2 and 6).

    Stages are fitted to the pseudo-residuals of Σ w_i log(1 + exp(−2 y_i f_i)), and added with the
    step and the change of the constant that together lower it most, with the restriction that no f,
    half the log-odds, changes by more than 2. With ``variant="orthogonal"`` and
    ``"orthogonal_feed_forward"``, all steps and the constant are refitted after every stage,
    without that restriction. With more than two classes, the loss is the multinomial deviance, and
    each class has an output,

        L = Σ_i w_i (log Σ_l e^{f_il} − f_{i,y_i}),        p_k = e^{f_k} / Σ_l e^{f_l}

    Each round fits a stage for every class to [y = k] − p_k, all from the same f; the steps and
    constants of all classes are then chosen to minimise L jointly, with the same restriction. No
    rows of a class are held out if none with positive weight would be left for training. The order
    of the labels affects which rows are held out, since the index of the class is part of a row.

    Parameters
    ----------
    multi_class : {"joint", "ovr"}, default="joint"
        The objective with more than two classes: the multinomial deviance, or for each class the
        log loss of a model against the rest. Two classes are always one model.
    class_weight : dict, "balanced" or None, default=None
        As in :class:`CGBoostClassifier`; also of rows that are held out. Not with an SQLSource or
        Partitions, which have the weights of their rows.
    n_estimators, learning_rate, variant, max_bins, tol, early_stopping, validation_fraction, \
n_iter_no_change, n_holdouts, interaction_cst, monotonic_cst, categorical_features, n_jobs, \
executor, scoring, callbacks, verbose, time_limit, random_state
        As in :class:`TransformRegressor`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    stages_ : list of cgboost.additive.stage.Stage
        With more than two classes, one list per class.
    n_iter_, columns_, history_, feature_importances_, importances_, column_weights_, intercept_, \
n_columns_, objective_, best_round_, stop_reason_, n_features_in_, feature_names_in_
        As in :class:`TransformRegressor`.
    class_weight_ : ndarray of shape (n_classes,)
        Factor for the weights of the rows of each class.
    """

    multi_class: Literal["joint", "ovr"] = field(default="joint", kw_only=True)

    _scores: ClassVar[dict[str, Score]] = {"log_loss": mean_log_loss, "error": error_rate}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("multi_class", self.multi_class, ("joint", "ovr"))

    @property
    def _fitted_loss(self) -> Loss:
        return Multinomial(len(self.classes_)) if self._is_joint else LogLoss()
