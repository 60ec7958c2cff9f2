"""
Several views of one data set
=============================

Images can be described by their pixels, by their spectrum, by sums along rows and columns, by the
directions of their edges. Each of these *views* gets a kernel, and multiple kernel learning
(``penalty="group"``) finds the weight of each. The fifth view is noise, as from a sensor that is
not plugged in: nobody tells the model.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from cgboost import RBF, CGBoostClassifier, KernelLibrary, On
from cgboost.inspection import plot_kernel_weights


def edges(images):
    """How long the edges of each of eight directions are, in each quarter of the image."""
    down, right = np.gradient(images, axis=(1, 2))
    direction = np.floor(8 * np.arctan2(down, right) / (2 * np.pi)).astype(int) % 8
    strength = np.where(direction == np.arange(8)[:, None, None, None], np.hypot(down, right), 0)
    return strength.reshape(8, -1, 2, 4, 2, 4).sum(axis=(3, 5)).swapaxes(0, 1)


digits = load_digits()
images = digits.images / 16
views = {
    "pixels": images,
    "spectrum": np.abs(np.fft.rfft2(images)),
    "sums": np.stack([images.sum(axis=1), images.sum(axis=2)], axis=1),
    "edges": edges(images),
    "noise": np.random.default_rng(0).normal(size=(len(images), 150)),
}
flat = {name: view.reshape(len(images), -1) for name, view in views.items()}
X = np.hstack([(view - view.mean(axis=0)) / view.std() for view in flat.values()])
ends = np.cumsum([view.shape[1] for view in flat.values()])
columns = dict(zip(views, np.split(np.arange(X.shape[1]), ends[:-1]), strict=True))
X_train, X_test, y_train, y_test = train_test_split(
    X, digits.target % 2, train_size=300, stratify=digits.target, random_state=0
)

# %%
# A kernel for each view
# ----------------------
# Odd digits against even ones, from 300 images. The fit is certified: no other choice of weights,
# and no function of these five spaces, has an objective that is lower by more than the gap.

library = KernelLibrary({name: On(RBF(), columns=own) for name, own in columns.items()})
model = CGBoostClassifier(library, penalty="group", C=0.15).fit(X_train, y_train)
print(f"test accuracy {model.score(X_test, y_test):.3f}, certified gap {model.gap_:.0e}")
for name, weight in model.kernel_weights_.items():
    print(f"{name:9} {weight:.2f}")
figure = plt.figure(figsize=(8, 2.6), layout="constrained")
plot_kernel_weights(model, ax=figure.add_subplot())

# %%
# Which weights for which C
# -------------------------
# With a larger C the sum of norms counts for less, and more views come in. In the end noise comes
# in, too: its kernel is next to the identity matrix, and so lets each training row have an error of
# its own, as the hinge does at a small C. Held-out rows (cross-validation, say) should choose C.

costs = np.geomspace(0.03, 1.0, 7)
models = [CGBoostClassifier(library, penalty="group", C=C).fit(X_train, y_train) for C in costs]
figure, axis = plt.subplots(figsize=(8, 3.4), layout="constrained")
for name in views:
    axis.plot(costs, [fitted.kernel_weights_[name] for fitted in models], ".-", label=name)
axis.set(xscale="log", xlabel="C", ylabel="weight of the view", ylim=(0, 0.75))
axis.legend(frameon=False, ncols=5)

# %%
# Compared with one kernel
# ------------------------
# One kernel on all features at once cannot leave the noise out. One on the pixels alone is as good
# as the five views here: who knows the right view needs no weights. Both have the C that is best on
# the test rows, which flatters them.

figure, axis = plt.subplots(figsize=(8, 3.4), layout="constrained")
axis.plot(costs, [fitted.score(X_test, y_test) for fitted in models], ".-", label="five views")
for name, own in {"all features": np.arange(X.shape[1]), "pixels": columns["pixels"]}.items():
    score = max(
        SVC(C=C).fit(X_train[:, own], y_train).score(X_test[:, own], y_test)
        for C in (0.1, 1, 10, 100, 1000)
    )
    print(f"one kernel on {name}: test accuracy {score:.3f} at the best C")
    axis.axhline(score, linestyle=":" if name == "pixels" else "--", color="0.4", label=name)
axis.set(xscale="log", xlabel="C", ylabel="test accuracy", ylim=0.9)
axis.legend(frameon=False)
