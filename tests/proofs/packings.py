"""Bin packings whose certificates are written and checked."""

from pathlib import Path
from typing import Any

import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.integer import RyanFoster
from cgboost.masters import LinearMaster
from tests.integer.tree_problems import AllColumns, indicator, subsets


def instance(seed: int) -> tuple[list[int], int]:
    """Sizes and capacity."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 10))
    return rng.integers(15, 60, size=n).tolist(), 100


def packed(sizes: list[int], capacity: int, **options: Any) -> Any:
    """The search, over all bins, by pairs of items."""
    n, size = len(sizes), np.array(sizes)
    columns = [
        Column(indicator(n, own), own, cost=1.0)
        for own in subsets(n)
        if size[list(own)].sum() <= capacity
    ]
    master = LinearMaster(range(n), "==", np.ones(n), least_cost=1.0)
    master.add([column for column in columns if len(column.key) == 1])
    pricer = AllColumns(range(n), columns)
    own = {"branching": [RyanFoster()], "objective_step": 1.0} | options
    return BranchAndPrice(master, pricer, **own).run()


def certified_packing(seed: int, folder: Path) -> tuple[Path, Path]:
    """The files of one packing; of every second one the search has nothing but its branches."""
    sizes, capacity = instance(seed)
    bare = {"heuristics": (), "objective_step": None} if seed % 2 else {}
    result = packed(sizes, capacity, **bare)
    proof, table = folder / "proof.json", folder / "items.csv"
    result.certificate(proof, sizes=sizes, capacity=capacity, data=table)
    return proof, table
