"""What float64 leaves of a certificate.

A bound rests on scores s_j = h_j·r, sums of n terms that mostly cancel: with u the unit of rounding
each is off by about u·|h_j|·|r|. So are the sums of the objective and of the dual objective, whose
terms are those of Σ_j α_j s_j + b·Σr. A loss is a difference of numbers, y and f, that may be much
larger than itself: rounding is relative to them (:attr:`MasterState.magnitude`), not to what they
leave. What that can do to a gap no solver can undo.
(Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, section 3.1.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cgboost.arrays import Vector
from cgboost.generation.columns import Column
from cgboost.generation.protocols import MasterState
from cgboost.tolerances import EPSILON

DIGITS_LOST = 1e-3
"""A score that is off by so much, where 1 is what a column may score, is worth a word."""

WORTH_A_WORD = 0.02
"""Rounding of this share of a gap is worth a word. The estimate may be off by a factor of ten or so
either way: errors of many terms partly cancel, and those of a solver's answer come on top."""


FEW_ROUNDINGS = 10.0
"""Numbers are equal if they differ by no more than so many times the rounding that is estimated."""


def score_errors(columns: Sequence[Column], response: Vector) -> Vector:
    """About what rounding does to each score, u·|h_j|·|r|, shape (n_columns,)."""
    size = np.abs(response)
    return EPSILON * np.array([float(np.vdot(np.abs(c.values), _of(c, size))) for c in columns])


DUAL_DIGITS = 1e-9
"""Of the largest dual: what solvers of linear and quadratic programs attain at best."""

MUCH = 1e-2
"""An error of scores that keeps a gap open."""


def rounding_of(state: MasterState) -> float:
    """About what rounding may do to objective − bound at a state, in units of the objective.

    That is u·(|objective| + magnitude + Σ|α_j|·|h_j|·|r| + |b|·Σ|r|), and what the errors of scores
    take off a bound: where each counts for itself, its own; where a column must not score above its
    limit, the largest scales all down.
    """
    if not np.isfinite(state.objective):
        return np.inf
    used = np.flatnonzero(state.coef)
    errors = score_errors([state.columns[int(j)] for j in used], state.pseudo_response)
    offset = np.abs(state.intercept).sum() * float(np.abs(state.pseudo_response).sum())
    total = EPSILON * (abs(state.objective) + state.magnitude + offset) + float(
        np.abs(state.coef[used]) @ errors
    )
    if state.entry is None or not len(errors):
        return total
    at = state.entry.settled(np.inf)
    if state.entry.additive:
        return total + float(state.entry.excess(at + errors).sum()) * state.gap_scale
    return total + abs(state.objective) * float(errors.max()) / (at if at > 0 else np.inf)


def allowance(magnitude: float) -> float:
    """By how much objectives and bounds may differ though they are equal.

    That is from the numbers that a loss is a difference of alone. What large columns do besides,
    where an answer may be far from the optimum and float64 not show it, makes nothing equal.
    """
    return FEW_ROUNDINGS * EPSILON * magnitude


def rounding_in_words(state: MasterState, gap: float) -> str:
    """What of a relative gap is rounding, with the reason; nothing where it is almost nothing."""
    share = rounding_of(state) / state.gap_scale
    if not np.isfinite(gap) or share < WORTH_A_WORD * gap:
        return lost_digits(state.columns, state.pseudo_response)
    words = lost_digits(state.columns, state.pseudo_response, least=0.0)
    return f"; rounding alone makes a gap of about {share:.0e}{words}"


def lost_digits(columns: Sequence[Column], response: Vector, *, least: float = DIGITS_LOST) -> str:
    """What float64 leaves of the scores of the largest columns, if an error exceeds ``least``."""
    error = float(score_errors(columns, response).max(initial=0.0))
    if not error > least:
        return _inexact_duals(columns, response)
    largest = max(float(np.abs(column.values).max(initial=0.0)) for column in columns)
    return (
        f"; with columns of entries up to {largest:.0e}, float64 leaves their scores an error of "
        f"{error:.0e}: no solver can do better, standardised features or normalised kernels can"
    )


def _inexact_duals(columns: Sequence[Column], response: Vector) -> str:
    """What duals that are right to ``DUAL_DIGITS`` leave of scores, if that is much."""
    if not columns:
        return ""
    sums = max(float(np.abs(column.values).sum()) for column in columns)
    error = DUAL_DIGITS * float(np.abs(response).max(initial=0.0)) * sums
    if not error > MUCH:
        return ""
    largest = max(float(np.abs(column.values).max(initial=0.0)) for column in columns)
    return (
        f"; with columns of entries up to {largest:.0e}, duals that are right to {DUAL_DIGITS:.0e} "
        f"of the largest leave an error of {error:.0e} in scores that are compared with 1: "
        "standardise the features or normalise the kernels"
    )


def _of(column: Column, size: Vector) -> Vector:
    """|r| of the output that a column belongs to."""
    return size if size.ndim == 1 else size[:, column.output]
