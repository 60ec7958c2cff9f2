"""What a search that goes on keeps, and what it does not go on with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cgboost import Checkpoint, ColumnGeneration
from cgboost.exceptions import ResumeError
from cgboost.generation.history import StopReason
from cgboost.integer import StrongBranching, VariableBranching

from .tree_problems import cutting_stock, fixed_charge

OPEN = VariableBranching(integer=[("open", k) for k in range(3)])


def test_what_strong_branching_has_learned_is_kept(tmp_path: Path) -> None:
    """Pseudo-costs of a search are there in the one that goes on."""
    problem, path = fixed_charge(2), tmp_path / "tree.ckpt"
    whole = problem.search(strong_branching=StrongBranching()).run()
    callbacks = [Checkpoint(path, every=0.0), lambda state: state.n_nodes == 2]
    problem.search(strong_branching=StrongBranching(), callbacks=callbacks).run()
    result = problem.search(strong_branching=StrongBranching()).run(resume=path)
    assert result.objective == pytest.approx(whole.objective, rel=1e-9)
    assert result.n_nodes == whole.n_nodes


REFUSED: list[tuple[Any, dict[str, Any], Any, str]] = [
    (fixed_charge(1), {}, cutting_stock(1).search(),
     "other data.*resume with the master and the pricer of its run.*same rows, senses and right"),
    (cutting_stock(3), {"objective_step": 1.0}, cutting_stock(3).search(objective_step=0.5),
     r"had objective_step=1\.0, got 0\.5"),
    (fixed_charge(1), {"branching": OPEN}, fixed_charge(1).search(branching=VariableBranching()),
     r"the integer variables \('open', 0\), .*, got none"),
    (cutting_stock(3), {}, ColumnGeneration(cutting_stock(3).master(), cutting_stock(3).pricer()),
     "is of a tree search"),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "options", "other", "words"), REFUSED, ids=range(4))
def test_what_is_not_that_search_is_refused(
    problem: Any, options: dict[str, Any], other: Any, words: str, tmp_path: Path
) -> None:
    """Other rows, steps or integer variables, by which nodes in the file are closed; the loop."""
    path = tmp_path / "tree.ckpt"
    problem.search(callbacks=[Checkpoint(path)], **options).run()
    assert problem.search(**options).run(resume=path).stop_reason is StopReason.OPTIMAL
    with pytest.raises(ResumeError, match=words) as refused:
        other.run(resume=path)
    assert "X, y" not in str(refused.value)


def test_a_search_does_not_go_on_with_a_run_of_the_loop(tmp_path: Path) -> None:
    """The message names what does."""
    problem, path = cutting_stock(3), tmp_path / "run.ckpt"
    ColumnGeneration(problem.master(), problem.pricer(), callbacks=[Checkpoint(path)]).run()
    with pytest.raises(ResumeError, match="of a run of the loop"):
        problem.search().run(resume=path)
