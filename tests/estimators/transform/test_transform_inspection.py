"""Transform models looked at: their functions, importances, graph, and SQL."""

from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from cgboost import LinearTreeBoostingClassifier, TransformClassifier, TransformRegressor
from tests.estimators.transform.transform_data import mixed, product, surface

BOTH = [TransformRegressor, TransformClassifier]


def test_the_sum_of_transformations_is_the_first_stage() -> None:
    """λ and h of every feature, by name and by number."""
    X, _, model = product()
    stage, none = model.stages_[0], np.zeros((len(X), 0))
    total = stage.intercept + model.intercept_
    for weight, term in stage.terms:
        name = X.columns[term.feature]
        curve = model.transformation(0, name)
        assert curve.function is model.transformation(0, term.feature).function is term
        np.testing.assert_array_equal(curve(X[name]), term(X[name].to_numpy(), none))
        assert curve.weight == weight
        total = total + weight * term(X[name].to_numpy(), none)
    np.testing.assert_allclose(
        next(model.staged_predict(X)), model.column_weights_[0] * total, rtol=1e-6
    )
    with pytest.raises(KeyError, match="stage 0 does not use 'noise'; it uses 'a', 'b'"):
        model.transformation(0, "noise")
    with pytest.raises(KeyError, match="there is no feature 'z'"):
        model.transformation(0, "z")
    with pytest.raises(IndexError, match="stage must be from 0 to 3, or −1 for the last, got 9"):
        model.transformation(9, "a")
    for output in (1, -1, "a"):
        with pytest.raises(IndexError, match="output must be 0, the only one, got"):
            model.transformation(0, "a", output=output)
        with pytest.raises(IndexError, match="output must be 0, the only one, got"):
            model.text(output=output)


def test_the_stage_graph_has_what_the_stages_use() -> None:
    """Features by name, stages by number, coefficients; those that matter are important."""
    _, _, model = product()
    graph = model.stage_graph()
    assert nx.is_directed_acyclic_graph(graph)
    assert set(graph.nodes) == {"a", "b", "noise", *range(4)}
    for number, stage in enumerate(model.stages_):
        used = {["a", "b", "noise", *range(number)][term.feature] for _, term in stage.terms}
        edges = graph.in_edges(number, data="kind")
        assert {node for node, _, kind in edges if kind == "input"} == used
        assert graph.nodes[number]["coefficient"] == model.column_weights_[number]
    assert (model.importances_[:2] > 0.3).all()
    plain = TransformRegressor(n_estimators=2).fit(*surface()[:2]).stage_graph()
    assert {"x0", "x1"} <= set(plain.nodes)


@pytest.mark.parametrize("names", [["a", "b", "c"], [1, 2, 5]], ids=["words", "numbers"])
@pytest.mark.parametrize("way", ["joint", "ovr"])
def test_outputs_are_called_by_their_classes(way: str, names: list[Any]) -> None:
    """Words, graphs and curves are the same by label and by place, where that is no label."""
    X, y, _ = mixed(0)
    model = TransformClassifier(n_estimators=2, multi_class=way)
    model.fit(X, np.array(names)[np.digitize(y, [-2, 2])])
    found = [model.text(output=name) for name in names]
    assert len(set(found)) == 3
    assert model.text() == model.text(output=0) == found[0]
    for k, name in enumerate(names):
        assert f"{model.intercept_[k]:.6g}" in found[k].split("\n")[0]
        assert model.stage_graph(output=name).number_of_nodes() >= len(model.stages_[k])
        _, term = model.stages_[k][0].terms[0]
        assert model.transformation(0, term.feature, output=name).function is term
    with pytest.raises(IndexError, match=r"one of the classes \[.*\], or its place.*got 'other'"):
        model.text(output="other")


def test_constants_that_are_rounding_are_0_in_words() -> None:
    """Of stages, of models and of trees; where it is not 0 the constant is as it was fitted."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(900, 2))
    y = np.argmax(np.column_stack([X, -X.sum(axis=1)]) + 0.1 * rng.normal(size=(900, 3)), axis=1)
    model = TransformClassifier(n_estimators=2, early_stopping=False).fit(X, y)
    trees = LinearTreeBoostingClassifier(n_estimators=3, early_stopping=False).fit(X, y)
    model._runs[0].outputs[1].path[-1] = (model._runs[0].outputs[1].path[-1][0], -7e-16)
    assert model.text(output=1).startswith("f = 0 + ")
    model.stages_[1][0] = replace(model.stages_[1][0], intercept=2e-17)
    assert model.text(output=1).split("\n")[1:3] == ["stage_0:", "    0"]
    object.__setattr__(trees._runs[0].outputs[2], "path", [(trees._runs[0].outputs[2].coef, 1e-17)])
    assert trees.text(output=2).startswith("f = 0 plus")
    assert f"f = {trees.intercept_[0]:.6g} plus" in trees.text(output=0)


def test_two_classes_have_the_output_of_the_second() -> None:
    """By its label, by 0 and by default; the first has none, and is told so."""
    X, y, _ = mixed(0)
    model = TransformClassifier(n_estimators=2).fit(X, np.where(y > 0, "yes", "no"))
    assert model.text(output="yes") == model.text(output=0) == model.text()
    with pytest.raises(IndexError, match="'yes' or 0: two classes have one output.*got 'no'"):
        model.text(output="no")
    trees = LinearTreeBoostingClassifier(n_estimators=2).fit(X, np.where(y > 0, "yes", "no"))
    assert trees.text(output="yes") == trees.text()
    with pytest.raises(IndexError, match="'yes' or 0: two classes have one output.*got -1"):
        trees.text(output=-1)
