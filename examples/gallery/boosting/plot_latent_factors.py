"""
Latent factors for any loss
===========================

Partial least squares finds directions of the features that explain the response, one after
another, orthogonal to each other. Boosted Latent Factors does the same for any loss: here for
the log-loss, on 30 strongly correlated features.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from cgboost import BLFClassifier

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
train, test = slice(0, None, 2), slice(1, None, 2)
model = BLFClassifier(n_components=6).fit(X[train], data.target[train])
print(f"test accuracy {model.score(X[test], data.target[test]):.3f}")

# %%
# Two factors instead of thirty features
# --------------------------------------
# The rows that the model has not seen, in the plane of the first two factors.

T = model.transform(X[test])
figure, axis = plt.subplots(figsize=(6, 5), layout="constrained")
for label, name in enumerate(data.target_names):
    mine = data.target[test] == label
    axis.scatter(T[mine, 0], T[mine, 1], s=16, alpha=0.7, label=name)
axis.set(xlabel="factor 1", ylabel="factor 2", title="Test rows")
axis.legend()

# %%
# How many factors
# ----------------
# Every number of factors is its own model: the staged predictions have them all.

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
for name, rows in {"training": train, "test": test}.items():
    staged = model.staged_decision_function(X[rows])
    errors = [np.mean((f > 0) != data.target[rows]) for f in staged]
    axis.plot(range(1, len(errors) + 1), errors, "o-", label=name)
axis.set(xlabel="factors", ylabel="error")
axis.legend()
