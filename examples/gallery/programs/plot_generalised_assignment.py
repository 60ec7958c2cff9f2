"""
Generalised assignment
======================

Twenty-four jobs for four machines. How long a job takes, and what it costs, depends on the machine,
and every machine has a limit. A column is a set of jobs for one machine; the best one at the
present prices of the jobs is a knapsack. Branches decide whether a machine has a job, which the
knapsack takes into account: the job is out of it, or in it beforehand.
"""

import matplotlib.pyplot as plt
import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.inspection import plot_search
from cgboost.integer import VariableBound, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import solve_knapsack

rng = np.random.default_rng(13)
n_machines, n_jobs = 4, 24
hours = rng.integers(5, 26, size=(n_machines, n_jobs))
cost = 111.0 - hours + rng.integers(-10, 11, size=hours.shape)
limit = (0.8 * hours.sum(axis=1) / n_machines).astype(int)

machines = [f"machine {i}" for i in range(n_machines)]
rows = [*(f"job {j}" for j in range(n_jobs)), *machines]
senses = [">="] * n_jobs + ["=="] * n_machines
master = LinearMaster(rows, senses, 1.0, copies=dict.fromkeys(machines, 1))


def job_set(machine, jobs):
    """A column: 1 in the rows of its jobs and in that of its machine."""
    values = np.zeros(n_jobs + n_machines)
    values[[*jobs, n_jobs + machine]] = 1.0
    total = cost[machine, jobs].sum()
    taken = {(machine, job): 1.0 for job in jobs}
    return Column(values, (machine, *jobs), cost=total, variables=taken, block=machines[machine])


@respects(VariableBound)
def price(duals):
    """The best set of jobs of every machine, and its reduced cost."""
    must, may = np.zeros(hours.shape, dtype=bool), np.ones(hours.shape, dtype=bool)
    for decision in duals.restrictions:
        must[decision.variable] |= decision.lower > 0
        may[decision.variable] &= decision.upper > 0
    columns, bound = [], dict.fromkeys(machines, np.inf)
    for i, machine in enumerate(machines):
        left = limit[i] - hours[i, must[i]].sum()
        if left >= 0 and not (must[i] & ~may[i]).any():
            profit = duals[:n_jobs] - cost[i]
            amounts, value = solve_knapsack(np.where(may[i] & ~must[i], profit, 0), hours[i], left)
            bound[machine] = -value - profit[must[i]].sum() - duals[n_jobs + i]
            columns.append(job_set(i, np.flatnonzero(must[i] | (amounts > 0)).tolist()))
    return columns, bound


result = BranchAndPrice(master, price, objective_step=1.0).run()
print(result.summary())

# %%
# Who does what
# -------------
# Every bar is a job, as long as it takes on its machine; the line is the limit of the machine.

figure, axis = plt.subplots(figsize=(9, 3.4), layout="constrained")
begin = np.zeros(n_machines)
for i, job in sorted(result.variables):
    axis.barh(i, hours[i, job], left=begin[i], color=f"C{i}", edgecolor="white", alpha=0.8)
    axis.text(begin[i] + hours[i, job] / 2, i, job, ha="center", va="center", color="white")
    begin[i] += hours[i, job]
axis.vlines(limit, np.arange(n_machines) - 0.45, np.arange(n_machines) + 0.45, color="black")
axis.set_yticks(range(n_machines), machines)
axis.set(xlabel="hours", title=f"24 jobs, cost {result.objective:.0f}")
axis.invert_yaxis()

# %%
# The proof
# ---------
# The bound rises until no cheaper assignment can be left.

figure, axes = plt.subplots(2, 1, figsize=(8, 7), layout="constrained")
plot_search(result, ax=axes)
