"""A model tree: multiway splits, linear regressions in the leaves."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.additive.places.memory import in_memory
from cgboost.additive.trees.model_tree_growth import GrowthLimits, NodePasses, grown, regressors_of
from cgboost.arrays import Vector
from cgboost.estimators.common.fitted_methods import ReportedEstimator
from cgboost.estimators.common.fitted_runs import unchanged_on_failure
from cgboost.estimators.common.parameters import (
    check_bins,
    check_count,
    check_jobs,
    check_number,
    check_random_state,
    threads_of,
)
from cgboost.estimators.common.sklearn_bases import RegressorMixin
from cgboost.estimators.common.training_rows import TrainingRows, rows_of, table_of
from cgboost.estimators.transform.holdouts import seed_of
from cgboost.parallel.threads import Threads
from cgboost.tables.table_encoding import Schema


@dataclass(eq=False, repr=False)
class LinearTreeRegressor(RegressorMixin, ReportedEstimator):
    """Linear regression tree: splits are evaluated by linear fits, and leaves have linear models.

    Every node splits on one feature into any number of branches: intervals of its values, or its
    categories, are merged pairwise as long as the linear models in the branches do not become
    worse. Missing values form a separate branch. The leaves have stepwise regressions on the
    numeric features. Held-out rows decide which feature splits a node, how far to merge, which
    regressors to keep and, finally, which branches to keep; a coefficient must lower their squared
    error by more than chance. Everything is computed from sufficient statistics, with one pass over
    the rows per level, and the data may therefore be read in blocks, for example from a file.

    Natarajan, Pednault, *Segmented regression estimators for massive data sets*, SIAM Data Mining
    2002; Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006,
    section 8.

    Parameters
    ----------
    max_depth : int, default=6
    min_samples_leaf : int, default=10
        Minimum number of training rows in a leaf, by sample weight.
    max_bins : int, default=32
        Number of intervals of a numeric feature before merging; splits lie between them.
    max_regressors : int, default=16
        If there are more numeric features than this, the regressors are the features that explain
        most individually. All features may be split on.
    tol : float, default=1e-4
        A split must lower the squared error of the holdout rows by this, relative to the error of
        the constant.
    validation_fraction : float, default=0.3
        Share of the rows to hold out. Rows are held out independently, including equal rows; the
        choice depends on their contents, not on their order or division into blocks. With 0, no
        rows are held out, and a penalty for every coefficient (the Bayesian criterion) decides.
    categorical_features : "from_dtype" or sequence of str or int, default="from_dtype"
        Categorical features. By default the columns of a data frame that are non-numeric or have a
        categorical type; a column of Python objects that are all numbers is numeric. A list
        replaces this rule and must name all categorical features.
    n_jobs : int, default=1
        Threads that work on blocks of rows; −1 for all cores.
    random_state : int, RandomState or None
        Determines which rows are held out; None means 0.

    Attributes
    ----------
    tree_ : ModelTree
        Its ``nodes`` contain the splits and models.
    n_leaves_, depth_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Shares of the features in the decrease of the squared training error: by the linear model of
        the root, and by the splits on each feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (n_features,)
        Only if X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import LinearTreeRegressor
    >>> X = np.random.default_rng(0).integers(-50, 50, size=(2000, 2)) / 50.0
    >>> y = np.where(X[:, 0] < 0.0, X[:, 1], 2.0 - 3.0 * X[:, 1])
    >>> model = LinearTreeRegressor(max_bins=100, random_state=1).fit(X, y)
    >>> print(model.text())
    x0 < -0.01:
        0 + 1·x1   [673 rows]
    -0.01 ≤ x0 or missing:
        2 − 3·x1   [720 rows]
    """

    _: KW_ONLY
    max_depth: int = 6
    min_samples_leaf: int = 10
    max_bins: int = 32
    max_regressors: int = 16
    tol: float = 1e-4
    validation_fraction: float = 0.3
    categorical_features: Any = "from_dtype"
    n_jobs: int = 1
    random_state: Any = None

    _y_numeric: ClassVar[bool] = True

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree. A fit that fails leaves the estimator unchanged.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_features), or a source of blocks
            Numbers, with nan for missing values; in a data frame also categories. A source is any
            object that can be iterated over repeatedly and yields (X, y) or (X, y, weights), with
            the same blocks each time.
        y : array-like of shape (n_rows,), or None with a source
        sample_weight : array-like of shape (n_rows,) or None
            A row of weight 2 counts as two rows. Without a holdout, the trees are the same. With a
            holdout they differ only in the choice of its rows: a row of weight 2 is held out as a
            whole, while two equal rows are held out independently. Rows of weight 0 are ignored.
            Weights with a mean below 1 count as if their mean were 1. Not with a source.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For invalid parameters or data; the message names the argument and its value.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            schema, rows = rows_of(self, X, y, sample_weight, _numbers)
            self._grow(schema, rows)
        return self

    def _grow(self, schema: Schema, rows: TrainingRows) -> None:
        n_threads = threads_of(self.n_jobs)
        data = in_memory(
            rows.X,
            schema,
            rows.y,
            rows.weights,
            n_jobs=n_threads,
            max_bins=self.max_bins,
            share=self.validation_fraction,
            seed=seed_of(self.random_state, 0),
        ).prepared
        passes = NodePasses(data.rows, rows.weights, data.held, Threads(n_threads))
        regressors = regressors_of(passes, data.groups, rows.y, self.max_regressors)
        limits = GrowthLimits(self.max_depth, self.min_samples_leaf, self.tol)
        self.tree_ = grown(passes, data.groups, regressors, rows.y, limits)
        self._schema = schema
        self.n_leaves_, self.depth_ = len(self.tree_.leaves), self.tree_.depth

    def predict(self, X: Any) -> Vector:
        """Values of the linear models of the leaves, shape (n_rows,)."""
        rows = self._rows(X)
        return self.tree_.predict(rows)

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Node number of the leaf that contains each row, shape (n_rows,)."""
        rows = self._rows(X)
        return self.tree_.apply(rows)

    def get_depth(self) -> int:
        """Number of splits above the deepest leaf."""
        check_is_fitted(self)
        return self.depth_

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.n_leaves_

    @property
    def feature_importances_(self) -> Vector:
        """Shares of the features in the decrease of the squared training error, (n_features,)."""
        check_is_fitted(self)
        return self.tree_.importances()

    def text(self) -> str:
        """The tree as text: a line for every branch, a formula for every leaf."""
        check_is_fitted(self)
        return self.tree_.text(self._schema)

    def _check_parameters(self) -> None:
        for name in ("max_depth", "min_samples_leaf", "max_regressors"):
            check_count(name, getattr(self, name))
        check_jobs("n_jobs", self.n_jobs)
        check_bins(self.max_bins)
        check_number("tol", self.tol, at_least=0)
        check_number("validation_fraction", self.validation_fraction, at_least=0, below=1)
        check_random_state("random_state", self.random_state)

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        X, _ = table_of(self, X, None, reset=False)
        return self._schema.encode(X)

    def __sklearn_tags__(self) -> Any:
        """Missing values are their own branch."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _numbers(y: Any, weights: Vector) -> Vector:
    return np.asarray(y, dtype=np.float64)
