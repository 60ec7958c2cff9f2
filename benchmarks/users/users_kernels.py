"""Rows of the comparison: kernels.

The peers are scikit-learn's SVC and SVR at their defaults, with the kernel of the row. C and the
kernels are the same for both where the model is the same; the 1-norm and multiple kernel learning
have no peer for their own problem, and stand beside the support vector machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_iris, make_classification, make_friedman1
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from users_rows import OURS, Row

from cgboost import RBF, CGBoostClassifier, CGBoostRegressor
from cgboost.studies.datasets import load_mnist

N_FRESH = 2000
"""Rows at most on which errors are counted."""


class Split(NamedTuple):
    """Rows to fit, and fresh ones."""

    X: Any
    y: Any
    fresh: Any
    truth: Any


def blobs(n_rows: int, n_features: int) -> Split:
    """Two classes of four clusters each, one label in twenty wrong."""
    n_informative = min(n_features, max(4, n_features // 3))
    X, y = make_classification(
        n_rows + N_FRESH,
        n_features,
        n_informative=n_informative,
        n_redundant=0,
        n_clusters_per_class=min(4, 2 ** (n_informative - 1)),
        flip_y=0.05,
        random_state=0,
    )
    return _split(StandardScaler().fit_transform(X), y, n_rows)


def iris(n_classes: int) -> Split:
    """The first two classes that overlap, or all three."""
    X, y = load_iris(return_X_y=True)
    kept = y >= 3 - n_classes
    X, y = StandardScaler().fit_transform(X[kept]), y[kept]
    return Split(X, y, X, y)


def digits(folder: Path, n_rows: int) -> Split:
    """Handwritten digits, odd against even, pixels in [0, 1]."""
    images, labels, fresh, truth = load_mnist(folder / "mnist")
    chosen = np.random.default_rng(0).permutation(len(images))[:n_rows]
    return Split(images[chosen], labels[chosen] % 2, fresh[:N_FRESH], truth[:N_FRESH] % 2)


def spambase(folder: Path, n_rows: int) -> Split:
    """Words of electronic mail, standardised."""
    table = np.loadtxt(folder / "fipe" / "Spambase.csv", delimiter=",", skiprows=1)
    table = table[np.random.default_rng(0).permutation(len(table))]
    X, y = table[:, :-1], table[:, -1].astype(int)
    return _split(StandardScaler().fit(X[:n_rows]).transform(X), y, n_rows)


def friedman(n_rows: int) -> Split:
    """Friedman's first function of ten features, with noise."""
    X, y = make_friedman1(n_rows + N_FRESH, noise=1.0, random_state=0)
    return _split(StandardScaler().fit_transform(X), y, n_rows)


def _split(X: Any, y: Any, n_rows: int) -> Split:
    return Split(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def _fit(model: Callable[[], Any], data: Split) -> Any:
    return model().fit(data.X, data.y)


def _error(data: Split, model: Any) -> str:
    """Error on fresh rows, or R²; the certified gap where there is one."""
    score = model.score(data.fresh, data.truth)
    kind = "error" if data.y.dtype.kind in "iu" else "R²"
    said = f"{kind} {1.0 - score if kind == 'error' else score:.3f}"
    return said + (f", gap {model.gap_:.0e}" if hasattr(model, "gap_") else "")


def _row(
    name: str,
    data: Callable[[], Split],
    ours: Callable[[], Any],
    peers: dict[str, Callable[[], Any]] | None = None,
    goal: float | None = None,
) -> Row:
    entrants = {OURS: ours} | ({"SVC": SVC} if peers is None else peers)
    runs = {entrant: partial(_fit, model) for entrant, model in entrants.items()}
    return Row(name, data, runs, _error, goal)


def rows(data: Path) -> list[Row]:
    """Rows of this part; ``data`` is the folder of public data sets."""
    mnist = partial(digits, data)
    l2 = partial(CGBoostClassifier, penalty="l2")
    l1_rbf = partial(CGBoostClassifier, RBF())
    group = partial(CGBoostClassifier, penalty="group")

    def rkhs(gamma: float) -> tuple[Callable[[], Any], dict[str, Callable[[], Any]]]:
        """The same support vector machine."""
        ours = partial(CGBoostClassifier, RBF(gamma), penalty="rkhs")
        return ours, {"SVC": partial(SVC, gamma=gamma)}

    def rkhs_regressor(gamma: float) -> tuple[Callable[[], Any], dict[str, Callable[[], Any]]]:
        ours = partial(CGBoostRegressor, RBF(gamma), penalty="rkhs")
        return ours, {"SVR": partial(SVR, gamma=gamma)}

    return [
        _row("default, iris, two classes", partial(iris, 2), CGBoostClassifier, goal=10),
        _row("default, iris, three classes", partial(iris, 3), CGBoostClassifier, goal=10),
        _row("default, 150 × 4", partial(blobs, 150, 4), CGBoostClassifier, goal=10),
        _row("default, 150 × 10", partial(blobs, 150, 10), CGBoostClassifier, goal=10),
        _row("l1, one RBF, 150 × 4", partial(blobs, 150, 4), l1_rbf, goal=10),
        _row("rkhs, one RBF, 150 × 4", partial(blobs, 150, 4), *rkhs(0.25), goal=3),
        _row("l2, 150 × 4", partial(blobs, 150, 4), l2),
        _row("l2, 200 × 60", partial(blobs, 200, 60), l2),
        _row("l2, 1000 × 16", partial(blobs, 1000, 16), l2),
        _row("l2, MNIST 1000", partial(mnist, 1000), l2),
        _row("group, Spambase 3000", partial(spambase, data, 3000), group),
        _row("group, MNIST 1000", partial(mnist, 1000), group),
        _row("group, MNIST 3000", partial(mnist, 3000), group),
        _row("rkhs, one RBF, MNIST 3000", partial(mnist, 3000), *rkhs(0.01), goal=1.3),
        _row("rkhs, one RBF, MNIST 10000", partial(mnist, 10000), *rkhs(0.01), goal=1.3),
        _row("rkhs, one RBF, 3000 × 16", partial(blobs, 3000, 16), *rkhs(0.0625), goal=1.3),
        _row("rkhs, Friedman 3000", partial(friedman, 3000), *rkhs_regressor(0.1), goal=1.3),
        _row("default, 3000 × 16", partial(blobs, 3000, 16), CGBoostClassifier),
        _row("default, MNIST 3000", partial(mnist, 3000), CGBoostClassifier),
        _row("default, MNIST 10000", partial(mnist, 10000), CGBoostClassifier, goal=1.5),
    ]
