"""Every public estimator, in the variants that matter, as cases of laws.

A new estimator is one more case: the laws of `test_data_laws.py`, `test_round_laws.py`,
`test_block_laws.py` and `test_bad_input.py` then hold for it, or it says which does not and why.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cgboost
import cgboost.linear
from cgboost import (
    RBF,
    AdaBoostClassifier,
    AdditiveRegressor,
    AnyBoostClassifier,
    AnyBoostRegressor,
    BLFClassifier,
    BLFRegressor,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    ConstrainedBoostClassifier,
    ConstrainedBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IntervalRegressor,
    KernelLibrary,
    L2BoostRegressor,
    Linear,
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
    LinearTreeRegressor,
    LogitBoostClassifier,
    LPBoostClassifier,
    LPBoostRegressor,
    Matern,
    MultiQuantileRegressor,
    On,
    OrthogonalGreedyRegressor,
    RationalQuadratic,
    RuleSetClassifier,
    RuleSetRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
    StagewiseRegressor,
    ThinnedEnsemble,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.constraints import Convex, Monotone
from cgboost.estimators.transform.variants import VARIANTS
from cgboost.linear import (
    L1LinearSVC,
    L1LinearSVR,
    LADRegressor,
    QuantileRegressor,
    SparseLinearClassifierCV,
    SparseLinearRegressorCV,
)
from tests.cases import Case
from tests.estimators.data import (
    LIBRARY,
    Data,
    classifier,
    curve,
    lines,
    regressor,
    three_classes,
    two_classes,
)

PUBLIC: dict[str, type] = {
    name: kind
    for room in (cgboost.linear, cgboost)
    for name in room.__all__
    if isinstance(kind := getattr(room, name), type) and issubclass(kind, BaseEstimator)
}
"""Every public estimator."""

SMALL = {"early_stopping": False, "n_estimators": 6, "random_state": 0}
"""Parameters of all cases, where an estimator has them and nothing else is said."""


@dataclass(frozen=True, kw_only=True)
class EstimatorCase(Case[Any]):
    """An estimator with data for it, and what its optimum is.

    Parameters
    ----------
    data : callable
        Rows and targets, given their number.
    unique : bool
        Whether the optimum is one model, whatever the order of rows: otherwise, where a linear
        program has several optima or trees of equal merit are chosen by the order of rows, only
        objectives are compared.
    blocks : bool
        Whether it is fitted to numbers and categories with gaps, in blocks of rows.
    """

    data: Data
    unique: bool = True
    blocks: bool = False

    def has(self, parameter: str) -> bool:
        """Whether the estimator has a parameter."""
        return parameter in self.make().get_params(deep=False)

    def kind(self) -> type:
        """The class."""
        return type(self.make())

    def fitted(self, n_rows: int = 60, **own: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """A fitted model with its rows and targets."""
        X, y = self.data(n_rows)
        return self.make(**own).fit(X, y), X, y


def case(model: Any, variant: str = "", data: Data | None = None, **how: Any) -> EstimatorCase:
    """A case with the name of its class, of a model that is cloned."""
    small = {name: value for name, value in SMALL.items() if name in model.get_params(deep=False)}
    given = {
        name: value
        for name, value in small.items()
        if getattr(model, name) == getattr(type(model)(), name)
    }
    model = clone(model).set_params(**given)
    return EstimatorCase(
        name=type(model).__name__ + (variant and f", {variant}"),
        make=lambda **own: clone(model).set_params(**own),
        data=data or (two_classes if is_classifier(model) else curve),
        **how,
    )


def outputs(model: Any, X: Any) -> np.ndarray:
    """Scores of classes and of where rows lie, or numbers."""
    return np.asarray(getattr(model, "decision_function", model.predict)(X))


def by_table(model: Any, X: np.ndarray) -> np.ndarray:
    """Outputs on the training rows from ``columns_`` and what its rows name."""
    table = {name: np.asarray(column) for name, column in model.columns_.items()}
    values = _column_values(model, X, table) * table["coefficient"]
    start = getattr(model, "factor_intercept_", getattr(model, "intercept_", None))
    start = -model.offset_ if start is None else start
    for key, groups in (("class", "classes_"), ("quantile", "quantiles")):
        if key in table:
            own = [values[:, table[key] == group].sum(axis=1) for group in getattr(model, groups)]
            return np.transpose(own) + start
    return values.sum(axis=1) + start


def _column_values(model: Any, X: np.ndarray, table: dict[str, np.ndarray]) -> np.ndarray:
    """Kernels, learners, factors, stumps or features, shape (n_rows, n_columns)."""
    if "kernel" in table:
        seen = StandardScaler().fit_transform(X) if model.library_.standardize else X
        kernels = model.library_.fit(seen)
        names, rows = table["kernel"], table["row"]
        found = [kernels[k](seen, seen[[j]])[:, 0] for k, j in zip(names, rows, strict=True)]
        return np.transpose(found) * table["sign"]
    if "estimator" in table:
        found = [model.estimators_[j].predict(X) for j in table["estimator"]]
        return np.transpose(found) * table.get("scale", 1.0)
    if "factor" in table:
        return model.transform(X)[:, table["factor"]]
    x = X[:, table["feature"]]
    if "threshold" in table:
        return np.where(x > table["threshold"], table.get("above", 1.0), table.get("below", -1.0))
    return x


def few_lines(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Three features, and noise."""
    X, y = lines(n_rows)
    return X[:, :3], y


