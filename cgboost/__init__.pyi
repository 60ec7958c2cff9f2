from . import constraints as constraints
from . import estimators as estimators
from . import exceptions as exceptions
from . import generation as generation
from . import inspection as inspection
from . import integer as integer
from . import kernels as kernels
from . import linear as linear
from . import losses as losses
from . import masters as masters
from . import parallel as parallel
from . import penalties as penalties
from . import persistence as persistence
from . import pricing as pricing
from . import sources as sources
from . import studies as studies
from .estimators.boosting.ada_boost import AdaBoostClassifier as AdaBoostClassifier
from .estimators.boosting.any_boost import AnyBoostClassifier as AnyBoostClassifier
from .estimators.boosting.any_boost import AnyBoostRegressor as AnyBoostRegressor
from .estimators.boosting.any_boost import StagewiseRegressor as StagewiseRegressor
from .estimators.boosting.componentwise import L2BoostRegressor as L2BoostRegressor
from .estimators.boosting.componentwise import (
    OrthogonalGreedyRegressor as OrthogonalGreedyRegressor,
)
from .estimators.boosting.gradient_boosting import (
    GradientBoostingClassifier as GradientBoostingClassifier,
)
from .estimators.boosting.gradient_boosting import (
    GradientBoostingRegressor as GradientBoostingRegressor,
)
from .estimators.boosting.logit_boost import LogitBoostClassifier as LogitBoostClassifier
from .estimators.constrained.constrained_boost import (
    ConstrainedBoostClassifier as ConstrainedBoostClassifier,
)
from .estimators.constrained.constrained_boost import (
    ConstrainedBoostRegressor as ConstrainedBoostRegressor,
)
from .estimators.kernel.cg_boost import CGBoostClassifier as CGBoostClassifier
from .estimators.kernel.cg_boost import CGBoostRegressor as CGBoostRegressor
from .estimators.kernel.compression import compress as compress
from .estimators.kernel.outlier_detector import CGBoostOutlierDetector as CGBoostOutlierDetector
from .estimators.latent.blf import BLFClassifier as BLFClassifier
from .estimators.latent.blf import BLFRegressor as BLFRegressor
from .estimators.linear.intervals import IntervalRegressor as IntervalRegressor
from .estimators.linear.multi_quantile import MultiQuantileRegressor as MultiQuantileRegressor
from .estimators.linear.sparse_linear import SparseLinearClassifier as SparseLinearClassifier
from .estimators.linear.sparse_linear import SparseLinearRegressor as SparseLinearRegressor
from .estimators.lpboost.lp_boost import LPBoostClassifier as LPBoostClassifier
from .estimators.lpboost.lp_boost import LPBoostRegressor as LPBoostRegressor
from .estimators.rules.rule_sets import RuleSetClassifier as RuleSetClassifier
from .estimators.rules.rule_sets import RuleSetRegressor as RuleSetRegressor
from .estimators.thinning.thinned_ensemble import ThinnedEnsemble as ThinnedEnsemble
from .estimators.transform.additive import AdditiveRegressor as AdditiveRegressor
from .estimators.transform.linear_tree import LinearTreeRegressor as LinearTreeRegressor
from .estimators.transform.linear_tree_boosting import (
    LinearTreeBoostingClassifier as LinearTreeBoostingClassifier,
)
from .estimators.transform.linear_tree_boosting import (
    LinearTreeBoostingRegressor as LinearTreeBoostingRegressor,
)
from .estimators.transform.transform import TransformClassifier as TransformClassifier
from .estimators.transform.transform import TransformRegressor as TransformRegressor
from .generation.loop import ColumnGeneration as ColumnGeneration
from .integer.branch_and_price import BranchAndPrice as BranchAndPrice
from .integer.decomposition.decomposition import decompose as decompose
from .kernels.combinations import Cosine as Cosine
from .kernels.library import KernelLibrary as KernelLibrary
from .kernels.numeric.differences import Chi2 as Chi2
from .kernels.numeric.differences import Laplacian as Laplacian
from .kernels.numeric.differences import Periodic as Periodic
from .kernels.numeric.distances import RBF as RBF
from .kernels.numeric.distances import Matern as Matern
from .kernels.numeric.distances import RationalQuadratic as RationalQuadratic
from .kernels.numeric.inner_products import Linear as Linear
from .kernels.numeric.inner_products import Polynomial as Polynomial
from .kernels.objects.counts import Jaccard as Jaccard
from .kernels.objects.counts import Spectrum as Spectrum
from .kernels.objects.counts import Tanimoto as Tanimoto
from .kernels.objects.counts import WeisfeilerLehman as WeisfeilerLehman
from .kernels.objects.pairwise import PairwiseKernel as PairwiseKernel
from .kernels.on_columns import On as On
from .kernels.precomputed import Precomputed as Precomputed
from .persistence.checkpoint import Checkpoint as Checkpoint
from .persistence.models import load as load
from .proofs.certificate import Certificate as Certificate
from .proofs.certificate import certify as certify
from .proofs.certificate import polish as polish
from .proofs.near_optimal import NearOptimal as NearOptimal
from .proofs.near_optimal import near_optimal as near_optimal

__version__: str
