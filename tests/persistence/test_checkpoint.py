"""Checkpoints of fits: killed, interrupted or stopped, a fit goes on as if nothing had happened."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import cgboost
import cgboost.persistence.checkpoint as checkpoint
from cgboost import (
    AdditiveRegressor,
    CGBoostClassifier,
    Checkpoint,
    ConstrainedBoostRegressor,
    GradientBoostingClassifier,
    LPBoostClassifier,
    MultiQuantileRegressor,
    RuleSetRegressor,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.constraints import Monotone
from cgboost.exceptions import CheckpointWarning, ResumeError
from cgboost.generation.history import Round
from tests.cases import law
from tests.estimators.cases import CASES, EstimatorCase, case, outputs
from tests.estimators.data import three_classes
from tests.persistence.kill_fits import KINDS, outcomes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
Y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * RNG.normal(size=150)
TWO = np.where(Y > 0, "up", "down")
THREE = np.digitize(Y, [-0.5, 0.5])

RESUMED = [
    *CASES,
    case(MultiQuantileRegressor(alpha=0.01), "more features"),
    case(RuleSetRegressor(max_total_conditions=8, max_conditions=2), "within a budget"),
    case(GradientBoostingClassifier(n_estimators=8, subsample=0.7), "samples", three_classes),
]
"""Every kind of fit that can be resumed."""

LONGER = {
    "held out": (TransformRegressor(learning_rate=0.5), Y),
    "three classes": (TransformClassifier(), THREE),
    "additive": (AdditiveRegressor(), Y),
    "backfitting": (AdditiveRegressor("backfitting"), Y),
    "trees": (GradientBoostingClassifier(n_estimators=8, subsample=0.7), THREE),
}
"""Fits whose limit of rounds may be raised."""


class CtrlC:
    """Interrupts the round of a number, counted over all runs of a fit."""

    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self, current: Round) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


@pytest.mark.filterwarnings("ignore::UserWarning")
@law(
    RESUMED,
    lambda case: (
        case.has("callbacks")
        and not case.name.startswith("Constrained")
        and "groups" not in case.name
        and "dnf" not in case.name  # it has no rounds
    ),
)
def test_an_interrupted_fit_ends_as_if_it_had_not_been(case: EstimatorCase, tmp_path: Path) -> None:
    """After Ctrl-C in the second round and in the middle: objective, model and history."""
    own = {"tol": 1e-9} if case.has("tol") and not case.blocks else {}
    whole, X, y = case.fitted(40, **own)
    n_rounds = len(whole.history_["round"])
    for number in {1, max(1, n_rounds // 2)}:
        path = tmp_path / f"{number}.ckpt"
        callbacks = [Checkpoint(path, every=0.0), CtrlC(number)]
        with contextlib.suppress(KeyboardInterrupt):  # in a later run, which has nothing to keep
            case.make(**own, callbacks=callbacks).fit(X, y)
        model = case.make(**own).fit(X, y, resume=path)
        assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)
        if case.unique:
            expected = outputs(whole, X)
            np.testing.assert_allclose(outputs(model, X), expected, atol=1e-5 * np.ptp(expected))
        starts = np.flatnonzero(model.history_["round"] == 0)
        for seconds in np.split(model.history_["seconds"], starts[1:]):
            assert (np.diff(seconds) >= 0).all()


@pytest.mark.parametrize("name", LONGER)
def test_a_finished_fit_goes_on_with_a_larger_limit(name: str, tmp_path: Path) -> None:
    """The file of the end of a short fit: callbacks see its rounds once, with their scores."""
    plain, y = LONGER[name]
    plain.set_params(random_state=0)
    limit = "max_iter" if "n_estimators" not in plain.get_params() else "n_estimators"
    whole, path = clone(plain).fit(X, y), tmp_path / "short.ckpt"
    for short in ({limit: 2}, {}):
        clone(plain).set_params(callbacks=[Checkpoint(path, every=0.0)], **short).fit(X, y)
        model = clone(plain).fit(X, y, resume=path)
        assert model.objective_ == pytest.approx(whole.objective_, rel=1e-9)
        assert model.stop_reason_ == whole.stop_reason_
        np.testing.assert_array_equal(model.predict(X), whole.predict(X))
        assert model.history_["objective"] == pytest.approx(whole.history_["objective"])


@pytest.mark.slow
def test_fits_that_are_killed_go_on() -> None:
    """SIGKILL at a random moment of each of five kinds: resumed, the same objective to 1e-9."""
    found = outcomes(len(KINDS), seed=1)
    assert {each.kind for each in found} == set(KINDS)
    assert max(each.difference for each in found) <= 1e-9


def test_other_data_and_other_parameters_are_refused(tmp_path: Path) -> None:
    """A checkpoint belongs to X, y, weights and all parameters that are no limits."""
    path = tmp_path / "fit.ckpt"
    LPBoostClassifier(C=1.0, callbacks=[Checkpoint(path)]).fit(X, TWO)
    for model, data in [
        (LPBoostClassifier(C=1.0), (X + 1e-9, TWO)),
        (LPBoostClassifier(C=1.0), (X, TWO[::-1])),
        (LPBoostClassifier(C=1.0), (X, TWO, np.full(150, 2.0))),
        (LPBoostClassifier(C=2.0), (X, TWO)),
    ]:
        with pytest.raises(ResumeError, match="other data or parameters"):
            model.fit(*data, resume=path)
    LPBoostClassifier(C=1.0, tol=1e-6, time_limit=60.0, verbose=0).fit(X, TWO, resume=path)


def test_what_cannot_be_resumed_says_so(tmp_path: Path) -> None:
    """Fits whose pricers have no memory refuse a checkpoint at the beginning."""
    with pytest.raises(ValueError, match="every must be at least 0 seconds, got -1"):
        Checkpoint("x", every=-1)
    model = ConstrainedBoostRegressor(
        constraints=[Monotone(0, 1)],
        loss="absolute_error",
        callbacks=[Checkpoint(tmp_path / "b")],
    )
    with pytest.raises(ResumeError, match="cannot be resumed"):
        model.fit(X, Y)


def test_a_full_disk_keeps_the_former_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file cannot be written the fit goes on with a warning, and the old file is whole."""
    path = tmp_path / "fit.ckpt"
    write, calls = checkpoint.codec.write, []

    def full(*arguments: Any, **named: Any) -> None:
        calls.append(1)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        write(*arguments, **named)

    monkeypatch.setattr(checkpoint.codec, "write", full)
    with pytest.warns(CheckpointWarning, match="No space left on device"):
        model = LPBoostClassifier(C=1.0, callbacks=[Checkpoint(path, every=0.0)]).fit(X, TWO)
    monkeypatch.undo()
    assert model.converged_
    resumed = LPBoostClassifier(C=1.0).fit(X, TWO, resume=path)
    assert resumed.objective_ == pytest.approx(model.objective_, rel=1e-3)


