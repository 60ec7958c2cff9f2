"""Losses: what the model pays for its output, and the pseudo-response that follows."""

from cgboost.losses.absolute_error import AbsoluteError
from cgboost.losses.base import Loss, WeightedLoss
from cgboost.losses.dual.entropic import EntropicLoss, entropic_nu_hinge
from cgboost.losses.dual.support_vector import Mass, SupportVectorLoss, one_class
from cgboost.losses.epsilon_insensitive import (
    EpsilonInsensitive,
    SquaredEpsilonInsensitive,
    epsilon_insensitive,
    nu_insensitive,
)
from cgboost.losses.exponential import Exponential
from cgboost.losses.hinge import Hinge, hinge, negative_margin, nu_hinge
from cgboost.losses.huber import Huber
from cgboost.losses.log_loss import LogLoss
from cgboost.losses.multinomial import Multinomial
from cgboost.losses.poisson import Poisson
from cgboost.losses.quantile import Quantile
from cgboost.losses.registry import get_loss
from cgboost.losses.squared_error import SquaredError, margin_distribution
from cgboost.losses.squared_hinge import SquaredHinge

__all__ = [
    "AbsoluteError",
    "EntropicLoss",
    "EpsilonInsensitive",
    "Exponential",
    "Hinge",
    "Huber",
    "LogLoss",
    "Loss",
    "Mass",
    "Multinomial",
    "Poisson",
    "Quantile",
    "SquaredEpsilonInsensitive",
    "SquaredError",
    "SquaredHinge",
    "SupportVectorLoss",
    "WeightedLoss",
    "entropic_nu_hinge",
    "epsilon_insensitive",
    "get_loss",
    "hinge",
    "margin_distribution",
    "negative_margin",
    "nu_hinge",
    "nu_insensitive",
    "one_class",
]
