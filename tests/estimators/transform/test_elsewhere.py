"""Transform regression of rows in partitions: the same model wherever they are."""

import os
import pickle
import signal
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cgboost import AdditiveRegressor, LinearTreeRegressor, TransformClassifier, TransformRegressor
from cgboost.estimators.transform.variants import VARIANTS
from cgboost.exceptions import ExecutorError, WorkerWarning
from cgboost.parallel import DaskExecutor, FuturesExecutor, SerialExecutor, ThreadExecutor
from cgboost.sources import Partitions
from tests.estimators.transform.transform_data import (
    Parquet,
    blocks,
    few_values,
    mixed,
    outputs,
    structure,
    target,
)

BOTH = [TransformRegressor, TransformClassifier]


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes, started afresh."""
    with ProcessPoolExecutor(2) as pool:
        yield pool


@contextmanager
def two_workers() -> Iterator[Any]:
    """A client of a Dask cluster with two workers, each in a process of its own."""
    distributed = pytest.importorskip("distributed", reason="pip install cgboost[distributed]")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Of a cluster that no worker is taken from."""
    with two_workers() as client:
        yield client


@pytest.fixture
def fragile() -> Iterator[Any]:
    """Of a cluster of its own: a worker that was killed is not always started again."""
    with two_workers() as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files of this process."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def assert_same(model: Any, wanted: Any, X: Any) -> None:
    """Both predict the same to 1e-8, from the same stages."""
    np.testing.assert_allclose(outputs(model, X), outputs(wanted, X), rtol=0, atol=1e-8)
    assert structure(model) == structure(wanted)
    assert model.n_iter_ == wanted.n_iter_
    assert model.stop_reason_ == wanted.stop_reason_
    np.testing.assert_allclose(model.objective_, wanted.objective_, rtol=1e-9)
    np.testing.assert_allclose(
        model.history_["holdout_loss"], wanted.history_["holdout_loss"], rtol=1e-9
    )
    np.testing.assert_allclose(model.importances_, wanted.importances_, atol=1e-8)


