"""Ensembles thinned to 15 % of their members: what is lost, by four methods.

    python -m venv PEERS
    PEERS/bin/python -m pip install . -r benchmarks/thinning/requirements.txt
    PEERS/bin/python benchmarks/thinning --data DATA [--seeds 0 1 2 3 4] [--sets adult ...]
        [--methods whole ThinnedEnsemble ...]
    python benchmarks/thinning --page

DATA is a folder with adult, coil2000 and uci. What thinning.csv has is not measured again;
``--methods`` that are named and missing are measured for ensembles fitted anew.
``--page`` only makes the tables and the picture of the page.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "reproduce"))

from study_jobs import study_options
from thinning_data import DATA
from thinning_methods import METHODS
from thinning_page import draw, measured, refresh_page
from thinning_runs import measure

from cgboost.inspection.report.page import made_with

PACKAGES = "numpy", "scipy", "scikit-learn", "highspy", "lightgbm"


def main() -> None:
    """Measure what is missing, then make the page."""
    given = study_options(__doc__, "thinning", sets=tuple(DATA), methods=tuple(METHODS), page=False)
    given.docs.mkdir(parents=True, exist_ok=True)
    store = measured(given.docs)
    if not given.page:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            measure(store, given.data, given.seeds, given.sets, given.methods)
        (given.docs / "thinning.txt").write_text(made_with(*PACKAGES) + "\n", encoding="utf-8")
    draw(store.rows, given.docs / "thinning.png")
    refresh_page(given.docs)


if __name__ == "__main__":
    main()
