"""The functions of stages, of values as they are in the user's data, and the graph of stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from cgboost.additive.stage import Stage
from cgboost.additive.trees.transformation import INDENT, Transformation, leaves_in_words
from cgboost.arrays import Matrix, Vector
from cgboost.tables.table_encoding import Schema


@dataclass(frozen=True, eq=False, repr=False)
class StageCurve:
    """h(x | ŷ_0, …, ŷ_{i−1}) of one input in stage i.

    Calling it gives h without its weight; what the stage adds up, and what
    :func:`cgboost.inspection.model_pictures.plot_transformations` draws, is ``weight`` times h.

    Attributes
    ----------
    name : str
        Of the input; stage_k for the output of stage k.
    weight : float
        λ, what the function is multiplied by in the stage.
    function : Transformation
        The same function of numbers of categories, and of all outputs.
    categories : dict or None
        Numbers of the categories, None for a numeric input.
    output : int or None
        Where the input is the output of an earlier stage, of which.
    """

    name: str
    stage: int
    weight: float
    function: Transformation
    categories: dict[Any, int] | None
    output: int | None

    @property
    def n_regressors(self) -> int:
        """Outputs of earlier stages that its leaves may use."""
        return int(self.function.coef.shape[1])

    def __call__(self, x: ArrayLike, regressors: ArrayLike | None = None) -> Vector:
        """Values of h, shape (n_values,).

        Parameters
        ----------
        x : array-like of shape (n_values,)
            Numbers or categories as in the data; nan or None where missing. Categories that the fit
            has not seen count as missing.
        regressors : array-like of shape (n_values, n_regressors), optional
            Outputs of the earlier stages; 0 by default, which is about their mean (but x itself for
            the output that x is).

        Raises
        ------
        ValueError
            For another shape, or values that are none of this input.
        """
        as_given = self.categories is None or hasattr(x, "dtype")  # words of lists stay objects
        values = np.asarray(x, dtype=None if as_given else object)
        if values.ndim != 1:
            raise ValueError(f"x must have one dimension, got shape {values.shape}")
        codes = Schema((self.name,), (self.categories,)).encode(values[:, None])[:, 0]
        return self.function(codes, self._regressors(codes, regressors))

    def text(self) -> str:
        """A line for every leaf: which values it has, and its formula, times the weight.

        Numbers outside the range of the training rows count as its nearest end.
        """
        return "\n".join(leaves_in_words(self.function, self.name, self.categories, self.weight))

    def __repr__(self) -> str:
        lines = self.text().splitlines()
        if len(lines) > 5:
            lines = [*lines[:4], f"… {len(lines) - 4} more"]
        about = f"{self.name!r} in stage {self.stage}, times its weight {self.weight:.4g}"
        return "\n".join([f"StageCurve of {about}:", *(INDENT + line for line in lines)])

    def _regressors(self, x: Matrix, given: ArrayLike | None) -> Vector:
        shape = (len(x), self.n_regressors)
        if given is None:
            zeros = np.zeros(shape)
            if self.output is not None and self.output < self.n_regressors:
                zeros[:, self.output] = x
            return zeros
        values = np.asarray(given, dtype=np.float64)
        if values.shape != shape:
            raise ValueError(
                f"regressors must have the shape {shape}, a column for each of the "
                f"{self.n_regressors} outputs of earlier stages, got {values.shape}"
            )
        return values


if TYPE_CHECKING:
    from networkx import DiGraph


def stage_graph(stages: Sequence[Stage], coef: Sequence[float], names: Sequence[str]) -> DiGraph:
    """An edge from everything that a stage uses to the stage.

    Parameters
    ----------
    stages : sequence of Stage
    coef : sequence of float
        Of the stages in the model.
    names : sequence of str
        Of the features.

    Returns
    -------
    networkx.DiGraph
        Nodes are features, by their names, and stages, by their numbers; attribute kind, of stages
        also coefficient and intercept. An edge has kind "input", with the weight λ and the number
        of leaves of the transformation, or kind "regressor" where an earlier stage is used in the
        leaves of other inputs alone; "leaves_of" has the inputs in whose leaves it is used.
    """
    from networkx import DiGraph

    graph = DiGraph()
    graph.add_nodes_from(names, kind="feature")
    for number, (stage, share) in enumerate(zip(stages, coef, strict=True)):
        graph.add_node(
            number, kind="stage", coefficient=float(share), intercept=float(stage.intercept)
        )
        nodes = [*names, *range(number)]
        used: dict[int, list[str | int]] = {}
        for weight, term in stage.terms:
            own = nodes[term.feature]
            graph.add_edge(own, number, kind="input", weight=weight, leaves=term.n_leaves)
            for k in map(int, np.flatnonzero(term.coef.any(axis=0))):
                used.setdefault(k, []).append(own)
        for k, inputs in used.items():
            if not graph.has_edge(k, number):
                graph.add_edge(k, number, kind="regressor")
            graph.edges[k, number]["leaves_of"] = inputs
    return graph
