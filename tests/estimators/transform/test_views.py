"""What a model of transform regression says in stages, copies, words, SQL and graphs is one."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier

from cgboost import TransformClassifier, TransformRegressor
from cgboost.estimators.transform.variants import VARIANTS
from tests.cases import Case, law
from tests.estimators.transform.transform_data import answers, mixed

X, Y, WEIGHTS = mixed(0, 800)
COUNTS = np.round(np.exp(np.clip(Y, -5, 4) / 2))
LABELS = np.array(["d", "a", "c", "b"])[np.digitize(Y, np.quantile(Y, [0.2, 0.5, 0.8]))]
RULES = {"interaction_cst": "pairwise", "monotonic_cst": {"x": 1}, "n_holdouts": 2}


def case(name: str, model: Any, y: np.ndarray) -> Case:
    """A model to be fitted to a response."""
    return Case(name=name, make=lambda: model.fit(X, y, WEIGHTS))


MODELS = [
    *(case(v, TransformRegressor(variant=v, n_estimators=4), Y) for v in VARIANTS),
    *(case(f"{v}, two", TransformClassifier(variant=v, n_estimators=4), Y > 2) for v in VARIANTS),
    *(case(f"{v}, four", TransformClassifier(variant=v, n_estimators=4), LABELS) for v in VARIANTS),
    case("against the rest", TransformClassifier(multi_class="ovr", n_estimators=3), LABELS),
    case("counts", TransformRegressor(loss="poisson", n_estimators=4), COUNTS),
    case("holdouts", TransformRegressor(n_holdouts=2, n_estimators=4), Y),
    case("holdouts of classes", TransformClassifier(n_holdouts=3, n_estimators=3), LABELS),
    case("constrained", TransformRegressor(**RULES), Y),
]


@law(MODELS)
def test_all_views_of_a_model_agree(case: Case) -> None:
    """The last stage, a pickle and SQL of every output have its predictions or probabilities.

    Words begin with its constants and have all stages, as the graph has; importances are shares.
    """
    model = case.make()
    classes = is_classifier(model)
    predict = type(model).predict_proba if classes else type(model).predict
    wanted = predict(model, X)
    *_, last = model.staged_predict_proba(X) if classes else model.staged_predict(X)
    np.testing.assert_allclose(last, wanted, rtol=1e-10, atol=1e-10)
    *_, scores = model.staged_decision_function(X)
    decided = model.decision_function(X) if classes else scores
    np.testing.assert_allclose(scores, decided, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(predict(pickle.loads(pickle.dumps(model)), X), wanted)
    several = classes and len(model.classes_) > 2
    if not classes:
        np.testing.assert_allclose(answers(model, X), wanted, rtol=1e-9, atol=1e-9)
    elif not several:
        np.testing.assert_allclose(answers(model, X), wanted[:, 1], rtol=0, atol=1e-9)
    else:
        said = np.column_stack([answers(model, X, label=label) for label in model.classes_])
        found = said / said.sum(axis=1, keepdims=True)  # against the rest they are of one each
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)
    if classes:
        np.testing.assert_allclose(wanted.sum(axis=1), 1.0, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), model.classes_[wanted.argmax(axis=1)])
    for k, own in enumerate(model.stages_ if several else [model.stages_]):
        constant = np.atleast_1d(model.intercept_)[k]
        text, graph = model.text(output=k), model.stage_graph(output=k)
        assert text.startswith(f"f = {constant:.6g} ")
        assert f"stage_{len(own) - 1}:" in text
        stages = sum(isinstance(node, int) for node in graph)
        assert stages >= len(own) if several else stages == len(own)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert several or len(model.stages_) == model.n_columns_
