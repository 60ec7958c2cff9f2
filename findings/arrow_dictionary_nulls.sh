#!/usr/bin/env bash
# NumPy's array of an Arrow table has a category where a dictionary column has nothing.
#
# Guess before running: a missing value of a dictionary-encoded column (what a pandas Categorical
# becomes) is None or nan in NumPy's array of the table, as it is for plain columns. Seen (pyarrow
# 26.0.1, scikit-learn 1.9.1, Python 3.11, Linux): chunked columns, and so np.asarray(table), have
# the last entry of the dictionary there; one chunk alone has the missing value. scikit-learn, which
# takes such tables, therefore fits numbers that nobody gave, without its error about NaN.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import numpy as np
import pyarrow as pa
from sklearn.linear_model import LinearRegression

plain = pa.array([1.0, None, 3.0, 5.0])
coded = plain.dictionary_encode()
found = {}
for name, column in (("plain", plain), ("dictionary", coded)):
    table = pa.table({"x": column})
    try:
        LinearRegression().fit(table, [1.0, 2.0, 3.0, 4.0])
        fit = "fitted"
    except ValueError as error:
        fit = str(error).partition("\n")[0]
    found[name] = (table["x"].null_count, np.asarray(table)[:, 0].tolist(), fit)
    print(f"{name}: {found[name][0]} null, as an array {found[name][1]}, {fit}")
one = coded.to_numpy(zero_copy_only=False)
print(f"one chunk of the dictionary: {one.tolist()}")
assert np.isnan(found["plain"][1][1]) and found["plain"][2] == "Input X contains NaN.", found
assert found["dictionary"] == (1, [1.0, 5.0, 3.0, 5.0], "fitted"), found
assert np.isnan(one[1]), one
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "pyarrow==26.0.1" "scikit-learn==1.9.1" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
