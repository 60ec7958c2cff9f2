"""What a user's rule, or a function of cuts, may return: errors that say what was wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from cgboost.exceptions import CGBoostError
from cgboost.integer.branching.decisions import (
    SubsetRow,
    is_restriction,
    is_row,
    rows_named,
)
from cgboost.integer.branching.rules import Branch, BranchingRule
from cgboost.optimizers.linear.restricted_primal import MasterRows


class BranchingError(CGBoostError, ValueError):
    """A branching rule makes decisions that the pricer does not respect."""

    section = "branch-and-price"


def check_cuts(cuts: Any, known: Collection[type], rows: MasterRows) -> list[Any]:
    """Rows that a function of cuts has returned, or a BranchingError."""
    if not isinstance(cuts, Iterable):
        raise BranchingError(f"cuts must return a sequence of rows, got {cuts!r}")
    every = list(cuts)
    for row in every:
        if type(row) not in known:
            raise BranchingError(
                f"a cut of the kind {type(row).__name__} was returned, which the pricer does not "
                "say that it respects"
            )
        check_rows(row, rows)
    return every


def check_branches(rule: BranchingRule, branches: Sequence[Any], rows: MasterRows) -> None:
    """Raise a BranchingError unless these are branches with decisions that the rule names."""
    name = type(rule).__name__
    for branch in branches:
        if not isinstance(branch, Branch):
            raise BranchingError(f"{name}.branches must return Branch objects, got {branch!r}")
        if not branch.children:
            raise BranchingError(f"{name} gave the branch {branch.name!r}, without children")
        for decisions in branch.children:
            if not isinstance(decisions, Sequence) or not decisions:
                raise BranchingError(
                    f"{name} gave the branch {branch.name!r} with the child {decisions!r}: "
                    "each child must be a sequence of at least one decision"
                )
            for decision in decisions:
                _check_decision(decision, rule)
                check_rows(decision, rows)


def _check_decision(decision: Any, rule: BranchingRule) -> None:
    name, kinds = type(rule).__name__, ", ".join(kind.__name__ for kind in rule.makes)
    if not (is_restriction(decision) or is_row(decision)):
        raise BranchingError(
            f"{name} made {decision!r}, which is no decision: it needs a method "
            "allows(column, rows), or coefficient(column, rows), sense and rhs"
        )
    if not isinstance(decision, tuple(rule.makes)):
        raise BranchingError(
            f"{name} made the decision {decision!r}, which is of none of the kinds that it names "
            f"({kinds})"
        )


def check_rows(decision: Any, rows: MasterRows) -> None:
    """Raise a BranchingError if a decision names rows that it cannot be about."""
    names = list(rows.names)
    for name in rows_named(decision):
        if name not in names:
            raise BranchingError(
                f"{decision} names the row {name!r}, which the master does not have; it has "
                f"{names[:10]}"
            )
        number = names.index(name)
        if isinstance(decision, SubsetRow) and (
            rows.senses[number] == ">=" or rows.rhs[number] != 1.0
        ):
            raise BranchingError(
                f"{decision} is a cut for rows ≤ 1 or = 1, but the row {name!r} is "
                f"{rows.senses[number]} {rows.rhs[number]:g}"
            )
