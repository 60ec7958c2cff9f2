"""Fits in which something breaks: the last good round is kept, or nothing is."""

import contextlib
import signal
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

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
from cgboost.masters.support_vector.master import SupportVectorMaster
from cgboost.parallel import FuturesExecutor
from cgboost.pricing import StrataPricer
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
KERNEL_MODELS = [name for name in MODELS if not name.startswith("LPBoost")]
ERRORS = {
    "memory": MemoryError("no room for 9 TiB"),
    "words": ZeroDivisionError("my own mistake"),
    "solver": MasterError("toy: the factorisation broke down"),
}


def break_at(monkeypatch: Any, owner: type, name: str, error: Exception, *, after: int) -> None:
    """Let a method raise ``error`` once, after so many calls."""
    method, calls = getattr(owner, name), [0]

    def breaking(self: Any, *arguments: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] == after + 1:
            raise error
        return method(self, *arguments, **options)

    monkeypatch.setattr(owner, name, breaking)


def outputs(model: Any, X: np.ndarray) -> np.ndarray:
    """What the model is made for."""
    values = model.decision_function if hasattr(model, "decision_function") else model.predict
    return np.asarray(values(X))


def stages(model: Any, X: np.ndarray) -> list[np.ndarray]:
    """The same after every round."""
    named = hasattr(model, "staged_decision_function")
    return list(model.staged_decision_function(X) if named else model.staged_predict(X))


def assert_not_fitted(model: Any) -> None:
    """Nothing is left of a fit."""
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert not [name for name in vars(model) if name.endswith("_") and not name.endswith("__")]


PLACES = {"master": (SupportVectorMaster, "solve"), "pricer": (StrataPricer, "price")}


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", MODELS)
def test_before_a_round_has_columns_the_error_is_raised(
    monkeypatch: Any, name: str, place: str, kind: str
) -> None:
    """In the first real round there is only a constant to keep: the error itself comes out."""
    make, data = MODELS[name]
    X, y = data()
    break_at(monkeypatch, *PLACES[place], ERRORS[kind], after=1 if place == "master" else 0)
    model = make(**ONE)
    with pytest.raises(type(ERRORS[kind]), match=str(ERRORS[kind])):
        model.fit(X, y)
    assert_not_fitted(model)
    model.fit(X, y)  # the error does not come again
    check_is_fitted(model)


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", [name for name in MODELS if name != "classes"])
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
    assert model.n_columns_ > 0
    assert not model.converged_
    objectives = whole.history_["objective"]
    assert model.objective_ == objectives[model.best_round_] < objectives[0]
    np.testing.assert_allclose(outputs(model, X), stages(whole, X)[model.best_round_], atol=1e-12)


def test_a_class_that_breaks_keeps_its_own_last_round(monkeypatch: Any) -> None:
    """The other classes are as ever, and the warning names the one."""
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


def test_a_class_that_has_nothing_is_no_model(monkeypatch: Any) -> None:
    """One class without columns would be a constant among models: the error is raised."""
    X, y = three_classes()
    first = int((classifier(**ONE).fit(X, y).history_["class"] == 0).sum())
    break_at(monkeypatch, StrataPricer, "price", MemoryError("no room"), after=first)
    model = classifier(**ONE)
    with pytest.raises(MemoryError, match="no room"):
        model.fit(X, y)
    assert_not_fitted(model)


class Tiring:
    """A kernel that raises from its n-th call on."""

    def __init__(self, calls: int, error: Exception) -> None:
        self.calls, self.error = calls, error

    def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        self.calls -= 1
        if self.calls < 0:
            raise self.error
        return RBF(0.5)(A, B)


