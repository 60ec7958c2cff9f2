"""The measurements: every ensemble on every set of rows, thinned by every method."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from study_jobs import Store
from thinning_data import DATA, REGRESSION, SHARE, ensembles
from thinning_methods import METHODS, VOTES, WHOLE, Case
from thinning_page import Measured


def measure(
    store: Store[Measured],
    folder: Path | None,
    seeds: Sequence[int],
    sets: Sequence[str],
    methods: Sequence[str],
) -> None:
    """Measure what the store does not have of these methods, seed by seed."""
    there = {(row.data, row.ensemble, row.seed, row.method) for row in store.rows}
    for seed in seeds:
        for data in sets:
            regression = data in REGRESSION
            rows = None
            for name, ensemble in ensembles(regression=regression, seed=seed).items():
                missing = [one for one in methods if (data, name, seed, one) not in there]
                if not [one for one in missing if not (regression and one == VOTES)]:
                    continue
                rows = DATA[data](folder, seed) if rows is None else rows
                store.extend(_measured(data, name, seed, ensemble, rows, missing))


def _measured(
    data: str, name: str, seed: int, ensemble: Any, rows: Any, methods: Sequence[str]
) -> list[Measured]:
    started = time.process_time()
    ensemble.fit(rows.X, rows.y)
    fitting = time.process_time() - started
    case = Case.of(ensemble, rows, SHARE, regression=data in REGRESSION)
    found = []
    for method in methods:
        outcome = METHODS[method](case)
        if outcome is None:
            continue
        seconds = fitting if method == WHOLE else outcome.seconds
        own = (outcome.score, outcome.auc, outcome.members, seconds, outcome.predicting)
        found.append(Measured(data, name, seed, method, *own))
        print(f"{data} | {name} | {seed} | {method}: {outcome.score:.3f}", flush=True)
    return found
