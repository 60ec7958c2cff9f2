"""
The worst group first
=====================

A model that is good on average may be bad for a small group. ``MinimaxLoss`` minimises the largest
mean loss of any group instead, over all columns, with a certificate: no other model of these
columns does better for its own worst group. The data are made up: three regions, of which the
smallest follows another rule than the others.
"""

import matplotlib.pyplot as plt
import numpy as np

from cgboost import ConstrainedBoostClassifier
from cgboost.constraints import GroupLoss, MinimaxLoss

rng = np.random.default_rng(0)
sizes = {"north": 150, "south": 60, "islands": 30}
region = np.repeat(list(sizes), list(sizes.values()))
X = np.round(rng.normal(size=(len(region), 3)), 1)
signal = np.where(region == "islands", X[:, 1], X[:, 0] + 0.3 * X[:, 1])
y = signal + 0.5 * rng.normal(size=len(region)) > 0

# %%
# Three models
# ------------
# One for the mean, one for the worst group, and one for the mean under a limit on each group's
# loss. The price of a group says how much it counts: those that are not the worst have none.

models = {
    "mean": ConstrainedBoostClassifier([GroupLoss("region", 10.0)], C=0.05, tol=1e-3),
    "worst group": ConstrainedBoostClassifier([MinimaxLoss("region")], C=0.05, tol=1e-3),
    "limit 0.75": ConstrainedBoostClassifier([GroupLoss("region", 0.75)], C=0.05, tol=1e-3),
}
losses = {}
for name, model in models.items():
    report = model.fit(X, y, groups={"region": region}).constraints_report_
    losses[name] = dict(zip(report["part"], report["value"], strict=True))
    print(f"{name}: {model.n_columns_} columns, gap {model.gap_:.0e}")
    for part, value, price in zip(report["part"], report["value"], report["price"], strict=True):
        print(f"    {part:15s} mean hinge loss {value:.3f}, price {price:.2f}")

# %%
# What each group gets
# --------------------
# The model for the mean leaves the islands behind. The model for the worst group makes the groups
# nearly equal: the larger ones pay for it.

parts = list(losses["mean"])
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for place, (name, own) in enumerate(losses.items()):
    axis.bar(np.arange(3) + 0.27 * (place - 1), [own[part] for part in parts], 0.25, label=name)
axis.axhline(0.75, color="0.4", linestyle="--", linewidth=1)
labels = [f"{part.split('=')[1]} ({sizes[part.split('=')[1]]} rows)" for part in parts]
axis.set_xticks(np.arange(3), labels)
axis.set(ylabel="mean hinge loss")
axis.legend(title="minimised")
