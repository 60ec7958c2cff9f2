"""Rule sets of cgboost on the tables, splits and budgets of the peers.

    python benchmarks/rule_sets/rule_ours.py --data DATA --out FILE [--tables …] [--seeds …]

One fit for each budget of conditions, with the defaults of RuleSetClassifier otherwise.
"""

from __future__ import annotations

import csv
import os
import sys
import time
import warnings
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "reproduce"))

from rule_data import BUDGETS, NAMES, SEEDS, load, split

from cgboost import RuleSetClassifier
from cgboost.studies.scripts import options

FIELDS = (
    *("set", "seed", "method", "parameter", "rules", "conditions", "train_acc", "test_acc"),
    *("cv_acc", "cpu_s", "objective", "bound", "gap"),
)


def main() -> None:
    """Fit what the file does not have."""
    given = options(
        __doc__, data=None, out="rule_ours.csv", tables=NAMES, seeds=list(SEEDS), settings=""
    )
    warnings.simplefilter("ignore")
    changes = dict(item.split("=") for item in given.settings.split(",") if item)
    own = {name: _value(text) for name, text in changes.items()}
    out = Path(given.out)
    known = set()
    if out.exists():
        with out.open() as file:
            known = {
                (r["set"], r["seed"], r["method"], r["parameter"]) for r in csv.DictReader(file)
            }
    method = " ".join(["RuleSetClassifier", *map("=".join, changes.items())])
    with out.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not known:
            writer.writeheader()
        for name in given.tables:
            table = load(name, given.data)
            for seed in given.seeds:
                rows = split(table, seed)
                for budget in BUDGETS:
                    if (name, str(seed), method, f"conditions={budget}") in known:
                        continue
                    start = time.process_time()
                    model = RuleSetClassifier(budget, **own).fit(rows.X, rows.y)
                    spent = time.process_time() - start
                    values = (
                        *(name, seed, method, f"conditions={budget}", len(model.rules_)),
                        *(model.n_conditions_, f"{model.score(rows.X, rows.y):.6f}"),
                        *(f"{model.score(rows.X_test, rows.y_test):.6f}", "nan", f"{spent:.3f}"),
                        *(f"{v:.6g}" for v in (model.objective_, model.dual_bound_, model.gap_)),
                    )
                    writer.writerow(dict(zip(FIELDS, values, strict=True)))
                    file.flush()


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


if __name__ == "__main__":
    main()
