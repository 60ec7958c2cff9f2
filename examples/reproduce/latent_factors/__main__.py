"""Boosted Latent Factors, the paper's study on real data: records, pictures, tables.

    python examples/reproduce/latent_factors --data DATA [--docs FOLDER] [--splits 100]
                                             [--studies tables curves dorothea outliers
                                                        penalty ranking shared pictures]

* ``tables``: Tables 1 to 4 and Figure 4, blf_splits.csv;
* ``curves``: Figure 3, blf_curves.csv;
* ``dorothea``: Figures 5 and 6, blf_curves.csv too;
* ``outliers``: wide data with outliers, blf_outliers.csv;
* ``penalty``: explicit regularisation, blf_penalty.csv, 20 splits;
* ``ranking``: the ranking loss, blf_ranking.csv, 50 splits;
* ``shared``: factors that outputs share, blf_shared.csv, 10 splits;
* ``pictures``: Figures 1 and 2.

Splits that these files have already are not measured again: an interrupted run goes on where it
was, and without the files everything is measured anew. The tables and the pictures of Figures 3 to
6 are made from the files; ``--studies`` with nothing behind it makes these alone, without
``--data``.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from latent_models import Curve, Record, auc_curves, error_curves, known, read_data, table_records
from latent_outliers import outlier_records
from latent_page import draw_factors, draw_objectives, draw_results, tables
from latent_ranking import ranking_records
from latent_ridge import ridge_records
from latent_shared import shared_records
from page_tables import refresh
from study_data import read_dorothea
from study_jobs import Measured, Store, study_options

from cgboost.studies.datasets import data_folder

STUDIES = ("tables", "curves", "dorothea", "outliers", "penalty", "ranking", "shared", "pictures")
PENALTY_SPLITS, RANKING_SPLITS, SHARED_SPLITS = 20, 50, 10


def main() -> None:
    """Measure what was asked for, then draw the pictures and refresh the page."""
    given = study_options(__doc__, "latent_factors", STUDIES, splits=100)
    docs = given.docs
    splits, curves = Store(docs / "blf_splits.csv", Record), Store(docs / "blf_curves.csv", Curve)
    folder = data_folder(given.data) if given.studies else None
    data = (
        read_data(folder)
        if {"tables", "curves", "penalty", "ranking", "pictures"} & set(given.studies)
        else {}
    )
    if "tables" in given.studies:
        for rows in table_records(data, given.splits, known(splits)):
            splits.extend(rows)
    if "curves" in given.studies:
        for rows in error_curves(data["WBC"], given.splits, known(curves)):
            curves.extend(rows)
    if "dorothea" in given.studies:
        thrombin = read_dorothea(folder, "train", "valid")
        for rows in auc_curves(thrombin, given.splits, known(curves)):
            curves.extend(rows)
    if "outliers" in given.studies:
        moved = Measured(docs / "blf_outliers.csv")
        for found in outlier_records(folder, given.splits, moved.known()):
            moved.extend(found)
    if "penalty" in given.studies:
        penalised = Measured(docs / "blf_penalty.csv")
        for found in ridge_records(data, min(given.splits, PENALTY_SPLITS), penalised.known()):
            penalised.extend(found)
    if "ranking" in given.studies:
        ranked = Measured(docs / "blf_ranking.csv")
        for found in ranking_records(data, min(given.splits, RANKING_SPLITS), ranked.known()):
            ranked.extend(found)
    if "shared" in given.studies:
        together = Measured(docs / "blf_shared.csv")
        for found in shared_records(folder, min(given.splits, SHARED_SPLITS), together.known()):
            together.extend(found)
    if "pictures" in given.studies:
        draw_objectives(data["Diabetes"], docs / "blf_objectives.png")
        draw_factors(data["Cancer"], docs / "blf_factors.png")
    draw_results(splits.rows, curves.rows, docs)
    refresh(docs / "page.md", tables(docs))


if __name__ == "__main__":
    main()
