"""Sources of rows that a model is fitted to where they are.

from cgboost.parallel import DaskExecutor
from cgboost.sources import Partitions
TransformRegressor(executor=DaskExecutor(client)).fit(Partitions([...]))
"""

from __future__ import annotations

from cgboost.additive.places.partitions import Partitions

__all__ = ["Partitions"]
