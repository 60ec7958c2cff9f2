"""A tree search that is interrupted goes on with its pool, its solution and its open nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cgboost import Checkpoint, ColumnGeneration
from cgboost.exceptions import ResumeError
from cgboost.generation.history import StopReason
from cgboost.integer import StrongBranching, VariableBranching

from .tree_problems import Problem, bin_packing, cutting_stock, fixed_charge


class Stop:
    """Stops a search after some nodes, by Ctrl-C or as it is asked for."""

    def __init__(self, nodes: int, *, ctrl_c: bool) -> None:
        self.nodes, self.ctrl_c = nodes, ctrl_c

    def __call__(self, state: Any) -> bool:
        self.nodes -= 1
        if self.nodes <= 0 and self.ctrl_c:
            raise KeyboardInterrupt
        return self.nodes <= 0


@pytest.mark.parametrize("ctrl_c", [False, True])
@pytest.mark.parametrize("nodes", [1, 2, 4])
@pytest.mark.parametrize("make", [bin_packing, cutting_stock, fixed_charge])
def test_a_search_that_was_stopped_ends_as_if_it_had_not_been(
    make: Callable[[int], Problem], nodes: int, ctrl_c: bool, tmp_path: Path
) -> None:
    """Same optimum and proof; the table goes on, and no node is done twice."""
    problem, path = make(3), tmp_path / "tree.ckpt"
    whole = problem.search().run()
    callbacks = [Checkpoint(path, every=0.0), Stop(nodes, ctrl_c=ctrl_c)]
    problem.search(callbacks=callbacks).run()
    result = problem.search().run(resume=path)
    assert result.stop_reason is StopReason.OPTIMAL
    assert result.objective == pytest.approx(whole.objective, rel=1e-9)
    assert result.gap <= 1e-9
    assert problem.solves(result)
    numbers = result.tree["node"]
    assert len(set(numbers.tolist())) == len(numbers)


def test_what_strong_branching_has_learned_is_kept(tmp_path: Path) -> None:
    """Pseudo-costs of a search are there in the one that goes on."""
    problem, path = fixed_charge(2), tmp_path / "tree.ckpt"
    whole = problem.search(strong_branching=StrongBranching()).run()
    stop = Stop(2, ctrl_c=False)
    first = problem.search(
        strong_branching=StrongBranching(), callbacks=[Checkpoint(path, every=0.0), stop]
    )
    first.run()
    strong = StrongBranching()
    result = problem.search(strong_branching=strong).run(resume=path)
    assert result.objective == pytest.approx(whole.objective, rel=1e-9)
    assert result.n_nodes == whole.n_nodes


def test_another_problem_is_refused(tmp_path: Path) -> None:
    """The rows of the master are the fingerprint."""
    path = tmp_path / "tree.ckpt"
    fixed_charge(1).search(callbacks=[Checkpoint(path)]).run()
    with pytest.raises(ResumeError, match="other data") as refused:
        cutting_stock(1).search().run(resume=path)
    assert "resume with the master and the pricer of its run" in str(refused.value)
    assert "same rows, senses and right-hand sides" in str(refused.value)
    assert "X, y" not in str(refused.value)


def test_the_time_limit_includes_earlier_runs(tmp_path: Path) -> None:
    """With the limit that these have reached, the search ends at once and says why."""
    problem, path = cutting_stock(3), tmp_path / "tree.ckpt"
    first = problem.search(callbacks=[Checkpoint(path, every=0.0), Stop(1, ctrl_c=False)]).run()
    result = problem.search().run(time_limit=first.seconds / 2, resume=path)
    assert result.stop_reason is StopReason.TIME
    assert result.n_nodes <= first.n_nodes + 1
    assert "; the limit includes the" in result.message
    assert result.message.endswith("s of the earlier runs: give a larger one")
    longer = problem.search().run(time_limit=first.seconds + 60.0, resume=path)
    assert longer.stop_reason is StopReason.OPTIMAL


def test_a_search_does_not_go_on_with_a_run_of_the_loop(tmp_path: Path) -> None:
    """The message names what does."""
    problem, path = cutting_stock(3), tmp_path / "run.ckpt"
    parts = problem.search().options
    ColumnGeneration(parts.master, parts.pricer, callbacks=[Checkpoint(path)]).run()
    with pytest.raises(ResumeError, match="of a run of the loop"):
        problem.search().run(resume=path)


def test_a_run_of_the_loop_does_not_go_on_with_a_search(tmp_path: Path) -> None:
    """Nor the other way round; the message names what does."""
    problem, path = cutting_stock(3), tmp_path / "tree.ckpt"
    problem.search(callbacks=[Checkpoint(path)]).run()
    parts = problem.search().options
    with pytest.raises(ResumeError, match="is of a tree search"):
        ColumnGeneration(parts.master, parts.pricer).run(resume=path)


def test_another_step_of_the_objective_is_refused(tmp_path: Path) -> None:
    """Bounds in the file are rounded by the step of its search."""
    problem, path = cutting_stock(3), tmp_path / "tree.ckpt"
    problem.search(objective_step=1.0, callbacks=[Checkpoint(path)]).run()
    with pytest.raises(ResumeError, match=r"had objective_step=1\.0, got 0\.5"):
        problem.search(objective_step=0.5).run(resume=path)


def test_other_integer_variables_are_refused(tmp_path: Path) -> None:
    """Nodes in the file are closed by solutions in which these need not be whole."""
    problem, path = fixed_charge(1), tmp_path / "tree.ckpt"
    rule = VariableBranching(integer=[("open", k) for k in range(3)])
    problem.search(branching=rule, callbacks=[Checkpoint(path)]).run()
    assert problem.search(branching=rule).run(resume=path).stop_reason is StopReason.OPTIMAL
    with pytest.raises(ResumeError, match=r"the integer variables \('open', 0\), .*, got none"):
        problem.search(branching=VariableBranching()).run(resume=path)
