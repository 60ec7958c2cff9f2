"""Peers of rule sets: accuracy against the total number of conditions, on five tables.

    python -m pip install -r benchmarks/rule_sets/requirements.txt
    python benchmarks/rule_sets --data DATA --out FILE [--tables …] [--seeds …] [--peers …]
    python benchmarks/rule_sets --tables-of FILE

Every method is fitted to the training rows for all values of its complexity; what the file has is
not measured again. ``--inner`` adds the accuracy of three folds of the training rows. Models of
more than 40 conditions are left out: the largest budget is 32.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "reproduce"))

import numpy as np
from rule_budgets import Fit, budget_tables
from rule_counts import count
from rule_data import NAMES, SEEDS, Rows, load, split
from rule_peers import MOST_CONDITIONS, Found, Peer, peers
from sklearn.model_selection import StratifiedKFold
from study_jobs import Store

from cgboost.studies.scripts import options

FOLDS = 3
LARGE_ROWS = 10_000


def main() -> None:
    """Measure what is asked for and missing."""
    given = options(
        __doc__,
        data=None,
        out="rule_sets.csv",
        tables=NAMES,
        seeds=list(SEEDS),
        peers=["all"],
        inner=False,
        tables_of="",
    )
    if given.tables_of:
        print(budget_tables(Store(Path(given.tables_of), Fit).rows))
        return
    warnings.showwarning = lambda *_, **__: None  # cvxpy turns its own warnings on again
    logging.disable(logging.INFO)
    store = Store(Path(given.out), Fit)
    for name in given.tables:
        table = load(name, given.data)
        for seed in given.seeds:
            rows = split(table, seed)
            for peer in peers(large=len(rows.y) > LARGE_ROWS):
                if _wanted(given, store, name, seed, peer):
                    start = time.process_time()
                    store.extend(list(measured(name, seed, rows, peer, inner=given.inner)))
                    spent = time.process_time() - start
                    print(f"{name}, seed {seed}, {peer.name}: {spent:.1f} s of CPU", flush=True)


def _wanted(given: Namespace, store: Store[Fit], name: str, seed: int, peer: Peer) -> bool:
    known = {(fit.set, fit.seed, fit.method) for fit in store.rows}
    asked = given.peers == ["all"] or peer.name in given.peers
    return asked and (name, seed, peer.name) not in known


def measured(name: str, seed: int, rows: Rows, peer: Peer, *, inner: bool) -> Iterator[Fit]:
    """The models of all parameters that have no more than ``MOST_CONDITIONS``."""
    for parameters in peer.grid:
        spent, models = fitted(peer, rows.X, rows.y, parameters)
        kept = list(distinct(models))
        names = {found.parameter for found in kept}
        validated = inner_accuracies(peer, rows, parameters, names) if inner and kept else {}
        for found in kept:
            yield Fit(
                name,
                seed,
                peer.name,
                found.parameter,
                *count(found.rules),
                accuracy(found, rows.X, rows.y),
                accuracy(found, rows.X_test, rows.y_test),
                validated.get(found.parameter, np.nan),
                spent,
            )
        if peer.descending and models and not kept:
            break


def distinct(models: list[Found]) -> Iterator[Found]:
    """Small models of one fit, but for those that have the same rules as the one before."""
    last: tuple[int, int] | None = None
    for found in models:
        own = count(found.rules)
        if own != last and own[1] <= MOST_CONDITIONS:
            yield found
        last = own


def fitted(peer: Peer, X: Any, y: Any, parameters: dict[str, Any]) -> tuple[float, list[Found]]:
    """Seconds of CPU, and the models; none where the peer raises, with a line that says so."""
    start = time.process_time()
    try:
        models = list(peer.fit(X, y, **parameters))
    except Exception as error:  # what a peer may raise is its own matter
        print(f"{peer.name} {parameters}: {type(error).__name__}: {error}"[:300], flush=True)
        models = []
    return time.process_time() - start, models


def inner_accuracies(
    peer: Peer, rows: Rows, parameters: dict[str, Any], names: set[str]
) -> dict[str, float]:
    """Mean accuracy on held out folds of the training rows, of the named models of a fit."""
    found: dict[str, list[float]] = {}
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    for train, held in folds.split(rows.X, rows.y):
        for model in fitted(peer, rows.X.iloc[train], rows.y[train], parameters)[1]:
            if model.parameter in names:
                own = accuracy(model, rows.X.iloc[held], rows.y[held])
                found.setdefault(model.parameter, []).append(own)
    return {name: float(np.mean(own)) for name, own in found.items() if len(own) == FOLDS}


def accuracy(model: Found, X: Any, y: Any) -> float:
    """Share of the rows that are predicted rightly."""
    return float(np.mean(np.asarray(model.predict(X)) == y))


if __name__ == "__main__":
    main()
