"""Families of columns that can obey: stumps and hinges, features, kernels, learners."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from cgboost.estimators.common.fitted_runs import Table
from cgboost.estimators.common.objective import ColumnFamily
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.estimators.constrained.data import Declarations
from cgboost.estimators.kernel.kernel_columns import KernelColumns
from cgboost.estimators.lpboost.lp_boost import FEWEST_STUMPS, LearnerColumns, StumpColumns
from cgboost.exceptions import see
from cgboost.generation.columns import Column
from cgboost.generation.protocols import Pricer
from cgboost.kernels import as_library
from cgboost.kernels.library import KernelLibrary
from cgboost.losses import Loss
from cgboost.penalties import L1
from cgboost.pricing import StrataPricer
from cgboost.pricing.constrained.hinges import FALLING, RISING, HingePool, ShapePool
from cgboost.pricing.constrained.oriented import FeaturedPool, OrientedPool
from cgboost.pricing.learners.learners import LearnerPricer
from cgboost.pricing.univariate.feature_pricer import FeaturePool
from cgboost.pricing.univariate.stumps import StumpPool

ColumnsParameter = Any
"""What the parameter ``columns`` may be: a word, kernels, or a learner of scikit-learn."""

SignRule = Literal["free", "nonneg"]

ROWS_OF_A_LONG_FIT = 10_000
"""From this number of rows on a fit ends early by default."""

COLUMNS_OF_MANY = 30
"""So many columns a fit of many rows has at most by default."""


ROWS_OF_FEW_COLUMNS = 5000
"""From this number of rows on few stumps come at once: of eight fits of 6000 to 8000 rows (Adult,
FICO, made ones) they took 0.4 to 1.1 of the time with a fiftieth of the rows."""


class ConstrainedColumns(ColumnFamily):
    """A family that can keep to signs, shapes and budgets, as far as it says."""

    def most_columns(self, n_rows: int) -> int | None:
        """A default for many rows."""
        return COLUMNS_OF_MANY if n_rows > ROWS_OF_A_LONG_FIT else None

    limited_by: ClassVar[str] = (
        f"with more than {ROWS_OF_A_LONG_FIT} rows max_columns=None stops at {COLUMNS_OF_MANY} "
        "columns; give a number of columns for a smaller gap"
    )

    has_steps: bool = False
    """Whether the steps of a feature are among its columns, and the constant."""

    takes_steps: ClassVar[bool] = False
    """Whether its tables have a place for them, too."""

    @property
    def repeats(self) -> bool:
        """Whether columns are nearly alike: of many optima a simplex finds a sparse one."""
        return True

    def score(self, pool: Any) -> Column | None:
        """The one column there is, if it is the score of a model; else None."""
        return None

    @abstractmethod
    def obeying(self, pool: Any, problem: Declarations, tol: float) -> tuple[Pricer, SignRule]:
        """A pricer of the columns that signs, shapes and budgets allow, and the rule for α."""


def _oriented(
    pool: FeaturedPool, allowed: dict[tuple[str, int], tuple[bool, bool]], problem: Declarations
) -> OrientedPool:
    return OrientedPool(pool, allowed, [budget.features for budget in problem.budgets])


class ObeyingStumps(StumpColumns, ConstrainedColumns):
    """Stumps of all features, hinges of those that have a shape."""

    has_steps = True
    takes_steps: ClassVar[bool] = True

    def obeying(
        self, pool: StumpPool, problem: Declarations, tol: float
    ) -> tuple[Pricer, SignRule]:
        """Stumps and hinges with the signs that are allowed."""
        if not (problem.signs or problem.shapes or problem.budgets):
            return StrataPricer(pool, tol=tol), "free"
        allowed: dict[tuple[str, int], tuple[bool, bool]] = {}
        for feature, (rises, falls) in problem.signs.items():
            if feature not in problem.shapes:
                allowed["stump", feature] = rises, falls
        for feature, curvature in problem.shapes.items():
            allowed["stump", feature] = False, False
            rises, falls = problem.signs.get(feature, (True, True))
            bent = curvature > 0
            allowed[RISING, feature] = rises and bent, falls and not bent
            allowed[FALLING, feature] = falls and bent, rises and not bent
        shaped = ShapePool(pool, HingePool(pool.X, sorted(problem.shapes)))
        return StrataPricer(_oriented(shaped, allowed, problem), tol=tol), "nonneg"

    def columns_per_round(self, pool: Any, n_rows: int) -> int:
        """As with stumps; few where a round has many rows, and fewer than a fit has at most."""
        if n_rows > ROWS_OF_A_LONG_FIT:
            return COLUMNS_OF_MANY // 3
        few = n_rows >= ROWS_OF_FEW_COLUMNS
        return FEWEST_STUMPS if few else super().columns_per_round(pool, n_rows)

    def described(
        self, functions: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        """Feature and threshold of each column, the slope of a hinge (nan for a stump)."""
        table = super().described(functions, strata, rows)
        slopes = [getattr(function, "slope", np.nan) for function in functions]
        return table | {"slope": np.array(slopes, dtype=float)}


@dataclass(frozen=True)
class ObeyingFeatures(ConstrainedColumns):
    """The features themselves, centred and scaled to unit variance."""

    def check(self) -> None:
        """There is nothing to check."""

    def pool(self, rows: TrainingRows) -> FeaturePool:
        """All features; a constant one is 0."""
        means = rows.X.mean(axis=0, dtype=np.float64)
        spreads = rows.X.std(axis=0, dtype=np.float64)
        least = 1e-12 * np.maximum(1.0, np.abs(means))
        return FeaturePool(rows.X, centres=means, scales=np.where(spreads > least, spreads, 1.0))

    def pricer(self, pool: FeaturePool, tol: float) -> Pricer:
        """A scan of all features."""
        return StrataPricer(pool, tol=tol)

    def obeying(
        self, pool: FeaturePool, problem: Declarations, tol: float
    ) -> tuple[Pricer, SignRule]:
        """Features with the signs that are allowed; a straight line has every shape."""
        if not (problem.signs or problem.budgets):
            return self.pricer(pool, tol), "free"
        allowed = {(pool.strata[0], feature): signs for feature, signs in problem.signs.items()}
        return StrataPricer(_oriented(pool, allowed, problem), tol=tol), "nonneg"

    def columns_per_round(self, pool: Any, n_rows: int) -> int:
        """Some."""
        return FEWEST_STUMPS

    def most_columns(self, n_rows: int) -> int | None:
        """There are no more than features."""
        return None

    def described(
        self, functions: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        """Feature, centre and scale of each column."""
        return {
            "feature": np.array([function.index for function in functions], dtype=np.intp),
            "centre": np.array([function.centre for function in functions], dtype=float),
            "scale": np.array([function.scale for function in functions], dtype=float),
        }


def refuse(family: str, problem: Declarations, what: Sequence[tuple[str, Any]]) -> None:
    """Raise ValueError for a constraint that a family cannot obey."""
    for name, asked in what:
        if asked:
            raise ValueError(
                f"{family} cannot obey {name}: take columns='stumps' or columns='features'"
                f"{see('constraints')}"
            )


class ObeyingKernels(KernelColumns, ConstrainedColumns):
    """Kernel columns: constraints on the output alone."""

    def usual_cost(self, rows: TrainingRows, loss: Loss) -> float:
        """As of a model of kernels: their columns are near 0 in most rows."""
        return 1.0

    def obeying(self, pool: Any, problem: Declarations, tol: float) -> tuple[Pricer, SignRule]:
        """A scan of all kernels."""
        refuse(
            "a model of kernels",
            problem,
            [
                ("Monotone and Sign", problem.signs),
                ("Convex and Concave", problem.shapes),
                ("GroupBudget", problem.budgets),
            ],
        )
        return self.pricer(pool, tol), "free"


class ObeyingLearners(LearnerColumns, ConstrainedColumns):
    """Learners: constraints on the output, and monotone features where the learner has them."""

    def obeying(self, pool: Any, problem: Declarations, tol: float) -> tuple[Pricer, SignRule]:
        """Learners fitted to what limits pull at; monotone ones with α ≥ 0."""
        name = type(self.estimator).__name__
        refuse(
            f"a model of {name}",
            problem,
            [("Convex and Concave", problem.shapes), ("GroupBudget", problem.budgets)],
        )
        if not problem.signs:
            return self.pricer(pool, tol), "free"
        if "monotonic_cst" not in self.estimator.get_params():
            raise ValueError(
                f"{name} cannot obey Monotone: it has no parameter monotonic_cst; take a "
                f"DecisionTreeClassifier, or columns='stumps'{see('constraints')}"
            )
        rules = np.zeros(problem.features.count, dtype=int)
        for feature, (rises, falls) in problem.signs.items():
            if not (rises or falls):
                raise ValueError(
                    f"{name} cannot obey Monotone of {problem.features.name(feature)} in both "
                    f"directions: leave the feature out (drop){see('constraints')}"
                )
            rules[feature] = 1 if rises else -1
        learner = clone(self.estimator).set_params(monotonic_cst=rules.tolist())
        return LearnerPricer(learner, pool.X, tol=tol, random_state=self.random_state), "nonneg"


def family_of(columns: ColumnsParameter, random_state: Any, tol: float) -> ConstrainedColumns:
    """The family that the parameter ``columns`` stands for.

    Raises
    ------
    ValueError
        If it is none that there is.
    """
    if isinstance(columns, str) and columns == "stumps":
        return ObeyingStumps()
    if isinstance(columns, str) and columns == "features":
        return ObeyingFeatures()
    if isinstance(columns, BaseEstimator) and not isinstance(columns, KernelLibrary):
        return ObeyingLearners(columns, random_state, tol)
    return ObeyingKernels(
        library=kernels_of(columns),
        penalty=L1(),
        coef="free",
        centers="rows",
        priority="full",
        cache_size=1000.0,
        executor=None,
        per_round=None,
    )


def kernels_of(columns: Any) -> KernelLibrary:
    """A library of kernels.

    Raises
    ------
    ValueError
        If it is none.
    """
    try:
        return as_library(columns)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "columns must be 'stumps', 'features', kernels or a learner of scikit-learn, got "
            f"{columns!r}"
        ) from error
