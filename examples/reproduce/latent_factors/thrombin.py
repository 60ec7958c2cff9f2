"""The study of many sparse features: Dorothea, which was made of the Thrombin data.

Rows are split with the paper's shares: 100 of its 192 active and 330 of its 2351 inactive compounds
are held out, so that the test rows have a larger share of active ones than the training rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmark_data import Matrix
from contenders import DAMPING, ClassLoss
from numpy.typing import NDArray
from records import Curve
from scipy.sparse import csr_matrix, vstack
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from cgboost import BLFClassifier

NAME = "Dorothea"
N_FEATURES = 100_000
HELD_ACTIVE, HELD_INACTIVE = 100 / 192, 330 / 2351
LOSSES: tuple[ClassLoss, ...] = ("log_loss", "squared_error")
COUNTS = (5, 15)
CURVE_LENGTH = 25
COSTS = tuple(10.0 ** np.arange(-5, 4))


def read_thrombin(folder: Path) -> tuple[Any, Matrix]:
    """Training and validation rows with labels, one below the other: a sparse matrix, and ±1."""
    rows, labels = [], []
    for part in ("train", "valid"):
        stem = str(folder / "dorothea" / f"dorothea_{part}")
        rows.append(read_rows(Path(f"{stem}.data"), N_FEATURES))
        labels.append(np.loadtxt(f"{stem}.labels"))
    return vstack(rows, format="csr"), np.concatenate(labels)


def read_rows(path: Path, n_features: int) -> Any:
    """A sparse matrix of the ones whose numbers, from 1 on, stand in each line."""
    lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    places = np.array([int(entry) - 1 for line in lines for entry in line])
    starts = np.cumsum([0, *map(len, lines)])
    return csr_matrix((np.ones(len(places)), places, starts), shape=(len(lines), n_features))


def auc_curves(
    data: tuple[Any, Matrix], splits: int, known: set[tuple[str, int]]
) -> Iterator[list[Curve]]:
    """Areas under the ROC curve, split by split."""
    X, y = data
    gram = (X @ X.T).toarray()
    for split in range(splits):
        if (NAME, split) not in known:
            train, held = rows_of(y, split)
            yield [*factor_curves(X, y, train, held, split), svm_curve(gram, y, train, held, split)]


def rows_of(y: Matrix, split: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training and test rows."""
    rng = np.random.default_rng(split)
    held = []
    for label, share in ((1, HELD_ACTIVE), (-1, HELD_INACTIVE)):
        rows = rng.permutation(np.flatnonzero(y == label))
        held.append(rows[: round(share * len(rows))])
    chosen = np.concatenate(held)
    return np.setdiff1d(np.arange(len(y)), chosen), chosen


def balance(y: Matrix) -> Matrix:
    """Weights 1/|C⁺| and 1/|C⁻|: both classes count alike."""
    weights: Matrix = np.where(y > 0, 1 / np.sum(y > 0), 1 / np.sum(y < 0))
    return weights


def factor_curves(X: Any, y: Matrix, train: Matrix, held: Matrix, split: int) -> Iterator[Curve]:
    """By number of factors, and by C for a linear machine on a few scaled factors."""
    for loss in LOSSES:
        for count in (CURVE_LENGTH, *COUNTS):
            model = BLFClassifier(count, loss=loss, newton_damping=DAMPING)
            model.fit(X[train], y[train], balance(y[train]))
            if count == CURVE_LENGTH:
                outputs = model.staged_decision_function(X[held])
                values = [roc_auc_score(y[held], output) for output in outputs]
                yield Curve(NAME, loss, split, tuple(values))
            else:
                T, H = (model.transform(X[rows], scaled=True) for rows in (train, held))
                curve = machine_curve(T @ T.T, H @ T.T, y[train], y[held])
                yield Curve(NAME, f"svm on {count} factors of {loss}", split, curve)


def svm_curve(gram: Matrix, y: Matrix, train: Matrix, held: Matrix, split: int) -> Curve:
    """By C, for a linear machine on all features."""
    values = machine_curve(gram[np.ix_(train, train)], gram[np.ix_(held, train)], y[train], y[held])
    return Curve(NAME, "svm on all features", split, values)


def machine_curve(gram: Matrix, held_gram: Matrix, y: Matrix, held_y: Matrix) -> tuple[float, ...]:
    """Areas under the curve of machines with this kernel, one for each C."""
    areas = []
    for cost in COSTS:
        machine = SVC(C=cost, kernel="precomputed").fit(gram, y)
        areas.append(float(roc_auc_score(held_y, machine.decision_function(held_gram))))
    return tuple(areas)
