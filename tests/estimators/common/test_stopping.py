"""Every way a fit can end before its certificate, and what is then kept."""

import io
import re
import warnings

import numpy as np
import pytest
from rich.console import Console
from sklearn.base import is_regressor
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

import solvers
from cgboost import (
    RBF,
    AdaBoostClassifier,
    CGBoostClassifier,
    KernelLibrary,
    Linear,
    LPBoostClassifier,
)
from cgboost.estimators.common import base as runs
from cgboost.estimators.common import certified
from cgboost.exceptions import MasterError, TrivialModelWarning
from cgboost.generation import progress
from cgboost.generation.progress import ProgressLine
from cgboost.kernels.library import DEFAULT_LIBRARY
from cgboost.optimizers.simplex import dual_session
from tests.estimators.data import (
    PENALTIES,
    at_round,
    classifier,
    curve,
    regressor,
    three_classes,
    two_classes,
)

ONE_BY_ONE = {"columns_per_round": 1}
BACKENDS = {"l1": "highs", "l2": "piqp"}


def interrupt():
    """What Ctrl-C does."""
    raise KeyboardInterrupt


def assert_is_stage(model, stopped_at, X):
    """``stopped_at`` is the stage of an undisturbed ``model`` after as many rounds."""
    stages = list(model.staged_decision_function(X))
    np.testing.assert_allclose(
        stopped_at.decision_function(X), stages[stopped_at.best_round_], atol=1e-12
    )


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_callback_stops_the_fit(penalty):
    """A true return value in round 3 keeps round 3, without a warning."""
    X, y = two_classes()
    seen = []
    callbacks = [seen.append, at_round(3, lambda: True)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        options = ONE_BY_ONE | {"penalty": penalty, "solver": BACKENDS[penalty]}
        model = classifier(callbacks=callbacks, **options).fit(X, y)
    assert (model.stop_reason_, model.best_round_, model.n_iter_) == ("callback", 3, 4)
    assert [turn.number for turn in seen] == [0, 1, 2, 3]
    assert seen[-1].objective == model.objective_
    assert not model.converged_
    assert_is_stage(classifier(**options).fit(X, y), model, X)


def test_a_callback_stops_each_class():
    """In a fit of several classes the callback sees every run from its round 0 on."""
    X, y = three_classes()
    model = classifier(callbacks=[at_round(2, lambda: True)], **ONE_BY_ONE).fit(X, y)
    assert model.stop_reason_ == ["callback"] * 3
    assert model.best_round_ == [2, 2, 2]


def test_ctrl_c_keeps_the_last_complete_round():
    """KeyboardInterrupt in round 4 leaves the model of round 3, and a warning says so."""
    X, y = two_classes()
    stratified = ONE_BY_ONE | {"priority": "stratified"}
    interrupted = classifier(callbacks=[at_round(4, interrupt)], **stratified)
    with pytest.warns(ConvergenceWarning, match=r"interrupted: Ctrl-C.*without a certificate"):
        interrupted.fit(X, y)
    model = classifier(callbacks=[at_round(4, interrupt)], **ONE_BY_ONE)
    with pytest.warns(ConvergenceWarning, match=r"interrupted: Ctrl-C.*relative gap \d\.\de"):
        model.fit(X, y)
    assert (model.stop_reason_, model.best_round_) == ("interrupted", 3)
    assert_is_stage(classifier(**ONE_BY_ONE).fit(X, y), model, X)


def test_ctrl_c_before_the_first_round_leaves_nothing():
    """With no complete round the interrupt goes through, and the estimator stays unfitted."""
    X, y = two_classes()
    model = classifier(callbacks=[at_round(0, interrupt)])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


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
    whole = classifier(**ONE_BY_ONE).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(X)[:, 0], whole.decision_function(X)[:, 0], atol=1e-12
    )
    np.testing.assert_array_equal(model.decision_function(X)[:, 2], model.intercept_[2])


def test_a_time_limit_keeps_the_last_round():
    """A limit that has run out after round 0 keeps round 0 and warns that it is a constant."""
    X, y = two_classes()
    words = (
        "within time_limit=1e-09: time: the time.*no columns yet, so that it predicts a constant"
    )
    with pytest.warns(ConvergenceWarning, match=words):
        model = classifier(time_limit=1e-9).fit(X, y)
    assert (model.stop_reason_, model.n_columns_) == ("time", 0)


