"""Rows of the sparse linear study, and the objective that all its solvers minimise.

Every problem is, with one cost for a residual above 0 and one below,

    min over β, b:   w Σ_j |β_j| + Σ_i (u_i max(e_i, 0) + l_i max(−e_i, 0)),   e = y − Xβ − b

Quantile regression at level q (mean pinball loss + α Σ|β|, times n) has u = q, l = 1 − q, w = nα;
the ℓ1 support vector machine (Σ|β| + C Σ hinge) has w = 1, and C on the side of the wrong class.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

Vector = NDArray[np.float64]
Kind = Literal["quantile", "hinge"]

SEED = 27
"""That of the rows of benchopt's quantile benchmark."""

SHARE_INFORMATIVE = 0.2
"""Features with a coefficient in those rows."""

SIGNAL_TO_NOISE = 3.0
"""‖Xβ‖ / ‖noise‖ in those rows."""

BLOCK_ROWS = 4096
"""Rows of a large matrix that are drawn at a time, so that drawing needs no second matrix."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows, and what a coefficient and an error cost.

    Attributes
    ----------
    kind : "quantile" or "hinge"
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        Dense matrices are Fortran-ordered, sparse ones CSC.
    y : ndarray of shape (n_rows,)
        ±1 for the hinge loss.
    cost : float
        α for quantiles, C for the hinge loss.
    quantile : float
    """

    kind: Kind
    X: Any
    y: Vector
    cost: float
    quantile: float = 0.5

    @property
    def feature_cost(self) -> float:
        """The cost w of |β_j|."""
        return self.cost * len(self.y) if self.kind == "quantile" else 1.0

    @property
    def box(self) -> tuple[Vector, Vector]:
        """−l and u: the interval of each row's dual variable."""
        n = len(self.y)
        if self.kind == "quantile":
            return np.full(n, self.quantile - 1.0), np.full(n, self.quantile)
        return np.where(self.y < 0, -self.cost, 0.0), np.where(self.y > 0, self.cost, 0.0)

    @property
    def unit(self) -> float:
        """What the objective above is divided by in the public form: n for quantiles."""
        return float(len(self.y)) if self.kind == "quantile" else 1.0

    def objective(self, coef: Vector, intercept: float) -> float:
        """In the public form, in float64."""
        errors = self.y - self.X @ np.asarray(coef, dtype=np.float64) - intercept
        lower, upper = self.box
        losses = upper @ np.maximum(errors, 0.0) - lower @ np.maximum(-errors, 0.0)
        return float(self.feature_cost * np.abs(coef).sum() + losses) / self.unit


@lru_cache(maxsize=1)
def correlated_rows(n: int, p: int, rho: float, seed: int = SEED) -> tuple[Vector, Vector]:
    """Rows of benchopt's quantile benchmark, draw for draw.

    Features are an autoregressive series, x_j = ρ x_{j−1} + √(1 − ρ²) ε_j; a fifth of them has a
    normal coefficient; the noise has a third of the length of the signal.
    """
    rng = np.random.RandomState(seed)
    if rho:
        X = np.empty((n, p), order="F")
        X[:, 0] = rng.standard_normal(n)
        for j in range(1, p):
            X[:, j] = rho * X[:, j - 1] + sqrt(1.0 - rho**2) * rng.standard_normal(n)
    else:
        X = np.asfortranarray(rng.standard_normal((n, p)))
    coef = np.zeros(p)
    informative = rng.choice(p, int(SHARE_INFORMATIVE * p), replace=False)
    coef[informative] = rng.standard_normal(len(informative))
    signal, noise = X @ coef, rng.standard_normal(n)
    scale = np.linalg.norm(signal) / np.linalg.norm(noise) / SIGNAL_TO_NOISE
    return X, signal + scale * noise


def largest_penalty(X: Any, y: Vector, quantile: float) -> float:
    """λ_max as benchopt's quantile benchmark defines it, whose settings are shares of it.

    With g = sign(y)/2 + q − ½, it is max(‖Xᵀg‖_∞ / n, mean(g)).
    """
    gradient = np.sign(y) / 2.0 + quantile - 0.5
    return max(float(np.abs(X.T @ gradient).max()) / len(y), float(gradient.mean()))


def quantile_problem(n: int, p: int, rho: float, reg: float, quantile: float) -> Problem:
    """A setting of benchopt's quantile benchmark, with an intercept."""
    X, y = correlated_rows(n, p, rho)
    return Problem("quantile", X, y, reg * largest_penalty(X, y, quantile), quantile)


