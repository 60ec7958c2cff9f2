"""Masters are tested with the optimizers of large problems."""

from tests.optimizers.conftest import every_optimizer_by_itself as every_optimizer_by_itself