def test_a_warning_made_an_error_leaves_nothing():
    """Where warnings are errors, a fit without its certificate fails like any other."""
    X, y = two_classes()
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
    X, y = three_classes()
    classifier(time_limit=1e6).fit(X, y)
    np.testing.assert_allclose(limits, [1e6 / 3, 1e6 / 2, 1e6], rtol=1e-4)
    with pytest.warns(ConvergenceWarning, match="class 0: time.*class 1: time.*class 2: time"):
        assert classifier(time_limit=1e-9).fit(X, y).stop_reason_ == ["time"] * 3


def test_tol_zero_asks_for_the_last_digit():
    """A gap below SMALLEST_TOL is reached for tol=0: nothing is left to blame on the solver."""
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = classifier(tol=0).fit(X, y)
    assert model.converged_
    assert model.gap_ <= certified.SMALLEST_TOL


def test_one_interrupt_ends_one_fit_of_a_search():
    """A search goes on with its next fit after Ctrl-C, as the notes of the estimator say."""
    X, y = two_classes()
    presses = iter([interrupt])

    def interrupt_once(turn):
        if turn.number == 1:
            next(presses, lambda: None)()

    search = GridSearchCV(classifier(callbacks=[interrupt_once]), {"C": [0.1, 1.0]}, cv=2)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        search.fit(X, y)
    assert search.best_estimator_.stop_reason_ == "optimal"


def test_max_columns():
    """No more columns are generated than allowed, without a warning."""
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = classifier(max_columns=5, columns_per_round=2).fit(X, y)
    assert model.stop_reason_ == "max_columns"
    assert model.history_["columns"].max() == 5


@pytest.mark.parametrize("limit", [1, 7])
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
def test_the_last_batch_does_not_exceed_max_columns(model, limit):
    """Of a whole batch only what there is room for is generated, in every run."""
    X, y = curve() if is_regressor(model) else three_classes()
    history = model.set_params(max_columns=limit, C=10.0).fit(X, y).history_
    assert history["columns"].max() == limit


# ---------------------------------------------------------------------- early stopping


@pytest.mark.parametrize("make", [classifier, regressor])
@pytest.mark.parametrize("patience", [1, 4])
def test_early_stopping_keeps_the_best_round(make, patience):
    """The loop stops after ``patience`` rounds without improvement and keeps the best one."""
    X, y = two_classes(60, seed=4) if make is classifier else curve(60, seed=4)
    eval_set = X[30:], y[30:]
    options = {"C": 10.0, "early_stopping": True, "n_iter_no_change": patience, **ONE_BY_ONE}
    model = make(**options).fit(X[:30], y[:30], eval_set=eval_set)
    scores = model.history_["validation_error" if make is classifier else "validation_mae"]
    assert model.best_round_ == np.argmin(scores)
    assert model.stop_reason_ == "early_stopping"
    assert len(scores) == model.best_round_ + patience + 1
    stages = list(model.staged_predict(X))
    assert len(stages) == model.best_round_ + 1
    np.testing.assert_allclose(model.predict(X), stages[-1], atol=1e-12)
    row = {name: values[model.best_round_] for name, values in model.history_.items()}
    assert model.objective_ == row["objective"]
    assert model.n_columns_ == row["active"]
    assert (model.columns_["round"] <= model.best_round_).all()
    assert model.tol < model.gap_ <= row["gap"]  # later rounds have better bounds


def test_a_class_that_early_stopping_leaves_without_columns_is_named():
    """Others have some; the warning is about the one whose first round was the best."""
    X, y = load_wine(return_X_y=True)
    raw = KernelLibrary(DEFAULT_LIBRARY.kernels, normalize=True)
    model = CGBoostClassifier(raw, penalty="l2", early_stopping=True, random_state=0)
    with pytest.warns(TrivialModelWarning, match="class 2: no round had a better") as caught:
        model.fit(X, y)
    assert not any("class 0: no round" in str(warning.message) for warning in caught)
    assert set(model.columns_["class"]) == {0, 1}


