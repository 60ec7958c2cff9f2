"""The result of a tree search: the best solution, the proven bound, and a table of the tree."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost import above
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.integer.branching.decisions import Decision
from cgboost.integer.branching.rules import amounts_of, declared_parts

TREE = {
    "node": np.int64,
    "parent": np.int64,
    "depth": np.int64,
    "bound": np.float64,
    "status": np.str_,
    "columns": np.int64,
    "incumbent": np.float64,
    "global_bound": np.float64,
    "seconds": np.float64,
}
"""Columns of the table of a tree, and what is in them."""


def tree_table(rows: Sequence[tuple[Any, ...]]) -> dict[str, NDArray[Any]]:
    """The table of a tree, from a row for each node."""
    columns = list(zip(*rows, strict=True)) or [()] * len(TREE)
    return {
        name: np.array(own, dtype=kind)
        for (name, kind), own in zip(TREE.items(), columns, strict=True)
    }


@dataclass(frozen=True)
class IntegerSolution:
    """A solution of a tree search.

    Attributes
    ----------
    objective : float
    columns : tuple of Column
        The columns used.
    coef : ndarray of shape (n_columns,)
        Their coefficients, exactly integer where required.
    found_by : str
        The heuristic that found it, "relaxation" or "start".
    """

    objective: float
    columns: tuple[Column, ...] = field(repr=False)
    coef: NDArray[np.float64] = field(repr=False)
    found_by: str = ""

    @property
    def variables(self) -> dict[Hashable, float]:
        """The nonzero original variables of the solution: Σ_j amount_vj x_j."""
        amounts = amounts_of(self.columns, self.coef)
        return {variable: amount for variable, amount in amounts.items() if amount != 0}

    def times(self, unit: float) -> IntegerSolution:
        """The same solution with costs in another unit."""
        return replace(self, objective=unit * self.objective, columns=_times(unit, self.columns))


def _times(unit: float, columns: Iterable[Column]) -> tuple[Column, ...]:
    """Columns with costs in another unit."""
    return tuple(replace(column, cost=unit * column.cost) for column in columns)


@dataclass(frozen=True, eq=False)
class NodeProof:
    """What the bound of a node rests on.

    Attributes
    ----------
    parent : int
        −1 for the root.
    decisions : tuple of Decision
        From the root to the node.
    duals : ndarray of shape (n_rows,) or None
        Of the rows of the master; of the parent where the node was closed before it was solved.
    """

    parent: int
    decisions: tuple[Decision, ...]
    duals: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class TreeProof:
    """What a search leaves for a certificate: the rows of its master, and its nodes by number."""

    rows: tuple[Hashable, ...]
    senses: tuple[str, ...]
    rhs: NDArray[np.float64]
    nodes: dict[int, NodeProof]

    def times(self, unit: float) -> TreeProof:
        """The same of costs in another unit."""
        nodes = {
            k: replace(node, duals=None if node.duals is None else unit * node.duals)
            for k, node in self.nodes.items()
        }
        return replace(self, nodes=nodes)


@dataclass(frozen=True)
class BranchAndPriceResult:
    """Result of :meth:`BranchAndPrice.run`.

    Attributes
    ----------
    objective : float
        Cost of the best solution found; inf without one.
    bound : float or None
        Lower bound on the cost of all solutions; None without a certificate (the pricer is not
        exact).
    gap : float
        ``objective − bound`` relative to max(|objective + constant|, min(1, largest cost)), or inf.
    columns : tuple of Column
        The columns used in the solution.
    coef : ndarray of shape (n_columns,)
        Their coefficients, exactly integer where required.
    n_nodes : int
        Number of nodes started; if the search is stopped, the last of them is unfinished.
    pool : tuple of Column
        All columns of the search: those of the master, of ``start``, and those that were generated.
    solutions : list of IntegerSolution
        The best ten that were met, best first, each once.
    integer : frozenset of hashable
        Variables that must be integer in a solution, as branching rules say.
    duals : dict of hashable to float
        Duals of the rows in the relaxation of the root, by name; of cuts by the rows themselves.
        Where the search of the root was cut short, they are those of its last restricted master,
        and some reduced costs may be negative. Empty while no columns met the rows.
    reduced_costs : dict of hashable to float
        Of all columns of the pool at these duals, by key.
    stop_reason : StopReason
    message : str
    tree : dict of str to ndarray
        One entry per node, in the order of processing: number, number of the parent, depth, bound
        (rounded up to ``objective_step``), outcome (``"branched"``, ``"integral"``,
        ``"infeasible"``, ``"cut_off"``, ``"undivided"`` by any rule, ``"unfinished"``), columns in
        the pool, and the best solution, the bound of the tree and the seconds since the start,
        after the node.
    error : Exception or None
        The exception of the master or the pricer, if one ended the search.
    seconds : float
        Time of the whole search.
    proof : TreeProof or None
        The nodes with their duals, for :meth:`certificate`; None of a search that was resumed.
    """

    objective: float
    bound: float | None
    gap: float
    columns: tuple[Column, ...] = field(repr=False)
    coef: NDArray[np.float64] = field(repr=False)
    n_nodes: int
    stop_reason: StopReason
    message: str
    tree: dict[str, NDArray[Any]] = field(repr=False)
    error: Exception | None = None
    seconds: float = 0.0
    pool: tuple[Column, ...] = field(default=(), repr=False)
    solutions: list[IntegerSolution] = field(default_factory=list, repr=False)
    integer: frozenset[Hashable] = field(default=frozenset(), repr=False)
    duals: dict[Hashable, float] = field(default_factory=dict, repr=False)
    reduced_costs: dict[Hashable, float] = field(default_factory=dict, repr=False)
    proof: TreeProof | None = field(default=None, repr=False)

    def certificate(
        self,
        path: str | os.PathLike[str],
        *,
        sizes: Mapping[Hashable, int] | Sequence[int] | None = None,
        capacity: int | None = None,
        data: str | os.PathLike[str] | None = None,
    ) -> Path:
        """Prove to everybody how good the best solution is, in a file to be checked.

        ``examples/check_certificate.py`` verifies it in exact arithmetic. Where each row is an item
        and each column a bin, give the sizes: every leaf of the tree is then proved, by duals and a
        knapsack. Of other searches the columns are written next to the file, and the relaxation
        over them is proved: that the pricer has found all that matter is its word alone, and that
        of the solver it asks, as the first line of the file says.

        Parameters
        ----------
        path : str or path-like
            Usually ``proof.json``.
        sizes : mapping of row to int, or sequence of int in the order of rows, or None
        capacity : int or None
            Of a bin.
        data : str, path-like or None
            Where to write the table that the checker reads, .csv or .npy: of a packing, sizes and
            numbers of items. None: nowhere; of columns, next to the file.

        Raises
        ------
        CertificateError
            Where the search has branched by other decisions than pairs of rows, and the root does
            not prove its bound; without a solution; of a resumed search.
        """
        return above.write_tree_certificate(self, path, sizes, capacity, data)

    @property
    def n_generated(self) -> int:
        """Number of columns in the pool at the end."""
        return len(self.pool)

    @property
    def variables(self) -> dict[Hashable, float]:
        """The nonzero original variables of the solution: Σ_j amount_vj x_j."""
        return IntegerSolution(self.objective, self.columns, self.coef).variables

    @property
    def whole_sums(self) -> list[list[tuple[int, float]]]:
        """Sums of columns of the pool that must be whole: places and amounts of each variable."""
        return list(declared_parts(self.pool, self.integer).values())

    def times(self, unit: float) -> BranchAndPriceResult:
        """The same result with costs in another unit."""
        costs = ("bound", "incumbent", "global_bound")
        tree = {name: own * unit if name in costs else own for name, own in self.tree.items()}
        return replace(
            self,
            objective=unit * self.objective,
            bound=None if self.bound is None else unit * self.bound,
            columns=_times(unit, self.columns),
            pool=_times(unit, self.pool),
            solutions=[solution.times(unit) for solution in self.solutions],
            duals={row: unit * dual for row, dual in self.duals.items()},
            reduced_costs={key: unit * cost for key, cost in self.reduced_costs.items()},
            proof=None if self.proof is None else self.proof.times(unit),
            tree=tree,
        )

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """A short summary as text."""
        bound = "none" if self.bound is None else f"{self.bound:.8g}"
        return "\n".join(
            [
                f"stopped      {self.stop_reason}: {self.message}",
                f"objective    {self.objective:.8g}",
                f"lower bound  {bound}",
                f"gap          {self.gap:.2e}",
                f"columns      {self.n_generated} generated, {len(self.columns)} used",
                f"nodes        {self.n_nodes}",
                f"seconds      {self.seconds:.3f}",
            ]
        )
