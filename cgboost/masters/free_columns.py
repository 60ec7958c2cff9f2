"""Columns without a price, as masters take them (:mod:`cgboost.optimizers.free_columns`)."""

from cgboost.optimizers.free_columns import FreeColumns as FreeColumns
from cgboost.optimizers.free_columns import MatrixColumns as MatrixColumns
