"""Where the rows of a fit may be, other than in memory."""

from cgboost.additive.sql.source import SQLSource

__all__ = ["SQLSource"]
