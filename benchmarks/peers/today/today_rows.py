"""The rows of each task: small, so that all entrants together take minutes; plain arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.model_selection import train_test_split
from study_data import read_data

Rows = dict[str, Any]
ADULT_ROWS = 8000, 8000
"""To train on, and to test on, of the official files."""


def lasso(_: Path | None) -> Rows:
    """200 rows, 5000 features, ten of which count; α is a twentieth of the one that leaves none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5000))
    y = X[:, :10] @ rng.normal(size=10) + rng.normal(size=200)
    centred = X - X.mean(axis=0)
    alpha = 0.05 * np.abs(centred.T @ (y - y.mean())).max() / len(y)
    return {"X": X, "y": y, "alpha": alpha}


def subset(_: Path | None) -> Rows:
    """60 rows, 24 features with correlations of 0.9 between neighbours; six of them count."""
    rng = np.random.default_rng(1)
    n, p = 60, 24
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1 - 0.81) * X[:, j]
    coef = np.zeros(p)
    coef[1:p:4] = np.resize([1.0, -1.0], 6)
    y = X @ coef + 0.5 * rng.normal(size=n)
    X, y = X - X.mean(axis=0), y - y.mean()
    return {"X": X, "y": y, "price": 0.02 * float(y @ y), "ridge": 0.1}


def quantiles(_: Path | None) -> Rows:
    """1000 rows, ten features, noise that grows with the first; 1000 more rows."""
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(2000, 10))
    y = X[:, 0] + 0.5 * X[:, 1] + (1 + X[:, 0]) * rng.normal(size=2000)
    return {"X": X[:1000], "y": y[:1000], "X_test": X[1000:], "y_test": y[1000:]}


def adult(folder: Path | None) -> Rows:
    """Adult: words as indicators, or as numbers of categories; who is male."""
    assert folder is not None, "Adult is read from --data FOLDER"
    data = next(iter(read_data(folder)))
    rng = np.random.default_rng(3)
    train = rng.choice(len(data.y), ADULT_ROWS[0], replace=False)
    test = rng.choice(len(data.y_test), ADULT_ROWS[1], replace=False)
    wide = pd.get_dummies(data.X)
    wide_test = pd.get_dummies(data.X_test).reindex(columns=wide.columns, fill_value=0)
    numbers, numbers_test, words = _codes(data.X, data.X_test)
    return {
        "X": wide.to_numpy(np.float64)[train],
        "X_test": wide_test.to_numpy(np.float64)[test],
        "codes": numbers[train],
        "codes_test": numbers_test[test],
        "words": words,
        "y": np.asarray(data.y)[train].astype(int),
        "y_test": np.asarray(data.y_test)[test].astype(int),
        "male": wide["sex_Male"].to_numpy(bool)[train],
        "male_test": wide_test["sex_Male"].to_numpy(bool)[test],
    }


def _codes(table: pd.DataFrame, table_test: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Numbers as they are, words as numbers of categories, and which columns are words."""
    words = np.array([not pd.api.types.is_numeric_dtype(table[name]) for name in table])
    parts = []
    for own in (table, table_test):
        columns = [
            pd.Categorical(own[name], categories=sorted(table[name].dropna().unique())).codes
            if word
            else own[name].to_numpy()
            for name, word in zip(table, words, strict=True)
        ]
        parts.append(np.column_stack(columns).astype(np.float64))
    return parts[0], parts[1], words


def tumours(_: Path | None) -> Rows:
    """Breast cancer: its 30 numbers, and where each is above its quintiles; half to test on."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    cuts = np.quantile(X, [0.2, 0.4, 0.6, 0.8], axis=0)
    above = [np.hstack([own > cut for cut in cuts]).astype(int) for own in (X, X_test)]
    return {
        "X": X,
        "X_test": X_test,
        "y": y,
        "y_test": y_test,
        "binary": above[0],
        "binary_test": above[1],
    }


def machine(_: Path | None) -> Rows:
    """2000 rows of 20 numbers, two classes; 2000 more rows."""
    X, y = make_classification(4000, 20, n_informative=10, flip_y=0.05, random_state=4)
    X, y = X.astype(np.float64), np.where(y > 0, 1, -1)
    return {"X": X[:2000], "y": y[:2000], "X_test": X[2000:], "y_test": y[2000:]}


def assignment(_: Path | None) -> Rows:
    """Generalised assignment: 20 jobs, 5 agents; what costs little uses much."""
    rng = np.random.default_rng(5)
    agents, jobs = 5, 20
    used = rng.integers(5, 26, size=(agents, jobs))
    cost = 111 - used + rng.integers(-10, 11, size=(agents, jobs))
    room = np.floor(0.8 * used.sum(axis=1) / agents).astype(int)
    return {"used": used, "cost": cost, "room": room}
