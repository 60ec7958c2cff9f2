#!/usr/bin/env bash
# An LP file with the objective "7 + 2 x + 3 y": CBC makes a variable of the 7 and says "optimal".
#
# Guess before running: a constant in front of the terms is read as at their end, or refused with the line.
# Seen (CBC 2.10.3 of PuLP 3.3.2, and the newer one of cbcbox 2.935, Python 3.11, Linux): a third variable is
# there, all names are replaced by x0, x1, x2, and an optimum of another model is called optimal: 10 or 12
# for 17. "2 x - -3 y" becomes unbounded or -3e20 for 10. The constant at the end is read by the newer one
# (17) and left out by the older (10). HiGHS reads all three as they are meant (highspy 1.16.0).
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import re
import subprocess
import sys
from pathlib import Path

import cbcbox
import highspy
import pulp

folder = Path(sys.argv[1])
OLD = Path(pulp.__file__).parent / "solverdir" / "cbc" / "linux" / "i64" / "cbc"
NEW = Path(cbcbox.__file__).parent / "cbc_dist" / "bin" / "cbc"


def by_cbc(program, path):
    answer = folder / "answer.txt"
    command = [str(program), str(path), "-solve", "-solu", str(answer), "-quit"]
    subprocess.run(command, capture_output=True, check=False)
    first, *rows = answer.read_text().splitlines()
    return float(re.search(r"value\s+(\S+)", first)[1]), first.split(" - ")[0], len(rows)


def by_highs(path):
    model = highspy.Highs()
    model.silent()
    model.readModel(str(path))
    model.run()
    return model.getInfo().objective_function_value


found = {}
for name, objective in (("end", "2 x + 3 y + 7"), ("front", "7 + 2 x + 3 y"), ("signs", "2 x - -3 y")):
    path = folder / f"{name}.lp"
    path.write_text(f"Minimize\n obj: {objective}\nSubject To\n r: x + y >= 5\nEnd\n")
    found[name] = by_highs(path), by_cbc(OLD, path), by_cbc(NEW, path)
    print(f"{objective}: HiGHS {found[name][0]:g}, CBC 2.10.3 {found[name][1]}, newer {found[name][2]}")
assert [each[0] for each in found.values()] == [17, 17, 10]
assert [each[0] for each in found["end"][1:]] == [10, 17]
for old_or_new in found["front"][1:]:
    value, status, n_variables = old_or_new
    assert value != 17 and status == "Optimal" and n_variables == 3
assert found["signs"][1][0] != 10 and found["signs"][2][0] < -1e20
PY
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pulp==3.3.2" "cbcbox==2.935" "highspy==1.16.0"
"$folder/venv/bin/python" "$folder/run.py" "$folder"
echo "as described"
