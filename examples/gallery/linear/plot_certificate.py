"""
How far from the optimum?
=========================

A solver that stops early says "failed to converge", and no more. :func:`cgboost.certify` says how
far the model can be from the optimum of its own problem: it gives a lower bound on the objective
of *all* coefficients. :func:`cgboost.polish` goes there. The machine is scikit-learn's
``LinearSVC``, and its features have very different scales.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.svm import LinearSVC

from cgboost import certify, polish
from cgboost.inspection import plot_violations

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
passes = np.unique(np.geomspace(10, 20000, 12).astype(int))
models, certificates = [], []
for n_passes in passes:
    model = LinearSVC(loss="hinge", max_iter=int(n_passes), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        models.append(model.fit(X, y))
    certificates.append(certify(model, X, y))
better = polish(models[-1], X, y)
optimum = better.certificate_.objective

# %%
# More passes, the same place
# ---------------------------
# Every model is certified for itself: its optimum lies in the band below its objective. The search
# for a bound ends when a fifth of the gap, at most, can be the bound's own fault. A hundred times
# as many passes lead nowhere here.

figure, axis = plt.subplots(figsize=(8, 4.2), layout="constrained")
objective = [certificate.objective for certificate in certificates]
bound = [certificate.bound for certificate in certificates]
axis.fill_between(passes, bound, objective, color="C0", alpha=0.2, label="gap")
axis.plot(passes, objective, "o-", color="C0", label="objective of the model")
axis.plot(passes, bound, "-", color="C3", label="certified bound")
axis.axhline(optimum, color="0.3", linestyle="--", linewidth=1, label="polished model")
axis.set(xscale="log", xlabel="passes over the rows (max_iter)", ylabel="objective", ylim=(0, None))
axis.legend(loc="upper left")
print(certificates[-1])
print(f"polished: objective {optimum:.2f}, gap {better.certificate_.gap:.0e}")

# %%
# Where it falls short
# --------------------
# The gap is a sum of parts that are not negative, one for each feature and each row. A Lasso that
# has seen every feature three times falls short at two features, which say nearly the same, and at
# the rows that these would fit.

numbers, progression = load_diabetes(return_X_y=True, as_frame=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    stopped = Lasso(alpha=0.1, max_iter=3).fit(numbers, progression)
certificate = certify(stopped, numbers, progression)
print(certificate)
_, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
plot_violations(certificate, top=8, ax=axis)
