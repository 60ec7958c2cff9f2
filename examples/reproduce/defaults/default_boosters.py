"""The defaults of boosted stumps and trees: C for numbers, and the steps of AnyBoost."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from default_models import CLASSES, NUMBERS, DataSet, error, read_sets
from page_tables import table
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.tree import DecisionTreeRegressor
from study_jobs import Measured, Record

from cgboost import AnyBoostClassifier, AnyBoostRegressor, LPBoostClassifier, LPBoostRegressor
from cgboost.estimators.common.objective import LEVEL_OF_LABELS

FOLDS = 3
SHARES = (0.5, 1.0, 1.5, 2.0, 3.0)
"""C·√n; 1.5 is the default."""
ONE = "C = 1"
LEVELS = (1.0, 2.0, 3.0, 5.0)
"""C·√(Σ w g²) for classes; 3 is the default."""
SHARES_OF_ROWS = (0.2, 0.4)
"""ν."""
LONGEST = 30.0
"""Seconds for a fit of one class."""
RATES = (1.0, 0.3, 0.1)
"""Of AnyBoost; 0.1 is the default."""
TREE = DecisionTreeRegressor(max_depth=3)
MOST_ROWS = {"stumps": 1000, "trees": 450}
"""For C = 1, which takes minutes with more."""
FAMILIES: dict[str, Any] = {"stumps": None, "trees": TREE}


def measured(folder: Path, known: set[tuple[str, str, str, int]]) -> Iterator[Record]:
    """Errors of every model on every split, as far as not known; the seed is the split's number."""
    for data in read_sets(folder):
        yield from errors(data, "steps", steps(data.task), known)
        if data.task == NUMBERS:
            yield from by_cost(data, known)
        else:
            yield from by_level(data, known)
    for n_rows in (100, 3000):
        X, y = make_friedman1(n_rows, noise=1.0, random_state=0)
        yield from by_cost(DataSet(NUMBERS, f"friedman1, {n_rows} rows", X, y), known)


def by_cost(data: DataSet, known: set[tuple[str, str, str, int]]) -> Iterator[Record]:
    """Stumps and trees with every C."""
    n_rows = len(data.y) * (FOLDS - 1) // FOLDS
    costs = {f"{share:g}": share / np.sqrt(n_rows) for share in SHARES} | {ONE: 1.0}
    for family, estimator in FAMILIES.items():
        if len(data.y) > MOST_ROWS[family]:
            costs.pop(ONE, None)
        models = {
            name: partial(LPBoostRegressor, estimator, C=cost, random_state=0)
            for name, cost in costs.items()
        }
        yield from errors(data, family, models, known)


def by_level(data: DataSet, known: set[tuple[str, str, str, int]]) -> Iterator[Record]:
    """Stumps and trees for classes with every level of C, ν, and C = 1."""
    for family, estimator in FAMILIES.items():
        own = {"random_state": 0, "time_limit": LONGEST}
        models: dict[str, Callable[[], Any]] = {
            f"{level:g}": partial(AtLevel, LPBoostClassifier(estimator, **own), level)
            for level in LEVELS
        }
        for nu in SHARES_OF_ROWS:
            models[f"nu = {nu:g}"] = partial(LPBoostClassifier, estimator, nu=nu, **own)
        if family == "stumps":  # takes minutes with trees
            models[ONE] = partial(LPBoostClassifier, estimator, C=1.0, **own)
        yield from errors(data, f"{family}, {CLASSES}", models, known)


