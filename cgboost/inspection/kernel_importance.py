"""Importance of kernels, centres and features in a kernel model.

With f_k = b_k + Σ_p f_kp, where f_kp = Σ_j α_j K_p(·, x_j) is the contribution of kernel p to
output k, and over given rows:

* *Permutation importance* of kernel p: the decrease of a score when the values of f_kp are permuted
  between the rows (with the same permutation for all outputs). Breiman, *Random Forests*, Machine
  Learning 45, 2001, introduced this for features.
* *Share of the output's variance* of a column: Σ_k Cov(α_j h_j, f_k)/Σ_k Var(f_k). The shares of
  all columns add up to 1; the share of a kernel or a centre is the sum over its columns. A negative
  share means that a column counteracts the others.
* *Relevance of a feature*: the root mean square change of the output when the feature is permuted
  between the centres of the model. For a linear kernel it is proportional to |w_l|·std(x_l).
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted

from cgboost.arrays import Vector
from cgboost.generation.columns import evaluate, weighted_sum

Table = dict[str, NDArray[Any]]

MOST_CENTRES = 200
"""Centres that stand for the data where none are given; of more, these many evenly spread."""

COLUMNS_AT_ONCE = 256
"""Columns that are evaluated at a time."""


def kernel_importance(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    random_state: Any = None,
) -> Bunch:
    """Importance of each kernel of a model: by permutation, and as a share of the variance.

    Parameters
    ----------
    model : fitted kernel estimator
        An estimator with ``columns_per_kernel_``, such as :class:`~cgboost.CGBoostClassifier`.
    X, y : array-like of shape (n_rows, n_features), (n_rows,)
        Rows for the evaluation: held-out rows show which kernels help, training rows which are
        used.
    scoring : str, callable or None
        A scorer of scikit-learn; None means ``model.score``.
    n_repeats : int, default=5
        Number of permutations of each kernel.
    random_state : int, RandomState or None
        Determines the permutations.

    Returns
    -------
    Bunch
        ``kernels`` (names, in order of priority); ``importances`` (n_kernels, n_repeats),
        ``importances_mean`` and ``importances_std`` (n_kernels,), like the results of
        scikit-learn's ``permutation_importance`` for features; ``shares`` (n_kernels,) of the
        output's variance; ``score`` of the unchanged model; ``columns``, the table ``columns_``
        with the share of each column. Kernels without a column have 0.

    Raises
    ------
    ValueError
        If the model has no kernels, or ``n_repeats`` is less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import CGBoostRegressor, KernelLibrary, Linear, RBF
    >>> from cgboost.inspection import kernel_importance
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> model = CGBoostRegressor(KernelLibrary({"linear": Linear(), "rbf": RBF(1.0)}), C=10.0)
    >>> found = kernel_importance(model.fit(X, np.sin(2 * X[:, 0])), X, np.sin(2 * X[:, 0]))
    >>> bool(found.importances_mean[1] > found.importances_mean[0])
    True
    """
    names = _kernels_of(model)
    if n_repeats < 1:
        raise ValueError(f"n_repeats must be at least 1, got {n_repeats!r}")
    from sklearn.metrics import check_scoring  # with half of scikit-learn behind it

    generator, scorer = check_random_state(random_state), check_scoring(model, scoring=scoring)
    rows = model._rows(X)
    outputs = [output for run in model._runs for output in run.outputs]
    total = np.column_stack([output.values(rows) for output in outputs])
    score = float(scorer(_with_outputs(model, total), X, y))
    importances = np.zeros((len(names), n_repeats))
    for p, name in enumerate(names):
        if not np.any(model.columns_["kernel"] == name):
            continue
        part = np.column_stack([_part(output, name, rows) for output in outputs])
        for repeat in range(n_repeats):
            moved = total - part + part[generator.permutation(len(part))]
            importances[p, repeat] = score - scorer(_with_outputs(model, moved), X, y)
    columns = model.columns_ | {"share": column_shares(model, rows, total)}
    return Bunch(
        kernels=np.array(names),
        importances=importances,
        importances_mean=importances.mean(axis=1),
        importances_std=importances.std(axis=1),
        shares=kernel_shares(columns, names),
        score=score,
        columns=columns,
    )


def relevant_centres(model: Any, X: Any, y: ArrayLike | None = None, *, top: int = 10) -> Table:
    """The most important rows of a model, as centres of its columns, with their labels.

    Parameters
    ----------
    model : fitted kernel estimator
    X, y : array-like of shape (n_rows, n_features), (n_rows,)
        The training rows of the model, in the same order; y is only used for the labels.
    top : int, default=10
        Maximum number of rows.

    Returns
    -------
    dict of str to ndarray
        row, label (with y), kernels (names, separated by commas), columns (their number), share (of
        the output's variance over X), in order of decreasing absolute share. A row that is the
        centre of several columns is listed once.

    Raises
    ------
    ValueError
        If the model has no kernels or free centres, or ``top`` is less than 1.
    """
    _kernels_of(model)
    if top < 1:
        raise ValueError(f"top must be at least 1, got {top!r}")
    if np.any(model.columns_["row"] < 0):
        raise ValueError(
            "the model has free centres, which are no rows: centers_ has them, one for each line "
            "of columns_"
        )
    table, shares = model.columns_, column_shares(model, model._rows(X))
    last = int(table["row"].max(initial=-1))
    if y is not None and last >= len(np.asarray(y)):
        raise ValueError(
            "X and y must be the rows that the model was fitted to, in their order: row "
            f"{last} is a centre, y has {len(np.asarray(y))}"
        )
    centres, place = np.unique(table["row"], return_inverse=True)
    share = np.bincount(place, shares, minlength=len(centres))
    order = np.argsort(-np.abs(share), kind="stable")[:top]
    names = [", ".join(dict.fromkeys(table["kernel"][place == k].tolist())) for k in order]
    found: Table = {"row": centres[order]}
    if y is not None:
        found["label"] = np.asarray(y)[found["row"]]
    counts = np.bincount(place, minlength=len(centres))
    return found | {"kernels": np.array(names), "columns": counts[order], "share": share[order]}


def feature_relevance(
    model: Any, *, n_repeats: int = 5, random_state: Any = 0
) -> NDArray[np.float64]:
    """Relevance of each feature for the output of a kernel model, without any data.

    The centres of the model replace the data. A selector of scikit-learn can therefore call it:
    ``SelectFromModel(model, importance_getter=feature_relevance)``. If rows and labels are
    available, ``sklearn.inspection.permutation_importance`` is more informative: it shows the
    effect of a feature on a score.

    Parameters
    ----------
    model : fitted kernel estimator
    n_repeats : int, default=5
        Number of permutations of each feature.
    random_state : int, RandomState or None, default=0
        Determines the permutations.

    Returns
    -------
    ndarray of shape (n_features,)
        Root mean square change of the outputs; all 0 for a model without columns.

    Raises
    ------
    ValueError
        If the model has no kernels, or its centres are not rows of features (precomputed kernels).
    """
    _kernels_of(model)
    rows = centre_rows(model)
    if rows is None:
        raise ValueError(
            f"the centres of this {type(model).__name__} are no dense rows of features: use "
            "sklearn.inspection.permutation_importance"
        )
    generator = check_random_state(random_state)
    relevance = np.zeros(rows.shape[1])
    if not len(rows):
        return relevance
    outputs = [output for run in model._runs for output in run.outputs]
    before = np.tile(np.column_stack([o.values(rows) for o in outputs]), (n_repeats, 1))
    many = np.tile(rows, (n_repeats, 1))
    for feature in range(rows.shape[1]):
        own = rows[:, feature]
        moved = np.concatenate([generator.permutation(own) for _ in range(n_repeats)])
        if np.ptp(own) > 0:
            many[:, feature] = moved
            after = np.column_stack([output.values(many) for output in outputs])
            relevance[feature] = np.sqrt(np.mean((after - before) ** 2))
            many[:, feature] = np.tile(own, n_repeats)
    return relevance


def column_shares(model: Any, rows: Any, total: Vector | None = None) -> Vector:
    """Share of every column of the table ``columns_`` in the variance of the output over rows.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        As its ``_rows`` checks them.
    total : ndarray of shape (n_rows, n_outputs), optional
        Its outputs on the rows.
    """
    outputs = [output for run in model._runs for output in run.outputs]
    if total is None:
        total = np.column_stack([output.values(rows) for output in outputs])
    centred = total - total.mean(axis=0)
    covariances = []
    for output, deviation in zip(outputs, centred.T, strict=True):
        active, coef = output.active, output.coef[np.flatnonzero(output.coef)]
        for start in range(0, len(active), COLUMNS_AT_ONCE):
            some = slice(start, start + COLUMNS_AT_ONCE)
            covariances.append(coef[some] * (deviation @ evaluate(active[some], rows)))
    variance = float(np.sum(centred**2))
    shares = np.concatenate([*covariances, np.zeros(0)])
    return shares / variance if variance > 0 else np.zeros(len(shares))


def kernel_shares(columns: Table, names: tuple[str, ...]) -> Vector:
    """Share of every kernel from those of the columns, in a table with ``kernel`` and ``share``."""
    return np.array([float(columns["share"][columns["kernel"] == name].sum()) for name in names])


def centre_rows(model: Any) -> Vector | None:
    """Different centres of the columns as rows of features, MOST_CENTRES at most.

    None where they are none: a precomputed kernel has places of rows for centres, others have
    objects, or sparse rows, which would not stay sparse.
    """
    if getattr(getattr(model, "_input", None), "kind", "floats") != "floats":
        return None
    found: dict[bytes, tuple[Any, Any]] = {}
    for run in model._runs:
        for output in run.outputs:
            for hypothesis in output.active:
                family, centre = hypothesis.family, hypothesis.centre
                of_features = np.shape(centre) == (model.n_features_in_,)
                if family.kernel.is_precomputed or issparse(centre) or not of_features:
                    return None
                found.setdefault(centre.tobytes(), (centre, family.scaler))
    places = np.unique(np.linspace(0, len(found) - 1, min(len(found), MOST_CENTRES)).astype(int))
    some = [list(found.values())[place] for place in places] if found else []
    rows = [c if scaler is None else scaler.inverse_transform(c[None])[0] for c, scaler in some]
    return np.stack(rows) if rows else np.zeros((0, model.n_features_in_))


def _kernels_of(model: Any) -> tuple[str, ...]:
    """Names of the kernels of a fitted model."""
    check_is_fitted(model)
    counts = getattr(model, "columns_per_kernel_", None)
    if counts is None:
        raise ValueError(f"model must have kernels, as CGBoostClassifier has, got {model!r}")
    return tuple(counts)


def _part(output: Any, name: str, rows: Any) -> Vector:
    """What one kernel adds to an output, shape (n_rows,)."""
    coef = np.where(output.strata[: len(output.coef)] == name, output.coef, 0.0)
    return weighted_sum(output.hypotheses, coef, rows)


def _with_outputs(model: Any, outputs: Vector) -> Any:
    """A copy of a model whose outputs are given, whatever rows it is asked about."""
    view = copy.copy(model)
    view._outputs = lambda X: outputs
    return view
