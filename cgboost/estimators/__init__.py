"""scikit-learn estimators: each only assembles a master and a pricer and runs the common loop."""

from cgboost.estimators.ada_boost import AdaBoostClassifier
from cgboost.estimators.additive import AdditiveRegressor
from cgboost.estimators.any_boost import AnyBoostClassifier, AnyBoostRegressor
from cgboost.estimators.blf import BLFClassifier, BLFRegressor
from cgboost.estimators.classifier import CGBoostClassifier
from cgboost.estimators.gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from cgboost.estimators.l2_boost import L2BoostRegressor
from cgboost.estimators.linear_tree import LinearTreeRegressor
from cgboost.estimators.logit_boost import LogitBoostClassifier
from cgboost.estimators.lp_boost import LPBoostClassifier, LPBoostRegressor
from cgboost.estimators.orthogonal_greedy import OrthogonalGreedyRegressor
from cgboost.estimators.outlier_detector import CGBoostOutlierDetector
from cgboost.estimators.regressor import CGBoostRegressor
from cgboost.estimators.stagewise_regressor import StagewiseRegressor
from cgboost.estimators.transform import TransformClassifier, TransformRegressor

__all__ = [
    "AdaBoostClassifier",
    "AdditiveRegressor",
    "AnyBoostClassifier",
    "AnyBoostRegressor",
    "BLFClassifier",
    "BLFRegressor",
    "CGBoostClassifier",
    "CGBoostOutlierDetector",
    "CGBoostRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "L2BoostRegressor",
    "LPBoostClassifier",
    "LPBoostRegressor",
    "LinearTreeRegressor",
    "LogitBoostClassifier",
    "OrthogonalGreedyRegressor",
    "StagewiseRegressor",
    "TransformClassifier",
    "TransformRegressor",
]
