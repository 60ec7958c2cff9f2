"""What is to be said about a fitted model, whoever asks: ``repr``, a notebook or a report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.generation.history import StopReason
from cgboost.generation.progress import IN_WORDS

Table = Mapping[str, NDArray[Any]]

KINDS = {
    "kernel": ("kernel column", "kernel columns"),
    "n_conditions": ("rule", "rules"),
    "threshold": ("stump", "stumps"),
    "slope": ("straight line", "straight lines"),
    "stage": ("stage", "stages"),
    "factor": ("latent factor", "latent factors"),
    "estimator": ("learner", "learners"),
    "turn": ("change of a function", "changes of functions"),
    "feature": ("column", "columns"),
}
"""By a name in the table of columns, what a column is called: one, and several."""

OUTPUT_KINDS = ("class", "quantile")
"""What outputs are told apart by, as tables name it: the class or the quantile they are for."""

SCORES = ("validation_", "holdout_")
"""What names of scores on held-out rows begin with, unless the user has named the rows."""


def is_score(name: str, monitored: Collection[str] = ()) -> bool:
    """Whether a column of a history is a score on held-out rows.

    ``monitored`` are the columns of the model's ``eval_set``.
    """
    return name in monitored or name.startswith(SCORES)


MOST_NAMES = 4
"""Kernels that a line names one by one."""

LOOSE = 0.01
"""A gap above this is not one of a problem that was solved to its optimum."""

LAST_OF_SEARCH_MEANS = (
    "A search over several problems, each solved to its optimum; the gap is between the model and "
    "a bound that holds for all of them."
)

MEANINGS: Mapping[StopReason, str] = {
    StopReason.OPTIMAL: "A search over all columns found none that would improve the model.",
    StopReason.GAP: "The proven distance to the optimum is as small as was asked for.",
    StopReason.NO_COLUMN: (
        "The search found no further column that helps. It does not look at every column, so that "
        "this proves nothing."
    ),
    StopReason.ONLY_DUPLICATES: "The search returned only columns that the model already has.",
    StopReason.STALLED: (
        "No column helps any more, yet the gap is wider than was asked for: the solver's answers "
        "are not accurate enough, or the bound is not tight."
    ),
    StopReason.MAX_COLUMNS: (
        "The model has as many columns as it was allowed, by a parameter or by cross-validation."
    ),
    StopReason.COLUMN_LIMIT: (
        "The model has as many columns as the estimator allows where max_columns names no fewer."
    ),
    StopReason.MAX_ROUNDS: "All rounds that were asked for are done.",
    StopReason.TIME: "The time limit ended the run; the last complete round is kept.",
    StopReason.CALLBACK: "A callback asked the run to stop.",
    StopReason.EARLY_STOPPING: (
        "The score on held-out rows no longer improved; the round with the best score is kept."
    ),
    StopReason.INTERRUPTED: "Ctrl-C ended the run; the last complete round is kept.",
    StopReason.MASTER_FAILED: "The solver failed; the last good round is kept.",
    StopReason.PRICER_FAILED: "The search for columns failed; the last good round is kept.",
    StopReason.INVALID_BOUND: (
        "A bound contradicts the objective: the search or the solver claims what is not true. Be "
        "careful with this certificate."
    ),
    StopReason.UNBOUNDED: (
        "The loss falls without end, as it does where classes can be separated: there is no "
        "optimum to be near to."
    ),
    StopReason.EXHAUSTED: "There is no further column: the model spans all that the data can make.",
    StopReason.INFEASIBLE: "No column helps to meet the constraints that are violated.",
    StopReason.CUT_OFF: "The bound shows that nothing better than the best solution can be found.",
    StopReason.MAX_NODES: "All nodes of the tree that were asked for are done.",
    StopReason.NO_BRANCHING: (
        "A solution is fractional, and no branching rule finds anything to divide it by."
    ),
    StopReason.WORKER_FAILED: "An executor has lost a worker, or cannot send it what it needs.",
}

SMALL_GAIN = "a round gained almost nothing"
SMALL_GAIN_MEANS = "The last round lowered the loss by less than tol: more would hardly help."


@dataclass(frozen=True)
class RunFacts:
    """One run of the loop.

    Attributes
    ----------
    label : str
        The class or quantile that it is for; empty where one run makes the model.
    objective, bound, gap : float
        At the round that makes the model; −inf and inf without a certificate.
    rounds, kept : int
        Rounds after the empty master, and the one that makes the model.
    scores : dict of str to float
        Scores on held-out rows of the round that makes the model.
    """

    label: str
    objective: float
    bound: float
    gap: float
    stop_reason: StopReason
    message: str
    rounds: int
    kept: int
    scores: dict[str, float]
    seconds: float

    @classmethod
    def of(cls, run: Any, label: str, monitored: Collection[str] = ()) -> RunFacts:
        """What is kept of a :class:`~cgboost.estimators.common.fitted_runs.FittedRun`."""
        scores = {
            name: float(values[run.best_round])
            for name, values in run.history.items()
            if is_score(name, monitored) and math.isfinite(values[run.best_round])
        }
        return cls(
            label=label,
            objective=float(run.objective),
            bound=float(run.bound),
            gap=float(run.gap),
            stop_reason=run.stop_reason,
            message=run.message,
            rounds=len(run.history["round"]) - 1,
            kept=run.best_round,
            scores=scores,
            seconds=float(run.history["seconds"][-1]),
        )


@dataclass(frozen=True)
class Facts:
    """What is true of a fitted model.

    Attributes
    ----------
    size : str
        How many columns it has, and of which kernels; leaves and depth of a tree.
    runs : tuple of RunFacts
        One, or one a class or quantile; none for a model that no loop has made.
    tol : float or None
        The gap that was asked for, None where no certificate was.
    kind : {"class", "quantile"}
        What several runs are for.
    seconds : float
        Of the whole fit, with searches before and after the runs; 0 where it is not known.
    """

    size: str
    runs: tuple[RunFacts, ...]
    tol: float | None
    kind: str = "class"
    seconds: float = 0.0

    @property
    def gap(self) -> float:
        """The largest gap of all runs, inf without a certificate."""
        return max((run.gap for run in self.runs), default=math.inf)

    @property
    def objective(self) -> float:
        """The objectives of all runs added up."""
        return sum(run.objective for run in self.runs)

    @property
    def bound(self) -> float:
        """The bounds of all runs added up, −inf without a certificate."""
        return sum(run.bound for run in self.runs)

    @property
    def certificate(self) -> str:
        """The gap, or that there is no certificate."""
        if not math.isfinite(self.gap):
            return "no certificate"
        within = self.tol is None or self.gap <= self.tol
        return f"gap {self.gap:.1e} ({'certified' if within else 'certified, above tol'})"

    @property
    def end(self) -> str:
        """Why the runs stopped, and after how many rounds."""
        counts = Counter(ended(run.stop_reason, run.gap) for run in self.runs)
        if len(counts) == 1:
            words = next(iter(counts))
        else:
            words = ", ".join(f"{word} ({count})" for word, count in counts.most_common())
        rounds = [run.rounds for run in self.runs]
        span = str(rounds[0]) if len(set(rounds)) == 1 else f"{min(rounds)} to {max(rounds)}"
        each = "" if len(rounds) == 1 else f" for each {self.kind}"
        return f"{words} after {span} round{'' if span == '1' else 's'}{each}"

    @property
    def scores(self) -> dict[str, str]:
        """Scores on held-out rows: of one run, or the mean and the range of several."""
        names = dict.fromkeys(name for run in self.runs for name in run.scores)
        return {name.replace("_", " "): self._score(name) for name in names}

    def _score(self, name: str) -> str:
        values = [run.scores[name] for run in self.runs if name in run.scores]
        if len(self.runs) > 1:
            span = f"{min(values):.3g} to {max(values):.3g}"
            of = "each class against the rest" if self.kind == "class" else f"each {self.kind}"
            return f"{np.mean(values):.4g} (mean, {of}: {span})"
        run = self.runs[0]
        return f"{values[0]:.4g}" + (f" at round {run.kept}" if run.kept < run.rounds else "")

    def words(self) -> list[str]:
        """The facts one by one, as ``repr`` puts them into a line."""
        if not self.runs:
            return [self.size, self.certificate]
        scores = [f"{name} {value}" for name, value in self.scores.items()]
        return [self.size, self.certificate, f"objective {self.objective:.6g}", self.end, *scores]

    def pairs(self) -> list[tuple[str, str]]:
        """The facts with their names, as tables show them."""
        pairs = [("model", self.size), ("certificate", self.certificate)]
        if not self.runs:
            return pairs
        pairs.append(("objective", f"{self.objective:.6g}"))
        if math.isfinite(self.bound):
            pairs.append(("lower bound", f"{self.bound:.6g}"))
        pairs.append(("stopped", self.end))
        pairs += list(self.scores.items())
        of_runs = sum(run.seconds for run in self.runs)  # with those before a fit was resumed
        pairs.append(("time", f"{max(of_runs, self.seconds):.3g} s"))
        return pairs


def facts_of(model: Any) -> Facts | None:
    """What is true of a model, or None as long as it is not fitted."""
    fitted = vars(model)
    if "tree_" in fitted:
        leaves, depth = fitted["n_leaves_"], fitted["depth_"]
        return Facts(f"{leaves} {'leaf' if leaves == 1 else 'leaves'}, depth {depth}", (), None)
    if "stop_reason_" not in fitted:
        return None
    runs = fitted["_runs"]
    target_kind = model._target_kind
    labels = target_kind.run_names
    names = [""] * len(runs) if labels is None else [str(label) for label in labels]
    return Facts(
        size=_size(model),
        runs=tuple(
            RunFacts.of(run, name, fitted.get("_monitored", ()))
            for run, name in zip(runs, names, strict=True)
        ),
        tol=model._tol if "gap_" in fitted else None,
        kind=target_kind.noun,
        seconds=fitted.get("_fit_seconds", 0.0),
    )


def output_kind(table: Mapping[str, Any]) -> str | None:
    """What the runs of a history, or the outputs in a table of columns, are for; None for one."""
    return next((kind for kind in OUTPUT_KINDS if kind in table), None)


def plural(kind: str) -> str:
    """Several of a kind of outputs: "classes", "quantiles"."""
    return kind + ("es" if kind.endswith("s") else "s")


def kind_of(columns: Table, count: int = 2) -> str:
    """What the columns of a model are called: kernel columns, stumps, stages and so on."""
    forms = next((forms for name, forms in KINDS.items() if name in columns), KINDS["feature"])
    return forms[0] if count == 1 else forms[1]


def n_basis_functions(model: Any) -> int:
    """Number of basis functions: latent factors that responses share count once."""
    return int(getattr(model, "_n_features_out", model.n_columns_))


def runs_of(history: Table) -> list[Table]:
    """The history of a model, run by run."""
    starts = np.flatnonzero(history["round"] == 0).tolist()
    if len(starts) < 2:
        return [history]
    ends = [*starts[1:], len(history["round"])]
    return [
        {name: values[first:end] for name, values in history.items()}
        for first, end in zip(starts, ends, strict=True)
    ]


def ended(reason: StopReason, gap: float) -> str:
    """Why a run ended, in two or three words."""
    return SMALL_GAIN if _is_small_gain(reason, gap) else IN_WORDS[reason]


def meaning(reason: StopReason, gap: float) -> str:
    """Why a run ended, in a sentence."""
    if reason is StopReason.OPTIMAL and LOOSE < gap < math.inf:
        return LAST_OF_SEARCH_MEANS
    return SMALL_GAIN_MEANS if _is_small_gain(reason, gap) else MEANINGS[reason]


def proven(objective: float, bound: float, gap: float) -> str:
    """What the certificate of a model proves.

    Parameters
    ----------
    objective, bound, gap : float
        As a model has them; −inf and inf without a certificate.
    """
    if not math.isfinite(gap):
        return (
            "Nothing is proved about how far this model is from the best one of its kind. The "
            "method takes one step after another and does not solve a problem to its optimum, or "
            "its search does not look at every column. Judge it by its scores on rows that it has "
            "not seen."
        )
    return (
        f"No model of this kind, whatever columns it uses, has an objective below {bound:.6g}; "
        f"this one has {objective:.6g}. All columns together, also those that were never "
        f"generated, could lower it by {max(0.0, objective - bound):.2g} at most. The bound holds "
        "whatever the accuracy of the solver; it is about the objective on the training rows, "
        "not about errors on new ones."
    )


def _is_small_gain(reason: StopReason, gap: float) -> bool:
    """Methods without a bound say "gap" where the gain of a round is small."""
    return reason is StopReason.GAP and not math.isfinite(gap)


def _size(model: Any) -> str:
    count = n_basis_functions(model)
    words = f"{count} {kind_of(model.columns_, count)}"
    counts: Mapping[str, int] = getattr(model, "columns_per_kernel_", {})
    if len(counts) < 2:
        return words
    used = sorted(counts.items(), key=lambda item: -item[1])
    shown = used if len(used) <= MOST_NAMES else used[: MOST_NAMES - 1]
    parts = [f"{name} {count}" for name, count in counts.items() if (name, count) in shown]
    if rest := used[len(shown) :]:
        parts.append(f"{len(rest)} others {sum(count for _, count in rest)}")
    return f"{words} ({', '.join(parts)})"
