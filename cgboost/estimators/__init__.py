"""scikit-learn estimators: each only assembles a master and a pricer and runs the common loop."""

from cgboost.estimators.boosting.ada_boost import AdaBoostClassifier
from cgboost.estimators.boosting.any_boost import (
    AnyBoostClassifier,
    AnyBoostRegressor,
    StagewiseRegressor,
)
from cgboost.estimators.boosting.componentwise import (
    L2BoostRegressor,
    OrthogonalGreedyRegressor,
)
from cgboost.estimators.boosting.gradient_boosting import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from cgboost.estimators.boosting.logit_boost import LogitBoostClassifier
from cgboost.estimators.constrained.constrained_boost import (
    ConstrainedBoostClassifier,
    ConstrainedBoostRegressor,
)
from cgboost.estimators.kernel.cg_boost import CGBoostClassifier, CGBoostRegressor
from cgboost.estimators.kernel.outlier_detector import CGBoostOutlierDetector
from cgboost.estimators.latent.blf import BLFClassifier, BLFRegressor
from cgboost.estimators.linear.multi_quantile import MultiQuantileRegressor
from cgboost.estimators.linear.sparse_linear import SparseLinearClassifier, SparseLinearRegressor
from cgboost.estimators.lpboost.lp_boost import LPBoostClassifier, LPBoostRegressor
from cgboost.estimators.lpboost.reweighting import ReweightedEnsemble, reweight
from cgboost.estimators.rules.rule_sets import RuleSetClassifier, RuleSetRegressor
from cgboost.estimators.thinning.thinned_ensemble import ThinnedEnsemble
from cgboost.estimators.transform.additive import AdditiveRegressor
from cgboost.estimators.transform.linear_tree import LinearTreeRegressor
from cgboost.estimators.transform.linear_tree_boosting import (
    LinearTreeBoostingClassifier,
    LinearTreeBoostingRegressor,
)
from cgboost.estimators.transform.transform import TransformClassifier, TransformRegressor

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
    "ConstrainedBoostClassifier",
    "ConstrainedBoostRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "L2BoostRegressor",
    "LPBoostClassifier",
    "LPBoostRegressor",
    "LinearTreeBoostingClassifier",
    "LinearTreeBoostingRegressor",
    "LinearTreeRegressor",
    "LogitBoostClassifier",
    "MultiQuantileRegressor",
    "OrthogonalGreedyRegressor",
    "ReweightedEnsemble",
    "RuleSetClassifier",
    "RuleSetRegressor",
    "SparseLinearClassifier",
    "SparseLinearRegressor",
    "StagewiseRegressor",
    "ThinnedEnsemble",
    "TransformClassifier",
    "TransformRegressor",
    "reweight",
]
