"""
Crew pairing
============

Every flight of three days needs a crew. A crew costs the time that it is away from its base, and
five hours more. A column is a pairing: duties of at most four flights from a base back to it, with
a night between two duties. All duties are listed; the best pairing is a shortest walk whose arcs
are duties. Branches decide the number of pairings, then whether a crew goes from one flight to
another.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from cgboost import BranchAndPrice
from cgboost.generation import Column
from cgboost.integer import CountRow, VariableBound, VariableRow, respects
from cgboost.masters import LinearMaster
from cgboost.pricing import shortest_walks

rng = np.random.default_rng(2)
names, bases, fixed = ["Agen", "Brest", "Caen", "Dax"], [0, 1], 300
minutes = np.array([[0, 70, 60, 80], [70, 0, 75, 90], [60, 75, 0, 65], [80, 90, 65, 0]])
flights = []  # in the morning out and back, in the evening out, and back the next morning
for place, other in [(0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]:
    for leaves, stay in [(rng.integers(360, 660), 60), (rng.integers(900, 1140), 720)]:
        back = leaves + minutes[place, other] + stay
        flights += [(place, leaves, other), (other, back, place)]
flights = sorted((i, 1440 * day + int(t), j) for day in range(3) for i, t, j in flights)
origin, departs, target = np.array(flights).T
arrives = departs + minutes[origin, target]
n, wait = len(flights), departs - arrives[:, None]
sit = (target[:, None] == origin) & (wait >= 30) & (wait <= 240)
night = (target[:, None] == origin) & (wait >= 540) & (wait <= 1440)

begins = np.vstack([night, [origin == base for base in bases]])
arcs = np.argwhere(begins).tolist()  # a flight, or a base n + i, and the duty that follows
for arc in arcs:  # the list grows
    on = np.flatnonzero(sit[arc[-1]] & (arrives <= departs[arc[1]] + 600)).tolist()
    arcs += [[*arc, flight] for flight in on if len(arc) <= 4]
steps = np.array([(i, *step) for i, arc in enumerate(arcs) for step in pairwise(arc)]).T
tails, heads = np.array([(arc[0], arc[-1]) for arc in arcs]).T
print(f"{n} flights, {len(arcs)} duties after a night or at a base")


def pairing(walk):
    """A column: the flights of a walk from a base back to it."""
    path = [flight for arc in walk for flight in arcs[arc][1:]]
    values, hops = np.bincount(path, minlength=n), dict.fromkeys(pairwise(path), 1.0)
    away = float(arrives[path[-1]] - departs[path[0]])
    return Column(values, tuple(path), cost=away + fixed, variables=hops)


@respects(CountRow, VariableRow, VariableBound)
def price(duals):
    """Pairings of negative reduced cost, and the least there is."""
    cost = np.tile(-np.asarray(duals), (n + len(bases), 1))  # of one flight after another
    cost[n:] += fixed - departs
    for hop, dual in duals.prices.items():
        cost[hop] -= dual
    for decision in duals.restrictions:
        cost[decision.variable] = np.inf
    costs, columns, bound = np.bincount(steps[0], cost[steps[1], steps[2]]), [], 0.0
    for i, base in enumerate(bases):
        walks = shortest_walks(tails, heads, costs, n + i, most=3)
        reduced = np.where(target == base, walks.length[:n] + arrives - duals.constant(), 0.0)
        columns += [pairing(walks.to(flight)) for flight in np.flatnonzero(reduced < -1e-6)]
        bound = min(bound, reduced.min())
    return columns, bound


master = LinearMaster(n, ">=", 1.0, copies=n)
result = BranchAndPrice(master, price, objective_step=1.0).run()
print(result.summary())

# %%
# The pairings
# ------------
# A line is a crew, a bar a flight in the colour of the town where it goes. Grey: away from base.
# A hatched flight has a crew already, and carries this one as passengers.

figure, axis = plt.subplots(figsize=(11, 5.6), layout="constrained")
carried = set()
crews = sorted(result.columns, key=lambda column: (origin[column.key[0]], departs[column.key[0]]))
for lane, column in enumerate(crews):
    first, last = column.key[0], column.key[-1]
    axis.barh(lane, (arrives[last] - departs[first]) / 60, left=departs[first] / 60, color="0.9")
    for flight in column.key:
        hatch = "////" if flight in carried else ""
        length, colour = minutes[origin[flight], target[flight]] / 60, f"C{target[flight]}"
        axis.barh(lane, length, left=departs[flight] / 60, color=colour, hatch=hatch, ec="white")
        carried.add(flight)
for town, name in enumerate(names):
    axis.barh(0, 0, color=f"C{town}", label=f"to {name}")
axis.set_yticks(range(len(crews)), [names[origin[column.key[0]]] for column in crews])
axis.set_xticks(range(0, 73, 12), [f"{hour % 24}:00" for hour in range(0, 73, 12)])
axis.invert_yaxis()
axis.set(ylabel="base", title=f"{len(crews)} crews, {result.objective / 60:.1f} hours")
figure.legend(loc="outside lower center", ncols=len(names), frameon=False)
