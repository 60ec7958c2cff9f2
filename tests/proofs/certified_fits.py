"""Fits whose certificates are written and checked, and what may be done to a certificate."""

import hashlib
import json
import runpy
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, Ridge
from sklearn.svm import SVC, SVR, LinearSVC

from cgboost import (
    RBF,
    CGBoostClassifier,
    CGBoostRegressor,
    SparseLinearClassifier,
    SparseLinearRegressor,
    certify,
)
from cgboost.losses import Huber

CHECKER = Path(__file__).parents[2] / "examples" / "check_certificate.py"

Fit = tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]


def _rows(seed: int, *, labels: bool, n: int = 40, p: int = 6) -> tuple[Any, ...]:
    """Features of several scales, a target with outliers, and weights in every second case."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3, size=p)
    line = X[:, :3] @ (rng.normal(size=3) / X[:, :3].std(axis=0)) + rng.normal()
    y = line + 0.5 * rng.standard_t(2, size=n)
    weights = rng.integers(0, 3, size=n).astype(float) + 0.5 if seed % 2 else None
    return X, (np.where(y > np.median(y), 3, 1) if labels else y), weights


def _number(make: Callable[[int], Any]) -> Callable[[int], Fit]:
    return lambda seed: (make(seed), *_rows(seed, labels=False))


def _class(make: Callable[[int], Any]) -> Callable[[int], Fit]:
    return lambda seed: (make(seed), *_rows(seed, labels=True))


KINDS: dict[str, Callable[[int], Fit]] = {
    "squared error, l1": _number(lambda k: SparseLinearRegressor(loss="squared_error", alpha=0.1)),
    "quantile, l1": _number(lambda k: SparseLinearRegressor(quantile=0.1 + 0.8 * (k % 7) / 6)),
    "absolute, positive": _number(
        lambda k: SparseLinearRegressor(loss="absolute_error", positive=True, standardize=True)
    ),
    "Huber, elastic net": _number(
        lambda k: SparseLinearRegressor(
            loss=Huber(0.3), penalty="elasticnet", l1_ratio=0.3, standardize=True, alpha=0.05
        )
    ),
    "tube, no intercept": _number(
        lambda k: SparseLinearRegressor(loss="epsilon_insensitive", fit_intercept=False)
    ),
    "squared tube, l1": _number(
        lambda k: SparseLinearRegressor(loss="squared_epsilon_insensitive", epsilon=0.2)
    ),
    "hinge, l1": _class(lambda k: SparseLinearClassifier(C=0.3, standardize=True)),
    "squared hinge, l1": _class(
        lambda k: SparseLinearClassifier(C=0.3, loss="squared_hinge", class_weight="balanced")
    ),
    "kernels, hinge, l1": _class(lambda k: CGBoostClassifier(C=0.5, offset="free")),
    "kernels, tube, l2": _number(
        lambda k: CGBoostRegressor(RBF(0.5), C=0.5, penalty="l2", offset="penalized")
    ),
    "SVC": _class(lambda k: SVC(kernel="rbf" if k % 2 else "linear", C=0.7)),
    "SVR": _number(lambda k: SVR(gamma=0.1, epsilon=0.3)),
    "Lasso": _number(lambda k: Lasso(alpha=0.1)),
    "ElasticNet": _number(lambda k: ElasticNet(alpha=0.1, l1_ratio=0.4)),
    "Ridge": _number(lambda k: Ridge(alpha=0.5, fit_intercept=bool(k % 2))),
    "LinearSVC": _class(lambda k: LinearSVC(C=0.1, dual="auto", random_state=0)),
}
"""A kind of fit: what makes an unfitted model, X, y and weights of a seed."""


def certified(kind: str, seed: int, folder: Path) -> tuple[Path, Path]:
    """The files of one fit: the certificate, and the table that it is about."""
    model, X, y, weights = KINDS[kind](seed)
    proof, table = folder / "proof.json", folder / "proof.npy"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        model.fit(X, y, sample_weight=weights)
        certify(model, X, y, weights).save(proof, data=table)
    return proof, table


MAIN = runpy.run_path(str(CHECKER))["main"]
"""The checker."""


def refusal(proof: Path, table: Path) -> str:
    """Why the checker refuses a certificate; an empty text where it does not."""
    try:
        MAIN(str(proof), str(table))
    except Exception as error:
        return str(error) or type(error).__name__
    return ""


def sealed(proof: dict[str, Any], path: Path) -> Path:
    """A certificate written with a seal that fits, as a forger would."""
    own = {name: value for name, value in proof.items() if name != "seal"}
    body = "{" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in own.items()) + ",\n"
    seal = hashlib.sha256(body.encode()).hexdigest()
    path.write_text(f'{body}"seal": "{seal}"}}\n', encoding="utf-8")
    return path


def one_digit_off(path: Path, rng: np.random.Generator, to: Path) -> Path:
    """The same file with another digit somewhere."""
    text = path.read_text(encoding="utf-8")
    places = [k for k, sign in enumerate(text) if sign.isdigit()]
    k = places[int(rng.integers(len(places)))]
    other = str((int(text[k]) + 1 + int(rng.integers(8))) % 10)
    to.write_text(text[:k] + other + text[k + 1 :], encoding="utf-8")
    return to


def forgeries(proof: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """False claims, each of which somebody might seal anew."""
    scale = abs(proof["objective"]) or 1.0
    yield "a lower objective", proof | {"objective": proof["objective"] - 1e-6 * scale}
    yield "a higher bound", proof | {"bound": proof["bound"] + 1e-6 * scale, "gap": 1.0}
    yield "a smaller gap", proof | {"gap": -1e-9}
    yield "other data", proof | {"data": "0" * 64}
    if proof["kind"] == "fit":
        yield from _forged_fits(proof)
    else:
        yield from _forged_packings(proof)


def _forged_fits(proof: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    integers, bits = proof["response"]
    k = int(np.argmax(np.abs(np.array(integers, dtype=float))))
    longer = [2 * x for x in integers]
    moved = [x + (j == k) * (abs(x) // 50 + 1) for j, x in enumerate(integers)]
    scores = proof["scores"]
    w = [x + 0.05 * (abs(x) + 0.01) for x in proof["w"]]
    yield "longer responses", proof | {"response": [longer, bits]}
    yield "one response moved", proof | {"response": [moved, bits]}
    yield "a response less", proof | {"response": [integers[:-1], bits]}
    yield "smaller scores", proof | {"scores": [0.9 * s - 1e-3 for s in scores]}
    yield "other coefficients", proof | {"w": w}
    yield "another intercept", proof | {"b": proof["b"] + 0.5}
    yield "lower costs", proof | {"costs": [0.5 * c for c in proof["costs"]]}
    yield "a negative cost", proof | {"costs": [-1.0, *proof["costs"][1:]]}
    yield "an unknown loss", proof | {"loss": "log_loss"}
    yield "a larger unit", proof | {"unit": 2.0 * proof["unit"]}
    yield "no unit", proof | {"unit": -proof["unit"]}


def _forged_packings(proof: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    bins = proof["solution"]
    yield "a bin less", proof | {"solution": bins[1:], "objective": len(bins) - 1}
    yield "two bins in one", proof | {
        "solution": [bins[0] + bins[1], *bins[2:]], "objective": len(bins) - 1,
    }  # fmt: skip
    yield "an item twice", proof | {"solution": [*bins, [0]], "objective": len(bins) + 1}
    yield "a bin of half a bound", proof | {"bound": proof["bound"] + 0.5, "gap": 1.0}
    yield "one bin more", proof | {"bound": proof["bound"] + 1, "gap": 1.0}
    yield "a smaller capacity", proof | {"capacity": proof["capacity"] - proof["capacity"] // 3}
    yield "no prices", proof | {"tree": {"prices": [0] * sum(map(len, bins))}}
    yield "half of a tree", proof | {"tree": {"pair": [0, 1], "one": proof["tree"]}}
