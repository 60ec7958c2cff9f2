"""Optimisation by column generation; boosting is its main job.

A restricted master gives duals, a pricer finds the column that helps most, until nothing prices
out and the duality gap certifies the answer.
"""

from cgboost._moved import keep_old_names
from cgboost._version import __version__ as __version__
from cgboost.estimators import (
    AdaBoostClassifier,
    AdditiveRegressor,
    AnyBoostClassifier,
    AnyBoostRegressor,
    BLFClassifier,
    BLFRegressor,
    CGBoostClassifier,
    CGBoostOutlierDetector,
    CGBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    L2BoostRegressor,
    LinearTreeRegressor,
    LogitBoostClassifier,
    LPBoostClassifier,
    LPBoostRegressor,
    OrthogonalGreedyRegressor,
    StagewiseRegressor,
    TransformClassifier,
    TransformRegressor,
)
from cgboost.generation import ColumnGeneration
from cgboost.kernels import (
    RBF,
    Chi2,
    Cosine,
    Jaccard,
    KernelLibrary,
    Laplacian,
    Linear,
    Matern,
    On,
    PairwiseKernel,
    Periodic,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Spectrum,
    Tanimoto,
    WeisfeilerLehman,
)

keep_old_names()

__all__ = [
    "Chi2",
    "Cosine",
    "Laplacian",
    "Periodic",
    "RationalQuadratic",
    "RBF",
    "AdaBoostClassifier",
    "AdditiveRegressor",
    "AnyBoostClassifier",
    "AnyBoostRegressor",
    "BLFClassifier",
    "BLFRegressor",
    "CGBoostClassifier",
    "CGBoostOutlierDetector",
    "CGBoostRegressor",
    "ColumnGeneration",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "Jaccard",
    "KernelLibrary",
    "L2BoostRegressor",
    "LPBoostClassifier",
    "LPBoostRegressor",
    "Linear",
    "LinearTreeRegressor",
    "LogitBoostClassifier",
    "Matern",
    "On",
    "OrthogonalGreedyRegressor",
    "PairwiseKernel",
    "Polynomial",
    "Precomputed",
    "Spectrum",
    "StagewiseRegressor",
    "Tanimoto",
    "TransformClassifier",
    "TransformRegressor",
    "WeisfeilerLehman",
]
