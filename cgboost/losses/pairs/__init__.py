"""Losses of pairs of rows."""

from cgboost.losses.pairs.ranking import PairwiseExponential

__all__ = ["PairwiseExponential"]
