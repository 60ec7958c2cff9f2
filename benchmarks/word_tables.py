"""Tables with words and missing values, as they are, beside LightGBM and explainable boosting.

Telco churn is the file of IBM's repository telco-customer-churn-on-icp4d, Adult the two files of
UCI in a folder; the penguins come with ``pip install palmerpenguins``, the peers with
``pip install lightgbm interpret-core``. Telco and the penguins are cross-validated, of Adult the
test file is predicted. Everything has its defaults; categories are given as pandas has them.

    python benchmarks/word_tables.py --telco FILE --adult FOLDER [--ebm] [--docs FOLDER] [--folds 3]

Every line is printed, and written to word_tables.csv. Seconds are of the CPU, of one fit, on one
thread.
"""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from cgboost import (
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.studies.scripts import options, timed

ADULT = [
    *("age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation"),
    *("relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week"),
    *("native_country", "income"),
]


class Table(NamedTuple):
    """Rows, and which of them are fitted and predicted in each split."""

    name: str
    X: pd.DataFrame
    y: np.ndarray
    splits: list[tuple[np.ndarray, np.ndarray]]
    classes: bool


def categorical(frame: pd.DataFrame) -> pd.DataFrame:
    """Words as categories, without those that are missing."""
    words = frame.select_dtypes(exclude="number").columns
    return frame.astype(dict.fromkeys(words, "category"))


def tables(telco: Path, adult: Path, folds: int) -> Iterator[Table]:
    """All tables."""
    frame = pd.read_csv(telco, na_values=" ").drop(columns="customerID")
    y = (frame.pop("Churn") == "Yes").to_numpy().astype(int)
    chosen = StratifiedKFold(folds, shuffle=True, random_state=0).split(frame, y)
    yield Table("Telco churn", categorical(frame), y, list(chosen), classes=True)

    how: dict[str, Any] = {"header": None, "names": ADULT, "skipinitialspace": True}
    parts = [
        pd.read_csv(adult / name, na_values="?", skiprows=skipped, **how)
        for name, skipped in (("adult.data", 0), ("adult.test", 1))
    ]
    frame = pd.concat(parts, ignore_index=True)
    y = frame.pop("income").str.startswith(">50K").to_numpy().astype(int)
    one = np.split(np.arange(len(y)), [len(parts[0])])
    yield Table("Adult", categorical(frame), y, [(one[0], one[1])], classes=True)

    from palmerpenguins import load_penguins

    frame = load_penguins().dropna(subset="body_mass_g").reset_index(drop=True)
    mass = frame.pop("body_mass_g").to_numpy()
    chosen = KFold(folds, shuffle=True, random_state=0).split(frame)
    yield Table("penguins", categorical(frame), mass, list(chosen), classes=False)


def models(*, classes: bool, ebm: bool) -> dict[str, Any]:
    """The models, by name; explainable boosting takes minutes."""
    from lightgbm import LGBMClassifier, LGBMRegressor

    if classes:
        ours, curves = LinearTreeBoostingClassifier, TransformClassifier
        histograms, light = HistGradientBoostingClassifier, LGBMClassifier
    else:
        ours, curves = LinearTreeBoostingRegressor, TransformRegressor
        histograms, light = HistGradientBoostingRegressor, LGBMRegressor
    found = {
        "boosted linear trees": ours(),
        "transform regression": curves(),
        "scikit-learn's histograms": histograms(random_state=0),
        "LightGBM": light(n_jobs=1, verbose=-1),
    }
    if ebm:
        from interpret import glassbox

        name = f"ExplainableBoosting{'Classifier' if classes else 'Regressor'}"
        found["EBM"] = getattr(glassbox, name)(n_jobs=1)
    return found


def score(model: Any, table: Table, rows: np.ndarray) -> float:
    """AUC, or R² of numbers."""
    X, y = table.X.iloc[rows], table.y[rows]
    if table.classes:
        return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))
    return float(r2_score(y, model.predict(X)))


def main() -> None:
    """Every table with every model."""
    given = options(__doc__, telco=str, adult=str, docs=None, folds=3, ebm=False)
    warnings.filterwarnings("ignore")
    records = [("table", "model", "AUC, or R²", "seconds of a fit")]
    for table in tables(Path(given.telco), Path(given.adult), given.folds):
        for name, model in models(classes=table.classes, ebm=given.ebm).items():
            found, seconds = [], []
            for fitted, others in table.splits:
                X, y = table.X.iloc[fitted], table.y[fitted]
                taken, own = timed(clone(model).fit, X, y)
                seconds.append(taken)
                found.append(score(own, table, others))
            own_line = f"{np.mean(found):.4f}", f"{np.median(seconds):.2f}"
            records.append((table.name, name, *own_line))
            print(*records[-1], sep="\t", flush=True)
    if given.docs is not None:
        with (Path(given.docs) / "word_tables.csv").open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(records)


if __name__ == "__main__":
    sys.exit(main())