def inliers(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows, of which half are called outliers."""
    X, y = two_classes(n_rows)
    return X, 2 * y - 1


TREE = DecisionTreeRegressor(max_depth=2)
STUMP = DecisionTreeClassifier(max_depth=1)
GIVEN_MODEL = LogisticRegression().fit(*two_classes(40))
MANY_KERNELS = KernelLibrary(
    {
        "some": On(RBF(), [0, 1]),
        "sum": Matern() + 0.5 * RationalQuadratic(),
        "product": Linear() * RBF(),
        "power": RBF() ** 2,
    },
    normalize=True,
    standardize=True,
)

COPIES = "whole_weights_are_repeated_rows"
SPARSE = "sparse_matrices_are_dense_ones"
STOPPING = "early_stopping_keeps_the_round_with_the_best_score"
CUT = "a_fit_cut_short_says_so_and_keeps_the_rounds_before"
TABLES = "tables_describe_the_rounds_and_the_model"
PATH = "a_path_has_the_models_of_separate_fits"
SCORERS = "scorers_see_the_model_of_each_round"
STAGES = "stages_end_in_the_model"
FIRST = "what_breaks_in_the_first_round_leaves_nothing"
BY_TABLE = "outputs_are_made_of_the_table_of_columns"

TWO_NORM = {COPIES: "a repeated row is a repeated column, too"}
ORDER = {COPIES: "trees of equal merit are chosen by the order of rows"}
FOLDS = {COPIES: "rows are dealt out to folds one by one"}
SMOOTH = CGBoostRegressor("linear", loss="squared_error", columns_per_round=1)
AT_ONCE = {"a_fit_cut_short_says_so_and_keeps_the_rounds_before": "it has one round"}
ONE_SEARCH = dict.fromkeys(
    (STOPPING, SCORERS, CUT, FIRST, "stages_end_in_the_model"), "it is a search without rounds"
)
SCALED = {SPARSE: "features of sparse rows are scaled, not centred"}
WARM = {CUT: "what a solver answers depends on how the run goes on"}
LESS = {BY_TABLE: "scores of classes are those of the columns, less their mean"}
LINES = {BY_TABLE: "lines go through the means of features, coef_ is the model"}
FED = {BY_TABLE: "learners read the outputs of those before"}
HINGES = {BY_TABLE: "columns with a slope are hinges"}
GIVEN_MODELS = {
    BY_TABLE: "columns are the scores of given models, with stumps in one table",
    **dict.fromkeys(
        (
            "another_fit_replaces_everything",
            "contributions_are_shapley_values_over_all_sets_of_features",
            "without_a_background_the_rows_are_it_or_the_covers_of_trees",
        ),
        "a given model knows how many features there are",
    ),
}
SHORT = {CUT: "the fit ends before the second round"}
GREEDY = {PATH: "which learners are found depends on those before"}
GIVEN = {STOPPING: "it cannot hold rows out: outliers are in an eval_set"}
MIDDLE = {BY_TABLE: "a prediction is inside its interval"}
MEANS = {SCORERS: "scores are means over the quantiles"}
ROUNDING = {STOPPING: "scores of a constant differ by rounding alone"}


def with_solver(make: Callable[..., Any], C: float, penalty: str, solver: str) -> Any:
    """A kernel model whose answers do not depend on how a run goes on."""
    return make(C=C, columns_per_round=1, penalty=penalty, solver=solver)


CLASSICAL = [
    case(AnyBoostClassifier(TREE), "classes", three_classes, unique=False),
    case(AnyBoostClassifier(TREE, corrective=True), "corrective", unique=False),
    case(AnyBoostRegressor(TREE), unique=False),
    case(AnyBoostRegressor(TREE, orthogonalize=True), "orthonormal", unique=False),
    case(AdaBoostClassifier(max_bins=5)),
    case(AdaBoostClassifier(), "classes", three_classes),
    case(AdaBoostClassifier(STUMP), "trees", three_classes, but=LESS),
    case(GradientBoostingClassifier(learning_rate=0.5)),
    case(GradientBoostingClassifier(learning_rate=0.5), "classes", three_classes, but=ORDER | LESS),
    case(GradientBoostingRegressor(learning_rate=0.5)),
    case(L2BoostRegressor(learning_rate=0.5), data=lines),
    case(LogitBoostClassifier(), but=LINES),
    case(LogitBoostClassifier(), "classes", three_classes, but=LINES),
    case(OrthogonalGreedyRegressor(criterion=None), data=lines),
    *[
        case(
            StagewiseRegressor(TREE, orthogonalize=orthogonalize, feed_forward=feed_forward),
            " ".join(orthogonalize * ["orthogonal"] + feed_forward * ["fed forward"]),
            but=FED if feed_forward else {},
        )
        for orthogonalize in (False, True)
        for feed_forward in (False, True)
    ],
]
"""Boosting without a certificate."""

PROGRAMS = [
    case(LPBoostClassifier(columns_per_round=1, solver="highs"), unique=False),
    case(
        LPBoostClassifier(columns_per_round=1, solver="highs"),
        "classes",
        three_classes,
        unique=False,
    ),
    case(
        LPBoostClassifier(multi_class="joint", columns_per_round=1, solver="highs"),
        "joint",
        three_classes,
        unique=False,
    ),
    case(LPBoostClassifier(TREE, C=1.0, max_columns=20), "trees", unique=False, but=GREEDY | ORDER),
    case(
        LPBoostClassifier(max_depth=2, max_columns=20),
        "depth",
        unique=False,
        but=GREEDY | ORDER | WARM,
    ),
    case(LPBoostRegressor(C=1.0, columns_per_round=1, solver="highs"), unique=False),
    case(ConstrainedBoostClassifier([Monotone(0, 1)], columns_per_round=1), unique=False),
    case(
        ConstrainedBoostRegressor([Convex(0)], C=1.0, columns_per_round=1),
        unique=False,
        but=HINGES,
    ),
    case(
        ConstrainedBoostClassifier(columns=[FrozenEstimator(GIVEN_MODEL), "stumps"]),
        "given",
        unique=False,
        but=GIVEN_MODELS,
    ),
    case(
        ConstrainedBoostClassifier(columns=FrozenEstimator(GIVEN_MODEL)),
        "one given",
        but=GIVEN_MODELS | AT_ONCE,
    ),
    case(RuleSetClassifier(max_bins=5)),
    case(RuleSetClassifier(4, form="dnf", max_bins=5), "dnf", unique=False, but=ONE_SEARCH),
    case(RuleSetRegressor(max_bins=5)),
]
"""Stumps, learners and rules in a linear program."""

KERNELS = [
    case(with_solver(classifier, 10.0, "l1", "highs")),
    case(with_solver(classifier, 10.0, "l2", "piqp"), "2-norm", but=TWO_NORM),
    case(with_solver(classifier, 10.0, "l1", "highs"), "classes", three_classes),
    case(with_solver(regressor, 1e4, "l1", "highs")),
    case(CGBoostRegressor(MANY_KERNELS), "many kernels", but=SCALED | WARM),
    case(classifier(penalty="elasticnet"), "elastic net", but=TWO_NORM | WARM),
    case(SMOOTH, "smooth", but=SCALED),
    case(CGBoostRegressor("rbf", penalty="rkhs"), "functions", few_lines, but=SCALED | AT_ONCE),
    case(CGBoostRegressor(MANY_KERNELS, penalty="group"), "groups", but=SCALED | WARM),
    case(
        CGBoostOutlierDetector(LIBRARY, nu=0.3, penalty="l1", columns_per_round=1),
        data=inliers,
        but=GIVEN,
    ),
    case(
        CGBoostOutlierDetector("rbf", nu=0.3, penalty="group"),
        "groups",
        inliers,
        but=GIVEN | SCALED | WARM,
    ),
    case(BLFClassifier(kernel=RBF())),
    case(BLFRegressor(kernel=Matern())),
]
"""Columns that are kernel functions at the rows."""

LINEAR = [
    case(SparseLinearClassifier(standardize=True), but=WARM),
    case(SparseLinearRegressor(standardize=True), but=WARM),
    case(
        SparseLinearRegressor(loss="squared_error", constraints=["sum == 0"]),
        "constrained",
        but=WARM,
    ),
    case(SparseLinearClassifier(constraints=["sum >= 0.1", "sum <= 9"]), "constrained", but=WARM),
    case(MultiQuantileRegressor(), but=WARM | ROUNDING),
    case(MultiQuantileRegressor(noncrossing="rows"), "joint", but=WARM | ROUNDING | MEANS),
    case(MultiQuantileRegressor(noncrossing="box"), "box", but=WARM | ROUNDING | MEANS),
    case(L1LinearSVC()),
    case(L1LinearSVR()),
    case(LADRegressor()),
    case(QuantileRegressor(alpha=0.01)),
    case(SparseLinearClassifierCV(n_Cs=3, cv=2), but=FOLDS),
    case(SparseLinearRegressorCV(n_alphas=3, cv=2), but=FOLDS),
    case(IntervalRegressor(cv=2), but=FOLDS | MIDDLE | WARM | ROUNDING),
    case(BLFClassifier(), "features"),
    case(BLFRegressor(), "features"),
]
"""Columns that are features."""

BLOCKS = [
    *[
        case(TransformRegressor(variant=variant, n_estimators=4), variant, blocks=True, but=SHORT)
        for variant in VARIANTS
    ],
    case(TransformClassifier(n_estimators=4), blocks=True, but=SHORT),
    case(AdditiveRegressor(tol=1e-2), "one pass", blocks=True, but=SHORT),
    case(AdditiveRegressor("backfitting", tol=1e-2), "backfitting", blocks=True, but=SHORT),
    case(
        LinearTreeRegressor(min_samples_leaf=7, validation_fraction=0.0),
        blocks=True,
        but={TABLES: "it is one tree"},
    ),
    case(LinearTreeBoostingRegressor(n_estimators=8, learning_rate=0.5), blocks=True),
    case(LinearTreeBoostingClassifier(n_estimators=8, learning_rate=0.5), blocks=True),
    case(LinearTreeBoostingClassifier(n_estimators=8), "classes", three_classes, blocks=True),
]
"""Tables of numbers and categories."""

CASES = [*CLASSICAL, *PROGRAMS, *KERNELS, *LINEAR, *BLOCKS]

ONE_EACH = list({case.kind(): case for case in reversed(CASES)}.values())[::-1]
"""One case of each class."""

NOT_HERE = {ThinnedEnsemble: "it chooses among models that others fit: tests/estimators/thinning"}
THINNED = case(ThinnedEnsemble(RandomForestClassifier(5), size=2))
"""The same as a case of what X, y and weights may be."""