@pytest.mark.parametrize("error", [ZeroDivisionError("one call too many"), MemoryError("no room")])
@pytest.mark.parametrize("name", [name for name in KERNEL_MODELS if name != "classes"])
def test_a_kernel_that_raises_midway(name: str, error: Exception) -> None:
    """Whenever it happens: the error comes out, or there is a model with columns, and a warning."""
    make, data = MODELS[name]
    X, y = data()
    seen = set()
    for calls in range(1, 40, 3):
        library = KernelLibrary({"tiring": Tiring(calls, error)})
        model = make(library=library, cache_size=0, **ONE)
        words = ""
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(X, y)
        except (KernelError, MemoryError) as raised:
            words = str(raised)
        if words:
            assert str(error) in words
            assert_not_fitted(model)
            seen.add("raised")
            continue
        if model.stop_reason_ == "pricer_failed":
            assert len([w for w in caught if str(error) in str(w.message)]) == 1
            assert model.n_columns_ > 0
            assert model.objective_ < model.history_["objective"][0]
            seen.add("kept")
    assert seen == {"raised", "kept"}


def test_a_kernel_that_raises_on_held_out_rows() -> None:
    """Scoring is no different from the search: the rounds that were scored stay."""
    X, y = two_classes()
    held_out = two_classes(20, seed=1)

    class Picky:
        def __call__(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
            if len(A) == 20 and calls_left.pop() == 0:
                raise OSError("my disk is full")
            return RBF(0.5)(A, B)

    calls_left = list(range(6))
    model = classifier(library=KernelLibrary({"picky": Picky()}), **ONE)
    with pytest.warns(ConvergenceWarning, match="OSError: my disk is full"):
        model.fit(X, y, eval_set=held_out)
    assert model.stop_reason_ == "pricer_failed"
    assert np.isfinite(model.history_["validation_error"]).all()
    calls_left = [0]
    fresh = classifier(library=model.library, **ONE)
    with pytest.raises(KernelError, match="my disk is full"):
        fresh.fit(X, y, eval_set=held_out)
    assert_not_fitted(fresh)


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


@pytest.mark.parametrize("name", KERNEL_MODELS)
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
    from cgboost.optimizers.refits.refits import LeastDeviations

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


def test_a_refit_that_fails_at_once_keeps_the_model_before(monkeypatch: Any) -> None:
    """What was fitted stays as it was; nothing is mixed."""
    X, y = two_classes()
    model = classifier(**ONE).fit(X, y)
    before = dict(vars(model))
    break_at(monkeypatch, StrataPricer, "price", MemoryError("no room"), after=0)
    with pytest.raises(MemoryError):
        model.fit(X[:30], y[:30])
    assert vars(model) == before


def test_a_path_that_breaks_is_raised_or_kept_model_by_model(monkeypatch: Any) -> None:
    """The model in which it happens is the last good round of its own, the others are whole."""
    X, y = two_classes()
    model = classifier(**ONE)
    whole = model.path(X, y, [0.1, 1.0])
    rounds = len(whole.models[0].history_["round"])
    break_at(monkeypatch, StrataPricer, "price", MemoryError("no room"), after=rounds + 2)
    with pytest.warns(ConvergenceWarning, match="MemoryError: no room"):
        path = model.path(X, y, [0.1, 1.0])
    assert [m.stop_reason_ == "pricer_failed" for m in path.models] == [False, True]
    assert_not_fitted(model)


def test_thinning_says_when_the_solver_has_failed(monkeypatch: Any) -> None:
    """The members so far are kept, with a warning; where there are none, it raises."""
    X, y = two_classes(200)
    trees = [
        DecisionTreeClassifier(max_depth=1, max_features=1, random_state=k).fit(X[k::9], y[k::9])
        for k in range(9)
    ]
    real = OneNormSolve(monkeypatch)
    model = ThinnedEnsemble(trees, C=1.0, size=6, weights="program")
    with pytest.warns(ConvergenceWarning, match="ThinnedEnsemble: toy: no pivot"):
        model.fit(X, y)
    assert len(model.members_) > 0
    assert not model.converged_
    real.left = 1
    with pytest.raises(MasterError, match="no pivot"):
        model.fit(X, y)


class OneNormSolve:
    """Lets every master of support vectors fail from its n-th solve on."""

    def __init__(self, monkeypatch: Any) -> None:
        self.left, method = 3, SupportVectorMaster.solve

        def solve(master: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left < 0:
                raise MasterError("toy: no pivot")
            return method(master, **options)

        monkeypatch.setattr(SupportVectorMaster, "solve", solve)
