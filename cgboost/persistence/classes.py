"""The classes and functions that a stored file may name, and no others.

A name is that of a module and what it defines there, ``"cgboost.kernels.numeric.rbf:RBF"``. Only
modules that are files of cgboost or solvers are imported for it, and only classes defined there are
found. Rooms whose objects start processes, read pickles or write files are left out.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import re
import types
from pathlib import Path
from typing import Any

import numpy as np

from cgboost.exceptions import UnknownContentError

TOPS = ("cgboost", "solvers")
OWN_SOLVERS = "cgboost._solvers"
SHUT = (
    "cgboost.parallel",
    "cgboost.studies",
    "cgboost.inspection",
    "cgboost.persistence",
    "cgboost.integer.parallel_nodes",
    "cgboost.additive.sql",
    "cgboost._solvers",
)
"""Modules, and all below them, that no file may name."""
OPEN = frozenset({"cgboost.persistence.checkpoint"})
"""But for these: a model may hold a callback that writes, which loading does not call."""
MOVED = {
    "additive.tables": "tables",
    "estimators.constrained.rules.base": "estimators.constrained.constraints.constraint",
    "estimators.common.base": "estimators.common.base_ensemble",
    "estimators.common.bases": "estimators.common.sklearn_bases",
    "estimators.common.rows": "estimators.common.training_rows",
    "estimators.constrained.columns": "estimators.constrained.obeying_columns",
    "estimators.constrained.rules": "estimators.constrained.constraints",
    "estimators.kernel.whole_kernels": "estimators.kernel.multiple_kernel_learning",
    "estimators.rules.columns": "estimators.rules.rule_columns",
    "estimators.thinning.rows": "estimators.thinning.ensemble_inputs",
    "estimators.transform.base": "estimators.transform.base_transform",
    "estimators.transform.constraints": "estimators.transform.constraint_parameters",
    "masters.constrained.master": "masters.constrained.constrained_master",
    "masters.convex.master": "masters.convex.convex_master",
    "masters.linear.master": "masters.linear.linear_master",
    "masters.quantiles.master": "masters.quantiles.noncrossing_master",
    "masters.rkhs.master": "masters.rkhs.rkhs_master",
    "masters.rkhs.whole_kernels": "masters.rkhs.group_norm_master",
    "masters.stagewise.shared": "masters.stagewise.shared_master",
    "masters.support_vector.master": "masters.support_vector.support_vector_master",
    "optimizers.whole_kernels.whole_kernel_problems": "optimizers.rkhs.group_norm_problems",
    "pricing.centres.features": "pricing.centres.features_read",
    "pricing.centres.pricer": "pricing.centres.free_centre_pricer",
    "pricing.features.features": "pricing.univariate.feature_pricer",
    "pricing.kernels.pricer": "pricing.kernels.kernel_pricer",
    "pricing.kernels.shared": "pricing.kernels.shared_products",
    "pricing.latent.pricer": "pricing.latent.latent_factor_pricer",
    "pricing.latent.shared": "pricing.latent.shared_factors",
    "pricing.learners.joint": "pricing.learners.joint_pricer",
    "pricing.rkhs.pricer": "pricing.rkhs.rkhs_pricer",
    "pricing.rkhs.whole_kernels": "pricing.rkhs.whole_kernel_pricer",
    "pricing.rules.pricer": "pricing.rules.rule_pricer",
    "additive.constraints": "additive.feature_constraints",
    "kernels.base": "kernels.kernel",
    "kernels.columns": "kernels.on_columns",
    "kernels.features": "kernels.numeric",
    "kernels.rows": "kernels.sparse_rows",
    "kernels.whole": "kernels.kernel_space",
    "losses.base": "losses.loss",
    "optimizers.whole_kernels": "optimizers.rkhs",
    "penalties.base": "penalties.penalty",
    "pricing.features": "pricing.univariate",
    "tables.preparation": "tables.binning",
    "tables.rows": "tables.row_blocks",
    "estimators.common.fit_loop": "estimators.common.fitted_runs",
    "estimators.common.inputs": "estimators.common.input_checks",
    "tables.schema": "tables.table_encoding",
    "kernels.numeric.products": "kernels.numeric.inner_products",
    "kernels.checks": "kernels.checked_values",
    "pricing.kernels.extended": "pricing.kernels.extended_precision",
    "pricing.constrained.extended": "pricing.constrained.limit_rows",
    "losses.quadratic": "losses.second_order_model",
    "masters.constrained.convex": "masters.constrained.constrained_convex_master",
    "estimators.thinning.honest": "estimators.thinning.unseen_predictions",
    "pricing.rules.selection": "pricing.rules.budget_pricer",
    "integer.search": "integer.search_state",
    "estimators.common.subproblems": "estimators.common.plan",
}
"""Rooms and modules of cgboost in files of earlier versions, and what they are called today; one
after the other, a module before its room."""
RENAMED = {
    "cgboost.additive.places.workers:Partition": "RowPartition",
    "cgboost.additive.places.workers:Plan": "PartitionPlan",
    "cgboost.additive.stage:Outputs": "StageOutputs",
    "cgboost.additive.statistics.passes:Parts": "SplitMoments",
    "cgboost.additive.statistics.products:SharedProducts": "SharedGroupProducts",
    "cgboost.additive.trees.boosted_rows:Working": "WorkingResponse",
    "cgboost.additive.trees.model_tree:Node": "ModelTreeNode",
    "cgboost.additive.trees.model_tree:Split": "ModelTreeSplit",
    "cgboost.additive.trees.model_tree_growth:Limits": "GrowthLimits",
    "cgboost.estimators.common.plan:Task": "Subproblem",
    "cgboost.estimators.common.training_rows:Rows": "TrainingRows",
    "cgboost.estimators.constrained.data:Groups": "Groupings",
    "cgboost.estimators.constrained.data:Row": "OutputLimit",
    "cgboost.estimators.constrained.data:Seen": "MeasuredModel",
    "cgboost.estimators.constrained.inputs:Inputs": "ConstraintInputs",
    "cgboost.estimators.constrained.problem:Problem": "ConstrainedProblem",
    "cgboost.estimators.linear.scaling:Scaling": "UnitScaling",
    "cgboost.estimators.rules.budget:Relaxation": "BudgetRelaxation",
    "cgboost.estimators.thinning.fitting:Columns": "MemberColumns",
    "cgboost.estimators.thinning.problem:Choice": "ProgramOptimum",
    "cgboost.estimators.thinning.problem:Problem": "ThinningProblem",
    "cgboost.estimators.thinning.refitted_leaves:Leaves": "NumberedLeaves",
    "cgboost.generation.termination:Limits": "RunLimits",
    "cgboost.integer.branching.strong_branching:Choice": "BranchCandidate",
    "cgboost.integer.pool:ColumnPool": "GlobalColumnPool",
    "cgboost.masters.convex.bound:Cones": "ConeSizes",
    "cgboost.optimizers.active_set.quadratic_dual:Block": "WeightedSubmatrix",
    "cgboost.optimizers.cones.cone_scaling:Scaling": "NesterovToddScaling",
    "cgboost.optimizers.cones.cone_steps:Move": "ConeDirection",
    "cgboost.optimizers.cones.cone_steps:Newton": "NewtonEquations",
    "cgboost.optimizers.interior_point.interior_point_steps:Move": "InteriorDirection",
    "cgboost.optimizers.interior_point.interior_session:Block": "GatheredSubmatrix",
    "cgboost.optimizers.linear.restricted_primal:Rows": "MasterRows",
    "cgboost.optimizers.refits.refits:Newton": "NewtonRefit",
    "cgboost.optimizers.simplex.vertex:Step": "StepOutcome",
    "cgboost.pricing.additive:Change": "FunctionChange",
    "cgboost.pricing.additive:Changes": "FunctionChanges",
    "cgboost.pricing.blockwise:Query": "PricingQuery",
    "cgboost.pricing.kernels.partition:Partition": "CentrePartition",
    "cgboost.pricing.kernels.partition:Step": "ScoreUpdate",
    "cgboost.pricing.kernels.scores:Change": "ResponseChange",
    "cgboost.pricing.kernels.shared_products:SharedProducts": "SharedKernelProducts",
    "cgboost.pricing.latent.factors:Basis": "FactorBasis",
    "cgboost.pricing.latent.factors:Columns": "GrowingMatrix",
    "cgboost.pricing.latent.latent_factor_pricer:KernelSearch": "KernelFactorSearch",
    "cgboost.pricing.latent.latent_factor_pricer:KernelSpace": "KernelFactorSpace",
    "cgboost.pricing.latent.latent_factor_pricer:LinearSearch": "LinearFactorSearch",
    "cgboost.pricing.latent.latent_factor_pricer:LinearSpace": "LinearFactorSpace",
    "cgboost.pricing.learners.feed_forward:Inputs": "FeedForwardFeatures",
    "cgboost.pricing.learners.joint_pricer:Outputs": "OutputRowPairs",
    "cgboost.pricing.learners.trees:Leaves": "LeafAssignment",
    "cgboost.pricing.rules.branching:Candidates": "BestConjunctions",
    "cgboost.pricing.scans.candidates:Held": "HeldColumns",
    "cgboost.pricing.univariate.lines:Lines": "FittedLines",
    "cgboost.pricing.univariate.matrices:BlockMatrix": "BlockFeatures",
    "cgboost.pricing.univariate.matrices:DenseMatrix": "DenseFeatures",
    "cgboost.pricing.univariate.matrices:SparseMatrix": "SparseFeatures",
    "cgboost.tables.holdout_choice:Choice": "HoldoutChoice",
    "cgboost.tables.row_blocks:Block": "RowBlock",
    "cgboost.tables.table_columns:Column": "TableColumn",
}
"""Classes in such files, each in its module of today, and their names of today."""
FUNCTIONS = frozenset({"cgboost.masters.linear.linear_master:_remade"})
"""Functions of ours that objects are made with, or that they hold."""
PLAIN = (
    "bool",
    "int",
    "float",
    "complex",
    "str",
    "bytes",
    "list",
    "tuple",
    "dict",
    "set",
    "object",
)
PLAIN_TYPES = {f"builtins:{name}": getattr(builtins, name) for name in PLAIN}
PLAIN_TYPES |= {f"numpy:{own.__name__}": own for own in set(np.sctypeDict.values())}
NAMES = {own: name for name, own in PLAIN_TYPES.items()}
LIBRARY_FUNCTIONS = ("sklearn.metrics.pairwise", "sklearn.metrics")
"""Modules whose public functions may be named, by these names of the modules."""


@functools.cache
def our_modules() -> frozenset[str]:
    """All modules that files of a model may name."""
    found = set()
    for top in TOPS:
        folder = Path(str(_module(top).__file__)).parent
        for path in folder.rglob("*.py"):
            parts = (top, *path.relative_to(folder).with_suffix("").parts)
            found.add(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return frozenset(name for name in found if not is_shut(name))


def is_shut(module: str) -> bool:
    """Whether no file may name what is in a module."""
    own = any(module == name or module.startswith(f"{name}.") for name in SHUT)
    return own and module not in OPEN


def name_of(what: Any) -> str:
    """The name of a class or function, by which it is found again."""
    module = str(what.__module__)
    if module.startswith(OWN_SOLVERS):  # where a user has a module called solvers
        module = "solvers" + module.removeprefix(OWN_SOLVERS)
    return f"{module}:{what.__qualname__}"


def _module(name: str) -> types.ModuleType:
    """A module of ours by its name in files."""
    top, dot, rest = name.partition(".")
    if top == "solvers":
        top = importlib.import_module(OWN_SOLVERS).__name__
    return importlib.import_module(f"{top}{dot}{rest}")


def name_today(name: str) -> str:
    """The name of today of a class or function in a file."""
    for old, new in MOVED.items():
        name = re.sub(rf"^cgboost\.{re.escape(old)}\b", f"cgboost.{new}", name)
    module, colon, path = name.partition(":")
    kind, dot, rest = path.partition(".")
    return module + colon + RENAMED.get(f"{module}:{kind}", kind) + dot + rest


def is_ours(kind: type) -> bool:
    """Whether a class is one that files may name."""
    name = name_of(kind)
    return name.partition(":")[0] in our_modules() and _found(name) is kind


def known_class(name: Any) -> type:
    """One of our classes, by its name.

    Raises
    ------
    UnknownContentError
        For all other names, without importing anything for them.
    """
    found = _found(name_today(name)) if isinstance(name, str) else None
    if not isinstance(found, type):
        raise UnknownContentError(
            f"the file names the class {name!r:.120}, which is none of cgboost's: it was changed, "
            "or written by another version. Nothing of it was run"
        )
    return found


def _found(name: str) -> Any:
    """What stands there under that name, and says of itself that it does."""
    module, _, path = name.partition(":")
    if module not in our_modules() or not path or "<" in path:
        return None
    found: Any = _module(module)
    for part in path.split("."):
        found = vars(found).get(part) if isinstance(found, (type, types.ModuleType)) else None
    named = isinstance(found, (type, types.FunctionType)) and name_of(found) == name
    return found if named else None


def plain_type_name(kind: type) -> str | None:
    """The name of a type of Python or NumPy that may be stored, such as ``numpy:float32``."""
    return NAMES.get(kind)


def function_name(function: Any) -> str | None:
    """The name of a function that may be named; None for those of users."""
    if isinstance(function, np.ufunc):
        return f"numpy:{function.__name__}" if _ufunc(function.__name__) is function else None
    if not isinstance(function, types.FunctionType):
        return None
    name = name_of(function)
    if name in FUNCTIONS and _found(name) is function:
        return name
    if function.__module__.startswith("sklearn.metrics."):
        for module in LIBRARY_FUNCTIONS:
            if _public(module, function.__name__) is function:
                return f"{module}:{function.__name__}"
    return None


def known_function(name: Any) -> Any:
    """A function by the name that :func:`function_name` gave it.

    Raises
    ------
    UnknownContentError
        For all other names.
    """
    found = None
    if isinstance(name, str):
        name = name_today(name)
        module, _, own = name.partition(":")
        if module == "numpy":
            found = _ufunc(own)
        elif module in LIBRARY_FUNCTIONS:
            found = _public(module, own)
        elif name in FUNCTIONS:
            found = _found(name)
    if found is None:
        raise UnknownContentError(
            f"the file names the function {name!r:.120}, which no file may call: it was changed, "
            "or written by another version. Nothing of it was run"
        )
    return found


def _ufunc(name: str) -> Any:
    found = vars(np).get(name)
    return found if isinstance(found, np.ufunc) else None


def _public(module: str, name: str) -> Any:
    room = importlib.import_module(module)
    found = vars(room).get(name)
    own = isinstance(found, types.FunctionType) and found.__module__.startswith("sklearn.metrics")
    return found if own and (module != "sklearn.metrics" or name in room.__all__) else None
