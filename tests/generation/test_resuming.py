"""A run that is interrupted goes on from its record, as if nothing had happened."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cgboost import Checkpoint, ColumnGeneration
from cgboost.exceptions import ResumeError, UnknownContentError
from cgboost.generation.callbacks import EarlyStopping
from cgboost.generation.columns import Column
from cgboost.generation.history import Round, StopReason
from cgboost.generation.resuming import fingerprint, time_used
from cgboost.generation.stabilization import Wentges
from cgboost.losses import Hinge, SquaredError
from cgboost.masters import LinearMaster, OneNormMaster
from cgboost.masters.stagewise.orthogonal import OrthogonalMaster
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.penalties import L2
from cgboost.pricing import FeaturePricer
from tests.cases import Case, law

from .cases import CountingMaster, Offering, scripted

RNG = np.random.default_rng(0)
H = RNG.normal(size=(60, 40))
LABELS = np.sign(H[:, :5].sum(axis=1) + RNG.normal(size=60))
COVERS = np.hstack([RNG.integers(0, 4, size=(10, 50)), 3 * np.eye(10)]).astype(float)
COSTS, NEEDS = RNG.uniform(0.5, 2.0, size=60), RNG.uniform(1.0, 9.0, size=10)


class Stop:
    """Stops a run after some rounds, by Ctrl-C or as it is asked for."""

    def __init__(self, rounds: int, *, ctrl_c: bool = False) -> None:
        self.rounds, self.ctrl_c = rounds, ctrl_c

    def __call__(self, current: Round) -> bool:
        if current.number + 1 >= self.rounds and self.ctrl_c:
            raise KeyboardInterrupt
        return current.number + 1 >= self.rounds


def hinge_run(sign: float = 1.0, **options: Any) -> ColumnGeneration:
    """A 1-norm machine over 40 features, to a gap of 1e-9."""
    master = OneNormMaster(Hinge().on(sign * LABELS, np.full(60, 2.0)))
    return ColumnGeneration(master, FeaturePricer(H), **{"tol": 1e-9} | options)


def squares_run(sign: float = 1.0, **options: Any) -> ColumnGeneration:
    """The same under squares, two columns a round."""
    master = SupportVectorMaster(SquaredError().on(sign * LABELS, np.ones(60)), L2())
    loop = {"tol": 1e-9, "columns_per_round": 2, "smoothing": Wentges()}
    return ColumnGeneration(master, FeaturePricer(H), **loop | options)


def greedy_run(sign: float = 1.0, **options: Any) -> ColumnGeneration:
    """The orthogonal greedy algorithm, ten columns."""
    master = OrthogonalMaster(SquaredError().on(sign * LABELS, np.ones(60)))
    return ColumnGeneration(master, FeaturePricer(H), **{"tol": 0.0, "max_columns": 10} | options)


def covering_run(sign: float = 1.0, **options: Any) -> ColumnGeneration:
    """Rows to be covered; a pricing function, which has no memory."""

    def price(duals: np.ndarray) -> tuple[list[Column], float]:
        reduced = COSTS - duals @ COVERS
        best = int(np.argmin(reduced))
        column = Column(COVERS[:, best], ("pool", best), cost=COSTS[best])
        return [column] if reduced[best] < -1e-9 else [], float(reduced[best])

    master = LinearMaster(10, ">=", NEEDS + (sign < 0), least_cost=COSTS.min())
    return ColumnGeneration(master, price, **{"tol": 1e-9} | options)


RUNS = [
    Case(name="1-norm", make=hinge_run),
    Case(name="2-norm", make=squares_run),
    Case(name="greedy", make=greedy_run),
    Case(name="covering", make=covering_run),
]
"""Loops; ``sign=-1`` makes them of other data."""


@pytest.mark.parametrize("ctrl_c", [False, True])
@pytest.mark.parametrize("rounds", [1, 2, 5])
@law(RUNS)
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(
    case: Case[ColumnGeneration], rounds: int, ctrl_c: bool, tmp_path: Path
) -> None:
    """Stopped or interrupted after some rounds, and resumed: objective, proof and history."""
    whole, path = case.make().run(), tmp_path / "run.ckpt"
    callbacks = [Checkpoint(path, every=0.0), Stop(rounds + 1, ctrl_c=ctrl_c)]
    first = case.make(callbacks=callbacks).run()
    assert first.n_rounds <= rounds + 1
    result = case.make().run(resume=path)
    assert result.objective == pytest.approx(whole.objective, rel=1e-9)
    assert result.stop_reason == whole.stop_reason
    np.testing.assert_array_equal(result.history["round"], np.arange(result.n_rounds))
    assert (np.diff(result.history["seconds"]) >= 0).all()
    assert (np.diff(result.history["columns"]) >= 0).all()
    before = first.history["objective"][: first.n_rounds - 1]
    np.testing.assert_allclose(result.history["objective"][: len(before)], before)
    with pytest.raises(ResumeError, match="of other data or parameters: resume with the master"):
        case.make(sign=-1.0).run(resume=path)


@law(RUNS)
def test_a_run_that_has_ended_is_not_run_again(
    case: Case[ColumnGeneration], tmp_path: Path
) -> None:
    """The result of the file, without a search, again and again: each start leaves a file."""
    path = tmp_path / "run.ckpt"
    whole = case.make(callbacks=[Checkpoint(path)]).run()
    for _ in range(3):
        loop = case.make(callbacks=[Checkpoint(path)])
        loop.pricer.price = None  # type: ignore[method-assign]
        result = loop.run(resume=path)
        assert result.objective == whole.objective
        np.testing.assert_array_equal(result.coef, whole.coef)


@pytest.mark.parametrize("columns_per_round", [1, 3])
def test_limits_may_grow_and_include_earlier_runs(columns_per_round: int, tmp_path: Path) -> None:
    """Six columns go on to fifteen, as a run of fifteen; a time that has passed ends it at once."""
    path = tmp_path / "run.ckpt"
    run = partial(hinge_run, columns_per_round=columns_per_round)
    run(max_columns=6, callbacks=[Checkpoint(path)]).run()
    whole, result = run(max_columns=15).run(), run(max_columns=15).run(resume=path)
    assert result.stop_reason is StopReason.MAX_COLUMNS
    assert [c.key for c in result.columns] == [c.key for c in whole.columns]
    assert result.objective == pytest.approx(whole.objective, rel=1e-12)
    late = hinge_run(time_limit=1e-6).run(resume=path)
    assert late.stop_reason is StopReason.TIME
    assert "the limit includes the" in late.message
    assert time_used(1.0, 2.0) == time_used(1.0, None) == ""
    words = "; the limit includes the 2 s of the earlier runs: give a larger one"
    assert time_used(2.0, 2.0) == words


def test_pricers_of_which_nothing_is_known_are_refused(tmp_path: Path) -> None:
    """A pricer without memory() may depend on anything."""
    pricer = Offering(lambda n: [])
    loop = ColumnGeneration(CountingMaster(), pricer, callbacks=[Checkpoint(tmp_path / "x")])
    with pytest.raises(ResumeError, match="a run of Offering cannot be resumed"):
        loop.run()


def test_early_stopping_sees_the_rounds_before(tmp_path: Path) -> None:
    """Patience that began before the interruption goes on after it."""
    path = tmp_path / "run.ckpt"

    def stopped(*more: Any) -> ColumnGeneration:
        scores = scripted(4, 3, 2, 1, 0, 1, 2, 3)
        return hinge_run(callbacks=[scores, EarlyStopping("validation_error", patience=3), *more])

    whole = stopped().run()
    stopped(Checkpoint(path, every=0.0), Stop(6)).run()
    result = stopped().run(resume=path)
    assert whole.stop_reason is result.stop_reason is StopReason.EARLY_STOPPING
    assert whole.best_round == result.best_round == 4
    assert result.objective == pytest.approx(whole.objective, rel=1e-12)


def test_a_fingerprint_knows_values_shapes_and_kinds() -> None:
    """Arrays, sparse matrices and words have the hash of what they say."""
    a = np.arange(6.0)
    assert fingerprint(a, "x") == fingerprint(a.copy(), "x")
    assert len({fingerprint(a), fingerprint(a.reshape(2, 3)), fingerprint(a + 1e-12)}) == 3
    assert fingerprint(a.astype(object)) != fingerprint(a)


def test_a_file_is_read_where_nothing_of_files_was_imported(tmp_path: Path) -> None:
    """In a new process with the classes of the loop alone."""
    code = """
