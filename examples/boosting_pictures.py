"""The pictures of docs/methods/classical_boosters.md, gradient_boosting.md and lpboost.md.

python examples/boosting_pictures.py [folder, by default docs/methods]
"""

from __future__ import annotations

import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from cgboost import GradientBoostingClassifier, LogitBoostClassifier, LPBoostRegressor
from cgboost.inspection.effects import plot_effects
from cgboost.inspection.importance import plot_importance
from cgboost.inspection.learning_curves import plot_stages


def main(folder: Path) -> None:
    """Draw losses of LogitBoost, importances of gradient boosting, effects of LPBoost."""
    X, y = load_breast_cancer(return_X_y=True)
    sets = {"train": (X[::2], y[::2]), "test": (X[1::2], y[1::2])}
    model = LogitBoostClassifier(n_estimators=300).fit(*sets["train"])
    plot_stages(model, sets).savefig(folder / "logitboost.png", dpi=90)
    wine = load_wine(as_frame=True)
    trees = GradientBoostingClassifier(start="zero", random_state=0).fit(wine.data, wine.target)
    figure = plot_importance(trees, top=10, per_class=True)
    figure.savefig(folder / "gradient_boosting.png", dpi=90)
    diabetes = load_diabetes(as_frame=True)
    stumps = LPBoostRegressor().fit(diabetes.data[::2], diabetes.target[::2])
    plot_effects(stumps, diabetes.data[::2]).savefig(folder / "lpboost.png", dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/methods"))
