"""The live HiGHS model: warm starts, the simplex that fits the move, and HiGHS's own traps."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import highspy
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from solvers import (
    InterruptedSolveError,
    MissingBackendError,
    OptionError,
    Program,
    SolverFailure,
    Status,
    get_backend,
    open_session,
    solve,
)
from solvers.backends import highs
from solvers.backends.highs import DUAL_SIMPLEX, PRIMAL_SIMPLEX, load_highs, run_highs
from tests.solvers.problems import ALL, continuous

N = 120


def dual_master(n_rows, seed=0):
    """The dual form of a 1-norm master: one row per generated column."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(N) % 2, 1.0, -1.0)
    matrix = np.vstack([np.ones((1, N)), rng.normal(size=(n_rows, N)) / 4])
    side = np.concatenate([[0.0], np.ones(n_rows)])
    return Program(-y, matrix, -side, side, np.minimum(y, 0), np.maximum(y, 0))


def grow_rows(**options):
    """Solve after each batch of rows; return the session and the iterations of each solve."""
    whole = dual_master(60)
    session = open_session(
        Program(whole.cost, whole.matrix[:1], 0, 0, whole.lower, whole.upper), "highs", **options
    )
    iterations = [session.solve().iterations]
    for start in range(1, 61, 10):
        session.add_rows(whole.matrix[start : start + 10], -1.0, 1.0)
        iterations.append(session.solve().iterations)
    return session, iterations


def grow_columns(**options):
    """The primal form: columns arrive over rows that artificial columns keep feasible."""
    rng = np.random.default_rng(0)
    m = 60
    session = open_session(Program(np.full(m, 50.0), np.eye(m), 1.0, np.inf), "highs", **options)
    iterations = [session.solve().iterations]
    for _ in range(12):
        session.add_columns(1 + rng.random(10), rng.random((m, 10)))
        iterations.append(session.solve().iterations)
    return session, iterations


def strategy(session):
    """The simplex HiGHS was told to use last."""
    return session._model.native.getOptionValue("simplex_strategy")[1]


def test_the_basis_survives_the_deletion_of_nonbasic_columns():
    """Dropping columns at zero needs no iteration at all."""
    session, _ = grow_columns()
    found = session.solve()
    unused = np.flatnonzero((found.x == 0) & (found.reduced_costs > 1e-9))
    session.remove_columns(unused)
    again = session.solve()
    assert unused.size
    assert again.iterations == 0
    assert again.objective == pytest.approx(found.objective)


def test_the_simplex_fits_the_move():
    """Primal after new columns or costs, dual after new rows or bounds or anything mixed."""
    session, _ = grow_columns()
    assert strategy(session) == PRIMAL_SIMPLEX
    session.add_rows(np.ones((1, session.n_columns)), 0, 100)
    session.solve()
    assert strategy(session) == DUAL_SIMPLEX
    session.change_cost([0], 49.0)
    session.solve()
    assert strategy(session) == PRIMAL_SIMPLEX
    session.change_row_bounds([0], 1.5, np.inf)
    session.add_columns([1.0], np.ones((session.n_rows, 1)))
    session.solve()
    assert strategy(session) == DUAL_SIMPLEX


def test_the_wrong_simplex_costs_iterations():
    """Forcing the other simplex on either form takes more iterations in all."""
    assert sum(grow_rows()[1]) < sum(grow_rows(simplex_strategy=PRIMAL_SIMPLEX)[1])
    assert sum(grow_columns()[1]) < sum(grow_columns(simplex_strategy=DUAL_SIMPLEX)[1])


def test_native_calls_that_warn_or_are_refused(monkeypatch):
    """HiGHS drops entries below 1e-9 with a warning, the rows arrive; a refused call raises.

    The recorded program stays what the native model is.
    """
    session = open_session(Program([-1.0, -1.0], upper=1), "highs")
    session.add_rows([[1.0, 1e-12]], -np.inf, 0.5)
    assert session.solve().x.tolist() == [0.5, 1.0]
    native = session._model.native
    monkeypatch.setattr(native, "addRows", lambda *_: session._model._error, raising=False)
    with pytest.raises(SolverFailure, match="addRows"):
        session.add_rows([[1.0, 1.0]], 0, 0.5)
    assert session.n_rows == 1


