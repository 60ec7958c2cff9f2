"""Reasons for which no branching rule divides a node, in words that say what to change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence

import numpy as np

from cgboost.generation.columns import Column
from cgboost.generation.function_pricer import FunctionPricer
from cgboost.generation.protocols import Pricer
from cgboost.integer.branching.decisions import VariableRow
from cgboost.integer.branching.rules import (
    INTEGRAL,
    BranchingRule,
    CountBranching,
    NodeSolution,
    RyanFoster,
    VariableBranching,
    amounts_of,
)
from cgboost.masters.linear.linear_master import LinearMaster
from cgboost.pricing.blockwise import BlockwisePricer

MOST_NAMED = 3
"""Rows that a message names."""

NO_RULE = (
    "the pricer respects {}, and no rule makes only such decisions. CountBranching needs CountRow, "
    "RyanFoster needs Together and Apart, VariableBranching VariableBound (and VariableRow), "
    "ComponentBranching ComponentRow: mark the pricer with @respects(…), or give a rule as "
    "branching="
)

NEEDS_ROW = "the variable {!r} is fractional, and a decision on it is a row: "

ROW_CURES = {
    True: "allow rows with VariableBranching(…, rows=True)",
    False: "price by duals.prices and say @respects(VariableBound, VariableRow)",
}
"""Whether the pricer respects rows of variables, and what to do."""

NEEDS_BLOCK = "{}; or {}, so that it is a bound in the subproblem"


def why_undivided(
    solution: NodeSolution,
    rules: Sequence[BranchingRule],
    respected: Iterable[type],
    missing: str = "",
) -> str:
    """What keeps each of the rules from dividing a solution.

    Parameters
    ----------
    rules : sequence of BranchingRule
        Those that were asked.
    respected : iterable of type
        Kinds of decisions that the pricer respects.
    missing : str, default=""
        What its columns lack if they are whole; see :meth:`Search.missing`.
    """
    known = tuple(respected)
    if not rules:
        return NO_RULE.format(", ".join(kind.__name__ for kind in known) or "no decisions")
    reasons = [f"{type(rule).__name__}: {_reason(rule, solution, known)}" for rule in rules]
    if not solution.fractional.any():
        if not missing:
            return "its columns are whole, but miss the rows by more than rounding"
        reasons.insert(0, missing)
    return "; ".join(reasons)


def _reason(rule: BranchingRule, solution: NodeSolution, respected: Collection[type]) -> str:
    if isinstance(rule, VariableBranching):
        return _of_variables(rule, solution, VariableRow in respected)
    if isinstance(rule, RyanFoster):
        return _of_pairs(rule, solution)
    if isinstance(rule, CountBranching):
        return "the number of columns is whole"
    return "it returns no branch"


def _of_variables(rule: VariableBranching, solution: NodeSolution, respects_rows: bool) -> str:
    loose = _fractional(solution)
    bare = [column for column in loose if not column.variables]
    if bare:
        return (
            f"the column {bare[0].key!r} is taken in part and has no variables: say which, and how "
            "much of each, by Column(variables=…)"
        )
    free, parts = rule.free(solution), _in_blocks(solution)
    totals = amounts_of(solution.columns, solution.coef)
    split = [v for v, z in totals.items() if _is_fractional(z)]
    tied = [v for v in split if v not in free]
    if tied:
        blocks = {block for block, variable in parts if variable == tied[0]}
        return _without_rows(tied[0], blocks, solution, respects_rows)
    own = [name for name, z in parts.items() if name[1] not in free and _is_fractional(z)]
    if own:
        variable = own[0][1]
        named = ", ".join(repr(block) for block, v in own if v == variable)
        return (
            f"the variable {variable!r} is whole in the sum of all blocks, which it divides, and "
            f"not in each of them ({named}): name a variable after its block, too, as "
            f"{(variable, own[0][0])!r}; or make the row of each block '== 1' (copies={{…: 1}})"
        )
    if not loose:
        return "the variables that it divides are whole"
    in_shares = VariableBranching().free(solution)
    left = [v for v in split if v not in in_shares]
    if left:
        return f"the variable {left[0]!r} is fractional, and is not among integer="
    if split and rule.integer is None:
        return (
            f"the variable {split[0]!r} is fractional, but columns that need not be whole have it: "
            "if it must be whole, name it in integer=[…]"
        )
    return (
        "all variables are whole, but columns are not: variables that differ between these "
        "columns, or another rule, can part them"
    )


def _is_fractional(value: float) -> bool:
    return abs(value - round(value)) > INTEGRAL


def _without_rows(
    variable: Hashable,
    blocks: set[Hashable | None],
    solution: NodeSolution,
    respects_rows: bool,
) -> str:
    """Why a decision on a variable cannot be a bound in a subproblem."""
    row = NEEDS_ROW.format(variable) + ROW_CURES[respects_rows]
    if len(blocks) > 1:
        return f"{row}; or name it after its block, too"
    [block] = blocks
    if block is None:
        return NEEDS_BLOCK.format(
            row, "name its subproblem by Column.block, a row '== 1' of copies={…: 1}"
        )
    if block not in solution.once and solution.rows.get(block) is not None:
        return NEEDS_BLOCK.format(
            row, _as_a_block(block, str(solution.senses[solution.rows[block]]))
        )
    if block not in solution.once:
        return NEEDS_BLOCK.format(row, f"make its block {block!r} a row '== 1' of copies={{…: 1}}")
    return row


def _as_a_block(block: Hashable, sense: str) -> str:
    """What makes a block of a row that a column of it has a 1 in."""
    passed = f"pass copies={{{block!r}: 1, …}} to LinearMaster"
    if sense == "==":
        return f"{passed}, which says that {block!r} is its row"
    return (
        f"make its row {block!r} '== 1' (it is '{sense}'), with a column of cost 0 that has a 1 "
        f"there alone where nothing need be taken, and {passed}"
    )


def wanted_bound(pricer: Pricer) -> str:
    """What gives a bound where a pricer gave none, in words for who wrote it."""
    if isinstance(pricer, FunctionPricer | BlockwisePricer):
        return "return (columns, bound)"
    if type(pricer).__module__.startswith("cgboost."):
        return "its pricing problems were not solved to the end, give more time"
    return "return Priced(columns, exact=True, reduced_cost=bound)"


def missing_copies(master: LinearMaster) -> str:
    """What gives bounds before nothing prices out, where rows ``<= 1`` look like blocks; or ""."""
    if master.copies is not None or master.least_cost is not None:
        return ""
    own = master.constraints
    pairs = zip(own.names, own.senses, own.rhs, strict=True)
    rows = [name for name, sense, rhs in pairs if sense == "<=" and rhs == 1.0]
    if not rows:
        return ""
    more = ", …" if len(rows) > MOST_NAMED else ""
    named = ", ".join(f"{row!r}: 1" for row in rows[:MOST_NAMED])
    return (
        "; there is no bound yet: if every column has a 1 in exactly one of the rows '<= 1', pass "
        f"copies={{{named}{more}}} to LinearMaster, and the pricer's bounds count in every round"
    )


def _of_pairs(rule: RyanFoster, solution: NodeSolution) -> str:
    ones = solution.rhs == 1.0
    loose = np.array([column.values != 0 for column in _fractional(solution)]).any(axis=0)
    if not rule.subset_closed and (ones & loose & (solution.senses == ">=")).any():
        return (
            "it divides rows '== 1', and here rows are '>= 1'. Where a column without one of its "
            "rows is a column too, and costs no more, take branching=RyanFoster(subset_closed=True)"
        )
    if not (ones & loose).any():
        return "it divides rows '== 1', and these columns are in none"
    if (ones & loose & solution.shared).any():
        return "columns that need not be whole are in the rows '== 1', too"
    return "each pair of rows '== 1' is together in a whole number of columns"


def _fractional(solution: NodeSolution) -> list[Column]:
    return [solution.columns[j] for j in np.flatnonzero(solution.fractional).tolist()]


def _in_blocks(solution: NodeSolution) -> dict[tuple[Hashable | None, Hashable], float]:
    """Amounts of all variables in each block."""
    parts: dict[tuple[Hashable | None, Hashable], float] = defaultdict(float)
    for column, x in zip(solution.columns, solution.coef.tolist(), strict=True):
        for variable, amount in column.variables.items():
            parts[column.block, variable] += amount * x
    return parts
