"""Objects of NumPy, SciPy and scikit-learn that models hold, each with a way in and a way out.

Compiled code reads some of them without looking (trees, sparse matrices, states of generators), so
that what is read is checked here: numbers out of range must never reach it.

Values that categories, labels and objects of kernels may be (dates, decimals, intervals, graphs)
are taken apart into plain data, and made again by their own constructors.
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import importlib
import uuid
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator

from cgboost.exceptions import CorruptFileError, PersistenceError, UnknownContentError

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


ForeignParts = tuple[str, tuple[Any, ...], tuple[Any, ...]]
GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
SPARSE = {
    f"{layout}_{kind}": getattr(sparse, f"{layout}_{kind}")
    for layout in ("csr", "csc", "coo")
    for kind in ("array", "matrix")
}
LEARNERS = (
    "compose", "decomposition", "discriminant_analysis", "dummy", "ensemble",
    "feature_selection", "impute", "isotonic", "kernel_ridge", "linear_model", "model_selection",
    "naive_bayes", "neural_network", "pipeline", "preprocessing", "tree",
)  # fmt: skip
"""Rooms of scikit-learn whose public estimators and splitters may be stored."""
WITHOUT_ROOM = {
    "calibration:CalibratedClassifierCV": "sklearn.calibration",
    "calibration:_CalibratedClassifier": "sklearn.calibration",
    "calibration:_SigmoidCalibration": "sklearn.calibration",
    "frozen:FrozenEstimator": "sklearn.frozen",
    "metrics:_Scorer": "sklearn.metrics._scorer",
}
"""Other classes that may be stored, and where they are."""
LEFT_OUT = ("IsolationForest", "GradientBoostingClassifier", "GradientBoostingRegressor")
"""Compiled code of these reads arrays without looking."""


class Maker(Protocol):
    """Makes an object of what goes with its tag and its children."""

    def __call__(self, static: Any, children: Any, /) -> Any:
        """The object."""


def foreign_parts(what: Any) -> ForeignParts | None:
    """Tag, what goes with it and children of an object that is neither plain nor ours, if known."""
    kind = type(what)
    if isinstance(what, np.random.Generator):
        return "generator", (), (what.bit_generator,)
    if isinstance(what, np.random.BitGenerator):
        name = kind.__name__
        return ("bits", (name,), (what.state, what.seed_seq)) if name in GENERATORS else None
    if kind is np.random.RandomState:
        return "random_state", (), (what.get_state(legacy=False),)
    if kind is np.random.SeedSequence:
        own = (what.entropy, what.spawn_key, what.pool_size, what.n_children_spawned)
        return "seeds", (), own
    if SPARSE.get(kind.__name__) is kind:
        return _sparse_parts(what)
    if kind.__module__ == "sklearn.tree._tree" and kind is tree_class():
        _, arguments, state = what.__reduce__()
        return "tree", (), (arguments, state)
    if kind.__module__.startswith("sklearn.") and learner_class(learner_name(kind)) is kind:
        state = dict(what.__getstate__() or {})
        state.pop("_sklearn_version", None)
        return "learner", (learner_name(kind), tuple(state)), tuple(state.values())
    return value_parts(what)


def tree_class() -> Any:
    """scikit-learn's trees, whose package takes long to import."""
    from sklearn.tree._tree import Tree

    return Tree


def _sparse_parts(what: Any) -> ForeignParts:
    name = type(what).__name__
    if what.format == "coo":
        return "sparse", (name, what.shape), (what.data, *what.coords)
    count = int(what.indptr[-1])  # arrays may be longer
    return "sparse", (name, what.shape), (what.data[:count], what.indices[:count], what.indptr)


def learner_name(kind: type) -> str:
    """``tree:DecisionTreeRegressor``."""
    return f"{'.'.join(kind.__module__.split('.')[1:2])}:{kind.__name__}"


def learner_class(name: Any) -> type | None:
    """A public estimator of scikit-learn, in one of the rooms that are allowed."""
    room, _, own = str(name).partition(":")
    if (module := WITHOUT_ROOM.get(str(name))) is not None:
        known: type | None = vars(importlib.import_module(module)).get(own)
        return known
    if room not in LEARNERS or own in LEFT_OUT:
        return None
    public = importlib.import_module(f"sklearn.{room}")
    found = vars(public).get(own) if own in public.__all__ else None
    estimates = isinstance(found, type) and issubclass(found, BaseEstimator)
    return found if estimates or hasattr(found, "get_n_splits") else None


def known_learner(name: Any) -> type:
    """The same.

    Raises
    ------
    UnknownContentError
        If there is none.
    """
    found = learner_class(name)
    if found is None:
        raise UnknownContentError(
            f"the file names the estimator {name!r:.120} of scikit-learn, which is not there, or "
            "not among those that may be read. Install the version of scikit-learn that wrote it"
        )
    return found


# ---------------------------------------------------------------------- the way back


def make_generator(_: Any, children: Any) -> Any:
    """A Generator."""
    (bits,) = children
    _must(isinstance(bits, np.random.BitGenerator), "a generator without its bits")
    return np.random.Generator(bits)


def make_bits(static: Any, children: Any) -> Any:
    """A bit generator in its state."""
    (name,), (state, seeds) = static, children
    _must(name in GENERATORS, f"{name!r:.40} is no bit generator")
    _must(seeds is None or type(seeds) is np.random.SeedSequence, "a generator without seeds")
    _must(isinstance(state, dict) and state.get("bit_generator") == name, "a state of another")
    _check_state(name, state)
    own = getattr(np.random, name)(seeds)
    own.state = state
    return own


