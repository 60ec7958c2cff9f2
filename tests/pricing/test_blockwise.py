"""One pricer of many blocks, on executors of every kind and without."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

from cgboost import BranchAndPrice
from cgboost.exceptions import WorkerWarning
from cgboost.generation.columns import Column
from cgboost.generation.history import StopReason
from cgboost.integer import VariableBound, VariableBranching, VariableRow, respects
from cgboost.masters import LinearMaster
from cgboost.parallel import DaskExecutor, ThreadExecutor
from cgboost.pricing import BlockwisePricer, solve_knapsack

N_AGENTS, N_JOBS = 4, 12
AGENTS = tuple(f"agent {i}" for i in range(N_AGENTS))


@dataclass(frozen=True)
class Agent:
    """Costs and weights of the jobs, and a capacity."""

    name: str
    number: int
    cost: np.ndarray
    weight: np.ndarray
    capacity: int


def agents(seed: int) -> dict[str, Agent]:
    """Generalised assignment."""
    rng = np.random.default_rng(seed)
    weight = rng.integers(5, 20, (N_AGENTS, N_JOBS))
    cost = rng.integers(10, 40, (N_AGENTS, N_JOBS)).astype(float)
    capacity = int(0.9 * weight.sum() / N_AGENTS**2)
    return {name: Agent(name, i, cost[i], weight[i], capacity) for i, name in enumerate(AGENTS)}


@respects(VariableBound, VariableRow)
def price_agent(duals: Any, agent: Agent) -> Any:
    """The jobs that are worth most, and the least reduced cost."""
    value = np.array(duals[:N_JOBS]) - agent.cost
    value += [duals.prices.get((agent.number, j), 0.0) for j in range(N_JOBS)]
    taken, capacity = np.zeros(N_JOBS), agent.capacity
    for each in duals.restrictions:
        if each.variable[0] == agent.number:
            j = each.variable[1]
            if each.lower > 0.5:
                taken[j], capacity = 1, capacity - int(agent.weight[j])
            value[j] = -np.inf if each.lower > 0.5 or each.upper < 0.5 else value[j]
    if capacity < 0:
        return [], np.inf
    own = np.array(duals[:N_JOBS]) - agent.cost
    chosen, _ = solve_knapsack(np.where(np.isinf(value), -1.0, value), agent.weight, capacity)
    chosen = chosen + taken
    earned = sum(duals.prices.get((agent.number, j), 0.0) for j in np.flatnonzero(chosen))
    reduced = -float(own @ chosen) - earned - duals.of(agent.name)
    values = np.r_[chosen, np.arange(N_AGENTS) == agent.number].astype(float)
    column = Column(
        values,
        (agent.name, chosen.tobytes()),
        cost=float(agent.cost @ chosen),
        variables={(agent.number, j): 1.0 for j in np.flatnonzero(chosen).tolist()},
        block=agent.name,
    )
    return [column] if reduced < -1e-9 else [], reduced


def master() -> LinearMaster:
    """Every job once; at most one column of each agent."""
    return LinearMaster(
        [*range(N_JOBS), *AGENTS],
        ["=="] * N_JOBS + ["<="] * N_AGENTS,
        np.ones(N_JOBS + N_AGENTS),
        copies=dict.fromkeys(AGENTS, 1.0),
    )


def search(price: Any, seed: int, where: Any = None, **options: Any) -> Any:
    """Branch-and-price with one block for each agent."""
    pricer = BlockwisePricer(price, agents(seed), where)
    rule = VariableBranching()
    return BranchAndPrice(master(), pricer, branching=rule, objective_step=1, **options).run()


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes that do not share this one's memory."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


def same(first: Any, second: Any) -> None:
    """Equal trees, column by column."""
    for name in set(first.tree) - {"seconds"}:
        np.testing.assert_array_equal(first.tree[name], second.tree[name])
    assert [column.key for column in first.columns] == [column.key for column in second.columns]
    assert first.n_generated == second.n_generated


def joint(duals: Any, own: dict[str, Agent]) -> Any:
    """The same as one pricing function for all agents."""
    found = {name: price_agent(duals, agent) for name, agent in own.items()}
    bounds = {name: bound for name, (_, bound) in found.items()}
    return [column for columns, _ in found.values() for column in columns], bounds


@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_one_function_for_all_blocks_is(seed: int) -> None:
    """Without an executor the tree is that of a pricing function that goes through the blocks."""
    own = agents(seed)
    price = respects(VariableBound, VariableRow)(lambda duals: joint(duals, own))
    plain = BranchAndPrice(master(), price, branching=VariableBranching(), objective_step=1).run()
    result = search(price_agent, seed)
    assert result.stop_reason in (StopReason.OPTIMAL, StopReason.GAP)
    same(plain, result)


def test_one_tree_wherever_blocks_are_priced(processes: ProcessPoolExecutor) -> None:
    """Threads, processes and a Dask cluster give the columns of a serial run, in their order."""
    distributed = pytest.importorskip("distributed")
    number = 0.0

    @respects(VariableBound, VariableRow)
    def price(duals: Any, agent: Agent) -> Any:
        columns, bound = price_agent(duals, agent)
        return columns, bound + number

    serial = search(price_agent, 1)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=False
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        for executor in (ThreadExecutor(2), processes, DaskExecutor(client)):
            same(serial, search(price, 1, executor))


def test_nodes_and_blocks_at_once(processes: ProcessPoolExecutor) -> None:
    """With an executor of nodes the copies of the pricer go through the blocks themselves."""
    optimum = search(price_agent, 2).objective
    both = search(price_agent, 2, ThreadExecutor(2), executor=processes, heuristics=[])
    assert both.objective == optimum


def failing(calls: int, error: BaseException) -> Callable[..., Any]:
    """Prices for some calls, then raises."""
    made = []

    @respects(VariableBound, VariableRow)
    def price(duals: Any, agent: Agent) -> Any:
        made.append(agent)
        if len(made) > calls:
            raise error
        return price_agent(duals, agent)

    return price


@pytest.mark.parametrize("executor", [None, ThreadExecutor(1)], ids=["serial", "executor"])
@pytest.mark.parametrize("error", [ZeroDivisionError("oh"), KeyboardInterrupt()])
def test_an_error_of_a_block(error: BaseException, executor: Any) -> None:
    """It ends the search with what is proven, or is raised where nothing is; Ctrl-C likewise."""
    reasons = set()
    optimum = search(price_agent, 1).objective
    for calls in (0, 10, 40, 90, 150):
        try:
            result = search(failing(calls, error), 1, executor)
        except type(error):
            continue
        reasons.add(result.stop_reason)
        assert result.bound is None or result.bound <= optimum + 1e-6
        assert result.objective >= optimum - 1e-6
    interrupted = isinstance(error, KeyboardInterrupt)
    assert (StopReason.INTERRUPTED if interrupted else StopReason.PRICER_FAILED) in reasons


def test_an_error_in_a_process(processes: ProcessPoolExecutor) -> None:
    """It comes back with its type and words."""

    @respects(VariableBound, VariableRow)
    def price(duals: Any, agent: Agent) -> Any:
        raise ZeroDivisionError(agent.name)

    with pytest.raises(ZeroDivisionError, match="agent 0"):
        search(price, 0, processes)


def test_a_killed_worker() -> None:
    """The search goes on in this process, to the optimum, and the warning names the executor."""
    home = os.getpid()
    optimum = search(price_agent, 1).objective
    calls = []

    @respects(VariableBound, VariableRow)
    def price(duals: Any, agent: Agent) -> Any:
        calls.append(agent)
        if os.getpid() != home and len(calls) > 12:
            os.kill(os.getpid(), signal.SIGKILL)
        return price_agent(duals, agent)

    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
        pytest.warns(WorkerWarning, match="lost a worker"),
    ):
        result = search(price, 1, pool, subgradient=None)
    assert result.objective == pytest.approx(optimum, rel=1e-9)


@dataclass
class Models:
    """Makes a model for each block when it is first asked, and is told the time."""

    made: dict[Any, int] = field(default_factory=dict)
    seconds_left: float | None = None

    def __call__(self, duals: Any, block: int) -> Any:
        self.made[block] = self.made.get(block, 0) + 1
        column = Column(np.ones(1), (block, self.made[block], self.seconds_left), cost=-1.0)
        return [column], -2.0 - block


def state(rows: Any = None) -> Any:
    """A master with one row."""
    own = LinearMaster(["row"] if rows is None else rows, ">=", 1.0, least_cost=1.0)
    n = len(own.rows)
    own.add([Column(np.ones(n), "first", cost=1.0, upper=5.0)])
    return own.solve()


def test_what_the_function_holds_is_kept(processes: ProcessPoolExecutor) -> None:
    """Models are made once in a worker, and the time that is left reaches it."""
    for executor in (None, ThreadExecutor(2), processes):
        pricer, n_made = BlockwisePricer(Models(), [3, 4], executor), []
        for seconds in (7.0, None, 5.0, 5.0, 5.0):
            pricer.seconds_left = seconds
            columns = pricer.price(state(), 9).columns
            assert {column.key[2] for column in columns} == {seconds}
            n_made += [column.key[1] for column in columns]
        assert max(n_made) >= 3
        pricer.close()


def test_bounds_of_blocks() -> None:
    """By convexity row where blocks are named as rows; else the least; none if one is unknown.

    A function sees the names of rows, and the columns in the master with an upper bound.
    """
    by_row = BlockwisePricer(lambda duals, block: ([], -block), {"a": 1.0, "b": 2.0})
    assert by_row.price(state(["a", "b"]), 5).reduced_cost == {"a": -1.0, "b": -2.0}
    assert by_row.price(state(), 5).reduced_cost == -2.0
    answers = {"found": ([], -1.0), "unknown": ([], None), "done": ([], None, True)}
    seen = []

    def price(duals: Any, block: str) -> Any:
        seen.append((duals.of("row"), duals.capped, len(duals)))
        return answers[block]

    for names, exact, bound in (
        (("found", "done"), True, -1.0),
        (("found", "unknown"), False, np.nan),
        (("done",), True, 0.0),
    ):
        priced = BlockwisePricer(price, names).price(state(), 5)
        assert priced.exact == exact
        np.testing.assert_equal(priced.reduced_cost, bound)
    assert {own[1:] for own in seen} == {(frozenset({"first"}), 1)}


def answering(answer: Any) -> Any:
    """A pricer of one block with this answer, asked once."""
    return BlockwisePricer(lambda duals, block: answer, [1]).price(state(), 1)


@pytest.mark.parametrize(
    ("error", "make", "words"),
    [
        (TypeError, lambda: BlockwisePricer(3, [1]), "price_block must be callable"),
        (ValueError, lambda: BlockwisePricer(max, []), "none twice"),
        (ValueError, lambda: BlockwisePricer(max, [1, 1]), "none twice"),
        (TypeError, lambda: BlockwisePricer(max, [1], threading), "executor must be"),
        (ValueError, lambda: answering(([], np.nan)), "bound of a block must be a number"),
        (ValueError, lambda: answering(([], {"a": 1.0})), "bound of a block must be a number"),
        (ValueError, lambda: answering(3), "must return columns"),
    ],
)
def test_wrong_arguments_and_answers(error: type[Exception], make: Any, words: str) -> None:
    """Functions, blocks, executors and answers that are none are refused."""
    with pytest.raises(error, match=words):
        make()
