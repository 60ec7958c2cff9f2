"""Error against number of columns: free centres, the SVC and Nyström's method.

    python benchmarks/free_centres.py mnist-1000 --data DATA [--docs docs/studies/free_centres]
                                      [--methods free projected svc nystroem]

The names of the tables are mnist-1000 (five splits), mnist-10000, mnist-60000, digits, adult and
coil. Every method has the same kernels and C to choose from, by its error on validation rows; with
mnist-60000 they are those that were chosen for mnist-10000. Errors are in percent, of coil 100 less
the area under the ROC curve. Times are of the processor. The records of the table are replaced in
free_centres.csv, the picture and the tables of the page are made anew; without a table only that.
With ``--methods`` only the records of these methods are; "projected" has to be named.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples" / "reproduce"))

from free_centres_page import Record, draw, records_of, tables
from page_tables import refresh
from study_data import read_data

from cgboost import RBF, CGBoostClassifier, KernelLibrary, Polynomial
from cgboost.kernels import Kernel, Normalized
from cgboost.studies.datasets import load_digits, load_mnist

ROOT = Path(__file__).resolve().parents[1]

Rows = np.ndarray
VALIDATION = 2000


@dataclass(frozen=True)
class Data:
    """One split: training, validation and test rows with labels of ±1."""

    X: Rows
    y: Rows
    X_validation: Rows
    y_validation: Rows
    X_test: Rows
    y_test: Rows
    ranked: bool = False

    def errors(self, outputs: Callable[[Rows], Rows]) -> tuple[float, float]:
        """On the validation and the test rows, in percent."""
        parts = (self.X_validation, self.y_validation), (self.X_test, self.y_test)
        first, second = (self.error(outputs(X), y) for X, y in parts)
        return first, second

    def error(self, output: Rows, y: Rows) -> float:
        """Share of wrong signs, or 1 less the area under the ROC curve, in percent."""
        if self.ranked:
            return 100.0 * (1.0 - float(roc_auc_score(y, output)))
        return 100.0 * float(np.mean(np.where(output > 0, 1, -1) != y))


@dataclass(frozen=True)
class Plan:
    """What a table measures.

    Attributes
    ----------
    kernels : dict of str to Kernel
    costs : tuple of float
        Values of C.
    sizes : tuple of int
        Largest numbers of columns; a fit has models of an eighth, a quarter and half of it too.
    n_splits : int
    nystroem : tuple of int
        Numbers of columns of Nyström's method.
    """

    kernels: dict[str, Kernel]
    costs: tuple[float, ...]
    sizes: tuple[int, ...]
    n_splits: int = 1
    nystroem: tuple[int, ...] = (25, 50, 100, 200, 400)


def polynomials(degrees: Sequence[int]) -> dict[str, Kernel]:
    """Normalised polynomials (x·z/‖x‖‖z‖)^p."""
    return {f"p={p}": Normalized(Polynomial(p)) for p in degrees}


def gaussians(gammas: Sequence[float]) -> dict[str, Kernel]:
    """Gaussian kernels."""
    return {f"γ={gamma:g}": RBF(gamma) for gamma in gammas}


MORE_COSTS = (30.0, 100.0)
"""Values of C for Nyström's method compared with those of all: its features are shorter."""

PLANS = {
    "mnist-1000": Plan(polynomials([4, 5, 6]), (3.0, 10.0), (200, 340), n_splits=5),
    "mnist-10000": Plan(polynomials([5, 6]), (1.0, 3.0), (120, 240)),
    "mnist-60000": Plan(polynomials([6]), (3.0,), (500,), nystroem=(500,)),
    "digits": Plan(gaussians([0.05, 0.1, 0.2]), (1.0, 10.0), (80, 160), n_splits=5),
    "adult": Plan(gaussians([0.003, 0.01]), (0.3, 1.0), (100,), nystroem=(25, 50, 100)),
    "coil": Plan(gaussians([0.003, 0.01]), (0.1, 1.0), (100,), nystroem=(25, 50, 100)),
}


# ---------------------------------------------------------------------- data


def read(name: str, folder: Path, seed: int) -> Data:
    """A split of a data set."""
    if name == "digits":
        X, digits = load_digits()
        rows = np.random.default_rng(seed).permutation(len(X))
        return cut(X[rows], odd(digits[rows]), 600, 400, None)
    if name.startswith("mnist"):
        X, digits, X_test, test_digits = load_mnist(folder)
        count = int(name.split("-")[1])
        rows = np.random.default_rng(seed).permutation(len(X))
        if count == len(X):  # no row is left to validate on: kernel and C are given
            return Data(X, odd(digits), X[:1], odd(digits[:1]), X_test, odd(test_digits))
        return cut(X[rows], odd(digits[rows]), count, VALIDATION, (X_test, odd(test_digits)))
    X, y, X_test, y_test = encoded(name, folder)
    rows = np.random.default_rng(seed).permutation(len(X))
    count, held = (8000, 4000) if name == "adult" else (4000, len(X) - 4000)
    return cut(X[rows], y[rows], count, held, (X_test, y_test), ranked=name == "coil")


