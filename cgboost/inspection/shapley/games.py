"""Shapley values of products, in closed form.

A game gives a value v(S) to every set S of features. The Shapley value of feature j is its mean
gain v(S ∪ j) − v(S) when features come in random order (Shapley, *A Value for n-Person Games*,
1953). With the multilinear extension V(t), the mean of v over sets that have each feature with the
probability t (Owen, *Multilinear Extensions of Games*, Management Science 18, 1972), it is

    φ_j = ∫_0^1 E[v(S ∪ j) − v(S)] dt,     and, where v(S) = Π_{i ∈ S} a_i · Π_{i ∉ S} r_i,

    φ_j = (a_j − r_j) ∫_0^1 Π_{i ≠ j} (t a_i + (1 − t) r_i) dt.

**A row against another** (interventional): a and r are what the factors of a product say of the row
x and of a row z of the background. Of kernels such as exp(−γ‖x − c‖²) they are positive numbers.
(Mohammadi, Chau, Muandet, *Computing Exact Shapley Values in Polynomial Time for Product-Kernel
Methods*, 2025, have r = 1 instead, without a background.)

Where they are conditions, 0 or 1, let P be those that x alone fulfils, N those that z alone does.
If some condition holds for neither, the game is 0. Otherwise the product above is
t^|P|·(1 − t)^|N|, and the integrals are beta functions. With one more factor u(x_k), of a feature
without a condition,

    φ_j = a_k B(p + 1, n + 1) + r_k B(p, n + 2)          j in P,   p = |P|, n = |N|
    φ_j = −a_k B(p + 2, n) − r_k B(p + 1, n + 1)         j in N
    φ_k = (a_k − r_k) B(p + 1, n + 1)

where a_k = u(x_k), r_k = u(z_k); for a = r = 1 that is (p − 1)! n!/(p + n)! and its like. (Laberge,
Pequignot, *Understanding Interventional TreeSHAP*, 2022, have these weights for leaves of trees.)

**A row against the training rows of a tree** (path-dependent): r_i is the share of the training
rows that go on along the branches of feature i (Lundberg, Erion, Chen et al., *From Local
Explanations to Global Understanding with Explainable AI for Trees*, Nature Machine Intelligence 2,
2020, Algorithm 1). The integral, of a polynomial of degree k − 1, is exact by Gauss–Legendre
quadrature with k/2 nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import beta

from cgboost.arrays import Indices, Vector


class PairWeights(NamedTuple):
    """Shapley values for pairs of a row and a row of the background, by the conditions they fulfil.

    Attributes
    ----------
    ours, theirs : ndarray of shape (n_ours, n_theirs, n_conditions)
        What conditions get for one unit of a_k, and of r_k.
    factor : ndarray of shape (n_ours, n_theirs)
        What feature k gets for one unit of a_k − r_k.
    """

    ours: Vector
    theirs: Vector
    factor: Vector


def pair_weights(ours: Indices, theirs: Indices, n_conditions: int) -> PairWeights:
    """Shapley values of products of conditions and one more factor.

    Parameters
    ----------
    ours, theirs : ndarray of int, shape (n_ours,), (n_theirs,)
        Bit i: whether condition i holds.
    """
    mine, others = ours[:, None], theirs[None, :]
    gained, lost = mine & ~others, others & ~mine
    p, n = (np.bitwise_count(bits).astype(np.float64) for bits in (gained, lost))
    alive = (mine | others) == (1 << n_conditions) - 1
    middle = np.where(alive, beta(p + 1.0, n + 1.0), 0.0)
    # at least 1, where a feature gets anything at all
    before = np.where(alive, beta(np.maximum(p, 1.0), n + 2.0), 0.0)
    behind = np.where(alive, beta(p + 2.0, np.maximum(n, 1.0)), 0.0)
    bits = np.arange(n_conditions)
    gains, loses = (((own[..., None] >> bits) & 1).astype(bool) for own in (gained, lost))
    own = np.where(gains, middle[..., None], np.where(loses, -behind[..., None], 0.0))
    other = np.where(gains, before[..., None], np.where(loses, -middle[..., None], 0.0))
    return PairWeights(own, other, middle)


def cover_weights(ours: Indices, shares: Vector) -> Vector:
    """Shapley values of conditions, given how many training rows fulfil each of them.

    Parameters
    ----------
    ours : ndarray of int, shape (n_ours,)
        Bit i: whether condition i holds.
    shares : ndarray of shape (n_products, n_conditions)
        r.

    Returns
    -------
    ndarray of shape (n_products, n_ours, n_conditions)
    """
    k = shares.shape[1]
    holds = ((ours[:, None] >> np.arange(k)) & 1).astype(np.float64)
    own, rest = holds[None], shares[:, None, :]
    values = np.zeros((len(shares), len(ours), k))
    for node, weight in quadrature(k):
        values += weight * of_others(node * own + (1.0 - node) * rest)
    return values * (own - rest)


def quadrature(n_factors: int) -> list[tuple[float, float]]:
    """Nodes in (0, 1) and weights, exact for the product of all factors but one."""
    nodes, weights = leggauss(max(1, (n_factors + 1) // 2))
    return list(zip((0.5 * (nodes + 1.0)).tolist(), (0.5 * weights).tolist(), strict=True))


def of_others(factors: Vector) -> Vector:
    """Π_{i ≠ j} factor_i for every j, along the last axis: those before it, times those behind."""
    products, running = np.empty_like(factors), np.ones(factors.shape[:-1])
    for j in range(factors.shape[-1]):
        products[..., j] = running
        running = running * factors[..., j]
    running = np.ones(factors.shape[:-1])
    for j in reversed(range(factors.shape[-1])):
        products[..., j] *= running
        running = running * factors[..., j]
    return products
