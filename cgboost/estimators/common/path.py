"""A regularisation path: one model for each C, each started from the columns of the one before."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cgboost.estimators.common.certified import BaseBoost
from cgboost.estimators.common.parameters import check_number
from cgboost.estimators.common.rows import EvalSet
from cgboost.masters.support_vector.master import WarmStart


@dataclass(frozen=True)
class RegularizationPath:
    """The models of a path, in the order in which their C were given.

    Attributes
    ----------
    C_values : ndarray of shape (n_values,)
    models : list of estimators
        Fitted, each as ``fit`` with this C would leave it up to ``tol``.
    scores : ndarray of shape (n_values,)
        ``model.score`` on the ``eval_set``; nan without one.
    seconds : ndarray of shape (n_values,)
    """

    C_values: NDArray[np.float64]
    models: list[Any]
    scores: NDArray[np.float64]
    seconds: NDArray[np.float64]

    @property
    def best(self) -> Any:
        """The model of the best score; of equals, the one with the smallest C.

        Raises
        ------
        ValueError
            If the path was computed without an ``eval_set``.
        """
        if np.isnan(self.scores).any():
            raise ValueError("a path has a best model only if path() was given an eval_set")
        order = np.argsort(self.C_values, kind="stable")
        return self.models[order[np.argmax(self.scores[order])]]

    def table(self) -> dict[str, NDArray[Any]]:
        """One entry a model: C, n_columns, objective, gap, score, seconds."""
        return {
            "C": self.C_values,
            "n_columns": np.array([model.n_columns_ for model in self.models]),
            "objective": np.array([model.objective_ for model in self.models]),
            "gap": np.array([model.gap_ for model in self.models]),
            "score": self.scores,
            "seconds": self.seconds,
        }


def fit_path(
    self: BaseBoost,
    X: Any,
    y: Any,
    C_values: Sequence[float],
    *,
    sample_weight: ArrayLike | None = None,
    eval_set: EvalSet | None = None,
) -> RegularizationPath:
    """Fit a model for every C; much cheaper than as many separate fits.

    The models share what is computed of the columns. They are fitted in order of growing C,
    and each starts with the columns that those before it have generated. This estimator itself
    is left as it is.

    Parameters
    ----------
    X, y, sample_weight, eval_set
        As for :meth:`fit`.
    C_values : sequence of float
        In any order.

    Returns
    -------
    RegularizationPath

    Raises
    ------
    ValueError
        As :meth:`fit`; if there is no C, or one that is not positive; for models with ``nu``.
    """
    if np.ndim(C_values) != 1:
        raise ValueError(f"C_values must be a sequence of numbers, got {C_values!r}")
    if len(C_values) == 0:
        raise ValueError("C_values must have at least one value, got none")
    for C in C_values:
        check_number("C_values", C, above=0)
    nu = getattr(self, "nu", None)
    if nu is not None:
        raise ValueError(f"a path is over C, but nu={nu!r} is given in its place")
    prepared = copy.copy(self)
    rows, held = prepared._prepare(X, y, sample_weight, eval_set)
    pool = prepared._pool(rows)
    carried: dict[int, WarmStart] = {}
    models: dict[int, Any] = {}
    seconds, scores = np.zeros(len(C_values)), np.full(len(C_values), np.nan)
    for place in np.argsort(C_values, kind="stable"):
        started = time.perf_counter()
        model: Any = copy.copy(prepared).set_params(C=float(C_values[place]))
        model._carried = carried
        model._run_and_keep(pool, rows, held, started)
        del model._carried
        seconds[place] = time.perf_counter() - started
        if eval_set is not None:
            scores[place] = model.score(*eval_set)
        models[int(place)] = model
    ordered = [models[place] for place in range(len(C_values))]
    return RegularizationPath(np.asarray(C_values, dtype=np.float64), ordered, scores, seconds)
