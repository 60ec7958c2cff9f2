"""Every way in which a run ends: its reason, its words, and what it keeps."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cgboost import ColumnGeneration
from cgboost.exceptions import BoundError, IndefiniteKernelError, MasterError
from cgboost.generation.history import Result, StopReason, Trace, relative_gap
from cgboost.generation.progress import IN_WORDS
from cgboost.generation.protocols import Priced, gap_scale
from cgboost.generation.termination import RunLimits, conclusion, rows_missed, shortfall
from tests.cases import law

from .cases import (
    STOPS,
    CountingMaster,
    Offering,
    Stop,
    Supply,
    column,
    run,
)

FAILURES = (StopReason.MASTER_FAILED, StopReason.PRICER_FAILED, StopReason.INVALID_BOUND)


def value_of(result: Result, name: str) -> Any:
    """An attribute, or what its columns are."""
    if name == "n_columns":
        return len(result.coef)
    return [each.key for each in result.columns] if name == "keys" else getattr(result, name)


@law(STOPS)
def test_a_run_ends_for_its_reason(case: Stop) -> None:
    """Reason, words and numbers are those of the case; the reason has words for progress, too."""
    result = case.make().run()
    assert result.stop_reason is case.reason, result.message
    assert case.reason in IN_WORDS
    assert all(words in result.message for words in case.words), result.message
    for name, value in case.has.items():
        found = value_of(result, name)
        assert found == (pytest.approx(value, rel=1e-6) if isinstance(value, float) else value)


@law(STOPS)
def test_result_history_and_path_agree(case: Stop) -> None:
    """One entry a round, bounds that only rise, and the result is the round that it names."""
    result = case.make().run()
    history, best = result.history, result.best_round
    assert {len(own) for own in history.values()} == {result.n_rounds} == {len(result.path)}
    np.testing.assert_array_equal(history["round"], np.arange(result.n_rounds))
    assert [len(coef) for coef, _ in result.path] == history["columns"].tolist()
    assert len(result.columns) == len(result.coef) == history["columns"][best]
    assert result.objective == history["objective"][best]
    assert (np.diff(history["seconds"]) >= 0).all()
    known = history["bound"][np.isfinite(history["bound"])]
    assert (np.diff(known) >= 0).all()
    if case.reason is not StopReason.INVALID_BOUND:
        assert [result.bound] == (known[-1:].tolist() or [None])
        gap = math.inf if result.bound is None else relative_gap(result.objective, result.bound)
        assert result.gap == history["gap"][best] == pytest.approx(gap)
        assert (result.gap == 0.0) is (result.bound == result.objective)
    late = isinstance(result.error, MasterError) and result.error.timed_out
    assert (result.error is not None) is (case.reason in FAILURES or late)


def kernel_without_rkhs() -> Supply:
    """What its last search finds makes earlier bounds wrong."""
    return Supply(broken=IndefiniteKernelError("mine", "its values have an eigenvalue of −1"))


def broken(error: BaseException) -> Callable[..., Any]:
    """A function that raises."""

    def raises(*_: Any) -> Any:
        raise error

    return raises


NO_COEFFICIENTS = {"change": lambda state: replace(state, coef=np.zeros(len(state.columns)))}
OWN = ZeroDivisionError("my own")
CTRL_C = KeyboardInterrupt()
HALF = SimpleNamespace(add=print)

RAISED = [
    # nothing is there that could be kept
    (lambda: CountingMaster(fail_at=0), Supply, {}, MasterError, "singular basis"),
    (lambda: CountingMaster(fail_at=0, error=CTRL_C), Supply, {}, KeyboardInterrupt, None),
    *(
        (lambda error=error: CountingMaster(fail_at=1, error=error), Supply, {}, type(error), None)
        for error in (MemoryError("no room"), OWN, MasterError("no"))
    ),
    (lambda: CountingMaster(full_at=0), Supply, {}, ValueError, "full"),
    (lambda: CountingMaster(fail_at=3, **NO_COEFFICIENTS), Supply, {}, MasterError, "singular"),
    (CountingMaster, lambda: Offering(broken(OWN)), {}, ZeroDivisionError, "my own"),
    # what is there is refuted, or the error is the caller's
    (CountingMaster, kernel_without_rkhs, {}, IndefiniteKernelError, "'mine' is not positive"),
    (lambda: CountingMaster(10.1), Supply, {}, BoundError, "above the objective"),
    (CountingMaster, Supply, {"callbacks": [broken(OWN)]}, ZeroDivisionError, "my own"),
    # wrong input
    (lambda: HALF, Supply, {}, TypeError, r"needs the methods add, .* lacks solve and bound"),
    (CountingMaster, lambda: 3, {}, TypeError, "got 3"),
    (CountingMaster, Supply, {"callbacks": [3]}, TypeError, "callable with a Round, got 3"),
    (CountingMaster, Supply, {"columns_per_round": 0}, ValueError, "whole number ≥ 1, got 0"),
    (CountingMaster, Supply, {"max_rounds": 0}, ValueError, "max_rounds must be a whole .* got 0"),
]  # fmt: skip


@pytest.mark.parametrize(("master", "pricer", "options", "error", "words"), RAISED)
def test_what_leaves_no_result_is_raised(
    master: Callable[[], Any],
    pricer: Callable[[], Any],
    options: dict[str, Any],
    error: type[BaseException],
    words: str | None,
) -> None:
    """Before a round with columns is complete, where bounds are refuted, and wrong input."""
    with pytest.raises(error, match=words):
        ColumnGeneration(master(), pricer(), **options).run()


def test_an_error_is_raised_with_its_cause() -> None:
    """The user's own object, and what led to it."""
    own = ZeroDivisionError("at once")
    own.__cause__ = KeyError("cause")
    with pytest.raises(ZeroDivisionError) as caught:
        run(pricer=Offering(broken(own)))
    assert caught.value is own
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_bound_above_the_objective_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """More than rounding, and less than an error."""
    run(CountingMaster(7.0 + 7e-8), Supply(3))
    assert "exceeds the objective" in caplog.text


