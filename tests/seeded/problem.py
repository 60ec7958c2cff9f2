"""What a seeded problem is, its name, and the data sets: 60 to 320 rows, of which 20 are new."""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

NEW_ROWS = 20

Random = np.random.Generator
Values = dict[str, list[float]]
Sizes = dict[str, int]


@dataclass(frozen=True)
class Problem:
    """A line of the table: its name, the public name that it is about, and how it is solved."""

    name: str
    of: str
    solve: Callable[[Random], tuple[Values, Sizes]]

    def answer(self) -> dict[str, Any]:
        """Values, sizes and CPU seconds."""
        rng, started = np.random.default_rng(zlib.crc32(self.name.encode())), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values, sizes = self.solve(rng)
        seconds = round(time.process_time() - started, 4)
        return {"values": values, "sizes": sizes, "seconds": seconds}


def flat(values: Any) -> list[float]:
    """Numbers in a row; whole numbers of labels stay whole."""
    return np.asarray(values).ravel().tolist()


def word(value: Any) -> str:
    """What names a value of an option."""
    if isinstance(value, dict):
        return "+".join(map(str, value))
    if isinstance(value, (list, tuple)):
        return "+".join(map(word, value))
    if isinstance(value, (str, int, float)) or value is None:
        return str(value)
    return str(getattr(value, "__name__", type(value).__name__))


def named(*parts: str, **options: Any) -> str:
    """A name from words and options."""
    said = ", ".join(f"{key}={word(value)}" for key, value in options.items())
    return " · ".join(part for part in (*parts, said) if part)


@dataclass(frozen=True)
class Data:
    """Rows to fit, and some that are new."""

    X: Any
    y: Any
    new: Any
    y_new: Any
    weights: Any
    groups: Any


def divided(rng: Random, X: Any, y: Any) -> Data:
    """The last rows are new."""
    n = len(y) - NEW_ROWS
    weights = rng.uniform(0.5, 2.0, n).round(2)
    return Data(X[:n], y[:n], X[n:], y[n:], weights, rng.integers(0, 2, n))


def features(rng: Random, n: int = 120) -> tuple[Any, Any]:
    """Six features, and a smooth function of three with noise."""
    X = rng.normal(size=(n, 6)).round(2)
    f = X[:, 0] + 0.5 * X[:, 1] ** 2 + np.sin(2.0 * X[:, 2]) + 0.3 * rng.normal(size=n)
    return X, f


def labels(f: Any, n_classes: int = 2) -> Any:
    """Classes 0, 1, … of about equal size, by the values of f."""
    return np.searchsorted(np.quantile(f, np.arange(1, n_classes) / n_classes), f)


def many_features(rng: Random) -> tuple[Any, Any]:
    """More features than rows, and a linear function of four of them with noise."""
    X = rng.normal(size=(90, 120))
    return X, linear(rng, X)


def sparse_features(rng: Random) -> tuple[Any, Any]:
    """The same of a sparse matrix, with fewer features than rows."""
    from scipy.sparse import random as random_matrix

    X = random_matrix(140, 60, density=0.15, random_state=rng, format="csr")
    return X, linear(rng, X)


def linear(rng: Random, X: Any) -> Any:
    """A linear function of four features, with noise."""
    return X[:, [1, 2, 3, 4]] @ [2.0, -1.0, 1.5, 1.0] + 0.2 * rng.standard_t(3, size=X.shape[0])


