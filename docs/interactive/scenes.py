"""Export three runs of the loop as the scenes of the interactive page.

    python docs/interactive/scenes.py

Every scene is a problem  min Σ cost + loss  in which a column costs 1 a unit, so that one sentence
explains all three: at duals r a column h is worth r·h, it enters if it is worth more than it costs,
and objective / (worth of the best) is a lower bound over all columns (Farley 1990 for cutting
stock; with a loss the same by scaling r into the dual's box).

Written are, for each round of the run, its coefficients, duals, objective, bound and gap, and the
column that enters; the columns themselves are made anew on the page from points and widths.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_moons

from cgboost import ColumnGeneration
from cgboost.generation import Column, Result, Round
from cgboost.losses import AbsoluteError, Hinge
from cgboost.masters import LinearMaster, OneNormMaster
from cgboost.pricing import FeaturePricer, solve_knapsack

Matrix = NDArray[np.float64]
Scene = dict[str, Any]

FOLDER = Path(__file__).parent / "scenes"
DIGITS = 10
"""Significant digits of a number in a scene."""
TOLERANCE = 1e-9
"""Relative gap at which a run ends: every column is worth at most what it costs, to rounding."""


def cutting_stock() -> Scene:
    """Rolls of 150 cm cut into five widths; columns are all patterns that fit."""
    widths, capacity = np.array([20, 34, 41, 52, 63]), 150
    demand = np.array([44.0, 27.0, 35.0, 18.0, 12.0])
    most = capacity // widths
    counts = itertools.product(*(range(count + 1) for count in most))
    patterns = [pattern for pattern in counts if 0 < np.dot(pattern, widths) <= capacity]

    def column(pattern: tuple[int, ...]) -> Column:
        return Column(np.array(pattern, dtype=float), key=patterns.index(pattern), cost=1.0)

    def price(duals: Any) -> tuple[list[Column], float]:
        pieces, value = solve_knapsack(np.asarray(duals), widths, capacity, most)
        found = [column(tuple(int(count) for count in pieces))] if value > 1 + TOLERANCE else []
        return found, 1.0 - value

    master = LinearMaster(len(widths), ">=", demand, least_cost=1.0)
    master.add([column(tuple(int(count) for count in row)) for row in np.diag(most)])
    rounds, result = run(master, price)
    data = {"widths": widths.tolist(), "capacity": capacity, "patterns": patterns}
    values = np.array(patterns, dtype=float).T
    return scene("cutting_stock", data, demand, values, rounds, result)


def lpboost() -> Scene:
    """Two moons in the plane; columns are wide and narrow Gaussian bumps at every point.

    min Σ|α| + C Σ max(0, 1 − y f),  f = Σ α_j exp(−γ_j‖x − c_j‖²)
    """
    X, label = make_moons(60, noise=0.18, random_state=1)
    X, y, cost = X.round(3), 2.0 * label - 1.0, 1.0
    gammas = [0.5, 4.0]
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=-1)
    values = np.hstack([np.exp(-gamma * squares) for gamma in gammas])
    loss = Hinge().dual_box(y, np.full(len(y), cost))
    rounds, result = run(OneNormMaster(loss, offset="none", solver="highs"), FeaturePricer(values))
    data = {"points": X.tolist(), "gammas": gammas, "cost": cost}
    return scene("lpboost", data, y, values, rounds, result)


def regression() -> Scene:
    """Measurements along a line, two of them wrong; columns are bumps of three widths.

    min Σ|α| + C Σ |y − f|,  f = Σ α_j exp(−½((t − c_j)/s_j)²)
    """
    t = np.linspace(0.0, 1.0, 48).round(4)
    centres = np.concatenate([np.linspace(0.0, 1.0, count) for count in (31, 16, 9)]).round(4)
    sizes = np.repeat([0.05, 0.1, 0.2], (31, 16, 9))
    signal = 1.6 * bumps(t, 0.25, 0.1) - 1.1 * bumps(t, 0.62, 0.06) + 0.8 * bumps(t, 0.85, 0.1)
    y = signal + 0.1 * np.random.default_rng(1).normal(size=len(t))
    y[[7, 30]] += [-1.8, 1.7]
    y, cost = y.round(3), 0.5
    values = bumps(t[:, None], centres, sizes)
    loss = AbsoluteError().dual_box(y, np.full(len(y), cost))
    rounds, result = run(OneNormMaster(loss, offset="none", solver="highs"), FeaturePricer(values))
    data = {
        "t": t.tolist(),
        "centres": centres.tolist(),
        "sizes": sizes.tolist(),
        "cost": cost,
    }
    return scene("regression", data, y, values, rounds, result)


def bumps(t: Matrix, centre: Any, size: Any) -> Matrix:
    """exp(−½((t − c)/s)²)."""
    return np.exp(-0.5 * ((t - centre) / size) ** 2)


def run(master: Any, pricer: Any) -> tuple[list[Round], Result]:
    """All rounds of a run, one column each, and its result."""
    rounds: list[Round] = []

    def keep(current: Round) -> None:
        columns = tuple(current.state.columns)  # the list of the master grows
        state = replace(current.state, columns=columns)
        rounds.append(replace(current, state=state))

    return rounds, ColumnGeneration(master, pricer, tol=TOLERANCE, callbacks=[keep]).run()


def scene(
    name: str, data: Scene, target: Matrix, values: Matrix, rounds: list[Round], result: Result
) -> Scene:
    """What the page needs to know of a run.

    Parameters
    ----------
    name : str
    data : dict
        Of what the page makes the columns.
    target : ndarray of shape (n_rows,)
        What duals are multiplied with in the dual's objective: demand, labels, measurements.
    values : ndarray of shape (n_rows, n_columns)
        Every column there is.
    rounds : list of Round
    result : Result
    """
    return {
        "name": name,
        "n_columns": values.shape[1],
        "data": data,
        "target": target.tolist(),
        "rounds": [
            record(now, values, entering(now, then, values))
            for now, then in itertools.zip_longest(rounds, rounds[1:])
        ],
        "stop_reason": result.stop_reason.value,
    }


def number(column: Column) -> int:
    """The place of a column in the family; a pricer of a matrix names it ("feature", place)."""
    key: Any = column.key
    return int(key[1] if isinstance(key, tuple) else key)


def entering(now: Round, then: Round | None, values: Matrix) -> int:
    """The column that the next round has more than this one; in the last round the dearest."""
    if then is None:
        return int(np.abs(values.T @ now.state.pseudo_response).argmax())
    held = {number(column) for column in now.state.columns}
    (new,) = [place for column in then.state.columns if (place := number(column)) not in held]
    return new


def record(current: Round, values: Matrix, best: int) -> Scene:
    """One round."""
    state = current.state
    coef = [
        [number(column), weight]
        for column, weight in zip(state.columns, state.coef.tolist(), strict=True)
    ]
    return {
        "objective": current.objective,
        "bound": current.bound,
        "gap": current.gap,
        "coef": coef,
        "duals": state.pseudo_response.tolist(),
        "output": state.output.tolist(),
        "best": best,
        "worth": float(values[:, best] @ state.pseudo_response),
    }


SCENES: dict[str, Callable[[], Scene]] = {
    "cutting_stock": cutting_stock,
    "lpboost": lpboost,
    "regression": regression,
}


def rounded(thing: Any) -> Any:
    """The same with `DIGITS` significant digits, and what is 0 but for rounding as 0."""
    if isinstance(thing, float):
        return 0.0 if abs(thing) < 10.0**-DIGITS else float(f"{thing:.{DIGITS}g}")
    if isinstance(thing, dict):
        return {key: rounded(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [rounded(value) for value in thing]
    return thing


def main() -> None:
    """Write the scenes."""
    FOLDER.mkdir(exist_ok=True)
    for name, make in SCENES.items():
        text = json.dumps(rounded(make()), separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {len(text)} bytes")


if __name__ == "__main__":
    main()
