"""
A library of kernels on digits
==============================

Odd digits against even ones, with three kernels at once: linear, quadratic and RBF. Every kernel
at every training row is a column; the model is a weighted sum of those few that it needs, and
its history shows where they came from.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from cgboost import RBF, CGBoostClassifier, KernelLibrary, Linear, Polynomial
from cgboost.inspection import plot_history

X, digit = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, digit % 2, random_state=0)

kernels = {"linear": Linear(), "quadratic": Polynomial(2), "rbf": RBF()}
library = KernelLibrary(kernels, normalize=True)
model = CGBoostClassifier(library, C=3.0, penalty="l1", columns_per_round=10)
model.fit(X_train, y_train, eval_set=(X_test, y_test))
print(f"test accuracy {model.score(X_test, y_test):.3f}, columns {model.columns_per_kernel_}")

# %%
# The history
# -----------
# Objective and proven bound close in on the optimum over all 4041 columns; the error on the
# held-out rows; and the columns in use, by kernel.

figure, axes = plt.subplots(3, 1, figsize=(8, 9), sharex=True, layout="constrained")
plot_history(model, ax=axes)

# %%
# Which digits are the centres
# ----------------------------
# The sixteen columns of largest weight: each stands for "alike to this picture". Blue speaks for
# odd, red for even.

columns = model.columns_
order = np.argsort(-np.abs(columns["coefficient"]))[:16]
figure, panels = plt.subplots(2, 8, figsize=(9, 3), layout="constrained")
for panel, j in zip(panels.flat, order, strict=True):
    odd = columns["coefficient"][j] > 0
    panel.imshow(X_train[columns["row"][j]].reshape(8, 8), cmap="Blues" if odd else "Reds")
    panel.set_title(columns["kernel"][j], fontsize=8)
    panel.axis("off")
