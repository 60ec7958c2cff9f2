"""Crew pairing: every flight has a crew, and crews are away from their bases for the least time.

    python examples/crew_pairing.py FOLDER

FOLDER holds day_*.csv (flight, airport, date and time of departure, those of arrival) and
listOfBases.csv. A column is a pairing, duties from a base back to it with rests between them: a
shortest walk whose arcs are duties. Of two crews on a flight, one are passengers.
"""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from cgboost import BranchAndPrice, integer
from cgboost.generation import Column
from cgboost.masters import LinearMaster
from cgboost.pricing import shortest_walks

SIT, REST, DUTY = (40, 360), (540, 1560), 720  # minutes between flights, between duties, in a duty
N_FLIGHTS, N_DUTIES = 5, 4  # in a duty, in a pairing; at most


def crew(flights, bases, **options):
    """The search; ``flights``: origins, departures, destinations, arrivals; times in minutes."""
    origin, departure, destination, arrival = flights
    n, wait = len(origin), departure - arrival[:, None]
    meets = destination[:, None] == origin
    sit, rest = (meets & (wait >= least) & (wait <= most) for least, most in (SIT, REST))
    begins = np.vstack([rest, [origin == base for base in bases]])
    arcs = np.argwhere(begins).tolist()  # a flight, or a base n + i, and the duty that follows
    for arc in arcs:  # the list grows
        on = np.flatnonzero(sit[arc[-1]] & (arrival <= departure[arc[1]] + DUTY)).tolist()
        arcs += [[*arc, flight] for flight in on if len(arc) <= N_FLIGHTS]
    steps = np.array([(i, *step) for i, arc in enumerate(arcs) for step in pairwise(arc)]).T
    tails, heads = np.array([(arc[0], arc[-1]) for arc in arcs]).T

    def pairing(walk):
        path = [flight for arc in walk for flight in arcs[arc][1:]]
        values, hops = np.bincount(path, minlength=n), dict.fromkeys(pairwise(path), 1.0)
        away = float(arrival[path[-1]] - departure[path[0]])
        return Column(values, tuple(path), cost=away, variables=hops)

    @integer.respects(integer.CountRow, integer.VariableRow, integer.VariableBound)
    def price(duals):
        cost = np.tile(-np.asarray(duals), (n + len(bases), 1))  # of one flight after another
        cost[n:] -= departure
        for hop, dual in duals.prices.items():
            cost[hop] -= dual
        for decision in duals.restrictions:
            cost[decision.variable] = np.inf
        costs, columns, bound = np.bincount(steps[0], cost[steps[1], steps[2]]), [], 0.0
        for i, base in enumerate(bases):
            walks = shortest_walks(tails, heads, costs, n + i, N_DUTIES)
            home = walks.length[:n] + arrival - duals.constant()
            reduced = np.where(destination == base, home, 0.0)
            columns += [pairing(walks.to(flight)) for flight in np.flatnonzero(reduced < -1e-6)]
            bound = min(bound, reduced.min())
        return columns, bound

    return BranchAndPrice(LinearMaster(n, ">=", 1, copies=n), price, objective_step=1, **options)


def read(folder):
    """The flights, and the bases."""
    form = {"dtype": object, "delimiter": ",", "skiprows": 1, "converters": str.strip}
    days = [np.loadtxt(day, **form, encoding="utf-8") for day in Path(folder).glob("day_*.csv")]
    _, origin, date, time, destination, end, end_time = np.concatenate(days).T
    departure, arrival = np.array([date + "T" + time, end + "T" + end_time], "M8[m]").astype(int)
    place, is_base, _ = np.loadtxt(Path(folder) / "listOfBases.csv", **form, encoding="utf-8").T
    return (origin, departure, destination, arrival), place[is_base == "1"].tolist()


if __name__ == "__main__":
    result = crew(*read(sys.argv[1])).run(time_limit=300)
    for column in result.columns:
        print(*column.key)
    hours, bound = result.objective / 60, result.bound / 60
    print(f"{hours:.1f} h away from base, bound {bound:.1f} h: {result.stop_reason}")
