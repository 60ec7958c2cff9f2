#!/usr/bin/env bash
# A missing word of an ARFF file is a word to SciPy, and one that the file does not list.
#
# Guess before running: "?" in a nominal attribute is read as something missing (None, or an empty text), as
# it is nan in a numeric one. Seen (SciPy 1.17.1, liac-arff 2.5.0, Python 3.11, Linux): scipy.io.arff gives
# b'?', a value that the attribute does not have by the file's own head and by the reader's meta data, so that
# an encoder makes a category of it; liac-arff gives None in both attributes.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import io
import math

import arff
from scipy.io.arff import loadarff

TEXT = """@relation small
@attribute colour {red,blue}
@attribute size numeric
@data
red,1
?,2
blue,?
"""
rows, meta = loadarff(io.StringIO(TEXT))
other = arff.loads(TEXT)["data"]
print("scipy.io.arff:", rows.tolist(), "values of colour:", meta["colour"][1])
print("liac-arff:", other)
assert rows["colour"].tolist() == [b"red", b"?", b"blue"] and meta["colour"][1] == ("red", "blue")
assert math.isnan(rows["size"][2])
assert other == [["red", 1.0], [None, 2.0], ["blue", None]]
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "scipy==1.17.1" "numpy==2.4.6" "liac-arff==2.5.0"
"$folder/venv/bin/python" "$folder/run.py"
echo "as described"
