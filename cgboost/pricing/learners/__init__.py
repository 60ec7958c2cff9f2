"""Columns from weak learners: a fit to the pseudo-response stands for the search."""

from cgboost.pricing.learners.learners import LearnerPricer, newton_response, residuals

__all__ = ["LearnerPricer", "newton_response", "residuals"]
