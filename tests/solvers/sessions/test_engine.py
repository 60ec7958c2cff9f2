"""`solvers.sessions.engine`, `solvers.sessions.rebuilding` and the engines' own traps."""

import numpy as np
import pytest
import scipy.sparse as sp

from solvers import (
    LimitError,
    MissingBackendError,
    Program,
    SolverFailure,
    Status,
)
from solvers.program.solution import Point
from solvers.sessions.engine import Answer
from solvers.sessions.rebuilding import RebuildingBackend

PROGRAM = Program([-1, -2], [[1, 1], [1, 3]], -np.inf, [4, 6])
OPTIMUM = Point(np.array([3.0, 1.0]), np.array([-0.5, -0.5]))


def backend(engine):
    """A backend around a mock engine."""
    return RebuildingBackend("mock", frozenset({"lp", "qp", "warm-start"}), "numpy", engine)


class PanicException(BaseException):
    """The name a Rust library gives to what it raises."""


@pytest.mark.parametrize("thrown", [ValueError("bad"), PanicException("bad"), OSError("bad")])
def test_a_native_exception_never_leaks(thrown):
    """Whatever native code throws becomes a SolverFailure with the original as its cause.

    Only Ctrl-C in an engine is no failure of the solver.
    """

    def engine(_program, _request):
        raise thrown

    with pytest.raises(SolverFailure, match="mock failed: bad") as caught:
        backend(engine).open(PROGRAM).solve()
    assert caught.value.__cause__ is thrown
    thrown = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        backend(engine).open(PROGRAM).solve()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "mock: its engine must return an Answer with a Status, got None"),
        (OPTIMUM, "must return an Answer with a Status, got Point"),
        (Answer("optimal", "", OPTIMUM), "must return an Answer with a Status"),
        (Answer(Status.OPTIMAL, ""), "says 'optimal' without a point"),
        (Answer(Status.OPTIMAL, "", Point(np.zeros(3), np.zeros(2))), r"x .* \(2,\), got \(3,\)"),
        (Answer(Status.OPTIMAL, "", Point(np.zeros(2), np.zeros(1))), r"row_duals .* \(2,\)"),
        (Answer(Status.TIME_LIMIT, "", Point(np.zeros((2, 1)), np.zeros(2))), r"got \(2, 1\)"),
    ],
)
def test_what_is_no_answer_is_a_failure_that_names_the_engine(answer, words):
    """An engine of users that returns something else, or a point that does not fit."""
    with pytest.raises(SolverFailure, match=words) as caught:
        backend(lambda _program, _request: answer).open(PROGRAM).solve()
    assert caught.value.backend == "mock"


def test_a_real_panic_is_wrapped():
    """Clarabel panics on a CSR matrix, which no `except Exception` would catch."""
    import clarabel

    def engine(program, _request):
        rows = sp.csr_matrix(np.ones((3, 2)))
        cones = [clarabel.NonnegativeConeT(3)]
        settings = clarabel.DefaultSettings()
        clarabel.DefaultSolver(
            sp.csc_matrix((2, 2)), program.cost, rows, np.ones(3), cones, settings
        )
        return Answer(Status.FAILED, "no panic")

    with pytest.raises(SolverFailure) as caught:
        backend(engine).open(PROGRAM).solve()
    assert caught.value.words != "no panic"


def test_the_last_point_is_the_next_guess():
    """An engine gets the last good point back, padded for new columns and rows."""
    guesses = []

    def engine(program, request):
        guesses.append(request.guess)
        x = np.zeros(program.n_columns)
        x[:2] = OPTIMUM.x
        return Answer(Status.OPTIMAL, "", Point(x, np.resize(OPTIMUM.row_duals, program.n_rows)))

    session = backend(engine).open(PROGRAM)
    session.solve()
    session.add_columns([0.0, 0.0], np.zeros((2, 2)), lower=[-np.inf, 2.0])
    session.add_rows(np.zeros((1, 4)), -1.0, 1.0)
    session.solve()
    assert guesses[0] is None
    assert guesses[1].x.tolist() == [3, 1, 0, 2]
    assert guesses[1].row_duals.tolist() == [-0.5, -0.5, 0]


def test_a_point_that_does_not_confirm_the_claim_is_downgraded(caplog):
    """A claim of optimality with a bad residual, or NaN, is logged and called inaccurate."""
    caplog.set_level("INFO", "solvers")
    answer = Answer(Status.OPTIMAL, "I promise", Point(np.zeros(2), np.zeros(2)))
    found = backend(lambda *_: answer).open(PROGRAM).solve()
    assert found.status is Status.INACCURATE
    assert "not optimal to 1e-06" in caplog.text
    nothing = Answer(Status.OPTIMAL, "", Point(np.full(2, np.nan), np.full(2, np.nan)))
    assert backend(lambda *_: nothing).open(PROGRAM).solve().status is Status.INACCURATE


def test_a_modest_claim_is_confirmed_or_refused():
    """A claim of "inaccurate" is confirmed by good residuals and refused by hopeless ones."""
    good = Answer(Status.INACCURATE, "almost", OPTIMUM)
    assert backend(lambda *_: good).open(PROGRAM).solve().status is Status.OPTIMAL
    bad = Answer(Status.INACCURATE, "almost", Point(np.zeros(2), np.zeros(2)))
    with pytest.raises(SolverFailure, match="no usable point"):
        backend(lambda *_: bad).open(PROGRAM).solve()


def test_a_limit_carries_the_last_point():
    """The point a limit left behind is in the error, with the limit as its status."""
    answer = Answer(Status.TIME_LIMIT, "late", Point(np.zeros(2), np.zeros(2)), 7)
    with pytest.raises(LimitError, match="time limit .late.") as caught:
        backend(lambda *_: answer).open(PROGRAM).solve()
    assert caught.value.solution.iterations == 7
    assert caught.value.solution.status is Status.TIME_LIMIT


def test_a_missing_package_says_how_to_install_it():
    """Opening a backend whose package is absent names the pip command."""
    absent = RebuildingBackend("gone", frozenset({"lp"}), "no_such_package_here", lambda *_: None)
    assert not absent.is_installed
    with pytest.raises(MissingBackendError, match="pip install no_such_package_here"):
        absent.open(PROGRAM)
