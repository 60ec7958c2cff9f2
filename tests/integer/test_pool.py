"""The pool gives what the columns say one by one, however it has grown."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgboost.generation.columns import Column
from cgboost.integer import Apart, ComponentRow, CountRow, Together, VariableRow
from cgboost.integer.pool import GlobalColumnPool
from tests.effort import examples

ROWS = list("abcd")


def random_columns(rng: np.random.Generator, first: int, n: int) -> list[Column]:
    """Columns with small whole values."""
    return [
        Column(
            rng.integers(0, 3, len(ROWS)).astype(float),
            first + j,
            cost=float(rng.random()),
            variables={"x": float(rng.integers(0, 3))},
        )
        for j in range(n)
    ]


@settings(max_examples=examples(15))
@given(seed=st.integers(0, 1000), parts=st.lists(st.integers(0, 12), min_size=1, max_size=5))
def test_as_computed_one_by_one(seed: int, parts: list[int]) -> None:
    """Reduced costs, what is allowed and what is proper, after every part that is added."""
    rng = np.random.default_rng(seed)
    pool = GlobalColumnPool(ROWS)
    rows = [CountRow("<=", 1.0), VariableRow((("x", 2.0),), "<=", 1.0)]
    rows.append(ComponentRow(frozenset([("a", 1.0), ("b", 2.0)]), ">=", 1.0))
    restrictions = [Together("a", "b"), Apart("c", "d")]
    for n in parts:
        new = random_columns(rng, len(pool), n)
        assert pool.add(new).tolist() == list(range(len(pool) - n, len(pool)))
        duals, own = rng.normal(size=len(ROWS)), rng.normal(size=len(rows))
        extra = dict(zip(rows, own.tolist(), strict=True))
        left = rng.integers(0, 3, len(ROWS)).astype(float)
        wanted = [
            c.cost
            - duals @ c.values
            - sum(dual * row.coefficient(c, pool.numbers) for row, dual in extra.items())
            for c in pool.columns
        ]
        assert pool.reduced_costs(duals, extra) == pytest.approx(wanted, abs=1e-12)
        allowed = [all(r.allows(c, pool.numbers) for r in restrictions) for c in pool.columns]
        assert pool.allowed(restrictions).tolist() == allowed
        assert pool.proper(left).tolist() == [bool((c.values <= left).all()) for c in pool.columns]
        assert pool.costs().tolist() == [c.cost for c in pool.columns]


def test_a_column_of_no_block_is_not_among_those_of_a_block() -> None:
    """Decisions on the block's variables would not hold it; other rows are free to all."""
    rng = np.random.default_rng(0)
    one, two = (replace(own, values=np.eye(4)[0]) for own in random_columns(rng, 0, 2))
    for first, second in ((replace(one, block="B"), two), (one, replace(two, block="B"))):
        pool = GlobalColumnPool(ROWS, counted=["a"])
        pool.add([first])
        with pytest.raises(ValueError, match=r"of no block is in the convexity row 'a' of the bl"):
            pool.add([second])
        pool = GlobalColumnPool(ROWS, counted=["b"])
        assert pool.add([first, second]).tolist() == [0, 1]


def test_a_key_comes_once() -> None:
    """A column with a known key keeps its number."""
    pool = GlobalColumnPool(ROWS)
    first, second = random_columns(np.random.default_rng(0), 0, 2)
    assert pool.add([first, second, first]).tolist() == [0, 1, 0]
    assert len(pool) == 2
    assert pool.number(second) == 1
