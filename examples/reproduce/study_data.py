"""Readers of data sets that studies share: Dorothea, tables of UCI, Adult and COIL 2000.

Adult: 32561 and 16281 people of the 1994 census, whether they earn more than 50000 dollars a year.
COIL 2000: 5822 and 4000 customers of an insurer, whether they have a caravan policy. Its 85 numbers
are counts and classes of size, but for the first and the fifth: types of customers, by their number
in a list, and so categories.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

Vector = NDArray[np.float64]

N_FEATURES = 100_000
ADULT_COLUMNS = (
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex "
    "capital_gain capital_loss hours_per_week native_country income"
)
COIL_TYPES = ("v1", "v5")


def read_dorothea(folder: Path, *parts: str) -> tuple[Any, Vector]:
    """Rows of these parts ("train", "valid") one below the other: a sparse matrix, and ±1.

    Parameters
    ----------
    folder : path
        With the files, or with a folder ``dorothea`` of them.
    """
    place = folder / "dorothea" if (folder / "dorothea").is_dir() else folder
    rows = [read_rows(place / f"dorothea_{part}.data", N_FEATURES) for part in parts]
    labels = [np.loadtxt(place / f"dorothea_{part}.labels") for part in parts]
    return vstack(rows, format="csr"), np.concatenate(labels)


def read_rows(path: Path, n_features: int) -> Any:
    """A sparse matrix of the ones whose numbers, from 1 on, stand in each line."""
    lines = [line.split() for line in path.read_text(encoding="ascii").splitlines()]
    places = np.array([int(entry) - 1 for line in lines for entry in line])
    starts = np.cumsum([0, *map(len, lines)])
    return csr_matrix((np.ones(len(places)), places, starts), shape=(len(lines), n_features))


def read_uci(folder: Path, name: str) -> tuple[Vector, NDArray[Any]]:
    """Features, nan where a value is missing, and the last column, of a file in uci/."""
    path = folder / "uci" / f"{name}.csv"
    table = pd.read_csv(path, na_values="?")
    return table.iloc[:, :-1].to_numpy(dtype=np.float64), table.iloc[:, -1].to_numpy()


@dataclass(frozen=True)
class Case:
    """Training and test rows with labels, as arrays."""

    X: NDArray[Any]
    y: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]


@dataclass(frozen=True)
class Data:
    """Training and test rows.

    Attributes
    ----------
    name : str
    X, X_test : DataFrame
        Text for categories, nan where missing.
    y, y_test : ndarray of 0 and 1
    """

    name: str
    X: Any
    y: Vector
    X_test: Any
    y_test: Vector


def read_data(folder: Path) -> Iterator[Data]:
    """The data sets of a folder that has ``adult`` and ``coil2000``."""
    yield Data("Adult", *_adult(folder, "adult.data", 0), *_adult(folder, "adult.test", 1))
    yield _coil(folder / "coil2000")


def _adult(folder: Path, name: str, skip: int) -> tuple[Any, Vector]:
    table = pd.read_csv(
        folder / "adult" / name,
        names=ADULT_COLUMNS.split(),
        skiprows=skip,
        skipinitialspace=True,
        na_values="?",
    )
    rich = table.pop("income").str.startswith(">50K")
    return table, rich.to_numpy().astype(np.float64)


def _coil(folder: Path) -> Data:
    train = np.loadtxt(folder / "ticdata2000.txt")
    y_test = np.loadtxt(folder / "tictgts2000.txt")
    tables = []
    for values in (train[:, :-1], np.loadtxt(folder / "ticeval2000.txt")):
        table = pd.DataFrame(values, columns=[f"v{k}" for k in range(1, train.shape[1])])
        for name in COIL_TYPES:
            table[name] = "type " + table[name].astype(int).astype(str)
        tables.append(table)
    return Data("COIL", tables[0], train[:, -1], tables[1], y_test)


def as_categories(X: Any, X_test: Any) -> tuple[Any, Any]:
    """Both tables with text as categories, the same ones in both."""
    both = pd.concat([X, X_test])
    for name in X.columns:
        if not pd.api.types.is_numeric_dtype(X[name]):
            both[name] = both[name].astype("category")
    return both.iloc[: len(X)], both.iloc[len(X) :]
