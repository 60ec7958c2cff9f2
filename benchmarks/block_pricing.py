"""Pricing problems of blocks: special algorithms compared with HiGHS.

Prints CPU milliseconds for each pricing problem, and the ratio::

    python benchmarks/block_pricing.py
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from cgboost.integer.decomposition.pricing.assignment_block import AssignmentBlock
from cgboost.integer.decomposition.pricing.block import Block, BlockRequest
from cgboost.integer.decomposition.pricing.highs_block import HighsBlock
from cgboost.integer.decomposition.pricing.path_block import PathBlock

PROBLEMS = 20


def block_of(matrix: np.ndarray, right: np.ndarray) -> Block:
    """A block of equations with 0/1 variables."""
    n = matrix.shape[1]
    return Block(
        "block", tuple(f"x{j}" for j in range(n)), np.zeros(n), np.zeros(n), np.ones(n),
        np.ones(n, dtype=bool), sp.csr_array(matrix), right, right, sp.csr_array((1, n)), 0,
    )  # fmt: skip


def network(rng: np.random.Generator, n: int, n_arcs: int, acyclic: bool) -> Block:
    """One unit from the first node to the last."""
    ends = np.array([rng.choice(n, 2, replace=False) for _ in range(n_arcs)])
    ends = np.sort(ends, axis=1) if acyclic else ends
    matrix = np.zeros((n, n_arcs))
    matrix[ends[:, 0], np.arange(n_arcs)], matrix[ends[:, 1], np.arange(n_arcs)] = 1, -1
    return block_of(matrix, np.r_[1.0, np.zeros(n - 2), -1.0])


def seconds(solver: Any, block: Block, costs: Sequence[np.ndarray]) -> tuple[float, np.ndarray]:
    """CPU seconds for all costs, and the least values."""
    start, found = time.process_time(), []
    for cost in costs:
        answer = solver.solve(BlockRequest(cost, block.lower, block.upper))
        assert answer is not None
        found.append(answer.bound)
    return time.process_time() - start, np.array(found)


def main() -> None:
    """Compare."""
    rng = np.random.default_rng(0)
    eye, ones = np.eye(30), np.ones((1, 30))
    cases: list[tuple[str, Any, Block]] = [
        ("acyclic, 200 × 1000", PathBlock, network(rng, 200, 1000, True)),
        ("cycles, 200 × 1000", PathBlock, network(rng, 200, 1000, False)),
        (
            "assignment, 30 × 30",
            AssignmentBlock,
            block_of(np.vstack([np.kron(eye, ones), np.kron(ones, eye)]), np.ones(60)),
        ),
    ]
    for name, kind, block in cases:
        assert kind.fits(block)
        shape = PROBLEMS, len(block.variables)
        # no negative cycle: lengths at least 0, and differences of potentials
        potentials = rng.normal(size=(PROBLEMS, block.matrix.shape[0]))
        costs = list(rng.exponential(size=shape) + potentials @ block.matrix)
        own, values = seconds(kind(block), block, costs)
        highs, expected = seconds(HighsBlock(block, ("row",)), block, costs)
        np.testing.assert_allclose(values, expected, atol=1e-7)
        ms = 1e3 / PROBLEMS
        print(f"{name:22} {own * ms:8.3f} ms  {highs * ms:8.3f} ms in HiGHS  {highs / own:6.0f}")


if __name__ == "__main__":
    main()
