"""Stages of an additive model as columns, greedy, without a certificate; and backfitting.

In backfitting as column generation a column is the change of one function of an additive model.
Hastie, Tibshirani, *Generalized Additive Models*, 1990; as Pednault, *Transform Regression and the
Kolmogorov Superposition Theorem*, SDM 2006, Table 2, has it: in round-robin fashion

    H_j = smooth of y − y₀ − Σ_{k≠j} h_k along x_j,      h_j ← H_j

The master takes a step of 1 along H_j − h_j. For smoothers that are projections this is block
coordinate descent of the squared error: it ends at the joint least-squares fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cgboost.additive.builder import StageBuilder
from cgboost.additive.places.place import OutputSums
from cgboost.additive.stage import Stage, StageOutput, Stages
from cgboost.additive.statistics.passes import Passes
from cgboost.additive.trees.smoothers import AdditiveFunction, Smoother
from cgboost.arrays import Matrix, Vector
from cgboost.generation.columns import Column, Term
from cgboost.generation.history import Round, StopReason
from cgboost.generation.protocols import MasterState, Priced
from cgboost.losses.loss import DifferentiableLoss


class StagePricer:
    """Fits an additive model to each pseudo-response of all rows, held out ones included.

    The models of several outputs are all of the same f. Where not all features may meet, a model
    comes as several stages, whose sum it is.

    Parameters
    ----------
    outputs : sequence of OutputSums
        Of the rows, where the master's f is.
    """

    def __init__(self, builder: StageBuilder, outputs: Sequence[OutputSums]) -> None:
        self.builder, self.outputs = builder, outputs
        self.families = [Stages() for _ in outputs]

    def memory(self) -> list[Stages]:
        """The stages of every output so far."""
        return self.families

    def recall(self, memory: list[Stages]) -> None:
        """Go on from these stages, on the rows of this fit."""
        self.families = memory
        for sums, family in zip(self.outputs, memory, strict=True):
            for stage in family.stages:
                sums.append(stage)

    def price(self, state: MasterState, limit: int) -> Priced:
        """The stages of a round, output by output; none where they would all be constant.

        They may use earlier columns.
        """
        columns: list[Column] = []
        n_evaluated = 0
        for k, (sums, family) in enumerate(zip(self.outputs, self.families, strict=True)):
            count = sum(column.output == k for column in state.columns)
            del family.stages[count:]
            sums.drop(count)
            if limit:
                stages, n_inputs = self.builder.stages(sums, family.stages)
                columns += self._appended(k, stages)
                n_evaluated += n_inputs
        return Priced(tuple(columns), n_evaluated=n_evaluated)

    def _appended(self, k: int, stages: Sequence[Stage]) -> Iterator[Column]:
        """The outputs of new stages as columns, up to the first that is constant."""
        sums, family = self.outputs[k], self.families[k]
        sizes = [sum(abs(weight) for weight, _ in stage.terms) for stage in stages]
        for number, (stage, size) in enumerate(zip(stages, sizes, strict=True), sums.n_outputs):
            if not stage.terms:
                break
            sums.append(stage)
            family.stages.append(self.builder.bounded(stage, sums.extremes[number]))
            function = StageOutput(family, number, size / sum(sizes))
            yield Column(sums.values(number), ("stage", k, number), function, output=k)


NOTHING = AdditiveFunction()
"""The function before it has been smoothed."""


class FunctionChanges:
    """Changes of functions of single features, as a family of hypotheses."""

    def outputs(self, X: Matrix, hypotheses: Sequence[FunctionChange]) -> Vector:
        """Values of the changes, shape (n_rows, n_hypotheses)."""
        columns = [h.new(X[:, h.feature]) - h.old(X[:, h.feature]) for h in hypotheses]
        return np.column_stack(columns)

    @staticmethod
    def weighted_sum(X: Matrix, terms: Sequence[Term]) -> Vector:
        """Σ coef·change; of changes that follow each other only the last function is evaluated."""
        shares: dict[AdditiveFunction, tuple[int, float]] = {}
        for _, hypotheses, coef in terms:
            for change, weight in zip(hypotheses, coef.tolist(), strict=True):
                for function, share in ((change.new, weight), (change.old, -weight)):
                    before = shares.get(function, (change.feature, 0.0))[1]
                    shares[function] = (change.feature, before + share)
        total = np.zeros(len(X))
        for function, (feature, share) in shares.items():
            if share != 0.0 and function is not NOTHING:
                total += share * function(X[:, feature])
        return total


@dataclass(frozen=True, eq=False)
class FunctionChange:
    """H_j − h_j as a hypothesis.

    Attributes
    ----------
    turn : int
        The round in which it was found: 1, 2, …
    """

    family: FunctionChanges
    feature: int
    new: AdditiveFunction
    old: AdditiveFunction
    turn: int


class BackfittingPricer:
    """Smooths one feature after another against what the others leave over.

    Functions have mean 0 over the training rows.

    Parameters
    ----------
    passes : Passes
        Rows of the fit, and which are held out.
    loss : SquaredError
        On all rows with weight 1; the master's has weight 0 on holdout rows.
    tol : float
        Changes are appreciable whose root mean square over the training rows is larger than this,
        relative to that of the response about its mean.
    """

    def __init__(
        self,
        smoother: Smoother,
        passes: Passes,
        loss: DifferentiableLoss,
        n_features: int,
        *,
        tol: float,
    ) -> None:
        self.smoother, self.passes, self.loss = smoother, passes, loss
        self.n_features, self.tol = n_features, tol
        self.turn = 0
        self._next, self._family = 0, FunctionChanges()
        weights = np.where(passes.held, 0.0, passes.weights)
        self._weights = weights / weights.sum()
        self._scale = self._size(loss.target - self._weights @ loss.target)

    def memory(self) -> tuple[int, int, FunctionChanges]:
        """Turn and feature that come next, and the family of the changes."""
        return self.turn, self._next, self._family

    def recall(self, memory: tuple[int, int, FunctionChanges]) -> None:
        """Go on with the same turn."""
        self.turn, self._next, self._family = memory

    def price(self, state: MasterState, limit: int) -> Priced:
        """The next change that is appreciable; none where no function changes any more."""
        if limit == 0:
            return Priced(columns=())
        residual = self.loss.pseudo_response(state.output)
        for tried in range(1, self.n_features + 1):
            feature = self._next
            self._next = (feature + 1) % self.n_features
            self.turn += feature == 0
            change, values = self._change(feature, residual, state.columns)
            if self._size(values) > self.tol * self._scale:
                key = ("change", self.turn, feature)
                return Priced([Column(values, key, change)], n_evaluated=tried)
        return Priced(columns=(), n_evaluated=self.n_features)

    def _change(
        self, feature: int, residual: Vector, columns: Sequence[Column]
    ) -> tuple[FunctionChange, Vector]:
        """The change of a function, and its values on all rows."""
        old, present = NOTHING, np.zeros(len(residual))
        for column in columns:
            if (
                isinstance(column.hypothesis, FunctionChange)
                and column.hypothesis.feature == feature
            ):
                old = column.hypothesis.new
                present += column.values
        term = self.smoother.smooth(feature, residual + present)
        new = AdditiveFunction(None if term.is_constant else term)
        values = self.passes.values(lambda block: new(block.X[:, feature]))
        level = float(self._weights @ values)
        new, values = new.shifted(-level), values - level
        return FunctionChange(self._family, feature, new, old, self.turn), values - present

    def _size(self, values: Vector) -> float:
        return float(np.sqrt(self._weights @ values**2))


class MostTurns:
    """A callback that ends a run after so many rounds of all features."""

    stop_reason = StopReason.MAX_ROUNDS

    def __init__(self, pricer: BackfittingPricer, most: int) -> None:
        self.pricer, self.most = pricer, most

    def __call__(self, turn: Round) -> bool:
        """Whether the next change would belong to a round too many."""
        return self.pricer.turn > self.most
