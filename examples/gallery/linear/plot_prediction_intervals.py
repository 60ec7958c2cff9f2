"""
Prediction intervals from sparse quantile regression
====================================================

How far may a patient's disease progress within a year? Two sparse linear quantile models draw an
interval, and rows that they were not trained on widen it until it holds what it says (conformalised
quantile regression: Romano, Patterson, Candès, NeurIPS 2019). Every fit is certified: the features
that are left out are proven not to help.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import PolynomialFeatures

from cgboost import SparseLinearRegressor

data = load_diabetes()
products = PolynomialFeatures(2, include_bias=False)
X, y = products.fit_transform(data.data), data.target
rows, test = train_test_split(np.arange(len(y)), test_size=142, random_state=0)
train, calibration = rows[:200], rows[200:]

bounds = {
    q: SparseLinearRegressor(quantile=q, standardize=True).fit(X[train], y[train])
    for q in (0.1, 0.9)
}
for q, model in bounds.items():
    print(f"quantile {q}: {model.n_columns_} of {X.shape[1]} features, gap {model.gap_:.0e}")

# %%
# What the intervals hold
# -----------------------
# The score of a row is how far it lies outside its interval (negative inside). Widened by the
# 80 % quantile of the scores of the calibration rows, intervals hold at least 80 % of new rows on
# average, whatever the distribution. (The share among 142 rows has a standard error of 3 %.)

lower, upper = bounds[0.1].predict(X), bounds[0.9].predict(X)
scores = np.maximum(lower - y, y - upper)[calibration]
level = min(1.0, 0.8 * (1 + 1 / len(calibration)))
margin = np.quantile(scores, level, method="higher")
for name, wider in {"as fitted": 0.0, "calibrated": margin}.items():
    inside = (lower - wider <= y) & (y <= upper + wider)
    print(f"{name:10s} {inside[test].mean():.0%} of the test rows inside, {wider:+.1f} wide")

# %%
# Intervals of the test rows
# --------------------------
# Ordered by the middle of the interval. Their widths differ: quantiles see more than the mean.

low, high = lower[test] - margin, upper[test] + margin
order = np.argsort(low + high)
inside = ((low <= y[test]) & (y[test] <= high))[order]
place = np.arange(len(test))
figure, axis = plt.subplots(figsize=(8, 4), layout="constrained")
axis.vlines(place, low[order], high[order], color="0.8", linewidth=2, label="80 % interval")
axis.plot(place[inside], y[test][order][inside], "o", markersize=3, label="inside")
axis.plot(place[~inside], y[test][order][~inside], "x", color="C3", label="outside")
axis.set(xlabel="test rows, by their prediction", ylabel="disease progression")
axis.legend()

# %%
# Which features
# --------------
# The features that a quantile uses, with the coefficients of standardised features: what makes a
# bad course likely is not quite what makes a good one unlikely.

names = products.get_feature_names_out(data.feature_names)
deviations = X[train].std(axis=0)
effects = {q: model.coef_ * deviations for q, model in bounds.items()}
strongest = np.argsort(np.abs(effects[0.1]) + np.abs(effects[0.9]))[::-1][:12]
figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
for shift, (q, effect) in zip((-0.2, 0.2), effects.items(), strict=True):
    axis.barh(np.arange(12) + shift, effect[strongest], height=0.4, label=f"quantile {q}")
axis.set_yticks(np.arange(12), names[strongest])
axis.invert_yaxis()
axis.axvline(0.0, color="black", linewidth=0.8)
axis.set(xlabel="effect of one standard deviation")
axis.legend()

# sphinx_gallery_thumbnail_number = 1
