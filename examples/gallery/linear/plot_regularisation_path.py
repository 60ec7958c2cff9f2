"""
A path of models
================

How does the model change with C? `path` fits one for every C; each starts from the columns of
the one before, and all share what is computed of the kernels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from cgboost import RBF, CGBoostClassifier, KernelLibrary, Linear

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
library = KernelLibrary({"linear": Linear(), "rbf": RBF(0.02)}, normalize=True)
C_values = np.geomspace(0.02, 200, 17)
path = CGBoostClassifier(library, penalty="l1").path(
    X[::2], y[::2], C_values, eval_set=(X[1::2], y[1::2])
)
print(f"best C {path.best.C:.3g} with {path.best.n_columns_} columns")

# %%
# Error and size
# --------------
# Small C: few columns, some errors. Large C: every training row is fitted, with more columns.

linear = [model.columns_per_kernel_["linear"] for model in path.models]
total = [model.n_columns_ for model in path.models]
figure, (top, bottom) = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
top.semilogx(path.C_values, 1 - path.scores, "o-", label="validation")
train_error = [1 - model.score(X[::2], y[::2]) for model in path.models]
top.semilogx(path.C_values, train_error, "o-", label="training", color="0.6")
top.set(ylabel="error", title="Error")
top.legend()
bottom.fill_between(path.C_values, 0, linear, label="linear", alpha=0.8)
bottom.fill_between(path.C_values, linear, total, label="rbf", alpha=0.8)
bottom.set(xlabel="C", ylabel="columns in use", title="Columns, by kernel")
bottom.legend(loc="upper left")
