"""Crew pairing: every flight has a crew, and crews are away from their bases for the least time.

    python examples/crew_pairing.py FOLDER [SECONDS]

FOLDER holds day_*.csv (flight, airport, date and time of departure, those of arrival) and
listOfBases.csv. A column is a pairing: duties from a base back to it, and rests between them. The
best one is a shortest path over the duties, all of which are listed. A flight with two crews
carries one of them as passengers.
"""

import sys
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from cgboost import BranchAndPrice, integer
from cgboost.generation import Column
from cgboost.masters import LinearMaster

SIT, REST, DUTY = (40, 360), (540, 1560), 720  # minutes between flights, between duties, in a duty
N_FLIGHTS, N_DUTIES = 5, 4  # in a duty, in a pairing; at most


def cheapest(value, flight, n):
    """For every flight the least value that stands for it, and its place."""
    order = np.lexsort((value, flight))
    flights, places = np.unique(flight[order], return_index=True)
    least, place = np.full(n, np.inf), np.zeros(n, dtype=int)
    least[flights], place[flights] = value[order[places]], order[places]
    return least, place


def crew(flights, bases, **options):
    """The search; ``flights``: origins, departures, destinations, arrivals; times in minutes."""
    origin, departure, destination, arrival = flights
    n, wait = len(origin), departure - arrival[:, None]
    meets = destination[:, None] == origin
    sit, rest = (meets & (wait >= least) & (wait <= most) for least, most in (SIT, REST))
    duties = [(flight,) for flight in range(n)]
    for duty in duties:  # the list grows
        on = np.flatnonzero(sit[duty[-1]] & (arrival <= departure[duty[0]] + DUTY)).tolist()
        duties += [(*duty, flight) for flight in on if len(duty) < N_FLIGHTS]
    first, last = np.array([(duty[0], duty[-1]) for duty in duties]).T
    legs = np.array([(i, flight) for i, duty in enumerate(duties) for flight in duty]).T
    hops = np.array([(i, *hop) for i, duty in enumerate(duties) for hop in pairwise(duty)]).T
    rests = np.argwhere(rest).T

    def pairing(chosen):
        path = list(chain(*(duties[duty] for duty in chosen)))
        values, hop = np.bincount(path, minlength=n), dict.fromkeys(pairwise(path), 1.0)
        away = float(arrival[path[-1]] - departure[path[0]])
        return Column(values, key=tuple(chosen), cost=away, variables=hop)

    @integer.respects(integer.CountRow, integer.VariableRow, integer.VariableBound)
    def price(duals):
        toll = np.zeros((n, n))  # of one flight after another
        for hop, dual in duals.prices.items():
            toll[hop] -= dual
        for decision in duals.restrictions:
            toll[decision.variable] = np.inf
        work = np.bincount(hops[0], toll[hops[1], hops[2]], len(duties))
        work -= np.bincount(legs[0], np.asarray(duals)[legs[1]])
        found = []
        for base in bases:
            cost, before = np.where(origin[first] == base, work - departure[first], np.inf), []
            for _ in range(N_DUTIES):
                least, by = cheapest(cost, last, n)
                reduced = np.where(destination == base, least + arrival - duals.constant(), np.inf)
                for flight in np.flatnonzero(reduced < -1e-6):
                    chosen = [by[flight]]
                    for previous in reversed(before):
                        chosen.insert(0, previous[first[chosen[0]]])
                    found.append((reduced[flight], chosen))
                least, place = cheapest(least[rests[0]] + toll[rests[0], rests[1]], rests[1], n)
                before.append(by[rests[0, place]])
                cost = least[first] + work
        found.sort(key=lambda pair: pair[0])
        return [pairing(chosen) for _, chosen in found[:100]], found[0][0] if found else -1e-6

    master = LinearMaster(n, ">=", 1.0, copies=n)
    rules = [integer.CountBranching(), integer.VariableBranching()]
    return BranchAndPrice(master, price, branching=rules, objective_step=1.0, **options)


def read(folder):
    """Origins, departures, destinations and arrivals in the order of departure; the bases."""
    files = sorted(Path(folder).glob("day_*.csv"))
    words = [np.loadtxt(file, dtype=str, delimiter=",", skiprows=1) for file in files]
    _, origin, day, clock, destination, *end = np.char.strip(np.concatenate(words)).T
    departure, arrival = (
        np.char.add(np.char.add(days, "T"), clocks).astype("M8[m]").astype(int)
        for days, clocks in ((day, clock), end)
    )
    order = np.argsort(departure, kind="stable")
    flights = tuple(part[order] for part in (origin, departure, destination, arrival))
    places = np.loadtxt(Path(folder) / "listOfBases.csv", dtype=str, delimiter=",", skiprows=1)
    name, is_base, _ = np.char.strip(places).T
    return flights, name[is_base == "1"].tolist()


if __name__ == "__main__":
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 300.0
    result = crew(*read(sys.argv[1])).run(time_limit=seconds)
    for column in result.columns:
        print(*np.flatnonzero(column.values))
    print(
        f"{len(result.columns)} pairings, {result.objective / 60:.1f} h away from base, "
        f"bound {result.bound / 60:.1f} h: {result.stop_reason}"
    )
