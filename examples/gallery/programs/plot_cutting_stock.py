"""
Cutting stock
=============

The problem that column generation was made for: rolls 150 cm wide, five widths ordered, as few
rolls as possible. A column is a way to cut a roll; the best one at the present prices of the
pieces is a knapsack. No list of patterns is ever made.
"""

import matplotlib.pyplot as plt
import numpy as np

from cgboost import BranchAndPrice, ColumnGeneration
from cgboost.generation import Column
from cgboost.integer import ComponentRow, Residual, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import solve_knapsack

widths, capacity = np.array([20, 34, 41, 52, 63]), 150
demand = np.array([44, 27, 35, 18, 12])


def best(duals, least, most, rows):
    """Value and pieces of the best pattern within bounds; a row is what branches add."""
    room = capacity - widths @ least
    if room < 0 or (least > most).any():
        return -np.inf, least.tolist()
    if not rows:
        more, value = solve_knapsack(duals, widths, room, most - least)
        return value + duals @ least, (least + more).tolist()
    (row, dual), *others = rows
    enough, found = least.copy(), []
    for width, count in row.least:  # the pattern has too few of it, or enough of all
        enough[width], fewer = max(least[width], count), most.copy()
        fewer[width] = min(most[width], count - 1)
        found.append(best(duals, least, fewer, others))
    value, pieces = best(duals, enough, most, others)
    return max([*found, (value + dual, pieces)])


@respects(Residual, ComponentRow)
def price(duals):
    """The best pattern if it is worth more than a roll, and the least reduced cost."""
    most = np.clip(demand if duals.rhs is None else duals.rhs, 0, capacity // widths).astype(int)
    value, pieces = best(duals, 0 * most, most, list(duals.extra.items()))
    column = Column(np.array(pieces, dtype=float), key=tuple(pieces), cost=1.0)
    return ([column] if value > 1 + 1e-9 else []), 1.0 - value


master = LinearMaster(len(widths), ">=", demand, least_cost=1.0)
result = ColumnGeneration(master, price, tol=1e-9).run()
print(f"{result.objective:.3f} rolls, at least {result.bound:.3f}")

# %%
# Objective and bound
# -------------------
# The first rounds have no plan that meets the order; then the objective falls and the bound
# rises.

history = result.history
figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
axis.plot(history["round"], history["objective"], "o-", label="rolls, patterns so far")
axis.plot(history["round"], history["bound"], "o-", label="bound, all patterns")
axis.set(xlabel="round", ylabel="rolls", ylim=(0, None))
axis.legend()

# %%
# The plan
# --------
# Whole rolls are a branch-and-price: a branch decides how many patterns have at least so many
# pieces of some widths. The bound of the root, rounded up, is the number of rolls here; a dive from
# there, with patterns priced for what is left of the order, finds a plan with so many.

rolls = BranchAndPrice(master, price, objective_step=1.0).run()
print(rolls.summary())

# %%
# Every bar is a pattern; its number is how often it is cut.

figure, axis = plt.subplots(figsize=(8, 3.8), layout="constrained")
for place, column in enumerate(rolls.columns):
    left = 0
    for i, pieces in enumerate(column.key):
        for _ in range(pieces):
            axis.barh(place, widths[i], left=left, color=f"C{i}", edgecolor="white")
            axis.text(
                left + widths[i] / 2, place, widths[i], ha="center", va="center", color="white"
            )
            left += widths[i]
axis.axvline(capacity, color="black", linewidth=1)
axis.set_yticks(range(len(rolls.columns)), [f"{count:.0f} ×" for count in rolls.coef])
title = f"{rolls.objective:.0f} rolls, and no plan has fewer"
axis.set(xlabel="cm", xlim=(0, capacity + 2), title=title)

# sphinx_gallery_thumbnail_number = 2
