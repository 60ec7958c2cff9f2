#!/usr/bin/env bash
# STreeD's trees of numbers are optimal among five thresholds a feature, and say "optimal".
#
# Guess before running: on floats, STreeDClassifier tries every threshold, so that depth 1 is at least as good as the
# best stump. Seen (pystreed 1.4.0, Python 3.11, Linux), 400 rows of one feature, of which those above .93 have another
# class: one threshold separates them, its trees of depth 1 and 2 err on 32 rows, where a constant errs on 35, and
# is_optimal() is True. Features are cut at five quantiles first (n_thresholds=5); with 400 the error is 0.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import numpy as np
from pystreed import STreeDClassifier

rng = np.random.default_rng(0)
X = rng.random((400, 1))
y = (X[:, 0] > 0.93).astype(int)
print("a constant errs on", y.sum(), "rows; x > 0.93 on 0")
for depth in (1, 2):
    model = STreeDClassifier(max_depth=depth).fit(X, y)
    errors = int((model.predict(X) != y).sum())
    print(f"depth {depth}: {errors} errors, optimal: {model.fit_result.is_optimal()}")
    assert errors == 32 and model.fit_result.is_optimal()
model = STreeDClassifier(max_depth=1, n_thresholds=400).fit(X, y)
print("400 thresholds:", int((model.predict(X) != y).sum()), "errors")
assert (model.predict(X) == y).all()
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pystreed==1.4.0" "scikit-learn==1.9.1" "numpy==2.4.6" "pandas==3.1.1"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
