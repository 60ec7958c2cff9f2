#!/usr/bin/env bash
# An MPS file with the cost 0.0029: the double that CBC has is not the one that the file says.
#
# Guess before running: CBC reads the decimals of an MPS file to the nearest double, as strtod does, also
# with 17 digits. Seen (cbcbox 2.935, Python 3.11, Linux): of the numbers 0.001 to 0.999 are 144 off, of 2000
# of 16 or 17 digits 625, by one or two units in the last place: 0.0029 is 0.0029000000000000002. Numbers with
# four digits before the point and two behind are right. HiGHS reads all to the bit (highspy 1.16.0).
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import ctypes
import random
import sys
from pathlib import Path

import cbcbox
import highspy

path = Path(sys.argv[1]) / "costs.mps"
lib = Path(cbcbox.__file__).parent / "cbc_dist" / "lib" / "libCbc.so"
cbc = ctypes.CDLL(str(lib))
cbc.Cbc_newModel.restype = ctypes.c_void_p
cbc.Cbc_getObjCoefficients.restype = ctypes.POINTER(ctypes.c_double)


def file_of(costs):
    lines = [f" x{j} cost {text}\n x{j} r 1\n" for j, text in enumerate(costs)]
    path.write_text(
        "NAME costs\nROWS\n N cost\n G r\nCOLUMNS\n" + "".join(lines) + "RHS\n V r 1\nBOUNDS\nENDATA\n"
    )


def by_cbc(costs):
    file_of(costs)
    model = ctypes.c_void_p(cbc.Cbc_newModel())
    cbc.Cbc_setLogLevel(model, 0)
    assert cbc.Cbc_readMps(model, str(path).encode()) == 0
    return cbc.Cbc_getObjCoefficients(model)[: len(costs)]


def by_highs(costs):
    file_of(costs)
    model = highspy.Highs()
    model.silent()
    model.readModel(str(path))
    return list(model.getLp().col_cost_)


draw = random.Random(0)
short = [f"0.{k:03d}" for k in range(1, 1000)]
long = [repr(draw.uniform(0, 1)) for _ in range(2000)]
large = [f"{draw.randint(1000, 9999)}.{draw.randint(10, 99)}" for _ in range(2000)]
off = {}
for name, costs in (("short", short), ("long", long), ("large", large)):
    off[name] = [t for t, v in zip(costs, by_cbc(costs)) if v != float(t)]
    assert [t for t, v in zip(costs, by_highs(costs)) if v != float(t)] == []
    print(f"{name}: {len(off[name])} of {len(costs)} are off, such as {off[name][:3]}")
value = by_cbc(["0.0029"])[0]
print("0.0029 is", repr(value))
assert value != 0.0029 and abs(value - 0.0029) < 1e-18
assert off["long"] and not off["large"]
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "cbcbox==2.935" "highspy==1.16.0"
"$folder/venv/bin/python" "$folder/run.py" "$folder"
echo "as described"
