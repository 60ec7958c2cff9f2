"""How many latent factors: by cross-validation inside the training rows.

Momma, Bennett, *Constructing Orthogonal Latent Features for Arbitrary Loss*, 2006, section 8.1: the
error of N factors, averaged with its neighbours', is least.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]
Errors = Callable[[Indices, Indices], list[float]]
"""errors(train, test): the summed errors on test rows of models with 1, 2, … factors."""


def folds(cv: Any, y: NDArray[Any], random_state: Any, *, classes: bool) -> list[Any]:
    """Pairs (train, test) of row numbers.

    Parameters
    ----------
    cv : int or splitter
        A number of folds is shuffled, and for classes stratified; it is lowered to the number of
        rows, or of the smallest class, where there are not enough.
    y : ndarray of shape (n_rows,)
    random_state : int, RandomState or None
    classes : bool

    Raises
    ------
    ValueError
        If there is a class of one row, or there are fewer than two rows: nothing can be held out;
        or if a splitter leaves a single class to train on.
    """
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv  # loads rich

    if not isinstance(cv, (int, np.integer)):
        pairs = list(check_cv(cv, y, classifier=classes).split(np.zeros(len(y)), y))
        single = [k for k, (train, _) in enumerate(pairs) if classes and len(set(y[train])) < 2]
        if single:
            raise ValueError(
                f"cv={cv!r} leaves a single class to train on in fold {single[0] + 1} of "
                f"{len(pairs)}: shuffle it, use a StratifiedKFold or give a number of folds"
            )
        return pairs
    most = int(np.unique(y, return_counts=True)[1].min()) if classes else len(y)
    if most < 2:
        what = "a class with 1 row" if classes else f"{len(y)} row"
        raise ValueError(
            f"n_components='cv' needs 2 rows, of each class, to hold out some; got {what}: give a "
            "number of components"
        )
    kind = StratifiedKFold if classes else KFold
    splitter = kind(min(int(cv), most), shuffle=True, random_state=random_state)
    return list(splitter.split(np.zeros(len(y)), y))


def error_curve(pairs: list[Any], errors: Errors, size: int) -> Vector:
    """Summed errors of 1, …, ``size`` factors; a fold that stopped earlier stays at its last."""
    curve = np.zeros(size)
    for train, test in pairs:
        own = errors(train, test)[:size]
        curve += np.pad(own, (0, size - len(own)), mode="edge")
    return curve


def smoothed(curve: Vector) -> Vector:
    """Every value averaged with its neighbours, as far as there are any; two stay as they are."""
    if len(curve) < 3:
        return curve
    window = np.ones(3)
    return np.convolve(curve, window, "same") / np.convolve(np.ones(len(curve)), window, "same")