@pytest.mark.parametrize("limit", [{"max_columns": 3}, {"max_rounds": 4}])
def test_the_last_round_is_priced_only_where_that_may_prove_something(
    limit: dict[str, Any],
) -> None:
    """With ``proves = False`` a search is saved; the result is the same, and callbacks see it."""
    seen: list[int] = []
    proving, saving = CountingMaster(2.0), CountingMaster()
    saving.proves = False  # type: ignore[attr-defined]
    for master, searches in ((proving, 4), (saving, 3)):
        pricer = Supply()
        result = run(master, pricer, callbacks=[lambda turn: seen.append(turn.number)], **limit)
        assert (len(result.coef), result.n_rounds) == (3, 4)
        assert str(result.stop_reason) in limit
        assert len(pricer.limits) == searches
    assert seen == [0, 1, 2, 3] * 2


def test_limits_are_handed_on_and_reached_at_their_ends() -> None:
    """Pricers are asked for what still fits; masters get the time left but for the first solve."""
    pricer = Supply()
    run(pricer=pricer, columns_per_round=4, max_columns=10)
    assert pricer.limits[:3] == [4, 4, 2]
    master = CountingMaster()
    run(master, time_limit=100.0, max_columns=2)
    assert master.limits[0] is None
    assert 0 < master.limits[1] <= 100.0  # type: ignore[operator]
    reached: Any = SimpleNamespace(columns=3, number=2, seconds=2.0)
    assert RunLimits(time_limit=2.0).reached(reached) == (
        StopReason.TIME,
        "the time limit was reached",
    )
    assert RunLimits(time_limit=2.0001).reached(reached) is None
    assert RunLimits(max_rounds=3).reached(reached) is not None
    assert RunLimits(max_rounds=4).reached(reached) is None
    assert RunLimits(max_columns=3).room(3, 7) == 1
    assert RunLimits(max_columns=9).room(3, 7) == 6


def test_a_stalled_run_of_huge_columns_says_how_many_digits_are_lost() -> None:
    """The message has the size of the entries and what float64 leaves of their scores."""
    state = replace(
        CountingMaster().solve(),
        columns=(column("huge", (1e13, -1e13)),),
        coef=np.zeros(1),
        pseudo_response=np.array([1.0, 1.0]),
    )
    current = Trace(1e-4).record(state, Priced([]), 1.0, (0.0, 0.0))
    stop = conclusion(current, Priced([], exact=True, max_excess=0.0, total_excess=0.0), [], 1e-4)
    assert stop is not None
    assert stop[0] is StopReason.STALLED
    assert "entries up to 1e+13" in stop[1]


@pytest.mark.parametrize(
    ("names", "amounts", "words"),
    [
        (("a", "b"), [0.0, 2.0], "'b' (by 2)"),
        (
            ["a", 2, np.int64(3), ("Mon", "early"), "b", "c", "d"],
            [0.0, 1.0, 0.25, 3.0, 1.0, 1.0, 1.0],
            "'2' (by 1), '3' (by 0.25), ('Mon', 'early') (by 3), 'b' (by 1), 'c' (by 1) and 1 more",
        ),
    ],
)
def test_rows_that_are_missed(names: Sequence[Any], amounts: list[float], words: str) -> None:
    """The first five by name, in quotes but for tuples, and a bound where there is one."""
    slack = np.array(amounts)
    assert rows_missed(names, slack) == words
    state = replace(CountingMaster().solve(), slack=slack, rows=tuple(names))
    for bound, proof in ((math.nan, ""), (12.5, "; any solution costs at least 12.5")):
        current: Any = SimpleNamespace(state=state, bound=bound)
        assert shortfall(current) == f"no column helps to meet the rows {words}{proof}"


@pytest.mark.parametrize(
    ("objective", "empty", "scale"),
    [
        (250.0, 300.0, 250.0),
        (0.01, 300.0, 1.0),
        (0.01, 0.5, 0.5),
        (1e-6, 2e-6, 2e-6),
        (-3.0, 0.0, 3.0),
        (0.0, 0.0, 1e-100),
    ],
)
def test_gaps_are_relative_to_what_there_was_to_explain(
    objective: float, empty: float, scale: float
) -> None:
    """A small objective counts as small only beside that of the empty model; inf has no gap."""
    assert gap_scale(objective, empty) == scale
    assert relative_gap(math.inf, objective) == relative_gap(math.inf, -math.inf) == math.inf
