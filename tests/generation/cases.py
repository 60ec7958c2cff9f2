"""A master and a pricer that only count, and every way in which a run of them ends."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cgboost import ColumnGeneration
from cgboost.exceptions import MasterError
from cgboost.generation.columns import Column
from cgboost.generation.history import Round, StopReason
from cgboost.generation.protocols import MasterState, Priced
from cgboost.generation.termination import FLAT_ROUNDS
from cgboost.penalties.l1 import OneNormEntry
from cgboost.pricing.univariate.feature_pricer import Feature
from tests.cases import Case

MY_ERROR = ZeroDivisionError("in my pricer")


class CountingMaster:
    """With n columns: coefficients 1, …, n, offset n and objective 10 − n.

    Parameters
    ----------
    bound : float, iterator or None
        The bound of every round, or one after another.
    fail_at : int or None
        The solve that raises ``error``.
    full_at : int or None
        So many columns are enough: more are refused with an error.
    change : callable
        What becomes of a state.
    """

    def __init__(
        self,
        bound: float | Iterator[float] | None = None,
        *,
        fail_at: int | None = None,
        error: BaseException | None = None,
        full_at: int | None = None,
        change: Callable[[MasterState], MasterState] = lambda state: state,
    ) -> None:
        self.columns: list[Column] = []
        self.bounds, self.change = bound, change
        self.fail_at, self.full_at = fail_at, full_at
        self.error = error or MasterError("singular basis")
        self.limits: list[float | None] = []

    def add(self, columns: Sequence[Column]) -> None:
        if len(self.columns) == self.full_at:
            raise ValueError("full")
        self.columns.extend(columns)

    def solve(self, *, time_limit: float | None = None) -> MasterState:
        self.limits.append(time_limit)
        if len(self.limits) - 1 == self.fail_at:
            raise self.error
        count = len(self.columns)
        zeros = np.zeros(2)
        state = MasterState(
            columns=tuple(self.columns),
            coef=np.arange(1.0, 1.0 + count),
            intercept=float(count),
            output=zeros,
            pseudo_response=zeros,
            objective=10.0 - count,
            slack=zeros,
            entry=OneNormEntry(True),
        )
        return self.change(state)

    def bound(self, state: MasterState, priced: Priced) -> float | None:
        return next(self.bounds) if isinstance(self.bounds, Iterator) else self.bounds


def column(number: Any, values: Sequence[float] = (0.0, 0.0), **more: Any) -> Column:
    """A column that is a feature of other rows."""
    return Column(np.array(values), number, Feature(number), **more)


class Supply:
    """Offers numbered columns until they run out; from its third search on it may be broken.

    Parameters
    ----------
    count : int
    exact : bool
    broken : Exception or object
        What it then raises, or returns in place of a column.
    """

    def __init__(self, count: int = 100, *, exact: bool = True, broken: Any = None) -> None:
        self.count, self.exact, self.broken = count, exact, broken
        self.limits: list[int] = []

    def price(self, state: MasterState, limit: int) -> Priced:
        self.limits.append(limit)
        if self.broken is not None and len(self.limits) > 2:
            if isinstance(self.broken, Exception):
                raise self.broken
            return Priced([self.broken], exact=False)
        held = {each.key for each in state.columns}
        offered = [name for name in range(self.count) if name not in held][:limit]
        columns = [column(name) for name in offered]
        priced = Priced(columns, exact=self.exact, max_excess=0.0, total_excess=0.0)
        return replace(priced, n_evaluated=self.count)


class Partial(Supply):
    """An exact search only where a certificate alone is asked for."""

    def price(self, state: MasterState, limit: int) -> Priced:
        self.exact = limit == 0
        return super().price(state, limit)


class Spent(Supply):
    """Knows that there are no other columns."""

    def price(self, state: MasterState, limit: int) -> Priced:
        priced = super().price(state, limit)
        return replace(priced, exhausted=not priced.columns)


class Offering:
    """Offers what a function of the number of columns says, whatever the limit is."""

    def __init__(self, offer: Callable[[int], list[Column]], *, exact: bool = False) -> None:
        self.offer, self.exact = offer, exact

    def price(self, state: MasterState, limit: int) -> Priced:
        return Priced(self.offer(len(state.columns)), exact=self.exact)


def capped() -> Offering:
    """One column, of upper bound 1 and with that coefficient, again and again."""
    return Offering(lambda n: [column("a", upper=1.0)], exact=True)


def begun(master: CountingMaster, *columns: Column) -> CountingMaster:
    """The master with columns from before the first round."""
    master.add(columns)
    return master


def only_at(count: int, **changes: Any) -> Callable[[MasterState], MasterState]:
    """What is wrong with states of so many columns."""
    return lambda state: replace(state, **changes) if len(state.columns) == count else state


def flat(falls_every: float = math.inf) -> CountingMaster:
    """Its bound stays where it is; the objective does, too, or falls every so many rounds."""

    def change(state: MasterState) -> MasterState:
        return replace(state, objective=10.0 - len(state.columns) // falls_every)

    return CountingMaster(1.0, change=change)


def falling(bound: float | None = None, *, proves: bool = True) -> CountingMaster:
    """Its objective falls without end from three columns on."""
    master = CountingMaster(bound, change=only_at(3, bounded=False))
    master.proves = proves  # type: ignore[attr-defined]
    return master


def run(master: Any = None, pricer: Any = None, **options: Any) -> Any:
    """Run the loop, by default over mocks."""
    return ColumnGeneration(master or CountingMaster(), pricer or Supply(), **options).run()


def watched(*callbacks: Any, count: int = 6, **options: Any) -> Any:
    """A run with callbacks until a pricer that proves nothing has no more columns."""
    return run(pricer=Supply(count, exact=False), callbacks=callbacks, **options)


def scripted(*scores: float) -> Callable[[Round], None]:
    """A monitor that gives round k the k-th score."""

    def monitor(turn: Round) -> None:
        turn.scores["validation_error"] = scores[turn.number]

    return monitor


@dataclass(frozen=True, kw_only=True)
class Stop(Case[ColumnGeneration]):
    """A run that ends.

    Parameters
    ----------
    reason : StopReason
    words : tuple of str
        In its message.
    has : mapping of str to object
        Values of the result; ``n_columns`` and ``keys`` are those of its columns.
    """

    reason: StopReason
    words: Sequence[str] = ()
    has: Mapping[str, Any] = field(default_factory=dict)


def stop(
    name: str,
    reason: StopReason,
    *words: str,
    master: Callable[[], CountingMaster] = CountingMaster,
    pricer: Callable[[], Any] = Supply,
    options: Mapping[str, Any] | None = None,
    **has: Any,
) -> Stop:
    """A case."""

    def make() -> ColumnGeneration:
        return ColumnGeneration(master(), pricer(), **options or {})

    return Stop(name=name, make=make, reason=reason, words=words, has=has)


def bounded(bound: Any, **more: Any) -> Callable[[], CountingMaster]:
    """Makes masters with a bound."""
    return lambda: CountingMaster(bound, **more)


def supply(count: int = 3, **more: Any) -> Callable[[], Supply]:
    """Makes pricers with so many columns."""
    return lambda: Supply(count, **more)


R = StopReason
FULL = {"max_columns": 3}
LATE = MasterError("out of time", timed_out=True)

STOPS = [
    # proofs, and what is none
    stop("nothing found", R.OPTIMAL, "no column prices out", master=bounded(7.0), pricer=supply(),
         objective=7.0, bound=7.0, gap=0.0, n_rounds=4),
    stop("gap", R.GAP, master=bounded(4.0), options={"tol": 0.2}, objective=5.0, gap=0.2),
    stop("open gap", R.STALLED, "too inaccurate", "bound is not tight",
         "use a more exact solver, or allow a larger tol", master=bounded(1.0), pricer=supply()),
    stop("no bound", R.STALLED, "but the master gives no bound", pricer=supply(), bound=None),
    stop("heuristic", R.NO_COLUMN, "it is not exact", master=bounded(7.0),
         pricer=supply(exact=False), bound=None, gap=math.inf),
    stop("exhausted", R.EXHAUSTED, pricer=lambda: Spent(2), n_columns=2),
    stop("exhausted with a gap", R.EXHAUSTED, master=bounded(1.0), pricer=lambda: Spent(2)),
    stop("exhausted by a heuristic", R.NO_COLUMN, pricer=lambda: Spent(2, exact=False)),
    stop("bound by rounding above", R.OPTIMAL, master=bounded(7.0 + 1e-9), pricer=supply(),
         gap=1e-9 / 7.0),
    stop("bound by 1e-15 above", R.OPTIMAL, master=bounded(7.0 * (1.0 + 1e-15)), pricer=supply(),
         bound=7.0 * (1.0 + 1e-15), options={"tol": 1e-6}),
    stop("bound by 1e-8 above", R.OPTIMAL, "the lower bound exceeds the objective by 1e-08",
         master=bounded(7.0 + 7e-8), pricer=supply(), options={"tol": 1e-6}, gap=1e-8),
    stop("bound further above than tol", R.STALLED, master=bounded(7.0 + 7e-8), pricer=supply(),
         options={"tol": 1e-9}, gap=1e-8),
    stop("flat", R.STALLED, "objective 10", "bound 1", master=flat, pricer=supply(1000),
         n_rounds=FLAT_ROUNDS + 1),
    stop("flat for long", R.STALLED, "no column prices out", master=lambda: flat(90),
         pricer=supply(500), n_rounds=501),
    stop("columns of 1", R.STALLED, "use a more exact solver, or allow a larger tol",
         master=lambda: begun(CountingMaster(1.0), column("a", (1.0, 0.0))), pricer=supply(0)),
    *(stop(f"columns of {size:g}", R.STALLED, "the largest value of a column is",
           master=lambda size=size: begun(CountingMaster(1.0), column("a", (size, 0.0))),
           pricer=supply(0)) for size in (1e-4, 2e5)),
    stop("at its upper bound", R.GAP, master=bounded(9.0), pricer=capped, objective=9.0, bound=9.0),
    stop("at its upper bound, with a gap", R.ONLY_DUPLICATES, "duals.capped", master=bounded(1.0),
         pricer=capped),
    stop("no minimum", R.UNBOUNDED, "falls without end", master=falling, n_columns=3),
    stop("no minimum, with a bound", R.UNBOUNDED, master=lambda: falling(1.0), n_columns=3),
    stop("no minimum in the last round", R.UNBOUNDED, master=lambda: falling(proves=False),
         options=FULL),
    stop("best bound", R.MAX_COLUMNS, master=lambda: CountingMaster(iter([-5.0, 3.0, -100.0, 2.0])),
         options=FULL, bound=3.0),
    # limits
    stop("columns", R.MAX_COLUMNS, options={"max_columns": 10, "columns_per_round": 4},
         n_columns=10),
    stop("a limit of another", R.COLUMN_LIMIT,
         options=FULL | {"columns_reason": R.COLUMN_LIMIT}, n_columns=3),
    stop("columns, certified", R.MAX_COLUMNS, master=bounded(2.0), pricer=Partial, options=FULL,
         bound=2.0, gap=5 / 7),
    stop("columns, never exact", R.MAX_COLUMNS, master=bounded(2.0), pricer=supply(9, exact=False),
         options=FULL, bound=None),
    *(stop(f"three at once, room for {limit}", R.MAX_COLUMNS, options={"max_columns": limit},
           pricer=lambda: Offering(lambda n: [column(n + k) for k in range(3)]),
           keys=list(range(limit))) for limit in (1, 4, 5)),
    stop("rounds", R.MAX_ROUNDS, "4 rounds", master=bounded(2.0), options={"max_rounds": 4},
         n_rounds=4, n_columns=3, bound=2.0, gap=5 / 7),
    stop("one round", R.MAX_ROUNDS, options={"max_rounds": 1}, n_rounds=1),
    stop("rounds, and a proof", R.OPTIMAL, master=bounded(7.0), pricer=supply(),
         options={"max_rounds": 4}),
    stop("rounds, certified", R.MAX_ROUNDS, master=bounded(2.0), pricer=Partial,
         options={"max_rounds": 3}, bound=2.0),
    stop("time", R.TIME, options={"time_limit": 1e-9}, n_columns=0),
    stop("callback", R.CALLBACK, "after round 3", options={
        "callbacks": [lambda turn: turn.columns == 3]}, n_columns=3, n_rounds=4),
    # columns that are known
    stop("the same again", R.ONLY_DUPLICATES, "only columns already in the master price out",
         pricer=lambda: Offering(lambda n: [column("a"), column("b")]), keys=["a", "b"]),
    stop("twice in one round", R.MAX_COLUMNS, options=FULL,
         pricer=lambda: Offering(lambda n: 2 * [column(n)]), keys=[0, 1, 2]),
    # what breaks, and what is kept of the rounds before
    stop("Ctrl-C", R.INTERRUPTED, master=bounded(None, fail_at=3, error=KeyboardInterrupt()),
         n_columns=2),
    stop("master fails", R.MASTER_FAILED, "singular basis", master=bounded(None, fail_at=2),
         n_columns=1),
    stop("master refuses columns", R.MASTER_FAILED, "ValueError: full",
         master=bounded(None, full_at=2), n_columns=2),
    *(stop(f"master without {name}", R.MASTER_FAILED,
           master=bounded(None, change=only_at(2, **{name: value})), n_columns=1)
      for name, value in (("pseudo_response", np.array([0.0, math.nan])), ("objective", math.nan))),
    stop("infinite duals", R.MASTER_FAILED, n_columns=1,
         master=bounded(None, change=only_at(2, pseudo_response=np.array([0.0, math.inf])))),
    stop("master of one's own columns", R.MASTER_FAILED, keys=["given"],
         master=lambda: begun(CountingMaster(fail_at=1), column("given"))),
    *(stop(f"out of time in solve {k}", R.TIME, master=bounded(None, fail_at=k, error=LATE),
           n_columns=k - 1) for k in (1, 2)),
    stop("pricer fails", R.PRICER_FAILED, "in my pricer", pricer=supply(broken=MY_ERROR),
         error=MY_ERROR, n_columns=1),
    stop("pricer fails without words", R.PRICER_FAILED, "ZeroDivisionError",
         pricer=supply(broken=ZeroDivisionError())),
    *(stop(f"pricer with {name}", R.PRICER_FAILED, words, pricer=supply(broken=broken))
      for name, broken, words in (
          ("a value of nan", column("x", (0.0, math.nan)), "not finite"),
          ("a cost of nan", column("y", cost=math.nan), "not finite"),
          ("three values", column("z", (0.0, 0.0, 0.0)), "the master has 2 rows"),
          ("no column at all", "a word", "no attribute"),
      )),
    *(stop(f"false bound {wrong}", R.INVALID_BOUND, objective=9.0, bound=2.0,
           master=lambda wrong=wrong: CountingMaster(iter([1.0, 2.0, wrong])))
      for wrong in (8.5, math.nan)),
    stop("refuted bound", R.INVALID_BOUND, master=bounded(5.5), options={"tol": 1e-9}, bound=None),
]  # fmt: skip
"""Runs over mocks; each ends for its reason."""
