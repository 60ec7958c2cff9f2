"""Rule sets without weights: how far their optimum is proven, and when.

    python benchmarks/rule_sets/rule_proofs.py --data DATA --out FILE [--tables …] [--budgets …]
    python benchmarks/rule_sets/rule_proofs.py --table-of FILE

One fit of ``RuleSetClassifier(conditions, form="dnf", positive_class=…)`` for each table, budget
and class, to the 70 % of the rows of seed 0 of the study. A line of the file is a step of the
search: its seconds, the objective and the bound by then.
"""

from __future__ import annotations

import csv
import os
import sys
import time
import warnings
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "reproduce"))

import numpy as np
import pandas as pd
from rule_data import Table, load, split

from cgboost import RuleSetClassifier
from cgboost.studies.datasets import data_folder
from cgboost.studies.scripts import options

TABLES = ("pima", "breast cancer", "ionosphere", "liver", "fico")
FIELDS = (
    *("set", "conditions", "class", "step", "objective", "bound", "gap", "seconds"),
    *("cpu_s", "rules", "train_acc", "test_acc"),
)


def fico(folder: str | None) -> Table:
    """10459 loans, 17 conditions as zeros and ones (``fipe/FICO.csv``)."""
    table = pd.read_csv(Path(data_folder(folder)) / "fipe" / "FICO.csv")
    values = table.iloc[:, :-1].astype(np.float64)
    return Table("fico", values, table.iloc[:, -1].to_numpy(np.int64), "Class = 1")


def as_table(steps: pd.DataFrame) -> str:
    """The first rule set, the bound of the relaxation, and the end of each search."""
    head = ["set", "conditions", "class", "first rule set", "after s", "gap of the relaxation"]
    head += ["errors", "bound", "gap", "CPU s"]
    lines = [head, ["---"] * len(head)]
    for (name, budget, label), own in steps.groupby(["set", "conditions", "class"], sort=False):
        first, last = own.iloc[0], own.iloc[-1]
        relaxed = (last.objective - own.iloc[min(1, len(own) - 1)].bound) / last.objective
        numbers = [f"{first.objective:g}", f"{first.seconds:.1f}", f"{100 * relaxed:.1f} %"]
        numbers += [f"{last.objective:g}", f"{last.bound:g}", f"{100 * last.gap:.1f} %"]
        lines.append([name, str(budget), str(label), *numbers, f"{last.cpu_s:.1f}"])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Fit what is asked for, and add the steps to the file."""
    given = options(
        __doc__,
        data=None,
        out="rule_proofs.csv",
        tables=list(TABLES),
        budgets=[4, 8],
        max_conditions=3,
        time_limit=600.0,
        table_of="",
    )
    if given.table_of:
        print(as_table(pd.read_csv(given.table_of)))
        return
    warnings.simplefilter("ignore")
    out = Path(given.out)
    is_new = not out.exists()
    with out.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(FIELDS)
        for name in given.tables:
            table = fico(given.data) if name == "fico" else load(name, given.data)
            rows = split(table, 0)
            for budget in given.budgets:
                for label in (1, 0):
                    start = time.process_time()
                    model = RuleSetClassifier(
                        budget,
                        form="dnf",
                        positive_class=label,
                        max_conditions=given.max_conditions,
                        time_limit=given.time_limit,
                    ).fit(rows.X, rows.y)
                    spent = time.process_time() - start
                    own = (
                        *(f"{spent:.2f}", len(model.rules_)),
                        f"{model.score(rows.X, rows.y):.4f}",
                        f"{model.score(rows.X_test, rows.y_test):.4f}",
                    )
                    steps = (model.history_[k] for k in ("objective", "bound", "gap", "seconds"))
                    for step, values in enumerate(zip(*steps, strict=True)):
                        shown = (f"{value:.6g}" for value in values)
                        writer.writerow((name, budget, label, step, *shown, *own))
                    file.flush()


if __name__ == "__main__":
    main()