import sys
import numpy as np
from cgboost.generation import Column
from cgboost import ColumnGeneration
from cgboost.masters import LinearMaster
master = LinearMaster(1, ">=", [3.0], least_cost=1.0)
master.add([Column(np.ones(1), "one", cost=1.0)])
callbacks = []
if len(sys.argv) > 2:
    from cgboost import Checkpoint
    callbacks = [Checkpoint(sys.argv[1])]
loop = ColumnGeneration(master, lambda duals: ([], 0.0), callbacks=callbacks)
print(loop.run(resume=None if callbacks else sys.argv[1]).objective)
"""
    for arguments in (["save"], []):
        command = [sys.executable, "-c", code, str(tmp_path / "run.ckpt"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("3.0\n", "")


def test_functions_of_columns_are_those_that_the_checkpoint_names(tmp_path: Path) -> None:
    """The file has their names alone; without them the message says where to give them."""

    def own() -> None: ...

    def run(callbacks: list[Any], resume: Path | None = None) -> float:
        master = LinearMaster(1, ">=", [3.0], least_cost=1.0)
        master.add([Column(np.ones(1), ("one", own), cost=1.0)])
        loop = ColumnGeneration(master, lambda duals: ([], 0.0), callbacks=callbacks)
        return loop.run(resume=resume).objective

    path = tmp_path / "run.ckpt"
    assert run([Checkpoint(path, functions={"mine": own})]) == 3.0
    with pytest.raises(UnknownContentError, match="Checkpoint among the callbacks"):
        run([], path)
    assert run([Checkpoint(path, functions={"mine": own})], path) == 3.0