def test_early_stopping_holds_out_rows():
    """Without an eval_set a share of the rows is held out; columns_ keeps the caller's numbers."""
    X, y = two_classes(50)
    model = classifier(early_stopping=True, validation_fraction=0.3, random_state=0).fit(X, y)
    centres = [hypothesis.centre for hypothesis in model._runs[0].outputs[0].active]
    np.testing.assert_array_equal(X[model.columns_["row"]], centres)
    other = classifier(early_stopping=True, validation_fraction=0.3, random_state=1).fit(X, y)
    assert not np.array_equal(other.decision_function(X), model.decision_function(X))


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
    whole = classifier(**options).fit(X, y)
    breaking = failing_solver(monkeypatch, FAILURES[kind], after=3)
    with pytest.warns(ConvergenceWarning, match=str(FAILURES[kind])):
        model = classifier(callbacks=[breaking], **options).fit(X, y)
    assert model.stop_reason_ == ("time" if kind == "time" else "master_failed")
    assert (model.best_round_, model.converged_) == (3, False)
    assert_is_stage(whole, model, X)


def test_ctrl_c_inside_the_solver_keeps_the_last_complete_round(monkeypatch):
    """An interrupt that a backend reports in the middle of a solve ends the fit like any other."""
    X, y = two_classes()
    interrupted = solvers.InterruptedSolveError("toy: interrupted", "toy", "interrupted", None)
    breaking = failing_solver(monkeypatch, interrupted, after=3)
    model = classifier(callbacks=[breaking], solver="highs", **ONE_BY_ONE)
    with pytest.warns(ConvergenceWarning, match="interrupted: Ctrl-C"):
        model.fit(X, y)
    assert (model.stop_reason_, model.best_round_) == ("interrupted", 3)


def test_a_solver_that_never_works_leaves_nothing(monkeypatch):
    """A failure in the first round raises with the solver's words, and nothing is fitted."""
    X, y = two_classes()
    failing_solver(monkeypatch, FAILURES["failure"], after=None)
    model = classifier(solver="highs")
    with pytest.raises(MasterError, match="the factorisation broke down"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


# ---------------------------------------------------------------------- progress


def test_verbose_writes_progress_to_the_error_stream(capsys):
    """verbose=1 ends with one line per run on stderr; standard output stays clean."""
    X, y = three_classes()
    model = classifier(verbose=1).fit(X, y)
    written = capsys.readouterr()
    assert written.out == ""
    lines = written.err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["class 0", "class 1", "class 2"]
    assert f"{model.stop_reason_[0]} after" in lines[0]


def test_progress_on_a_terminal_redraws_one_line(monkeypatch):
    """On a terminal each round replaces the line, with the validation score in it."""
    monkeypatch.setattr(progress, "REDRAWN", 0.0)
    X, y = two_classes()
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120)
    model = classifier(callbacks=[ProgressLine("[red]fit[/] ", console=console)])
    model.fit(X, y, eval_set=(X, y))
    written = stream.getvalue()
    assert all(f"round {number}," in written for number in range(model.n_iter_))
    assert "validation error" in written
    assert "[red]fit[/]" in written


def test_more_verbose_fits_write_a_line_for_every_round(capsys):
    """verbose=2 says what each round has generated."""
    X, y = two_classes()
    model = classifier(verbose=2, columns_per_round=3).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == model.n_iter_ + 1
    assert re.match(r"round 1  \+3 \((linear|rbf) \d.*\)  3 columns  objective", lines[1])


def test_a_fit_tells_its_line_where_it_ends(monkeypatch):
    """tol, limits and the time of the run are what the bar goes by."""
    told = []

    class Watched(ProgressLine):
        def __init__(self, label, **aims):
            told.append(aims)
            super().__init__(label, **aims)

    monkeypatch.setattr(runs, "ProgressLine", Watched)
    X, y = two_classes()
    classifier(verbose=1, tol=0.01, max_columns=7).fit(X, y)
    assert (told[0]["tol"], told[0]["max_columns"], told[0]["every_round"]) == (0.01, 7, False)
    AdaBoostClassifier(verbose=2, n_estimators=3, time_limit=1e6).fit(X, y)
    assert (told[1]["max_rounds"], told[1]["every_round"]) == (4, True)
    assert 0 < told[1]["time_limit"] <= 1e6


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_raw_features_end_soon_with_a_certified_model(load, penalty):
    """Kernel columns of size 10⁶ beside some of size 1: few rounds to the optimum, no failure."""
    X, y = load(return_X_y=True)
    library = KernelLibrary({"linear": Linear(), "rbf": RBF()})
    model = CGBoostClassifier(library, penalty=penalty).fit(X, y)
    assert model.converged_
    assert model.n_iter_ <= 120 * len(np.atleast_1d(model.intercept_))
    assert model.score(X, y) > 0.9
    assert model.n_columns_ > 0
