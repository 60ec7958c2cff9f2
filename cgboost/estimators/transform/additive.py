"""Generalised additive models: sums of functions of single features.

[P] is Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cgboost.additive.holdout import HoldoutLoss, mean_loss
from cgboost.additive.trees.smoothers import (
    AdditiveFunction,
    RegressorSmoother,
    SmoothedStages,
    Smoother,
    TreeSmoother,
)
from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.parameters import check_choice, check_count
from cgboost.estimators.common.plan import Plan, RunTask, StopRule
from cgboost.estimators.common.predictors import Regression
from cgboost.estimators.common.training_rows import HeldSets, TrainingRows
from cgboost.estimators.transform.base_transform import BaseTransform
from cgboost.exceptions import see, warn_caller
from cgboost.generation.callbacks import EarlyStopping
from cgboost.generation.history import StopReason
from cgboost.losses.loss import Loss
from cgboost.losses.squared_error import SquaredError
from cgboost.masters.stagewise.aggregate import AggregateMaster
from cgboost.masters.stagewise.stagewise import StagewiseMaster
from cgboost.pricing.additive import BackfittingPricer, FunctionChange, MostTurns, StagePricer
from cgboost.tables.row_blocks import RowBlock
from cgboost.tables.table_encoding import Schema

METHODS = ("one-pass", "backfitting")


@dataclass(eq=False, repr=False)
class AdditiveRegressor(BaseTransform, Regression):
    """Generalised additive model f(x) = y₀ + Σ_j h_j(x_j) by squared error.

    The functions are linear regression trees that split only on their own feature (piecewise linear
    for numbers, piecewise constant for categories, with missing values separate), or the output of
    another smoother.

    * ``"one-pass"`` ([P] Table 3) smooths y − ȳ over every feature; a stepwise regression, chosen
      on the holdout rows, combines the functions.
    * ``"backfitting"`` ([P] Table 2) smooths, for each feature in turn, the residuals of all other
      functions, until the functions no longer change. With smoothers that are projections, such as
      splines without a penalty, it converges to the joint least-squares fit.

    Parameters
    ----------
    method : {"one-pass", "backfitting"}, default="one-pass"
    smoother : regressor or None
        None means linear regression trees, computed from statistics of blocks of rows. Otherwise a
        scikit-learn regressor, which is cloned and fitted to one column at a time,
        ``clone(smoother).fit(x[:, None], response)``, with ``sample_weight`` if rows have different
        weights. It needs complete numeric data: no categories, no missing values.
    monotonic_cst : array-like of int, dict or None
        As in :class:`TransformRegressor`: the functions of these features never fall (1) or never
        rise (−1). For the trees of ``"one-pass"``.
    max_iter : int, default=20
        Maximum number of rounds of backfitting, each over all features.
    tol : float, default=1e-4
        Backfitting ends when no function changes by more than this in a whole round: root mean
        square over the training rows, relative to the root mean square of y − ȳ.
    n_iter_no_change : int, default=3
        Rounds of backfitting without a smaller holdout loss after which the run ends.
    max_bins, early_stopping, validation_fraction, categorical_features, n_jobs, scoring, \
callbacks, verbose, time_limit, random_state
        As in :class:`TransformRegressor`.

    Attributes
    ----------
    intercept_ : float
    functions_ : dict of str or int to AdditiveFunction
        h_j for each feature used, by its name or index; each has mean 0 over all rows of the fit.
        The prediction is ``intercept_`` + Σ h_j.
    feature_importances_ : ndarray of shape (n_features,)
        Shares of the features in the variances of the functions.
    n_iter_ : int
        Number of rounds of backfitting; 1 for one pass, 0 if no function was found.
    columns_ : dict of str to ndarray
        coefficient and round; stage (one pass), or feature and turn (backfitting: which function a
        column changed, and in which round of all features).
    history_, column_weights_, n_columns_, objective_, best_round_, stop_reason_, n_features_in_, \
