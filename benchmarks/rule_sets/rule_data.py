"""The five tables of the rule sets study, and its stratified splits.

Values are those of the files: numbers as float64, words as text, nan where a file has ``?``;
nothing is scaled, imputed or encoded. ``study_data`` is in ``examples/reproduce``, which a script
that imports this module puts on its path.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from study_data import read_data

from cgboost.studies.datasets import data_folder

Folder = str | os.PathLike[str] | None
Labels = NDArray[np.int64]

SEEDS = (0, 1, 2, 3, 4)
TEST_SHARE = 0.3
BUDGETS = tuple(range(4, 33, 4))
"""Total numbers of conditions at which methods are compared."""


@dataclass(frozen=True)
class Table:
    """A data set.

    Attributes
    ----------
    name : str
    X : DataFrame of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        1 for the positive class, 0 for the other.
    positive : str
        What the positive class is.
    """

    name: str
    X: pd.DataFrame
    y: Labels
    positive: str


@dataclass(frozen=True)
class Rows:
    """Training and test rows of one seed, and their places in the table."""

    X: pd.DataFrame
    y: Labels
    X_test: pd.DataFrame
    y_test: Labels
    train: NDArray[np.int64]
    test: NDArray[np.int64]


def load(name: str, folder: Folder = None) -> Table:
    """Read a table, one of ``NAMES``.

    Parameters
    ----------
    name : str
    folder : path, optional
        By default the one that the variable ``CGBOOST_DATA`` names; breast cancer needs none.
    """
    return TABLES[name](folder)


def split(table: Table, seed: int) -> Rows:
    """70 % of the rows to train on and 30 % to test with, as many of each class in proportion.

    Everything that a method chooses, it chooses with the training rows.
    """
    train, test = train_test_split(
        np.arange(len(table.y)), test_size=TEST_SHARE, stratify=table.y, random_state=seed
    )
    X, y = table.X, table.y
    return Rows(
        X.iloc[train].reset_index(drop=True),
        y[train],
        X.iloc[test].reset_index(drop=True),
        y[test],
        train,
        test,
    )


def adult(folder: Folder = None) -> Table:
    """32561 people of the file ``adult.data``; six numbers, eight words with missing ones."""
    data = next(read_data(data_folder(folder)))
    numbers = data.X.select_dtypes("number").columns
    X = data.X.astype(dict.fromkeys(numbers, np.float64))
    return Table("adult", X, _labels(data.y, 1.0), ">50K")


def ionosphere(folder: Folder = None) -> Table:
    """351 radar returns, 34 numbers of which one is constant."""
    return _uci("ionosphere", "ionosphere", "g", folder)


def liver(folder: Folder = None) -> Table:
    """345 men, six numbers; the class is ``selector``, as in papers, although UCI warns of it."""
    return _uci("liver", "bupa_liver", 2, folder)


def pima(folder: Folder = None) -> Table:
    """768 women, eight numbers; zeros that mean "not measured" are left as they are."""
    return _uci("pima", "pima_diabetes", 1, folder)


def breast_cancer(folder: Folder = None) -> Table:
    """569 tumours, 30 numbers (WDBC, as scikit-learn has it); ``folder`` is not read."""
    data: Any = load_breast_cancer(as_frame=True)
    names = [name.replace(" ", "_") for name in data.data.columns]
    return Table(
        "breast cancer", data.data.set_axis(names, axis=1), _labels(data.target, 0), "malignant"
    )


TABLES: dict[str, Callable[[Folder], Table]] = {
    "ionosphere": ionosphere,
    "liver": liver,
    "pima": pima,
    "breast cancer": breast_cancer,
    "adult": adult,
}
NAMES = tuple(TABLES)


def _uci(name: str, file: str, positive: str | int, folder: Folder) -> Table:
    table = pd.read_csv(Path(data_folder(folder)) / "uci" / f"{file}.csv", na_values="?")
    return Table(
        name,
        table.iloc[:, :-1].astype(np.float64),
        _labels(table.iloc[:, -1], positive),
        f"{table.columns[-1]} = {positive}",
    )


def _labels(values: Any, positive: object) -> Labels:
    return (np.asarray(values) == positive).astype(np.int64)