@pytest.mark.parametrize(("integrality", "used"), [(None, 100.0), ([True], 0.0)])
def test_the_clock_of_an_integer_program_starts_anew(integrality, used, monkeypatch):
    """That of a linear program has the seconds of earlier solves, which are added to the limit.

    Without a limit there is none again.
    """
    session = open_session(Program([-1.0], upper=1.5, integrality=integrality), "highs")
    native = session._model.native
    monkeypatch.setattr(native, "getRunTime", lambda: 100.0, raising=False)
    for _ in range(2):
        session.solve(time_limit=5.0)
        assert used + 4.0 <= native.getOptionValue("time_limit")[1] <= used + 5.0
    session.solve()
    assert native.getOptionValue("time_limit")[1] == np.inf


@pytest.mark.parametrize("failures", [1, 2])
def test_a_failed_run_is_repeated_from_scratch(failures, monkeypatch):
    """The rare breakdown after many warm starts is answered by one cold run.

    If that fails as well the error says so, and the session goes on.
    """
    session, _ = grow_rows()
    real, calls = session._run, []

    def breaks():
        calls.append(1)
        return "kSolveError" if len(calls) <= failures else real()

    monkeypatch.setattr(session, "_run", breaks)
    if failures == 2:
        with pytest.raises(SolverFailure):
            session.solve()
    found = session.solve()
    assert len(calls) == failures + 1
    assert found.status is Status.OPTIMAL
    assert failures == 2 or found.iterations > 0


def test_an_infeasibility_beyond_the_tolerance_is_not_called_optimal(monkeypatch, caplog):
    """What HiGHS itself measured decides between optimal and inaccurate, and is logged."""
    caplog.set_level("INFO", "solvers")
    session, _ = grow_rows()
    monkeypatch.setattr(session, "_worst_infeasibility", lambda: 1e-4)
    assert session.solve().status is Status.INACCURATE
    assert "infeasible by 1.0e-04" in caplog.text
    assert session.solve(tol=1e-4).status is Status.OPTIMAL


def test_options_win_over_the_choices_made_here():
    """A caller who asks for the interior point method gets it; unknown options are errors."""
    for wrong in ({"no_such_option": 1}, {"presolve": "perhaps"}):
        with pytest.raises(OptionError, match=next(iter(wrong))):
            open_session(Program([1.0]), "highs", **wrong)
    session = get_backend("highs").open(dual_master(60), solver="ipm", presolve="off")
    assert session.solve().status is Status.OPTIMAL
    assert session._model.native.getOptionValue("solver")[1] == "ipm"
    assert session._model.native.getInfo().ipm_iteration_count > 0


def hopeless():
    """A session of a market split."""
    weights = np.random.default_rng(0).integers(0, 100, size=(5, 40)).astype(float)
    half = np.floor(weights.sum(axis=1) / 2)
    return open_session(Program(np.zeros(40), weights, half, half, 0, 1, None, True), "highs")


def while_highs_runs(monkeypatch, seconds, number):
    """Send a signal some seconds after HiGHS has begun its next run."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), number))
    usual = highs.run_highs

    def run(native):
        if not timer.is_alive() and not timer.finished.is_set():
            timer.start()
        return usual(native)

    monkeypatch.setattr(highs, "run_highs", run)
    return timer


def test_ctrl_c_stops_a_long_solve_and_the_session_survives(monkeypatch):
    """Ctrl-C arrives as a KeyboardInterrupt with a status; then life goes on."""
    session = hopeless()
    timer = while_highs_runs(monkeypatch, 0.5, signal.SIGINT)
    with pytest.raises(InterruptedSolveError) as caught:
        session.solve(time_limit=600.0)
    timer.join()
    assert isinstance(caught.value, KeyboardInterrupt)
    assert not isinstance(caught.value, Exception)
    assert caught.value.status is Status.INTERRUPTED
    session.change_row_bounds(np.arange(5), 0.0, np.inf)
    assert session.solve().status is Status.OPTIMAL


STRUCK = """
import signal, sys
import numpy as np
from solvers import Program, Status, open_session

