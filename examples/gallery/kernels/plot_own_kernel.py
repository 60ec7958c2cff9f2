"""
Your own kernel
===============

Any function of two sets of rows is a kernel here; it need not be positive definite, nor
symmetric. This one knows that an hour of the day goes round: 23 and 1 are close. Besides it
stands a linear kernel, which knows no such thing, and the model takes what it needs of both.
"""

import matplotlib.pyplot as plt
import numpy as np

from cgboost import CGBoostRegressor, KernelLibrary, Linear

rng = np.random.default_rng(0)
hour, day = rng.uniform(0, 24, 400), rng.uniform(0, 1, 400)
rush = np.exp(-(((hour + 12) % 24 - 12) ** 2) / 8)  # around midnight
y = 2.0 * rush + 1.5 * day + 0.2 * rng.standard_normal(400)
X = np.column_stack([day, hour])


def clock(A, B):
    """Closeness on the dial: 1 at the same time, 0 from six hours on."""
    apart = np.abs(A[:, None, 1] - B[None, :, 1])
    return np.maximum(0.0, 1.0 - np.minimum(apart, 24 - apart) / 6)


def trend(A, B):
    """The linear kernel of the first feature alone."""
    return A[:, :1] @ B[:, :1].T


settings = {"penalty": "l1", "C": 1.0, "epsilon": 0.1}
straight = CGBoostRegressor(KernelLibrary({"linear": Linear()}), **settings).fit(X[:300], y[:300])
round_ = CGBoostRegressor(KernelLibrary({"trend": trend, "clock": clock}), **settings)
round_.fit(X[:300], y[:300])
for name, model in {"linear": straight, "trend and clock": round_}.items():
    score = model.score(X[300:], y[300:])
    print(f"{name:16s} R2 {score:.3f}, columns {model.columns_per_kernel_}")

# %%
# What it has learned of the hours
# --------------------------------
# The curve closes: its value at 24 is that at 0.

hours = np.linspace(0, 24, 200)
new = np.column_stack([np.full(200, 0.5), hours])
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.scatter(
    hour[:300], y[:300] - 1.5 * (day[:300] - 0.5), s=8, color="0.7", label="rows, at day 0.5"
)
axis.plot(hours, straight.predict(new), label="linear")
axis.plot(hours, round_.predict(new), label="trend and clock")
axis.set(xlabel="hour", ylabel="response", xticks=range(0, 25, 6))
axis.legend()
