"""Every way a fit can end before its certificate, and what is then kept."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

import solvers
from cgboost import (
    AdaBoostClassifier,
    CGBoostClassifier,
    KernelLibrary,
    LPBoostClassifier,
)
from cgboost.estimators.common import certified
from cgboost.estimators.common import plan as runs
from cgboost.exceptions import TrivialModelWarning
from cgboost.generation import progress
from cgboost.generation.progress import ProgressLine
from cgboost.kernels.library import DEFAULT_LIBRARY
from cgboost.optimizers.simplex import dual_session
from tests.estimators.data import (
    PENALTIES,
    at_round,
    classifier,
    curve,
    interrupt,
    regressor,
    three_classes,
    two_classes,
)

ONE_BY_ONE = {"columns_per_round": 1}
BACKENDS = {"l1": "highs", "l2": "piqp"}


def test_ctrl_c_says_what_is_kept():
    """The warning has the gap, or that stratified rounds have no certificate yet."""
    X, y = two_classes()
    said = {"full": r"relative gap \d\.\de", "stratified": "without a certificate"}
    for priority, words in said.items():
        model = classifier(callbacks=[at_round(4, interrupt)], priority=priority, **ONE_BY_ONE)
        with pytest.warns(ConvergenceWarning, match=rf"interrupted: Ctrl-C.*{words}"):
            model.fit(X, y)
        assert (model.stop_reason_, model.best_round_) == ("interrupted", 3)


@pytest.mark.parametrize("number", [0, 2])
def test_ctrl_c_in_a_fit_of_several_classes(number):
    """An interrupt in the second class keeps the first, and the third stays at its offset."""
    X, y = three_classes()
    counts = []

    def interrupt_second(turn):
        counts.append(turn.number)
        if counts.count(0) == 2 and turn.number == number:
            interrupt()

    model = classifier(callbacks=[interrupt_second], **ONE_BY_ONE)
    with pytest.warns(ConvergenceWarning, match="class 1: interrupted: .*class 2: interrupted: "):
        model.fit(X, y)
    assert model.stop_reason_ == ["optimal", "interrupted", "interrupted"]
    assert model.best_round_[1:] == [max(0, number - 1), 0]
    assert (model.columns_["class"] != 2).all()
    whole, found = classifier(**ONE_BY_ONE).fit(X, y), model.decision_function(X)
    np.testing.assert_allclose(found[:, 0], whole.decision_function(X)[:, 0], atol=1e-12)
    np.testing.assert_array_equal(found[:, 2], model.intercept_[2])


def test_a_time_limit_keeps_the_last_round_unless_warnings_are_errors():
    """Round 0 is a constant, which the warning says; as an error it leaves nothing."""
    X, y = two_classes()
    words = "within time_limit=1e-09: time: the time.*no columns yet, so that it predicts a const"
    with pytest.warns(ConvergenceWarning, match=words):
        model = classifier(time_limit=1e-9).fit(X, y)
    assert (model.stop_reason_, model.n_columns_) == ("time", 0)
    model = classifier(time_limit=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        with pytest.raises(ConvergenceWarning):
            model.fit(X, y)
    assert set(vars(model)) == set(model.get_params(deep=False))


def test_several_classes_share_the_time(monkeypatch):
    """Each class gets an even share of what the classes before it have left."""
    limits = []

    class Watched(runs.ColumnGeneration):
        def run(self, **options):
            limits.append(self.time_limit)
            return super().run(**options)

    monkeypatch.setattr(runs, "ColumnGeneration", Watched)
    assert classifier(time_limit=1e6).fit(*three_classes()).stop_reason_ == ["optimal"] * 3
    np.testing.assert_allclose(limits, [1e6 / 3, 1e6 / 2, 1e6], rtol=1e-4)


def test_tol_zero_asks_for_the_last_digit():
    """A gap below SMALLEST_TOL is reached for tol=0: nothing is left to blame on the solver."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = classifier(tol=0).fit(*two_classes())
    assert model.converged_
    assert model.gap_ <= certified.SMALLEST_TOL


@pytest.mark.parametrize(
    "model",
    [
        classifier(columns_per_round="all"),
        classifier(penalty="l2", columns_per_round=5, priority="stratified"),
        regressor(columns_per_round=5),
        LPBoostClassifier(columns_per_round=5),
        LPBoostClassifier(columns_per_round=5, multi_class="joint"),
        LPBoostClassifier(DecisionTreeClassifier(max_depth=1), columns_per_round=5),
    ],
    ids=["all", "l2", "regression", "stumps", "joint", "learners"],
)
def test_the_last_batch_does_not_exceed_max_columns(model):
    """Of a whole batch only what there is room for is generated, in every run, silently."""
    X, y = curve() if is_regressor(model) else three_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model.set_params(max_columns=7, C=10.0).fit(X, y)
    assert model.history_["columns"].max() == 7
    assert "max_columns" in np.ravel([model.stop_reason_])


