"""
Regression with a tube: epsilon, or nu
======================================

In ε-insensitive regression errors below ε are free. How wide should the tube be? With ν in its
place the model chooses ε itself, so that a share ν of the rows lies outside.
"""

import matplotlib.pyplot as plt
import numpy as np

from cgboost import RBF, CGBoostRegressor, KernelLibrary, Linear

rng = np.random.default_rng(1)
x = np.sort(rng.uniform(-3, 3, 150))
y = np.sinc(x) + 0.1 * x + 0.12 * rng.standard_normal(150)
X = x[:, None]
library = KernelLibrary({"linear": Linear(), **RBF.family([0.3, 2.0])})

# %%
# Three shares
# ------------
# ν bounds the share of the rows outside the tube from above, and the share outside or on its
# border from below. The rows drawn full are those outside: only they, and those on the border,
# hold the curve in its place.

figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for panel, nu in zip(panels, (0.1, 0.3, 0.7), strict=True):
    model = CGBoostRegressor(library, nu=nu, C=10.0, penalty="l1").fit(X, y)
    curve = model.predict(X)
    outside = np.abs(y - curve) > model.epsilon_ * (1 + 1e-6)
    print(
        f"nu {nu}: epsilon {model.epsilon_:.3f}, outside {outside.mean():.2f}, "
        f"columns {model.n_columns_}, certified {model.converged_}"
    )
    panel.fill_between(x, curve - model.epsilon_, curve + model.epsilon_, alpha=0.2)
    panel.plot(x, curve)
    panel.scatter(x, y, s=14, facecolors=np.where(outside, "C3", "none"), edgecolors="C3")
    panel.set(title=f"ν = {nu}: ε = {model.epsilon_:.2f}", xlabel="x")
