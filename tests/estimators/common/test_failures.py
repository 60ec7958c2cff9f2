"""Fits in which something breaks: the last good round is kept, or nothing is."""

import contextlib
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from cgboost import (
    RBF,
    AnyBoostClassifier,
    BLFRegressor,
    CGBoostOutlierDetector,
    KernelLibrary,
    LPBoostClassifier,
    LPBoostRegressor,
    ThinnedEnsemble,
)
from cgboost.exceptions import KernelError, MasterError, WorkerWarning
from cgboost.masters.support_vector.support_vector_master import SupportVectorMaster
from cgboost.optimizers.refits.refits import LeastDeviations
from cgboost.parallel import FuturesExecutor
from cgboost.pricing import StrataPricer
from tests.estimators.cases import outputs
from tests.estimators.data import classifier, curve, regressor, three_classes, two_classes

Make = Callable[..., Any]
ONE = {"columns_per_round": 1}


def detector(**parameters: Any) -> CGBoostOutlierDetector:
    """A 1-norm model of where rows lie."""
    return CGBoostOutlierDetector(
        **{"library": KernelLibrary({"rbf": RBF(0.5)}), "nu": 0.3} | parameters
    )


MODELS: dict[str, tuple[Make, Callable[[], Any]]] = {
    "classifier": (classifier, two_classes),
    "2-norm classifier": (lambda **p: classifier(**{"penalty": "l2"} | p), two_classes),
    "regressor": (regressor, curve),
    "outlier detector": (detector, two_classes),
    "LPBoost": (LPBoostClassifier, two_classes),
    "LPBoost for numbers": (LPBoostRegressor, curve),
    "classes": (classifier, three_classes),
}
ERRORS = {
    "memory": MemoryError("no room for 9 TiB"),
    "words": ZeroDivisionError("my own mistake"),
    "solver": MasterError("toy: the factorisation broke down"),
}
PLACES = {"master": (SupportVectorMaster, "solve"), "pricer": (StrataPricer, "price")}
BREAKS = [
    (name, place, kind)
    for name in MODELS
    for place in PLACES
    for kind in (ERRORS if name == "classifier" else ["memory" if place == "pricer" else "solver"])
]
"""Every kind of error in one model, those to be expected in all."""


def break_at(monkeypatch: Any, owner: type, name: str, error: Exception, *, after: int) -> None:
    """Let a method raise ``error`` once, after so many calls."""
    method, calls = getattr(owner, name), [0]

    def breaking(self: Any, *arguments: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] == after + 1:
            raise error
        return method(self, *arguments, **options)

    monkeypatch.setattr(owner, name, breaking)


def stages(model: Any, X: np.ndarray) -> list[np.ndarray]:
    """Outputs after every round."""
    named = hasattr(model, "staged_decision_function")
    return list(model.staged_decision_function(X) if named else model.staged_predict(X))


def assert_not_fitted(model: Any) -> None:
    """Nothing is left of a fit."""
    assert set(vars(model)) == set(model.get_params(deep=False))


@pytest.mark.parametrize(("name", "place", "kind"), BREAKS)
def test_before_a_round_has_columns_the_error_is_raised(
    monkeypatch: Any, name: str, place: str, kind: str
) -> None:
    """In the first real round there is only a constant to keep: the error itself comes out."""
    make, data = MODELS[name]
    break_at(monkeypatch, *PLACES[place], ERRORS[kind], after=1 if place == "master" else 0)
    model = make(**ONE)
    with pytest.raises(type(ERRORS[kind]), match=str(ERRORS[kind])):
        model.fit(*data())
    assert_not_fitted(model)