def test_a_file_that_takes_long_puts_off_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writing takes no more than a twentieth of the time."""
    clock = [0.0]
    monkeypatch.setattr(checkpoint.time, "perf_counter", lambda: clock[0])
    written: list[float] = []

    def slow(*arguments: Any, **named: Any) -> None:
        written.append(clock[0])
        clock[0] += 2.0

    monkeypatch.setattr(checkpoint.codec, "write", slow)
    own = Checkpoint(tmp_path / "x", every=1.0)
    own.begin("mark")
    for _ in range(200):
        clock[0] += 1.0
        own.save(dict, ended=False)
    assert len(written) >= 3
    assert (np.diff(written) >= 2.0 / checkpoint.MOST_SHARE).all()


def test_a_state_of_randomness_counts_by_its_value(tmp_path: Path) -> None:
    """A new RandomState in the same state is the same, one in another state is refused."""
    path = tmp_path / "fit.ckpt"

    def fit(state: np.random.RandomState, count: int, **more: Any) -> Any:
        model = GradientBoostingClassifier(n_estimators=count, subsample=0.5, random_state=state)
        return model.set_params(callbacks=[Checkpoint(path)]).fit(X, TWO, **more)

    fit(np.random.RandomState(0), 3)
    resumed = fit(np.random.RandomState(0), 6, resume=path)
    assert resumed.objective_ == fit(np.random.RandomState(0), 6).objective_
    with pytest.raises(ResumeError, match=r"other data or parameters \(random_state\)"):
        fit(np.random.RandomState(1), 9, resume=path)


def test_the_same_values_are_the_same_data(tmp_path: Path) -> None:
    """In another order of memory, as lists, as whole numbers of another size; else y is named."""
    path = tmp_path / "fit.ckpt"
    y = (Y > 0).astype(np.int64)
    make = lambda: LPBoostClassifier(C=1.0)  # noqa: E731
    for rows, labels in [
        (np.asfortranarray(X), y),
        (X.tolist(), y.tolist()),
        (np.repeat(X, 2, axis=1)[:, ::2], y.astype(np.int32)),
    ]:
        make().set_params(callbacks=[Checkpoint(path)]).fit(X, y)
        assert make().fit(rows, labels, resume=path).converged_
    with pytest.raises(ResumeError, match=r"parameters \(y\): resume"):
        make().fit(X, 1 - y, resume=path)


def test_kernels_of_the_user_have_the_names_of_the_library(tmp_path: Path) -> None:
    """Two functions without names, which the resuming estimator defines anew."""
    path = tmp_path / "fit.ckpt"

    def make(**more: Any) -> CGBoostClassifier:
        library = {"one": lambda A, B: A @ B.T, "two": lambda A, B: (A @ B.T + 1.0) ** 2}
        return CGBoostClassifier(library, columns_per_round=1, tol=1e-9, **more)

    make(max_columns=6, callbacks=[Checkpoint(path, every=0.0)]).fit(X, TWO)
    resumed = make().fit(X, TWO, resume=path)
    assert resumed.objective_ == pytest.approx(make().fit(X, TWO).objective_, rel=1e-9)


def test_a_model_keeps_nothing_of_its_checkpoint(tmp_path: Path) -> None:
    """What is stored of the callback is its path; files may name it."""
    own = Checkpoint(tmp_path / "fit.ckpt")
    model = LPBoostClassifier(C=1.0, callbacks=[own]).fit(X, TWO)
    assert not own._ended
    model.save(tmp_path / "model.cgb")
    loaded = cgboost.load(tmp_path / "model.cgb")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert isinstance(loaded.callbacks[0], Checkpoint)


def test_what_follows_a_ctrl_c_lacks_no_column_of_the_history() -> None:
    """Classes against the rest whose runs came to nothing have nan for scores of the first."""
    model = TransformClassifier(multi_class="ovr", random_state=0, callbacks=[CtrlC(3)]).fit(
        X, THREE
    )
    assert np.isnan(model.history_["holdout_loss"]).any()
    assert model.predict(X).shape == (150,)
