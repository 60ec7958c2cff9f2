"""AdaBoost over stumps against scikit-learn's AdaBoostClassifier with trees of depth 1.

    python benchmarks/boosters.py adaboost

20000 rows to train and as many to test, 50 features, 200 rounds, one thread, three data sets. The
stumps are not the same: ours have the fewest weighted errors over 255 bins, scikit-learn's trees
the smallest Gini impurity over all thresholds. So the areas under the ROC curve stand beside the
times.
"""

from __future__ import annotations

import time
from typing import Any

from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier as Reference
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from cgboost import AdaBoostClassifier

N_ROWS, N_FEATURES, ROUNDS, SEEDS = 20_000, 50, 200, (0, 1, 2)


def measured(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """CPU seconds to fit the first half of the rows, and the AUC on the other."""
    started = time.process_time()
    model.fit(X[:N_ROWS], y[:N_ROWS])
    seconds = time.process_time() - started
    return seconds, float(roc_auc_score(y[N_ROWS:], model.decision_function(X[N_ROWS:])))


def main() -> None:
    """One line per data set: both times, their ratio, both areas."""
    for seed in SEEDS:
        X, y = make_classification(
            2 * N_ROWS,
            N_FEATURES,
            n_informative=15,
            n_redundant=10,
            flip_y=0.05,
            random_state=seed,
        )
        stump = DecisionTreeClassifier(max_depth=1)
        ours, our_area = measured(AdaBoostClassifier(n_estimators=ROUNDS), X, y)
        theirs, their_area = measured(Reference(stump, n_estimators=ROUNDS), X, y)
        print(
            f"adaboost {N_ROWS}×{N_FEATURES}, {ROUNDS} rounds, data {seed}: cgboost {ours:.2f} s, "
            f"scikit-learn {theirs:.1f} s, ratio {theirs / ours:.0f}; "
            f"AUC {our_area:.4f} and {their_area:.4f}"
        )


if __name__ == "__main__":
    main()
