from .convex import ConstrainedConvexMaster as ConstrainedConvexMaster
from .convex import ConvexConstraints as ConvexConstraints
from .master import ConstrainedMaster as ConstrainedMaster