def cut(X: Any, y: Any, weights: Any, count: int, seed: int) -> list[Any]:
    """So many partitions of random sizes, one of them empty."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, len(y), count - 1)) if count > 1 else np.zeros(0, int)
    ends = np.concatenate([[0], ends, ends[-1:], [len(y)]])
    return [(X[a:b], y[a:b], weights[a:b]) for a, b in pairwise(ends.tolist())]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", BOTH)
def test_every_variant_is_the_same_over_partitions(kind: type, variant: str) -> None:
    """Missing values, categories, weights, and several classes; also from threads and blocks."""
    X, y, weights = mixed(1)
    y = target(kind, y)
    model = kind(n_estimators=3, variant=variant)
    wanted = clone(model).fit(X, y, weights)
    for count in (1, 3, 5):
        parts = Partitions(cut(X, y, weights, count, count))
        assert_same(clone(model).fit(parts), wanted, X)
    with_threads = clone(model).set_params(executor=ThreadExecutor(2))
    assert_same(clone(with_threads).fit(X, y, weights), wanted, X)
    assert_same(with_threads.fit(blocks(X, y, weights, 4, 0)), wanted, X)


@pytest.mark.parametrize("loss", ["huber", "absolute_error", "quantile", "poisson"])
def test_every_loss_is_the_same_over_partitions(loss: str) -> None:
    """Those without a curvature somewhere, or anywhere, too."""
    X, y, weights = mixed(2)
    y = np.abs(y) if loss == "poisson" else y
    model = TransformRegressor(n_estimators=3, loss=loss, n_holdouts=2)
    wanted = clone(model).fit(X, y, weights)
    assert_same(clone(model).fit(Partitions(cut(X, y, weights, 4, 0))), wanted, X)


@pytest.mark.parametrize("kind", BOTH)
def test_the_same_model_from_processes(kind: type, processes: Any, folder: Path) -> None:
    """From arrays, blocks, files that workers read, and tuples; no file is left."""
    X, y, weights = mixed(3)
    y = target(kind, y)
    wanted = kind(n_estimators=4).fit(X, y, weights)
    model = kind(n_estimators=4, executor=FuturesExecutor(processes, 3))
    assert_same(clone(model).fit(X, y, weights), wanted, X)
    assert_same(clone(model).fit(blocks(X, y, weights, 4, 1)), wanted, X)
    assert_same(clone(model).fit(Partitions(cut(X, y, weights, 2, 3))), wanted, X)
    assert not list(folder.iterdir())
    halves = blocks(X, y, weights, 4, 2)
    parts = [Parquet(folder / f"{k}.parquet", halves[k::2]) for k in (0, 1)]
    assert_same(model.fit(Partitions(parts)), wanted, X)
    assert sorted(path.name for path in folder.iterdir()) == ["0.parquet", "1.parquet"]


@pytest.mark.parametrize("kind", BOTH)
def test_the_same_model_from_a_cluster(kind: type, client: Any) -> None:
    """From arrays, futures, delayed objects and tuples; the estimator does not keep the cluster."""
    dask = pytest.importorskip("dask")
    X, y, weights = mixed(4)
    y = target(kind, y)
    wanted = kind(n_estimators=4).fit(X, y, weights)
    model = kind(n_estimators=4, executor=DaskExecutor(client))
    assert_same(clone(model).fit(X, y, weights), wanted, X)
    first, second, third, *_ = cut(X, y, weights, 3, 5)
    rest = X[len(first[0]) + len(second[0]) + len(third[0]) :]
    fourth = (rest, y[len(y) - len(rest) :], weights[len(y) - len(rest) :])
    items = [client.submit(tuple, first), dask.delayed(tuple)(second), third, fourth]
    assert_same(clone(model).fit(Partitions(items)), wanted, X)


def test_equal_rows_are_held_out_one_by_one_wherever_they_are(client: Any) -> None:
    """Few different rows, each many times, with and without weights, in all partitions."""
    X, y, weights = few_values(1)
    X = X.assign(b=X["b"].astype(str))
    for own in (weights, np.ones(len(y))):
        wanted = TransformRegressor(n_estimators=3).fit(X, y, own)
        parts = Partitions(cut(X, y, own, 4, 7))
        model = TransformRegressor(n_estimators=3, executor=DaskExecutor(client)).fit(parts)
        assert_same(model, wanted, X)


def test_a_category_of_one_partition_alone() -> None:
    """Has its number from the categories of all, as a class has."""
    X, y, weights = mixed(6)
    rare = X.assign(group=np.where(X.index < 60, "only here", X["group"]))
    labels = np.where(np.arange(len(y)) >= 900, "late", np.where(y > 2, "high", "low"))
    ends = [0, 100, 500, 900, 1000]
    for kind, response in ((TransformRegressor, y), (TransformClassifier, labels)):
        wanted = kind(n_estimators=3).fit(rare, response, weights)
        parts = [(rare[a:b], response[a:b], weights[a:b]) for a, b in pairwise(ends)]
        model = kind(n_estimators=3).fit(Partitions(parts))
        assert_same(model, wanted, rare)
    np.testing.assert_array_equal(model.predict(rare), wanted.predict(rare))


class Killing(DaskExecutor):
    """A cluster that loses a worker in the middle of a fit."""

    def __init__(self, client: Any, when: int) -> None:
        super().__init__(client)
        self.when, self.count = when, 0

    def ask(self, task: Any, combine: Any, shared: Any, kept: Any, message: Any) -> Any:
        """Kill the worker of the first partition before its answer is there."""
        self.count += 1
        if self.count == self.when:
            place = self.client.who_has([kept[0].future])[kept[0].future.key]
            os.kill(self.client.run(os.getpid)[place[0]], signal.SIGKILL)
        return super().ask(task, combine, shared, kept, message)


@pytest.mark.parametrize("sent", [True, False])
@pytest.mark.parametrize("when", [2, 3, 9, 20])
def test_a_killed_worker_changes_nothing(fragile: Any, when: int, sent: bool) -> None:
    """Its partition is sent or computed again, and all calls of the fit with it."""
    X, y, weights = mixed(5)
    wanted = TransformRegressor(n_estimators=3).fit(X, y, weights)
    parts = [fragile.submit(tuple, part) for part in cut(X, y, weights, 2, 9)]
    rows = (X, y, weights) if sent else (Partitions(parts),)
    executor = Killing(fragile, when)
    model = TransformRegressor(n_estimators=3, executor=executor).fit(*rows)
    assert executor.count > when
    assert_same(model, wanted, X)


def test_data_that_cannot_be_made_again_is_an_error(fragile: Any) -> None:
    """Scattered by the user, and lost with the one worker that had it."""
    X, y, weights = mixed(5)
    parts = [fragile.scatter([part], hash=False)[0] for part in cut(X, y, weights, 2, 9)]
    model = TransformRegressor(executor=Killing(fragile, 3))
    with (
        pytest.warns(WorkerWarning, match="lost its data 4 times"),
        pytest.raises(ExecutorError, match="has lost a future.*futures of functions"),
    ):
        model.fit(Partitions(parts))
    assert not hasattr(model, "stages_")


class Breaking(SerialExecutor):
    """An executor that fails after some questions."""

    def __init__(self, when: int, error: BaseException) -> None:
        super().__init__()
        self.when, self.error, self.kept, self.left = when, error, 0, 0

    def keep(self, build: Any, items: Any) -> Any:
        """Count what is kept."""
        found = super().keep(build, items)
        self.kept += len(found)
        return found

    def ask(self, *arguments: Any) -> Any:
        """Fail in the end."""
        self.when -= 1
        if self.when < 0:
            raise self.error
        return super().ask(*arguments)

    def forget(self, kept: Any) -> None:
        """Count what is forgotten."""
        self.left += len(kept)


@pytest.mark.parametrize("error", [RuntimeError("the disk is full"), KeyboardInterrupt()])
def test_a_failure_leaves_the_last_complete_stage_and_nothing_else(error: BaseException) -> None:
    """Before the first stage it is an error, and the estimator is as it was."""
    X, y, _ = mixed(7)
    whole = TransformRegressor(n_estimators=10, tol=0.0).fit(X, y)
    executor = Breaking(25, error)
    with pytest.warns(ConvergenceWarning, match=r"the disk is full|interrupted"):
        model = TransformRegressor(n_estimators=10, tol=0.0, executor=executor).fit(X, y)
    assert 0 < model.n_iter_ < whole.n_iter_
    stages = list(whole.staged_predict(X))
    np.testing.assert_allclose(model.predict(X), stages[model.n_iter_ - 1], atol=1e-8)
    assert executor.kept == executor.left == 1
    for when in (0, 1, 2):
        executor = Breaking(when, error)
        model = TransformRegressor(executor=executor)
        before = dict(vars(model))
        with pytest.raises(type(error)):
            model.fit(X, y)
        assert vars(model) == before
        assert executor.kept == executor.left == 1


@pytest.mark.parametrize("kind", [TransformRegressor, TransformClassifier])
def test_a_partition_of_weights_0_is_none(kind: type) -> None:
    """The others decide; a partition without rows needs no weights beside them."""
    X, y, weights = mixed(9, 200)
    y = y if kind is TransformRegressor else (y > np.median(y)).astype(int)
    parts = [(X, y, weights), (X, y, 0 * weights), (X[:0], y[:0])]
    found = kind(n_estimators=2).fit(Partitions(parts))
    wanted = kind(n_estimators=2).fit(X, y, weights)
    f, g = (list(own.staged_decision_function(X))[-1] for own in (found, wanted))
    np.testing.assert_allclose(f, g, atol=1e-8)


def test_bad_input_is_refused() -> None:
    """The error names what is wrong, and what to do; nothing stays with the executor."""
    X, y, weights = mixed(8, 60)
    parts = Partitions([(X[:30], y[:30]), (X[30:], y[30:])])
    model = TransformRegressor()
    cases: list[tuple[Any, tuple[Any, ...], str]] = [
        (model, (parts, y), r"y of Partitions belongs in them"),
        (model, (parts, None, weights), r"weights of Partitions belong in them"),
        (model, (Partitions([(X[:0], y[:0])] * 2),), r"Partitions must have rows, got 2 without"),
        (model, (Partitions([(X[:1], y[:1])]),), r"at least 2 rows are needed, got n_samples=1"),
        (model, (Partitions([(X, y), (X, 1e200 * y)]),), r"y must be at most 1e\+100 in size"),
        (model, (Partitions([(X, y), (X, np.full(60, np.nan))]),), r"partition 1: y must be fin"),
        (model, (Partitions([(X, y), (X[["far"]], y)]),), r"partition 1 does not go.*columns"),
        (
            model,
            (Partitions([(X, y), (X.assign(x="a"), y)]),),
            r"partition 1 does not go with those before it: feature 'x' is of type",
        ),
        (
            model,
            (Partitions([(X, y), (X.assign(far=np.inf), y)]),),
            r"partition 1: feature 'far' has the value inf",
        ),
        (model, (Partitions([(X, y[:3])]),), r"partition 0: block 0.* has 60 rows, 3 responses"),
        (
            model,
            (Partitions([(X[:0], y[:0]), (X, y), (X, y, weights)]),),
            r"partition 1 has no weights, and partition 2 has some: give weights in every",
        ),
        (model, (Partitions([(X, y, -weights), (X, y, weights)]),), r"partition 0: the weights"),
        (TransformClassifier(), (Partitions([(X, ["a"] * 60)]),), r"at least two classes"),
        (
            TransformClassifier(),
            (Partitions([(X, ["a"] * 60), (X, [1] * 60)]),),
            r"partition 1 has labels that are numbers \(1\), and partition 0 has words \('a'\)",
        ),
        (
            TransformClassifier(),
            (Partitions([(X, y > 1), (X, y)]),),
            r"partition 1: Unknown label type: continuous",
        ),
        (
            AdditiveRegressor(),
            (parts,),
            r"AdditiveRegressor cannot be fitted to a Partitions, only TransformRegressor",
        ),
        (LinearTreeRegressor(), (parts,), r"LinearTreeRegressor cannot be fitted to a Partitions"),
    ]
    for estimator, given, message in cases:
        with pytest.raises(ValueError, match=message):
            estimator.fit(*given)
        assert not hasattr(estimator, "n_features_in_")
    with pytest.raises(TypeError, match=r"executor must be None, an Executor.*got 'dask'"):
        TransformRegressor(executor="dask").fit(X, y)


def test_a_fitted_model_and_its_parameters_are_those_of_any_other(processes: Any) -> None:
    """It can be pickled, knows its columns, and is cloned with its executor as it is."""
    X, y, weights = mixed(9)
    model = TransformRegressor(n_estimators=2, executor=ThreadExecutor(2)).fit(X, y, weights)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert model.n_features_in_ == 6
    assert list(model.feature_names_in_) == list(X.columns)
    assert clone(TransformRegressor(executor=FuturesExecutor(processes))).executor.n_tasks > 0
    assert model.history_["holdout_loss"].shape == (3,)


@pytest.mark.parametrize("kind", BOTH)
def test_days_that_are_named_as_categories_are_read_so_by_every_worker(
    kind: type[Any], processes: ProcessPoolExecutor
) -> None:
    """Each task may come to a process that has not seen the partition before."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    day = pandas.Timestamp("2024-01-01") + pandas.to_timedelta(rng.integers(0, 5, 600), unit="D")
    X = pandas.DataFrame({"a": rng.normal(size=600), "day": day})
    y = (X["day"].dt.day == 2).to_numpy() * 1 + (X["a"] > 0).to_numpy()
    y[rng.random(600) < 0.2] = 1
    wanted = kind(n_estimators=2, categorical_features=["day"]).fit(X, y)
    for names in (["day"], [1]):
        model = kind(n_estimators=2, categorical_features=names, executor=processes)
        parts = [(X[at : at + 100], y[at : at + 100]) for at in range(0, 600, 100)]
        assert_same(model.fit(Partitions(parts)), wanted, X)