def frame(rng: Random, n: int = 320) -> tuple[Any, Any]:
    """Numbers, words and truth values, some of them missing."""
    import pandas as pd

    age, income = rng.integers(18, 80, n).astype(float), rng.lognormal(3.0, 0.5, n).round(1)
    town, owner = rng.choice(["Rome", "Oslo", "Paris"], n), rng.integers(0, 2, n) == 1
    f = age / 20.0 + 0.02 * income * owner + (town == "Oslo") + 0.2 * rng.normal(size=n)
    age[rng.choice(n, n // 10)] = np.nan
    words = pd.Series(town, dtype=object).mask(rng.uniform(size=n) < 0.1)
    return pd.DataFrame({"age": age, "income": income, "town": words, "owner": owner}), f


def objects(rng: Random, make: Callable[[], Any]) -> tuple[list[Any], Any]:
    """Some objects, and about the size of each."""
    found = [make() for _ in range(70)]
    return found, np.array([len(thing) for thing in found]) + rng.uniform(size=70)


def strings(rng: Random) -> tuple[list[Any], Any]:
    """Words of three letters."""
    return objects(rng, lambda: "".join(rng.choice(list("ABC"), rng.integers(3, 9))))


def sets(rng: Random) -> tuple[list[Any], Any]:
    """Sets of ten things."""
    return objects(rng, lambda: set(rng.choice(10, rng.integers(2, 7)).tolist()))


def graphs(rng: Random) -> tuple[list[Any], Any]:
    """Small random graphs."""
    return objects(rng, lambda: random_graph(rng, int(rng.integers(4, 9)), 0.4))


def random_graph(rng: Random, n: int, share: float) -> Any:
    """N nodes and a share of all edges."""
    import networkx as nx

    return nx.gnp_random_graph(n, share, seed=int(rng.integers(1000)))


def gram(rng: Random) -> Data:
    """The matrix of a kernel instead of features."""
    X, f = features(rng)
    K = np.exp(-0.2 * np.square(X[:, None] - X).sum(axis=2))
    return divided(rng, K[:, : len(X) - NEW_ROWS], labels(f))


def numbered(rng: Random) -> Data:
    """The numbers of rows whose kernel matrix the library has."""
    return divided(
        rng, np.arange(100)[:, None], labels(np.arange(100) % 17 + rng.uniform(size=100))
    )


def made(
    rows: Callable[[Random], tuple[Any, Any]],
    target: Callable[[Random, Any], Any] = lambda rng, f: f,
    dtype: type = float,
) -> Callable[[Random], Data]:
    """A data set: rows with a function of them, and the target made of that function."""

    def data(rng: Random) -> Data:
        X, f = rows(rng)
        return divided(rng, X if dtype is float else X.astype(dtype), target(rng, f))

    return data


def histograms(rng: Random) -> tuple[Any, Any]:
    """Shares that add up to 1."""
    X = rng.dirichlet(np.ones(5), 90)
    return X, X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=90)


def bits(rng: Random) -> tuple[Any, Any]:
    """Zeros and ones."""
    X = rng.integers(0, 2, (90, 8)) * 1.0
    return X, X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=90)


def responses(rng: Random, f: Any) -> Any:
    """Two columns."""
    return np.column_stack([f, f**2 + rng.normal(size=len(f))])


two, three = (lambda rng, f: labels(f)), (lambda rng, f: labels(f, 3))
DATA: dict[str, Callable[[Random], Data]] = {
    "numbers": made(features),
    "signs": made(features, two),
    "classes": made(features, three),
    "counts": made(features, lambda rng, f: rng.poisson(np.exp(f / 2.0)).astype(float)),
    "responses": made(features, responses),
    "more numbers": made(lambda rng: features(rng, 320)),
    "more classes": made(lambda rng: features(rng, 320), three),
    "signs in float32": made(features, two, np.float32),
    "wide": made(many_features),
    "wide signs": made(many_features, two),
    "sparse": made(sparse_features),
    "sparse signs": made(sparse_features, two),
    "frame": made(frame),
    "frame of signs": made(frame, two),
    "frame of classes": made(frame, three),
    "histograms": made(histograms, two),
    "bits": made(bits, two),
    "strings": made(strings, two),
    "sets": made(sets, two),
    "graphs": made(graphs, two),
    "kernel matrix": gram,
    "row numbers": numbered,
}
