"""Losses: what the model pays for its output, and the pseudo-response that follows."""

from cgboost.losses.classification import (
    hinge,
    margin_distribution,
    negative_margin,
    nu_hinge,
)
from cgboost.losses.entropic import EntropicLoss, entropic_nu_hinge
from cgboost.losses.novelty import one_class
from cgboost.losses.regression import epsilon_insensitive, nu_insensitive
from cgboost.losses.support_vector import Mass, SupportVectorLoss

__all__ = [
    "EntropicLoss",
    "Mass",
    "SupportVectorLoss",
    "entropic_nu_hinge",
    "epsilon_insensitive",
    "hinge",
    "margin_distribution",
    "negative_margin",
    "nu_hinge",
    "nu_insensitive",
    "one_class",
]
