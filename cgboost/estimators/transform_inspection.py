"""What a fitted transform regression is made of: transformations, the graph of stages, SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from cgboost.additive.graph import stage_graph
from cgboost.additive.schema import Schema
from cgboost.additive.sql import select_statement
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.transformation import Transformation
from cgboost.estimators.fitted import FittedOutput, FittedRun

if TYPE_CHECKING:
    from networkx import DiGraph


class StageInspection:
    """The half of an estimator that shows its stages."""

    _schema: Schema
    _runs: list[FittedRun]

    def transformation(self, stage: int, feature: int | str, *, output: int = 0) -> Transformation:
        """The piecewise linear function of an input in a stage.

        Parameters
        ----------
        stage : int
            0, 1, …
        feature : int or str
            Number or name of a feature; ``n_features_in_ + k`` for the output of stage k.
        output : int, default=0
            Place of the class in ``classes_``, where there are more than two.

        Raises
        ------
        KeyError
            If there is no such feature, or the stage does not use it.
        IndexError
            If there is no such stage or output.
        """
        check_is_fitted(self)
        names = list(self._schema.names or ())
        if isinstance(feature, str) and feature not in names:
            raise KeyError(f"there is no feature {feature!r}; features are {names}")
        number = names.index(feature) if isinstance(feature, str) else feature
        terms = {term.feature: term for _, term in self._stages_of(output)[stage].terms}
        if number not in terms:
            raise KeyError(f"stage {stage} does not use input {feature!r}; it uses {list(terms)}")
        return terms[number]

    def stage_graph(self, *, output: int = 0) -> DiGraph:
        """What every stage is made of, as a directed graph.

        Parameters
        ----------
        output : int, default=0
            As in :meth:`transformation`.

        Returns
        -------
        networkx.DiGraph
            As :func:`cgboost.additive.graph.stage_graph`: features by their names (x0, x1, … where
            they have none) and stages by their numbers.
        """
        stages = self._stages_of(output)
        names = self._schema.names or [f"x{j}" for j in range(self._schema.n_features)]
        return stage_graph(stages, self._fitted_output(output).coef.tolist(), names)

    def _statement(self, table: str | Sequence[str], number: int, link: str, **columns: Any) -> str:
        """A query that evaluates the output of this number."""
        stages = Stages(self._stages_of(number))
        coef, intercept = self._fitted_output(number).path[-1]
        return select_statement(
            stages, coef.tolist(), float(intercept), self._schema, table, link=link, **columns
        )

    def _fitted_output(self, output: int) -> FittedOutput:
        return self._runs[output].outputs[0]

    def _stages_of(self, output: int) -> list[Stage]:
        check_is_fitted(self)
        found: list[Stage] = stages_of(self._runs[output])
        return found


def stages_of(run: FittedRun) -> list[Stage]:
    """The stages that a run has left in the model."""
    (output,) = run.outputs
    return output.hypotheses[0].family.stages if output.hypotheses else []
