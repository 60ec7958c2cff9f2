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

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from page_tables import refresh
from study_data import read_data
from study_jobs import Measured, study_options
from transform_models import gini_records, surface, surface_records
from transform_page import (
    draw_errors,
    draw_functions,
    draw_gains,
    draw_surfaces,
    draw_views,
    picture_models,
    tables,
)

from cgboost.studies.datasets import data_folder

STUDIES = ("surface", "gini", "pictures")


def main() -> None:
    """Measure what was asked for, then draw the pictures and refresh the page."""
    seeds = list(range(10))
    given = study_options(__doc__, "transform_regression", STUDIES, seeds=seeds)
    docs = given.docs
    measured = Measured(docs / "transform_results.csv")
    if "surface" in given.studies:
        measured.extend(surface_records(surface(), given.seeds, measured.known()))
    if "gini" in given.studies:
        sets = read_data(data_folder(given.data))
        measured.extend(gini_records(sets, given.seeds, measured.known()))
    if "pictures" in given.studies:
        data = surface()
        models = picture_models(data)
        draw_surfaces(models, data, docs / "transform_surface.png")
        draw_views(models["initial"], data, docs / "transform_views.png")
        draw_errors(measured, docs / "transform_errors.png")
        sets = list(read_data(data_folder(given.data)))
        draw_gains(sets, docs / "transform_gains.png")
        draw_functions(sets[0], docs / "transform_functions.png")
    refresh(docs / "page.md", tables(docs))


if __name__ == "__main__":
    main()
