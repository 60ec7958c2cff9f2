"""Transform regression of rows in partitions: the same model wherever they are."""

import os
import signal
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from cgboost import TransformClassifier, TransformRegressor
from cgboost.exceptions import ExecutorError, WorkerWarning
from cgboost.parallel import DaskExecutor, FuturesExecutor, SerialExecutor
from cgboost.sources import Partitions
from tests.estimators.transform.transform_data import (
    Parquet,
    assert_same,
    blocks,
    mixed,
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


def cut(X: Any, y: Any, weights: Any, count: int, seed: int) -> list[Any]:
    """So many partitions of random sizes, one of them empty."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(0, len(y), count - 1)) if count > 1 else np.zeros(0, int)
    ends = np.concatenate([[0], ends, ends[-1:], [len(y)]])
    return [(X[a:b], y[a:b], weights[a:b]) for a, b in pairwise(ends.tolist())]


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


@pytest.mark.parametrize(
    ("when", "sent"),
    [
        case
        if case in ((2, True), (9, False), (20, True))
        else pytest.param(*case, marks=pytest.mark.slow)
        for case in product((2, 3, 9, 20), (True, False))
    ],
)
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


GOOD, Y, WEIGHTS = mixed(8, 60)
REFUSED: dict[str, tuple[list[Any], str]] = {
    "no rows": ([(GOOD[:0], Y[:0])] * 2, "Partitions must have rows, got 2 without"),
    "one row": ([(GOOD[:1], Y[:1])], "at least 2 rows are needed, got n_samples=1"),
    "large y": ([(GOOD, Y), (GOOD, 1e200 * Y)], r"y must be at most 1e\+100 in size"),
    "nan in y": ([(GOOD, Y), (GOOD, np.full(60, np.nan))], "partition 1: y must be finite"),
    "columns": ([(GOOD, Y), (GOOD[["far"]], Y)], "partition 1 does not go.*columns"),
    "types": ([(GOOD, Y), (GOOD.assign(x="a"), Y)], "partition 1 does .*: feature 'x' is of type"),
    "infinite": ([(GOOD, Y), (GOOD.assign(far=np.inf), Y)], "partition 1: feature 'far' has the v"),
    "lengths": ([(GOOD, Y[:3])], "partition 0: block 0.* has 60 rows, 3 responses"),
    "some weights": (
        [(GOOD[:0], Y[:0]), (GOOD, Y), (GOOD, Y, WEIGHTS)],
        "partition 1 has no weights, and partition 2 has some: give weights in every",
    ),
    "negative": ([(GOOD, Y, -WEIGHTS), (GOOD, Y, WEIGHTS)], "partition 0: the weights"),
    "one class": ([(GOOD, ["a"] * 60)], "at least two classes"),
    "words and numbers": (
        [(GOOD, ["a"] * 60), (GOOD, [1] * 60)],
        r"partition 1 has labels that are numbers \(1\), and partition 0 has words \('a'\)",
    ),
    "continuous": ([(GOOD, Y > 1), (GOOD, Y)], "partition 1: Unknown label type: continuous"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_partitions_are_refused(name: str) -> None:
    """The error names the partition, what is wrong, and what to do; nothing is fitted."""
    parts, words = REFUSED[name]
    of_classes = name in ("one class", "words and numbers", "continuous")
    model = TransformClassifier() if of_classes else TransformRegressor()
    with pytest.raises(ValueError, match=words):
        model.fit(Partitions(parts))
    assert not hasattr(model, "n_features_in_")


def test_what_does_not_go_with_partitions_is_refused() -> None:
    """A response or weights beside them, what is no executor."""
    parts = Partitions([(GOOD[:30], Y[:30]), (GOOD[30:], Y[30:])])
    for model, given, words in (
        (TransformRegressor(), (parts, Y), "y of Partitions belongs in them"),
        (TransformRegressor(), (parts, None, WEIGHTS), "weights of Partitions belong in them"),
        (
            TransformClassifier(class_weight="balanced"),
            (Partitions([(GOOD, Y > 1)]),),
            "class_weight='balanced' .* the rows of Partitions have their weights in them",
        ),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(*given)
    with pytest.raises(TypeError, match=r"executor must be None, an Executor.*got 'dask'"):
        TransformRegressor(executor="dask").fit(GOOD, Y)


def test_weights_of_classes_go_with_the_rows() -> None:
    """class_weight is weights of rows, of blocks and of rows that are sent to an executor too."""
    labels = Y > 1
    heavy = TransformClassifier(n_estimators=2, class_weight={True: 3.0})
    model = clone(heavy).set_params(class_weight=None)
    wanted = model.fit(GOOD, labels, WEIGHTS * np.where(labels, 3.0, 1.0))
    sent = clone(heavy).set_params(executor=SerialExecutor())
    assert_same(sent.fit(GOOD, labels, WEIGHTS), wanted, GOOD)
    assert_same(heavy.fit(blocks(GOOD, labels, WEIGHTS, 3, 1)), wanted, GOOD)
    np.testing.assert_array_equal(sent.class_weight_, [1.0, 3.0])


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