@pytest.mark.parametrize(("name", "place", "kind"), [b for b in BREAKS if b[0] != "classes"])
def test_later_the_last_good_round_is_kept(
    monkeypatch: Any, name: str, place: str, kind: str
) -> None:
    """The model is a stage of a whole fit, better than the constant; the warning has the words."""
    make, data = MODELS[name]
    X, y = data()
    whole = make(**ONE).fit(X, y)
    break_at(monkeypatch, *PLACES[place], ERRORS[kind], after=5)
    with pytest.warns(ConvergenceWarning, match=str(ERRORS[kind])) as caught:
        model = make(**ONE).fit(X, y)
    assert caught[0].filename == __file__
    assert model.stop_reason_ == f"{place}_failed"
    assert not model.converged_
    objectives = whole.history_["objective"]
    assert model.objective_ == objectives[model.best_round_] < objectives[0]
    np.testing.assert_allclose(outputs(model, X), stages(whole, X)[model.best_round_], atol=1e-12)


def test_a_class_that_breaks_keeps_its_own_last_round(monkeypatch: Any) -> None:
    """The other classes are as ever, the warning names the one; one without columns is no model."""
    X, y = three_classes()
    whole = classifier(**ONE).fit(X, y)
    first = int((whole.history_["class"] == 0).sum())
    break_at(monkeypatch, StrataPricer, "price", MemoryError("no room"), after=first + 2)
    with pytest.warns(ConvergenceWarning, match="class 1: pricer_failed: MemoryError: no room"):
        model = classifier(**ONE).fit(X, y)
    assert [str(reason) == "pricer_failed" for reason in model.stop_reason_] == [False, True, False]
    np.testing.assert_allclose(outputs(model, X)[:, [0, 2]], outputs(whole, X)[:, [0, 2]])
    kept = stages(whole, X)[model.best_round_[1]]
    np.testing.assert_allclose(outputs(model, X)[:, 1], kept[:, 1], atol=1e-12)
    break_at(monkeypatch, StrataPricer, "price", MemoryError("no room"), after=first)
    with pytest.raises(MemoryError, match="no room"):
        model.fit(X, y)
    assert model.best_round_[1] > 0  # the model before


def test_a_path_that_breaks_is_kept_model_by_model(monkeypatch: Any) -> None:
    """The model in which it happens is the last good round of its own, the others are whole."""
    X, y = two_classes()
    model = classifier(**ONE)
    rounds = len(model.path(X, y, [0.1, 1.0]).models[0].history_["round"])
    break_at(monkeypatch, StrataPricer, "price", MemoryError("no room"), after=rounds + 2)
    with pytest.warns(ConvergenceWarning, match="MemoryError: no room"):
        path = model.path(X, y, [0.1, 1.0])
    assert [m.stop_reason_ == "pricer_failed" for m in path.models] == [False, True]
    assert_not_fitted(model)


class Tiring:
    """A kernel that raises from its n-th call on, of those with so many rows if they are given."""

    def __init__(self, calls: int, error: Exception, n_rows: int | None = None) -> None:
        self.calls, self.error, self.n_rows = calls, error, n_rows

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        self.calls -= self.n_rows in (None, len(A))
        if self.calls < 0:
            raise self.error
        return RBF(0.5)(A, B)


def test_a_kernel_that_raises_on_held_out_rows() -> None:
    """Scoring is no different from the search: the rounds that were scored stay."""
    for calls in (5, 0):
        kernel = Tiring(calls, OSError("my disk is full"), n_rows=20)
        model = classifier(library=KernelLibrary({"picky": kernel}), **ONE)
        with (
            pytest.warns(ConvergenceWarning, match="OSError: my disk is full")
            if calls
            else pytest.raises(KernelError, match="my disk is full")
        ):
            model.fit(*two_classes(), eval_set=two_classes(20, seed=1))
        if calls:
            assert model.stop_reason_ == "pricer_failed"
            assert np.isfinite(model.history_["validation_error"]).all()
        else:
            assert_not_fitted(model)


class Killing(FuturesExecutor):
    """Processes of which one is killed before the n-th pass."""

    def __init__(self, executor: ProcessPoolExecutor, *, after: int) -> None:
        super().__init__(executor, 2)
        self.passes_left = after

    def run(self, *arguments: Any) -> Any:
        """See :meth:`FuturesExecutor.run`."""
        self.passes_left -= 1
        if self.passes_left == 0:
            # Its result comes when the pool knows of the death: the pass below is sure to fail.
            with contextlib.suppress(BrokenProcessPool):
                self.executor.submit(signal.raise_signal, signal.SIGKILL).result()
        return super().run(*arguments)


