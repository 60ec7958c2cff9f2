"""Test error against number of columns on MNIST odd/even: records, picture, tables.

    python examples/reproduce/frontier --data DATA [--docs FOLDER] [--seeds 0 1 2 3 4]
                                       [--likenesses rbf cosine jittered] [--sizes 25 50 …]

Every seed and likeness that is measured replaces its records in frontier.csv; the picture and
the tables are made from all records there. ``--seeds`` with nothing behind it makes them anew
without measuring. Without ``--data`` the digits of scikit-learn are used.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from frontier_models import LIKENESSES, SIZES, Study
from frontier_page import draw, merged, records_of, tables, with_free_centres
from kernel_values import read_split
from page_tables import refresh
from study_jobs import study_options


def main() -> None:
    """Measure what was asked for, then write the picture and the tables."""
    given = study_options(__doc__, "frontier", likenesses=LIKENESSES, sizes=list(SIZES))
    store = records_of(given.docs)
    for seed in given.seeds:
        split = read_split(given.data, seed)
        for likeness in given.likenesses:
            clock, cpu = time.perf_counter(), time.process_time()
            new = list(Study(split, seed, likeness, sorted(given.sizes)).records())
            store.replace(merged(store.rows, new))
            print(
                f"seed {seed}, {likeness}: {len(new)} models, "
                f"{time.perf_counter() - clock:.0f} s ({time.process_time() - cpu:.0f} s of CPU)",
                flush=True,
            )
    draw(with_free_centres(store.rows, given.docs), given.docs / "frontier.png")
    refresh(given.docs / "page.md", tables(given.docs))


if __name__ == "__main__":
    main()
