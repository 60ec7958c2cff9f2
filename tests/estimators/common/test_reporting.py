"""How estimators speak of themselves inside scikit-learn's machinery."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cgboost
from cgboost import RBF, CGBoostClassifier, Linear, StagewiseRegressor
from tests.inspection.report.models import CASES, ESTIMATORS, data, fitted


@pytest.mark.parametrize("name", ESTIMATORS)
def test_before_the_fit_it_is_the_line_of_scikit_learn(name: str) -> None:
    """The constructor with the parameters that differ from their defaults."""
    assert repr(getattr(cgboost, name)()) == f"{name}()"
    changed = getattr(cgboost, name)(random_state=7)
    assert repr(changed) == f"{name}(random_state=7)"


@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_after_the_fit_facts_follow(name: str, n_classes: int) -> None:
    """Lines below the same one, and below scikit-learn's diagram; a pickle says the same."""
    model = fitted(name, n_classes)
    constructor = repr(clone(model))
    assert repr(pickle.loads(pickle.dumps(model))) == repr(model)
    assert BaseEstimator.__repr__(model) == constructor
    facts = repr(model).removeprefix(constructor + "\n").splitlines()
    assert all(line.startswith("  ") and len(line) <= 88 for line in facts)
    assert "certificate" in repr(model) or "certified" in repr(model)
    html = model._repr_html_()
    assert html.index("sk-top-container") < html.index("cgboost-panel")
    assert "cgboost-panel" not in clone(model)._repr_html_()
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    assert "cgboost-panel" in bundle["text/html"]


def test_scikit_learns_choice_of_text_is_kept() -> None:
    """With display="text" there is no HTML."""
    model = fitted("CGBoostClassifier")
    with config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(model, "_repr_html_")


def test_long_lines_break_as_those_of_scikit_learn() -> None:
    """Alone and in a pipeline, parameters go on below the first one."""
    model = CGBoostClassifier(C=2.5, penalty="l2", offset="none", max_columns=12, cache_size=5)
    assert repr(model) == (
        "CGBoostClassifier(C=2.5, cache_size=5, max_columns=12, offset='none',\n"
        "                  penalty='l2')"
    )
    lines = repr(make_pipeline(StandardScaler(), model)).splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) < 82


def test_inside_others_only_parameters_are_shown() -> None:
    """Pipelines, grids and ensembles print fitted parts as they print their own."""
    X, _, labels = data()
    pipeline = make_pipeline(StandardScaler(), CGBoostClassifier(penalty="l1")).fit(X, labels)
    assert repr(pipeline) == repr(clone(pipeline))
    assert "sk-top-container" in pipeline._repr_html_()
    assert "certified" in repr(pipeline[-1])
    search = GridSearchCV(CGBoostClassifier(penalty="l1"), {"C": [0.1, 1.0]}, cv=2).fit(X, labels)
    assert repr(search) == repr(clone(search))
    assert "certified" in repr(search.best_estimator_)
    search._repr_html_()
    inner = StagewiseRegressor(Ridge(alpha=2.0))
    assert repr(inner) == "StagewiseRegressor(estimator=Ridge(alpha=2.0))"


def test_a_model_without_columns_says_so() -> None:
    """Nothing breaks where the best model is a constant."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(cgboost.exceptions.TrivialModelWarning):
        model = CGBoostClassifier(penalty="l1", C=1e-6).fit(X, np.arange(20) % 2)
    assert "0 kernel columns" in repr(model)
    assert "cgboost-panel" in model._repr_html_()


@pytest.mark.parametrize(("n_kernels", "n_lines"), [(3, 1), (9, 9)], ids=["short", "long"])
def test_a_dict_of_kernels_is_printed_in_its_order(n_kernels: int, n_lines: int) -> None:
    """That of priority, on one line or on several, and the parameter stays the dict it was."""
    kernel = Linear() if n_lines == 1 else RBF(0.5)
    kernels = dict.fromkeys([f"k{n_kernels - k}" for k in range(n_kernels)], kernel)
    model = CGBoostClassifier(kernels)
    printed = repr(model)
    assert len(printed.splitlines()) == n_lines
    places = [printed.index(f"'{name}': {kernel!r}") for name in kernels]
    assert places == sorted(places)
    assert model.library is kernels
