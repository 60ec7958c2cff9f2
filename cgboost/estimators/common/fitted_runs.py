"""What a fitted model keeps of its runs: arrays and basis functions, no solver, no Gram matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cgboost.arrays import Vector
from cgboost.generation.columns import PREDICTION_BLOCK, Combination, evaluate, weighted_sum
from cgboost.generation.history import Result, StopReason
from cgboost.losses import SupportVectorLoss
from cgboost.tolerances import RESIDUE, SMALLEST

Table = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class FittedOutput:
    """One output of a model, cut loose from the training data.

    Attributes
    ----------
    hypotheses : list of Hypothesis
        The columns that add to it as basis functions, in order of generation.
    strata : ndarray of str, shape (n_hypotheses,)
    path : list of (coef, intercept)
        Coefficients after every round of the run up to the best one, which makes the model.
    sizes : dict of str to float
        Σ|α| of each stratum, over the columns of the master: combinations as a whole.
    """

    hypotheses: list[Any]
    strata: NDArray[np.str_]
    path: list[tuple[Vector, float]]
    sizes: dict[str, float]

    @classmethod
    def of(cls, result: Result, number: int) -> FittedOutput:
        """The part of a result that adds to the output of this number."""
        places, hypotheses, strata = [], [], []
        for j, column in enumerate(result.columns):
            for output, hypothesis in column.parts:
                if output == number:
                    places.append(j)
                    hypotheses.append(hypothesis)
                    strata.append(column.stratum)
        mine, path = np.array(places, dtype=np.intp), []
        for coef, offset in result.path[: result.best_round + 1]:
            own = np.atleast_1d(offset)[number if np.ndim(offset) else 0]
            path.append((coef[mine[mine < len(coef)]], float(own)))
        sizes: dict[str, float] = {}
        for stratum, coefficient in zip(strata, path[-1][0].tolist(), strict=False):
            sizes[stratum] = sizes.get(stratum, 0.0) + abs(coefficient)
        whole = cls(hypotheses, np.array(strata, dtype=str), path, sizes)
        kinds = {type(h): h for h in hypotheses}.values()  # to ask each takes long
        return whole._resolved() if any(hasattr(h, "terms") for h in kinds) else whole

    def _resolved(self) -> FittedOutput:
        """The same output, with the basis functions of combinations instead of these."""
        number: dict[int, int] = {}
        functions: list[Any] = []
        strata: list[str] = []
        owner: list[int] = []
        place: list[int] = []
        weight: list[float] = []
        ends = [0]
        used = np.zeros(len(self.hypotheses), dtype=bool)
        for coef, _ in self.path:
            used[: len(coef)] |= coef != 0
        for j, (hypothesis, stratum) in enumerate(zip(self.hypotheses, self.strata, strict=True)):
            terms: Sequence[Any] = [hypothesis]
            names: Sequence[str]
            weights, names = np.ones(1), [str(stratum)]
            if isinstance(hypothesis, Combination):
                terms, weights, names = hypothesis.terms() if used[j] else ([], np.zeros(0), [])
            for term, name in zip(terms, names, strict=True):
                if (own := number.setdefault(id(term), len(functions))) == len(functions):
                    functions.append(term)
                    strata.append(name)
                place.append(own)
            owner += [j] * len(terms)
            weight += weights.tolist()
            ends.append(len(functions))
        weight_of, owner_of, place_of = np.array(weight), np.array(owner, int), np.array(place, int)
        path = []
        for coef, intercept in self.path:
            mine = owner_of < len(coef)
            spread = weight_of[mine] * coef[owner_of[mine]]
            sums = np.bincount(place_of[mine], spread, minlength=ends[len(coef)])
            path.append((sums.astype(np.float64, copy=False), intercept))
        return FittedOutput(functions, np.array(strata, dtype=str), path, self.sizes)

    @property
    def coef(self) -> Vector:
        """Coefficients of the model, shape (n_hypotheses,)."""
        return self.path[-1][0]

    @property
    def intercept(self) -> float:
        """Offset of the model."""
        return self.path[-1][1]

    def leaning(self, offset: float) -> FittedOutput:
        """The output, with this offset where it is 0 for all rows."""
        return self if self.coef.any() or self.intercept != 0.0 else self.at(offset)

    def at(self, offset: float) -> FittedOutput:
        """The output, with this offset in its last round."""
        return replace(self, path=[*self.path[:-1], (self.coef, offset)])

    @property
    def rounds(self) -> NDArray[np.intp]:
        """The first round whose master has each basis function, shape (n_hypotheses,).

        The round before has found it; 0: it was there from the start.
        """
        sizes = [len(earlier) for earlier, _ in self.path]
        return np.searchsorted(sizes, np.arange(len(self.hypotheses)), side="right")

    @property
    def active(self) -> list[Any]:
        """The basis functions with a nonzero coefficient."""
        return [self.hypotheses[j] for j in np.flatnonzero(self.coef)]

    @property
    def active_numbers(self) -> Table:
        """Coefficient and round of these."""
        active = np.flatnonzero(self.coef)
        return {"coefficient": self.coef[active], "round": self.rounds[active]}

    def values(self, X: Any) -> Vector:
        """The output on the rows of X, shape (n_rows,)."""
        return self.intercept + weighted_sum(self.hypotheses, self.coef, X)

    def staged_values(self, X: Any) -> Vector:
        """The output after every round up to the best one, shape (n_stages, n_rows)."""
        stages = np.zeros((len(self.hypotheses), len(self.path)))
        for stage, (coef, _) in enumerate(self.path):
            stages[: len(coef), stage] = coef
        values = np.empty((len(self.path), X.shape[0]))
        values[:] = np.array([intercept for _, intercept in self.path])[:, None]
        step = max(1, PREDICTION_BLOCK // max(1, len(self.hypotheses)))
        for start in range(0, X.shape[0], step):
            block = slice(start, start + step)
            values[:, block] += (evaluate(self.hypotheses, X[block]) @ stages).T
        return values


@dataclass(frozen=True)
class FittedRun:
    """One finished run of the loop: the outputs it made and what is known of them.

    Attributes
    ----------
    objective, bound, gap : float
        At the best round; ``bound`` is −inf where nothing was certified.
    stop_reason, message : StopReason, str
        Why the loop stopped, and the same in words.
    history : dict of str to ndarray
        One entry per round, also those after the best one.
    level : float
        What the loss chose itself, ε or −ρ; nan where it chooses nothing.
    beaten : bool
        Whether a constant makes fewer errors on the training rows, where these are of two classes.
    """

    outputs: list[FittedOutput]
    objective: float
    bound: float
    gap: float
    stop_reason: StopReason
    message: str
    best_round: int
    history: Table
    level: float
    beaten: bool = False

    @classmethod
    def of(
        cls,
        result: Result,
        master: Any,
        n_outputs: int,
        level: Callable[[Vector], float] | None,
    ) -> FittedRun:
        """Keep the basis functions and numbers of a result, not its columns.

        Parameters
        ----------
        result : Result
        master : Master
        n_outputs : int
            Outputs of the model that the run has made.
        level : callable or None
            What the loss has chosen itself for an output on the master's rows.
        """
        return cls(
            outputs=[FittedOutput.of(result, number) for number in range(n_outputs)],
            objective=result.objective,
            # rounding may leave a bound above an objective that it equals
            bound=-np.inf if result.bound is None else min(result.bound, result.objective),
            gap=result.gap,
            stop_reason=result.stop_reason,
            message=result.message,
            best_round=result.best_round,
            history=result.history,
            level=np.nan if level is None else level(result.output),
            beaten=_beaten(master, result),
        )

    @property
    def is_trivial(self) -> bool:
        """Whether no column is in the model."""
        return not any(output.coef.any() for output in self.outputs)


def _beaten(master: Any, result: Result) -> bool:
    """Whether a constant makes fewer errors, at the rows' costs, than a model of two classes.

    Targets that are all 1 are no labels: those of one class, or of pairs of a row and a class.
    """
    loss = getattr(master, "loss", None)
    if not isinstance(loss, SupportVectorLoss) or isinstance(result.intercept, np.ndarray):
        return False
    if not (np.abs(loss.target) == 1.0).all() or (loss.target == loss.target[0]).all():
        return False
    costs = loss.upper - loss.lower
    if loss.curvature is not None:  # a box without ends has its cost there
        costs = np.where(np.isfinite(costs), costs, 1.0 / np.maximum(loss.curvature, SMALLEST))
    wrong = float(costs @ (result.output * loss.target <= 0))
    positive = float(costs @ (loss.target > 0))
    least = min(positive, float(costs.sum()) - positive)
    return wrong > least * (1.0 + RESIDUE)


def with_names(table: Table, model: Any) -> Table:
    """A table of columns that are features, with their names where the rows of a fit had some."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or "feature" not in table:
        return table
    places = table["feature"]
    known = np.asarray(names).astype(str)[np.maximum(places, 0)]
    return table | {"name": np.where(places >= 0, known, "")}  # a constant is no feature


def stacked(tables: Sequence[Table], labels: NDArray[Any] | None, kind: str = "class") -> Table:
    """Tables below each other; ``labels``, one a table, become a column of the name ``kind``."""
    sizes = [len(next(iter(table.values()))) for table in tables]
    parts = list(zip(tables, sizes, strict=True))  # one that was interrupted may lack a score
    together = dict(tables[0])
    if len(tables) > 1:
        together = {
            name: np.concatenate([table.get(name, np.full(size, np.nan)) for table, size in parts])
            for name in tables[0]
        }
    if labels is not None:
        together[kind] = np.repeat(labels[: len(tables)], sizes)
    return together


@contextmanager
def unchanged_on_failure(estimator: BaseEstimator) -> Iterator[None]:
    """Give an estimator its attributes back if anything goes wrong inside."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
