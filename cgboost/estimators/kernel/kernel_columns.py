"""Columns from a library of kernels: CG-Boost.

With many rows the first rounds are spent on finding what a few thousand rows can say as well. The
problem is therefore solved coarsely on a random part of the rows first (and that one from its own
part, if it is still large), and the full problem starts with the columns it uses, and with the
rows that are near their margin there. Nothing of the certificate rests on it.

Bi, Zhang, Bennett, *Column-Generation Boosting Methods for Mixture of Kernels*, KDD 2004 ([B]).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Vector
from cgboost.estimators.common.at_once import fitted_at_once
from cgboost.estimators.common.certified import Certified
from cgboost.estimators.common.fitted_runs import FittedRun, Table
from cgboost.estimators.common.objective import ColumnFamily, end_of_start
from cgboost.estimators.common.parameters import check_choice, check_number
from cgboost.estimators.common.training_rows import TrainingRows
from cgboost.exceptions import see
from cgboost.generation.history import StopReason
from cgboost.generation.loop import ColumnGeneration
from cgboost.generation.protocols import Pricer
from cgboost.kernels import as_library
from cgboost.kernels.definite import check_definite
from cgboost.kernels.library import KernelLibrary
from cgboost.kernels.precomputed import Precomputed
from cgboost.kernels.sparse_rows import bits
from cgboost.losses import SupportVectorLoss
from cgboost.masters.support_vector.support_vector_master import (
    SignRule,
    SupportVectorMaster,
    WarmStart,
)
from cgboost.optimizers.solver_options import time_left
from cgboost.parallel import as_executor
from cgboost.penalties import L2, RKHS, FunctionNorm, Penalty, get_penalty
from cgboost.penalties.function_norm import NO_SIGN_RULE
from cgboost.pricing import KernelPool, StrataPricer
from cgboost.pricing.scans.scan import MANY_STRATA
from cgboost.tolerances import UNIT_ROUNDOFF

Priority = Literal["full", "stratified", "strict"]
"""Orders in which kernels are searched (:mod:`cgboost.pricing.scans.scan`)."""

MANY_ROWS = 6000
"""From this number of rows on, a part of them gives a warm start."""

PART = 6
"""One row in so many takes part in it."""

COARSE = 0.05
"""Relative gap at which the warm start is good enough."""

COLUMNS = 0.05
"""Columns a round, as a share of the rows of the part."""


def warm_start_from_part(
    pool: KernelPool,
    loss: SupportVectorLoss,
    make_master: Callable[[SupportVectorLoss], SupportVectorMaster],
    time_limit: float | None = None,
) -> WarmStart:
    """Warm start from what a part of the rows of a pool uses; empty where the rows are few.

    Parameters
    ----------
    loss : SupportVectorLoss
        On all rows of the pool.
    make_master : callable
        A master for such a loss.
    time_limit : float or None
        Seconds for this and the run that begins there.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, which a loop takes for its own: there is no model yet.
    """
    end = end_of_start(time_limit)
    n_rows = pool.X.shape[0]
    if n_rows < MANY_ROWS:
        return WarmStart()
    rows = np.sort(np.random.default_rng(0).permutation(n_rows)[: n_rows // PART])
    kernels = {family.name: family.kernel for family in pool.families}
    part, part_loss = KernelPool(KernelLibrary(kernels), pool.X[rows]), loss.on_part(rows)
    own = warm_start_from_part(part, part_loss, make_master, time_left(end))
    if time.perf_counter() < end:
        master = make_master(part_loss)
        master.start_from(own)
        loop = ColumnGeneration(
            master,
            StrataPricer(part, tol=COARSE),
            tol=COARSE,
            columns_per_round=round(COLUMNS * len(rows)),
            time_limit=time_left(end),
        )
        if loop.run().stop_reason is StopReason.INTERRUPTED:  # which is for the fit to see
            raise KeyboardInterrupt
        own = master.warm_start
    numbers = {name: stratum for stratum, name in enumerate(pool.strata)}
    keys = [(numbers[column.stratum], int(rows[column.key[1]])) for column in own.columns]  # type: ignore[index]
    columns = pool.columns([stratum for stratum, _ in keys], [row for _, row in keys])
    return replace(own, columns=columns)


MOST_PER_ROUND = 400
"""Columns a round at most: with many rows a share of them would be too many."""

MANY_KERNELS_SHARE = 5
"""With many kernels so many times as many: what they offer is more, and a pass costs more."""

SHORTLIST = 10000
"""Columns that are kept between passes over many kernels whose values memory does not hold."""

REACH = 0.15
"""With many rows, columns are taken that nearly price out: the master is quicker than a pass."""


TO_THE_END = "to the end"
"""Columns a round where no round but the last is of use: as many as make the fit quick."""

MOST_AT_ONCE_L2 = 3000
"""A 2-norm has a weight for nearly every column at its optimum: so many are best taken at once."""

LEAST_TO_THE_END = 20
"""With few rows a round takes the time of its calls, however many columns it brings: with 20 of
them fits of 100 to 1500 rows took 0.8 to 1 times as long as with 2 % of the rows, with 40 hardly
less, and kernels of raw features at high prices lost digits."""

MOST_NUMBERS_AT_ONCE = 200_000
"""Rows times columns of all kernels up to which a linear program is solved without rounds. Fits of
100 to 430 rows, one or three kernels, took 0.2 to 0.8 of the time, with three kernels of 400 rows
1.1 times as long."""

LEAST_GAP_OF_MACHINE = 1e-6
"""libsvm keeps kernel values in float32, which leaves gaps of about 1e-7."""


@dataclass(frozen=True)
class KernelColumns(ColumnFamily):
    """The columns K(·, x_j) of all kernels of a library, for all training rows x_j."""

    library: KernelLibrary
    penalty: Penalty
    coef: Literal["free", "nonneg"]
    centers: Literal["rows", "free"]
    priority: Priority
    cache_size: float
    executor: Any
    per_round: int | str | None
    """``columns_per_round`` of the estimator, or TO_THE_END."""

    words: ClassVar[tuple[str, ...]] = ("all",)
    accept_sparse: ClassVar[str] = "csr"
    wide: ClassVar[bool] = False
    """Whether coefficients may be so large that kernel values must be in float64."""

    def check(self) -> None:
        """See :meth:`ColumnFamily.check`."""
        as_library(self.library)  # raise what the estimator has left as it was given
        get_penalty(self.penalty)
        check_choice("coef", self.coef, ("free", "nonneg"))
        check_choice("centers", self.centers, ("rows", "free"))
        if self.centers == "free" and not isinstance(self.penalty, RKHS):
            raise ValueError(
                "centers='free' goes with penalty='rkhs' alone, which has a bound over centres of "
                f"all kinds, got {self.penalty!r}: take it, or centers='rows'"
            )
        if self.penalty.of_functions and self.coef == "nonneg":
            raise ValueError(NO_SIGN_RULE)
        check_choice("priority", self.priority, get_args(Priority))
        check_number("cache_size", self.cache_size, at_least=0)
        as_executor(self.executor)

    def check_hold_out(self, by: str = "early_stopping", instead: str = "an eval_set") -> None:
        """Not for precomputed kernels."""
        if any(kernel.is_precomputed for kernel in self.library.leaves()):
            raise ValueError(
                f"{by} cannot hold out rows of a Precomputed kernel: give {instead}, or the matrix "
                'itself, Precomputed("name", matrix), and row numbers for X'
                f"{see('precomputed-kernels')}"
            )

    @property
    def sign(self) -> SignRule:
        """The sign rule of the master.

        α ≥ 0 over a library closed under negation is the same problem as free α over the library.
        """
        return "free" if self.library.negation else self.coef

    @property
    def is_pairwise(self) -> bool:
        """Whether X is square, so that cross-validation must cut both its sides."""
        if not isinstance(self.library, KernelLibrary) or len(self.library) != 1:
            return False
        (kernel,) = self.library.kernels.values()
        return (
            isinstance(kernel, Precomputed)
            and kernel.is_precomputed
            and not (isinstance(kernel.first, int) and kernel.first > 0)
        )

    def usable(self, rows: TrainingRows) -> TrainingRows:
        """See :meth:`ColumnFamily.usable`."""
        self._check_matrices(rows.X)
        return super().usable(rows)

    @property
    def is_of_columns(self) -> bool:
        """Whether the penalty is Σ|α|: a norm of coefficients, not of functions."""
        return self.penalty.is_positively_homogeneous and not self.penalty.of_functions

    def pool(self, rows: TrainingRows) -> KernelPool:
        """The pool of all kernel columns.

        Raises
        ------
        KernelError
            For a kernel without RKHS, where the penalty is a norm of functions.
        """
        assert rows.numbers is not None
        pool = KernelPool(
            self.library.of_rows(rows.numbers),
            rows.X,
            sample_weight=rows.weights,
            cache_size=self.cache_size,
            executor=self.executor,
            any_scale=self.penalty.any_scale,
            wide=self.wide,
        )
        if isinstance(self.penalty, FunctionNorm):
            self.penalty.check_names(pool.strata)
            for name, kernel in zip(pool.strata, pool.data.kernels, strict=True):
                check_definite(name, kernel, pool.X)
        return pool

    def readable(self, table: NDArray[Any], library: KernelLibrary) -> NDArray[Any]:
        """What is made of a table of objects before kernels see it: nothing.

        Parameters
        ----------
        table : ndarray of shape (n_rows, n_columns)
        library : KernelLibrary
            Prepared for its columns.
        """
        return table

    def _check_matrices(self, X: Any) -> None:
        """Matrices side by side must not have lost rows without the columns of these rows.

        Raises
        ------
        ValueError
            If each has as many columns as there are between two of them, but X fewer rows: that is
            what cross-validation makes of them.
        """
        given = (kernel for kernel in self.library.leaves() if isinstance(kernel, Precomputed))
        firsts = sorted({k.first for k in given if k.is_precomputed and isinstance(k.first, int)})
        widths = set(np.diff([*firsts, X.shape[1]]).tolist())
        if len(firsts) > 1 and len(widths) == 1 and min(widths) > X.shape[0]:
            raise ValueError(
                f"X has {len(firsts)} kernel matrices of {min(widths)} columns, but {X.shape[0]} "
                "rows: some were taken out, by cross-validation perhaps, and their columns left "
                'in. Give the matrices to the library, Precomputed("name", matrix), and row '
                "numbers for X" + see("precomputed-kernels")
            )

    def pricer(self, pool: KernelPool, tol: float) -> Pricer:
        """A scan of the pool; of whole RKHSs, where the penalty is a norm of functions."""
        if isinstance(self.penalty, RKHS):
            from cgboost.pricing.rkhs.rkhs_pricer import RKHSPricer
            from cgboost.pricing.rkhs.summed import SummedKernel

            if len(pool.strata) == 1:
                return RKHSPricer(pool, self.penalty.weight, tol=tol)
            return RKHSPricer(SummedKernel(pool, self.penalty.weight), tol=tol)
        priority = "full" if self.per_round == "all" else self.priority
        reach = (
            REACH
            if self.penalty.is_positively_homogeneous and pool.X.shape[0] >= MANY_ROWS
            else 0.0
        )
        many = len(pool.strata) >= MANY_STRATA and not pool.keeps_all
        shortlist = SHORTLIST if many else 0
        return StrataPricer(pool, priority=priority, tol=tol, reach=reach, shortlist=shortlist)

    def columns_per_round(self, pool: KernelPool, n_rows: int) -> int:
        """A share of the rows, or every column that prices out."""
        n_columns = sum(pool.size(kernel) for kernel in range(len(pool.strata)))
        ended = self.per_round == TO_THE_END
        dense = isinstance(self.penalty, L2) and not self.penalty.of_functions
        if self.per_round == "all" or (ended and dense and n_columns <= MOST_AT_ONCE_L2):
            return n_columns
        share = MANY_KERNELS_SHARE if len(pool.strata) >= MANY_STRATA else 1
        count = min(MOST_PER_ROUND, share * super().columns_per_round(pool, n_rows))
        return max(LEAST_TO_THE_END, count) if ended else count

    def expected_columns(self, pool: KernelPool) -> int:
        """All of them, of a linear program whose rounds serve the last one alone."""
        ended = self.is_of_columns and self.per_round == TO_THE_END
        return len(pool.strata) * int(pool.X.shape[0]) if ended else 0

    def prepared(
        self, pool: KernelPool, master: Any, pricer: Any, again: Callable[[], Any]
    ) -> tuple[Any, Any]:
        """A support vector machine, where the problem is one, to be solved to the end."""
        master, pricer = super().prepared(pool, master, pricer, again)
        penalty = self.penalty
        if not (isinstance(penalty, RKHS) and self.per_round == TO_THE_END):
            return master, pricer
        from cgboost.masters.rkhs.rkhs_master import MachineMaster, WholeRKHSMaster
        from cgboost.pricing.rkhs.rkhs_pricer import MachinePricer, SummedKernelOfMachine

        if pricer.tol < LEAST_GAP_OF_MACHINE or not master.is_of_machine:
            return master, pricer
        kernel = SummedKernelOfMachine(pool, penalty.weight)
        if not kernel.fits(self.cache_size):
            return master, pricer
        whole = WholeRKHSMaster(master.loss, penalty, kernel, pricer.tol)
        return MachineMaster(again, whole), MachinePricer(kernel, pricer)

    def warm_start(
        self,
        pool: KernelPool,
        loss: SupportVectorLoss,
        make_master: Callable[[Any], Any],
        time_limit: float | None,
    ) -> WarmStart:
        """With many rows, what a part of the rows makes use of."""
        if not (
            self.penalty.is_positively_homogeneous
            and isinstance(loss, SupportVectorLoss)
            and loss.mass is None
        ):
            return WarmStart()
        return warm_start_from_part(pool, loss, make_master, time_limit)

    def described(
        self, functions: Sequence[Any], strata: NDArray[np.str_], rows: TrainingRows
    ) -> Table:
        """Kernel and row of each column."""
        places = np.array([function.row for function in functions], dtype=np.intp)
        assert rows.numbers is not None
        return {"kernel": strata, "row": np.where(places < 0, -1, rows.numbers[places])}

    def completed(self, table: Table) -> Table:
        """Add the column's sign: with α ≥ 0 a negative weight on K is a positive one on −K."""
        coefficient = table["coefficient"]
        flipped = (coefficient < 0) if self.coef == "nonneg" else np.zeros(len(coefficient), bool)
        sign = np.where(flipped, -1, 1)
        return table | {"coefficient": sign * coefficient, "sign": sign}

    def shared(self, functions: list[Any]) -> list[Any]:
        """A row that is the centre of several columns is kept once."""
        centres: dict[Any, NDArray[Any]] = {}
        kept = [centres.setdefault(bits(c.centre), c.centre) for c in functions]
        return [
            function if function.centre is centre else replace(function, centre=centre)
            for function, centre in zip(functions, kept, strict=True)
        ]

    def counts(self, table: Table) -> dict[str, int]:
        """Columns of each kernel."""
        found = dict(zip(*np.unique(table["kernel"], return_counts=True), strict=True))
        return {name: int(found.get(name, 0)) for name in self.library.names}


