"""What estimators share that solve their problem to a certified gap."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cgboost.estimators.common.base import BaseEnsemble
from cgboost.estimators.common.parameters import check_count, check_number
from cgboost.estimators.common.result import FittedRun
from cgboost.estimators.common.rows import Rows, Vector
from cgboost.estimators.common.subproblems import Task, problem_of
from cgboost.exceptions import TrivialModelWarning, see, warn_caller
from cgboost.generation.history import StopReason
from cgboost.generation.protocols import Pricer
from cgboost.losses import SupportVectorLoss
from cgboost.masters.support_vector.master import Offset, SupportVectorMaster, WarmStart

DEFAULT_SHARE = 0.02
"""Columns a round as a share of the training rows, measured best at 1 to 2 %."""

SMALLEST_TOL = 1e-10
"""What ``tol=0`` means: sums in float64 cannot tell smaller relative gaps from none."""

UNPLANNED_STOPS = (
    StopReason.STALLED,
    StopReason.MASTER_FAILED,
    StopReason.PRICER_FAILED,
    StopReason.INVALID_BOUND,
    StopReason.TIME,
    StopReason.INTERRUPTED,
)


@dataclass(eq=False, repr=False)
class BaseBoost(BaseEnsemble):
    """A loss and a penalty, minimised over all columns by masters of support-vector losses."""

    columns_per_round: int | Literal["all"] | None = field(default=None, kw_only=True)
    max_columns: int | None = field(default=None, kw_only=True)
    tol: float = field(default=1e-4, kw_only=True)
    solver: str = field(default="auto", kw_only=True)

    # ------------------------------------------------------------------ what a subclass says

    @property
    @abstractmethod
    def _offset(self) -> Offset: ...

    @abstractmethod
    def _loss(self, target: Vector, weights: Vector) -> SupportVectorLoss: ...

    @property
    @abstractmethod
    def _trade_off(self) -> str:
        """The parameter that weighs the loss against the penalty, and its value."""

    @property
    @abstractmethod
    def _program(self) -> str:
        """What a solver must be able to solve: "lp" or "qp"."""

    @abstractmethod
    def _master(self, loss: SupportVectorLoss) -> SupportVectorMaster: ...

    @abstractmethod
    def _pricer(self, pool: Any) -> Pricer: ...

    def _first_guess(self, pool: Any, loss: SupportVectorLoss) -> WarmStart:
        """Where a run starts from."""
        return WarmStart()

    def _default_columns(self, n_rows: int) -> int:
        return max(1, round(DEFAULT_SHARE * n_rows))

    _column_words: ClassVar[tuple[str, ...]] = ()
    """What ``columns_per_round`` may be beside a number."""

    def _at_once(self, pool: Any, n_rows: int) -> int:
        """Columns a round for each output, where ``columns_per_round`` is no number."""
        return self._default_columns(n_rows)

    # ------------------------------------------------------------------ the runs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        words = self._column_words
        check_count("columns_per_round", self.columns_per_round, optional=True, words=words)
        check_count("max_columns", self.max_columns, optional=True)
        check_number("tol", self.tol, at_least=0)

    @property
    def _tol(self) -> float:
        return max(self.tol, SMALLEST_TOL)

    def _limits(self) -> dict[str, Any]:
        return {"tol": self._tol, "max_columns": self.max_columns}

    _carried: ClassVar[MutableMapping[int, WarmStart] | None] = None
    """By number of the run, where it starts from; then where it has ended. For paths alone."""

    def _tasks(self, pool: Any, rows: Rows) -> Iterator[Task]:
        for number, target in enumerate(self._targets(rows.y)):
            problem = problem_of(target, rows.weights, self._output_labels)
            loss = self._loss(problem.target, problem.weights)
            at_once = self.columns_per_round
            if at_once is None or isinstance(at_once, str):
                at_once = problem.n_outputs * self._at_once(pool, len(rows.weights))
            master = self._master(loss)
            carried = (self._carried or {}).get(number)
            master.start_from(self._first_guess(pool, loss) if carried is None else carried)
            yield Task(
                master,
                problem.pricer(lambda: self._pricer(pool)),
                n_outputs=problem.n_outputs,
                columns_per_round=at_once,
                level=_level_of(loss),
            )
            if self._carried is not None:
                self._carried[number] = master.warm_start

    # ------------------------------------------------------------------ fitted attributes

    def _keep(self, runs: list[FittedRun], rows: Rows) -> None:
        super()._keep(runs, rows)
        self.dual_bound_ = sum(run.bound for run in runs)
        self.gap_ = max(run.gap for run in runs)
        self.converged_ = bool(self.gap_ <= self._tol)

    def _warn(self) -> None:
        self._warn_if_cut_short()
        self._warn_if_trivial()

    def _warn_if_cut_short(self) -> None:
        """Say once which runs ended before ``tol``, why, and what they have proved."""
        words = [
            f"{self._label(k, len(self._runs))}{run.stop_reason}: {run.message}, {_proved(run)}"
            for k, run in enumerate(self._runs)
            if run.stop_reason in UNPLANNED_STOPS and run.gap > self._tol
        ]
        if words:
            limit = "" if self.time_limit is None else f" within time_limit={self.time_limit:g}"
            warn_caller(
                f"{type(self).__name__} stopped before reaching tol={self.tol:g}{limit}: "
                f"{'; '.join(words)}{see('stopped-early')}",
                ConvergenceWarning,
            )

    @property
    def _remedy(self) -> str:
        """What may make more of a model without columns."""
        return "a larger value may change that"

    def _warn_if_trivial(self) -> None:
        """Say so where no column is in the model, and why."""
        words = [
            f"{self._label(k, len(self._runs))}no column is worth its price"
            for k, run in enumerate(self._runs)
            if run.is_trivial and run.gap <= self._tol
        ]
        if words:
            warn_caller(
                f"{type(self).__name__}: {'; '.join(words)}: the model without columns is optimal "
                f"for {self._trade_off}; {self._remedy}{see('trivial-models')}",
                TrivialModelWarning,
            )
        kept = [
            f"{self._label(k, len(self._runs))}no round had a better validation score than the "
            "model without columns, which is kept"
            for k, run in enumerate(self._runs)
            if self.early_stopping and run.is_trivial and run.gap > self._tol
        ]
        if kept:
            warn_caller(
                f"{type(self).__name__}: {'; '.join(kept)}{see('trivial-models')}",
                TrivialModelWarning,
            )


def _level_of(loss: SupportVectorLoss) -> Callable[[Vector], float] | None:
    if loss.mass is None:
        return None
    return lambda output: loss.level(np.broadcast_to(output, loss.n_rows))


def _proved(run: FittedRun) -> str:
    gap = f"relative gap {run.gap:.1e}" if np.isfinite(run.gap) else "without a certificate"
    return f"{gap}; no columns yet, so that it predicts a constant" if run.is_trivial else gap
