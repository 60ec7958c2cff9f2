"""A forest of 200 trees thinned to 40 by the linear program of LPBoost, for five seeds.

Each seed draws its own split into training, validation and test rows (50 : 25 : 25 %, stratified)
and its own forest of depth-3 trees, fitted to the training rows. Then the program chooses at most
40 trees and their weights, on the same training rows, for every C below; the validation accuracy
chooses among these. The test rows are looked at once, at the end: the choice makes the
validation accuracy of the thinned forest look better than it is.

    python benchmarks/thin_forest.py [--data digits|cancer] [--trees 200] [--keep 40] [--seeds 5]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from lpboost_stumps import rows
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from cgboost import ThinnedEnsemble
from cgboost.studies.scripts import options, timed

PRICES = (0.01, 0.03, 0.1, 0.3, 1.0)


def one_seed(X: np.ndarray, y: np.ndarray, seed: int, trees: int, keep: int) -> np.ndarray:
    """Accuracies of the forest and the thinned one on validation and test rows, trees kept."""
    X_train, X_rest, y_train, y_rest = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=seed
    )
    X_valid, X_test, y_valid, y_test = train_test_split(
        X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=seed
    )
    forest = RandomForestClassifier(trees, max_depth=3, random_state=seed).fit(X_train, y_train)

    votes = [lambda X, tree=tree: np.where(tree.predict(X) > 0, 1.0, -1.0) for tree in forest]
    thin = ThinnedEnsemble(votes, size=keep, metric="accuracy", weights="program")
    thin.set_params(fit_intercept=False)

    def thinned() -> list[Any]:
        return [clone(thin).set_params(C=C).fit(X_train, y_train) for C in PRICES]

    seconds, models = timed(thinned)
    scores = [model.score(X_valid, y_valid) for model in models]
    best = int(np.argmax(scores))
    tested = (forest.score(X_test, y_test), models[best].score(X_test, y_test))
    kept = models[best].n_members_
    found = np.array([forest.score(X_valid, y_valid), scores[best], *tested, kept])
    print(
        f"{seed:4d}  {100 * found[0]:10.2f}  {100 * found[1]:10.2f}  {100 * found[2]:10.2f}  "
        f"{100 * found[3]:10.2f}  {found[4]:5.0f}  {PRICES[best]:6g}  {seconds:7.2f}",
        flush=True,
    )
    return found


def main() -> None:
    """Print a line for every seed, and the means."""
    given = options(__doc__, data="digits", trees=200, keep=40, seeds=5)
    X, y = rows(given.data)
    print(f"{given.data}: {given.trees} trees of depth 3, thinned to {given.keep} at most")
    print("seed  validation     thinned        test     thinned  trees       C  CPU sec.")
    found = np.array([one_seed(X, y, seed, given.trees, given.keep) for seed in range(given.seeds)])
    print("mean" + "".join(f"  {100 * mean:10.2f}" for mean in found.mean(axis=0)[:4]))
    no_loss = int(np.count_nonzero(found[:, 1] >= found[:, 0]))
    print(f"no loss of validation accuracy in {no_loss} of {given.seeds} seeds")


if __name__ == "__main__":
    main()
