"""Shapley values of any function of the features, by the package shap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from cgboost.arrays import Vector
from cgboost.optional import require

MOST_EXACT = 10
"""Of more features, shap's own choice too, 2^p masks of every row take too long: it goes through
random orders of the features instead."""


def sampled(
    function: Callable[[Any], Vector], X: Any, background: Any, what: str, seed: int = 0
) -> tuple[Vector, bool]:
    """Shapley values, and whether they are exact.

    Parameters
    ----------
    function : callable
        Of rows; returns shape (n_rows, n_outputs).
    X, background : array or sparse matrix of shape (n_rows, n_features), (n_background, n_features)
    what : str
        What needs shap, for the message where it is not there.
    seed : int, default=0
        Of the orders.

    Returns
    -------
    values : ndarray of shape (n_outputs, n_features, n_rows)
        They add up to f less its mean over the background, whether or not they are exact.
    exact : bool

    Raises
    ------
    ImportError
        Without the package shap.
    """
    require("shap", what)
    import shap

    evaluated = function
    if sparse.issparse(X):
        X, background = X.toarray(), background.toarray()

        def evaluated(rows: Any) -> Vector:
            return function(sparse.csr_matrix(rows))

    exact = X.shape[1] <= MOST_EXACT
    masker: Any = shap.maskers.Independent(background, max_samples=len(background))
    # shap takes numbers to be equal from a relative 1e-5 or an absolute 1e-8 on
    masker.invariants = lambda row: row == background
    explainer: Any = (
        shap.explainers.Exact(evaluated, masker)
        if exact
        else shap.explainers.Permutation(evaluated, masker, seed=seed)
    )
    values = np.asarray(explainer(X, silent=True).values, dtype=np.float64)
    return values.reshape(*X.shape, -1).transpose(2, 1, 0), exact
