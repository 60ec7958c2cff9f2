"""Columns K(·, z) whose centres z are optimised, and are no training rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.kernel.kernel_columns import KernelColumns
from cgboost.exceptions import KernelError, see
from cgboost.kernels.library import KernelLibrary
from cgboost.kernels.scaling import Scaler
from cgboost.masters.rkhs.rkhs_master import StagedMaster
from cgboost.masters.support_vector.support_vector_master import WarmStart
from cgboost.penalties import RKHS
from cgboost.pricing import KernelPool
from cgboost.pricing.centres.free_centre_pricer import FreeCentrePricer
from cgboost.pricing.centres.projection import columns_read, features_read
from cgboost.pricing.rkhs.rkhs_pricer import RKHSPricer

DEFAULT_CENTRES = 200
"""Centres at most where ``max_columns`` is None. On MNIST odd/even more hardly lower the
error with 1000 rows (3.90 % with 200, 3.88 with 340); with 10000 rows 240 have that of the SVC."""

ROWS_A_CENTRE = 4
"""One centre for so many rows at most where ``max_columns`` is None."""


@dataclass(frozen=True)
class FreeCentres(KernelColumns):
    """The columns K(·, z) of all kernels of a library, for any z."""

    max_columns: int | None
    random_state: Any
    offset: str = "none"

    @classmethod
    def of(cls, estimator: Any, **changes: Any) -> Self:
        """The family with the parameters of an estimator."""
        changes = {"offset": getattr(estimator, "offset", "none")} | changes
        return super().of(estimator, **changes)

    def readable(self, table: NDArray[Any], library: KernelLibrary) -> NDArray[Any]:
        """The numbers of a table that kernels read; 0 in the columns that none reads.

        Raises
        ------
        KernelError
            For a kernel that reads other things than numbers.
        """
        numbers = np.zeros(table.shape)
        for name, kernel in library.kernels.items():
            for columns in columns_read(kernel):
                if columns is None or not columns.numeric:
                    where = "X" if columns is None else f"columns {', '.join(columns.labels)} of X"
                    raise KernelError(
                        f"centers='free' moves centres of numbers, but kernel {name!r} reads "
                        f"{where}, which has other things: give it columns of numbers, "
                        "On(kernel, columns=…), encode the words as numbers (OneHotEncoder), leave "
                        f"the kernel out, or take centers='rows'{see('kernels-on-columns')}"
                    )
                numbers[:, list(columns.places)] = columns(table)
        return numbers

    def most_columns(self, n_rows: int) -> int:
        """``max_columns``, by default 200 or a quarter of the rows."""
        if self.max_columns is not None:
            return self.max_columns
        return max(1, min(DEFAULT_CENTRES, n_rows // ROWS_A_CENTRE))

    def pricer(self, pool: KernelPool, tol: float) -> RKHSPricer:
        """A pass over the RKHS of each kernel: a centre belongs to one kernel."""
        assert isinstance(self.penalty, RKHS)
        return RKHSPricer(pool, self.penalty.weight, tol=tol)

    def prepared(
        self, pool: KernelPool, master: Any, pricer: Any, again: Callable[[], Any]
    ) -> tuple[Any, Any]:
        """A master of stages, and a pricer that polishes centres."""
        assert isinstance(self.penalty, RKHS)
        n_rows = pool.X.shape[0]
        return StagedMaster(again), FreeCentrePricer(
            pool,
            pricer,
            master.loss,
            min(self.most_columns(n_rows), n_rows),
            weight=self.penalty.weight,
            offset=self.offset,
            random=check_random_state(self.random_state),
        )

    def warm_start(
        self,
        pool: KernelPool,
        loss: Any,
        make_master: Callable[[Any], Any],
        time_limit: float | None,
    ) -> WarmStart:
        """None: the first stage is one."""
        return WarmStart()

    def attributes(self, table: Table, runs: Sequence[FittedRun]) -> dict[str, Any]:
        """The centres of the columns, in the units of X; nan in features that a kernel ignores."""
        functions = [h for run in runs for output in run.outputs for h in output.active]
        if not functions:
            return {"centers_": np.zeros((0, 0))}
        centres = np.array([function.centre for function in functions])
        scaler: Scaler | None = functions[0].family.scaler
        if scaler is not None:
            centres = scaler.inverse_transform(centres)  # type: ignore[attr-defined]
        families = {function.family.name: function.family for function in functions}
        names = np.array([function.family.name for function in functions])
        for name, family in families.items():
            ignored = ~features_read(family.kernel, centres.shape[1])
            centres[np.ix_(names == name, ignored)] = np.nan
        return {"centers_": centres}
