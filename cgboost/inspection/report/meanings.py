"""What the end of a run and its certificate mean, in sentences for a person."""

from __future__ import annotations

import math
from collections.abc import Mapping

from cgboost.generation.callbacks import IN_WORDS
from cgboost.generation.history import StopReason

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
    StopReason.MAX_COLUMNS: "The model has as many columns as it was allowed.",
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
}

SMALL_GAIN = "a round gained next to nothing"
SMALL_GAIN_MEANS = "The last round lowered the loss by less than tol: more would hardly help."


def ended(reason: StopReason, gap: float) -> str:
    """Why a run ended, in two or three words."""
    return SMALL_GAIN if _is_small_gain(reason, gap) else IN_WORDS[reason]


def meaning(reason: StopReason, gap: float) -> str:
    """Why a run ended, in a sentence."""
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
