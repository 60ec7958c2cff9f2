"""How an estimator speaks of itself: ``repr``, the view in a notebook, and a report."""

from __future__ import annotations

import os
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

from sklearn.utils import estimator_html_repr

from cgboost.estimators.common.bases import BaseEstimator
from cgboost.inspection.report.facts import facts_of

WIDTH = 88
"""Characters in a line of facts."""


class Described(BaseEstimator):
    """Facts about a fitted model, beside the parameters that scikit-learn shows."""

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The line that makes this estimator and, once it is fitted, what is true of it."""
        constructor: str = super().__repr__(N_CHAR_MAX)
        facts = facts_of(self)
        if facts is None:
            return constructor
        layout = {"initial_indent": "  ", "subsequent_indent": "  ", "break_long_words": False}
        lines = textwrap.wrap(", ".join(facts.words()), WIDTH, **layout)  # type: ignore[arg-type]
        return "\n".join([constructor, *lines])

    def _html_repr(self) -> str:
        """scikit-learn's diagram and, below it, facts and history of a fitted model."""
        from cgboost.inspection.report.page import panel

        diagram: str = estimator_html_repr(self)
        facts = facts_of(self)
        return diagram if facts is None else diagram + panel(self, facts)

    def _repr_html_inner(self) -> str:  # scikit-learn 1.6 does not ask for _html_repr
        return self._html_repr()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
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
        from cgboost.inspection.report.page import write_report

        return write_report(self, path)


def _break_long_lines() -> None:
    """Let scikit-learn's printer break long lines between parameters, as it does for its own.

    It looks the way to print an object up by its ``__repr__``.
    """
    with suppress(ImportError, AttributeError):  # it is not public, and lines may stay long
        from sklearn.utils._pprint import _EstimatorPrettyPrinter as Printer

        Printer._dispatch[Described.__repr__] = Printer._pprint_estimator


_break_long_lines()