# ---------------------------------------------------------------------- early stopping


def test_a_class_that_early_stopping_leaves_without_columns_is_named():
    """Others have some; the warning is about the one whose first round was the best."""
    X, y = load_wine(return_X_y=True)
    raw = KernelLibrary(DEFAULT_LIBRARY.kernels, normalize=True)
    model = CGBoostClassifier(raw, penalty="l2", early_stopping=True, random_state=0)
    with pytest.warns(TrivialModelWarning, match="class 2: no round had a better") as caught:
        model.fit(X, y)
    assert not any("class 0: no round" in str(warning.message) for warning in caught)
    assert set(model.columns_["class"]) == {0, 1}


def test_held_out_rows_keep_the_numbers_of_the_others():
    """columns_ has the caller's numbers of rows where a share of the rows is held out."""
    X, y = two_classes(50)
    model = classifier(early_stopping=True, validation_fraction=0.3, random_state=0).fit(X, y)
    centres = [hypothesis.centre for hypothesis in model._runs[0].outputs[0].active]
    np.testing.assert_array_equal(X[model.columns_["row"]], centres)


# ---------------------------------------------------------------------- a solver that fails


def failing_solver(monkeypatch, error, *, after):
    """Let every session raise ``error`` from the moment the returned callback has seen a round."""
    opened, armed = dual_session.open_session, [after is None]

    def opening(*arguments, **options):
        session = opened(*arguments, **options)
        solve = session.solve

        def solving(**limits):
            if armed[0]:
                raise error
            return solve(**limits)

        session.solve = solving
        return session

    monkeypatch.setattr(dual_session, "open_session", opening)
    return at_round(after, lambda: armed.__setitem__(0, True))


FAILURES = {
    "interrupted": solvers.InterruptedSolveError("interrupted: Ctrl-C", "toy", "interrupted", None),
    "time": solvers.LimitError("toy: out of time after 7 s", status=solvers.Status.TIME_LIMIT),
    "iterations": solvers.LimitError("toy: 99 iterations", status=solvers.Status.ITERATION_LIMIT),
    "failure": solvers.SolverFailure("toy: the factorisation broke down"),
    "infeasible": solvers.InfeasibleError("toy: infeasible, it says"),
}


@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_solver_that_fails_midway_leaves_the_last_good_round(monkeypatch, penalty, kind):
    """The model of the rounds before is kept; the warning carries the solver's own words."""
    X, y = two_classes()
    options = {"penalty": penalty, "solver": BACKENDS[penalty]} | ONE_BY_ONE
    stages = list(classifier(**options).fit(X, y).staged_decision_function(X))
    breaking = failing_solver(monkeypatch, FAILURES[kind], after=3)
    with pytest.warns(ConvergenceWarning, match=str(FAILURES[kind])):
        model = classifier(callbacks=[breaking], **options).fit(X, y)
    assert model.stop_reason_ == (kind if kind in ("interrupted", "time") else "master_failed")
    assert (model.best_round_, model.converged_) == (3, False)
    np.testing.assert_allclose(model.decision_function(X), stages[3], atol=1e-12)


# ---------------------------------------------------------------------- progress


def test_verbose_writes_progress_to_the_error_stream(capsys):
    """A line for each run, or for each round; standard output stays clean, and all without it."""
    X, y = three_classes()
    model = classifier(verbose=1).fit(X, y)
    written = capsys.readouterr()
    assert written.out == ""
    lines = written.err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["class 0", "class 1", "class 2"]
    assert f"{model.stop_reason_[0]} after" in lines[0]
    model = classifier(verbose=2, columns_per_round=3).fit(*two_classes())
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == model.n_iter_ + 1
    assert re.match(r"round +1 +3 columns  objective .* bound .*\+3 \((linear|rbf) \d", lines[1])
    classifier().fit(*two_classes())
    assert capsys.readouterr().err == ""


def test_a_fit_tells_its_line_where_it_ends(monkeypatch):
    """tol, limits and the time of the run are what the bar goes by."""
    told = []

    class Watched(ProgressLine):
        def __init__(self, label, **aims):
            told.append(aims)
            super().__init__(label, **aims)

    monkeypatch.setattr(progress, "ProgressLine", Watched)
    classifier(verbose=1, tol=0.01, max_columns=7).fit(*two_classes())
    assert (told[0]["tol"], told[0]["max_columns"], told[0]["every_round"]) == (0.01, 7, False)
    AdaBoostClassifier(verbose=2, n_estimators=3, time_limit=1e6).fit(*two_classes())
    assert (told[1]["max_rounds"], told[1]["every_round"]) == (4, True)
    assert 0 < told[1]["time_limit"] <= 1e6
