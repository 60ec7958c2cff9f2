"""The boosting methods against what a Python user would pick today; ratios from one run.

    python benchmarks/boosters.py [adaboost] [logitboost] [gradient_boosting] [l2boost] [oga]

Each case lives in ``benchmarks/booster_cases/`` and prints its own line. One thread.
"""

from __future__ import annotations

import argparse
import os
import runpy
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

CASES = Path(__file__).parent / "booster_cases"


def main() -> None:
    """Run the cases that were asked for, or all."""
    known = sorted(path.stem for path in CASES.glob("*.py"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(known))
    wanted = parser.parse_args().cases or known
    for unknown in sorted(set(wanted) - set(known)):
        parser.error(f"no case is called {unknown!r}; there are {', '.join(known)}")
    for case in wanted:
        runpy.run_path(str(CASES / f"{case}.py"), run_name="__main__")


if __name__ == "__main__":
    main()
