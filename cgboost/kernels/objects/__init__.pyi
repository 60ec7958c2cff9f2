from .counts import CountKernel as CountKernel
from .counts import FeatureCounts as FeatureCounts
from .graphs import WeisfeilerLehman as WeisfeilerLehman
from .pairwise import PairwiseKernel as PairwiseKernel
from .sets import Jaccard as Jaccard
from .sets import Tanimoto as Tanimoto
from .strings import Spectrum as Spectrum
