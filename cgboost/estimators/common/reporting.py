"""Reports of an estimator on its model: ``repr``, the view in a notebook, a file.

These functions are methods: an estimator assigns them in its class body.
"""

from __future__ import annotations

import copy
import os
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

from sklearn.utils import estimator_html_repr

from cgboost.estimators.common.bases import BaseEstimator
from cgboost.exceptions import see
from cgboost.inspection.report.facts import facts_of
from cgboost.optional import is_installed

WIDTH = 88
"""Characters in a line of facts."""


def representation(model: BaseEstimator, N_CHAR_MAX: int = 700) -> str:
    """The line that makes an estimator and, once it is fitted, the facts about its model."""
    return with_facts(model, model, N_CHAR_MAX)


def with_facts(model: BaseEstimator, fitted: Any, N_CHAR_MAX: int = 700) -> str:
    """The line that makes an estimator, and the facts about what it has fitted, None perhaps."""
    constructor: str = BaseEstimator.__repr__(_with_ordered_dicts(model), N_CHAR_MAX)
    facts = None if fitted is None else facts_of(fitted)
    if facts is None:
        return constructor
    layout = {"initial_indent": "  ", "subsequent_indent": "  ", "break_long_words": False}
    lines = textwrap.wrap(", ".join(facts.words()), WIDTH, **layout)  # type: ignore[arg-type]
    return "\n".join([constructor, *lines])


def html_representation(model: BaseEstimator) -> str:
    """scikit-learn's diagram and, below it, facts and history of a fitted model.

    Without the packages of the extra "report" there is the diagram alone.
    """
    diagram: str = estimator_html_repr(model)
    facts = facts_of(model)
    if facts is None or not is_installed("jinja2", "matplotlib"):
        return diagram
    from cgboost.inspection.report.page import panel

    return diagram + panel(model, facts)


def mime_bundle(model: BaseEstimator, **options: Any) -> dict[str, str]:
    """The representations that notebooks ask for."""
    bundle: dict[str, str] = BaseEstimator._repr_mimebundle_(model, **options)
    return bundle | ({"text/html": html_representation(model)} if "text/html" in bundle else {})


def report(self: BaseEstimator, path: str | os.PathLike[str]) -> Path:
    """Write all that there is to say about this model into one HTML file.

    The file has the certificate and what it means, the history as a table and as curves, the
    columns, the kernels, importances or stages where the model has them, the parameters, and what
    it was made with. It needs nothing else: no network, no other file.

    Parameters
    ----------
    path : str or path-like
        The file; one that is there is replaced.

    Returns
    -------
    pathlib.Path
        The file.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError
        If the path is a folder, its folder does not exist, or it cannot be written to.
    """
    from cgboost.inspection.report.page import write_report

    return write_report(self, path)


class _Ordered(dict[Any, Any]):
    """A dict that scikit-learn's printer does not sort: that of a library has an order."""

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{key!r}: {value!r}' for key, value in self.items())}}}"


def _with_ordered_dicts(model: BaseEstimator) -> BaseEstimator:
    """The estimator, or a copy of it for the printer where a parameter is a dict."""
    dicts = {k: v for k, v in model.get_params(deep=False).items() if type(v) is dict}
    if not dicts:
        return model
    own = copy.copy(model)
    for name, value in dicts.items():
        setattr(own, name, _Ordered(value))
    return own


def _write_in_order(
    printer: Any, given: _Ordered, stream: Any, indent: int, allowance: int, *rest: Any
) -> None:
    """A long dict, with a line for each item."""
    stream.write("{")
    printer._format_dict_items(list(given.items()), stream, indent, allowance + 1, *rest)
    stream.write("}")


def _break_long_lines() -> None:
    """Let scikit-learn's printer break long lines between parameters, as it does for its own.

    It looks the way to print an object up by its ``__repr__``.
    """
    with suppress(ImportError, AttributeError):  # it is not public, and lines may stay long
        from sklearn.utils._pprint import _EstimatorPrettyPrinter as Printer

        Printer._dispatch[representation] = Printer._pprint_estimator
        Printer._dispatch[_Ordered.__repr__] = _write_in_order


_break_long_lines()


class NumberPerFeature:
    """``coef_`` of estimators: a number for each feature, of those alone that set it in a fit.

    Selectors and explainers of other packages take it for that.
    """

    def __get__(self, estimator: Any, owner: type) -> Any:
        """An AttributeError, which names the attribute that a fitted model has instead."""
        if not hasattr(estimator, "column_weights_"):
            raise AttributeError(f"{owner.__name__!r} object has no attribute 'coef_'")
        raise AttributeError(
            f"{owner.__name__} has no coef_, which would be a number for each feature: use "
            "column_weights_ for the coefficients of its columns, shape "
            f"{estimator.column_weights_.shape}{see('coefficients')}"
        )