@pytest.mark.parametrize("name", ["classifier", "outlier detector"])
def test_a_worker_killed_in_the_middle(name: str) -> None:
    """A new pool takes the place of the broken one: the model is the same."""
    make, data = MODELS[name]
    X, y = data()
    plain = make(**ONE).fit(X, y)
    for after in (1, 5):
        with ProcessPoolExecutor(2) as processes:
            model = make(executor=Killing(processes, after=after), **ONE)
            with pytest.warns(WorkerWarning, match="a new pool takes its place"):
                model.fit(X, y)
        assert model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
        assert model.converged_


class TiringTree(DecisionTreeClassifier):
    """A weak learner that raises in its n-th fit."""

    fits_left = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Any:
        """See :meth:`DecisionTreeClassifier.fit`."""
        TiringTree.fits_left -= 1
        if TiringTree.fits_left < 0:
            raise RuntimeError("my learner is tired")
        return super().fit(X, y, sample_weight, **options)


@pytest.mark.parametrize("make", [LPBoostClassifier, AnyBoostClassifier])
def test_a_learner_that_raises_midway(make: Any) -> None:
    """The user's learners are kept as kernels are, by certified and by classical boosting."""
    X, y = two_classes()
    model = make(TiringTree(max_depth=1))
    TiringTree.fits_left = 3
    with pytest.warns(ConvergenceWarning, match="pricer_failed: RuntimeError: my learner is tired"):
        model.fit(X, y)
    assert len(model.estimators_) > 0
    assert model.score(X, y) > DummyClassifier().fit(X, y).score(X, y)
    TiringTree.fits_left = 0
    fresh = make(TiringTree(max_depth=1))
    with pytest.raises(RuntimeError, match="my learner is tired"):
        fresh.fit(X, y)
    assert_not_fitted(fresh)


@pytest.mark.parametrize("after", [0, 2])
def test_a_linear_program_that_fails_between_factors(monkeypatch: Any, after: int) -> None:
    """Boosted latent factors: the factors so far are the model, or there is none."""
    X, y = curve()
    failure = MasterError("toy: no pivot")
    break_at(monkeypatch, LeastDeviations, "refit", failure, after=1 + after)
    model = BLFRegressor(5, loss="absolute_error", kernel=RBF())
    if not after:
        with pytest.raises(MasterError, match="no pivot"):
            model.fit(X, y)
        assert_not_fitted(model)
        return
    with pytest.warns(ConvergenceWarning, match="master_failed: toy: no pivot"):
        model.fit(X, y)
    shorter = BLFRegressor(after, loss="absolute_error", kernel=RBF()).fit(X, y)
    np.testing.assert_allclose(model.predict(X), shorter.predict(X), atol=1e-12)


def test_thinning_says_when_the_solver_has_failed(monkeypatch: Any) -> None:
    """The members so far are kept, with a warning; where there are none, it raises."""
    X, y = two_classes(200)
    trees = [
        DecisionTreeClassifier(max_depth=1, max_features=1, random_state=k).fit(X[k::9], y[k::9])
        for k in range(9)
    ]
    left, solve = [3], SupportVectorMaster.solve

    def failing(master: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise MasterError("toy: no pivot")
        return solve(master, **options)

    monkeypatch.setattr(SupportVectorMaster, "solve", failing)
    model = ThinnedEnsemble(trees, C=1.0, size=6, weights="program")
    with pytest.warns(ConvergenceWarning, match="ThinnedEnsemble: toy: no pivot"):
        model.fit(X, y)
    assert len(model.members_) > 0
    assert not model.converged_
    left[0] = 1
    with pytest.raises(MasterError, match="no pivot"):
        model.fit(X, y)
