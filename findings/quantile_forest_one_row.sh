#!/usr/bin/env bash
# quantile-forest keeps one row of each leaf, drawn at random, unless it is told otherwise.
#
# Guess before running: RandomForestQuantileRegressor keeps all rows of its leaves (Meinshausen, 2006), so that
# min_samples_leaf makes quantiles smooth. Seen (quantile-forest 1.4.2, Python 3.11, Linux): max_samples_leaf is 1 by
# default. One tree whose leaf has 1000 standard normal rows gives one number for all three quantiles .1, .5 and .9,
# another one for another random_state; with 100 trees the quantiles are those of 100 draws. With
# max_samples_leaf=None they are those of the rows, -1.26 and 1.23 here.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import numpy as np
from quantile_forest import RandomForestQuantileRegressor

rng = np.random.default_rng(0)
X, y = np.zeros((1000, 1)), rng.standard_normal(1000)
levels = [0.1, 0.5, 0.9]


def quantiles(n_trees, seed, **options):
    forest = RandomForestQuantileRegressor(
        n_estimators=n_trees, bootstrap=False, min_samples_leaf=200, random_state=seed, **options
    )
    return forest.fit(X, y).predict(X[:1], quantiles=levels)[0]


single = [quantiles(1, seed) for seed in range(5)]
for found in single:
    print("one tree:", found)
    assert found[0] == found[1] == found[2] and found[0] in y
assert len({found[0] for found in single}) > 1
every = quantiles(1, 0, max_samples_leaf=None)
print("one tree, all rows:", every, "of the rows:", np.quantile(y, levels))
assert np.abs(every - np.quantile(y, levels)).max() < 1e-9
many = [quantiles(100, seed) for seed in range(5)]
spread = np.ptp([found[2] for found in many])
print(f"100 trees: the .9 quantile of five seeds varies by {spread:.2f}")
assert spread > 0.1
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "quantile-forest==1.4.2" "scikit-learn==1.9.1" "numpy==2.4.6" "scipy==1.17.1"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
