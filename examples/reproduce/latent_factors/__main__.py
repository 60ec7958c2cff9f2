"""Boosted Latent Factors, the paper's study on real data: records, pictures, tables.

    python examples/reproduce/latent_factors --data DATA [--docs FOLDER] [--splits 100]
                                             [--studies tables curves dorothea pictures]

* ``tables``: Tables 1 to 4 and Figure 4, blf_splits.csv;
* ``curves``: Figure 3, blf_curves.csv;
* ``dorothea``: Figures 5 and 6, blf_curves.csv too;
* ``pictures``: Figures 1 and 2.

Splits that these files have already are not measured again: an interrupted run goes on where it
was, and without the files everything is measured anew. The tables and the pictures of Figures 3 to
6 are made from the files; ``--studies`` with nothing behind it makes these alone, without
``--data``.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.append(str(Path(__file__).resolve().parents[1]))

from benchmark import error_curves, table_records
from benchmark_data import read_data
from drawings import draw_factors, draw_objectives, draw_results
from latent_tables import tables
from page_tables import refresh
from records import SPLITS, Curve, Record, Store
from thrombin import auc_curves, read_thrombin

from cgboost.studies.datasets import data_folder

STUDIES = ("tables", "curves", "dorothea", "pictures")


def main() -> None:
    """Measure what was asked for, then draw the pictures and refresh the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder with uci/ and dorothea/")
    parser.add_argument(
        "--docs",
        type=Path,
        default=Path("docs/studies/latent_factors"),
        help="folder of the page and its records",
    )
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--studies", nargs="*", choices=STUDIES, default=STUDIES)
    options = parser.parse_args()
    splits = Store(options.docs / "blf_splits.csv", Record)
    curves = Store(options.docs / "blf_curves.csv", Curve)
    if options.studies:
        folder, clock, cpu = data_folder(options.data), time.perf_counter(), time.process_time()
        if "tables" in options.studies:
            splits.extend(table_records(read_data(folder), options.splits, splits.known()))
        if "curves" in options.studies:
            wbc = read_data(folder)["WBC"]
            curves.extend(error_curves(wbc, options.splits, curves.known()))
        if "dorothea" in options.studies:
            curves.extend(auc_curves(read_thrombin(folder), options.splits, curves.known()))
        if "pictures" in options.studies:
            data = read_data(folder)
            draw_objectives(data["Diabetes"], options.docs / "blf_objectives.png")
            draw_factors(data["Cancer"], options.docs / "blf_factors.png")
        wall, spent = time.perf_counter() - clock, time.process_time() - cpu
        print(f"{wall:.0f} s ({spent:.0f} s of CPU)")
    draw_results(splits.rows, curves.rows, options.docs)
    refresh(options.docs / "page.md", tables(options.docs))


if __name__ == "__main__":
    main()
