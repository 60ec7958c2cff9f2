from .blocks import Structure as Structure
from .branch_and_cut import DecompositionError as DecompositionError
from .decomposition import Decomposition as Decomposition
from .decomposition import DecompositionResult as DecompositionResult
from .model import Model as Model
from .model_parts import ModelError as ModelError
from .pricing.block import BlockError as BlockError
from .structure_files import StructureError as StructureError
