"""A function of two objects as a kernel.

Every pair needed in a fit is evaluated once: values are stored by the identity of the objects
(words and numbers by their value), and k(b, a) is k(a, b) if the function is symmetric. A fitted
model does not store these values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cgboost.arrays import Indices, Matrix, Vector
from cgboost.kernels.expansions import Weights, items
from cgboost.kernels.kernel import Kernel, Norms

MOST_REMEMBERED = 4096
"""Training objects whose pairs are remembered: 9 bytes a pair, touched as they are needed."""


@dataclass(frozen=True)
class PairwiseKernel(Kernel):
    """k(a, b), given by a function of two objects.

    Parameters
    ----------
    function : callable
        ``function(a, b)`` returns a real number. If X has one column, a and b are its values; if it
        has several, they are rows.
    symmetric : bool, default=True
        Whether k(a, b) = k(b, a); only one of them is then evaluated.

    Notes
    -----
    The kernel can be pickled if the function can; lambdas and functions inside functions cannot.
    Objects are not copied: do not change them after the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import PairwiseKernel
    >>> same_start = PairwiseKernel(lambda a, b: float(a[0] == b[0]))
    >>> same_start(np.array(["apple", "pear"]), np.array(["apricot"]))
    array([[1.],
           [0.]])
    """

    function: Callable[[Any, Any], float]
    symmetric: bool = True
    memory: PairMemory | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function must be a callable k(a, b), got {self.function!r}")

    @property
    def takes_objects(self) -> bool:
        return True

    def fit(self, X: Matrix, sample_weight: Weights = None) -> Kernel:
        objects = items(X)
        memory = PairMemory(objects) if len(objects) <= MOST_REMEMBERED else None
        return replace(self, memory=memory)

    def released(self) -> Kernel:
        return replace(self, memory=None)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"memory": None}  # values are soon made again

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        rows, centres = items(X), items(Z)
        memory = self.memory
        if memory is None or not (memory.has(rows) and memory.has(centres)):
            memory = PairMemory([*rows, *centres])
        return memory.values(rows, centres, self.function, symmetric=self.symmetric)

    def diagonal(self, X: Matrix) -> Norms:
        memory, rows = self.memory, items(X)
        if memory is None or not memory.has(rows):
            return np.array([self.function(a, a) for a in rows], dtype=np.float64)
        pairs = (memory.values([a], [a], self.function, symmetric=True) for a in rows)
        return np.array([own[0, 0] for own in pairs])


class PairMemory:
    """Values of the pairs of some objects, as far as they are known.

    Parameters
    ----------
    objects : iterable
        They are kept, so that identities stay what they are.
    """

    def __init__(self, objects: Iterable[Any]) -> None:
        self._objects: dict[Hashable, Any] = {identity(item): item for item in objects}
        self._number = {key: number for number, key in enumerate(self._objects)}
        count = len(self._objects)
        self._values = np.zeros((count, count))  # pages cost nothing until they are written
        self._known = np.zeros((count, count), dtype=bool)

    def has(self, objects: Iterable[Any]) -> bool:
        """Whether all objects are among those that it was made for."""
        return all(identity(item) in self._number for item in objects)

    def values(
        self,
        rows: Iterable[Any],
        centres: Iterable[Any],
        function: Callable[[Any, Any], float],
        *,
        symmetric: bool,
    ) -> Vector:
        """Values of all rows with all centres, those that are missing evaluated now."""
        mine, its = self._numbers(rows), self._numbers(centres)
        objects, others = list(self._objects.values()), np.unique(its)
        for first in np.unique(mine).tolist():
            missing = others[~self._known[first, others]]  # not those whose mirror image is there
            own = objects[first]
            found = [float(function(own, objects[second])) for second in missing.tolist()]
            self._values[first, missing] = found
            self._known[first, missing] = True
            if symmetric:
                self._values[missing, first] = found
                self._known[missing, first] = True
        return self._values[np.ix_(mine, its)]

    def _numbers(self, objects: Iterable[Any]) -> Indices:
        return np.array([self._number[identity(item)] for item in objects], dtype=np.intp)


def identity(item: Any) -> Hashable:
    """What tells objects apart: the value of words, numbers and arrays, else which object it is."""
    if isinstance(item, (str, bytes, int, float, np.number)):
        return type(item), item
    if isinstance(item, np.ndarray):
        if item.dtype == object:
            return tuple(map(identity, item.tolist()))  # a row of a table
        return item.dtype.str, item.shape, item.tobytes()
    return id(item)
