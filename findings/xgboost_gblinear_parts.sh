#!/usr/bin/env bash
# XGBoost's linear booster has no penalty by default, and coef_ and intercept_ are not its whole model.
#
# Guess before running: XGBRegressor(booster="gblinear") has reg_lambda = 1 as the trees have, per row. Seen (XGBoost
# 3.2.0, Python 3.11, Linux): 0 (the coefficients are those of least squares), and X @ coef_ + intercept_ misses
# predict by base_score, here the mean of y, 4.85 for each row. The intercept_ of trees *is* base_score.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import numpy as np
from xgboost import XGBRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 5))
y = X @ [3.0, -2.0, 0.0, 0.0, 0.2] + 5.0 + rng.standard_normal(300)
ends = np.linalg.lstsq(np.c_[X, np.ones(300)], y, rcond=None)[0]
penalised = np.linalg.solve(
    (X - X.mean(0)).T @ (X - X.mean(0)) / 300 + np.eye(5), (X - X.mean(0)).T @ y / 300
)
linear = XGBRegressor(booster="gblinear", n_estimators=1000, learning_rate=0.5, n_jobs=1).fit(X, y)
missing = linear.predict(X) - (X @ linear.coef_ + linear.intercept_)
trees = XGBRegressor(n_estimators=1, n_jobs=1).fit(X, y)
print("coefficients", linear.coef_, "least squares", ends[:5], "with lambda = 1", penalised)
print("intercept_", linear.intercept_, "least squares", ends[5], "mean of y", y.mean())
print("predict exceeds X @ coef_ + intercept_ by", missing.min(), "to", missing.max())
print("intercept_ of trees", trees.intercept_)
assert np.abs(linear.coef_ - ends[:5]).max() < 1e-3
assert np.abs(linear.coef_ - penalised).max() > 1.0
assert np.abs(missing - y.mean()).max() < 1e-3
assert abs(float(trees.intercept_[0]) - y.mean()) < 1e-3
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "xgboost==3.2.0" "scikit-learn==1.9.1" "numpy==2.4.6" "scipy==1.17.1"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
