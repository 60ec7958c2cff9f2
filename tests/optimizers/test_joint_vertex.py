"""From inside the optimal face of several quantiles to a vertex of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import examples
from tests.masters.quantiles.test_master import random_problem

TIGHT = 1e-9


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_run_ends_on_a_vertex(seed: int) -> None:
    """Residuals and crossings that are 0 leave no direction to the coefficients in use."""
    problem = random_problem(seed)
    _, result = problem.run()
    used, outputs = np.flatnonzero(result.coef), problem.outputs(result)
    assert result.objective == pytest.approx(problem.optimum(), rel=1e-7, abs=1e-7)
    scale = TIGHT * (1.0 + np.abs(problem.y).max() + np.abs(outputs).max())
    count, n_rows = outputs.shape
    counting = problem.cost > 0
    model = np.zeros((count, n_rows, len(used) + count))
    for place, j in enumerate(used):
        column = result.columns[j]
        model[column.output, :, place] = problem.X[:, column.hypothesis.index]
    for k in range(count):
        model[k, :, len(used) + k] = 1.0
    rows = model[(np.abs(outputs - problem.y) <= scale) & counting]
    crossings = (np.abs(np.diff(outputs, axis=0)) <= scale) & counting
    equations = np.vstack([rows, np.diff(model, axis=0)[crossings]])
    size = np.abs(equations).max(axis=0, initial=0.0)
    assert (size > 0).all()
    assert np.linalg.matrix_rank(equations / size, tol=1e-9) == len(used) + count


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_repeat_each_other(seed: int) -> None:
    """Of a feature and its copy, at most one is in an output of the model."""
    problem = random_problem(17 + seed, n=40, p=5)
    doubled = problem._replace(X=np.hstack([problem.X, problem.X]))
    _, result = doubled.run()
    assert result.objective == pytest.approx(problem.optimum(), rel=1e-7)
    used = [result.columns[j] for j in np.flatnonzero(result.coef)]
    assert len({(column.output, column.hypothesis.index % 5) for column in used}) == len(used)