@dataclass
class AtLevel:
    """A model whose C is by noise, times a level over that of the default."""

    model: Any
    level: float

    def fit(self, X: Any, y: Any) -> Any:
        """Fit it with the default's C times that."""
        usual = clone(self.model).set_params(max_columns=1).fit(X, y).C_
        cost = usual * self.level / LEVEL_OF_LABELS
        self.model = clone(self.model).set_params(C=cost).fit(X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Its labels."""
        return self.model.predict(X)


def steps(task: str) -> dict[str, Callable[[], Any]]:
    """AnyBoost with trees, with every learning rate."""
    kind: Any = AnyBoostClassifier if task == CLASSES else AnyBoostRegressor
    return {f"{rate:g}": partial(kind, learning_rate=rate, random_state=0) for rate in RATES}


def errors(
    data: DataSet,
    study: str,
    models: dict[str, Callable[[], Any]],
    known: set[tuple[str, str, str, int]],
) -> Iterator[Record]:
    """Error and number of training rows of each model on every split."""
    labels = data.task == CLASSES
    name_of = f"{study}, {data.task}" if study == "steps" else study
    kind = StratifiedKFold if labels else KFold
    folds = kind(n_splits=FOLDS, shuffle=True, random_state=0).split(data.X, data.y)
    for seed, (train, test) in enumerate(folds):
        for name, make in models.items():
            if (name_of, data.name, name, seed) in known:
                continue
            model, clock = make(), time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(data.X[train], data.y[train])
            seconds = time.process_time() - clock
            values = error(model, labels, data.X[test], data.y[test]), float(len(train))
            yield Record(name_of, data.name, name, seed, values, seconds)


def tables(folder: Path) -> dict[str, str]:
    """The tables of the page that come from these records."""
    records = Measured(folder / "boosters.csv")
    found = {family: costs_table(records, family) for family in FAMILIES}
    found |= {f"{family}-classes": levels_table(records, family) for family in FAMILIES}
    return found | {"steps": steps_table(records)}


def levels_table(records: Measured, family: str) -> str:
    """Wrong labels, relative to the lowest, and times by the level of C, over all data sets."""
    study = f"{family}, {CLASSES}"
    runs = [r for r in records.rows if r.study == study]
    models, names = (
        list(dict.fromkeys(key)) for key in zip(*((r.model, r.data) for r in runs), strict=True)
    )
    means = np.array([[records.values(study, d, m)[:, 0].mean() for m in models] for d in names])
    ratios = (means + 0.5) / (means.min(axis=1, keepdims=True) + 0.5)
    ranks = np.mean([rankdata(row) for row in means], axis=0)
    rows = []
    for k, name in enumerate(models):
        seconds = [r.seconds for r in runs if r.model == name]
        words = f"C·√(Σ w g²) = {name}" if name[0].isdigit() else name
        numbers = f"{means[:, k].mean():.2f}", f"{np.exp(np.log(ratios[:, k]).mean()):.2f}"
        worst = f"{ratios[:, k].max():.1f}"
        rows.append((words, *numbers, worst, f"{ranks[k]:.2f}", f"{np.mean(seconds):.2f}"))
    head = f"{family}, {len(names)} data sets | wrong labels, % | ratio to the lowest | largest"
    return table(rows, f"{head} | mean rank | CPU s")


def costs_table(records: Measured, family: str) -> str:
    """Errors by C, a row for each data set; the lowest in bold."""
    names = (*map("{:g}".format, SHARES), ONE)
    rows = []
    for data in dict.fromkeys(r.data for r in records.rows if r.study == family):
        runs = {m: records.chosen(family, data, m) for m in names}
        means = {m: np.mean([r.values[0] for r in each]) for m, each in runs.items() if each}
        least = min(means.values())
        texts = [error_text(means[m], least) if m in means else "–" for m in names]
        times = [np.mean([r.seconds for r in runs[m]]) if runs[m] else np.nan for m in ("1.5", ONE)]
        spent = [f"{seconds:.1f}" if np.isfinite(seconds) else "–" for seconds in times]
        rows.append((data, f"{runs['1.5'][0].values[1]:.0f}", *texts, *spent))
    shares = " | ".join(f"C·√n = {share:g}" for share in SHARES)
    return table(rows, f"data | n | {shares} | {ONE} | CPU s at 1.5 | CPU s at {ONE}")


def error_text(error: float, least: float) -> str:
    """One digit; the lowest in bold."""
    return f"**{error:.1f}**" if error == least else f"{error:.1f}"


def steps_table(records: Measured) -> str:
    """Mean errors and ranks of AnyBoost by its learning rate."""
    rows = []
    for task, words in (
        (CLASSES, "wrong labels, %"),
        (NUMBERS, "absolute error, % of the median's"),
    ):
        study = f"steps, {task}"
        names = list(dict.fromkeys(r.data for r in records.rows if r.study == study))
        means = np.array(
            [[records.values(study, d, f"{rate:g}")[:, 0].mean() for rate in RATES] for d in names]
        )
        ranks = np.mean([rankdata(row) for row in means], axis=0)
        texts = [f"{m:.2f} (rank {r:.2f})" for m, r in zip(means.mean(axis=0), ranks, strict=True)]
        rows.append((words, str(len(names)), *texts))
    return table(rows, "mean | data sets | " + " | ".join(f"rate {rate:g}" for rate in RATES))
