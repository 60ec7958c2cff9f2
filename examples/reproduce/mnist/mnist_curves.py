"""Figure 1 of [B]: regular against stratified column generation, and validation by columns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from mnist_fits import MIXTURE
from transform_regression.measured import Record

from cgboost import CGBoostClassifier
from cgboost.studies.datasets import Split
from cgboost.studies.odd_even import parse_library

PRIORITIES, VALIDATION = "priorities", "validation"
ORDERS = {"regular": "full", "stratified": "stratified"}
PRIORITY_C = 1.0
GOOD_C, BAD_C = 3.0, 1000.0


def fitted(split: Split, C: float, **parameters: Any) -> tuple[CGBoostClassifier, float]:
    """The mixture with the 1-norm, solved to the end, and its CPU time."""
    start = time.process_time()
    model = CGBoostClassifier(
        parse_library(MIXTURE), C=C, penalty="l1", tol=1e-6, **parameters
    ).fit(split.X_train, split.y_train, eval_set=(split.X_validation, split.y_validation))
    return model, time.process_time() - start


def priority_records(split: Split, order: str, seed: int) -> Iterator[Record]:
    """Objective, columns and scores round by round, with one column a round as in the paper."""
    model, seconds = fitted(split, PRIORITY_C, priority=ORDERS[order], columns_per_round=1)
    history = model.history_
    curves = {
        "objective": history["objective"],
        "columns": history["columns"],
        "scored": np.cumsum(history["evaluated"]),
    }
    for name, values in curves.items():
        yield Record(PRIORITIES, order, name, seed, tuple(map(float, values)), seconds / 3)


def validation_records(split: Split, C: float, seed: int) -> Iterator[Record]:
    """Validation error after every round, and where early stopping ends and what it keeps."""
    model, seconds = fitted(split, C, priority="full", columns_per_round=5)
    history = model.history_
    curves = {"columns": history["columns"], "error": 100 * history["validation_error"]}
    stopped, spent = fitted(split, C, priority="full", columns_per_round=5, early_stopping=True)
    columns = stopped.history_["columns"]
    places = (float(columns[stopped.best_round_]), float(columns[-1]))
    for name, values in curves.items():
        yield Record(VALIDATION, f"{C:g}", name, seed, tuple(map(float, values)), seconds / 2)
    yield Record(VALIDATION, f"{C:g}", "stopped", seed, places, spent)
