"""Hashes of rows, and by them which are held out and which make intervals.

The hashes are the same in Python and in SQL. All arithmetic is that of two prime fields in signed
64-bit integers that never overflow, so that a database without wrap-around multiplication, or
without exclusive or, computes the same:

    linear     h₁ = a₀ + Σ_j a_j b_j mod p₁          h₂ = c₀ + Σ_j c_j b_j mod p₂
    copies     u = h₁ + k·A mod p₁                   v = h₂ + k·B mod p₂
    mixing     v ← v + u² mod p₂, u ← u + v² mod p₁  ``ROUNDS`` times
    hash       u·2³⁰ + v

b_j are the 64 bits of entry j as a signed integer, k numbers the copies of equal rows. The linear
hashes are universal: two different rows have both alike with probability about 1/(p₁p₂) (Carter,
Wegman, *Universal classes of hash functions*, J. Comput. Syst. Sci. 18, 1979). The mixing is a
Feistel network (Luby, Rackoff, SIAM J. Comput. 17, 1988) whose rounds are squares in the fields: it
maps pairs one to one, but for the little that p₂ is smaller than p₁, and leaves no linear relation.

A class of which no row of positive weight would be left to train on is not held out at all: all its
rows train. Without classes all rows are one. Counts by class say so, wherever the rows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cgboost.arrays import Indices, Mask, Matrix, Vector, blocks_of

Hashes = NDArray[np.int64]

PRIMES = (2**31 - 1, 2**30 - 35)
"""p₁ and p₂: the largest whose products are below 2⁶², with room for one sum of two. They differ,
so that no two numbers have bits that are equal modulo both, but for one pair in 2⁶⁰."""

LOW_BITS = 30
"""Bits of v in a hash."""

COPIES = (1327217885, 663608913)
"""A and B, the primes divided by the golden ratio: multiples of theirs are spread evenly."""

ROUNDS = 3
"""Without any, numbers of a grid are held out at regular distances; with one, neighbours among 0.0,
0.1, 0.2, … are held out together too often (p = 1e-31 over 600 tests); with two, all tests of
randomness pass: one more."""

NO_NUMBER = np.float64("nan").view(np.int64)
"""Bits of a missing entry."""


def coefficients(seed: int, n_columns: int) -> Hashes:
    """Coefficients (a₀, a₁, …) and (c₀, c₁, …), between 1 and p₂, shape (2, 1 + n_columns).

    The raw numbers of PCG64, which NumPy keeps the same in all versions.
    """
    raw = np.random.PCG64(seed).random_raw(2 * (1 + n_columns))
    numbers = raw.astype(np.uint64) % np.uint64(PRIMES[1] - 1)
    return numbers.astype(np.int64).reshape(2, -1) + 1


def content_hash(X: Matrix, y: Vector, seed: int) -> Hashes:
    """The linear hashes of every row, h₁·2³⁰ + h₂, which depend on its entries alone.

    Equal rows have equal ones; :func:`numbered` tells them apart.
    """
    factors = coefficients(seed, X.shape[1] + 1)
    sums = [np.full(len(X), factor) for factor in factors[:, 0]]
    low, high, term = np.empty((3, len(X)), dtype=np.int64)
    for j, column in enumerate((*X.T, y), start=1):
        with np.errstate(invalid="ignore"):  # of a nan that signals
            values = np.add(column, 0.0, dtype=np.float64)  # −0 is 0
        bits = values.view(np.int64)
        missing = np.isnan(values)
        if missing.any():
            bits[missing] = NO_NUMBER
        np.bitwise_and(bits, 2**32 - 1, out=low)
        np.right_shift(bits, 32, out=high)
        for total, factor, prime in zip(sums, factors[:, j].tolist(), PRIMES, strict=True):
            total += np.multiply(low, factor, out=term)
            total += np.multiply(high, (factor << 32) % prime, out=term)
            # 2ˢ ≡ 2ˢ − p: what is above s bits comes back below
            size = prime.bit_length()
            np.right_shift(total, size, out=term)
            total &= 2**size - 1
            total += np.multiply(term, 2**size - prime, out=term)
    first, second = (total % prime for total, prime in zip(sums, PRIMES, strict=True))
    return (first << LOW_BITS) | second


def numbered(hashes: Hashes, weights: Vector) -> Hashes:
    """Mixed hashes in which equal rows differ: the k-th copy, k = 0, 1, …, by k steps.

    Without them all copies of a row would be held out or none, and y would have another
    distribution in each part.

    Copies are numbered from the largest weight to the smallest. Those that are left are equal in
    all, and interchangeable; so neither order nor blocks matter, nor a factor of all weights, nor
    rows of weight 0.

    Parameters
    ----------
    hashes : ndarray of int64, shape (n_rows,)
        Equal where X and y are.
    weights : ndarray of shape (n_rows,)
    """
    ascending = np.sort(hashes)
    first = np.append(True, ascending[1:] != ascending[:-1])
    if first.all():
        return _mixed(hashes >> LOW_BITS, hashes & (2**LOW_BITS - 1))
    equal = weights.min() == weights.max()
    order = np.argsort(hashes) if equal else np.lexsort((-weights, hashes))
    starts = np.flatnonzero(first)
    copies = np.arange(len(hashes))
    copies -= np.repeat(starts, np.diff(starts, append=len(hashes)))
    result = np.empty_like(hashes)
    result[order] = _mixed(
        ((ascending >> LOW_BITS) + copies * COPIES[0]) % PRIMES[0],
        ((ascending & (2**LOW_BITS - 1)) + copies * COPIES[1]) % PRIMES[1],
    )
    return result


def held_out(hashes: Hashes, share: float) -> Mask:
    """Which rows are held out: each with the probability ``share``, independently of the others.

    The low bits decide, and the sample is of the smallest hashes: neither says anything of the
    other.

    Parameters
    ----------
    hashes : ndarray of int64, shape (n_rows,)
        From :func:`numbered`.
    """
    return (hashes & (2**LOW_BITS - 1)) < holdout_limit(share)


def holdout_limit(share: float) -> int:
    """Rows are held out whose low bits are below this number."""
    return int(share * PRIMES[1])


def _mixed(u: Hashes, v: Hashes) -> Hashes:
    for _ in range(ROUNDS):
        v = (v + u * u) % PRIMES[1]
        u = (u + v * v) % PRIMES[0]
    return (u << LOW_BITS) | v


Values = NDArray[Any]


Counts = NDArray[np.intp]
"""Training and holdout rows of positive weight of every class, shape (n_classes, 2)."""

NUMBERED_AT_ONCE = 2**22
"""Hashes that are numbered at a time: of 10⁸ rows all at once would take several GB."""

SAMPLE = 100_000
"""Rows that intervals are made from: all, or those with the smallest hashes."""


@dataclass(frozen=True)
class HoldoutChoice:
    """Rows that are held out, and rows that intervals are made from; of all rows together.

    Attributes
    ----------
    held : ndarray of bool, shape (n_rows,)
        Before the classes are looked at.
    sample : ndarray of int
    """

    held: Mask
    sample: Indices


def chosen(hashes: Hashes, weights: Vector, share: float) -> HoldoutChoice:
    """Choose by the content hashes of all rows.

    Parameters
    ----------
    hashes : ndarray of int64, shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    """
    if len(hashes) > NUMBERED_AT_ONCE:
        hashes = _numbered_in_parts(hashes, weights)
    else:
        hashes = numbered(hashes, weights)
    held, counting = np.empty(len(hashes), dtype=np.bool_), weights > 0
    for rows in blocks_of(len(hashes), NUMBERED_AT_ONCE):
        held[rows] = held_out(hashes[rows], share)
    held &= counting
    return HoldoutChoice(held, _sample(hashes, counting))


def counts_by_class(y: Values, weights: Vector, held: Mask, n_classes: int) -> Counts:
    """Training and holdout rows of every class.

    Parameters
    ----------
    y, weights : ndarray of shape (n_rows,)
    held : ndarray of bool, shape (n_rows,)
    n_classes : int
        Classes that y numbers; 1: y are responses, and all rows are one class.
    """
    counts = np.zeros(2 * n_classes, dtype=np.intp)
    for rows in blocks_of(len(y), NUMBERED_AT_ONCE):
        there = weights[rows] > 0
        numbers = 2 * _numbers(y[rows], n_classes)[there] + held[rows][there]
        counts += np.bincount(numbers, minlength=2 * n_classes)
    return counts.reshape(n_classes, 2)


def training_only(training: NDArray[Any]) -> list[int]:
    """Classes that are not held out: those without a row left to train on.

    Parameters
    ----------
    training : ndarray of shape (n_classes,)
        Number or weight of the rows that are not held out.
    """
    found: list[int] = np.flatnonzero(training <= 0).tolist()
    return found


def without_classes(held: Mask, y: Values, classes: Sequence[int], n_classes: int) -> Mask:
    """The holdout rows but for those of some classes; y as in :func:`counts_by_class`."""
    return held & ~np.isin(_numbers(y, n_classes), classes) if len(classes) else held


def _numbers(y: Values, n_classes: int) -> Indices:
    return np.zeros(len(y), dtype=np.intp) if n_classes == 1 else y.astype(np.intp)


def _numbered_in_parts(hashes: Hashes, weights: Vector) -> Hashes:
    """As :func:`numbered`, which knows copies by their hash: those with the same remainder each."""
    n_parts = -(-len(hashes) // NUMBERED_AT_ONCE)
    parts, found = np.empty(len(hashes), dtype=np.int16), np.empty_like(hashes)
    for rows in blocks_of(len(hashes), NUMBERED_AT_ONCE):
        parts[rows] = hashes[rows] % n_parts
    for part in range(n_parts):
        chosen = np.flatnonzero(parts == part)
        if len(chosen):
            found[chosen] = numbered(hashes[chosen], weights[chosen])
    return found


def _sample(hashes: Hashes, counting: Mask) -> Indices:
    """Rows that count: all of them, or those with the smallest hashes."""
    if np.count_nonzero(counting) <= SAMPLE:
        return np.flatnonzero(counting)
    most = np.partition(hashes if counting.all() else hashes[counting], SAMPLE)[SAMPLE]
    return np.flatnonzero(counting & (hashes <= most))
