#!/usr/bin/env bash
# celer's classes with cross-validation cannot be constructed beside scikit-learn 1.9.
#
# Guess before running: celer 0.7.4 asks for scikit-learn without an upper limit, so that what fits
# alone (Lasso, ElasticNet, LogisticRegression) also works with cross-validation. Seen (celer 0.7.4,
# scikit-learn 1.9.1, Python 3.11, Linux): the single models fit; LassoCV, ElasticNetCV, GroupLassoCV
# and MultiTaskLassoCV raise a TypeError when they are made, since the base class has lost n_alphas,
# and MultiTaskLasso raises an AttributeError in fit. pip installs both without a word.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import celer
import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 8))
y = X @ [2, -1, 0, 0, 0, 0, 0, 0] + rng.normal(size=60)
for model, target in (
    (celer.Lasso(0.1), y),
    (celer.ElasticNet(0.1), y),
    (celer.LogisticRegression(), np.sign(y)),
):
    assert np.isfinite(model.fit(X, target).coef_).all()
    print(f"{type(model).__name__}: fits")
for name, options in (
    ("LassoCV", {}),
    ("ElasticNetCV", {}),
    ("GroupLassoCV", {"groups": 2}),
    ("MultiTaskLassoCV", {}),
):
    try:
        getattr(celer, name)(cv=3, **options)
    except TypeError as error:
        assert "n_alphas" in str(error), error
        print(f"{name}: {error}")
    else:
        raise SystemExit(f"{name} can be made now")
try:
    celer.MultiTaskLasso(0.1).fit(X, np.column_stack([y, -y]))
except AttributeError as error:
    print(f"MultiTaskLasso.fit: {error}")
else:
    raise SystemExit("MultiTaskLasso fits now")
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "celer==0.7.4" "scikit-learn==1.9.1" "numpy==2.4.6"
"$folder/venv/bin/python" -W ignore "$folder/run.py"
echo "as described"
