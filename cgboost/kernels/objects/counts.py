"""Kernels that count features of objects: k(a, b) = Σ_f count_f(a)·count_f(b).

The features of an object are counted once. Blocks of kernel values are then products of sparse
matrices, whose columns are numbered in order of appearance of the features.

C. Leslie, E. Eskin, W. S. Noble, *The spectrum kernel: a string kernel for SVM protein
classification*, PSB 2002.

N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn, K. M. Borgwardt,
*Weisfeiler-Lehman graph kernels*, JMLR 12, 2011:

    colour_0(v)   = label of v, or its degree
    colour_t+1(v) = (colour_t(v), {(label of edge vw, colour_t(w)) for all neighbours w})

Colours are numbered by one dictionary for all graphs; each colour is a feature.

J. C. Gower, *A general coefficient of similarity and some of its properties*, Biometrics 27, 1971,
proves the kernels of sets positive semi-definite.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from cgboost.arrays import Indices, Matrix, Vector
from cgboost.exceptions import KernelError, see
from cgboost.forks import Lock
from cgboost.kernels.expansions import Weights, as_floats, items
from cgboost.kernels.kernel import Kernel, Norms
from cgboost.kernels.numeric.inner_products import ProductKernel

MOST_COUNTED = 2**16
"""Objects whose counts are kept; after that many new ones all are forgotten, and begun anew."""


CountFunction = Callable[[Any, Callable[[Hashable], int]], Mapping[int, float]]


class FeatureCounts:
    """Sparse counts of the features of objects, stored by the content of the objects.

    Copies, pickled or not, are empty: counts are quickly recomputed.
    """

    def __init__(self) -> None:
        self._columns: dict[Hashable, int] = {}
        self._counts: dict[Hashable, tuple[Indices, Vector]] = {}
        self._lock = Lock()

    def __reduce__(self) -> tuple[type[FeatureCounts], tuple[()]]:
        return FeatureCounts, ()

    def matrices(
        self, sets: Sequence[Iterable[Any]], key: Callable[[Any], Hashable], counts: CountFunction
    ) -> list[sparse.csr_array]:
        """One matrix per set of objects, shape (n_objects, n_features), with the same columns.

        Parameters
        ----------
        key : callable
            The content of an object: equal keys have equal counts.
        counts : callable
            ``counts(item, number)`` returns counts by column; ``number(feature)`` is the column of
            a feature.
        """
        with self._lock:
            if len(self._counts) > MOST_COUNTED:
                self._columns.clear()
                self._counts.clear()
            rows = [[self._row(key(item), item, counts) for item in own] for own in sets]
            width = len(self._columns)
        return [_stacked(own, width) for own in rows]

    def _row(self, key: Hashable, item: Any, counts: CountFunction) -> tuple[Indices, Vector]:
        if key not in self._counts:
            counted = counts(item, self._number)
            places = np.fromiter(counted.keys(), dtype=np.intp, count=len(counted))
            values = np.fromiter(counted.values(), dtype=np.float64, count=len(counted))
            self._counts[key] = places, values
        return self._counts[key]

    def _number(self, feature: Hashable) -> int:
        return self._columns.setdefault(feature, len(self._columns))


def _stacked(rows: Sequence[tuple[Indices, Vector]], width: int) -> sparse.csr_array:
    ends = np.cumsum([0, *(len(places) for places, _ in rows)])
    places = np.concatenate([places for places, _ in rows]) if rows else np.zeros(0, dtype=np.intp)
    values = np.concatenate([values for _, values in rows]) if rows else np.zeros(0)
    return sparse.csr_array((values, places, ends), shape=(len(rows), width))


@dataclass(frozen=True)
class CountKernel(Kernel):
    """k(a, b) = Σ_f count_f(a)·count_f(b) over features f of objects.

    A subclass defines what is counted (``counts``) and what distinguishes objects (``key``).
    """

    kept: FeatureCounts = field(
        default_factory=FeatureCounts, init=False, repr=False, compare=False
    )

    @property
    def takes_objects(self) -> bool:
        return True

    @abstractmethod
    def counts(self, item: Any, number: Callable[[Hashable], int]) -> Mapping[int, float]:
        """Counts of an object by column, where ``number(feature)`` is the column of a feature."""

    def key(self, item: Any) -> Hashable:
        """The content of an object; by default the object itself, which must not change."""
        key: Hashable = item
        return key

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        return replace(self)  # with its own counts

    def released(self) -> Kernel:
        return replace(self)

    def features(self, *sets: Matrix) -> list[sparse.csr_array]:
        """Counts of the objects of each set, shape (n_objects, n_features), with shared columns."""
        return self.kept.matrices([items(X) for X in sets], self.key, self.counts)

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        rows, centres = self.features(X, Z)
        return np.asarray((rows @ centres.T).toarray(), dtype=np.float64)

    def diagonal(self, X: Matrix) -> Norms:
        (rows,) = self.features(X)
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()


@dataclass(frozen=True)
class Spectrum(CountKernel):
    """k(a, b) = Σ_w count_w(a)·count_w(b) over all words w of ``length`` letters.

    All occurrences of a word are counted, at any position. A string shorter than ``length`` has no
    words.

    Parameters
    ----------
    length : int, default=3

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import Spectrum
    >>> Spectrum(2)(np.array(["ababa", "aab"]), np.array(["abab"]))
    array([[6.],
           [2.]])
    """

    length: int = 3

    def __post_init__(self) -> None:
        if not isinstance(self.length, Integral) or self.length < 1:
            raise ValueError(f"length must be a whole number ≥ 1, got {self.length!r}")

    def counts(self, item: Any, number: Callable[[Hashable], int]) -> Mapping[int, float]:
        if not isinstance(item, str):
            raise TypeError(f"Spectrum takes strings, got {item!r} ({type(item).__name__})")
        stop = len(item) - self.length + 1
        words = Counter(item[start : start + self.length] for start in range(stop))
        return {number(word): float(count) for word, count in words.items()}


@dataclass(frozen=True)
class WeisfeilerLehman(CountKernel):
    """k(G, H) = Σ_t Σ_c count_c(G)·count_c(H) over the colours c after t = 0, …, ``depth`` rounds.

    Parameters
    ----------
    depth : int, default=3
        Rounds of refinement: a colour represents a neighbourhood of this radius.
    node_label, edge_label : str or None
        Attributes used as initial labels of nodes and edges. None means the degree of a node, and
        no labels of edges.

    Notes
    -----
    X is a list, or an object column, of undirected networkx graphs. In a directed graph, the
    neighbours of a node are its successors; in a multigraph, each edge counts.

    Examples
    --------
    >>> import networkx as nx
    >>> import numpy as np
    >>> from cgboost import WeisfeilerLehman
    >>> graphs = np.empty(2, dtype=object)
    >>> graphs[:] = [nx.path_graph(3), nx.cycle_graph(3)]
    >>> WeisfeilerLehman(depth=0)(graphs, graphs)  # degrees 1, 2, 1 and 2, 2, 2
    array([[5., 3.],
           [3., 9.]])
    """

    depth: int = 3
    node_label: str | None = None
    edge_label: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.depth, Integral) or self.depth < 0:
            raise ValueError(f"depth must be a whole number ≥ 0, got {self.depth!r}")

    def key(self, item: Any) -> Hashable:
        """Nodes, edges and their labels: a changed graph counts as a different object."""
        if not (hasattr(item, "nodes") and hasattr(item, "adj")):
            raise TypeError(
                f"WeisfeilerLehman takes networkx graphs, got {item!r} ({type(item).__name__})"
            )
        edges = tuple((v, tuple(own)) for v, own in self._neighbours(item).items())
        return tuple(self._labels(item).items()), edges

    def counts(self, item: Any, number: Callable[[Hashable], int]) -> Mapping[int, float]:
        colours = {v: number(("label", label)) for v, label in self._labels(item).items()}
        total = Counter(colours.values())
        neighbours = self._neighbours(item)
        for _ in range(self.depth):
            colours = {
                v: number((own, *sorted((repr(label), colours[w]) for w, label in neighbours[v])))
                for v, own in colours.items()
            }
            total.update(colours.values())
        return {colour: float(count) for colour, count in total.items()}

    def _labels(self, graph: Any) -> dict[Any, Hashable]:
        if self.node_label is None:
            return dict(graph.degree)
        return {v: data.get(self.node_label) for v, data in graph.nodes(data=True)}

    def _neighbours(self, graph: Any) -> dict[Any, list[tuple[Any, Hashable]]]:
        """The neighbours of every node, each with the label of its edge; one for each edge."""
        name, parallel = self.edge_label, graph.is_multigraph()
        return {
            v: [
                (w, None if name is None else edge.get(name))
                for w, data in own.items()
                for edge in (data.values() if parallel else (data,))
            ]
            for v, own in graph.adjacency()
        }


@dataclass(frozen=True)
class Tanimoto(ProductKernel):
    """k(x, z) = x·z / (‖x‖² + ‖z‖² − x·z), and 1 for two rows of zeros.

    For rows of zeros and ones, it is the Jaccard similarity of the sets of features that are 1.
    """

    def fill(self, out: Matrix, products: Matrix, x_norms: Norms, z_norms: Norms) -> None:
        whole = x_norms[:, None] + z_norms - products
        both_zero = whole <= 0.0
        np.divide(products, np.where(both_zero, 1.0, whole), out=out)
        out[both_zero] = 1.0

    def diagonal_from_norms(self, norms: Norms) -> Norms:
        return np.ones_like(norms)


@dataclass(frozen=True)
class Jaccard(CountKernel):
    """k(a, b) = |a ∩ b| / |a ∪ b|, and 1 for two empty sets.

    Rows are sets (or lists, tuples and other collections) of hashable elements, or rows of a matrix
    of zeros and ones.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import Jaccard
    >>> round(Jaccard()(np.array([{1, 2, 3}]), np.array([{2, 3, 4}])).item(), 3)
    0.5
    >>> Jaccard()(np.array([[1, 1, 0]]), np.array([[1, 0, 0]]))
    array([[0.5]])
    """

    def key(self, item: Any) -> Hashable:
        if isinstance(item, (str, bytes)) or not hasattr(item, "__iter__"):
            raise TypeError(f"Jaccard takes sets, got {item!r} ({type(item).__name__})")
        return frozenset(item)

    def counts(self, item: Any, number: Callable[[Hashable], int]) -> Mapping[int, float]:
        return {number(element): 1.0 for element in frozenset(item)}

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        if X.dtype != object:
            return Tanimoto()(_zeros_and_ones(X), _zeros_and_ones(Z))
        rows, centres = self.features(X, Z)
        common = np.asarray((rows @ centres.T).toarray(), dtype=np.float64)
        Tanimoto().fill(common, common.copy(), rows.sum(axis=1), centres.sum(axis=1))
        return common

    def diagonal(self, X: Matrix) -> Norms:
        return np.ones(len(X))


def _zeros_and_ones(X: Matrix) -> Matrix:
    if not np.isin(X, (0, 1)).all():
        wrong = X[~np.isin(X, (0, 1))][0]
        raise KernelError(
            f"Jaccard takes sets, or rows of zeros and ones, got {wrong!r}: take Tanimoto() for "
            f"counts{see('kernels-and-libraries')}"
        )
    return as_floats(X)
