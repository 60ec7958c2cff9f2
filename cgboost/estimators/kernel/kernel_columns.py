"""The half of an estimator that makes columns from a library of kernels: CG-Boost.

Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004 ([B]).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cgboost.estimators.common.certified import BaseBoost
from cgboost.estimators.common.parameters import check_choice, check_number, check_solver
from cgboost.estimators.common.result import FittedOutput, FittedRun, Table
from cgboost.estimators.common.rows import Held, Rows
from cgboost.estimators.kernel.warm_start import MANY_ROWS, first_guess
from cgboost.exceptions import see
from cgboost.kernels import RBF, KernelLibrary, Linear, Polynomial, Precomputed
from cgboost.losses import SupportVectorLoss
from cgboost.masters import TwoNormMaster, one_norm_master
from cgboost.masters.support_vector.master import Sign, SupportVectorMaster, WarmStart
from cgboost.parallel import as_executor
from cgboost.pricing import KernelPool, StrataPricer

MOST_COLUMNS = 400
"""Columns a round at most: with many rows a share of them would be too many."""

REACH = 0.15
"""With many rows, columns are taken that nearly price out: the master is quicker than a pass."""


@dataclass(eq=False, repr=False)
class BaseCGBoost(BaseBoost):
    """Columns from a kernel library."""

    library: KernelLibrary | None = None
    penalty: Literal["l1", "l2"] = field(default="l2", kw_only=True)
    coef: Literal["free", "nonneg"] = field(default="free", kw_only=True)
    priority: Literal["full", "stratified"] = field(default="full", kw_only=True)
    cache_size: float = field(default=1000.0, kw_only=True)
    executor: Any = field(default=None, kw_only=True)

    _default_library: ClassVar[KernelLibrary] = KernelLibrary(
        {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()}, normalize=True
    )

    def _check_parameters(self) -> None:
        if self.library is not None and not isinstance(self.library, KernelLibrary):
            raise ValueError(
                "library must be a KernelLibrary or None, as KernelLibrary({'rbf': RBF()}) is one, "
                f"got {self.library!r}"
                f"{see('kernels-and-libraries')}"
            )
        super()._check_parameters()
        check_choice("penalty", self.penalty, ("l1", "l2"))
        check_solver("solver", self.solver, self._program)
        check_choice("coef", self.coef, ("free", "nonneg"))
        check_choice("priority", self.priority, ("full", "stratified"))
        check_number("cache_size", self.cache_size, at_least=0)
        as_executor(self.executor)

    def _hold_out(self, rows: Rows) -> tuple[Rows, Held]:
        if any(isinstance(kernel, Precomputed) for kernel in self._library.kernels.values()):
            raise ValueError(
                "early_stopping=True cannot hold out rows of a Precomputed kernel: give an eval_set"
                + see("precomputed-kernels")
            )
        return super()._hold_out(rows)

    @property
    def _library(self) -> KernelLibrary:
        return self._default_library if self.library is None else self.library

    def __sklearn_tags__(self) -> Any:
        """With a lone precomputed kernel X is square, and cross-validation cuts both its sides."""
        tags = super().__sklearn_tags__()
        lone = isinstance(self.library, KernelLibrary) and len(self.library) == 1
        tags.input_tags.pairwise = lone and Precomputed() in self._library.kernels.values()
        return tags

    @property
    def _program(self) -> str:
        return "lp" if self.penalty == "l1" else "qp"

    def _master(self, loss: SupportVectorLoss) -> SupportVectorMaster:
        # α ≥ 0 over a library closed under negation is the same problem as free α over the library
        sign: Sign = "free" if self._library.negation else self.coef
        kind = one_norm_master(loss) if self.penalty == "l1" else TwoNormMaster
        return kind(loss, coef=sign, offset=self._offset, solver=self.solver)

    def _first_guess(self, pool: KernelPool, loss: SupportVectorLoss) -> WarmStart:
        """With many rows, what a part of the rows makes use of."""
        if self.penalty == "l2" or loss.mass is not None or self.max_columns is not None:
            return WarmStart()
        return first_guess(pool, loss, self._master)

    def _pool(self, rows: Rows) -> KernelPool:
        return KernelPool(self._library, rows.X, cache_size=self.cache_size, executor=self.executor)

    def _default_columns(self, n_rows: int) -> int:
        return min(MOST_COLUMNS, super()._default_columns(n_rows))

    _column_words: ClassVar[tuple[str, ...]] = ("all",)

    def _at_once(self, pool: KernelPool, n_rows: int) -> int:
        if self.columns_per_round == "all":
            return sum(pool.size(kernel) for kernel in range(len(pool.strata)))
        return super()._at_once(pool, n_rows)

    def _pricer(self, pool: KernelPool) -> StrataPricer:
        priority = "full" if self.columns_per_round == "all" else self.priority
        reach = REACH if self.penalty == "l1" and len(pool.X) >= MANY_ROWS else 0.0
        return StrataPricer(pool, priority=priority, tol=self._tol, reach=reach)

    def _sharing(self, hypotheses: list[Any]) -> list[Any]:
        """A row that is the centre of several columns is kept once."""
        centres: dict[bytes, NDArray[Any]] = {}
        return [
            replace(h, centre=centres.setdefault(h.centre.tobytes(), h.centre)) for h in hypotheses
        ]

    def _described(self, hypotheses: Sequence[Any], strata: NDArray[np.str_], rows: Rows) -> Table:
        places = np.array([hypothesis.row for hypothesis in hypotheses], dtype=np.intp)
        assert rows.numbers is not None
        return {"kernel": strata, "row": rows.numbers[places]}

    def _table(self, output: FittedOutput, rows: Rows) -> Table:
        """Add the column's sign: with α ≥ 0 a negative weight on K is a positive one on −K."""
        table = super()._table(output, rows)
        coefficient = table["coefficient"]
        flipped = (coefficient < 0) if self.coef == "nonneg" else np.zeros(len(coefficient), bool)
        sign = np.where(flipped, -1, 1)
        return table | {"coefficient": sign * coefficient, "sign": sign}

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.columns_per_kernel_ = {
            name: int(np.count_nonzero(self.columns_["kernel"] == name))
            for name in self._library.names
        }
