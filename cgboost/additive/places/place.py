"""Where the rows of a fit are: what stages and masters ask of them, and nothing but sums.

A place has the rows, prepared: groups of every feature, which rows are held out. For every output
of a model it has the aggregates of that output: its response, the outputs of its stages, and sums.
Inputs are numbered: the features first, then the outputs of stages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from cgboost.additive.stage import Stage
from cgboost.additive.statistics.passes import SplitMoments
from cgboost.additive.trees.transformation import Transformation
from cgboost.arrays import Vector
from cgboost.losses.loss import Loss
from cgboost.losses.second_order_model import LossSums, Ranges
from cgboost.tables.binning import FeatureGroups


class OutputSums(Ranges, Protocol):
    """Sums over the rows, for one output of a model: its columns are the outputs of its stages.

    Attributes
    ----------
    groups : list of Intervals or Categories
        Of the features, and of the outputs of stages whose intervals were asked for.
    extremes : list of (float, float)
        The least and the largest value of every output, over the rows that count.
    """

    groups: list[FeatureGroups]
    n_features: int
    extremes: list[tuple[float, float]]

    @property
    def n_outputs(self) -> int:
        """Outputs of stages that are there."""
        ...

    def by_group(self, inputs: Sequence[int], n_regressors: int) -> dict[int, SplitMoments]:
        """Statistics of (x, regressors, response) in each group of each input.

        Parameters
        ----------
        inputs : sequence of int
            Numbers of features and of outputs.
        n_regressors : int
            So many of the first outputs are regressors.

        Returns
        -------
        dict of int to Parts
            For each input; x is ``groups[input].regressor`` of its values. Rounding errors are
            still in it.
        """
        ...

    def of_terms(
        self, terms: Sequence[Transformation], n_regressors: int, near_means: Vector
    ) -> SplitMoments:
        """Statistics of (terms, response).

        Parameters
        ----------
        n_regressors : int
            So many of the first outputs may be used by their leaves.
        near_means : ndarray of shape (n_terms + 1,)
            Near the means of the terms and the response: sums may be taken about it.
        """
        ...

    def linking(self, stage: Stage, max_bins: int) -> tuple[FeatureGroups, SplitMoments]:
        """Intervals of the sum of a stage, and statistics of (sum, response) in each of them."""
        ...

    def append(self, stage: Stage) -> None:
        """Take the output of a stage."""
        ...

    def intervals(self, number: int, max_bins: int) -> None:
        """Make intervals of the output of a stage, and append them to ``groups``."""
        ...

    def drop(self, count: int) -> None:
        """Forget all outputs but the first ``count``."""
        ...

    def values(self, number: int) -> Vector:
        """The output of a stage on all rows where they are at hand; elsewhere of shape (0,)."""
        ...


class Aggregates(LossSums, Protocol):
    """Sums over the rows, for all outputs of a model."""

    @property
    def parts(self) -> Sequence[OutputSums]:
        """Of each output, for its stages: its response is −∂ℓ/∂f_k."""
        ...


class Place(Protocol):
    """The rows of a fit."""

    has_holdout: bool

    def aggregates(self, loss: Loss, target: Any) -> Aggregates:
        """Sums for a model with as many outputs as the loss has.

        Parameters
        ----------
        target : ndarray of shape (n_rows,), or what stands for it where the rows are elsewhere
        """
        ...

    def close(self) -> None:
        """Leave nothing of the fit behind."""
        ...
