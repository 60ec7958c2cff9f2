"""
Novelty detection
=================

`CGBoostOutlierDetector` sees rows of one kind and learns what they have in common; ν is the
share of them that may look like strangers. With the 1-norm a few columns are enough.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_moons

from cgboost import RBF, CGBoostOutlierDetector, KernelLibrary

X, _ = make_moons(200, noise=0.08, random_state=0)
grid = np.stack(np.meshgrid(np.linspace(-2, 3, 120), np.linspace(-1.5, 2, 90)), axis=-1)

figure, panels = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
for panel, nu in zip(panels, (0.05, 0.4), strict=True):
    library = KernelLibrary(RBF.family([1.0, 5.0]))
    model = CGBoostOutlierDetector(library, nu=nu, penalty="l1").fit(X)
    level = model.decision_function(grid.reshape(-1, 2)).reshape(90, 120)
    axes = np.moveaxis(grid, -1, 0)
    panel.contourf(*axes, level, [0.0, level.max()], colors=["C0"], alpha=0.25)
    panel.contour(*axes, level, [0.0], colors="C0")
    inside = model.predict(X) == 1
    panel.scatter(*X[inside].T, s=10, color="0.4")
    panel.scatter(*X[~inside].T, s=14, color="C3")
    panel.set_title(f"ν = {nu}: {np.mean(~inside):.0%} outside, {model.n_columns_} columns")

# %%
# A stranger among zeros
# ----------------------
# The detector has seen 90 zeros and nothing else. Of the digits that it has not seen, these look
# least and most like a zero to it.

pictures, digit = load_digits(return_X_y=True)
pictures = pictures / 16
zeros, new = np.flatnonzero(digit[:900] == 0), np.arange(900, len(digit))
model = CGBoostOutlierDetector(KernelLibrary({"rbf": RBF(0.05)}), nu=0.1, penalty="l1")
model.fit(pictures[zeros])
order = new[np.argsort(model.score_samples(pictures[new]))]
figure, panels = plt.subplots(2, 8, figsize=(9, 2.8), layout="constrained")
for row, name, chosen in zip(panels, ("least", "most"), (order[:8], order[-8:]), strict=True):
    for panel, i in zip(row, chosen, strict=True):
        panel.imshow(pictures[i].reshape(8, 8), cmap="gray_r")
        panel.axis("off")
    row[0].set_title(f"{name} alike", fontsize=9, loc="left")
