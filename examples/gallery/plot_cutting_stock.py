"""
Cutting stock
=============

The problem that column generation was made for: rolls 150 cm wide, five widths ordered, as few
rolls as possible. A column is a way to cut a roll; the best one at the present prices of the
pieces is a knapsack. No list of patterns is ever made.
"""

import matplotlib.pyplot as plt
import numpy as np

from cgboost import ColumnGeneration
from cgboost.generation import Column
from cgboost.masters import LinearMaster, solve_integer
from cgboost.pricing import solve_knapsack

widths, demand, capacity = np.array([20, 34, 41, 52, 63]), np.array([44, 27, 35, 18, 12]), 150


def price(duals):
    """The best pattern if it is worth more than a roll, and the least reduced cost."""
    pattern, value = solve_knapsack(duals, widths, capacity, capacity // widths)
    column = Column(pattern.astype(float), key=tuple(pattern), cost=1.0)
    return ([column] if value > 1 + 1e-9 else []), 1.0 - value


prices = []
master = LinearMaster(widths, ">=", demand, least_cost=1.0)
loop = ColumnGeneration(
    master, price, tol=1e-9, callbacks=[lambda turn: prices.append(turn.state.pseudo_response)]
)
result = loop.run()
rolls = solve_integer(master, result)
print(f"{result.objective:.3f} rolls, at least {result.bound:.3f}")
print(f"whole rolls, of the patterns generated: {rolls.objective:.0f}")

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
# Every bar is a roll pattern; its number is how often it is cut.

counts = np.round(rolls.coef).astype(int)
patterns = [(count, result.columns[j].values) for j, count in enumerate(counts) if count]
figure, axis = plt.subplots(figsize=(8, 3.8), layout="constrained")
for place, (_, pattern) in enumerate(patterns):
    left = 0
    for i, pieces in enumerate(pattern.astype(int)):
        for _ in range(pieces):
            axis.barh(place, widths[i], left=left, color=f"C{i}", edgecolor="white")
            axis.text(
                left + widths[i] / 2, place, widths[i], ha="center", va="center", color="white"
            )
            left += widths[i]
axis.axvline(capacity, color="black", linewidth=1)
axis.set_yticks(range(len(patterns)), [f"{count} ×" for count, _ in patterns])
axis.set(xlabel="cm", xlim=(0, capacity + 2), title="Patterns of the whole rolls")

# sphinx_gallery_thumbnail_number = 2