def encoded(name: str, folder: Path) -> tuple[Rows, Rows, Rows, Rows]:
    """Training and test rows of Adult or COIL: numbers standardised, words as columns of 0, 1."""
    (own,) = (data for data in read_data(folder) if data.name.lower() == name)
    numbers = own.X.select_dtypes("number").columns
    words = [column for column in own.X.columns if column not in numbers]
    encoder = ColumnTransformer(
        [
            ("numbers", StandardScaler(), numbers),
            ("words", OneHotEncoder(handle_unknown="ignore"), words),
        ],
        sparse_threshold=0,
    )
    X, X_test = encoder.fit_transform(own.X), encoder.transform(own.X_test)
    return X, np.where(own.y > 0, 1, -1), X_test, np.where(own.y_test > 0, 1, -1)


def odd(digits: Rows) -> Rows:
    """+1 for odd digits, −1 for even ones."""
    return np.where(digits % 2 == 1, 1, -1)


def cut(
    X: Rows, y: Rows, train: int, held: int, test: tuple[Rows, Rows] | None, ranked: bool = False
) -> Data:
    """Training rows, then validation rows; the rest is for the test where there is no other."""
    end = train + held
    X_test, y_test = (X[end:], y[end:]) if test is None else test
    return Data(X[:train], y[:train], X[train:end], y[train:end], X_test, y_test, ranked)


# ---------------------------------------------------------------------- models