feature_names_in_
        As in :class:`TransformRegressor`. "no_column" means that functions no longer changed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import SplineTransformer
    >>> from cgboost import AdditiveRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    >>> y = np.abs(X[:, 0]) + np.sin(3 * X[:, 1])
    >>> AdditiveRegressor(random_state=0).fit(X, y).score(X, y) > 0.95
    True
    >>> splines = make_pipeline(SplineTransformer(n_knots=9), Ridge(1e-3))
    >>> AdditiveRegressor("backfitting", smoother=splines).fit(X, y).score(X, y) > 0.95
    True
    """

    method: Literal["one-pass", "backfitting"] = "one-pass"
    smoother: Any = field(default=None, kw_only=True)
    max_iter: int = field(default=20, kw_only=True)
    n_estimators: int = field(default=1, init=False)
    learning_rate: float = field(default=1.0, init=False)
    n_holdouts: int = field(default=1, init=False)
    interaction_cst: Any = field(default=None, init=False)
    monotonic_cst: Any = field(default=None, kw_only=True)
    variant: Any = field(default="gradient", init=False)
    executor: Any = field(default=None, init=False)

    _fits_elsewhere: ClassVar[bool] = False

    # ------------------------------------------------------------------ checks

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("method", self.method, METHODS)
        check_count("max_iter", self.max_iter)
        able = all(hasattr(self.smoother, name) for name in ("fit", "predict", "get_params"))
        trees_alone = self.method == "one-pass" and self.smoother is None
        if self.monotonic_cst is not None and not trees_alone:
            raise ValueError(
                "monotonic_cst is for the trees of method='one-pass', got method="
                f"{self.method!r} with smoother={self.smoother!r}: take these, or "
                "TransformRegressor(monotonic_cst=…)"
            )
        if self.smoother is not None and (not able or isinstance(self.smoother, type)):
            raise ValueError(
                f"smoother must be a scikit-learn regressor or None, got {self.smoother!r}"
            )

    def _prepare(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, eval_set: Any
    ) -> tuple[TrainingRows, HeldSets | None]:
        rows, held = super()._prepare(X, y, sample_weight, eval_set)
        odd = [j for j, known in enumerate(self._schema.categories) if known is not None]
        if self.smoother is not None and odd:
            raise ValueError(
                f"features {[self._name(j) for j in odd[:5]]} are categories, which only "
                "smoother=None can handle"
            )
        return rows, held

    def __sklearn_tags__(self) -> Any:
        """Only trees have a place for missing values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.smoother is None
        return tags

    # ------------------------------------------------------------------ the run

    @property
    def _fitted_loss(self) -> Loss:
        return SquaredError()

    def _tasks(self, place: Any, rows: TrainingRows) -> Iterator[RunTask]:
        if self.method == "one-pass" and self.smoother is None:
            yield from super()._tasks(place, rows)
            return
        passes, groups, held = place.passes(), place.prepared.groups, place.prepared.held
        smoother: Smoother = (
            TreeSmoother(passes, groups)
            if self.smoother is None
            else RegressorSmoother(passes, self.smoother, self._schema.names)
        )
        outside = SquaredError().on(rows.y[held], rows.weights[held])
        callbacks: list[Any] = [HoldoutLoss(partial(mean_loss, outside, held))]
        patience = self.n_iter_no_change * max(1, len(groups))
        if held.any():
            callbacks.append(EarlyStopping("holdout_loss", patience=patience))
        if self.method == "one-pass":
            sums = place.aggregates(self._fitted_loss, rows.y)
            builder = SmoothedStages(self.max_bins, feed_forward=False)
            builder.smoother = smoother
            stages = StagePricer(builder, sums.parts)
            yield RunTask(AggregateMaster(sums), stages, callbacks=callbacks)
            return
        training = SquaredError().on(rows.y, np.where(held, 0.0, rows.weights))
        everyone = SquaredError().on(rows.y, np.broadcast_to(1.0, len(rows.y)))
        pricer = BackfittingPricer(smoother, passes, everyone, len(groups), tol=self.tol)
        callbacks.append(MostTurns(pricer, self.max_iter))
        master = StagewiseMaster(training, step=1.0, start="constant")
        yield RunTask(master, pricer, callbacks=callbacks)

    def _stop_rule(self) -> StopRule:
        return super()._stop_rule() if self.method == "one-pass" else StopRule()

    def _warn(self, plan: Plan) -> None:
        super()._warn(plan)
        (run,) = self._runs
        if self.method == "backfitting" and run.stop_reason is StopReason.MAX_ROUNDS:
            warn_caller(
                f"{type(self).__name__}: the functions still changed after max_iter="
                f"{self.max_iter} rounds of backfitting; give it more, or a larger tol"
                f"{see('stopped-early')}",
                ConvergenceWarning,
            )

    # ------------------------------------------------------------------ fitted attributes

    def _complete(self, plan: Plan, rows: TrainingRows) -> None:
        found, constant = self._found()
        used = sorted(found)

        def values(block: RowBlock) -> list[Vector]:
            return [found[j](block.X[:, j]) for j in used]

        parts = plan.pool.passes().of_values(values, len(used), rows.y)
        total = parts.training.merged(parts.holdout)
        levels, spread = total.mean[0, :-1], np.diag(total.scatter[0])[:-1]
        self._functions = {
            j: found[j].shifted(-float(level)) for j, level in zip(used, levels, strict=True)
        }
        self.functions_ = {self._name(j): function for j, function in self._functions.items()}
        self.intercept_ += constant + float(levels.sum())
        self._importances = np.zeros(self.n_features_in_)
        self._importances[used] = spread / (spread.sum() or 1.0)

    def _found(self) -> tuple[dict[int, AdditiveFunction], float]:
        """The functions of the features as they come out of the run, and a constant."""
        (run,) = self._runs
        (output,) = run.outputs
        found: dict[int, AdditiveFunction] = {}
        constant = 0.0
        for coef, hypothesis in zip(output.coef.tolist(), output.active, strict=True):
            if isinstance(hypothesis, FunctionChange):
                found[hypothesis.feature] = hypothesis.new
                continue
            stage = hypothesis.family.stages[hypothesis.number]
            constant += coef * stage.intercept
            for weight, term in stage.terms:
                found[term.feature] = AdditiveFunction(term, coef * weight)
        used = {j: function for j, function in found.items() if function.term is not None}
        return used, constant

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        if self.method == "backfitting":
            self.n_iter_ = int(self.columns_["turn"].max(initial=0))

    def _described(self, hypotheses: Sequence[Any]) -> Table:
        if self.method == "one-pass":
            return super()._described(hypotheses)
        return {
            "feature": np.array([h.feature for h in hypotheses], dtype=np.intp),
            "turn": np.array([h.turn for h in hypotheses], dtype=np.intp),
        }

    @property
    def feature_importances_(self) -> Vector:
        """Shares of the features in the variances of the functions, shape (n_features,)."""
        check_is_fitted(self)
        return self._importances

    def partial(self, feature: int | str, x: ArrayLike) -> Vector:
        """The contribution of a feature to the prediction: h_j(x), shape (n_values,).

        Parameters
        ----------
        feature : int or str
            Its index or name.
        x : array-like of shape (n_values,)
            Values of this feature: numbers or categories, also missing values if they are allowed
            in the fit.

        Raises
        ------
        ValueError
            If there is no such feature.
        """
        check_is_fitted(self)
        names = list(self._schema.names or ())
        number = names.index(feature) if feature in names else feature
        if not isinstance(number, (int, np.integer)) or not 0 <= number < self.n_features_in_:
            known = names if names else f"0, …, {self.n_features_in_ - 1}"
            raise ValueError(f"feature must be one of {known}, got {feature!r}")
        own = Schema(None, (self._schema.categories[number],))
        words = None if hasattr(x, "dtype") else object
        values = np.asarray(x, dtype=np.float64 if own.categories[0] is None else words)
        if values.ndim != 1:
            raise ValueError(f"x must have one dimension, got shape {values.shape}")
        function = self._functions.get(int(number), AdditiveFunction())
        return function(own.encode(values[:, None])[:, 0])

    def _name(self, feature: int) -> str | int:
        return feature if self._schema.names is None else self._schema.names[feature]
