"""Progress of a run: one live line on a terminal or in a notebook, plain lines elsewhere."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from cgboost.generation.history import Result, Round, StopReason
from cgboost.generation.live_line import Reporter, bar_of_width, duration, gap_in_words

IN_WORDS = {
    StopReason.OPTIMAL: "optimal",
    StopReason.GAP: "gap reached",
    StopReason.NO_COLUMN: "no column found",
    StopReason.ONLY_DUPLICATES: "no new column found",
    StopReason.STALLED: "stalled short of the gap",
    StopReason.MAX_COLUMNS: "max_columns reached",
    StopReason.COLUMN_LIMIT: "as many columns as allowed",
    StopReason.MAX_ROUNDS: "max_rounds reached",
    StopReason.TIME: "time limit",
    StopReason.CALLBACK: "stopped by a callback",
    StopReason.EARLY_STOPPING: "stopped early",
    StopReason.INTERRUPTED: "interrupted",
    StopReason.MASTER_FAILED: "solver failed",
    StopReason.PRICER_FAILED: "search for columns failed",
    StopReason.INVALID_BOUND: "contradictory bound",
    StopReason.UNBOUNDED: "the loss falls without end",
    StopReason.EXHAUSTED: "no further column",
    StopReason.INFEASIBLE: "infeasible",
    StopReason.CUT_OFF: "cut off by the best solution",
    StopReason.MAX_NODES: "max_nodes reached",
    StopReason.NO_BRANCHING: "nothing to branch at",
    StopReason.WORKER_FAILED: "a worker failed",
}
"""Each stop reason as a progress line ends with it."""

SOONEST = 1.0
"""Seconds after which the time left can be guessed."""

NARROWEST, WIDEST = 6, 40
"""Characters of a bar; where there is less room it is left out."""


class ProgressLine(Reporter):
    """One live line: rounds, columns, the gap on its way to ``tol``, a score, the time left.

    The bar shows the progress of the run, on a logarithmic scale of the gap, or towards the limit
    that will be reached first. On a terminal, and in a notebook with ipywidgets, the line is drawn
    by ``rich.progress`` and is finally replaced by a line that gives the stop reason. Elsewhere a
    plain line is written at most once every ``interval`` seconds and at the end.

    Parameters
    ----------
    label : str, default=""
        Prefix of every line.
    interval : float, default=2.0
        Seconds between lines without a terminal.
    console : rich.console.Console or None
        Where to write; None means the standard error stream.
    tol, max_columns, max_rounds, time_limit : float or None
        The limits of the run, if known.
    every_round : bool, default=False
        Whether to write a line for each round, with the columns generated in it.
    """

    def __init__(
        self,
        label: str = "",
        *,
        interval: float = 2.0,
        console: Any = None,
        tol: float | None = None,
        max_columns: int | None = None,
        max_rounds: int | None = None,
        time_limit: float | None = None,
        every_round: bool = False,
    ) -> None:
        self.tol = tol
        self.max_columns = max_columns
        self.max_rounds = max_rounds
        self.time_limit = time_limit
        self.every_round = every_round
        super().__init__(label, interval, console)

    def _start_afresh(self) -> None:
        super()._start_afresh()
        self._columns = 0
        self._widest_gap = 0.0
        self._shares: list[tuple[float, float]] = []

    def __call__(self, current: Round) -> None:
        """Show the round."""
        if current.number == 0:
            self.close()
            self._start_afresh()
        share = self._share(current)
        self._shares.append((current.seconds, share))
        if self.every_round:
            self._write(self._text(current, self._generated(current)))
        elif not self._is_lively and self._is_time_for_a_line(current.seconds):
            self._write(self._text(current))
        if self._is_due(current.seconds):
            self._draw_round(current, share)

    def finish(self, result: Result) -> None:
        """Write a final line with the stop reason and the kept round."""
        self.close()
        is_last = result.best_round == result.n_rounds - 1
        kept = "" if is_last else f"; round {result.best_round} kept"
        columns = result.history["columns"][result.best_round]  # but those that have left
        rounds = "1 round" if result.n_rounds == 1 else f"{result.n_rounds} rounds"
        self._write(
            f"{self.label}{IN_WORDS[result.stop_reason]} after {rounds}, "
            f"{result.history['seconds'][-1]:.1f} s{kept}: {columns_in_words(int(columns))}, "
            f"objective {result.objective:.6g}, gap {gap_in_words(result.gap)}"
        )

    # ------------------------------------------------------------------ how far, how long

    def _share(self, current: Round) -> float:
        """How far the run has come, from 0 to 1, by what will end it first."""
        shares = [0.0]
        if math.isfinite(current.gap):
            self._widest_gap = max(self._widest_gap, current.gap)
            if self.tol:
                way = math.log(self._widest_gap / self.tol) if self._widest_gap > self.tol else 0.0
                left = math.log(current.gap / self.tol) if current.gap > self.tol else 0.0
                shares.append(1.0 - left / way if way else 1.0)
        if self.max_columns is not None:
            shares.append(current.columns / self.max_columns)
        if self.max_rounds is not None:
            shares.append((current.number + 1) / self.max_rounds)
        if self.time_limit:
            shares.append(current.seconds / self.time_limit)
        return min(1.0, max(shares))

    def _left(self, seconds: float) -> float | None:
        """Seconds that are left at the pace of the second half of the run so far."""
        if seconds < SOONEST:
            return None
        now, share = self._shares[-1]
        then, before = next(entry for entry in self._shares if 2 * entry[0] >= now)
        left = math.inf
        if share > before:
            left = (1.0 - share) * (now - then) / (share - before)
        if self.time_limit:
            left = min(left, max(0.0, self.time_limit - seconds))
        return left if math.isfinite(left) else None

    # ------------------------------------------------------------------ what is shown

    def _draw_round(self, current: Round, share: float) -> None:
        first = f"{self.label}round {current.number}, {columns_in_words(current.columns)}"
        aims, times = self._aims(current), self._times(current)
        last, room = "", 0
        for parts in ([*aims, *times], [*aims, times[-1]], [aims[0], times[-1]]):
            last = ", ".join(parts)
            room = self._console.width - len(first) - len(last) - 2
            if room >= NARROWEST:
                break
        bar = bar_of_width(min(room, WIDEST) if room >= NARROWEST else 1)
        total = 1.0 if share else None  # without a sign of its end the bar only moves
        task = {"description": first, "words": last, "completed": share, "total": total}
        self._draw(bar, task)

    def _aims(self, current: Round) -> list[str]:
        aim = f" → {self.tol:.0e}" if self.tol else ""
        known = math.isfinite(current.gap)
        gap = (
            f"gap {gap_in_words(current.gap)}{aim}"
            if known
            else f"objective {current.objective:.4g}"
        )
        scores = [f"{name.replace('_', ' ')} {score:.4g}" for name, score in current.scores.items()]
        return [gap, *scores[:1]]

    def _times(self, current: Round) -> list[str]:
        left = self._left(current.seconds)
        ahead = [] if left is None else [f"about {duration(left)} left"]
        return [duration(current.seconds), *ahead]

    def _generated(self, current: Round) -> str:
        """The columns that are new in this round, by stratum."""
        new = current.state.columns[self._columns :]
        if not new:
            return ""
        self._columns = len(current.state.columns)
        strata = Counter(column.stratum for column in new)
        named = ", ".join(f"{name} {n}" for name, n in strata.items() if name)
        return f"+{len(new)} ({named})" if named else f"+{len(new)}"

    def _text(self, current: Round, generated: str = "") -> str:
        bound = "none" if math.isnan(current.bound) else f"{current.bound:.6g}"
        parts = [
            f"{self.label}round {current.number:>4}",
            f"{columns_in_words(current.columns):>13}",
            f"objective {current.objective:>12.6g}",
            f"bound {bound:>12}",
            f"gap {gap_in_words(current.gap):>7}",
            *(f"{name.replace('_', ' ')} {score:>9.4g}" for name, score in current.scores.items()),
            f"{current.evaluated:>8} evaluated",
            f"{current.seconds:>6.1f} s",
            *self._times(current)[1:],
            *([generated] if generated else []),
        ]
        return "  ".join(parts)


def columns_in_words(number: int) -> str:
    """The number of columns, as words have it."""
    return f"{number} column{'s' * (number != 1)}"
