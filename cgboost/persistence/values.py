"""Values that categories, labels and objects of kernels may be: dates, decimals, intervals, graphs.

Each is taken apart into plain data, and made again by its own constructor.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import importlib
import uuid
from collections.abc import Callable
from typing import Any

from cgboost.exceptions import PersistenceError, UnknownContentError

ValueParts = tuple[Any, ...]
PACKAGES = ("datetime", "decimal", "fractions", "uuid", "pandas", "networkx")
GRAPHS = ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")


def value_parts(what: Any) -> tuple[str, ValueParts, ValueParts] | None:
    """Tag, name of the type and parts of a value, if its type is known."""
    kind = type(what)
    package = kind.__module__.partition(".")[0]
    name = f"{package}:{kind.__name__}"
    ways = VALUES.get(name) if package in PACKAGES else None
    return None if ways is None else ("value", (name,), ways[0](what))


def make_value(static: Any, children: Any) -> Any:
    """The value again.

    Raises
    ------
    UnknownContentError
        For a type that is not known, or whose package is not installed.
    """
    (name,) = static
    if not isinstance(name, str) or name not in VALUES:
        raise UnknownContentError(f"{name!r:.80} is no type of values that a file may have")
    try:
        package = importlib.import_module(name.partition(":")[0])
    except ImportError as error:
        package_name = name.partition(":")[0]
        raise UnknownContentError(
            f"the file has values of {package_name}, which is not installed: pip install "
            f"{package_name}"
        ) from error
    return VALUES[name][1](package, *children)


def _zone(what: Any) -> Any:
    """The part that says how far from UTC a time is; zones by name are not plain data."""
    if what.tzinfo is not None and not isinstance(what.tzinfo, datetime.timezone):
        raise PersistenceError(f"{what!r} has a time zone by name; convert it to UTC first")
    return what.isoformat(), what.fold


def _datetime(package: Any, words: str, fold: int) -> Any:
    return datetime.datetime.fromisoformat(words).replace(fold=fold)


def _time(package: Any, words: str, fold: int) -> Any:
    return datetime.time.fromisoformat(words).replace(fold=fold)


def _timestamp(pandas: Any, value: Any, zone: str | None) -> Any:
    own = pandas.Timestamp(value)
    return own if zone is None else own.tz_localize("UTC").tz_convert(zone)


def _graph_parts(what: Any) -> ValueParts:
    keys = {"keys": True} if what.is_multigraph() else {}
    return dict(what.graph), list(what.nodes(data=True)), list(what.edges(data=True, **keys))


def _graph(name: str) -> Callable[..., Any]:
    def make(networkx: Any, about: Any, nodes: Any, edges: Any) -> Any:
        own = getattr(networkx, name)()
        own.graph.update(about)
        own.add_nodes_from(nodes)
        own.add_edges_from(edges)
        return own

    return make


VALUES: dict[str, tuple[Callable[[Any], ValueParts], Callable[..., Any]]] = {
    "datetime:datetime": (_zone, _datetime),
    "datetime:time": (_zone, _time),
    "datetime:date": (
        lambda own: (own.isoformat(),),
        lambda _, words: datetime.date.fromisoformat(words),
    ),
    "datetime:timedelta": (
        lambda own: (own.days, own.seconds, own.microseconds),
        lambda _, *parts: datetime.timedelta(*parts),
    ),
    "decimal:Decimal": (lambda own: (str(own),), lambda _, words: decimal.Decimal(words)),
    "fractions:Fraction": (
        lambda own: (own.numerator, own.denominator),
        lambda _, *parts: fractions.Fraction(*parts),
    ),
    "uuid:UUID": (lambda own: (str(own),), lambda _, words: uuid.UUID(words)),
    "pandas:NAType": (lambda own: (), lambda pandas: pandas.NA),
    "pandas:NaTType": (lambda own: (), lambda pandas: pandas.NaT),
    "pandas:Interval": (
        lambda own: (own.left, own.right, own.closed),
        lambda pandas, *parts: pandas.Interval(*parts),
    ),
    "pandas:Period": (
        lambda own: (own.ordinal, own.freqstr),
        lambda pandas, ordinal, freq: pandas.Period(ordinal=ordinal, freq=freq),
    ),
    "pandas:Timestamp": (
        lambda own: (own.asm8, None if own.tz is None else str(own.tz)),
        _timestamp,
    ),
    "pandas:Timedelta": (
        lambda own: (own.asm8,),
        lambda pandas, value: pandas.Timedelta(value),
    ),
    **{f"networkx:{name}": (_graph_parts, _graph(name)) for name in GRAPHS},
}
