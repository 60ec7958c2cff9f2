"""The estimator that thins a fitted ensemble to a few members with new weights."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import column_or_1d

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.fitted_runs import unchanged_on_failure
from cgboost.estimators.common.input_checks import check_y, read_weights, validate_data
from cgboost.estimators.common.parameters import (
    check_bool,
    check_choice,
    check_number,
    check_solver,
)
from cgboost.estimators.common.parameters import (
    check_random_state as check_seed,
)
from cgboost.estimators.thinning import ensemble_inputs as reading
from cgboost.estimators.thinning import export
from cgboost.estimators.thinning.boosted import BoostedMembers
from cgboost.estimators.thinning.faithful import faithful_weights
from cgboost.estimators.thinning.faithfulness import agreement_of, kept_trees
from cgboost.estimators.thinning.fitting import (
    CLASSIFICATION,
    Aim,
    MemberColumns,
    aim_of,
    columns_of,
    error_share,
    honest_error_share,
    is_averaging,
    loss_of,
    members_of,
    problem_of,
)
from cgboost.estimators.thinning.leaf_boxes import Domain, LeafBoxes
from cgboost.estimators.thinning.leaves import LeafMembers
from cgboost.estimators.thinning.members import EstimatorMembers, Members
from cgboost.estimators.thinning.predictions import ThinnedModel
from cgboost.estimators.thinning.problem import (
    ProgramOptimum,
    ThinningProblem,
    equal,
    members_of_size,
    path,
    refit,
    solve,
)
from cgboost.estimators.thinning.refitted_leaves import is_refittable, refitted
from cgboost.estimators.thinning.thinning_path import ThinningPath
from cgboost.exceptions import TrivialModelWarning, see, warn_caller
from cgboost.optimizers.solver_options import checked_options
from cgboost.tables.frames import is_frame, some_rows

KEPT_SHARE = 0.15
"""Of the members, that are kept if nothing else is asked for."""

ROWS_TO_CHECK = 50
"""Rows on which a boosting model is asked whether it is the sum of its trees."""

FAIR = ("out_of_bag", "held_out")
"""Rows on which a score says something of new rows."""

LEARNT = 0.3
"""Leaves get new values by themselves where the ensemble has at most this share of the errors of
the most frequent class alone. Where it has more, labels are noisy, and so many values would learn
the noise: on Adult (0.6) new values cost up to 0.9 points."""


@dataclass(frozen=True, eq=False)
class _Prepared:
    """What a fit and a path have in common."""

    ensemble: Any
    members: Members
    columns: MemberColumns
    problem: ThinningProblem
    aim: Aim
    X: Any
    y: NDArray[Any]
    weights: Vector


class ThinnedEnsemble(ThinnedModel):
    """A few members of an ensemble with new weights, chosen by a linear program, certified.

    Minimises, over the weights w ≥ 0 of the members h_j,

        Σ_j w_j + C Σ_i s_i ℓ(t_i, Σ_j w_j h_j(x_i))

    with the C at which the requested number of members has a nonzero weight. For the hinge loss
    this is the linear program of LPBoost. Each member has one weight for all classes. Where
    possible, the program uses the predictions of members on rows that they have not seen.

    Parameters
    ----------
    estimator : ensemble, or list of fitted models or functions
        A forest, bagging, AdaBoost, (Hist)GradientBoosting or Voting model of scikit-learn, or a
        LightGBM, XGBoost or CatBoost model. A fitted model is used unchanged; otherwise a clone is
        fitted.
    size : int, float or None, default=None
        Number of members to keep, or their share if in (0, 1). None means 15 %, or with a C all
        that have a weight at its optimum.
    C : float or None, default=None
        The cost of one unit of loss, at which the optimum determines the members. With a size as
        well, members come in one after the other, the best of the program first, until there are so
        many: the weights are then optimal for these, and the bound holds for all members.
    metric : {"accuracy", "log_loss", "rmse", "mae", "quantile"} or None, default=None
        The metric to preserve. It determines ℓ: hinge, log loss, squared, absolute or quantile
        loss. None means "accuracy" for classification and "rmse" for regression.
    quantile : float, default=0.5
        For metric="quantile".
    target : {"auto", "y", "ensemble"}, default="auto"
        Whether the members should predict y or the output of the whole ensemble. "auto" means the
        latter for boosting, whose output is a sum of trees that have learnt from each other's
        errors, unless a metric is given.
    weights : {"auto", "program", "refit", "equal"}, default="auto"
        The weights of the chosen members: the weights of the program, refitted weights without the
        shrinkage of the 1-norm, or equal weights. "auto" means "equal" for forests and bagging,
        otherwise "refit".
    leaf_values : {"auto", "keep", "refit"}, default="auto"
        Whether the kept trees keep the values in their leaves or get new ones, fitted all together
        on the given rows (with a ridge penalty and the squared hinge; the leaves of a tree then
        serve all classes). "auto" refits trees of classifiers that make at most 0.3 of the errors
        of always predicting the most frequent class, out of bag or across folds (for boosting,
        clones are fitted to measure this, and leaves are only refitted with more than two classes).
        "auto" never refits if you set a metric, target or weights, or with held-out rows.
    members : {"estimators", "leaves"}, default="estimators"
        Whether whole members are chosen, or the leaves of their trees, each with its own weight.
    fit_intercept : bool, default=True
        Whether numbers and scores (regression, boosting, functions) are moved by a constant.
        Probabilities never are.
    faithful : {"everywhere", "box", "rows"} or None, default=None
        Where every decision must stay as it is, or every number within the tolerance, if members
        are trees of scikit-learn: for all values of the features, for those between the smallest
        and largest of the given rows, or on these rows alone. Features that are 0 or 1 in all rows
        stay so, and no value is missing. As many trees are kept as that needs, and size, C, metric,
        target, weights, leaf_values and members have no other value than the default. For classes
        (forest, bagging, AdaBoost), the program has the decisions of the whole ensemble as labels
        and a hard margin. For numbers (forest, bagging, GradientBoosting), it is
        min Σ_j w_j with |Σ_j w_j h_j(x) + b − F(x)| ≤ 0.99 tolerance, F the whole ensemble.
    tolerance : float or None, default=None
        How far numbers may differ with ``faithful``, in the unit of y; required for them, and of no
        meaning for classes. ``fit_intercept=False`` leaves the constant of the ensemble as it is.
    time_limit : float or None, default=None
        Seconds for the proof of ``faithful``.
    training_rows : bool, default=True
        For a fitted ensemble: whether the rows passed to ``fit`` are its training rows, all of them
        in their order, or new ones. Trees of scikit-learn know how many rows came to each leaf: a
        wrong True is an error. A wrong False is a warning, as far as it is found. Without a meaning
        for ``faithful``, and of none for boosting but for ``rows_`` and new values in leaves.
    validation_fraction : float, default=0.2
        Share of the rows held out for the choice of members, if an ensemble is fitted here whose
        members have neither left-out rows nor trees (Voting).
    tol : float, default=1e-6
        Certified gap at which the program counts as solved.
    solver, solver_options : str, default="auto"; dict or None, default=None
        As in :class:`CGBoostClassifier`.
    random_state : int, RandomState or None, default=None
        Determines the sample of rows if there are too many for the program, and the held-out rows.

    Attributes
    ----------
    members_ : list
        The kept members: estimators, or the indices of the trees of a boosting model.
    indices_ : ndarray of shape (n_members_,)
        Their indices in the ensemble.
    weights_ : ndarray of shape (n_members_,)
        All 1 if leaves have new values, which then include the weights.
    leaf_values_ : {"keep", "refit"}
    leaf_gap_ : float
        Relative duality gap of the problem for the new values, the largest of all classes; nan if
        there are none.
    intercept_ : float, or ndarray of shape (n_outputs,)
    n_members_, n_members_in_ : int
        Number of members after and before thinning.
    C_ : float
        The C of the program.
    objective_, dual_bound_, gap_ : float
        Optimum of the program, the lower bound over all members, and the relative gap.
    converged_ : bool
    faithful_ : {"proven", "not proven"} or None
        Whether no decision is changed, or no number by more than the tolerance, where ``faithful``
        asks for that. A class that leads by less
        than 2e-7 of all weights counts as tied, and the first one is decided for. "proven" rests on
        integer programs that HiGHS finds infeasible: they ask for a cell where the class decided
        for leads by less than half of what the linear program asked for, and this half is left
        for HiGHS's tolerances; or where numbers differ by 0.995 tolerance or more. On the rows and
        on small grids, every decision or number is compared.
    n_oracle_calls_ : int
        Integer programs that were solved for it.
    rows_ : {"out_of_bag", "leave_one_out", "held_out", "training", "given"}
        The kind of rows on which members were evaluated; "given" with ``faithful``.
    target_ : {"y", "ensemble"}
    own_score_ : float
        Accuracy or R² of the thinned ensemble on those rows, with the original leaf values. It is
        nan if it would say nothing about new rows: on training rows, with leave_one_out, and if the
        target is the ensemble.
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from cgboost import ThinnedEnsemble
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = RandomForestClassifier(200, random_state=0).fit(X[:400], y[:400])
    >>> thin = ThinnedEnsemble(forest, size=20).fit(X[:400], y[:400])
    >>> thin.n_members_, thin.rows_, thin.converged_
    (20, 'out_of_bag', True)
    >>> thin.to_sklearn()
    RandomForestClassifier(n_estimators=20, random_state=0)
    """

    # for files of versions that did not have them
    leaf_values = "auto"
    fit_intercept = True
    faithful: str | None = None
    tolerance: float | None = None
    time_limit: float | None = None
    solver_options: Mapping[str, Any] | None = None
    leaf_values_, leaf_gap_ = "keep", np.nan
    faithful_: str | None = None
    n_oracle_calls_ = 0

    def __init__(
        self,
        estimator: Any = None,
        *,
        size: float | None = None,
        C: float | None = None,
        metric: str | None = None,
        quantile: float = 0.5,
        target: str = "auto",
        weights: str = "auto",
        leaf_values: str = "auto",
        members: str = "estimators",
        fit_intercept: bool = True,
        faithful: str | None = None,
        tolerance: float | None = None,
        time_limit: float | None = None,
        training_rows: bool = True,
        validation_fraction: float = 0.2,
        tol: float = 1e-6,
        solver: str = "auto",
        solver_options: Mapping[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.size = size
        self.C = C
        self.metric = metric
        self.quantile = quantile
        self.target = target
        self.weights = weights
        self.leaf_values = leaf_values
        self.members = members
        self.fit_intercept = fit_intercept
        self.faithful = faithful
        self.tolerance = tolerance
        self.time_limit = time_limit
        self.training_rows = training_rows
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.solver = solver
        self.solver_options = solver_options
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the members and their weights.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features)
            Of a fitted ensemble its training rows, or new ones: ``training_rows`` says which. Best
            are those of the fit for forests and bagging, whose members are evaluated on the rows
            left out of their samples, and new ones for AdaBoost, Voting and lists.
        y : array-like of shape (n_rows,)
        sample_weight : array-like of shape (n_rows,) or None

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data; the message names the argument and its value. Also if no
            member is worth its cost at this C, or with ``training_rows`` and rows of which trees
            know better.

        Warns
        -----
        DataWarning
            If the members have memorised the rows, or if rows that are said to be new seem to be
            training rows: nothing can then be learnt from them.
        """
        with unchanged_on_failure(self):
            if self.faithful is not None:
                self._fit_faithful(X, y, sample_weight)
                return self
            ready = self._prepare(X, y, sample_weight)
            count = len(ready.members)
            if self.C is None:
                size = self._size(count)
                self._take(ready, path(ready.problem, size, **self._solving), size)
            else:
                most = None if self.size is None else self._size(count)
                own = {"max_columns": most, **self._solving}
                self._take(ready, [solve(ready.problem, float(self.C), **own)[0]], None)
        return self

    def path(
        self, X: Any, y: Any, sizes: Sequence[float] | None = None, *, eval_set: Any = None
    ) -> ThinningPath:
        """Thinned ensembles of several sizes, from one path of the program over C.

        Parameters
        ----------
        X, y
            As in :meth:`fit`.
        sizes : sequence of int or float, or None
            As ``size``; None means 1, 2, 5, 10, 15, 20, 30 and 50 %.
        eval_set : (X, y) or None
            Rows for the scores; without it, scores are ``own_score_``.

        Returns
        -------
        ThinningPath
        """
        if self.faithful is not None:
            raise ValueError(
                f"path has models of several sizes, but faithful={self.faithful!r} determines the "
                "size: call fit, or set faithful=None"
            )
        with unchanged_on_failure(self):
            ready = self._prepare(X, y, None)
            count = len(ready.members)
            if sizes is not None and np.ndim(sizes) != 1:
                raise ValueError(f"sizes must be a sequence of sizes, got {sizes!r}")
            asked = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5) if sizes is None else sizes
            if not len(asked):
                raise ValueError("sizes must have at least one size, got none")
            wanted = np.unique([self._size(count, size) for size in asked])
            choices = path(ready.problem, int(wanted[-1]), **self._solving)
            models, scores = [], np.full(len(wanted), np.nan)
            for place, size in enumerate(wanted.tolist()):
                model = copy.copy(self)
                model._take(ready, choices, size)
                models.append(model)
                scores[place] = model.own_score_ if eval_set is None else model.score(*eval_set)
        name = "accuracy" if self._is_classifier else "R²"
        where = "eval_set" if eval_set is not None else models[0].rows_
        called = f"{name} ({where.replace('_', ' ')})"
        scored = eval_set is not None and hasattr(ready.ensemble, "score")
        whole = float(ready.ensemble.score(*eval_set)) if scored else float("nan")
        return ThinningPath(wanted, models, scores, called, count, whole)

    # ------------------------------------------------------------------ the fit

    def _prepare(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> _Prepared:
        self._check_parameters()
        rng = check_random_state(self.random_state)
        X, y, ensemble, members, chosen, training = self._read(X, y, sample_weight, rng)
        given = read_weights(sample_weight, np.empty((len(y), 1)))
        members = self._as_classes(members, y)
        members = LeafMembers(members) if self.members == "leaves" else members
        if members.classes is not None:
            self.classes_ = members.classes
        places = reading.places(y, members)
        aim = aim_of(self.target, self.metric, members)
        part = chosen if len(chosen) < len(y) else None
        X = X if part is None else some_rows(X, part)
        places, given = places[chosen], given[chosen]
        fitted = reading.is_fitted(self.estimator)
        columns = columns_of(
            ensemble,
            members,
            X,
            places,
            weights=given,
            training=training,
            is_given=fitted,
            aim=aim,
            rng=rng,
        )
        used = columns.rows
        X = some_rows(X, used) if len(used) < len(places) else X
        places, given = places[used], given[used]
        if not given.any():
            raise ValueError("sample_weight is 0 for all rows that can be used")
        loss = loss_of(self.metric, self.quantile, members, aim)
        problem = problem_of(
            members,
            columns,
            X,
            places,
            given,
            loss=loss,
            aim=aim,
            fit_intercept=self.fit_intercept,
        )
        return _Prepared(ensemble, members, columns, problem, aim, X, places, given)

    def _read(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, rng: np.random.RandomState
    ) -> tuple[Any, NDArray[Any], Any, Members, Indices, bool]:
        """Rows, ensemble and members, the rows to choose by, and whether they were trained on."""
        fitted = reading.is_fitted(self.estimator)
        X, y = self._training_rows(X, y)
        given = read_weights(sample_weight, np.empty((len(y), 1)))
        training = self.training_rows
        ensemble, chosen = reading.unwrapped(self.estimator), np.arange(len(y))
        if not fitted:
            weighted = None if sample_weight is None else given
            ensemble, chosen, training = reading.fitted_ensemble(
                self.estimator, X, y, weighted, self.validation_fraction, rng
            )
        members = members_of(ensemble)
        if isinstance(members, BoostedMembers):
            members.check(some_rows(X, np.arange(min(len(y), ROWS_TO_CHECK))))
        names = getattr(self, "feature_names_in_", None)
        reading.check_features(ensemble, self.n_features_in_, names)
        return X, y, ensemble, members, chosen, training

    def _fit_faithful(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        """The fit that changes no decision, or no number by more than the tolerance."""
        self._check_parameters()
        rng = check_random_state(self.random_state)
        X, y, ensemble, found, _, _ = self._read(X, y, sample_weight, rng)
        rows = np.asarray(X, dtype=np.float64)
        members, trees, values = kept_trees(ensemble, found)
        if np.isnan(rows).any():
            raise ValueError(
                "faithful needs rows without missing values: X has "
                f"{int(np.isnan(rows).sum())}; fill them before the ensemble"
            )
        reading.places(y, found)
        domain = Domain(rows, "everywhere" if self.faithful == "everywhere" else "box")
        boxes = LeafBoxes(trees, values, domain)
        agreement = agreement_of(
            members, values, tolerance=self.tolerance, moves=self.fit_intercept
        )
        cells = boxes.cells(rows)
        own = faithful_weights(
            boxes,
            agreement,
            np.unique(cells, axis=0),
            on_rows=self.faithful == "rows",
            time_limit=self.time_limit,
            solver=self.solver,
            solver_options=self.solver_options,
            rng=rng,
        )
        if found.classes is not None:
            self.classes_, scale, intercept = found.classes, own.weights.sum(), 0.0
        else:
            assert self.tolerance is not None
            trees_say = boxes.outputs(cells)[:, :, 0] @ members.weights
            rest = members.total(X, members.outputs(X))[:, 0] - trees_say
            scale, intercept = 1.0, float(rest.mean()) + own.constant * self.tolerance
        kept: Indices = np.flatnonzero(own.weights)
        if not len(kept):
            raise ValueError(
                f"tolerance={self.tolerance:g} is so large that a constant, {intercept:.6g}, is as "
                f"near to the ensemble (faithful={self.faithful!r}): take a smaller one"
            )
        self._keep_members(members, kept, own.weights[kept] / scale, intercept)
        self.C_, self.objective_, self.dual_bound_ = np.inf, own.objective, own.bound
        finite = np.isfinite(own.objective)
        self.gap_ = abs(own.objective - own.bound) / own.objective if finite else np.inf
        self.faithful_, self.n_oracle_calls_ = own.status, own.n_oracle_calls
        self.converged_ = own.status == "proven" and not own.failure
        self.rows_, self.target_, self.own_score_ = "given", "ensemble", np.nan
        self.leaf_values_, self.leaf_gap_ = "keep", np.nan
        if own.failure:
            warn_caller(
                f"faithful={self.faithful!r}: all trees are kept, since the linear program that "
                f"chooses fewer has failed ({own.failure}): try another solver, or faithful=None"
                f"{see('stopped-early')}",
                ConvergenceWarning,
            )
        elif not self.converged_:
            more = "; with a larger time_limit it may be proven" if self.time_limit else ""
            warn_caller(
                f"faithful={self.faithful!r} is not proven: {own.message}. In no cell that was "
                f"found do they differ{more}{see('stopped-early')}",
                ConvergenceWarning,
            )

    def _training_rows(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """X and y of ``fit``, checked; a data frame stays one."""
        if y is None:
            raise ValueError(
                "requires y to be passed, but the target y is None: give the targets of the rows"
            )
        if not is_frame(X):
            X, y = validate_data(self, X, y, ensure_min_samples=2, **self._allowed)
            return X, reading.checked_response(y)
        validate_data(self, X, skip_check_array=True)
        check_y(self, y)
        y = column_or_1d(y, warn=True)
        if len(y) < 2:
            raise ValueError(f"at least 2 rows are needed, got n_samples = {len(y)}")
        if len(y) != len(X):
            raise ValueError(f"X and y must have one entry a row, got {len(X)} and {len(y)}")
        return X, reading.checked_response(y)

    def _as_classes(self, members: Members, y: NDArray[Any]) -> Members:
        """Functions are scores of two classes where a metric of classes is named."""
        functions = isinstance(members, EstimatorMembers) and members.kind == "value"
        if not (functions and self.metric in CLASSIFICATION):
            return members
        assert isinstance(members, EstimatorMembers)
        if any(is_regressor(one.estimator) for one in members.members if one.is_model):
            raise ValueError(f"metric={self.metric!r} needs a classifier, got {self.estimator!r}")
        known = np.unique(y)
        if len(known) != 2:
            raise ValueError(
                f"metric={self.metric!r} of functions needs two classes, y has {len(known)}"
            )
        return EstimatorMembers(members.members, members.weights, known)

    def _take(self, ready: _Prepared, choices: list[ProgramOptimum], size: int | None) -> None:
        """The members of one size, or of the program's optimum, and their weights."""
        problem, members = ready.problem, ready.members
        useless = not any(own.size for own in choices)
        if useless and size is None:
            raise ValueError(
                f"no member is worth its price at C={self.C:g}: all weights are 0; take C above "
                f"{problem.least_cost:g}"
            )
        if useless:
            warn_caller(
                "no member predicts better than a constant: those with the least loss are kept, "
                f"with equal weights{see('trivial-models')}",
                TrivialModelWarning,
            )
        if size is None:
            chosen, program = np.flatnonzero(choices[-1].weights), choices[-1]
        else:
            small = [own for own in choices if 0 < own.size <= size]
            program = next((own for own in choices if own.size), choices[-1])
            program = small[-1] if small else program
            chosen = members_of_size(problem, choices, size)
        kind = self.weights
        if kind == "auto":
            kind = "equal" if is_averaging(ready.ensemble, members) else "refit"
        if kind == "program" and size is not None and not small:
            kind = "refit"
        kind = "equal" if useless else kind
        final = program
        if kind != "program":
            if kind == "equal":
                scaled = ready.columns.seen != "leave_one_out"
                final = equal(problem, chosen, scaled=scaled, tol=self.tol)
            else:
                final = refit(problem, chosen, tol=self.tol)
        self._keep(ready, program, final)

    def _keep(self, ready: _Prepared, program: ProgramOptimum, final: ProgramOptimum) -> None:
        members, columns = ready.members, ready.columns
        indices: Indices = np.flatnonzero(final.weights)
        weights = final.weights[indices]
        intercept: float | Vector = final.intercept
        if members.kind == "probability" and ready.aim == "y":
            weights = weights / weights.sum()
        if ready.problem.means is not None:
            means, centre = ready.problem.means
            intercept = centre - weights @ means[indices]
        self._keep_members(members, indices, weights, intercept)
        self.faithful_, self.n_oracle_calls_ = None, 0
        result = program.result
        assert result is not None
        self.C_, self.objective_, self.gap_ = program.C, result.objective, result.gap
        self.dual_bound_ = -np.inf if result.bound is None else result.bound
        self.converged_ = bool(result.gap <= self.tol)
        if result.error is not None:
            message = f"ThinnedEnsemble: {result.message}{see('stopped-early')}"
            warn_caller(message, ConvergenceWarning)
        elif self.C is not None and self.size is None and not self.converged_:
            warn_caller(
                f"the program over the members has a gap of {result.gap:.1e} at C={program.C:.3g}, "
                f"above tol={self.tol:g}: {result.stop_reason}; take a smaller C or a larger "
                f"tol{see('stopped-early')}",
                ConvergenceWarning,
            )
        self.rows_, self.target_ = columns.seen, ready.aim
        fair = columns.seen in FAIR and (ready.aim == "y" or columns.seen == "held_out")
        fair = fair and not columns.doubtful
        self.own_score_ = self._own_score(ready) if fair else np.nan
        self.leaf_values_, self.leaf_gap_ = "keep", np.nan
        if self._has_new_leaves(ready):
            own = refitted(members, indices, ready.X, ready.y, ready.weights)
            self._members = self._folded = own.of_part()
            self._places = np.arange(len(indices))
            self.weights_, self.intercept_ = np.ones(len(indices)), 0.0
            self.leaf_values_, self.leaf_gap_ = "refit", own.gap

    def _keep_members(
        self, members: Members, indices: Indices, weights: Vector, intercept: Any
    ) -> None:
        self.indices_, self.weights_, self.intercept_ = indices, weights, intercept
        self.members_ = [members.of(int(j)) for j in indices]
        self.n_members_, self.n_members_in_ = len(indices), len(members)
        self._members = members
        self._places = indices
        if isinstance(members, EstimatorMembers):
            self._members, self._places = members.part(indices), np.arange(len(indices))
        self._folded = export.folded(self._kept)

    def _has_new_leaves(self, ready: _Prepared) -> bool:
        """Whether leaves get new values.

        Raises
        ------
        ValueError
            If that is asked for and cannot be.
        """
        members, possible = ready.members, is_refittable(ready.members)
        if self.leaf_values == "refit" and not possible:
            raise ValueError(
                "leaf_values='refit' needs a classifier of trees: a forest, bagging or AdaBoost of "
                f"scikit-learn's trees on all features, or boosting without linear models in its "
                f"leaves; got {ready.ensemble!r}"
            )
        if self.leaf_values != "auto" or not possible:
            return self.leaf_values == "refit"
        plain = self.weights == self.target == "auto" and self.metric in (None, "accuracy")
        many = members.classes is not None and len(members.classes) > 2
        alike = many or not isinstance(members, BoostedMembers)
        if not (plain and alike) or ready.columns.seen == "held_out":
            return False
        share = error_share(members, ready.columns, ready.X, ready.y, ready.weights)
        if share <= LEARNT and ready.columns.seen == "training":
            share = honest_error_share(ready.ensemble, ready.X, ready.y, ready.weights)
        return share <= LEARNT

    def _own_score(self, ready: _Prepared) -> float:
        """Accuracy or R² on the rows of the program, by the members that have not seen a row."""
        from sklearn.metrics import accuracy_score, r2_score

        outputs, unseen = ready.columns.outputs[:, self.indices_], ready.columns.unseen
        weights = np.broadcast_to(self.weights_, outputs.shape[:2])
        known = np.ones(len(outputs), dtype=bool)
        if unseen is not None:
            own = weights * unseen[:, self.indices_]
            known = own.sum(axis=1) > 0
            own = own[known]
            weights = own * (self.weights_.sum() / own.sum(axis=1))[:, None]
        if not known.any():
            return float("nan")
        found = np.einsum("nmk,nm->nk", outputs[known], weights) + self.intercept_
        y, rows = ready.y[known], ready.weights[known]
        if not rows.any():
            return float("nan")
        if not self._is_classifier:
            score = r2_score(y, found[:, 0], sample_weight=rows) if len(y) > 1 else np.nan
            return float(score)
        return float(accuracy_score(y, self._decided(found), sample_weight=rows))

    def _size(self, count: int, size: float | None = None) -> int:
        asked = self.size if size is None else size
        if asked is None:
            return max(1, round(KEPT_SHARE * count))
        return reading.checked_size(asked, count)

    @property
    def _solving(self) -> dict[str, Any]:
        return {"tol": self.tol, "solver": self.solver, "solver_options": self.solver_options}

    def _check_parameters(self) -> None:
        check_number("C", self.C, above=0, optional=True)
        check_bool("fit_intercept", self.fit_intercept)
        check_number("quantile", self.quantile, above=0, below=1)
        check_bool("training_rows", self.training_rows)
        check_choice("target", self.target, ("auto", "y", "ensemble"))
        check_choice("weights", self.weights, ("auto", "program", "refit", "equal"))
        check_choice("leaf_values", self.leaf_values, ("auto", "keep", "refit"))
        check_choice("members", self.members, ("estimators", "leaves"))
        if self.metric is not None:
            names = (*CLASSIFICATION, "rmse", "mae", "quantile")
            check_choice("metric", self.metric, names)
        check_number("time_limit", self.time_limit, above=0, optional=True)
        check_number("tolerance", self.tolerance, above=0, optional=True)
        if self.faithful is not None:
            self._check_faithful()
        elif self.tolerance is not None:
            raise ValueError(
                f"tolerance={self.tolerance!r} is how far numbers may differ with faithful: set "
                "faithful='everywhere', 'box' or 'rows', or leave tolerance=None"
            )
        check_number("validation_fraction", self.validation_fraction, above=0, below=1)
        check_number("tol", self.tol, at_least=0)
        check_solver("solver", self.solver, "lp")
        checked_options(self.solver, self.solver_options)
        check_seed("random_state", self.random_state)

    def _check_faithful(self) -> None:
        check_choice("faithful", self.faithful, ("everywhere", "box", "rows"))
        defaults = {
            "size": (None,),
            "C": (None,),
            "metric": (None,),
            "target": ("auto", "ensemble"),
        }
        defaults |= {"weights": ("auto", "program"), "leaf_values": ("auto", "keep")}
        for name, values in {**defaults, "members": ("estimators",)}.items():
            if getattr(self, name) not in values:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} has no meaning with "
                    f"faithful={self.faithful!r}, which keeps as many trees, with such weights, as "
                    f"that needs: leave {name}={values[0]!r}"
                )
