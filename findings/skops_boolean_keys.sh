#!/usr/bin/env bash
# skops loads a dictionary with the keys False and True as one with the key True alone.
#
# Guess before running: keys come back as they were, or dumping refuses what it cannot store.
# Seen (skops 0.16.0, scikit-learn 1.9.1, Python 3.11): keys are written as text and made again by
# their type, and bool("False") is True. So class_weight={False: 1.0, True: 9.0} of a fitted
# scikit-learn classifier comes back as {True: 9.0}, without an error or a warning. Integers and
# floats come back as they were.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "skops==0.16.0" "scikit-learn==1.9.1" "numpy==2.4.6"
cat > "$folder/run.py" <<'PY'
import warnings

import numpy as np
import skops.io
from sklearn.linear_model import LogisticRegression

warnings.simplefilter("error")
X, y = np.arange(8.0)[:, None], np.arange(8) > 3
model = LogisticRegression(class_weight={False: 1.0, True: 9.0}).fit(X, y)
loaded = skops.io.loads(skops.io.dumps(model))
print("bool :", model.class_weight, "->", loaded.class_weight)
assert loaded.class_weight == {True: 9.0}
for keys in ({0: 1.0, 1: 9.0}, {0.5: 1.0, 1.5: 9.0}):
    back = skops.io.loads(skops.io.dumps(keys))
    print(f"{type(next(iter(keys))).__name__:5}:", keys, "->", back)
    assert back == keys
    assert list(map(type, back)) == list(map(type, keys))
PY
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
