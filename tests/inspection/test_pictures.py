"""What holds for all pictures: where they are drawn, when matplotlib is loaded, what is refused.

What each of them shows is in the files of the pictures.
"""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso
from sklearn.svm import SVC

from cgboost import (
    BLFClassifier,
    BLFRegressor,
    Certificate,
    CGBoostClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    IntervalRegressor,
    LogitBoostClassifier,
    NearOptimal,
    SparseLinearRegressor,
    ThinnedEnsemble,
    TransformClassifier,
    TransformRegressor,
    certify,
    decompose,
    near_optimal,
)
from cgboost.inspection import (
    kernel_importance,
    plot_blocks,
    plot_columns,
    plot_coverage,
    plot_history,
    plot_kernel_weights,
    plot_path,
    plot_ranges,
    plot_search,
    plot_stability,
    plot_violations,
    stability,
)
from cgboost.inspection.effects import plot_effects
from cgboost.inspection.importance import plot_importance
from cgboost.inspection.learning_curves import error_table, plot_stages
from cgboost.inspection.metrics import plot_gains
from cgboost.inspection.model_pictures import (
    component_errors,
    plot_components,
    plot_factors,
    plot_kernel_importance,
    plot_objectives,
    plot_transformations,
)
from cgboost.integer.decomposition import Decomposition
from cgboost.linear import SparseLinearRegressorCV
from tests.cases import Case, law
from tests.estimators.data import LIBRARY, classifier, curve, three_classes, two_classes
from tests.estimators.thinning.thinning_data import CLASSIFIERS, classes
from tests.inspection.test_history_plots import make_model
from tests.inspection.test_importance import weighted
from tests.inspection.test_search_pictures import NODES, result_of
from tests.integer.decomposition.test_decomposition import assignment

X, Y = two_classes()
SETS = {"train": (X, Y)}


@cache
def fitted(kind: Callable[..., Any], **parameters: Any) -> Any:
    """A model of two classes. Not to be changed."""
    return kind(**parameters).fit(X, Y)


@cache
def violations() -> Certificate:
    """A certificate of a model that is far from its optimum."""
    return certify(Lasso(alpha=0.01, max_iter=1, tol=1.0).fit(X, Y), X, Y)


@cache
def near() -> NearOptimal:
    """The models that are nearly as good as one with two of three features."""
    return near_optimal(SparseLinearRegressor(alpha=0.05).fit(X, Y), X, Y, 0.1)


def linear_path(n_alphas: int = 2, *, scored: bool = False) -> Any:
    """A path of linear models."""
    rows, y = np.random.default_rng(0).normal(size=(80, 8)), np.arange(80.0) % 7
    more = {"eval_set": (rows, y)} if scored else {}
    return SparseLinearRegressor().path(rows, y, n_alphas=n_alphas, eps=0.1, **more)


@cache
def sizes(*, scored: bool = True) -> Any:
    """A path of thinned ensembles."""
    rows, labels = classes(2)
    more = {"eval_set": (rows, labels)} if scored else {}
    return ThinnedEnsemble(CLASSIFIERS["gradient boosting"]).path(rows, labels, sizes=[3], **more)


@cache
def kernels() -> Any:
    """What the kernels of a model are worth."""
    model = CGBoostClassifier(LIBRARY).fit(X, Y)
    return kernel_importance(model, X, Y, n_repeats=1, random_state=0)


