from .boosting.ada_boost import AdaBoostClassifier as AdaBoostClassifier
from .boosting.any_boost import AnyBoostClassifier as AnyBoostClassifier
from .boosting.any_boost import AnyBoostRegressor as AnyBoostRegressor
from .boosting.any_boost import StagewiseRegressor as StagewiseRegressor
from .boosting.componentwise import L2BoostRegressor as L2BoostRegressor
from .boosting.componentwise import OrthogonalGreedyRegressor as OrthogonalGreedyRegressor
from .boosting.gradient_boosting import GradientBoostingClassifier as GradientBoostingClassifier
from .boosting.gradient_boosting import GradientBoostingRegressor as GradientBoostingRegressor
from .boosting.logit_boost import LogitBoostClassifier as LogitBoostClassifier
from .constrained.constrained_boost import ConstrainedBoostClassifier as ConstrainedBoostClassifier
from .constrained.constrained_boost import ConstrainedBoostRegressor as ConstrainedBoostRegressor
from .kernel.cg_boost import CGBoostClassifier as CGBoostClassifier
from .kernel.cg_boost import CGBoostRegressor as CGBoostRegressor
from .kernel.outlier_detector import CGBoostOutlierDetector as CGBoostOutlierDetector
from .latent.blf import BLFClassifier as BLFClassifier
from .latent.blf import BLFRegressor as BLFRegressor
from .linear.multi_quantile import MultiQuantileRegressor as MultiQuantileRegressor
from .linear.sparse_linear import SparseLinearClassifier as SparseLinearClassifier
from .linear.sparse_linear import SparseLinearRegressor as SparseLinearRegressor
from .lpboost.lp_boost import LPBoostClassifier as LPBoostClassifier
from .lpboost.lp_boost import LPBoostRegressor as LPBoostRegressor
from .rules.rule_sets import RuleSetClassifier as RuleSetClassifier
from .rules.rule_sets import RuleSetRegressor as RuleSetRegressor
from .thinning.thinned_ensemble import ThinnedEnsemble as ThinnedEnsemble
from .transform.additive import AdditiveRegressor as AdditiveRegressor
from .transform.linear_tree import LinearTreeRegressor as LinearTreeRegressor
from .transform.linear_tree_boosting import (
    LinearTreeBoostingClassifier as LinearTreeBoostingClassifier,
)
from .transform.linear_tree_boosting import (
    LinearTreeBoostingRegressor as LinearTreeBoostingRegressor,
)
from .transform.transform import TransformClassifier as TransformClassifier
from .transform.transform import TransformRegressor as TransformRegressor
