"""scikit-learn estimators: each only assembles a master and a pricer and runs the common loop."""

from cgboost.estimators.any_boost import AnyBoostClassifier, AnyBoostRegressor
from cgboost.estimators.classifier import CGBoostClassifier
from cgboost.estimators.lp_boost import LPBoostClassifier, LPBoostRegressor
from cgboost.estimators.outlier_detector import CGBoostOutlierDetector
from cgboost.estimators.regressor import CGBoostRegressor

__all__ = [
    "AnyBoostClassifier",
    "AnyBoostRegressor",
    "CGBoostClassifier",
    "CGBoostOutlierDetector",
    "CGBoostRegressor",
    "LPBoostClassifier",
    "LPBoostRegressor",
]