rng = np.random.default_rng(0)
cost, rows = -rng.uniform(1, 2, 12), rng.uniform(1, 2, (3, 12))
program = Program(cost, rows, -np.inf, 5.0, 0, 1, integrality=True)
left, n_struck = [0], 0


def trace(frame, event, arg):
    if "highs" not in frame.f_code.co_filename:
        return None
    left[0] -= event == "line"
    if event == "line" and left[0] == 0:
        signal.raise_signal(signal.SIGINT)
    return trace


for number in range(1, 1000, 7):
    session, left[0] = open_session(program, "highs"), number
    sys.settrace(trace)
    try:
        session.solve(time_limit=99.0)
    except KeyboardInterrupt:
        n_struck += 1
    finally:
        sys.settrace(None)
    assert session.solve(time_limit=99.0).status is Status.OPTIMAL
    if left[0] > 0:
        break
assert n_struck == (number - 1) // 7 > 20, n_struck
"""


def test_ctrl_c_at_any_line_leaves_nothing_behind():
    """Wherever it comes, in HiGHS's Python, in ours or in a callback, the next solve is done.

    The locks of highspy's own listening are left taken by some, and the next solve hangs.
    """
    run = subprocess.run(
        [sys.executable, "-c", STRUCK], capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == 0, run.stderr


def test_what_a_handler_of_signals_raises_ends_a_solve(monkeypatch):
    """Not Ctrl-C alone: a limit on time by an alarm is raised as it is, and handlers are back."""
    session = hopeless()

    def late(*_):
        raise TimeoutError("too long")

    before = signal.signal(signal.SIGALRM, late)
    try:
        timer = while_highs_runs(monkeypatch, 0.2, signal.SIGALRM)
        with pytest.raises(TimeoutError, match="too long"):
            session.solve(time_limit=600.0)
        timer.join()
        assert signal.getsignal(signal.SIGALRM) is late
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_signal_between_two_handlers_leaves_both_at_work(monkeypatch):
    """Ctrl-C as soon as it is handled again: another handler, not yet in place, still raises."""
    native, usual, taken = plain(1), signal.signal, []

    def late(*_):
        raise TimeoutError("too long")

    def put(number, handler):
        usual(number, handler)
        taken.append(number)
        if taken.count(signal.SIGINT) == 2 and taken[-1] == signal.SIGINT:
            signal.raise_signal(signal.SIGINT)

    before = usual(signal.SIGALRM, late)
    try:
        monkeypatch.setattr(signal, "signal", put)
        with pytest.raises(KeyboardInterrupt):
            highs.run_interruptible(native)
        monkeypatch.undo()
        with pytest.raises(TimeoutError, match="too long"):
            signal.raise_signal(signal.SIGALRM)
        assert not highs.run_interruptible(native)
        with pytest.raises(TimeoutError, match="too long"):
            signal.raise_signal(signal.SIGALRM)
    finally:
        usual(signal.SIGALRM, before)


def test_a_long_linear_solve_listens_for_ctrl_c_and_gives_the_same_answer(monkeypatch):
    """Callbacks are used for long solves only and change nothing else."""
    session, _ = grow_rows()
    expected = session.solve().objective
    session.change_cost([0], 0.5)
    changed = session.solve().objective
    session.change_cost([0], session.program.cost[1] * -1)
    monkeypatch.setattr("solvers.backends.highs.LONG_SOLVE_SECONDS", -1.0)
    assert session.solve().objective == pytest.approx(expected)
    assert changed != pytest.approx(expected)


def plain(threads):
    """A knapsack in highspy alone, which runs with some number of threads."""
    native = highspy.Highs()
    native.setOptionValue("output_flag", False)
    native.setOptionValue("threads", threads)
    n = 12
    index, ones = np.arange(n, dtype=np.int32), np.ones(n)
    nothing = np.zeros(0, dtype=np.int32)
    native.addCols(n, -np.arange(3.0, 3.0 + n), 0 * ones, ones, 0, nothing, nothing, np.zeros(0))
    native.addRow(-np.inf, 20.0, n, index, np.arange(2.0, 2.0 + n))
    native.changeColsIntegrality(n, index, ones.astype(np.uint8))
    return native


@pytest.fixture
def scheduler():
    """The threads of the process are to be chosen anew, before and after."""
    highspy.Highs.resetGlobalScheduler(True)
    yield
    highspy.Highs.resetGlobalScheduler(True)


@pytest.mark.usefixtures("scheduler")
@pytest.mark.parametrize("before", [2, 3])
@pytest.mark.parametrize("integrality", [None, [True]])
def test_other_numbers_of_threads_in_the_process(before, integrality):
    """A user of HiGHS with any number of threads and this backend do not disturb each other."""
    theirs, own = plain(before), plain(1)
    assert theirs.run().name == "kOk"
    program = Program([1.0], [[2.0]], 3.0, integrality=integrality)
    best = 1.5 if integrality is None else 2.0
    session = open_session(program, "highs")
    for _ in range(2):
        assert session.solve().objective == best
    assert run_highs(own).name == "kOk"
    assert own.getInfo().objective_function_value == theirs.getInfo().objective_function_value
    assert plain(before + 1).run().name == "kOk"
    assert solve(program, "highs").objective == best


@pytest.mark.usefixtures("scheduler")
@pytest.mark.parametrize("solver", ALL)
def test_no_backend_disturbs_a_user_of_highs(solver):
    """Before it or after it they may ask for any number of threads, in this thread and another.

    SciPy and OR-Tools bring HiGHS of their own along; BLAS keeps its number of threads, too.
    """
    quadratic = [1.0] if continuous(solver) == "qp" else None
    program = Program([1.0], [[2.0]], 3.0, quadratic=quadratic)
    best = 1.5 if quadratic is None else 1.5 + 1.5**2 / 2

    def solves():
        for threads in (2, 3):
            assert solve(program, solver).objective == pytest.approx(best, abs=1e-5)
            assert plain(threads).run().name == "kOk"
            assert solve(program, solver).objective == pytest.approx(best, abs=1e-5)
            highspy.Highs.resetGlobalScheduler(True)  # their own of 2 threads refuses 3
        return True

    before = {own["filepath"]: own["num_threads"] for own in threadpool_info()}
    assert solves()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(solves).result()
    after = {own["filepath"]: own["num_threads"] for own in threadpool_info()}
    assert before == {path: after[path] for path in before}


@pytest.mark.usefixtures("scheduler")
@pytest.mark.parametrize("threads", [1, 2])
def test_within_a_callback_of_highs(threads):
    """There the scheduler is in use: it is taken as it is, and is still there afterwards."""
    native, found = plain(threads), []

    def call(event):
        found.append(solve(Program([1.0], [[2.0]], 3.0), "highs").objective)

    native.cbMipImprovingSolution += call
    assert native.run().name == "kOk"
    assert set(found) == {1.5}
    assert native.getModelStatus().name == "kOptimal"


def test_a_version_with_wrong_optima_is_refused(monkeypatch):
    """The version 1.14.0 of highspy is not used, and the message says why."""
    monkeypatch.setattr(highs, "_version", lambda: "1.14.0")
    with pytest.raises(MissingBackendError, match=r"1\.14\.0 is refused: .*wrong points optimal"):
        solve(Program([1.0], [[2.0]], 3.0), "highs")


def test_an_import_that_fails_names_the_cure(monkeypatch, tmp_path):
    """Next to OR-Tools an older highspy misses symbols: the message says what to do."""
    (tmp_path / "highspy.py").write_text("raise ImportError('undefined symbol: _ZN5Highs')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "highspy")
    with pytest.raises(
        MissingBackendError, match=r'undefined symbol.*pip install "highspy>=1\.16"'
    ):
        load_highs()
