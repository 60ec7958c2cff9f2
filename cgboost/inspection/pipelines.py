"""The last step of a pipeline or the best model of a search, and the rows that it is given."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from cgboost.estimators.common.fitted_methods import StoredEstimator


def last_step(model: Any, *tables: Any) -> tuple[Any, tuple[Any, ...], list[str] | None]:
    """The model inside pipelines and searches, its tables, and the names of their columns.

    Parameters
    ----------
    model : estimator, Pipeline, or search with a ``best_estimator_``
        One of cgboost is its own last step, with the tables as they are.
    *tables : array-like or None
        As given to ``model``; None stays None.

    Returns
    -------
    model : estimator
    tables : tuple
        As the steps before the last one make them.
    names : list of str or None
        What these steps call the columns; None where they do not say.
    """
    names = None
    while not isinstance(model, StoredEstimator):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
            continue
        if not isinstance(model, Pipeline):
            break
        check_is_fitted(model)
        before, model = model[:-1], model[-1]
        if not len(before):
            continue
        try:
            said = before.get_feature_names_out()
            names = None if said is None else [str(name) for name in said]
        except (AttributeError, ValueError):  # a step that does not say
            names = None
        tables = tuple(None if table is None else before.transform(table) for table in tables)
    return model, tables, names
