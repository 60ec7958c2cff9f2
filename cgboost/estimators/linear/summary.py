"""What a statistician asks of a sparse linear model, on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cgboost.arrays import Vector
from cgboost.optional import require

LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
"""What LaTeX would take for commands."""


@dataclass(frozen=True, repr=False)
class LinearSummary:
    """The coefficients of a model that are not 0, its certificate, and what was assumed.

    Attributes
    ----------
    title : str
    n_features : int
        Of X.
    names : list of str
        Of the features in the model, those of the largest coefficients first (times their standard
        deviation, where the model was fitted with ``standardize``).
    outputs : list of str
        "coefficient", or a name for each class or quantile.
    coef : ndarray of shape (n_names, n_outputs)
    intercept : ndarray of shape (n_outputs,)
    certificate : dict of str to float
        objective, dual_bound, gap.
    assumed : list of str
    """

    title: str
    n_features: int
    names: list[str]
    outputs: list[str]
    coef: Vector
    intercept: Vector
    certificate: Mapping[str, float]
    assumed: Sequence[str]

    @classmethod
    def of(cls, model: Any, title: str, names: Sequence[str]) -> LinearSummary:
        """The summary of a fitted sparse linear model.

        Parameters
        ----------
        model : BaseSparseLinear
        title : str
            What the estimator is called.
        names : sequence of str
            Of all features.
        """
        coef = np.atleast_2d(model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_)
        size = np.abs(coef).max(axis=0)
        if model._deviations is not None:
            size = size * model._deviations
        order = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
        own = ("objective", "dual_bound", "gap")
        return cls(
            title=title,
            n_features=coef.shape[1],
            names=[names[j] for j in order.tolist()],
            outputs=_names_of_outputs(model, len(coef)),
            coef=coef[:, order].T,
            intercept=np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64)),
            certificate={name: float(getattr(model, f"{name}_")) for name in own},
            assumed=_assumed(model),
        )

    def to_frame(self) -> Any:
        """A frame of pandas: a row for each feature in the model, and "(intercept)" at last.

        Raises
        ------
        ImportError
            Without the package pandas.
        """
        require("pandas", "to_frame")
        import pandas as pd

        return pd.DataFrame(
            np.vstack([self.coef, self.intercept]),
            index=pd.Index([*self.names, "(intercept)"], name="feature"),
            columns=self.outputs,
        )

    def to_latex(self) -> str:
        """A table for LaTeX, with the rules of booktabs, the certificate as its last line."""
        lines = [
            r"\begin{tabular}{l" + "r" * len(self.outputs) + "}",
            r"\toprule",
            " & ".join(map(_escaped, ["feature", *self.outputs])) + r" \\",
            r"\midrule",
        ]
        for name, values in self._lines():
            lines.append(" & ".join([_escaped(name), *map(_number, values)]) + r" \\")
        said = rf"\multicolumn{{{len(self.outputs) + 1}}}{{l}}{{{_escaped(self._proof)}}} \\"
        return "\n".join([*lines, r"\midrule", said, r"\bottomrule", r"\end{tabular}"])

    def __repr__(self) -> str:
        return f"LinearSummary({self.title}, {len(self.names)} of {self.n_features} features)"

    def __str__(self) -> str:
        cells = [["", *self.outputs]]
        cells += [[name, *(f"{value:.5g}" for value in values)] for name, values in self._lines()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [f"{self.title}: {len(self.names)} of {self.n_features} features"]
        for first, *others in cells:
            numbers = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
            lines.append("  ".join([first.ljust(widths[0]), *numbers]).rstrip())
        return "\n".join([*lines, self._proof, f"assumed: {'; '.join(self.assumed)}"])

    def _lines(self) -> list[tuple[str, NDArray[Any]]]:
        return [*zip(self.names, self.coef, strict=True), ("(intercept)", self.intercept)]

    @property
    def _proof(self) -> str:
        objective, bound, gap = (self.certificate[k] for k in ("objective", "dual_bound", "gap"))
        return f"objective {objective:.6g}, proven lower bound {bound:.6g}, gap {gap:.1e}"


def _escaped(text: str) -> str:
    return "".join(LATEX.get(sign, sign) for sign in text)


def _number(value: float) -> str:
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return f"${mantissa}" + (rf" \cdot 10^{{{int(exponent)}}}$" if exponent else "$")


def _names_of_outputs(model: Any, count: int) -> list[str]:
    """A class or a quantile for each output; of two classes the second, the positive one."""
    if hasattr(model, "classes_"):
        own = model.classes_[1:] if count == 1 else model.classes_
        return [f"class {label}" for label in own]
    if hasattr(model, "quantiles"):
        return [f"quantile {level:g}" for level in model.quantiles]
    return ["coefficient"]


def _assumed(model: Any) -> list[str]:
    """The problem that was solved, in words."""
    losses = getattr(model, "_losses", [model._loss])
    loss = repr(losses[0]) if len(losses) == 1 else "pinball loss of each quantile"
    penalty = repr(model._penalty) if model._penalty.quadratic else "Σ|β|"
    alpha, given = getattr(model, "alpha_", None), vars(model)
    if alpha is None:
        said = [f"C = {model.C:.4g} times the sum of the {loss} over the rows, plus {penalty}"]
    else:
        said = [f"the mean of the {loss} over the rows, plus alpha = {alpha:.4g} times {penalty}"]
    if model.standardize:
        said.append("features in units of their standard deviation")
    if model.penalty_weights is not None:
        said.append("coefficients are charged by penalty_weights")
    if model.positive:
        said.append("coefficients are at least 0")
    if not model.fit_intercept:
        said.append("no intercept")
    said += [f"constraint {words}" for words in getattr(model, "constraint_rows_", ())]
    said += [
        f"{name}={given[name]!r}" for name in ("class_weight", "noncrossing") if given.get(name)
    ]
    return said if alpha == 0 else [*said, "the penalty pulls coefficients towards 0"]
