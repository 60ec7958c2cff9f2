#!/usr/bin/env bash
# With three classes, LinearSVC's class_weight weighs the rows of one class in each of its problems.
#
# Guess before running: LinearSVC solves one problem for each class against the others, and
# class_weight multiplies C of every row by the weight of its class, as the same numbers given as
# sample_weight do ("set the parameter C of class i to class_weight[i]*C"). Seen (scikit-learn 1.9.1,
# Python 3.11, Linux): with two classes it is so. With three, the problem of class k weighs the rows
# of class k by class_weight[k] and all others by 1: its coefficients are those of these weights to
# 1e-6, and 0.3 away from those of the sample weights. LogisticRegression with solver="lbfgs" weighs
# every row, with liblinear (two classes) too.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
score = X @ [1.0, -1.0, 0.5] + rng.normal(size=200)
weights = {0: 1.0, 1: 4.0, 2: 2.0}
options = {"tol": 1e-10, "max_iter": 10**6}


def apart(one, other):
    return float(np.abs(one - other).max())


for classes in (2, 3):
    y = np.digitize(score, [0.0] if classes == 2 else [-0.7, 0.7])
    by_class = LinearSVC(class_weight={k: weights[k] for k in range(classes)}, **options).fit(X, y)
    by_row = LinearSVC(**options).fit(X, y, sample_weight=[weights[k] for k in y])
    distance = apart(by_class.coef_, by_row.coef_)
    print(f"{classes} classes: class_weight and sample_weight differ by {distance:.1e}")
    assert (distance < 1e-5) == (classes == 2), distance
for k in range(3):
    own = np.where(y == k, weights[k], 1.0)
    alone = LinearSVC(**options).fit(X, y == k, sample_weight=own)
    distance = apart(by_class.coef_[k], alone.coef_[0])
    print(f"class {k} against weights of 1 for the others: {distance:.1e}")
    assert distance < 1e-5, distance
given = {"tol": 1e-10, "max_iter": 10**5}
logistic = LogisticRegression(class_weight=weights, **given).fit(X, y)
rows = LogisticRegression(**given).fit(X, y, sample_weight=[weights[k] for k in y])
print(f"LogisticRegression, 3 classes: {apart(logistic.coef_, rows.coef_):.1e}")
assert apart(logistic.coef_, rows.coef_) < 1e-5
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "scikit-learn==1.9.1" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
