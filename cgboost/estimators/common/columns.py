"""Families of columns that certified estimators make their models of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cgboost.estimators.common.result import FittedRun, Table
from cgboost.estimators.common.rows import Rows
from cgboost.generation.protocols import Pricer
from cgboost.masters.support_vector.master import WarmStart

DEFAULT_SHARE = 0.02
"""Columns a round as a share of the training rows, measured best at 1 to 2 %."""


class ColumnFamily(ABC):
    """Makes columns: a pool for the training rows, a pricer for each run, tables of the result.

    A subclass is a dataclass. Its fields are parameters of the estimator, by the same names.
    """

    words: ClassVar[tuple[str, ...]] = ()
    """What ``columns_per_round`` may be beside a number."""

    optional_attributes: ClassVar[tuple[str, ...]] = ()
    """Names in :meth:`attributes` that some fits do not have."""

    @classmethod
    def of(cls, estimator: Any, **changes: Any) -> Self:
        """The family with the parameters of an estimator, some of them changed."""
        names = [f.name for f in fields(cls) if f.name not in changes]  # type: ignore[arg-type]
        return cls(**{name: getattr(estimator, name) for name in names}, **changes)

    @property
    def is_pairwise(self) -> bool:
        """Whether X is square, so that cross-validation must cut both its sides."""
        return False

    @abstractmethod
    def check(self) -> None:
        """Check the parameters; raise ValueError for one that is wrong."""

    def check_hold_out(self) -> None:
        """Raise ValueError if training rows cannot be held out."""
        return

    def usable(self, rows: Rows) -> Rows:
        """The rows from which columns are made."""
        return rows

    @abstractmethod
    def pool(self, rows: Rows) -> Any:
        """What the runs of a fit share."""

    @abstractmethod
    def pricer(self, pool: Any, tol: float) -> Pricer:
        """The pricer of one output of a run, for a relative gap of ``tol``."""

    def columns_per_round(self, pool: Any, n_rows: int) -> int:
        """Columns a round for each output, where the user gives no number."""
        return max(1, round(DEFAULT_SHARE * n_rows))

    def warm_start(self, pool: Any, loss: Any, make_master: Callable[[Any], Any]) -> WarmStart:
        """Columns to start from."""
        return WarmStart()

    @abstractmethod
    def described(self, columns: Sequence[Any], strata: NDArray[np.str_], rows: Rows) -> Table:
        """The table of active columns, without coefficient and round."""

    def completed(self, table: Table) -> Table:
        """The table with coefficients and rounds."""
        return table

    def shared(self, columns: list[Any]) -> list[Any]:
        """The columns of all runs, with what they have in common kept once."""
        return columns

    def attributes(self, table: Table, runs: Sequence[FittedRun]) -> dict[str, Any]:
        """Fitted attributes that only models over this family have."""
        return {}
