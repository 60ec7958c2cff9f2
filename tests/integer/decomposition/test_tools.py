"""Models of other modelling tools: what is read is what was written, whatever the tool."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cgboost.integer.decomposition.model import as_model
from cgboost.integer.decomposition.model_parts import ModelError, ModelParts
from tests.integer.decomposition.tool_models import REFUSED, TOOLS

ROOT = Path(__file__).parents[3]
PACKAGE = {"mathopt": "ortools", "model_builder": "ortools", "pywraplp": "ortools"}
INFINITY = float("inf")

ROWS = {
    "[('x', 1.0), ('y', 1.0)]": [-INFINITY, 7.0],
    "[('x', 2.0), ('z', -1.0)]": [3.0, INFINITY],
    "[('u', 1.0), ('y', -1.0)]": [-0.5, -0.5],
    "[('u', 1.0), ('x', 1.0)]": [1.0, 8.0],
}
VARIABLES = {
    "x": [0.0, 4.0, True],
    "y": [-1.0, INFINITY, False],
    "z": [0.0, 1.0, True],
    "u": [-INFINITY, INFINITY, False],
    "w": [-3.0, 2.0, True],
}
LEAST_OPTIMUM = 3 * 4 + 2 * 3.0
"""x = 4, y = 3 by the row of the total, z = 0: the best without the constant."""


@pytest.mark.parametrize("tool", TOOLS)
def test_tools_say_the_same(tool: str) -> None:
    """Names, bounds, rows, costs, constant, sense, optimum and refusals are those of the model."""
    package = PACKAGE.get(tool, tool)
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed: it is in the extra of peers")
    own = [sys.executable, "-m", "tests.integer.decomposition.tool_models", tool]
    answer = subprocess.run(own, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not answer.returncode, answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    constant = 0.0 if tool == "linopy" else 5.0
    assert found["rows"] == ROWS
    assert found["variables"] == VARIABLES
    assert found["cost"] == {"x": 3.0, "y": 2.0, "z": -1.0}
    assert found["constant"] == constant
    assert found["maximize"]
    assert found["row_names"] in (
        ["equal", "high", "least", "low", "total"],
        ["equal", "least", "low", "total"],
        ["equal", "high[a]", "least[a]", "low[a]", "total[a]"],
    )
    assert found["optimum"] == pytest.approx(LEAST_OPTIMUM + constant)
    assert ("refusal" in found) == (tool in REFUSED)


def test_parts_refuse_names_that_are_not_unique() -> None:
    """Two variables, or two rows, of one name are refused with the name."""
    parts = ModelParts()
    parts.add_variable("a b", 0, None)
    with pytest.raises(ModelError, match="two variables have the name 'a b'"):
        parts.add_variable("a b", 0, 1)
    parts.add_row("r", [(0, 1.0)], None, 1.0)
    with pytest.raises(ModelError, match="two rows have the name 'r'"):
        parts.add_row("r", [(0, 1.0)], None, 1.0)


def test_pyomo_models_that_are_not_expanded_are_refused() -> None:
    """Arcs, derivatives and disjuncts stand for rows that are not there yet, which tools refuse."""
    pe = pytest.importorskip("pyomo.environ")
    from pyomo.dae import ContinuousSet, DerivativeVar
    from pyomo.gdp import Disjunct
    from pyomo.network import Arc, Port

    def model() -> Any:
        own = pe.ConcreteModel()
        own.time = ContinuousSet(bounds=(0, 1))
        own.x, own.y = pe.Var(own.time, bounds=(0, 5)), pe.Var(bounds=(3, 9))
        own.cost = pe.Objective(expr=own.x[1] + own.y)
        own.row = pe.Constraint(expr=own.x[0] + own.y >= 4)
        return own

    linked, rising, divided = model(), model(), model()
    linked.out, linked.into = Port(initialize={"f": linked.x[0]}), Port(initialize={"f": linked.y})
    linked.arc = Arc(source=linked.out, dest=linked.into)
    rising.slope = DerivativeVar(rising.x, wrt=rising.time)
    divided.part = Disjunct()
    divided.part.row = pe.Constraint(expr=divided.y >= 6)
    for own, name in ((linked, "arc"), (rising, "slope"), (divided, "part")):
        with pytest.raises(ModelError, match=f"'{name}' is a"):
            as_model(own)
    pe.TransformationFactory("network.expand_arcs").apply_to(linked)
    pe.TransformationFactory("dae.finite_difference").apply_to(rising, nfe=2)
    assert (as_model(linked).program.n_rows, as_model(rising).program.n_rows) == (2, 3)
