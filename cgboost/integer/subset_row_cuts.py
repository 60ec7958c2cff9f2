"""Subset-row cuts on three rows: at most one column of a solution has two of them.

    Σ_j ⌊½ Σ_{i∈S} h_ij⌋ x_j ≤ 1,    |S| = 3

Jepsen, Petersen, Spoorendonk, Pisinger, *Subset-row inequalities applied to the vehicle-routing
problem with time windows*, Operations Research 56, 2008.
"""

from __future__ import annotations

import numpy as np

from cgboost.integer.branching.decisions import SubsetRow, check_number, check_whole
from cgboost.integer.branching.rules import NodeSolution


class SubsetRowCuts:
    """Cuts on three rows ``= 1`` or ``≤ 1``, for pricers that respect :class:`SubsetRow`.

    Give it to :class:`~cgboost.BranchAndPrice` as one of its ``cuts``.

    Parameters
    ----------
    most : int, default=64
        Cuts of a search, at most.
    per_round : int, default=12
        Cuts that one call adds, at most; those that the solution violates most.
    per_row : int, default=3
        And so many of them on one row.
    least : float, default=0.1
        Violation from which on a cut is added.
    """

    def __init__(
        self, most: int = 64, *, per_round: int = 12, per_row: int = 3, least: float = 0.1
    ) -> None:
        for name, value in (("most", most), ("per_round", per_round), ("per_row", per_row)):
            check_whole(name, value, 0)
        check_number("least", least, 0.0)
        self.most, self.per_round, self.per_row, self.least = most, per_round, per_row, least

    def __call__(self, solution: NodeSolution) -> list[SubsetRow]:
        """Rows that a solution violates."""
        known = {row for row in solution.decisions if isinstance(row, SubsetRow)}
        room = min(self.per_round, self.most - len(known))
        if room <= 0 or not solution.columns:
            return []
        names, fits = list(solution.rows), (solution.senses != ">=") & (solution.rhs == 1.0)
        values = np.array([column.values for column in solution.columns])[:, fits]
        integer = np.array([column.integer for column in solution.columns], dtype=np.bool_)
        if not integer.all() or not np.isin(values, (0.0, 1.0)).all():
            return []
        shares = values * solution.coef[:, None]
        pair = shares.T @ values
        triple = np.einsum("ja,jb,jc->abc", shares, values, values, optimize=True)
        two = pair[:, :, None] + pair[:, None, :] + pair[None, :, :] - 2.0 * triple
        a, b, c = np.nonzero(two > 1.0 + self.least)
        ordered = (a < b) & (b < c)
        a, b, c = a[ordered], b[ordered], c[ordered]
        order = np.argsort(-two[a, b, c], kind="stable")
        names = [name for name, own in zip(names, fits.tolist(), strict=True) if own]
        found: list[SubsetRow] = []
        used = np.zeros(len(names), dtype=np.intp)
        for triplet in zip(a[order].tolist(), b[order].tolist(), c[order].tolist(), strict=True):
            if len(found) == room:
                break
            row = SubsetRow(frozenset(names[place] for place in triplet))
            if row not in known and (used[list(triplet)] < self.per_row).all():
                found.append(row)
                used[list(triplet)] += 1
        return found
