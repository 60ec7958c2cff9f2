"""Sparse linear models with the parameters of scikit-learn's: change the import, nothing else."""

from cgboost.estimators.linear.drop_ins import (
    L1LinearSVC,
    L1LinearSVR,
    LADRegressor,
    QuantileRegressor,
)

__all__ = ["L1LinearSVC", "L1LinearSVR", "LADRegressor", "QuantileRegressor"]
