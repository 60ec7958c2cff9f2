"""Kernels over objects: functions of two objects, strings, sets and graphs."""

from cgboost.kernels.objects.counts import CountKernel, FeatureCounts
from cgboost.kernels.objects.graphs import WeisfeilerLehman
from cgboost.kernels.objects.pairwise import PairwiseKernel
from cgboost.kernels.objects.sets import Jaccard, Tanimoto
from cgboost.kernels.objects.strings import Spectrum

__all__ = [
    "PairwiseKernel",
    "Spectrum",
    "Jaccard",
    "Tanimoto",
    "WeisfeilerLehman",
    "CountKernel",
    "FeatureCounts",
]
