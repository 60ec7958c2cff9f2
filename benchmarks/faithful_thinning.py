"""Ensembles thinned without changing a decision, beside FIPE, on FIPE's data sets.

    python benchmarks/faithful_thinning.py [--data Seeds FICO] [--ensembles stumps depth2 forest]
        [--members 50] [--seconds 60] [--fipe 0] [--to faithful_thinning.csv]

CGBOOST_DATA names the folder that has `fipe/`. Each ensemble is fitted to 80 % of the rows. Then it
is thinned with each value of `faithful`, and, for comparison, with the defaults, which keep 15 %.
`differ` counts the test rows that are then decided otherwise.

With --fipe SECONDS, `fipepy` thins the ensemble as well (l1 norm; Gurobi in one thread), where it
is installed; Gurobi's free licence ends at 2000 variables or rows. It is given the different rows,
at most 1500 of them, and so many seconds by the clock. All other seconds are those of the CPU. Its
encoder rounds numbers to 10001 steps: both then thin an ensemble of these.
"""

from __future__ import annotations

import csv
import multiprocessing
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

from cgboost import ThinnedEnsemble
from cgboost.studies.scripts import options, timed

DATA = (
    *("COMPAS-ProPublica", "FICO", "Spambase", "Pima-Diabetes", "Seeds"),
    "Breast-Cancer-Wisconsin",
)
WAYS = ("everywhere", "box", "rows", None)
MOST_ROWS = 1500


def ensembles(members: int) -> dict[str, Any]:
    """The ensembles by name, not fitted."""
    return {
        "stumps": AdaBoostClassifier(n_estimators=members, random_state=0),
        "depth2": AdaBoostClassifier(
            DecisionTreeClassifier(max_depth=2), n_estimators=members, random_state=0
        ),
        "forest": RandomForestClassifier(members, random_state=0),
    }


def rows_of(name: str, encoded: bool) -> list[Any]:
    """Training and test rows, and their classes, as FIPE's encoder makes them or as they are."""
    folder = os.environ.get("CGBOOST_DATA")
    if folder is None:
        raise SystemExit("CGBOOST_DATA must name the folder that has fipe/, it is not set")
    table = pd.read_csv(Path(folder) / "fipe" / f"{name}.csv")
    X, y = table.iloc[:, :-1].astype(float), table.iloc[:, -1].to_numpy()
    if encoded:
        from fipe import FeatureEncoder

        X = FeatureEncoder(X).X.astype(float)
    X = X.to_numpy()
    return list(train_test_split(X, y, test_size=0.2, random_state=0))


def of_fipe(whole: Any, X: np.ndarray, answers: Any) -> None:
    """Put members kept, calls of the oracle and seconds into a queue; in a process of its own."""
    import gurobipy
    from fipe import FIPE, FeatureEncoder

    environment = gurobipy.Env(empty=True)
    environment.setParam("OutputFlag", 0)
    environment.start()
    environment.setParam("Threads", 1)
    weights = getattr(whole, "estimator_weights_", np.ones(len(whole.estimators_)))
    weights = weights[: len(whole.estimators_)]

    names = [f"x{j}" for j in range(X.shape[1])]
    encoder = FeatureEncoder(pd.DataFrame(X, columns=names), tol=-np.inf)  # encoded already

    def run() -> Any:
        pruner = FIPE(
            base=whole,
            encoder=encoder,
            weights=1e5 * weights / weights.max(),
            env=environment,
            eps=1e-6,
            tol=1e-4,
        )
        pruner.build()
        pruner.add_samples(np.unique(X, axis=0)[:MOST_ROWS])
        pruner.prune()
        return pruner

    try:
        seconds, pruner = timed(run)
    except gurobipy.GurobiError as error:
        answers.put(("licence" if "size-limited" in str(error) else str(error), "", ""))
        return
    answers.put((pruner.n_active_estimators, pruner.n_oracle_calls, f"{seconds:.1f}"))


def beside_fipe(whole: Any, X: np.ndarray, seconds: float) -> tuple[Any, ...]:
    """The answer of :func:`of_fipe`, or why there is none."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=of_fipe, args=(whole, X, answers))
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.terminate()
        process.join()
        return ("time", "", f">{seconds:g}")
    return answers.get() if process.exitcode == 0 else ("failed", "", "")


def thinned(whole: Any, rows: list[Any], way: str | None, seconds: float) -> list[Any]:
    """What is kept of an ensemble in one way."""
    X, X_test, y, _ = rows
    model = ThinnedEnsemble(whole, faithful=way, random_state=0)
    if way is not None:
        model.set_params(time_limit=seconds)
    else:
        model.set_params(leaf_values="keep")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spent, model = timed(ThinnedEnsemble.fit, model, X, y)
    differ = int(np.count_nonzero(model.predict(X_test) != whole.predict(X_test)))
    calls = model.n_oracle_calls_ if way else ""
    status = model.faithful_ or "15 %"
    return [way or "today", status, model.n_members_, calls, differ, len(X_test), f"{spent:.2f}"]


def main() -> None:
    """Print and write a line for every way of every ensemble."""
    given = options(
        __doc__,
        data=DATA,
        ensembles=("stumps", "depth2", "forest"),
        members=50,
        seconds=60.0,
        fipe=0.0,
        to=None,
    )
    head = "data,ensemble,of,faithful,status,kept,integer programs,test rows changed,of them,CPU s"
    lines: list[list[Any]] = [[*head.split(","), "FIPE keeps", "its calls", "its CPU s"]]
    print(",".join(lines[0]))
    for name in given.data:
        rows = rows_of(name, bool(given.fipe))
        for kind in given.ensembles:
            whole = ensembles(given.members)[kind].fit(rows[0], rows[2])
            for way in WAYS:
                fipe: tuple[Any, ...] = ("", "", "")
                if way == "everywhere" and given.fipe:
                    fipe = beside_fipe(whole, rows[0], given.fipe)
                own = thinned(whole, rows, way, given.seconds)
                lines.append([name, kind, len(whole.estimators_), *own, *fipe])
                print(",".join(map(str, lines[-1])), flush=True)
    if given.to is not None:
        with Path(given.to).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
