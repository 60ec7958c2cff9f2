"""Test error against number of columns on MNIST odd/even: records, picture, tables.

    python examples/reproduce/frontier --data DATA [--docs FOLDER] [--seeds 0 1 2 3 4]
                                       [--likenesses rbf cosine jittered] [--sizes 25 50 …]

Every seed and likeness that is measured replaces its records in frontier.csv; the picture and
the tables are made from all records there. ``--seeds`` with nothing behind it makes them anew
without measuring. Without ``--data`` the digits of scikit-learn are used.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.append(str(Path(__file__).resolve().parents[1]))

from frontier_tables import tables
from kernel_values import read_split
from page_tables import refresh
from picture import draw
from results import merged, read_records, write_records
from study import LIKENESSES, SIZES, Study


def main() -> None:
    """Measure what was asked for, then write the picture and the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", help="folder with the MNIST files")
    parser.add_argument(
        "--docs",
        type=Path,
        default=Path("docs/studies/frontier"),
        help="folder of the page and its records",
    )
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2, 3, 4])
    parser.add_argument("--likenesses", nargs="+", choices=LIKENESSES, default=LIKENESSES)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    path = options.docs / "frontier.csv"
    records = read_records(path)
    for seed in options.seeds:
        split = read_split(options.data, seed)
        for likeness in options.likenesses:
            clock, cpu = time.perf_counter(), time.process_time()
            new = list(Study(split, seed, likeness, sorted(options.sizes)).records())
            records = merged(records, new)
            write_records(path, records)
            print(
                f"seed {seed}, {likeness}: {len(new)} models, "
                f"{time.perf_counter() - clock:.0f} s ({time.process_time() - cpu:.0f} s of CPU)",
                flush=True,
            )
    draw(records, options.docs / "frontier.png")
    refresh(options.docs / "page.md", tables(options.docs))


if __name__ == "__main__":
    main()
