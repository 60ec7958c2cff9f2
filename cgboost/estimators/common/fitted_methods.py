"""What a fitted estimator can do besides predict: be stored, exported, shown and reported.

This base is thin: what it offers is done by the rooms above (:mod:`cgboost.above`).
"""

from __future__ import annotations

import copy
import os
import textwrap
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from sklearn.utils import estimator_html_repr

from cgboost import above
from cgboost.estimators.common.sklearn_bases import BaseEstimator
from cgboost.exceptions import see
from cgboost.optional import is_installed

WIDTH = 88
"""Characters in a line of facts."""


class StoredEstimator(BaseEstimator):
    """An estimator that files, pickles and ONNX graphs can have."""

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        functions: Mapping[str, Callable[..., Any]] | None = None,
    ) -> Path:
        """Save this model to one file, without pickle: :func:`cgboost.load` reads it, runs no code.

        Parameters
        ----------
        path : str or path-like
            The file; an existing file is replaced when the new one is complete.
        functions : mapping of str to callable or None
            Names for functions and your own classes that the model contains (kernels, callbacks).
            Only the names are stored, and ``load`` asks for the functions. Without a mapping, a
            function has its Python name, or the name of its kernel in a library.

        Returns
        -------
        path : Path

        Raises
        ------
        PersistenceError
            If a part of the model cannot be stored; the message names it.
        FileError
            If the file cannot be written; an existing file is unchanged.
        """
        return above.save(self, path, functions)

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        dtype: Literal["float32", "float64"] = "float32",
    ) -> Any:
        """Export the model as an ONNX graph.

        Its input is ``X``, shape (n_rows, n_features). Outputs are ``prediction`` of regressors,
        ``label`` and ``decision`` (what ``decision_function`` returns) of classifiers and
        ``probabilities`` where the model has them without a calibration. Rows are computed in
        float64. Where onnxruntime is installed, it runs the graph on a few rows first, made of what
        the model knows (centres, thresholds), and the outputs are compared with those of the model.

        Parameters
        ----------
        path : str, path-like or None
            A file to write; one that is there is replaced.
        dtype : {"float32", "float64"}, default="float32"
            Of the input. float32 loses digits of the rows, not of the computation.

        Returns
        -------
        model : onnx.ModelProto

        Raises
        ------
        ImportError
            Without the package onnx.
        ExportError
            For what ONNX cannot say: kernels of objects or your own ones, precomputed ones, models
            of blocks of rows (they have ``to_sql``), rules, learners other than trees. If
            the graph does not say what the model says.
        """
        return above.to_onnx(self, path, dtype)

    def __getstate__(self) -> dict[str, Any]:
        return above.state(self)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        above.set_state(self, state)


class ReportedEstimator(StoredEstimator):
    """One whose ``repr``, view in a notebook and report have the facts about its model."""

    @property
    def _reported(self) -> Any:
        """The model whose facts these are; None for one that is not there yet."""
        return self

    @property
    def _facts(self) -> Any:
        return None if self._reported is None else above.facts_of(self._reported)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The line that makes an estimator and, once it is fitted, the facts about its model."""
        constructor: str = BaseEstimator.__repr__(_with_ordered_dicts(self), N_CHAR_MAX)
        facts = self._facts
        if facts is None:
            return constructor
        layout = {"initial_indent": "  ", "subsequent_indent": "  ", "break_long_words": False}
        lines = textwrap.wrap(", ".join(facts.words()), WIDTH, **layout)  # type: ignore[arg-type]
        return "\n".join([constructor, *lines])

    def _html_repr(self) -> str:
        """scikit-learn's diagram and, below it, facts and history of a fitted model.

        Without the packages of the extra "report" there is the diagram alone.
        """
        diagram: str = estimator_html_repr(self)
        facts = self._facts
        if facts is None or not is_installed("jinja2", "matplotlib"):
            return diagram
        return diagram + above.panel(self._reported, facts)

    _repr_html_inner = _html_repr
    """scikit-learn 1.6 asks for this one."""

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """The representations that notebooks ask for."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return bundle | ({"text/html": self._html_repr()} if "text/html" in bundle else {})

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write all that there is to say about this model into one HTML file.

        The file has the certificate and what it means, the history as a table and as curves, the
        columns, the kernels, importances or stages where the model has them, the parameters, and
        what it was made with. It needs nothing else: no network, no other file.

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
        return above.write_report(self if self._reported is None else self._reported, path)


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

        Printer._dispatch[ReportedEstimator.__repr__] = Printer._pprint_estimator
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