def cpu() -> float:
    """Seconds of the processor."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def free_centres(
    data: Data, kernel: Kernel, C: float, size: int
) -> tuple[CGBoostClassifier, list[dict[str, Any]]]:
    """One fit, and the models of all its stages."""
    model = CGBoostClassifier(
        KernelLibrary({"k": kernel}),
        C=C,
        penalty="rkhs",
        centers="free",
        max_columns=size,
        random_state=0,
    )
    start = cpu()
    model.fit(data.X, data.y)
    fitted = cpu() - start
    start = cpu()
    model.predict(data.X_test)
    predicted = cpu() - start
    history, found = model.history_, []
    staged = zip(
        model.staged_decision_function(data.X_validation),
        model.staged_decision_function(data.X_test),
        strict=True,
    )
    for stage, (validation, test) in enumerate(staged):
        if not history["columns"][stage]:
            continue
        last = stage == len(history["columns"]) - 1
        own = {
            "columns": int(history["columns"][stage]),
            "validation": data.error(validation, data.y_validation),
            "test": data.error(test, data.y_test),
            "fit_seconds": fitted if last else np.nan,
            "predict_seconds": predicted if last else np.nan,
            "objective": float(history["objective"][stage]),
            "bound": float(history["bound"][stage]),
        }
        found.append(own)
    return model, found


def projected(data: Data, kernel: Kernel, C: float, centres: Rows) -> dict[str, Any]:
    """The SVC's function, projected on the span of some centres: nearest to it in the RKHS.

    min over β of ‖Σ_i α_i K(·, x_i) − Σ_j β_j K(·, z_j)‖², by which reduced sets are found (Burges,
    ICML 1996). No margin is asked for.
    """
    seen, options = as_seen(kernel)
    model = SVC(C=C, cache_size=1000, tol=1e-4, **options).fit(seen(data.X), data.y)
    Z = centres.astype(np.float64)
    vectors = data.X[model.support_].astype(np.float64)
    right = kernel(Z, vectors) @ model.dual_coef_[0]
    gram = kernel(Z, Z)
    coef = np.linalg.solve(gram + 1e-8 * np.eye(len(Z)), right)

    def outputs(X: Rows) -> Rows:
        return kernel(X.astype(np.float64), Z) @ coef + model.intercept_[0]

    validation, test = data.errors(outputs)
    loss = C * np.maximum(0.0, 1.0 - data.y * outputs(data.X)).sum()
    return {
        "columns": len(Z),
        "validation": validation,
        "test": test,
        "fit_seconds": np.nan,
        "predict_seconds": np.nan,
        "objective": float(0.5 * coef @ gram @ coef + loss),
        "bound": np.nan,
    }


def machine(data: Data, kernel: Kernel, C: float) -> dict[str, Any]:
    """The SVC, with kernel values of its own: of rows of length 1 where kernels are normalised."""
    seen, options = as_seen(kernel)
    model = SVC(C=C, cache_size=1000, tol=1e-4, **options)
    start = cpu()
    X = seen(data.X)
    model.fit(X, data.y)
    fitted = cpu() - start
    start = cpu()
    test = model.decision_function(seen(data.X_test))
    predicted = cpu() - start
    validation = model.decision_function(seen(data.X_validation))
    dual = np.abs(model.dual_coef_[0])
    vectors = X[model.support_].astype(np.float64)
    form = 0.0
    for first in range(0, len(vectors), 1000):
        block = kernel(vectors[first : first + 1000], vectors) @ model.dual_coef_[0]
        form += float(model.dual_coef_[0][first : first + 1000] @ block)
    return {
        "columns": len(vectors),
        "validation": data.error(validation, data.y_validation),
        "test": data.error(test, data.y_test),
        "fit_seconds": fitted,
        "predict_seconds": predicted,
        "objective": np.nan,
        "bound": float(dual.sum()) - 0.5 * form,
    }


def as_seen(kernel: Kernel) -> tuple[Callable[[Rows], Rows], dict[str, Any]]:
    """How the SVC sees rows, and its kernel."""
    if isinstance(kernel, RBF):
        return lambda X: X, {"kernel": "rbf", "gamma": kernel.gamma}
    assert isinstance(kernel, Normalized)
    assert isinstance(kernel.kernel, Polynomial)

    def unit(X: Rows) -> Rows:
        return X / np.linalg.norm(X, axis=1, keepdims=True)

    return unit, {"kernel": "poly", "degree": kernel.kernel.degree, "gamma": 1.0, "coef0": 0.0}


def nystroem(data: Data, kernel: Kernel, Z: Rows, costs: Sequence[float]) -> Iterator[Any]:
    """A linear machine over K(X, Z) K(Z, Z)^(−1/2), for every C."""
    values, vectors = np.linalg.eigh(kernel(Z, Z).astype(np.float64))
    kept = values > 1e-10 * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
    start = cpu()
    features = kernel(data.X, Z) @ root
    made = cpu() - start
    for C in costs:
        start = cpu()
        model = LinearSVC(C=C, loss="hinge", max_iter=20000, tol=1e-3, random_state=0)
        model.fit(features, data.y)
        fitted = made + cpu() - start

        def outputs(X: Rows, model: Any = model) -> Rows:
            return model.decision_function(kernel(X, Z) @ root)

        start = cpu()
        validation, test = data.errors(outputs)
        predicted = (cpu() - start) * len(data.X_test) / (len(data.X_test) + len(data.X_validation))
        yield (
            C,
            {
                "columns": len(Z),
                "validation": validation,
                "test": test,
                "fit_seconds": fitted,
                "predict_seconds": predicted,
                "objective": np.nan,
                "bound": np.nan,
            },
        )


def centres_of_nystroem(data: Data, size: int, seed: int) -> Iterator[tuple[str, Rows]]:
    """Random rows, and the means of each class."""
    rows = np.random.default_rng(seed).permutation(len(data.X))[:size]
    yield "Nyström, random rows", data.X[rows]
    half = [data.X[data.y == sign] for sign in (-1, 1)]
    means = [
        KMeans(min(size // 2, len(X)), n_init=1, random_state=seed).fit(X).cluster_centers_
        for X in half
    ]
    yield "Nyström, class means", np.vstack(means).astype(data.X.dtype)


METHODS = {
    "free": ("free centres",),
    "projected": ("SVC on free centres",),
    "svc": ("SVC",),
    "nystroem": ("Nyström, random rows", "Nyström, class means"),
}


def measured(
    name: str, plan: Plan, data: Data, seed: int, methods: Sequence[str]
) -> Iterator[Record]:
    """Some methods on one split."""
    for label, kernel in plan.kernels.items():
        for C in plan.costs:
            for size in plan.sizes if {"free", "projected"} & set(methods) else ():
                model, stages = free_centres(data, kernel, C, size)
                for own in stages if "free" in methods else ():
                    yield Record(name, seed, "free centres", label, C, **own)
                if "projected" in methods:
                    own = projected(data, kernel, C, model.centers_)
                    yield Record(name, seed, "SVC on free centres", label, C, **own)
            if "svc" in methods:
                yield Record(name, seed, "SVC", label, C, **machine(data, kernel, C))
    for size in plan.nystroem if "nystroem" in methods else ():
        for method, Z in centres_of_nystroem(data, size, seed):
            for label, kernel in plan.kernels.items():
                for C, own in nystroem(data, kernel, Z, (*plan.costs, *MORE_COSTS)):
                    yield Record(name, seed, method, label, C, **own)


def main() -> None:
    """Measure the tables that are named, then make the picture and the page's tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tables", nargs="*", choices=[*PLANS, []])
    parser.add_argument("--data", type=Path)
    standard = [method for method in METHODS if method != "projected"]
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=standard)
    parser.add_argument("--docs", type=Path, default=ROOT / "docs" / "studies" / "free_centres")
    given = parser.parse_args()
    given.docs.mkdir(exist_ok=True)
    store = records_of(given.docs)
    for name in given.tables:
        anew = {method for word in given.methods for method in METHODS[word]}
        kept = [own for own in store.rows if own.data != name or own.method not in anew]
        (given.docs / "free_centres.csv").unlink(missing_ok=True)
        store = records_of(given.docs)
        store.extend(kept)
        plan = PLANS[name]
        for seed in range(plan.n_splits):
            data = read(name, given.data, seed)
            store.extend(measured(name, plan, data, seed, given.methods))
    draw(store.rows, given.docs / "free_centres.png")
    refresh(given.docs / "page.md", tables(given.docs))


if __name__ == "__main__":
    main()
