from .master import SupportVectorMaster as SupportVectorMaster
from .master import WarmStart as WarmStart
