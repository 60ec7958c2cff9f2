"""
Three kernel matrices of the same rows
======================================

Sometimes there are no features, only matrices of similarities: from an alignment program, from
another laboratory, from three instruments. Here they are of handwritten digits, by the upper half
of a picture, by the lower half, and by its spectrum, which does not see where a stroke is.

The matrices go into the library, and X is the numbers of the rows. Any row may then be held out, so
that cross-validation needs no more care than with features.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.svm import SVC

from cgboost import RBF, CGBoostClassifier, KernelLibrary, Precomputed

pictures, digit = load_digits(return_X_y=True)
pictures, digit = pictures[:800].reshape(-1, 8, 8) / 16, digit[:800]
y = digit % 2
spectrum = np.abs(np.fft.rfft2(pictures)).reshape(800, -1)
upper, lower = pictures[:, :4].reshape(800, -1), pictures[:, 4:].reshape(800, -1)
views = {"upper half": upper, "lower half": lower, "spectrum": spectrum}
matrices = {name: RBF(factor=2.0).fit(view)(view, view) for name, view in views.items()}

rows = np.arange(800)[:, None]
train, test = train_test_split(rows, test_size=0.5, random_state=0, stratify=digit)

# %%
# The mixture
# -----------
# ``Precomputed("spectrum", matrix)`` looks up the values of two row numbers.

library = KernelLibrary({name: Precomputed(name, K) for name, K in matrices.items()})
search = GridSearchCV(CGBoostClassifier(library, penalty="l1"), {"C": [0.1, 0.3, 1, 3]}, cv=3)
model = search.fit(train, y[train[:, 0]]).best_estimator_
print(f"C={model.C}, gap {model.gap_:.1e}, columns {model.columns_per_kernel_}")

# %%
# One matrix, or their sum
# ------------------------
# A support vector machine takes one matrix, or the mean of all, which is a guess of their weights.

matrices["mean of all"] = np.mean(list(matrices.values()), axis=0)
table = {}
i, j = train[:, 0], test[:, 0]
for name, K in matrices.items():
    machine = GridSearchCV(SVC(kernel="precomputed"), {"C": [0.3, 1, 3, 10]}, cv=3)
    machine.fit(K[np.ix_(i, i)], y[i])
    support = int(machine.best_estimator_.n_support_.sum())
    table[f"SVC, {name}"] = 1 - machine.score(K[np.ix_(j, i)], y[j]), support
table["mixture"] = 1 - model.score(test, y[j]), model.n_columns_
for name, (error, count) in table.items():
    print(f"{name:17s} error {100 * error:4.1f} %, {count:3d} columns or support vectors")

# %%
# Errors and sizes
# ----------------
# Every matrix alone is worse than the mixture. The mean of all is the best one here, since all
# three views are worth the same; it has twice as many rows to compare a new one with.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
errors, counts = np.array(list(table.values())).T
for axis, values, title, form in [
    (axes[0], 100 * errors, "test error (%)", "%.1f"),
    (axes[1], counts, "columns or support vectors", "%d"),
]:
    shown = axis.barh(list(table), values, color="0.7")
    shown[-1].set_color("C0")
    axis.bar_label(shown, fmt=form, padding=3)
    axis.margins(x=0.12)
    axis.set_title(title)
axes[0].invert_yaxis()
