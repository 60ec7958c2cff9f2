"""Rows of the comparison: models under constraints, and ensembles made small."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from users_rows import OURS, Row

from cgboost import ConstrainedBoostClassifier, ThinnedEnsemble
from cgboost.constraints import ParityGap

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "reproduce"))

LIMIT = 0.02
"""The difference of the rates of positive predictions that is asked for."""

ADULT_ROWS = 8000
TREES, KEPT = 300, 45


def rows(data: Path) -> list[Row]:
    """Rows of this part; ``data`` is the folder of public data sets."""
    return [
        Row(
            f"limited rates, Adult {ADULT_ROWS}",
            lambda: adult(data),
            {OURS: parity, "fairlearn, logistic": reduction},
            adult_score,
            1.0,
        ),
        Row(
            f"rates by a threshold for each group, Adult {ADULT_ROWS}",
            lambda: adult(data),
            {OURS: thresholds, "fairlearn, ThresholdOptimizer": optimized_thresholds},
            adult_score,
            1.0,
        ),
        Row(
            f"thinning, Spambase, {TREES} trees to {KEPT}",
            lambda: forest(data),
            {OURS: thinned, "logistic, ℓ1, by hand": by_hand},
            lambda rows, kept: f"accuracy {100 * kept(rows['X_test'], rows['y_test']):.1f} %",
            1.0,
        ),
    ]


def adult(folder: Path) -> dict[str, Any]:
    """Rows of Adult drawn from its training file, categories as indicators, and its test file."""
    import pandas as pd
    from study_data import read_data

    table = next(iter(read_data(folder)))
    X = pd.get_dummies(table.X)
    X_test = pd.get_dummies(table.X_test).reindex(columns=X.columns, fill_value=0)
    drawn = np.random.default_rng(0).permutation(len(X))[:ADULT_ROWS]
    male = X["sex_Male"].to_numpy(bool), X_test["sex_Male"].to_numpy(bool)
    frequent = X.iloc[drawn].mean() > 0.01
    X, X_test = X.loc[:, frequent], X_test.loc[:, frequent]
    return {
        "X": X.to_numpy(np.float64)[drawn],
        "y": table.y.astype(int)[drawn],
        "male": male[0][drawn],
        "X_test": X_test.to_numpy(np.float64),
        "y_test": table.y_test.astype(int),
        "male_test": male[1],
    }


def parity(rows: dict[str, Any]) -> Any:
    """Stumps whose rates of positive predictions differ by the limit at most."""
    model = ConstrainedBoostClassifier([ParityGap("sex", LIMIT, of="rate")])
    return model.fit(rows["X"], rows["y"], groups={"sex": rows["male"]})


def reduction(rows: dict[str, Any]) -> Any:
    """The reduction of fairlearn over logistic regression of scaled features."""
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    learner = make_pipeline(StandardScaler(), LogisticRegression())
    model = ExponentiatedGradient(
        learner,
        DemographicParity(difference_bound=LIMIT),
        sample_weight_name="logisticregression__sample_weight",
    )
    return model.fit(rows["X"], rows["y"], sensitive_features=rows["male"])


def thresholds(rows: dict[str, Any]) -> Any:
    """Boosted trees, and the thresholds of the groups with the fewest errors, proven."""
    from sklearn.frozen import FrozenEstimator

    group = int(np.flatnonzero((rows["X"] == rows["male"][:, None]).all(axis=0))[0])
    trees = FrozenEstimator(boosted().fit(rows["X"], rows["y"]))
    limit = ParityGap(group, LIMIT, of="rate")
    model = ConstrainedBoostClassifier(limit, columns=trees, offset="group")
    return model.fit(rows["X"], rows["y"])


def boosted() -> Any:
    """The trees that both ways give thresholds to."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def optimized_thresholds(rows: dict[str, Any]) -> Any:
    """The same by fairlearn, which draws by chance where it mixes two thresholds."""
    from fairlearn.postprocessing import ThresholdOptimizer

    model = ThresholdOptimizer(
        estimator=boosted(),
        constraints="demographic_parity",
        predict_method="predict_proba",
        tol=LIMIT,
    )
    return model.fit(rows["X"], rows["y"], sensitive_features=rows["male"])


def adult_score(rows: dict[str, Any], model: Any) -> str:
    """Accuracy on the test file, and the difference of the rates on both."""
    told = []
    for X, male in ((rows["X"], rows["male"]), (rows["X_test"], rows["male_test"])):
        positive = said(model, X, male) > 0
        told.append(f"{100 * abs(positive[male].mean() - positive[~male].mean()):.1f}")
    accuracy = 100 * np.mean(said(model, rows["X_test"], rows["male_test"]) == rows["y_test"])
    return f"accuracy {accuracy:.1f} %, rates differ by {told[0]} and {told[1]} points"


def said(model: Any, X: Any, male: Any) -> Any:
    """Predictions; fairlearn's thresholds are told the group, others find it in X or need none."""
    if hasattr(model, "interpolated_thresholder_"):
        return model.predict(X, sensitive_features=male, random_state=0)
    return np.asarray(model.predict(X))


def forest(folder: Path) -> dict[str, Any]:
    """A fitted forest, and rows of Spambase: half of them to choose trees by."""
    from sklearn.model_selection import train_test_split

    table = np.genfromtxt(folder / "fipe" / "Spambase.csv", delimiter=",", skip_header=1)
    X, y = table[:, :-1], table[:, -1].astype(int)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    X, X_kept, y, y_kept = train_test_split(X, y, test_size=0.5, random_state=0)
    model = RandomForestClassifier(TREES, random_state=0).fit(X, y)
    return {"forest": model, "X": X_kept, "y": y_kept, "X_test": X_test, "y_test": y_test}


def thinned(rows: dict[str, Any]) -> Any:
    """A tenth and a half of the trees, weighted anew."""
    model = ThinnedEnsemble(rows["forest"], size=KEPT, training_rows=False)
    return model.fit(rows["X"], rows["y"]).score


def by_hand(rows: dict[str, Any]) -> Any:
    """An ℓ1 logistic regression of what each tree says, its price halved until few trees stay."""

    def outputs(X: Any) -> Any:
        return np.column_stack([t.predict_proba(X)[:, 1] - 0.5 for t in rows["forest"].estimators_])

    Z, low, high = outputs(rows["X"]), 1e-3, 1e1
    for _ in range(8):
        C = float(np.sqrt(low * high))
        model = LogisticRegression(l1_ratio=1, C=C, solver="liblinear").fit(Z, rows["y"])
        low, high = (C, high) if np.count_nonzero(model.coef_) <= KEPT else (low, C)
    model = LogisticRegression(l1_ratio=1, C=low, solver="liblinear").fit(Z, rows["y"])
    return lambda X, y: model.score(outputs(X), y)
