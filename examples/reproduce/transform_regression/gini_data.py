"""Adult and COIL 2000, with the test sets that they come with.

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

Vector = NDArray[np.float64]

ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
)

COIL_TYPES = ("v1", "v5")


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
        names=ADULT_COLUMNS,
        skiprows=skip,
        skipinitialspace=True,
        na_values="?",
    )
    rich = table.pop("income").str.startswith(">50K")
    return table, rich.to_numpy().astype(np.float64)


def _coil(folder: Path) -> Data:
    train = np.loadtxt(folder / "ticdata2000.txt")
    X_test = np.loadtxt(folder / "ticeval2000.txt")
    y_test = np.loadtxt(folder / "tictgts2000.txt")
    names = [f"v{number}" for number in range(1, train.shape[1])]
    tables = []
    for values in (train[:, :-1], X_test):
        table = pd.DataFrame(values, columns=names)
        for name in COIL_TYPES:
            table[name] = "type " + table[name].astype(int).astype(str)
        tables.append(table)
    return Data("COIL", tables[0], train[:, -1], tables[1], y_test)
