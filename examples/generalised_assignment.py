"""Generalised assignment: every job to one agent, within the agents' capacities, at least cost.

    python examples/generalised_assignment.py [FILE ...]

FILE is in the OR-Library's format (gap1.txt, …). A column is a set of jobs for one agent; the set
that helps most is a knapsack. A branch decides whether an agent has
a job.
"""

import sys
from pathlib import Path

import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column, Wentges
from cgboost.integer import VariableBound, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import solve_knapsack


def job_set(agent, jobs, cost):
    """A column: some jobs for one agent. It has the rows of the jobs, and that of the agent."""
    n_agents, n_jobs = cost.shape
    values = np.zeros(n_jobs + n_agents)
    values[[*jobs, n_jobs + agent]] = 1.0
    return Column(
        values,
        key=(agent, tuple(jobs)),
        cost=float(cost[agent, jobs].sum()),
        variables={(agent, job): 1.0 for job in jobs},
        block=("agent", agent),
    )


def assign(cost, weight, capacity, **options):
    """The search for the least cost; arrays of shape (n_agents, n_jobs) and (n_agents,)."""
    n_agents, n_jobs = cost.shape
    agents = [("agent", i) for i in range(n_agents)]
    rows = [("job", j) for j in range(n_jobs)] + agents
    covered = ">=" if (cost >= 0).all() else "=="  # twice the same job costs more, and ≥ is easier
    senses = [covered] * n_jobs + ["=="] * n_agents
    master = LinearMaster(rows, senses, 1.0, copies=dict.fromkeys(agents, 1))

    @respects(VariableBound)
    def price(duals):
        least, most = np.zeros(cost.shape), np.ones(cost.shape)
        for decision in duals.restrictions:
            agent, job = decision.variable
            least[agent, job] = max(least[agent, job], decision.lower)
            most[agent, job] = min(most[agent, job], decision.upper)
        columns, bound = [], {}
        for i, agent in enumerate(agents):
            profit = duals[:n_jobs] - cost[i]
            must = np.flatnonzero(least[i] == 1)
            free = np.where((least[i] == 0) & (most[i] == 1), profit, 0.0)
            left = int(capacity[i] - weight[i, must].sum())
            if left < 0 or (least[i] > most[i]).any():
                bound[agent] = np.inf  # this agent has no column
                continue
            amounts, value = solve_knapsack(free, weight[i], left)
            bound[agent] = -value - profit[must].sum() - duals[n_jobs + i]
            if bound[agent] < -1e-9:
                columns.append(job_set(i, sorted([*must, *np.flatnonzero(amounts)]), cost))
        return columns, bound

    options = {"smoothing": Wentges(0.9, decay=1.0), **options}
    return BranchAndPrice(master, price, objective_step=1.0, **options)


def instances(path):
    """Costs, weights and capacities of every instance of a file."""
    numbers = iter(Path(path).read_text(encoding="utf-8").split())
    for _ in range(int(next(numbers))):
        m, n = int(next(numbers)), int(next(numbers))
        cost, weight = (np.array([int(next(numbers)) for _ in range(m * n)]) for _ in range(2))
        capacity = np.array([int(next(numbers)) for _ in range(m)])
        yield cost.reshape(m, n).astype(float), weight.reshape(m, n), capacity


if __name__ == "__main__":
    for path in sys.argv[1:]:
        for number, (cost, weight, capacity) in enumerate(instances(path), 1):
            result = assign(cost, weight, capacity).run(time_limit=60)
            print(
                f"{Path(path).stem} {number}: {result.objective:g}, bound {result.bound:g}, "
                f"{result.n_nodes} nodes: {result.stop_reason}"
            )
