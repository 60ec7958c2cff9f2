from .ranking import PairwiseExponential as PairwiseExponential
