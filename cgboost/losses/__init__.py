"""Losses: the cost of the model's output, and the resulting pseudo-response."""

from cgboost.losses import registry
from cgboost.losses.base import Loss, WeightedLoss
from cgboost.losses.dual.entropic import EntropicLoss, entropic_nu_hinge
from cgboost.losses.dual.support_vector import Mass, SupportVectorLoss, one_class
from cgboost.losses.epsilon_insensitive import epsilon_insensitive, nu_insensitive
from cgboost.losses.hinge import hinge, negative_margin, nu_hinge
from cgboost.losses.multinomial import Multinomial
from cgboost.losses.pairs import PairwiseExponential
from cgboost.losses.registry import *  # noqa: F403 (the classes in its __all__)
from cgboost.losses.squared_error import margin_distribution

__all__ = [
    "EntropicLoss",
    "Loss",
    "Mass",
    "Multinomial",
    "PairwiseExponential",
    "SupportVectorLoss",
    "WeightedLoss",
    "entropic_nu_hinge",
    "epsilon_insensitive",
    "hinge",
    "margin_distribution",
    "negative_margin",
    "nu_hinge",
    "nu_insensitive",
    "one_class",
]
__all__ += registry.__all__
