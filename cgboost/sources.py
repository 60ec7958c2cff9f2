"""Where the rows of a fit may be, other than in memory."""

from cgboost.additive.places.partitions import Partitions
from cgboost.additive.sql.source import SQLSource

__all__ = ["Partitions", "SQLSource"]
