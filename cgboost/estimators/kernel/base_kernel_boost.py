"""What models of kernel columns share: how X is read, the library, the family of columns."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Matrix
from cgboost.estimators.common.certified import BoostOverCosts, Proven
from cgboost.estimators.common.fitted_runs import FittedRun
from cgboost.estimators.common.plan import Plan
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.estimators.kernel.kernel_columns import TO_THE_END, KernelColumns, Priority
from cgboost.estimators.kernel.kernel_input import read_new, read_training
from cgboost.estimators.kernel.kernel_parameters import HasKernels
from cgboost.exceptions import DataWarning, see, warn_caller
from cgboost.kernels import AnyLibrary, as_library
from cgboost.kernels.library import DEFAULT_LIBRARY, KernelLibrary, given
from cgboost.kernels.sparse_rows import is_sparse
from cgboost.penalties import RKHS, GroupNorm, Penalty, get_penalty
from cgboost.pricing import KernelPool


@dataclass(eq=False, repr=False)
class BaseKernelBoost(HasKernels, BoostOverCosts):
    """A model over the columns K(·, z) of a library of kernels."""

    library: AnyLibrary = None
    penalty: Literal["l1", "l2", "elasticnet", "rkhs", "group"] | Penalty = field(
        default="l1", kw_only=True
    )
    coef: Literal["free", "nonneg"] = field(default="free", kw_only=True)
    centers: Literal["rows", "free"] = field(default="rows", kw_only=True)
    priority: Priority = field(default="full", kw_only=True)
    cache_size: float = field(default=1000.0, kw_only=True)
    executor: Any = field(default=None, kw_only=True)

    _default_library: ClassVar[KernelLibrary] = DEFAULT_LIBRARY

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """The coefficients of the columns, in the order of ``columns_``."""
        return self.column_weights_

    @property
    def _family(self) -> KernelColumns:
        """Kernel columns, of rows or free centres; whole kernels for a norm of functions."""
        kind: type[KernelColumns] = KernelColumns
        library, penalty = self.library, self.penalty
        with suppress(ValueError):  # check() raises it
            penalty = get_penalty(penalty)
            library = as_library(library, self._default_library)
        if isinstance(penalty, GroupNorm):
            from cgboost.estimators.kernel.multiple_kernel_learning import WholeKernels

            kind = WholeKernels
        elif isinstance(penalty, RKHS) and self.centers == "free":
            from cgboost.estimators.kernel.free_centres import FreeCentres

            kind = FreeCentres
        # where no round but the last is of use, None means as many columns as make the fit quick
        ends = self.early_stopping or self.max_columns is not None or self.priority != "full"
        to_the_end = self.columns_per_round is None and not ends
        at_once = TO_THE_END if to_the_end else self.columns_per_round
        return kind.of(self, library=library, penalty=penalty, at_once=at_once)

    def _validated(self, X: Any, y: Any) -> tuple[Matrix, Any]:
        self._input, matrix, y = read_training(self, self._family, X, y)
        default = self.library is None and self._default_library is DEFAULT_LIBRARY
        if default and is_sparse(matrix) and matrix.shape[1] > matrix.shape[0]:
            warn_caller(
                f"X is sparse, {matrix.shape[1]} features for {matrix.shape[0]} rows, as words of "
                "texts are: the default library is for fewer features; library='linear', Linear() "
                "or Cosine() had fewer errors on texts, and library='default' says that you want "
                f"it{see('kernels-and-libraries')}",
                DataWarning,
            )
        return matrix, y

    def _read_new(self, X: Any, y: Any = None) -> Any:
        return read_new(self, self._family, self._input, X, y)

    def _fold(
        self, rows: TrainingRows, train: NDArray[np.intp], test: NDArray[np.intp]
    ) -> tuple[TrainingRows, Matrix]:
        part, X = super()._fold(rows, train, test)
        if not self._family.is_pairwise:
            return part, X
        assert rows.numbers is not None
        kernel: Any
        (kernel,) = self._input.library.kernels.values()
        first = kernel.first_column  # in a mapping, other matrices may stand before it
        columns = np.concatenate([np.arange(first), first + rows.numbers[train]])
        return replace(part, X=part.X[:, columns], numbers=np.arange(len(train))), X[:, columns]

    def _pool(self, rows: TrainingRows) -> KernelPool:
        """The kernel columns; ``library_`` has the widths that kernels took from the rows."""
        library = self._input.library
        pool: KernelPool = replace(self._family, library=library).pool(rows)
        as_given = given if library.normalize else (lambda kernel: kernel)
        kernels = {family.name: as_given(family.kernel) for family in pool.families}
        self.library_ = library.with_kernels(kernels)
        return pool

    def _master_options(self) -> dict[str, Any]:
        return {"coef": self._family.sign, "solver": self.solver}

    def _keep(self, plan: Plan, runs: list[FittedRun], rows: TrainingRows) -> None:
        super()._keep(plan, runs, rows)
        assert isinstance(plan, Proven)
        assert isinstance(plan.family, KernelColumns)
        self.columns_per_kernel_ = plan.family.counts(self.columns_)
