#!/usr/bin/env bash
# scikit-learn explains a model of a polars frame by permutations, and not by partial dependence.
#
# Guess before running: what fits, predicts and permutes a polars frame also draws its partial
# dependence. Seen (scikit-learn 1.9.1, polars 2.1.0, Python 3.11, Linux): LinearRegression takes the
# frame and its names, permutation_importance gives the numbers of the pandas frame, and
# partial_dependence raises AttributeError, since it asks the type of a column for `kind`, which
# NumPy's types have and those of polars do not.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import warnings

import numpy as np
import pandas as pd
import polars as pl
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LinearRegression

warnings.simplefilter("ignore")
values = {"a": np.linspace(0.0, 1.0, 40), "b": np.cos(np.arange(40.0))}
y = values["a"] + 2.0 * values["b"]
found = {}
for name, X in (("pandas", pd.DataFrame(values)), ("polars", pl.DataFrame(values))):
    model = LinearRegression().fit(X, y)
    shares = permutation_importance(model, X, y, random_state=0).importances_mean
    try:
        average = partial_dependence(model, X, ["a"])["average"]
        outcome = f"{average[0, -1] - average[0, 0]:.2f}"
    except AttributeError as error:
        outcome = f"AttributeError: {error}"
    found[name] = (list(model.feature_names_in_), shares.round(6).tolist(), outcome)
    print(f"{name}: names {found[name][0]}, permutations {found[name][1]}, effect of a {outcome}")
assert found["pandas"][:2] == found["polars"][:2], found
assert found["pandas"][2] == "1.00", found
assert found["polars"][2] == "AttributeError: 'Float64' object has no attribute 'kind'", found
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "scikit-learn==1.9.1" "polars==2.1.0" "pandas==3.1.1" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
