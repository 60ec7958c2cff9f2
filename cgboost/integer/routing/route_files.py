"""Instances of vehicle routing in files, read by the package vrplib and checked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from cgboost.arrays import Vector
from cgboost.integer.decomposition.model_parts import ModelError
from cgboost.integer.routing.routing_pricer import RoutingPricer
from cgboost.optional import require

Rounding = Literal["nearest", "tenths", "none"]

NUMBERED = ("NODE_COORD_SECTION", "DEMAND_SECTION", "SERVICE_TIME_SECTION", "TIME_WINDOW_SECTION")
"""Sections whose lines begin with the number of a node, which vrplib does not look at."""

KNOWN = {
    "name", "comment", "type", "dimension", "capacity", "vehicles", "edge_weight_type",
    "edge_weight_format", "edge_weight", "node_coord", "node_coord_type", "display_data_type",
    "display_data", "demand", "depot", "time_window", "service_time",
}  # fmt: skip
"""Parts of a file in the form of VRPLIB; any other may be a limit on routes."""

AS_DEFINED: dict[str, Rounding | Literal["up", "down"]] = {
    "EUC_2D": "nearest",
    "CEIL_2D": "up",
    "FLOOR_2D": "down",
}
"""How TSPLIB and VRPLIB round the distances of each kind of coordinates."""

IN_WORDS = {
    "nearest": "rounded to the nearest whole number, halves up",
    "up": "rounded up to whole numbers",
    "down": "rounded down to whole numbers",
    "tenths": "cut after one decimal",
    "none": "not rounded",
}
"""What is said of each way to round distances."""

TRUNCATED = 1e-9
"""What is added before a distance is cut after its first decimal, which may be rounded."""


@dataclass(frozen=True, eq=False)
class RoutingData:
    """An instance of vehicle routing.

    Attributes
    ----------
    name : str
    cost : ndarray of shape (n_nodes, n_nodes)
        Distances.
    depots : tuple of int
    demand : ndarray of shape (n_nodes,)
    capacity : float
    windows : ndarray of shape (n_nodes, 2) or None
    service : ndarray of shape (n_nodes,) or None
    coordinates : ndarray of shape (n_nodes, 2) or None
    n_vehicles : int or None
        Where the file has a number.
    distances : str
        What ``cost`` was made of: programs read other distances from the same file.
    """

    name: str
    cost: Vector = field(repr=False)
    depots: tuple[int, ...]
    demand: Vector = field(repr=False)
    capacity: float
    windows: Vector | None = field(default=None, repr=False)
    service: Vector | None = field(default=None, repr=False)
    coordinates: Vector | None = field(default=None, repr=False)
    n_vehicles: int | None = None
    distances: str = ""

    def first(self, n_customers: int) -> RoutingData:
        """The instance of its first customers, as Solomon's of 25 and 50 are made."""
        nodes = slice(n_customers + 1)
        return replace(
            self,
            name=f"{self.name}, {n_customers} customers",
            cost=self.cost[nodes, nodes],
            demand=self.demand[nodes],
            windows=None if self.windows is None else self.windows[nodes],
            service=None if self.service is None else self.service[nodes],
            coordinates=None if self.coordinates is None else self.coordinates[nodes],
        )

    def pricer(self, **options: Any) -> RoutingPricer:
        """The pricer of its routes; options are those of :class:`RoutingPricer`.

        ``n_vehicles`` is for :meth:`RoutingPricer.search`: the number in a file is no limit alone.
        """
        own: dict[str, Any] = {
            "depots": self.depots,
            "demand": self.demand,
            "capacity": self.capacity,
            "windows": self.windows,
            "service": 0.0 if self.service is None or self.windows is None else self.service,
        }
        return RoutingPricer(self.cost, **{**own, **options})


def read_routes(path: str | Path, rounding: Rounding | None = None) -> RoutingData:
    """Read an instance of vehicle routing in the form of VRPLIB (TSPLIB) or of Solomon.

    Parameters
    ----------
    path : str or Path
        A name that ends in ``.txt`` has Solomon's form.
    rounding : {"nearest", "tenths", "none"} or None
        Of distances between coordinates: to the nearest whole number; truncated after one decimal;
        or not. None: as TSPLIB defines them (``EUC_2D`` nearest, ``CEIL_2D`` up, ``FLOOR_2D``
        down), and as published optima of Solomon's instances have them (tenths). A matrix of
        distances stays as it is.

    Raises
    ------
    ImportError
        Without the package vrplib, in the extra ``routing``.
    ModelError
        For a file that is missing or damaged, or an instance of another kind of problem.
    """
    require("vrplib", "read_routes")
    import vrplib

    path = Path(path)
    if not path.is_file():
        raise ModelError(f"there is no file {str(path)!r}")
    if rounding is not None and rounding not in get_args(Rounding):
        raise ValueError(f'rounding must be "nearest", "tenths", "none" or None, got {rounding!r}')
    solomon = path.suffix.lower() == ".txt"
    try:
        with np.errstate(invalid="ignore"):  # of its distances, which are nan within a place
            own = vrplib.read_instance(path, instance_format="solomon" if solomon else "vrplib")
    except (ValueError, KeyError, IndexError, TypeError, RuntimeError) as error:
        raise ModelError(f"{str(path)!r} cannot be read: vrplib says {error}") from error
    try:
        return _numbers(path, (_solomon if solomon else _tsplib)(path, own, rounding))
    except ModelError:
        raise
    except (KeyError, IndexError) as error:
        raise ModelError(f"{str(path)!r} has no {error}: the file may be damaged") from error
    except (TypeError, ValueError) as error:
        raise ModelError(f"{str(path)!r} has what is no number: {error}") from error


