"""What a result says of itself."""

from dataclasses import replace

import numpy as np

from cgboost.integer import RyanFoster

from .tree_problems import generalised_assignment


def test_variables_and_summary() -> None:
    """The original variables of an assignment give every job to one agent, at the cost it says."""
    problem = generalised_assignment(1)
    result = problem.search(branching=RyanFoster()).run()
    jobs = sorted(job for _, job in result.variables)
    assert jobs == list(range(len(jobs)))
    assert set(result.variables.values()) == {1.0}
    for line in (
        f"objective    {result.objective:.8g}",
        f"lower bound  {result.bound:.8g}",
        f"nodes        {result.n_nodes}",
        f"stopped      {result.stop_reason}: {result.message}",
    ):
        assert line in result.summary()


def test_table_of_the_tree() -> None:
    """One entry for each node in every column; the root's bound is that of its relaxation."""
    problem = generalised_assignment(1)
    problem.step = None
    result = problem.search().run()
    assert {len(own) for own in result.tree.values()} == {result.n_nodes}
    assert abs(result.tree["bound"][0] - problem.optimum(integer=False)) < 1e-4


def test_summary_without_a_node() -> None:
    """A search that did nothing has a summary too."""
    result = generalised_assignment(1).search().run(max_nodes=0)
    assert "lower bound  none" in result.summary()
    assert "objective    inf" in result.summary()


def test_the_repr_is_short() -> None:
    """Its length does not depend on the number of columns and nodes."""
    result = generalised_assignment(1).search().run()
    tree = {name: np.tile(own, 1000) for name, own in result.tree.items()}
    large = replace(
        result, columns=1000 * result.columns, coef=np.tile(result.coef, 1000), tree=tree
    )
    assert repr(large) == repr(result)
    assert f"objective={result.objective!r}" in repr(result)
    assert len(repr(result)) < 500
