"""Where the rows of a fit may be, other than in memory, and dates as features."""

from cgboost.additive.places.partitions import Partitions
from cgboost.additive.sql.dates import date_features_query
from cgboost.additive.sql.source import SQLSource
from cgboost.tables.date_features import DateFeatures

__all__ = ["DateFeatures", "Partitions", "SQLSource", "date_features_query"]
