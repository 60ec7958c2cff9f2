"""Functions of stages in words and values of the data, and the graph of what stages use."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from cgboost import TransformRegressor
from cgboost.additive.export.curve import stage_graph
from cgboost.additive.stage import Stage
from tests.additive.test_stage import chain, line


def fitted() -> tuple[pd.DataFrame, TransformRegressor]:
    """A category with levels 0 and 3, and a product that takes several stages."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"u": rng.uniform(-1, 1, 800), "v": rng.uniform(-1, 1, 800)})
    X["colour"] = rng.choice(["green", "red"], 800)
    y = 2 * X["u"] + X["u"] * X["v"] + 3.0 * (X["colour"] == "red")
    return X, TransformRegressor(n_estimators=4, random_state=0).fit(X, y)


def test_a_curve_takes_categories_by_their_names() -> None:
    """Three between the two; one that was never seen is as a missing one."""
    _, model = fitted()
    curve = model.transformation(0, "colour")
    green, red, new, missing = curve.weight * curve(["green", "red", "blue", None])
    assert red - green == pytest.approx(3.0, abs=0.1)
    assert new == missing
    assert curve.n_regressors == 0


def test_the_outputs_of_earlier_stages_are_zero_unless_they_are_given() -> None:
    """h(x | ŷ) is linear in ŷ; without it only h(x | 0) is left; the wrong number is an error."""
    X, model = fitted()
    later = next(
        (k, term.feature)
        for k, stage in enumerate(model.stages_)
        for _, term in stage.terms
        if k > 0 and term.coef.any()
    )
    curve = model.transformation(*later)
    x = [0.1, -0.4] if curve.categories is None else ["red", "green"]
    given = np.full((2, curve.n_regressors), 0.3)
    difference = curve(x, given) - curve(x, np.zeros_like(given))
    assert np.abs(difference).max() > 0
    if curve.output is None:
        np.testing.assert_array_equal(curve(x), curve(x, np.zeros_like(given)))
    with pytest.raises(ValueError, match=rf"shape \(2, {curve.n_regressors}\).*got \(1, 1\)"):
        curve(x, [[1.0]])
    with pytest.raises(ValueError, match="x must have one dimension"):
        curve([x])
    assert len(X)


def test_the_words_of_a_curve_are_its_values() -> None:
    """Each leaf's formula, evaluated, is weight times the function there; long ones are cut."""
    _, model = fitted()
    curve = model.transformation(0, "colour")
    found = {}
    for words in curve.text().splitlines():
        where, value = words.split(": ")
        for name in ("green", "red"):
            if name in where:
                found[name] = float(value)
    wanted = curve.weight * curve(list(found))
    np.testing.assert_allclose(list(found.values()), wanted, rtol=1e-5)
    assert repr(curve).startswith("StageCurve of 'colour' in stage 0, times its weight")
    bent = model.transformation(0, "u")
    assert len(repr(bent).splitlines()) <= 6


def test_the_words_of_a_model_name_every_stage() -> None:
    """Its sum, and below it each stage with its functions."""
    _, model = fitted()
    text = model.text()
    assert text.startswith("f = ")
    for k in range(len(model.stages_)):
        assert f"stage_{k}:" in text
    assert "plus a function of colour:" in text


def test_edges_are_what_the_stages_use() -> None:
    """Inputs with weights and leaves; regressors of leaves with the inputs of these leaves."""
    graph = stage_graph(chain().stages, [1.0, 0.5, 2.0], ["p", "q"])
    assert nx.is_directed_acyclic_graph(graph)
    assert dict(graph.nodes(data="kind")) == {
        "p": "feature",
        "q": "feature",
        0: "stage",
        1: "stage",
        2: "stage",
    }
    assert [graph.nodes[k]["coefficient"] for k in range(3)] == [1.0, 0.5, 2.0]
    assert [graph.nodes[k]["intercept"] for k in range(3)] == [1.0, 0.0, -1.0]
    assert set(graph.edges) == {("p", 0), ("q", 1), (0, 1), (1, 2)}
    assert graph.edges["p", 0] == {"kind": "input", "weight": 2.0, "leaves": 2}
    both = {"kind": "input", "weight": -1.0, "leaves": 2, "leaves_of": ["q"]}
    assert graph.edges[0, 1] == both


def test_a_regressor_alone_is_an_edge_too() -> None:
    """With the inputs in whose leaves it is."""
    stages = [
        Stage(0.0, [(1.0, line(0, 1.0))]),
        Stage(0.0, [(1.0, line(0, 1.0, coef=[2.0])), (1.0, line(1, 1.0, coef=[1.0]))]),
    ]
    graph = stage_graph(stages, np.ones(2).tolist(), ["p", "q"])
    assert graph.edges[0, 1] == {"kind": "regressor", "leaves_of": ["p", "q"]}
    assert not stage_graph([], [], ["p"]).edges