def wide_table(n: int, p: int, rho: float, reg: float, seed: int = 0) -> Problem:
    """Median regression on a large dense table, drawn in blocks of rows."""
    rng = np.random.default_rng(seed)
    coef = np.zeros(p)
    informative = rng.choice(p, max(1, p // 20), replace=False)
    coef[informative] = rng.standard_normal(len(informative))
    X, y = np.empty((n, p), order="F"), np.empty(n)
    for start in range(0, n, BLOCK_ROWS):
        rows = slice(start, min(start + BLOCK_ROWS, n))
        block = rng.standard_normal((rows.stop - start, p))
        for j in range(1, p if rho else 0):
            block[:, j] = rho * block[:, j - 1] + sqrt(1.0 - rho**2) * block[:, j]
        X[rows] = block
        y[rows] = block @ coef
    noise = rng.standard_normal(n)
    y += np.linalg.norm(y) / np.linalg.norm(noise) / SIGNAL_TO_NOISE * noise
    return Problem("quantile", X, y, reg * largest_penalty(X, y, 0.5) if reg else 0.0)


def two_gaussians(n: int, p: int, seed: int = 0) -> Problem:
    """The design of Dedieu, Mazumder and Wang (JMLR 23, 2022), section 5.

    Two classes of n/2 rows; all pairs of features have correlation 0.1; the first ten have the
    means 1 and −1 in the classes, the others 0. Columns have length 1, and λ = 1/C is a hundredth
    of max_j Σ_i |x_ij|.
    """
    rho, n_informative, reg = 0.1, 10, 0.01
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    X = np.asfortranarray(rng.standard_normal((n, p)))
    X *= sqrt(1.0 - rho)
    X += sqrt(rho) * rng.standard_normal((n, 1))
    X[:, :n_informative] += y[:, None]
    X /= np.linalg.norm(X, axis=0)
    return Problem("hinge", X, y, 1.0 / (reg * np.abs(X).sum(axis=0).max()))


def sparse_gaussians(n: int, p: int, share: float, reg: float, seed: int = 0) -> Problem:
    """Normal numbers in a share of the places; labels by a sparse model with noise."""
    rng = np.random.default_rng(seed)
    counts = rng.binomial(n, share, size=p)
    rows = np.concatenate([rng.choice(n, count, replace=False) for count in counts])
    starts = np.concatenate([[0], np.cumsum(counts)])
    X = csc_matrix((rng.standard_normal(len(rows)), rows, starts), shape=(n, p))
    X.sort_indices()
    return labelled(X, rng, n_informative=50, reg=reg)


def word_counts(n: int, p: int, length: int, reg: float, seed: int = 0) -> Problem:
    """Documents of words drawn by Zipf's law: log(1 + count), rows of length 1.

    The words of a document are drawn with probabilities 1/rank; labels by a model of 200 of the
    2000 most frequent words, with noise.
    """
    rng = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, p + 1)
    lengths = rng.poisson(length, size=n)
    words = rng.choice(p, size=int(lengths.sum()), p=weights / weights.sum())
    rows = np.repeat(np.arange(n), lengths)
    counts = csr_matrix((np.ones(len(rows)), (rows, words)), shape=(n, p))
    counts.data = np.log1p(counts.data)
    sizes = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    X = csc_matrix(counts.multiply(1.0 / np.maximum(sizes, 1e-12)[:, None]))
    return labelled(X, rng, n_informative=200, reg=reg, among=2000)


def labelled(
    X: Any, rng: np.random.Generator, *, n_informative: int, reg: float, among: int | None = None
) -> Problem:
    """Labels of a sparse model with noise, and C for a share of the largest useful penalty."""
    coef = np.zeros(X.shape[1])
    chosen = rng.choice(among or X.shape[1], n_informative, replace=False)
    coef[chosen] = rng.standard_normal(n_informative)
    outputs = X @ coef
    outputs += rng.standard_normal(len(outputs)) * outputs.std() / SIGNAL_TO_NOISE
    y = np.where(outputs > np.median(outputs), 1.0, -1.0)
    return Problem("hinge", X, y, 1.0 / (reg * largest_hinge_penalty(X, y)))


def largest_hinge_penalty(X: Any, y: Vector) -> float:
    """A 1/C from which on β = 0 is optimal: ‖Xᵀ(a∘y)‖_∞ at a dual point with yᵀa = 0.

    a is 1 for the smaller class and the ratio of the classes' sizes for the other; with classes of
    one size it is the smallest such 1/C.
    """
    sizes = {sign: np.count_nonzero(y == sign) for sign in (-1.0, 1.0)}
    dual = np.where(y > 0, min(1.0, sizes[-1.0] / sizes[1.0]), -min(1.0, sizes[1.0] / sizes[-1.0]))
    return float(np.abs(X.T @ dual).max())
