"""The parts of a fitted transform regression: outputs, their stages, and what these are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.additive.stage import Stage
from cgboost.estimators.common.fitted_runs import FittedOutput, FittedRun
from cgboost.tables.table_encoding import Schema


def class_number(classes: NDArray[Any], label: Any) -> int:
    """The number of the output that a query for the probability of a class needs.

    Raises
    ------
    ValueError
        If there are more than two classes and ``label`` is none of them, or two and it is not the
        second.
    """
    labels = classes[1:] if len(classes) == 2 else classes
    places = [0] if label is None and len(labels) == 1 else np.flatnonzero(labels == label)
    if not len(places):
        rest = " (that of the first class is 1 minus this)" if len(labels) == 1 else ""
        raise ValueError(f"label must be one of {labels.tolist()}{rest}, got {label!r}")
    return int(places[0])


def outputs_of(runs: Sequence[FittedRun]) -> list[FittedOutput]:
    """The outputs of a model, in the order of its classes."""
    return [output for run in runs for output in run.outputs]


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


def largest_stage(runs: Sequence[FittedRun]) -> float:
    """Of the largest stage of any output, times its coefficient: one f may be but a constant."""
    return max(
        (
            abs(value) * max(abs(stage.intercept), stage.size)
            for output in outputs_of(runs)
            for value, stage in zip(output.path[-1][0].tolist(), stages_of(output), strict=True)
        ),
        default=0.0,
    )


def called(number: int, schema: Schema) -> str:
    """An input, as ``transformation`` takes it."""
    if number >= schema.n_features:
        return f"{number} (the output of stage {number - schema.n_features})"
    return str(number) if schema.names is None else repr(schema.names[number])


def stages_of(output: FittedOutput) -> list[Stage]:
    """The stages that a run has left in an output."""
    return output.hypotheses[0].family.stages if output.hypotheses else []
