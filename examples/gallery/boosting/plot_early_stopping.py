"""
Validation for every column, and early stopping
===============================================

Columns come a few at a time, and after each round the model is scored on rows that it does not
see. Where labels are noisy and C is large, the best model has fewer columns than the optimum.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from cgboost import RBF, CGBoostClassifier, KernelLibrary

X, y = make_moons(600, noise=0.35, random_state=1)
train, held = slice(0, 200), slice(200, None)
library = KernelLibrary(RBF.family([0.5, 8.0]))
settings = {"penalty": "l1", "C": 300.0, "columns_per_round": 2}
whole = CGBoostClassifier(library, **settings)
whole.fit(X[train], y[train], eval_set=(X[held], y[held]))
early = CGBoostClassifier(library, early_stopping=True, n_iter_no_change=15, **settings)
early.fit(X[train], y[train], eval_set=(X[held], y[held]))
for name, model in {"optimum": whole, "early": early}.items():
    error = 1 - model.score(X[held], y[held])
    print(
        f"{name:8s} {model.n_columns_:3d} columns, held-out error {error:.3f}, {model.stop_reason_}"
    )

# %%
# Column by column
# ----------------
# Training error falls on, held-out error does not. Both can be had afterwards, from any rows:
# `staged_decision_function` replays the rounds.

columns = whole.history_["columns"]
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for name, rows in {"training": train, "held out": held}.items():
    outputs = whole.staged_decision_function(X[rows])
    errors = [np.mean((output > 0) != y[rows]) for output in outputs]
    axis.plot(columns[-len(errors) :], errors, label=name)
axis.axvline(
    early.history_["columns"][early.best_round_], color="0.6", linestyle="--", label="kept early"
)
axis.set(xlabel="columns generated", ylabel="error", ylim=(0, 0.5))
axis.legend()

# %%
# The two models
# --------------
# The border of the optimum bends around single rows; that of the model kept early does not.

grid = np.stack(np.meshgrid(np.linspace(-2, 3, 120), np.linspace(-1.6, 2.1, 90)), axis=-1)
figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
for panel, (name, model) in zip(
    panels, {"kept early": early, "optimum": whole}.items(), strict=True
):
    output = model.decision_function(grid.reshape(-1, 2)).reshape(90, 120)
    panel.contourf(*np.moveaxis(grid, -1, 0), np.tanh(output), 20, cmap="RdBu", alpha=0.4)
    panel.contour(*np.moveaxis(grid, -1, 0), output, [0.0], colors="black")
    panel.scatter(*X[train].T, c=y[train], cmap="RdBu", edgecolors="white", s=26, linewidths=0.5)
    panel.set_title(f"{name}: {model.n_columns_} columns")

# sphinx_gallery_thumbnail_number = 2
