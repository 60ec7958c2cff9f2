"""Blocks of models that name none."""

import numpy as np
import pytest

from cgboost.integer.decomposition.detection import candidates, detect, row_types
from cgboost.integer.decomposition.model import Model, as_model
from solvers import Program


def assignment(n_agents: int = 3, n_jobs: int = 6) -> Model:
    """Generalised assignment: jobs are equations with coefficients 1, agents are knapsacks."""
    rng = np.random.default_rng(0)
    n = n_agents * n_jobs
    matrix = np.zeros((n_jobs + n_agents, n))
    for i in range(n_agents):
        for j in range(n_jobs):
            matrix[j, i * n_jobs + j] = 1
            matrix[n_jobs + i, i * n_jobs + j] = rng.integers(2, 9)
    low = np.r_[np.ones(n_jobs), np.full(n_agents, -np.inf)]
    high = np.r_[np.ones(n_jobs), np.full(n_agents, 15.0 * max(1, n_jobs // (2 * n_agents)))]
    return as_model(Program(rng.integers(1, 9, n), matrix, low, high, 0, 1, None, np.ones(n)))


def test_knapsacks_become_blocks() -> None:
    """The jobs link, each agent is a block; dividing by jobs would give no better bound."""
    found = detect(assignment())
    assert found is not None
    assert found.structure.linking_rows.tolist() == list(range(6))
    assert found.structure.n_blocks == 3
    assert 0 < found.score < 1


@pytest.mark.parametrize(("n_agents", "n_jobs"), [(3, 30), (5, 50), (2, 300)])
def test_few_knapsacks_among_many_linking_rows(n_agents: int, n_jobs: int) -> None:
    """More than nine of ten rows link, but half of the entries are in blocks."""
    found = detect(assignment(n_agents, n_jobs))
    assert found is not None
    assert found.structure.linking_rows.tolist() == list(range(n_jobs))
    assert found.structure.n_blocks == n_agents


def test_few_of_the_entries_in_blocks() -> None:
    """Dense rows over all variables, and two short ones: there are no blocks."""
    matrix = np.r_[np.arange(1.0, 401.0).reshape(20, 20) % 7 + 1.0, np.eye(20)[:2]]
    model = as_model(Program(np.ones(20), matrix, 1, np.inf, 0, 1, None, np.ones(20)))
    assert detect(model) is None


def test_types_of_rows() -> None:
    """Rows have the types of their coefficients and right-hand sides, with either sign."""
    matrix = [[1, 1], [-1, -1], [1, 1], [1, 1], [2, 3], [-2, 3]]
    low = [1, -np.inf, -np.inf, 2, -np.inf, 0]
    high = [1, -1, 1, 2, 7, 4]
    model = as_model(Program([1, 1], matrix, low, high, 0, 1, None, [1, 1]))
    types = ["partition", "cover", "pack", "sum", "knapsack", "other"]
    assert row_types(model).tolist() == types


def test_a_model_without_blocks() -> None:
    """One dense knapsack falls into nothing."""
    model = as_model(Program(-np.ones(5), [[2, 3, 4, 5, 6]], -np.inf, 9, 0, 1, None, np.ones(5)))
    assert detect(model) is None


def test_separate_models() -> None:
    """What has no linking row at all is divided without one."""
    matrix = np.kron(np.eye(4), [[2, 3, 4]])
    model = as_model(Program(-np.ones(12), matrix, -np.inf, 5, 0, 1, None, np.ones(12)))
    best = candidates(model)[0]
    assert best.structure.n_blocks == 4
    assert not best.structure.linking_rows.size
