"""The last step of a pipeline, and the rows and names that it is given."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


def last_step(model: Any, *tables: Any) -> tuple[Any, tuple[Any, ...], list[str] | None]:
    """The last step of a pipeline, its tables, and the names of their columns.

    Parameters
    ----------
    model : estimator or Pipeline
        What is no pipeline is its own last step, with the tables as they are and no names.
    *tables : array-like or None
        As given to ``model``; None stays None.
    """
    if not isinstance(model, Pipeline):
        return model, tables, None
    check_is_fitted(model)
    before = model[:-1]
    if not len(before):
        return model[-1], tables, None
    try:
        names = [str(name) for name in before.get_feature_names_out()]
    except (AttributeError, ValueError):  # a step that does not say
        names = None
    moved: list[Any] = [None if table is None else before.transform(table) for table in tables]
    return model[-1], tuple(moved), names or [f"x{j}" for j in range(moved[0].shape[1])]
