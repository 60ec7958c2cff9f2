"""The parts of a fitted transform regression: transformations, the graph of stages, SQL.

The first three functions are methods: an estimator assigns them in its class body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cgboost.additive.export import curve
from cgboost.additive.export.curve import StageCurve
from cgboost.additive.export.sql import models_statement
from cgboost.additive.stage import Stage, Stages
from cgboost.additive.trees.transformation import INDENT, formula_in_words, input_of, names_of
from cgboost.estimators.common.class_outputs import output_labels, output_place
from cgboost.estimators.common.fitted_runs import FittedOutput, FittedRun
from cgboost.tables.table_encoding import Schema

if TYPE_CHECKING:
    from networkx import DiGraph


def transformation(self: Any, stage: int, feature: int | str, *, output: Any = None) -> StageCurve:
    """The piecewise linear function of an input in a stage, in the units of the data.

    Parameters
    ----------
    stage : int
        0, 1, …, or −1 for the last.
    feature : int or str
        Index or name of a feature; ``n_features_in_ + k`` for the output of stage k.
    output : class label or int, optional
        Label of a class, or its index in ``classes_``; integers are read as labels first. By
        default the first. Two classes have one output, the f of the second class: its label, or 0.

    Returns
    -------
    StageCurve
        ``curve(x)`` is h(x), with outputs of earlier stages at 0; the stage is the sum of
        ``curve.weight * curve(x)``.

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
    stages = self._stages_of(output)
    place = stage_number(stage, len(stages))
    terms = {term.feature: (weight, term) for weight, term in stages[place].terms}
    if number not in terms:
        used = [_called(k, self._schema) for k in terms]
        raise KeyError(f"stage {place} does not use {feature!r}; it uses {', '.join(used)}")
    name, categories = input_of(number, self._schema)
    earlier = number - self._schema.n_features
    weight, term = terms[number]
    return StageCurve(name, place, weight, term, categories, earlier if earlier >= 0 else None)


def text(self: Any, *, output: Any = None) -> str:
    """The model as text: the functions of every stage, with one line per leaf.

    Functions are multiplied by their weights: a stage is the sum of the functions listed below it.
    Numbers outside the range of the training rows count as its nearest end. Outputs of earlier
    stages are named stage_0, stage_1, …

    Parameters
    ----------
    output : class label or int, optional
        As in :meth:`transformation`.
    """
    stages, fitted = self._stages_of(output), output_of(self, output)
    coef, constant = fitted.path[-1]
    named = [(value, f"stage_{k}") for k, value in enumerate(coef.tolist())]
    lines = [f"f = {formula_in_words(float(constant), named, _size(self._runs))}"]
    for k, stage in enumerate(stages):
        words = stage.text(self._schema).replace("\n", "\n" + INDENT)
        lines += [f"stage_{k}:", INDENT + words]
    return "\n".join(lines)


def stage_graph(self: Any, *, output: Any = None) -> DiGraph:
    """The inputs of every stage, as a directed graph.

    Parameters
    ----------
    output : class label or int, optional
        As in :meth:`transformation`.

    Returns
    -------
    networkx.DiGraph
        As in :func:`cgboost.additive.export.curve.stage_graph`: features by their names (x0, x1, …
        if they have none) and stages by their numbers.
    """
    stages = self._stages_of(output)
    coef = output_of(self, output).coef.tolist()
    return curve.stage_graph(stages, coef, names_of(self._schema))


def class_number(model: Any, label: Any) -> int:
    """The number of the output that a query for the probability of a class needs.

    Raises
    ------
    ValueError
        If there are more than two classes and ``label`` is none of them, or two and it is not the
        second.
    """
    check_is_fitted(model)
    labels = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    places = [0] if label is None and len(labels) == 1 else np.flatnonzero(labels == label)
    if not len(places):
        rest = " (that of the first class is 1 minus this)" if len(labels) == 1 else ""
        raise ValueError(f"label must be one of {labels.tolist()}{rest}, got {label!r}")
    return int(places[0])


def statement(
    model: Any, table: str | Sequence[str], number: int, link: str, **columns: Any
) -> str:
    """A query for the prediction of the output of this number; softmax is of all outputs."""
    check_is_fitted(model)
    outputs = outputs_of(model._runs)
    chosen = outputs if link == "softmax" else outputs[number : number + 1]
    models = []
    for output in chosen:
        coef, intercept = output.path[-1]
        models.append((Stages(stages_of(output)), coef.tolist(), float(intercept)))
    return models_statement(
        models,
        model._schema,
        table,
        link=link,
        number=number if link == "softmax" else 0,
        **columns,
    )


def outputs_of(runs: Sequence[FittedRun]) -> list[FittedOutput]:
    """The outputs of a model, in the order of its classes."""
    return [output for run in runs for output in run.outputs]


def output_of(model: Any, output: Any) -> FittedOutput:
    """The output of a class, or of a place, as :func:`output_place` reads it.

    Raises
    ------
    IndexError
        If there is no such output.
    """
    return outputs_of(model._runs)[output_place(output, output_labels(model))]


def stage_number(stage: int, count: int) -> int:
    """The number of a stage, of which −1 is the last.

    Raises
    ------
    IndexError
        If there is no such stage.
    """
    if not count:
        raise IndexError("the model has no stage: the fit has found nothing beyond the constant")
    if not -count <= stage < count:
        raise IndexError(f"stage must be from 0 to {count - 1}, or −1 for the last, got {stage!r}")
    return stage % count


def _size(runs: Sequence[FittedRun]) -> float:
    """Of the largest stage of any output, times its coefficient: one f may be but a constant."""
    return max(
        (
            abs(value) * max(abs(stage.intercept), stage.size)
            for output in outputs_of(runs)
            for value, stage in zip(output.path[-1][0].tolist(), stages_of(output), strict=True)
        ),
        default=0.0,
    )


def _called(number: int, schema: Schema) -> str:
    """An input, as ``transformation`` takes it."""
    if number >= schema.n_features:
        return f"{number} (the output of stage {number - schema.n_features})"
    return str(number) if schema.names is None else repr(schema.names[number])


def stages_of(output: FittedOutput) -> list[Stage]:
    """The stages that a run has left in an output."""
    return output.hypotheses[0].family.stages if output.hypotheses else []