def kernels_at_once(plan: Certified) -> list[FittedRun] | None:
    """The runs of a linear program of few numbers, each as one round of the loop leaves it.

    Its columns are the values as they are, of which scores add up: the bound is over these.
    None for other programs, and where a vertex has lost digits.
    """
    pool, family, n_rows = plan.pool, plan.family, len(plan.weights)
    assert isinstance(family, KernelColumns)
    linear = family.is_of_columns and all(own.program == "lp" for own in plan.objectives)
    if family.per_round != TO_THE_END or not linear:
        return None
    count = len(pool.strata) * n_rows
    if n_rows * count > MOST_NUMBERS_AT_ONCE:
        return None
    strata, indices = np.divmod(np.arange(count), n_rows)
    values = pool.values_on(strata, indices, None).astype(np.float64, copy=False)
    unit = (n_rows + 2) * UNIT_ROUNDOFF

    def scores(responses: Vector) -> tuple[Vector, Vector]:
        return values @ responses, unit * (np.abs(values) @ np.abs(responses))

    def functions(used: Indices) -> tuple[list[Any], NDArray[np.str_]]:
        chosen = zip(strata[used].tolist(), indices[used].tolist(), strict=True)
        return [pool.function(*one) for one in chosen], np.array(pool.strata)[strata[used]]

    return fitted_at_once(plan, values.T, scores, functions)
