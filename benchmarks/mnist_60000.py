"""All of MNIST, odd against even: 60000 rows, 180000 columns of three kernels, with a certificate.

A dense linear program of 10^10 coefficients. C is chosen on 5000 validation images, with models of
15000 other rows; then all 60000 rows are fitted, and the 10000 official test images are classified.
An RBF-SVC, tuned on the same validation images, is fitted to the same rows.

    python benchmarks/mnist_60000.py --data DATA [--tol 1e-4] [--minutes 45] [--svc] [--out FILE]
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

from cgboost import CGBoostClassifier
from cgboost.generation import Round
from cgboost.studies.datasets import load_mnist, odd_even_labels
from cgboost.studies.odd_even import parse_library
from cgboost.studies.scripts import options, timed

TUNING, VALIDATION = 15000, 5000
GRID = (0.3, 1.0, 3.0, 10.0)
SVC_GRID = [(gamma, C) for gamma in (0.01, 0.02, 0.03) for C in (3.0, 10.0)]


def peak_gigabytes() -> float:
    """Largest resident size of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


class Log:
    """Prints every round and keeps the lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        """Print a line and keep it."""
        self.lines.append(line)
        print(line, flush=True)

    def __call__(self, turn: Round) -> None:
        """One line a round."""
        self.say(
            f"{turn.number:4d} {turn.seconds:8.1f} s  columns {turn.columns:5d} active "
            f"{turn.active:5d}  objective {turn.objective:12.4f}  gap {turn.gap:.2e}  master "
            f"{turn.master_seconds:6.1f} s pricing {turn.pricing_seconds:6.1f} s  "
            f"{peak_gigabytes():.1f} GB"
        )


def classifier(tol: float, **options: object) -> CGBoostClassifier:
    """The model of the study."""
    return CGBoostClassifier(
        parse_library("L,Q,R"), penalty="l1", priority="full", tol=tol, **options
    )


def choose_price(
    X: np.ndarray, y: np.ndarray, rows: np.ndarray, held: np.ndarray, log: Log
) -> float:
    """C of the best model on the validation images."""
    clock = time.perf_counter()
    path = classifier(1e-2, cache_size=4000.0).path(
        X[rows], y[rows], GRID, eval_set=(X[held], y[held])
    )
    for C, score, model in zip(GRID, path.scores, path.models, strict=True):
        log.say(f"C = {C:g}: validation error {1 - score:.4f}, {model.n_columns_} columns")
    log.say(f"C = {path.best.C:g} chosen in {time.perf_counter() - clock:.0f} s")
    return float(path.best.C)


def report_svc(
    X: np.ndarray, y: np.ndarray, test: tuple, rows: np.ndarray, held: np.ndarray, log: Log
) -> None:
    """Test error of a tuned RBF-SVC on all rows."""
    errors = [
        1 - SVC(gamma=gamma, C=C).fit(X[rows], y[rows]).score(X[held], y[held])
        for gamma, C in SVC_GRID
    ]
    gamma, C = SVC_GRID[int(np.argmin(errors))]
    svc = SVC(gamma=gamma, C=C, cache_size=4000)
    fitted, _ = timed(svc.fit, X, y, clock=time.perf_counter)
    error = 1 - svc.score(*test)
    log.say(
        f"RBF-SVC, gamma {gamma:g}, C {C:g} (validation error {min(errors):.4f}): test error "
        f"{error:.4f}, {svc.n_support_.sum()} support vectors, {fitted:.0f} s"
    )


def main() -> None:
    """Run the study."""
    given = options(
        __doc__,
        one_thread=False,
        data=Path,
        tol=1e-4,
        minutes=45.0,
        C=0.0,  # instead of choosing it
        columns_per_round=400,
        cache=8000.0,  # megabytes for kernel values
        svc=False,
        out=None,
    )
    log = Log()
    X, digits, X_test, test_digits = load_mnist(given.data)
    y, test = odd_even_labels(digits), (X_test, odd_even_labels(test_digits))
    order = np.random.default_rng(0).permutation(len(X))
    held, rows = order[:VALIDATION], order[VALIDATION : VALIDATION + TUNING]
    C = given.C or choose_price(X, y, rows, held, log)
    model = classifier(
        given.tol,
        C=C,
        time_limit=60 * given.minutes,
        columns_per_round=given.columns_per_round,
        cache_size=given.cache,
        callbacks=[log],
    )
    seconds, _ = timed(model.fit, X, y, clock=time.perf_counter)
    reached = model.history_["gap"] <= 1e-2
    first = model.history_["seconds"][reached][0] if reached.any() else np.nan
    log.say(
        f"{model.stop_reason_}: gap {model.gap_:.2e} after {seconds:.0f} s in all (1e-2 after "
        f"{first:.0f} s of the loop), {model.n_columns_} columns, {peak_gigabytes():.1f} GB at most"
    )
    seconds, score = timed(model.score, *test, clock=time.perf_counter)
    log.say(f"test error {1 - score:.4f} on 10000 images, {seconds:.1f} s")
    if given.svc:
        report_svc(X, y, test, rows, held, log)
    if given.out:
        Path(given.out).write_text("\n".join(log.lines) + "\n")


if __name__ == "__main__":
    main()
