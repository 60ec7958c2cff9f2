"""Outputs of stages in files: the same sums as from memory, and no file that is left."""

import errno
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from cgboost import TransformRegressor
from cgboost.additive.places import memory, spilled
from cgboost.additive.places.spilled import Made, Spilled
from cgboost.arrays import blocks_of
from cgboost.tables import holdout_choice as choice
from tests.estimators.transform.transform_data import blocks, mixed


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a thousand rows are beyond."""
    monkeypatch.setattr(spilled, "LARGEST_HELD", 100)
    monkeypatch.setattr(memory, "LOSS_ROWS", 128)
    monkeypatch.setattr(choice, "NUMBERED_AT_ONCE", 300)


def test_values_are_read_as_they_were_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """By slices, in any order, and by numbers of rows, block by block."""
    monkeypatch.setattr(spilled, "BLOCK", 300)
    values = np.random.default_rng(0).normal(size=1000)
    there = Spilled(1000)
    for rows in list(blocks_of(1000, 300))[::-1]:
        there[rows] = values[rows]
    assert len(there) == 1000
    np.testing.assert_array_equal(there[slice(0, 1000)], values)
    np.testing.assert_array_equal(there[slice(299, 302)], values[299:302])
    chosen = np.array([0, 5, 400, 999])
    np.testing.assert_array_equal(there[chosen], values[chosen])
    made = Made(lambda rows: 2 * values[rows], 1000)
    np.testing.assert_array_equal(np.asarray(made), 2 * values)
    assert len(made) == 1000


@pytest.mark.usefixtures("small")
def test_a_full_disk_leaves_the_last_complete_stage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With a warning that says so; and no file."""
    X, y, weights = mixed(3)
    parts = blocks(X, y, weights, 5, 0)
    whole = TransformRegressor(n_estimators=5, tol=0.0).fit(parts)
    monkeypatch.setattr(spilled.tempfile, "tempdir", str(tmp_path))
    files = []

    def made(n_rows: int) -> Spilled:
        if len(files) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        files.append(Spilled(n_rows))
        return files[-1]

    monkeypatch.setattr(memory, "Spilled", made)
    with pytest.warns(ConvergenceWarning, match="No space left on device"):
        model = TransformRegressor(n_estimators=5, tol=0.0).fit(parts)
    assert model.n_iter_ == 1  # the round in which it happens is not complete
    stages = list(whole.staged_predict(X))
    np.testing.assert_allclose(model.predict(X), stages[0], rtol=0, atol=1e-8)
    files.clear()
    assert not list(tmp_path.iterdir())
