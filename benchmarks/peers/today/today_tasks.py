"""The tasks: their rows, who takes part, and what an answer is worth. The same measure for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import today_rows
from sklearn.metrics import mean_pinball_loss, roc_auc_score
from today_calls import LEVELS, Rows

OURS = "cgboost"
Answer = dict[str, Any]
Words = tuple[str, ...]


@dataclass(frozen=True)
class Entrant:
    """One package at one task.

    Attributes
    ----------
    name, package : str
        As in the table; the distribution, or nothing if no package index has it.
    call : str
        The function of ``today_calls.py``.
    also : tuple of str
        What it asks for besides.
    without : str
        Why it is not tried.
    """

    name: str
    package: str
    call: str = ""
    also: tuple[str, ...] = ()
    without: str = ""


@dataclass(frozen=True)
class Task:
    """What is compared.

    Attributes
    ----------
    name, title : str
    rows : callable
        Of the folder of public data sets.
    heads : tuple of str
        What the words of ``judged`` are.
    judged : callable
        Of rows and answers of all entrants: the words of each.
    entrants : tuple of Entrant
    """

    name: str
    title: str
    rows: Callable[[Path | None], Rows]
    heads: Words
    judged: Callable[[Rows, dict[str, Answer]], dict[str, Words]]
    entrants: tuple[Entrant, ...]


def each(judge: Callable[[Rows, Answer], Words]) -> Any:
    """Judged one by one."""
    return lambda rows, answers: {name: judge(rows, own) for name, own in answers.items()}


def _lasso(rows: Rows, answers: dict[str, Answer]) -> dict[str, Words]:
    def objective(own: Answer) -> float:
        left = rows["y"] - rows["X"] @ own["coef"] - own["intercept"]
        return float(left @ left / (2 * len(left)) + rows["alpha"] * np.abs(own["coef"]).sum())

    values = {name: objective(own) for name, own in answers.items()}
    least = min(values.values())
    return {
        name: (f"{value / least - 1:.0e}", str(np.count_nonzero(answers[name]["coef"])))
        for name, value in values.items()
    }


def _subset(rows: Rows, answers: dict[str, Answer]) -> dict[str, Words]:
    """The objective at the best coefficients of the features that were chosen."""

    def objective(support: Any) -> float:
        X, y = rows["X"][:, support], rows["y"]
        A = X.T @ X + 2 * rows["ridge"] * np.eye(len(support))
        coef = np.linalg.solve(A, X.T @ y)
        left = y - X @ coef
        value = left @ left / 2 + rows["ridge"] * coef @ coef
        return float(value + rows["price"] * len(support))

    return {
        name: (f"{objective(own['support']):.3f}", str(len(own["support"])))
        for name, own in answers.items()
    }


def _quantiles(rows: Rows, own: Answer) -> Words:
    outputs = own["outputs"]
    losses = [
        mean_pinball_loss(rows["y_test"], outputs[:, k], alpha=q) for k, q in enumerate(LEVELS)
    ]
    crossed = (np.diff(outputs, axis=1) < -1e-9).any(axis=1)
    return f"{np.mean(losses):.4f}", str(int(crossed.sum())), "yes" if "errors" in own else "no"


def _rates(rows: Rows, own: Answer) -> Words:
    def gap(said: Any, male: Any) -> str:
        positive = np.asarray(said).ravel() > 0.5
        return f"{abs(positive[male].mean() - positive[~male].mean()):.3f}"

    right = np.mean((np.asarray(own["said_test"]).ravel() > 0.5) == (rows["y_test"] > 0.5))
    return (
        f"{right:.3f}",
        gap(own["said"], rows["male"]),
        gap(own["said_test"], rows["male_test"]),
    )


def _tree(rows: Rows, own: Answer) -> Words:
    wrong = int((np.asarray(own["said"]).ravel() != rows["y"]).sum())
    wrong_test = int((np.asarray(own["said_test"]).ravel() != rows["y_test"]).sum())
    return f"{wrong} of {len(rows['y'])}", f"{wrong_test} of {len(rows['y_test'])}"


def _machine(rows: Rows, own: Answer) -> Words:
    said = np.asarray(own["said_test"]).ravel() > 0
    return f"{100 * np.mean(said != (rows['y_test'] > 0)):.1f}", str(own["size"])


def _database(rows: Rows, own: Answer) -> Words:
    return (f"{np.sqrt(np.mean((own['outputs'] - rows['y_test']) ** 2)):.3f}",)


NO_INDEX = "on no package index"
NO_TORCH = "left out: with PyTorch it takes several GB"
TASKS: tuple[Task, ...] = (
    Task(
        "lasso",
        "The Lasso, 200 × 5000",
        today_rows.lasso,
        ("objective above the best", "features"),
        _lasso,
        (
            Entrant(OURS, OURS, "lasso_cgboost"),
            Entrant("scikit-learn", "scikit-learn", "lasso_sklearn"),
            Entrant("celer", "celer", "lasso_celer"),
            Entrant("skglm", "skglm", "lasso_skglm"),
            Entrant("adelie", "adelie", "lasso_adelie"),
            Entrant("glmnet", "python-glmnet", "lasso_glmnet"),
        ),
    ),
    Task(
        "subset",
        "The best few features, 60 × 24",
        today_rows.subset,
        ("objective", "features"),
        _subset,
        (
            Entrant("cgboost, greedy", OURS, "subset_cgboost"),
            Entrant("El0ps", "el0ps", "subset_el0ps", ("mpich",)),
        ),
    ),
    Task(
        "quantiles",
        "Three quantiles without a penalty, 1000 × 10",
        today_rows.quantiles,
        ("pinball loss, test", "rows that cross", "standard errors"),
        each(_quantiles),
        (
            Entrant(OURS, OURS, "quantiles_cgboost"),
            Entrant("scikit-learn", "scikit-learn", "quantiles_sklearn"),
            Entrant("pyfixest", "pyfixest", "quantiles_pyfixest"),
            Entrant("quantile-guard", "quantile-guard", "quantiles_guard"),
        ),
    ),
    Task(
        "rates",
        "Equal rates on Adult, 8000 rows: a difference of 0.02",
        today_rows.adult,
        ("accuracy, test", "difference of rates, training", "test"),
        each(_rates),
        (
            Entrant("scikit-learn, no limit", "scikit-learn", "rates_none"),
            Entrant(OURS, OURS, "rates_cgboost"),
            Entrant("cgboost, stumps", OURS, "rates_stumps"),
            Entrant("fairlearn ThresholdOptimizer", "fairlearn", "rates_thresholds"),
            Entrant("OxonFair", "oxonfair", "rates_oxonfair"),
            Entrant("FairGBM", "fairgbm", "rates_fairgbm", ("scikit-learn<1.8",)),
        ),
    ),
    Task(
        "trees",
        "A small tree, or few rules: breast cancer",
        today_rows.tumours,
        ("training errors", "test errors"),
        each(_tree),
        (
            Entrant("cgboost, rules", OURS, "tree_cgboost"),
            Entrant("scikit-learn, depth 3", "scikit-learn", "tree_sklearn"),
            Entrant("STreeD, depth 3", "pystreed", "tree_streed"),
            Entrant("ConTree, depth 3", "pycontree", "tree_contree"),
            Entrant("GOSDT, depth 3", "gosdt", "tree_gosdt", ("scikit-learn<1.8",)),
            Entrant("FastSRS, rules", "fastsrs", "tree_fastsrs"),
        ),
    ),
    Task(
        "thinning",
        "Fewer stumps, no decision changed: 50 of AdaBoost",
        today_rows.tumours,
        ("stumps", "test rows that changed"),
        each(lambda _, own: (str(own["size"]), str(own["changed"]))),
        (
            Entrant(OURS, OURS, "thin_cgboost"),
            Entrant("FIPE", "fipepy", "thin_fipe"),
            Entrant("ForestPrune", "", without=NO_INDEX),
            Entrant("PINE", "", without=NO_INDEX),
        ),
    ),
    Task(
        "machines",
        "A kernel machine, 2000 × 20",
        today_rows.machine,
        ("test error, %", "centres"),
        each(_machine),
        (
            Entrant("cgboost, free centres", OURS, "machine_cgboost"),
            Entrant("scikit-learn SVC", "scikit-learn", "machine_sklearn"),
            Entrant("TorchKM", "torchkm", without=NO_TORCH),
            Entrant("EigenPro", "", without=NO_INDEX),
            Entrant("Falkon", "", without=NO_INDEX),
        ),
    ),
    Task(
        "table",
        "A table: Adult, 8000 rows, nothing chosen",
        today_rows.adult,
        ("AUC, test",),
        each(lambda rows, own: (f"{roc_auc_score(rows['y_test'], own['scores']):.4f}",)),
        (
            Entrant("cgboost, gradient boosting", OURS, "table_cgboost"),
            Entrant("cgboost, linear trees", OURS, "table_linear_trees"),
            Entrant("scikit-learn, histograms", "scikit-learn", "table_sklearn"),
            Entrant("LightGBM", "lightgbm", "table_lightgbm"),
            Entrant("EBM, no pairs", "interpret-core", "table_ebm"),
        ),
    ),
    Task(
        "database",
        "Regression in DuckDB, 1000 × 10",
        today_rows.quantiles,
        ("RMSE, test",),
        each(_database),
        (
            Entrant(OURS, OURS, "database_cgboost"),
            Entrant("extension anofox_statistics", "duckdb", "database_extension"),
        ),
    ),
    Task(
        "program",
        "Generalised assignment, 20 jobs and 5 agents, from a file",
        today_rows.assignment,
        ("cost", "bound"),
        each(lambda _, own: (f"{own['objective']:.0f}", f"{own['bound']:.1f}")),
        (
            Entrant(OURS, OURS, "program_cgboost"),
            Entrant("HiGHS", "highspy", "program_highs"),
            Entrant("PyGCGOpt", "pygcgopt", "program_gcg", ("pyscipopt==5.2.1",)),
        ),
    ),
)
