"""Generalised assignment: every job to one agent, within the agents' capacities, at least cost.

    python examples/generalised_assignment.py [FILE ...]

FILE is in the OR-Library's format (gap1.txt, …). A column is a set of jobs for one agent; the set
that helps most is a knapsack. A branch decides whether an agent has a job.
"""

import sys
from itertools import islice
from pathlib import Path

import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column, Wentges
from cgboost.integer import VariableBound, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import solve_knapsack


def job_set(agent, jobs, cost):
    """A column: some jobs for one agent. It has the rows of the jobs, and that of the agent."""
    values = np.zeros(sum(cost.shape))
    values[[*jobs, cost.shape[1] + agent]] = 1.0
    total = float(cost[agent, jobs].sum())
    who = {(agent, job): 1.0 for job in jobs}
    key = (agent, tuple(jobs))
    return Column(values, key, cost=total, variables=who, block=("agent", agent))


def assign(cost, weight, capacity, **options):
    """The search for the least cost; arrays of shape (n_agents, n_jobs) and (n_agents,)."""
    n_jobs = cost.shape[1]
    agents = [("agent", i) for i in range(len(cost))]
    rows = [("job", j) for j in range(n_jobs)] + agents
    senses = ["==" if (cost < 0).any() else ">="] * n_jobs + ["=="] * len(agents)  # ≥ is easier
    master = LinearMaster(rows, senses, 1.0, copies=dict.fromkeys(agents, 1))

    @respects(VariableBound)
    def price(duals):
        least, most = np.zeros(cost.shape), np.ones(cost.shape)
        for decision in duals.restrictions:
            place = decision.variable  # agent and job
            least[place] = max(least[place], decision.lower)
            most[place] = min(most[place], decision.upper)
        columns, bound = [], dict.fromkeys(agents, np.inf)  # inf: of an agent without a column
        for i, agent in enumerate(agents):
            profit = duals[:n_jobs] - cost[i]
            must = np.flatnonzero(least[i] == 1)
            free = np.where((least[i] == 0) & (most[i] == 1), profit, 0.0)
            left = int(capacity[i] - weight[i, must].sum())
            if left < 0 or (least[i] > most[i]).any():
                continue
            amounts, value = solve_knapsack(free, weight[i], left)
            bound[agent] = -value - profit[must].sum() - duals[n_jobs + i]
            if bound[agent] < -1e-9:
                columns.append(job_set(i, sorted([*must, *np.flatnonzero(amounts)]), cost))
        return columns, bound

    options = {"smoothing": Wentges(0.9, decay=1.0), "objective_step": 1.0, **options}
    return BranchAndPrice(master, price, **options)


def instances(path):
    """Costs, weights and capacities of every instance of a file."""
    numbers = map(int, Path(path).read_text(encoding="utf-8").split())
    for _ in range(next(numbers)):
        m, n = next(numbers), next(numbers)
        cost, weight, capacity = (np.array(list(islice(numbers, k))) for k in [m * n, m * n, m])
        yield cost.reshape(m, n).astype(float), weight.reshape(m, n), capacity


if __name__ == "__main__":
    for path in sys.argv[1:]:
        for number, problem in enumerate(instances(path), 1):
            found = assign(*problem).run(time_limit=60)
            print(path, number, f"{found.objective:g}, bound {found.bound:g}", found.stop_reason)
