"""A named solver that is the wrong tool is found out by measurement, in the first rounds."""

import time
import warnings
from functools import partial
from typing import Any, Literal

import numpy as np
import pytest

from cgboost import RBF, CGBoostClassifier
from cgboost._solvers import SolverFailure
from cgboost.exceptions import SlowSolverWarning
from cgboost.optimizers import solver_comparison
from cgboost.optimizers.solver_comparison import LOOKS, SolverComparison


class Burning:
    """A live problem whose solves take so many CPU seconds."""

    def __init__(self, seconds: float, failing: bool = False) -> None:
        self.seconds, self.failing, self.solves, self.columns = seconds, failing, 0, 0

    def add(self, new: list[Any]) -> None:
        """Take in columns."""
        self.columns += len(new)

    def solve(self, time_limit: float | None, accuracy: float) -> str:
        """Keep the processor busy."""
        end = time.thread_time() + self.seconds
        while time.thread_time() < end:
            pass
        self.solves += 1
        if self.failing:
            raise SolverFailure("lost")
        return "answer"


def after(columns: list[Any], number: int) -> list[Any]:
    """The columns from a number on."""
    return columns[number:]


def messages_of(named: Burning, own: Burning, rounds: int = 6) -> list[str]:
    """The warnings of so many rounds, each with one column more."""
    comparison = SolverComparison("named", lambda: own)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for number in range(rounds):
            columns = [np.zeros(1)] * number
            try:
                assert comparison.solve(named, partial(after, columns), None, 0.0) == "answer"
            except SolverFailure:
                assert named.failing
    return [str(w.message) for w in caught if w.category is SlowSolverWarning]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look after 20 ms."""
    monkeypatch.setattr(solver_comparison, "SOME_TIME", 0.02)


@pytest.mark.parametrize("failing", [False, True])
def test_a_solver_that_is_far_slower_is_named_once(failing: bool) -> None:
    """With what would do, also where it gives up; the own methods then rest."""
    own = Burning(0.0005)
    (message,) = messages_of(Burning(0.03, failing), own)
    assert "solver='named' takes more than 10 times as long as solver='auto'" in message
    assert message.endswith("(more: cgboost explain solvers)")
    assert own.solves == own.columns == 1


def test_a_solver_that_is_a_little_slower_is_left_alone() -> None:
    """It is compared a few times, over all columns of each round, and never again."""
    own = Burning(0.006)
    assert messages_of(Burning(0.03), own) == []
    assert (own.solves, own.columns) == (LOOKS, LOOKS)


def test_quick_fits_and_own_methods_that_fail_are_no_finding() -> None:
    """Nothing is compared before some time is spent, nor with what has no answer."""
    own = Burning(0.0)
    assert messages_of(Burning(0.001), own) == []
    assert own.solves == 0
    own = Burning(0.0, failing=True)
    assert messages_of(Burning(0.03), own) == []
    assert own.solves == 1


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_the_comparison_leaves_the_model_as_it_is(
    penalty: Literal["l1", "l2"], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both norms, with every problem solved twice: the warning comes, and the same optimum."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] * X[:, 1] > 0
    own = CGBoostClassifier(RBF(1.0), penalty=penalty, columns_per_round=5).fit(X, y)
    monkeypatch.setattr(solver_comparison, "SOME_TIME", 0.0)
    monkeypatch.setattr(solver_comparison, "SLOWER", 0.0)
    with pytest.warns(SlowSolverWarning, match="solver='piqp' takes more than"):
        model = CGBoostClassifier(RBF(1.0), penalty=penalty, solver="piqp").fit(X, y)
    assert model.converged_
    assert model.objective_ == pytest.approx(own.objective_, rel=2e-4)
