"""The choice of the defaults, compared with those of SVC: records, picture, tables.

    python examples/reproduce/defaults --data DATA [--docs FOLDER] [--again] [--boosters]

A model without a parameter is compared with others and with scikit-learn's SVC and SVR on
standardised features. ``--again`` measures the models of kernels, ``--boosters`` what is missing of
those of stumps and trees; without them, the picture and the tables are made from the records that
there are.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

import default_boosters
from default_models import measured, read_sets
from default_page import draw, tables
from page_tables import refresh
from study_jobs import MADE, Measured, Record, study_options

from cgboost.inspection.report.page import made_with
from cgboost.studies.datasets import data_folder


def main() -> None:
    """Measure if asked, then draw the picture and refresh the page."""
    given = study_options(__doc__, "defaults", again=False, boosters=False)
    records = Measured(given.docs / "defaults.csv")
    if given.again:
        line = made_with("numpy", "scipy", "scikit-learn", "highspy")
        new = [Record(MADE, line, "", 0, ())]
        for data in read_sets(data_folder(given.data)):
            new += measured(data)
            print(f"{data.name}: {sum(r.seconds for r in new):.0f} s of CPU so far", flush=True)
        records.replace(new)
    if given.boosters:
        boosters = Measured(given.docs / "boosters.csv")
        boosters.extend(default_boosters.measured(data_folder(given.data), boosters.known()))
    draw(records, given.docs / "defaults.png")
    refresh(given.docs / "page.md", tables(given.docs))


if __name__ == "__main__":
    main()
