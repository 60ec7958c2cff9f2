"""Averages of models with different holdout rows: the outer bags of one fit.

    f = (1/n) Σ_b f_b

The stages, leaves and regressors of a model are chosen on its holdout rows, and therefore partly by
chance. Averaging reduces this effect, and every row trains most of the models. (Like the outer bags
of Nori, Jenkins, Koch, Caruana, *InterpretML*, 2019.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cgboost.additive.stage import Stage, StageOutput, Stages
from cgboost.additive.trees.transformation import Transformation
from cgboost.estimators.common.fitted_runs import FittedOutput, FittedRun, stacked
from cgboost.estimators.common.stagewise import CUT_SHORT


def seed_of(random_state: Any, holdout: int) -> int:
    """The seed that chooses which rows are held out.

    Parameters
    ----------
    random_state : int, RandomState or None
        None stands for 0.
    holdout : int
        Number of the holdout; the first has the seed that was given.
    """
    seed = 0 if random_state is None else random_state
    if not isinstance(seed, (int, np.integer)):
        seed = seed.randint(2**31)
    if holdout:
        seed = np.random.SeedSequence([int(seed), holdout]).generate_state(1)[0] >> 1
    return int(seed)


def average(runs: Sequence[FittedRun], n_features: int) -> FittedRun:
    """The average of models.

    Its stages are those of all models: the first of each, the second of each, and so on.
    """
    cut = [run for run in runs if run.stop_reason in CUT_SHORT]
    first = (cut or list(runs))[0]
    numbers = np.arange(len(runs))
    return FittedRun(
        outputs=[
            _average_output(own, n_features)
            for own in zip(*(run.outputs for run in runs), strict=True)
        ],
        objective=float(np.mean([run.objective for run in runs])),
        bound=-np.inf,
        gap=np.inf,
        stop_reason=first.stop_reason,
        message=first.message,
        best_round=max(run.best_round for run in runs),
        history=stacked([run.history for run in runs], numbers, "holdout"),
        level=np.nan,
    )


def _average_output(outputs: Sequence[FittedOutput], n_features: int) -> FittedOutput:
    n_rounds = max(len(output.path) for output in outputs)
    order = [
        (turn, k, place)
        for k, output in enumerate(outputs)
        for place, turn in enumerate(output.rounds[: len(output.coef)].tolist())
    ]
    order.sort()
    place_of = {(k, place): number for number, (_, k, place) in enumerate(order)}
    family = Stages()
    for _, k, place in order:
        own = outputs[k].hypotheses[place]
        new = [place_of[k, earlier] for earlier in range(place)]
        family.stages.append(renumbered(own.family.stages[own.number], new, n_features))
    turns = np.array([turn for turn, _, _ in order], dtype=np.intp)
    path = []
    for turn in range(n_rounds):
        coef, intercept = np.zeros(int(np.count_nonzero(turns <= turn))), 0.0
        for k, output in enumerate(outputs):
            values, constant = output.path[min(turn, len(output.path) - 1)]
            coef[[place_of[k, place] for place in range(len(values))]] = values / len(outputs)
            intercept += constant / len(outputs)
        path.append((coef, intercept))
    hypotheses = [StageOutput(family, number) for number in range(len(order))]
    strata = np.array([outputs[k].strata[place] for _, k, place in order], dtype=str)
    return FittedOutput(hypotheses, strata, path, {"": float(np.abs(path[-1][0]).sum())})


def renumbered(stage: Stage, new: Sequence[int], n_features: int) -> Stage:
    """A stage where the outputs of earlier stages have other numbers.

    Parameters
    ----------
    new : sequence of int
        The number of each earlier output.
    """

    def moved(term: Transformation) -> Transformation:
        own = term.feature >= n_features
        feature = n_features + new[term.feature - n_features] if own else term.feature
        width = term.coef.shape[1]
        if not width:
            return replace(term, feature=feature)
        coef = np.zeros((len(term.coef), max(new[:width]) + 1))
        coef[:, new[:width]] = term.coef
        return replace(term, feature=feature, coef=coef)

    terms = [(weight, moved(term)) for weight, term in stage.terms]
    return replace(stage, terms=terms)
