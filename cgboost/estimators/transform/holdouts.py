"""Averages of models with different holdout rows: the outer bags of one fit.

    f = (1/n) Σ_b f_b

The stages, leaves and regressors of a model are chosen on its holdout rows, and therefore partly by
chance. Averaging reduces this effect, and every row trains most of the models. (Like the outer bags
of Nori, Jenkins, Koch, Caruana, *InterpretML*, 2019.)
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from cgboost.additive.stage import Stage, StageOutput, Stages
from cgboost.additive.trees.transformation import Transformation
from cgboost.estimators.common.base_ensemble import BaseEnsemble
from cgboost.estimators.common.fitted_runs import FittedOutput, FittedRun, stacked
from cgboost.estimators.common.stagewise import CUT_SHORT, importances_of
from cgboost.estimators.common.training_rows import HeldSets, TrainingRows

Vector = NDArray[np.float64]


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


def n_classes_of(estimator: Any) -> int:
    """How many classes there are; of a regressor all rows are one."""
    return 1 if estimator._y_numeric else len(estimator.classes_)


def run_all(
    self: Any, pool: Any, rows: TrainingRows, held: HeldSets | None, started: float
) -> list[FittedRun]:
    """One run for each class, of every holdout: their average. A method of the estimator."""
    count = self.n_holdouts
    if count == 1:
        return BaseEnsemble._run_all(self, pool, rows, held, started)
    bags = []
    try:
        for k in range(count):
            self._share_of_time = (k + 1) / count
            place = self._pool(rows, k) if k else pool
            bags.append(BaseEnsemble._run_all(self, place, rows, held, started))
    finally:
        vars(self).pop("_share_of_time", None)
    self._bags = bags
    n_features = self._schema.n_features
    return [average(list(runs), n_features) for runs in zip(*bags, strict=True)]


def importances(self: Any) -> Vector:
    """Shares of the features in the decrease of the loss, shape (n_features,).

    The share of an earlier output goes to the features of its stage. With several holdouts, this is
    the mean.
    """
    return np.asarray(_by_holdout(self).mean(axis=0))


def spread(self: Any) -> Vector:
    """Standard deviation of ``feature_importances_`` over the holdouts, shape (n_features,)."""
    return np.asarray(_by_holdout(self).std(axis=0))


def models(self: Any) -> list[Any]:
    """The fitted estimator of each holdout; this model is their mean (itself if there is one)."""
    check_is_fitted(self)
    if self.n_holdouts == 1:
        return [self]
    found = []
    for runs in self._bags:
        own = copy(self)
        del own._bags
        own.n_holdouts = 1
        own._keep(list(runs), None)
        found.append(own)
    return found


def _by_holdout(self: Any) -> Vector:
    check_is_fitted(self)
    bags = [self._runs] if self.n_holdouts == 1 else self._bags
    return np.array([importances_of(runs, self.n_features_in_) for runs in bags])


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
    stage : Stage
    new : sequence of int
        The number of each earlier output.
    n_features : int
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