@cache
def transform() -> Any:
    """Transform regression of two features."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(300, 2))
    return TransformRegressor(n_estimators=1, early_stopping=False).fit(X, X @ [1.0, -2.0])


@cache
def transform_classes() -> Any:
    """Transform regression of three classes."""
    return TransformClassifier(n_estimators=1, early_stopping=False).fit(*three_classes())


@cache
def intervals() -> IntervalRegressor:
    """Prediction intervals of a feature."""
    return IntervalRegressor(0.8, cv=2).fit(X[:, :1], X[:, 1])


@dataclass(frozen=True, kw_only=True)
class Picture(Case[Figure]):
    """One function that draws: ``make(ax=…)``."""

    panels: int = 1


PICTURES: list[Picture] = [
    Picture(name="history", make=lambda **a: plot_history(make_model(), **a), panels=3),
    Picture(name="columns", make=lambda **a: plot_columns(make_model(), **a), panels=2),
    Picture(
        name="stages",
        make=lambda **a: plot_stages(fitted(LogitBoostClassifier, n_estimators=3), SETS, **a),
        panels=2,
    ),
    Picture(name="search", make=lambda **a: plot_search(result_of(NODES), **a), panels=2),
    Picture(
        name="kernel importance",
        make=lambda **a: plot_kernel_importance(kernels(), **a),
        panels=2,
    ),
    Picture(
        name="transformations",
        make=lambda **a: plot_transformations(transform(), 0, **a),
        panels=2,
    ),
    Picture(
        name="effects", make=lambda **a: plot_effects(transform(), X[:, :2], [0, 1], **a), panels=2
    ),
    Picture(name="blocks", make=lambda **a: plot_blocks(decompose(*assignment(0)), **a)),
    Picture(
        name="path",
        make=lambda ax=None: plot_path(linear_path(scored=ax is not None), ax=ax),
    ),
    Picture(name="path of sizes", make=lambda ax=None: plot_path(sizes(), ax=ax)),
    Picture(name="ranges", make=lambda **a: plot_ranges(near(), **a)),
    Picture(name="violations", make=lambda **a: plot_violations(violations(), **a)),
    Picture(name="kernel weights", make=lambda **a: plot_kernel_weights(weighted({"a": 1.0}), **a)),
    Picture(
        name="importance",
        make=lambda **a: plot_importance(fitted(GradientBoostingClassifier, n_estimators=3), **a),
    ),
    Picture(name="gains", make=lambda **a: plot_gains([4, 1, 3], {"a": [3.0, 2.0, 1.0]}, **a)),
    Picture(
        name="coverage",
        make=lambda **a: plot_coverage(intervals(), X[:, :1], X[:, 1], Y, **a),
    ),
    Picture(
        name="stability",
        make=lambda **a: plot_stability(stability(intervals(), X[:, :1], X[:, 1], 2), **a),
        panels=2,
    ),
    Picture(
        name="factors",
        make=lambda **a: plot_factors(fitted(BLFClassifier, n_components=2), X, Y, **a),
    ),
    Picture(
        name="components",
        make=lambda **a: plot_components(
            {"a": fitted(BLFClassifier, n_components=2)}, {"b": (X, Y)}, **a
        ),
    ),
    Picture(
        name="objectives",
        make=lambda **a: plot_objectives({"a": fitted(BLFClassifier, n_components=2)}, **a),
    ),
]


@law(PICTURES)
def test_pictures_are_drawn_on_given_axes(case: Picture, tmp_path: Path) -> None:
    """Their figure is returned, and no axes are added to it; a picture can be written as it is."""
    own = case.make()
    assert len(own.axes) == case.panels
    assert all(axis.get_xlabel() or axis.get_title(loc="left") for axis in own.axes)
    own.savefig(tmp_path / "own.png")  # without pyplot's state
    assert (tmp_path / "own.png").stat().st_size > 5_000
    figure = Figure()
    axes = figure.subplots(1, case.panels, squeeze=False)[0]
    assert case.make(ax=axes[0] if case.panels == 1 else axes) is figure
    assert list(figure.axes) == list(axes)
    assert all(axis.has_data() for axis in axes)


@law(PICTURES, where=lambda case: case.panels > 1)
def test_a_wrong_number_of_axes_is_refused(case: Picture) -> None:
    """So is what is no axes at all."""
    axes = Figure().subplots(1, 4)
    for given, count in ((axes, 4), (axes[0], 1)):
        words = f"ax must hold {case.panels} axes, one for each panel, got {count}"
        with pytest.raises(ValueError, match=words):
            case.make(ax=given)
    with pytest.raises(ValueError, match="ax must be axes of matplotlib, got 3"):
        case.make(ax=3)


def test_the_earlier_name_of_ax_warns() -> None:
    """The picture is drawn on what is given by it."""
    axis = Figure().subplots()
    with pytest.warns(FutureWarning, match="axes is now called ax"):
        assert plot_kernel_weights(weighted({"a": 1.0}), axes=axis) is axis.figure


@pytest.mark.parametrize("module", ["cgboost.inspection", "cgboost.inspection.model_pictures"])
def test_matplotlib_is_imported_late(module: str) -> None:
    """The modules themselves do not need it."""
    check = f"import sys, {module}; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def several() -> Any:
    """A model with a run for each of three classes."""
    return BLFClassifier().fit(*three_classes())


def factors(count: int) -> Any:
    """A model of latent factors."""
    return fitted(BLFClassifier, n_components=count)


def model_of_numbers() -> Any:
    """Boosted trees without classes."""
    return GradientBoostingRegressor(n_estimators=1).fit(*curve(40))


def chosen() -> Any:
    """A linear model that was chosen by cross-validation."""
    return SparseLinearRegressorCV(alphas=[0.1, 0.05]).fit(*curve(40))


UNFITTED: list[tuple[Callable[[], Any], str]] = [
    (lambda: plot_history(SimpleNamespace()), "has no history_: call fit first"),
    (lambda: plot_columns(SimpleNamespace()), "has no columns_: call fit first"),
    (lambda: plot_history(SparseLinearRegressorCV()), "CV has no history_: call fit first"),
    (lambda: plot_history(result_of(NODES)), "has no history_: plot_search draws it"),
    (
        lambda: plot_objectives({"a": BLFClassifier()}),
        "'a' .BLFClassifier. has no history_: call fit",
    ),
    (lambda: plot_kernel_weights(CGBoostClassifier()), "not fitted yet"),
    (lambda: plot_importance(GradientBoostingRegressor()), "not fitted|call fit"),
    (lambda: plot_transformations(TransformRegressor()), "not fitted|call fit"),
]
TOP = "top must be at least 1, got 0"
CLASSES = "one of the classes .*, or its place.*got 'none'"
BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: plot_objectives({}), "models must name at least one fitted model"),
    (lambda: plot_objectives({"b": several()}), "'b' has a run for each class"),
    (lambda: plot_search(object()), "plot_history draws that of ColumnGeneration"),
    (
        lambda: plot_search(Decomposition(assignment(0)[0], None, "in one piece").solve()),
        "no tree search.*in one piece",
    ),
    (
        lambda: plot_blocks(Decomposition(assignment(0)[0], None, "one piece")),
        r"no blocks \(one piece\)",
    ),
    (lambda: plot_path(SparseLinearRegressor()), r"path must .* a SparseLinearRegressor: give mod"),
    (lambda: plot_path(chosen()), r"got a SparseLinearRegressorCV: give model\.model_\.path"),
    (lambda: plot_path(sizes(scored=False)), "no scores to draw"),
    (lambda: plot_path(linear_path(), x="beta"), "x must be one of"),
    (lambda: plot_path(linear_path(), n_labels=-1), "n_labels must be at least 0, got -1"),
    (
        lambda: plot_path(linear_path(), feature_names=["a"]),
        "feature_names must have 8 names, one a feature, got 1",
    ),
    (lambda: plot_path(classifier().path(X, Y, [1.0])), "coefs needs linear models"),
    (lambda: plot_kernel_weights(SVC().fit([[0.0], [1.0]], [0, 1])), "penalty='group'"),
    (lambda: plot_kernel_weights(weighted({"a": 1.0}), top=0), TOP),
    (lambda: plot_kernel_importance(kernels(), top=0), TOP),
    (lambda: plot_importance(fitted(GradientBoostingClassifier, n_estimators=3), top=0), TOP),
    (
        lambda: plot_importance(model_of_numbers(), per_class=True),
        "needs a model with classes, got GradientBoostingRegr",
    ),
    (
        lambda: plot_importance(SparseLinearRegressor().fit(*curve(40))),
        "SparseLinearRegressor does not have; its coef_ has",
    ),
    (lambda: plot_gains([1, 2], {}), "scores must name at least one model, got none"),
    (lambda: plot_factors(factors(1), X, Y), "needs two factors, the model has 1: fit it with"),
    (lambda: plot_factors(factors(2), X, Y[:-1]), "y must have shape .*, one entry for each row"),
    (lambda: component_errors(factors(2), {}), "sets must name at least one pair"),
    (lambda: plot_components({}, SETS), "all classifiers or all regressors, got none"),
    (
        lambda: plot_components({"a": factors(2), "b": BLFRegressor(2).fit(X, Y)}, SETS),
        "got BLFClassifier, BLFRegressor",
    ),
    (
        lambda: error_table(fitted(LogitBoostClassifier, n_estimators=3), {}),
        "sets must name at least one pair",
    ),
    (
        lambda: error_table(fitted(LogitBoostClassifier, n_estimators=3), SETS, [0, 3]),
        r"rounds must be whole numbers ≥ 1, got \[0, 3\]",
    ),
    (
        lambda: plot_transformations(transform(), 1),
        "stage must be one of the 1 of the model, got 1",
    ),
    (
        lambda: plot_effects(transform(), X[:, :2], ["height"]),
        "features must be among .*, got 'height'",
    ),
    (
        lambda: plot_effects(TransformRegressor().fit(X, np.full(len(Y), 3.0)), X),
        "uses no feature",
    ),
    (lambda: plot_transformations(transform_classes(), output="none"), CLASSES),
    (lambda: plot_effects(transform_classes(), X, output="none"), CLASSES),
]


@pytest.mark.parametrize(("draw", "words"), UNFITTED)
def test_what_is_not_fitted_says_so(draw: Callable[[], Any], words: str) -> None:
    """In scikit-learn's own words, or it names the function that draws it."""
    with pytest.raises(NotFittedError, match=words):
        draw()


@pytest.mark.parametrize(("draw", "words"), BAD)
def test_what_cannot_be_drawn_says_why(draw: Callable[[], Any], words: str) -> None:
    """The error names the argument and its value, and another function where there is one."""
    with pytest.raises((ValueError, IndexError), match=words):
        draw()
