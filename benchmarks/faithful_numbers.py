"""Ensembles for numbers, thinned within a tolerance that is proven.

    python benchmarks/faithful_numbers.py [--data diabetes] [--members 50]
        [--tolerances 0.01 0.05 0.2] [--seconds 20] [--to faithful_numbers.csv]

Tolerances are shares of the standard deviation of y, and so are the differences: the largest ones
found in the rows, and in rows drawn from the box of the data, 20000 of them. Where a line says
"box" and "proven", the last cannot be above the tolerance.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor

from cgboost import ThinnedEnsemble
from cgboost.studies.scripts import options, timed

DATA = ("diabetes", "friedman")
DRAWN = 20_000


def rows_of(name: str) -> Any:
    """Rows and numbers of a set."""
    if name == "diabetes":
        return load_diabetes(return_X_y=True)
    return make_friedman1(600, n_features=5, noise=1.0, random_state=0)


def ensembles(members: int) -> dict[str, Any]:
    """The ensembles by name, not fitted."""
    own = {"n_estimators": members, "random_state": 0}
    return {
        "boosted stumps": GradientBoostingRegressor(max_depth=1, **own),
        "boosting of depth 2": GradientBoostingRegressor(max_depth=2, **own),
        "boosting of depth 3": GradientBoostingRegressor(**own),
        "forest of depth 4": RandomForestRegressor(max_depth=4, **own),
        "forest": RandomForestRegressor(**own),
    }


def main() -> None:
    """Print and write a line for every way of every ensemble."""
    given = options(
        __doc__, data=DATA, members=50, tolerances=[0.01, 0.05, 0.2], seconds=20.0, to=None
    )
    head = "data,ensemble,of,tolerance,faithful,status,kept,integer programs,rows,drawn,CPU s"
    lines: list[list[Any]] = [head.split(",")]
    print(head)
    for name in given.data:
        X, y = rows_of(name)
        drawn = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), (DRAWN, X.shape[1]))
        for kind, ensemble in ensembles(given.members).items():
            whole = ensemble.fit(X, y)
            for share in given.tolerances:
                for way in ("box", "rows"):
                    model = ThinnedEnsemble(
                        whole,
                        faithful=way,
                        tolerance=share * y.std(),
                        time_limit=given.seconds,
                        random_state=0,
                    )
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        spent, thin = timed(ThinnedEnsemble.fit, model, X, y)
                    differ = [
                        np.abs(thin.predict(part) - whole.predict(part)).max() / y.std()
                        for part in (X, drawn)
                    ]
                    line = [name, kind, len(whole.estimators_), share, way, thin.faithful_]
                    line += [thin.n_members_, thin.n_oracle_calls_]
                    line += [*(f"{own:.4f}" for own in differ), f"{spent:.2f}"]
                    lines.append(line)
                    print(*line, sep=",", flush=True)
    if given.to is not None:
        with Path(given.to).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
