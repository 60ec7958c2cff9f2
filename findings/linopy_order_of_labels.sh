#!/usr/bin/env bash
# linopy adds variables by place and numbers by label, in one model.
#
# Guess before running: x over the labels a, b plus anything over b, a is aligned by label, as xarray, on which
# linopy is built, does. Seen (linopy 0.10.1, xarray 2026.9.0, Python 3.11, Linux): a Series or DataArray as
# coefficient, term or right-hand side is aligned by label; a second variable is aligned by its place, so that
# x + y is x[a] + y[b]. A LinopySemanticsWarning is given in every case, right or wrong, and no error.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import warnings

import linopy
import pandas as pd

forward, back = pd.Index(["a", "b"], name="i"), pd.Index(["b", "a"], name="i")
numbers = pd.Series([1.0, 2.0], index=back)
model = linopy.Model()
x = model.add_variables(coords=[forward], name="x")
y = model.add_variables(coords=[back], name="y")
label = {int(v): f"x[{i}]" for i, v in zip(x.labels.i.values, x.labels.values)}
label |= {int(v): f"y[{i}]" for i, v in zip(y.labels.i.values, y.labels.values)}
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    total, scaled, row = x + y, x * numbers, x >= numbers
kinds = {type(warning.message).__name__ for warning in said}
pairs = [" + ".join(label[int(v)] for v in total.vars.sel(i=i).values.ravel()) for i in total.vars.i.values]
coefficients = {str(i): float(scaled.coeffs.sel(i=i).squeeze()) for i in ("a", "b")}
sides = {str(i): float(row.rhs.sel(i=i)) for i in ("a", "b")}
print(pairs, coefficients, sides, kinds)
assert pairs == ["x[a] + y[b]", "x[b] + y[a]"]
assert coefficients == sides == {"a": 2.0, "b": 1.0}
assert kinds == {"LinopySemanticsWarning"}
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "linopy==0.10.1" "xarray==2026.9.0" "pandas==3.1.1" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
