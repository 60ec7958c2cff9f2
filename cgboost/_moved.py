"""Modules that have moved: their old names can still be imported, with a warning."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType

MOVED = {  # deprecated in 0.2, goes in 0.4
    "cgboost.callables": "cgboost.generation.function_pricer",
    "cgboost.cli": "cgboost.studies.cli",
    "cgboost.columns": "cgboost.generation.columns",
    "cgboost.criteria": "cgboost.inspection.model_selection",
    "cgboost.datasets": "cgboost.studies.datasets",
    "cgboost.executors": "cgboost.parallel",
    "cgboost.factor_pictures": "cgboost.inspection.model_pictures",
    "cgboost.failures": "cgboost.generation.termination",
    "cgboost.first_guess": "cgboost.estimators.kernel.kernel_columns",
    "cgboost.history": "cgboost.generation.history",
    "cgboost.importance": "cgboost.inspection.importance",
    "cgboost.kernels.matern": "cgboost.kernels.features.matern",
    "cgboost.kernels.products": "cgboost.kernels.features.products",
    "cgboost.kernels.rbf": "cgboost.kernels.features.rbf",
    "cgboost.latent": "cgboost.pricing.latent",
    "cgboost.masters.corrective": "cgboost.masters.stagewise.fully_corrective",
    "cgboost.metrics": "cgboost.inspection.metrics",
    "cgboost.monitoring": "cgboost.generation.callbacks",
    "cgboost.odd_even": "cgboost.studies.odd_even",
    "cgboost.protocols": "cgboost.generation.protocols",
    "cgboost.provenance": "cgboost.inspection.report.page",
    "cgboost.reduced_costs": "cgboost.generation.columns",
    "cgboost.report": "cgboost.inspection.report",
    "cgboost.reweight": "cgboost.estimators.lpboost.reweighting",
    "cgboost.smoothing": "cgboost.generation.stabilization",
    "cgboost.stages": "cgboost.inspection.learning_curves",
    "cgboost.stopping": "cgboost.generation.termination",
    "cgboost.threads": "cgboost.parallel.blas",
    "cgboost.transform_pictures": "cgboost.inspection.model_pictures",
}
"""Old name to new."""


class MovedModules(MetaPathFinder):
    """Finds the modules of ``MOVED`` by their old names, after all other finders."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The module under its new name."""
        new = MOVED.get(fullname)
        return None if new is None else spec_from_loader(fullname, _Alias(new))


class _Alias(Loader):
    def __init__(self, new: str) -> None:
        self.new = new
        self.own: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        from cgboost.exceptions import warn_caller

        warn_caller(
            f"{spec.name} is now called {self.new}; the old name goes in 0.4",
            FutureWarning,
        )
        module = import_module(self.new)
        self.own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.own  # the import has put that of the old name there


def keep_old_names() -> None:
    """Make the old names importable."""
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.append(MovedModules())
