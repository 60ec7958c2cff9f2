"""
The functions of transform regression
=====================================

Transform regression boosts additive models of piecewise linear transformations. The functions of
its first stage show what each feature does; later stages correct what an additive model cannot
say.
"""

import matplotlib.pyplot as plt
import numpy as np

from cgboost import TransformRegressor
from cgboost.inspection.model_pictures import plot_transformations

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(2000, 5))
additive = np.abs(X[:, 0]) + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2]
y = additive**2 / 3 + 0.2 * rng.standard_normal(2000)
model = TransformRegressor().fit(X[:1500], y[:1500])
print(f"{model.n_iter_} stages, test R2 {model.score(X[1500:], y[1500:]):.3f}")

# %%
# The first stage
# ---------------
# The response is the square of abs(x0) + sin(2·x1) + x2/2; x3 and x4 are noise. The stage finds
# the shape of the three functions in a few straight pieces, and leaves the last two features out.

figure = plt.figure(figsize=(10, 3.4), layout="constrained")
plot_transformations(model, X=X[:300], ax=figure.subplots(1, 3))

# %%
# Stage after stage
# -----------------
# A square of a sum is no sum of functions. But later stages see the output of the first, as a
# feature among others, and the square of *that* is one function.

errors = [np.mean((f - y[1500:]) ** 2) for f in model.staged_predict(X[1500:])]
figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.plot(range(1, len(errors) + 1), errors, "o-")
axis.axhline(0.04, color="0.6", linestyle="--", label="noise")
axis.set(xlabel="stages", ylabel="mean squared error, test rows", yscale="log")
axis.legend()
