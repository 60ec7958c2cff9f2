#!/usr/bin/env bash
# scikit-learn's SVC with a kernel that is a function remembers no names of columns.
#
# Guess before running: an SVC fitted to a data frame refuses a frame whose columns stand in another
# order, whatever its kernel is, and support_vectors_ has its rows. Seen (scikit-learn 1.9.1, pandas
# 3.1.1, Python 3.11, Linux): with kernel="rbf" this is so. With the function rbf_kernel it has
# neither feature_names_in_ nor n_features_in_, support_vectors_ has the shape (0, 0), and the frame
# in another order is predicted without a word: 25 of 60 labels are others. KernelRidge, which takes
# the same function, refuses the frame.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import numpy as np
import pandas as pd
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
y = X["a"] > 0


class PairKernel:
    """The function on two rows, which KernelRidge wants."""

    def __call__(self, x, z):
        return float(rbf_kernel(x[None], z[None])[0, 0])


found = {}
for name, model in {
    "SVC, rbf": SVC(kernel="rbf", gamma=1 / 3),
    "SVC, function": SVC(kernel=rbf_kernel),
    "KernelRidge, function": KernelRidge(kernel=PairKernel()),
}.items():
    model.fit(X, y)
    try:
        differ = int(np.sum(model.predict(X[["c", "b", "a"]]) != model.predict(X)))
        outcome = f"{differ} of 60 predictions differ"
    except ValueError as error:
        outcome = str(error).partition("\n")[0]
    names = hasattr(model, "feature_names_in_"), hasattr(model, "n_features_in_")
    shape = getattr(model, "support_vectors_", np.empty(0)).shape
    found[name] = (names, outcome, shape)
    print(f"{name}: names and number of features {names}, vectors {shape}; {outcome}")
refused = "The feature names should match those that were passed during fit."
assert found["SVC, rbf"][:2] == ((True, True), refused), found
assert found["KernelRidge, function"][:2] == ((True, True), refused), found
assert found["SVC, function"] == ((False, False), "25 of 60 predictions differ", (0, 0)), found
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "scikit-learn==1.9.1" "pandas==3.1.1" "numpy==2.4.6"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
