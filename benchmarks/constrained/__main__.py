"""Equal rates on Adult: models that obey compared with fairlearn's reductions.

    python -m pip install -r benchmarks/constrained/requirements.txt
    python benchmarks/constrained --data DATA [--docs FOLDER]
    python benchmarks/constrained --data DATA --thresholds
    python benchmarks/constrained --page

fairlearn is needed for this alone. Every entrant is asked for rates of positive predictions of men
and women that differ by at most 0.02, on the official training rows; times are CPU times on one
thread, the shortest of three where a fit takes less than five seconds. ``--thresholds`` measures
only thresholds on a fitted LightGBM (lightgbm, and oxonfair for one line). ``--page`` only makes
the tables and the picture of page.md from adult.csv and thresholds.csv.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "examples" / "reproduce"))


def main() -> None:
    """Measure, then make table and picture."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="folder that has adult/")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs" / "studies" / "constrained")
    parser.add_argument("--page", action="store_true", help="do not measure")
    parser.add_argument("--thresholds", action="store_true", help="measure only the second table")
    options = parser.parse_args()
    options.docs.mkdir(parents=True, exist_ok=True)
    if not options.page:
        data = options.data or Path(os.environ["CGBOOST_DATA"])
        if not options.thresholds:
            measure(data, options.docs / "adult.csv")
        from constrained_thresholds import measured

        written(measured(data), options.docs / "thresholds.csv")
    from constrained_page import draw, tables
    from page_tables import refresh

    draw(options.docs)
    refresh(options.docs / "page.md", tables(options.docs))


def measure(data: Path, path: Path) -> None:
    """Fit every entrant, and write what it comes to."""
    from constrained_models import entrants, measured, read_adult

    adult = read_adult(data)
    written((measured(*entrant, adult) for entrant in entrants()), path)


def written(rows: Iterable[dict[str, Any]], path: Path) -> None:
    """Write rows as they come."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = None
        for row in rows:
            if writer is None:
                writer = csv.DictWriter(file, list(row))
                writer.writeheader()
            rounded = {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()}
            writer.writerow(rounded)
            file.flush()


if __name__ == "__main__":
    main()
