"""Transform regression, the paper's study: records, pictures, tables.

    python examples/reproduce/transform_regression --data DATA [--docs FOLDER] [--seeds 0 1 … 9]
                                                   [--studies surface gini pictures]

* ``surface``: the surface of Figures 1 to 3, six methods; needs no data;
* ``gini``: Table 9 for Adult and COIL;
* ``pictures``: the figures, and gains charts.

What transform_results.csv has already is not measured again: an interrupted run goes on where
it was, and without the file everything is measured anew. The tables are made from this file and
from transform_benchmark.csv, which benchmarks/transform_regression.py writes; ``--studies``
with nothing behind it makes the tables alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.append(str(Path(__file__).resolve().parents[1]))

from gini_data import read_data
from gini_figures import draw_functions, draw_gains
from gini_models import gini_records
from page_tables import refresh
from surface import surface, surface_records
from surface_figures import draw_errors, draw_surfaces, draw_views, picture_models
from transform_regression.measured import Measured
from transform_tables import tables

from cgboost.studies.datasets import data_folder

STUDIES = ("surface", "gini", "pictures")


def main() -> None:
    """Measure what was asked for, then draw the pictures and refresh the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder with adult/ and coil2000/")
    parser.add_argument(
        "--docs",
        type=Path,
        default=Path("docs/studies/transform_regression"),
        help="folder of the page and its records",
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(10)))
    parser.add_argument("--studies", nargs="*", choices=STUDIES, default=STUDIES)
    options = parser.parse_args()
    docs, clock, cpu = options.docs, time.perf_counter(), time.process_time()
    measured = Measured(docs / "transform_results.csv")
    if "surface" in options.studies:
        measured.extend(surface_records(surface(), options.seeds, measured.known()))
    if "gini" in options.studies:
        sets = read_data(data_folder(options.data))
        measured.extend(gini_records(sets, options.seeds, measured.known()))
    if "pictures" in options.studies:
        data = surface()
        models = picture_models(data)
        draw_surfaces(models, data, docs / "transform_surface.png")
        draw_views(models["initial"], data, docs / "transform_views.png")
        draw_errors(measured, docs / "transform_errors.png")
        sets = list(read_data(data_folder(options.data)))
        draw_gains(sets, docs / "transform_gains.png")
        draw_functions(sets[0], docs / "transform_functions.png")
    print(f"{time.perf_counter() - clock:.0f} s ({time.process_time() - cpu:.0f} s of CPU)")
    refresh(docs / "page.md", tables(docs))


if __name__ == "__main__":
    main()