def _numbers(path: Path, data: RoutingData) -> RoutingData:
    """The same instance, or a ModelError where something that counts is nan."""
    parts = ("coordinates", "demand", "windows", "service", "cost")
    for part in parts:
        values = getattr(data, part)
        if values is not None and np.isnan(values).any():
            node = int(np.argwhere(np.isnan(values))[0, 0])
            raise ModelError(f"{str(path)!r} has nan among the {part} of node {node + 1}")
    return data


def _solomon(path: Path, own: dict[str, Any], rounding: Rounding | None) -> RoutingData:
    table, rounded = _table(path), rounding or "tenths"
    places = table[:, 1:3]
    return RoutingData(
        str(own.get("name", path.stem)),
        _distances(places, rounded),
        (0,),
        table[:, 3],
        float(own["capacity"]),
        table[:, 4:6],
        table[:, 6],
        places,
        int(own["vehicles"]),
        f"Euclidean, {IN_WORDS[rounded]} (Solomon)",
    )


def _table(path: Path) -> Vector:
    """The numbers of the depot and of each customer: vrplib has −1 for all that have a point."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    table = np.array([line.split() for line in lines[6:]], dtype=np.float64)
    if table.shape[1] != 7 or (table[:, 0] != np.arange(len(table))).any():
        raise ModelError(
            f"{str(path)!r}: the lines of customers must have seven numbers, and the first of them "
            "count from 0 on, the depot"
        )
    return table


def _tsplib(path: Path, own: dict[str, Any], rounding: Rounding | None) -> RoutingData:
    if wrong := [key for key in own if key not in KNOWN]:
        raise ModelError(
            f"{str(path)!r} has {wrong[0].upper()}, which read_routes does not take into account; "
            "where it is a limit on routes, make the RoutingPricer yourself"
        )
    n = int(own["dimension"])
    _check_numbers(path, n)
    kind = own.get("edge_weight_type", "EUC_2D")
    places = own.get("node_coord")
    places = None if places is None else np.asarray(places, dtype=np.float64)
    if kind in AS_DEFINED and places is not None:
        rounded = rounding or AS_DEFINED[kind]
        cost, said = _distances(places, rounded), f"Euclidean, {IN_WORDS[rounded]} ({kind})"
    else:
        cost = np.asarray(own["edge_weight"], dtype=np.float64)
        said = f"as vrplib has them ({kind})"
    demand = np.asarray(own["demand"], dtype=np.float64)
    if cost.shape != (n, n) or demand.shape != (n,):
        raise ModelError(
            f"{str(path)!r} has DIMENSION {n}, but distances of shape {cost.shape} and "
            f"{demand.size} demands"
        )
    depots = [int(depot) for depot in np.ravel(own.get("depot", [0]))]
    if not all(0 <= depot < n for depot in depots):
        raise ModelError(
            f"{str(path)!r} has the depots {[depot + 1 for depot in depots]}, of nodes 1 to {n}: a "
            "list of depots ends with -1 on a separate line"
        )
    windows, service = own.get("time_window"), own.get("service_time")
    return RoutingData(
        str(own.get("name", path.stem)),
        cost,
        tuple(depots),
        demand,
        float(own["capacity"]),
        None if windows is None else np.asarray(windows, dtype=np.float64),
        None if service is None else np.broadcast_to(np.asarray(service, dtype=float), (n,)),
        places,
        int(own["vehicles"]) if "vehicles" in own else None,
        said,
    )


def _distances(places: Vector, rounding: str) -> Vector:
    exact = np.hypot(*(places[:, None] - places).T)
    if rounding == "nearest":
        return np.floor(exact + 0.5)
    if rounding == "up":
        return np.ceil(exact)
    if rounding == "down":
        return np.floor(exact)
    if rounding == "tenths":
        return np.floor(10.0 * exact + TRUNCATED) / 10.0
    return np.asarray(exact, dtype=np.float64)


def _check_numbers(path: Path, n: int) -> None:
    """Raise a ModelError where the lines of a section are not of the nodes 1 to n in order."""
    for section, lines in _sections(path.read_text(encoding="utf-8").splitlines()):
        if section not in NUMBERED:
            continue
        numbers = [line.split()[0] for line in lines if line.strip()]
        if numbers != [str(node) for node in range(1, n + 1)]:
            raise ModelError(
                f"{str(path)!r}: the lines of {section} must be of the nodes 1 to {n} in this "
                f"order, got {', '.join(numbers[:5])}, …"
            )


def _sections(lines: Sequence[str]) -> list[tuple[str, list[str]]]:
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        word = line.strip().rstrip(":").strip()
        if re.fullmatch(r"[A-Z_]+_SECTION", word):
            found.append((word, []))
        elif re.match(r"\s*[A-Z]", line):
            found.append(("", []))
        elif found:
            found[-1][1].append(line)
    return found
