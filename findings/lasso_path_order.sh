#!/usr/bin/env bash
# skglm's path keeps the order of the alphas and has a row for the intercept; its peers sort.
#
# Guess before running: celer_path and skglm's Lasso.path sort the alphas from the largest to the
# smallest, as scikit-learn's lasso_path does, with one row of coefficients for each feature. Seen
# (scikit-learn 1.9.1, celer 0.7.4, skglm 0.5, Python 3.11, Linux) with rising alphas: celer sorts them;
# skglm keeps the order that was given, and its array has one row more, the intercept's. Code that
# moves from one to the other pairs coefficients with the wrong alphas, without an error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import numpy as np
from celer import celer_path
from skglm import Lasso
from sklearn.linear_model import lasso_path

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 8))
X -= X.mean(axis=0)
y = X @ [2, -1, 0, 0, 0, 0, 0, 0] + rng.normal(size=60)
y -= y.mean()
given = np.array([0.01, 0.1, 0.5, 1.0])
found = {
    "scikit-learn": lasso_path(X, y, alphas=given)[:2],
    "celer": celer_path(X, y, "lasso", alphas=given)[:2],
    "skglm": Lasso().path(X, y, given)[:2],
}
for name, (alphas, coefs) in found.items():
    print(f"{name}: alphas {alphas}, coefficients {coefs.shape}, sizes {abs(coefs).sum(axis=0)}")
for name in ("scikit-learn", "celer"):
    alphas, coefs = found[name]
    assert (alphas == given[::-1]).all() and coefs.shape == (8, 4)
alphas, coefs = found["skglm"]
assert (alphas == given).all() and coefs.shape == (9, 4)
assert np.allclose(coefs[:8, ::-1], found["scikit-learn"][1], atol=1e-3)
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "celer==0.7.4" "skglm==0.5" "scikit-learn==1.9.1" "numpy==2.4.6"
"$folder/venv/bin/python" -W ignore "$folder/run.py"
echo "as described"
