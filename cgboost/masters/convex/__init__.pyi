from .master import ConvexMaster as ConvexMaster
