#!/usr/bin/env bash
# HiGHS keeps its scheduler for each thread, not for the process.
#
# Guess before running: HiGHS documents one global scheduler, so after a run with threads=2 every
# further run of the process with threads=1 is refused.
# Seen (highspy 1.15.1 and 1.16.0, Python 3.11, Linux): it is refused in the thread that ran before,
# with return code kError and model status kNotset, and solved in a new thread of the same process.
# After resetGlobalScheduler(True) the first thread solves with one thread, too.
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cat > "$folder/run.py" <<'PY'
import threading

import highspy


def solved(threads: int) -> tuple[str, str]:
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", threads)
    highs.addVar(0.0, 4.0)
    highs.changeColCost(0, -1.0)
    code = highs.run()
    return code.name, highs.getModelStatus().name


found = {"two threads": solved(2), "then one": solved(1)}
other = threading.Thread(target=lambda: found.update({"one, in a new thread": solved(1)}))
other.start()
other.join()
found["one again, in the first"] = solved(1)
highspy.Highs.resetGlobalScheduler(True)
found["one, after a reset"] = solved(1)
for name, result in found.items():
    print(f"{name}: {result[0]}, {result[1]}")
good, refused = ("kOk", "kOptimal"), ("kError", "kNotset")
assert list(found.values()) == [good, refused, good, refused, good], found
PY
for version in 1.15.1 1.16.0; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet --disable-pip-version-check \
        "highspy==$version" "numpy==2.4.6"
    echo "highspy $version"
    "$folder/$version/bin/python" "$folder/run.py"
done
echo "as described"
