"""What an output is a sum of, and what each part contributes: slopes, curves, boxes, products.

A *box* is a product of conditions, each on one feature, perhaps times a function of one feature: a
rule, a leaf of a tree, a slope in a leaf of a linear tree. Its Shapley values depend on a row
through the conditions that the row fulfils alone, so that they are computed once for each such
pattern, against how often each pattern comes in the background, and then looked up: the work is
rows + background, not rows × background.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeGuard

import numpy as np
from scipy import sparse

from cgboost.arrays import Indices, Mask, Vector, blocks_of
from cgboost.forks import cached_property
from cgboost.inspection.shapley.games import cover_weights, of_others, pair_weights, quadrature
from cgboost.pricing.univariate.feature_pricer import dense_columns

ENTRIES = 2**21
"""Numbers that are held at a time: rows times functions."""

MOST_SHARED = 8
"""Up to so many conditions, all patterns are in one table: it has 4^k·k numbers. Of more, each box
has those that come. Trees of depth 9 take a quarter of the time that they take with 6."""

BITS = 62
"""Conditions of a box, as bits of an integer."""


class Part(Protocol):
    """A part of an output, as a function of the features."""

    def add(self, X: Any, background: Any, total: Vector) -> None:
        """Add its interventional Shapley values to a total of shape (n_features, n_rows)."""
        ...


@dataclass(frozen=True)
class Slopes:
    """Σ_j coef_j x_j. Feature j contributes coef_j (x_j − mean of the background).

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    """

    coef: Vector

    def add(self, X: Any, background: Any, total: Vector) -> None:
        """See :meth:`Part.add`; X may be sparse."""
        used = np.flatnonzero(self.coef)
        centre = np.asarray(background[:, used].mean(axis=0, dtype=np.float64)).ravel()
        for rows in blocks_of(X.shape[0], max(1, ENTRIES // max(1, len(used)))):
            inside = dense_columns(X[rows], used).astype(np.float64) - centre
            total[used, rows] += (inside * self.coef[used]).T


@dataclass(frozen=True, eq=False)
class Curves:
    """A sum of functions of one feature each, which contribute their value less its mean.

    Attributes
    ----------
    features : ndarray of int, shape (n_curves,)
    values : callable
        Of all functions on rows, shape (n_rows, n_curves).
    """

    features: Indices
    values: Callable[[Any], Vector]

    def add(self, X: Any, background: Any, total: Vector) -> None:
        """See :meth:`Part.add`."""
        size = max(1, ENTRIES // max(1, len(self.features)))
        n_background = background.shape[0]
        blocks = blocks_of(n_background, size)
        sums = [self.values(background[rows]).sum(axis=0) for rows in blocks]
        centre = np.sum(sums, axis=0) / n_background
        owner = _owners(self.features, np.ones(len(self.features)), len(total))
        for rows in blocks_of(X.shape[0], size):
            total[:, rows] += owner @ (self.values(X[rows]) - centre).T


@dataclass(frozen=True, eq=False)
class Products:
    """Σ_b weight_b Π_j u_bj(x_j), products of functions of all features.

    Attributes
    ----------
    factors : callable
        Of all products on rows, shape (n_rows, n_products, n_features).
    weights : ndarray of shape (n_products,)
    """

    factors: Callable[[Any], Vector]
    weights: Vector

    def add(self, X: Any, background: Any, total: Vector) -> None:
        """See :meth:`Part.add`; each row meets each row of the background."""
        n_features, n_background = len(total), background.shape[0]
        size = max(1, ENTRIES // max(1, n_features * len(self.weights)))
        for rows in blocks_of(X.shape[0], size):
            own = self.factors(X[rows])
            for z in range(n_background):
                rest = self.factors(background[[z]])
                mean = np.zeros_like(own)
                for node, weight in quadrature(n_features):
                    mean += weight * of_others(node * own + (1.0 - node) * rest)
                gained = np.einsum("nbj,b->jn", mean * (own - rest), self.weights)
                total[:, rows] += gained / n_background


@dataclass(frozen=True, eq=False)
class Boxes:
    """Σ_b weight_b u_b(x) Π 1[the decisions of box b hold for x].

    Attributes
    ----------
    decided : callable
        Whether decisions hold for rows, shape (n_decisions, n_rows).
    features : ndarray of int, shape (n_decisions,)
    paths : sequence of sequences of int
        The decisions of each box.
    weights : ndarray of shape (n_boxes,)
    shares : ndarray of shape (n_decisions,) or None
        Of the training rows that reach a decision, those for which it holds; None where nobody has
        counted them.
    curves : Curves or None
        The functions u.
    factors : sequence of int or None
        The function of each box; −1 for none.
    """

    decided: Callable[[Any], Mask]
    features: Indices
    paths: Sequence[Sequence[int]]
    weights: Vector
    shares: Vector | None = None
    curves: Curves | None = None
    factors: Sequence[int] | None = None

    def add(self, X: Any, background: Any, total: Vector) -> None:
        """See :meth:`Part.add`."""
        theirs = [group.untallied(len(background)) for group in self._groups]
        for rows, seen in self._blocks(background):
            for group, own in zip(self._groups, theirs, strict=True):
                group.tally(rows, seen, own)
        for rows, seen in self._blocks(X):
            for group, own in zip(self._groups, theirs, strict=True):
                group.add(seen, own, total[:, rows])

    def add_by_covers(self, X: Any, total: Vector) -> float:
        """Add path-dependent Shapley values to a total; the mean over the training rows.

        Boxes must have ``shares``, and no functions.
        """
        assert self.shares is not None
        assert self.factors is None
        own = np.append(self.shares, 1.0)
        shares = [own[group.decisions].prod(axis=2) for group in self._groups]
        for rows, seen in self._blocks(X):
            for group, passed in zip(self._groups, shares, strict=True):
                group.add_by_covers(seen, passed, total[:, rows])
        pairs = zip(self._groups, shares, strict=True)
        return float(sum(group.weights @ passed.prod(axis=1) for group, passed in pairs))

    def _seen(self, X: Any) -> _Seen:
        held = self.decided(X)
        whole = np.vstack([held, np.ones((1, held.shape[1]), dtype=bool)])
        return _Seen(whole, None if self.curves is None else self.curves.values(X).T)

    def _blocks(self, X: Any) -> Iterator[tuple[slice, _Seen]]:
        widest = max(len(self.features), *(len(group.weights) for group in self._groups), 1)
        # a block has tables of all patterns: of few rows they would be most of the work
        for rows in blocks_of(len(X), max(2**MOST_SHARED, ENTRIES // widest)):
            yield rows, self._seen(X[rows])

    @cached_property
    def _groups(self) -> list[_Group]:
        """The boxes by their number of features, and by whether they have a function."""
        found: dict[tuple[int, bool], list[tuple[int, int, dict[int, list[int]], list[int]]]] = {}
        factors = [-1] * len(self.paths) if self.factors is None else self.factors
        features = self.features.tolist()
        for box, (path, factor) in enumerate(zip(self.paths, factors, strict=True)):
            by_feature: dict[int, list[int]] = {}
            for decision in path:
                by_feature.setdefault(features[decision], []).append(decision)
            inside: list[int] = []
            if factor >= 0:
                assert self.curves is not None
                inside = by_feature.pop(int(self.curves.features[factor]), [])
            if len(by_feature) > BITS:
                raise ValueError(
                    f"a leaf or rule has conditions on {len(by_feature)} features; contributions "
                    f"are computed for at most {BITS}"
                )
            key = len(by_feature), factor >= 0
            found.setdefault(key, []).append((box, factor, by_feature, inside))
        none = len(features)  # the decision that always holds
        groups = []
        for (k, has_factor), own in found.items():
            boxes = [box for box, *_ in own]
            conditions = [list(by_feature.values()) for *_, by_feature, _ in own]
            keys = [list(by_feature) for *_, by_feature, _ in own]
            factor_of = np.array([factor for _, factor, *_ in own], dtype=np.intp)
            groups.append(
                _Group(
                    np.array(keys, dtype=np.intp).reshape(len(own), k),
                    _padded(conditions, k, none),
                    self.weights[boxes],
                    factor_of if has_factor else None,
                    self.curves.features[factor_of] if has_factor and self.curves else None,
                    _padded([[inside] for *_, inside in own], 1, none)[:, 0],
                )
            )
        return groups


@dataclass(frozen=True)
class _Seen:
    """What boxes see of rows: decisions, the last of which always holds, and functions."""

    held: Mask
    curves: Vector | None

    @property
    def n_rows(self) -> int:
        return self.held.shape[1]


class _Tally(NamedTuple):
    """What boxes of a group see of the background.

    Attributes
    ----------
    often : ndarray of int
        Where groups share their patterns: how often each comes, shape (n_boxes, 2^k). Else the
        pattern of each row, shape (n_boxes, n_rows).
    size : ndarray or None
        Of groups with functions: their sums over the rows with each pattern, or their values.
    """

    n_rows: int
    often: Indices
    size: Vector | None


@dataclass(frozen=True)
class _Group:
    """Boxes with conditions on k features each.

    Attributes
    ----------
    features : ndarray of int, shape (n_boxes, k)
    decisions : ndarray of int, shape (n_boxes, k, most)
        A condition is all decisions on its feature.
    weights : ndarray of shape (n_boxes,)
    factor, factor_features : ndarray of int, shape (n_boxes,), or None
        The function of each box, and its feature.
    inside : ndarray of int, shape (n_boxes, most)
        The decisions on the feature of the function: outside it is 0.
    """

    features: Indices
    decisions: Indices
    weights: Vector
    factor: Indices | None
    factor_features: Indices | None
    inside: Indices

    def codes(self, held: Mask) -> Indices:
        """Bit i: whether condition i holds; shape (n_boxes, n_rows)."""
        codes = np.zeros((len(self.weights), held.shape[1]), dtype=np.int64)
        for i in range(self.features.shape[1]):
            codes |= _all(held, self.decisions[:, i]).astype(np.int64) << i
        return codes

    def factors(self, seen: _Seen) -> Vector | None:
        """Values of the functions, shape (n_boxes, n_rows)."""
        if self.factor is None:
            return None
        assert seen.curves is not None
        return np.asarray(seen.curves[self.factor] * _all(seen.held, self.inside))

    def untallied(self, n_rows: int) -> _Tally:
        """A tally in which no row of a background has been counted."""
        k = self.features.shape[1]
        shape = len(self.weights), 2**k if k <= MOST_SHARED else n_rows
        often = np.zeros(shape, dtype=np.int64)
        return _Tally(n_rows, often, None if self.factor is None else np.zeros(shape))

    def tally(self, rows: slice, seen: _Seen, theirs: _Tally) -> None:
        """Count some rows of the background."""
        codes, values = self.codes(seen.held), self.factors(seen)
        if self.features.shape[1] > MOST_SHARED:
            theirs.often[:, rows] = codes
            if theirs.size is not None:
                theirs.size[:, rows] = values
            return
        n_patterns = theirs.often.shape[1]
        theirs.often[:] += _counted(codes, n_patterns, None).astype(np.int64)
        if theirs.size is not None:
            theirs.size[:] += _counted(codes, n_patterns, values)

    def add(self, seen: _Seen, theirs: _Tally, total: Vector) -> None:
        """Add interventional Shapley values of rows, given a tally of the background."""
        codes, values = self.codes(seen.held), self.factors(seen)
        for boxes, ours, place, others, often, size in self._patterns(codes, theirs):
            table = pair_weights(ours, others, self.features.shape[1])
            if values is None:
                shares = np.tensordot(often, table.ours + table.theirs, axes=(1, 1))
                self._spread(boxes, shares, place, total)
                continue
            assert self.factor_features is not None
            own = values[boxes]
            self._spread(boxes, np.tensordot(often, table.ours, axes=(1, 1)), place, total, own)
            self._spread(boxes, np.tensordot(size, table.theirs, axes=(1, 1)), place, total)
            gained = np.take_along_axis(often @ table.factor.T, place, 1) * own
            gained -= np.take_along_axis(size @ table.factor.T, place, 1)
            total += _owners(self.factor_features[boxes], self.weights[boxes], len(total)) @ gained

    def add_by_covers(self, seen: _Seen, passed: Vector, total: Vector) -> None:
        """Path-dependent Shapley values; ``passed``: shares of the conditions."""
        codes = self.codes(seen.held)
        nobody = _Tally(1, np.zeros((len(codes), 0), dtype=np.int64), None)
        for boxes, ours, place, *_ in self._patterns(codes, nobody):
            self._spread(boxes, cover_weights(ours, passed[boxes]), place, total)

    def _patterns(
        self, codes: Indices, theirs: _Tally
    ) -> Iterator[tuple[slice, Indices, Indices, Indices, Vector, Vector]]:
        """Boxes with the same patterns: which of ours each row has, and the shares of theirs."""
        k = self.features.shape[1]
        often, n_rows = theirs.often, theirs.n_rows
        size = often if theirs.size is None else theirs.size
        if k <= MOST_SHARED:
            every = np.arange(2**k)
            for boxes in blocks_of(len(codes), max(1, ENTRIES // (2**k * max(k, 1)))):
                yield boxes, every, codes[boxes], every, often[boxes] / n_rows, size[boxes] / n_rows
            return
        for box in range(len(self.weights)):
            ours, place = np.unique(codes[box], return_inverse=True)
            others, there = np.unique(often[box], return_inverse=True)
            counts = _counted(there[None], len(others), None) / n_rows
            sums = _counted(there[None], len(others), size[box]) / n_rows
            yield slice(box, box + 1), ours, place[None], others, counts, sums

    def _spread(
        self,
        boxes: slice,
        shares: Vector,
        place: Indices,
        total: Vector,
        factor: Vector | None = None,
    ) -> None:
        """Add what each condition gets, (n_boxes, n_patterns, k), to the total of its feature."""
        for i in range(self.features.shape[1]):
            gained = np.take_along_axis(shares[:, :, i], place, 1)
            if factor is not None:
                gained *= factor
            total += _owners(self.features[boxes, i], self.weights[boxes], len(total)) @ gained


def _owners(features: Indices, weights: Vector, n_features: int) -> Any:
    """The matrix that adds rows of values, times their weights, up by feature."""
    places = features, np.arange(len(features))
    return sparse.csr_array((weights, places), shape=(n_features, len(features)))


def _all(held: Mask, decisions: Indices) -> Mask:
    """Where all decisions of each line hold, shape (n_lines, n_rows)."""
    inside: Mask = held[decisions[:, 0]]
    for k in range(1, decisions.shape[1]):
        inside &= held[decisions[:, k]]
    return inside


def _counted(place: Indices, n_patterns: int, weights: Vector | None) -> Vector:
    """How often each pattern comes in each line, shape (n_lines, n_patterns)."""
    lines = np.arange(len(place))[:, None] * n_patterns + place
    own = None if weights is None else weights.ravel()
    counts = np.bincount(lines.ravel(), own, minlength=len(place) * n_patterns)
    return counts.reshape(len(place), n_patterns).astype(np.float64)


def _padded(lists: Sequence[Sequence[Sequence[int]]], width: int, filler: int) -> Indices:
    """Lists of different lengths as an array of shape (n_lists, width, longest)."""
    most = max((len(own) for each in lists for own in each), default=0)
    filled = np.full((len(lists), width, max(most, 1)), filler, dtype=np.intp)
    for i, each in enumerate(lists):
        for j, own in enumerate(each):
            filled[i, j, : len(own)] = own
    return filled


def is_counted(part: Part) -> TypeGuard[Boxes]:
    """Whether a part knows how many training rows have gone which way."""
    return isinstance(part, Boxes) and part.shares is not None and part.factors is None