def make_random_state(_: Any, children: Any) -> Any:
    """A RandomState."""
    (state,) = children
    _must(isinstance(state, dict) and state.get("bit_generator") == "MT19937", "no random state")
    _check_state("MT19937", state)
    own = np.random.RandomState()
    own.set_state(state)
    return own


def make_seeds(_: Any, children: Any) -> Any:
    """A SeedSequence."""
    entropy, key, size, spawned = children
    _must(type(size) is int and 4 <= size <= 1024 and type(spawned) is int, "no seeds")
    return np.random.SeedSequence(
        entropy, spawn_key=key, pool_size=size, n_children_spawned=spawned
    )


LENGTHS = {"MT19937": ("key", 624, "pos"), "Philox": ("buffer", 4, "buffer_pos")}


def _check_state(name: str, state: dict[str, Any]) -> None:
    """Positions inside of the buffers, which NumPy does not look at."""
    own = state["state"]
    _must(isinstance(own, dict), "no state of a generator")
    if name in LENGTHS:
        buffer, length, position = LENGTHS[name]
        holder = own if name == "MT19937" else state
        _must(np.shape(holder[buffer]) == (length,), "a state of the wrong length")
        place = holder[position]
        _must(isinstance(place, int | np.integer) and 0 <= place <= length, "a state out of range")


def make_sparse(static: Any, children: Any) -> Any:
    """A sparse matrix or array whose indices are in range."""
    (name, shape) = static
    _must(name in SPARSE, f"{name!r:.40} is no sparse format")
    _must(all(isinstance(part, np.ndarray) and part.ndim == 1 for part in children), "no arrays")
    data, *places = children
    _must(all(part.dtype.kind == "i" for part in places), "indices that are no integers")
    _must(data.dtype.kind in "biufc", "a sparse matrix of no numbers")
    if name.startswith("coo"):  # which looks at its indices when it is made
        return SPARSE[name]((data, tuple(places)), shape=tuple(shape))
    own = SPARSE[name](tuple(children), shape=tuple(shape))
    own.check_format(full_check=True)
    return own


def make_tree(_: Any, children: Any) -> Any:
    """A tree of scikit-learn's whose nodes lead to nodes and features that are there."""
    arguments, state = children
    _must(isinstance(arguments, tuple) and len(arguments) == 3, "a tree without its features")
    n_features, n_classes, n_outputs = arguments
    _must(type(n_features) is int and 0 < n_features < 1 << 31, "a tree without features")
    _must(type(n_outputs) is int and 0 < n_outputs < 1 << 31, "a tree without outputs")
    _must(
        isinstance(n_classes, np.ndarray)
        and n_classes.dtype == np.intp
        and n_classes.shape == (n_outputs,)
        and bool((n_classes > 0).all())
        and int(n_classes.max()) < 1 << 31,
        "a tree without classes",
    )
    nodes, values = state["nodes"], state["values"]
    count = state["node_count"]
    _must(isinstance(nodes, np.ndarray) and nodes.ndim == 1 and count == len(nodes) > 0, "no nodes")
    _must(nodes.dtype == _node_dtype(), "a tree of another version of scikit-learn")
    _must(
        isinstance(values, np.ndarray)
        and values.dtype == np.float64
        and values.shape == (count, n_outputs, int(n_classes.max())),
        "a tree whose values have another shape",
    )
    _must(type(state["max_depth"]) is int, "a tree without depth")
    left, right, feature = nodes["left_child"], nodes["right_child"], nodes["feature"]
    inner = left != -1
    numbers = np.arange(count)[inner]
    for child in (left[inner], right[inner]):
        _must(bool(((child > numbers) & (child < count)).all()), "a tree that leads nowhere")
    used = feature[inner]
    _must(bool(((used >= 0) & (used < n_features)).all()), "a tree of features that are not there")
    tree = tree_class()(n_features, n_classes, n_outputs)
    tree.__setstate__(state)
    return tree


def finish_learner(own: Any) -> None:
    """Check trees against the estimators that hold them, and make what is never stored.

    Compiled code of forests reads as many features as a tree says, whatever the rows have.
    """
    parts = vars(own)
    trees = [own] if "tree_" in parts else []
    if "estimators_features_" not in parts and isinstance(parts.get("estimators_"), list):
        trees += [part for part in parts["estimators_"] if "tree_" in getattr(part, "__dict__", ())]
    for part in trees:
        tree = part.tree_
        _must(
            type(tree) is tree_class() and tree.n_features == parts.get("n_features_in_"),
            "a tree of other features than its estimator",
        )
    setter = getattr(type(own), "__setstate__", None)
    if setter not in (None, BaseEstimator.__setstate__):
        setter(own, dict(parts) | {"_sklearn_version": sklearn.__version__})


def _node_dtype() -> Any:
    """The dtype of nodes in the version that is installed."""
    empty = tree_class()(1, np.array([1], dtype=np.intp), 1).__reduce__()[2]["nodes"]
    return empty.dtype


def _must(right: Any, wrong: str) -> None:
    if not right:
        raise CorruptFileError(f"the file has content that is not whole: {wrong}")


MAKERS: dict[str, Maker] = {
    "generator": make_generator,
    "bits": make_bits,
    "random_state": make_random_state,
    "seeds": make_seeds,
    "sparse": make_sparse,
    "tree": make_tree,
    "value": make_value,
}
