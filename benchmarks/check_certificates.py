"""Certificates that are true are verified, and those that are not are refused.

    PYTHONPATH=. python benchmarks/check_certificates.py --write

208 fits of sixteen kinds and 24 bin packings (those of ``tests/proofs``), each written to a file
and checked by ``examples/check_certificate.py``. Of each certificate two are forged: one digit of
the file is changed, and a false claim is sealed anew. ``--write`` puts a row for each kind into
``benchmarks/check_certificates.csv``: certificates, how many were verified, forged ones, how many
were refused, the mean CPU seconds of writing and of checking one, and the largest gap.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.proofs.certified_fits import KINDS, certified, forgeries, one_digit_off, refusal, sealed
from tests.proofs.packings import certified_packing

FILE = Path(__file__).with_suffix(".csv")
SEEDS, PACKINGS = 13, 24
COLUMNS = ("kind", "n", "verified", "forged", "refused", "write_s", "check_s", "largest_gap")


def measured(
    kind: str, n: int, make: Callable[[int, Path], tuple[Path, Path]], folder: Path
) -> dict[str, Any]:
    """A row of the table."""
    row: dict[str, Any] = dict.fromkeys(COLUMNS[1:], 0) | {"kind": kind, "n": n}
    for seed in range(n):
        rng, begun = np.random.default_rng(seed), time.process_time()
        proof, table = make(seed, folder)
        written = time.process_time()
        row["verified"] += not refusal(proof, table)
        row["write_s"] += (written - begun) / n
        row["check_s"] += (time.process_time() - written) / n
        claims = json.loads(proof.read_text(encoding="utf-8"))
        row["largest_gap"] = max(row["largest_gap"], claims["gap"])
        false = list(forgeries(claims))
        forged = sealed(false[seed % len(false)][1], folder / "forged.json")
        row["forged"] += 2
        row["refused"] += bool(refusal(forged, table))
        row["refused"] += bool(refusal(one_digit_off(proof, rng, folder / "digit.json"), table))
    return row | {name: float(f"{row[name]:.2g}") for name in COLUMNS[-3:]}


def main() -> None:
    """All kinds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    asked, rows = parser.parse_args(), []
    kinds = [(k, SEEDS, lambda seed, folder, k=k: certified(k, seed, folder)) for k in KINDS]
    kinds.append(("packing", PACKINGS, certified_packing))
    for kind, n, make in kinds:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            rows.append(measured(kind, n, make, Path(folder)))
        print(*rows[-1].values(), flush=True)
    total = {name: sum(row[name] for row in rows) for name in COLUMNS[1:5]}
    print(total)
    if asked.write:
        with FILE.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, COLUMNS)
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    main()
