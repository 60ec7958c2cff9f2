"""LPBoost over trees of depth 1 to 5 beside LightGBM: errors, trees, CPU seconds.

    python benchmarks/lpboost_table.py [--data pima_diabetes Spambase] [--depths 1 2 3 5]
        [--splits 2] [--rows 8000] [--to lpboost_table.csv]

CGBOOST_DATA names the folder with `uci/`, `fipe/`, `adult/` and `coil2000/`. Of every set, 60 % of
the rows are for training, 20 % for choices and 20 % for testing; of larger sets, so many rows are
drawn. LPBoost (one class against the rest, at most 100 trees for each) has two values of C, the
default and a third of it; LightGBM (learning rate 0.1, at most 500 rounds, one thread) stops early.
A line has the mean test errors at each depth, those at the depth that the validation rows choose,
the trees of these models, and the seconds of all fits of a split: LPBoost takes two for each depth.
Words are numbered.
"""

from __future__ import annotations

import csv
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split

from cgboost import LPBoostClassifier
from cgboost.studies.scripts import options, timed

UCI = (
    *("breast_cancer_wisconsin_original", "pima_diabetes", "ionosphere", "bupa_liver"),
    *("wdbc", "wpbc"),
)
FIPE = ("COMPAS-ProPublica", "FICO", "Spambase", "Seeds")
DATA = (*UCI, *FIPE, "adult", "coil2000", "wine", "digits")
SHARE = 1 / 3


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and classes as numbers."""
    if name in ("wine", "digits"):
        X, y = {"wine": load_wine, "digits": load_digits}[name](return_X_y=True)
        return X, y
    folder = os.environ.get("CGBOOST_DATA")
    if folder is None:
        raise SystemExit("CGBOOST_DATA must name the folder of the data sets, it is not set")
    where = Path(folder)
    if name == "adult":
        table = pd.read_csv(where / "adult" / "adult.data", header=None, skipinitialspace=True)
    elif name == "coil2000":
        table = pd.read_csv(where / "coil2000" / "ticdata2000.txt", sep="\t", header=None)
    else:
        kind = "uci" if name in UCI else "fipe"
        table = pd.read_csv(where / kind / f"{name}.csv", na_values="?").dropna()
    words = table.select_dtypes(exclude="number").columns
    table[words] = table[words].apply(lambda column: pd.factorize(column, sort=True)[0])
    X = table.iloc[:, :-1].drop(columns="time" if name == "wpbc" else [])  # an outcome itself
    return X.to_numpy(dtype=float), pd.factorize(table.iloc[:, -1], sort=True)[0]


def parts_of(X: np.ndarray, y: np.ndarray, most: int, seed: int) -> list[Any]:
    """Rows and classes for training, for choices and for testing."""
    if len(y) > most:
        X, _, y, _ = train_test_split(X, y, train_size=most, stratify=y, random_state=seed)
    X, X_rest, y, y_rest = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
    half = train_test_split(X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=seed)
    return [(X, y), (half[0], half[2]), (half[1], half[3])]


def of_lpboost(depth: int, rows: list[Any]) -> tuple[Any, int, float, float]:
    """The better of the models of two costs, its trees and its gap, and the seconds of both."""

    def run() -> list[Any]:
        first = LPBoostClassifier(max_depth=depth, max_columns=100, tol=1e-3).fit(*rows[0])
        lower = clone(first).set_params(C=SHARE * float(np.max(first.C_)))
        return [first, lower.fit(*rows[0])]

    seconds, models = timed(run)
    best = max(models, key=lambda model: model.score(*rows[1]))
    return best, len(best.columns_["coefficient"]), float(np.max(best.gap_)), seconds


def of_lightgbm(depth: int, rows: list[Any]) -> tuple[Any, int, float, float]:
    """The model at its best round, its trees and the seconds."""
    import lightgbm

    model = lightgbm.LGBMClassifier(
        n_estimators=500, max_depth=depth, num_leaves=2**depth, n_jobs=1, verbose=-1
    )
    stop = lightgbm.early_stopping(30, verbose=False)
    X, y = rows[0]
    seconds, model = timed(lambda: model.fit(X, y, eval_set=[rows[1]], callbacks=[stop]))
    classes = len(np.unique(rows[0][1]))
    return model, model.best_iteration_ * (classes if classes > 2 else 1), np.inf, seconds


METHODS = {"LPBoost": of_lpboost, "LightGBM": of_lightgbm}


def measured(fit: Any, depths: list[int], parts: list[list[Any]]) -> list[Any]:
    """Columns of a line: errors by depth, then what is chosen, all as means over the splits."""
    errors = np.zeros((len(parts), len(depths)))
    chosen, trees, spent, gaps = np.zeros((4, len(parts)))
    for split, rows in enumerate(parts):
        found = [fit(depth, rows) for depth in depths]
        errors[split] = [100 * (1 - model.score(*rows[2])) for model, *_ in found]
        best = int(np.argmax([model.score(*rows[1]) for model, *_ in found]))
        chosen[split], trees[split] = errors[split, best], found[best][1]
        spent[split], gaps[split] = sum(own[3] for own in found), found[0][2]
    gap = f"{gaps.max():.0e}" if np.isfinite(gaps).all() else ""
    by_depth = [f"{error:.2f}" for error in errors.mean(axis=0)]
    own = [f"{chosen.mean():.2f}", f"{trees.mean():.0f}", f"{spent.mean():.1f}", gap]
    return [*by_depth, *own]


def main() -> None:
    """Print and write a line for every method and set."""
    given = options(__doc__, data=DATA, depths=[1, 2, 3, 5], splits=2, rows=8000, to=None)
    warnings.simplefilter("ignore")
    head = ["data", "rows", "features", "classes", "method"]
    head += [f"error % at depth {depth}" for depth in given.depths]
    lines = [[*head, "as chosen", "trees", "CPU s", f"largest gap at depth {given.depths[0]}"]]
    print(*lines[0], sep=",")
    for name in given.data:
        X, y = rows_of(name)
        parts = [parts_of(X, y, given.rows, split) for split in range(given.splits)]
        size = [name, min(len(y), given.rows), X.shape[1], len(np.unique(y))]
        for method, fit in METHODS.items():
            lines.append([*size, method, *measured(fit, given.depths, parts)])
            print(*lines[-1], sep=",", flush=True)
    if given.to is not None:
        with Path(given.to).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
