"""The table and the picture of the page on rule sets, from the records of ours and of the peers.

    python benchmarks/rule_sets/rule_page.py --ours FILE… --peers FILE… --out docs/studies/rule_sets

With ``--methods`` only the mean of these is printed, over all splits that these have. Else writes
``rule_sets.csv`` (mean test accuracy of each set, method and budget, over the splits that
all methods have) and ``rule_sets.png``, and prints the tables of the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples" / "reproduce"))

import numpy as np
import pandas as pd
from rule_data import BUDGETS, NAMES

from cgboost.studies.scripts import options

PEERS = {"ruleopt": ("RUG", "RUX"), "BRCG": ("BRCG DNF", "BRCG CNF")}
PEERS |= {name: (name,) for pair in PEERS.values() for name in pair}
OURS = "RuleSetClassifier"


def main() -> None:
    """Read the records, and write what the page has."""
    given = options(
        __doc__, ours=[""], peers=[""], out="docs/studies/rule_sets", methods=[OURS, *PEERS]
    )
    ours, peers = read(given.ours), read(given.peers)
    rows = pd.DataFrame([*of_peers(peers), *of_ours(ours)])
    rows = rows[rows["method"].isin(given.methods)]
    complete = [
        part
        for _, part in rows.groupby(["set", "seed"])
        if set(part["method"]) == set(given.methods)
    ]
    means = (
        pd.concat(complete)
        .groupby(["set", "method", "conditions"])
        .agg(splits=("seed", "nunique"), accuracy=("accuracy", "mean"))
    )
    if set(given.methods) != {OURS, *PEERS}:
        print(
            markdown(
                "mean over the sets",
                means["accuracy"].unstack("conditions").groupby("method").mean(),
            )
        )
        print(means["splits"].unstack("set").groupby("method").max().to_string())
        return
    folder = Path(given.out)
    means.reset_index().round(5).to_csv(folder / "rule_sets.csv", index=False, lineterminator="\n")
    table = means["accuracy"].unstack("conditions")
    every = table.groupby("method").mean()
    print(markdown("mean over the sets", every))
    for name in NAMES:
        if name in table.index:
            print(markdown(f"{name}, {means.loc[name]['splits'].iloc[0]} splits", table.loc[name]))
    print(bounds(ours).to_string())
    draw(every, folder / "rule_sets.png")


def read(files: list[str]) -> pd.DataFrame:
    """Records one below another, each once."""
    rows = pd.concat([pd.read_csv(file) for file in files])
    return rows.drop_duplicates(["set", "seed", "method", "parameter", "conditions"])


def of_peers(rows: pd.DataFrame) -> list[dict[str, object]]:
    """Of the models with at most so many conditions the best on the training rows."""
    found: list[dict[str, object]] = []
    for (name, seed), part in rows.groupby(["set", "seed"]):
        for method, parts in PEERS.items():
            if not part["method"].isin(parts).any():
                continue
            own = part[part["method"].isin((*parts, "constant"))]
            own = own.sort_values(["train_acc", "conditions"], ascending=[False, True])
            for budget in BUDGETS:
                within = own[own["conditions"] <= budget]
                if len(within):
                    accuracy = within["test_acc"].iloc[0]
                    found.append(
                        {
                            "set": name,
                            "seed": seed,
                            "method": method,
                            "conditions": budget,
                            "accuracy": accuracy,
                        }
                    )
    return found


def of_ours(rows: pd.DataFrame) -> list[dict[str, object]]:
    """One fit for each budget; with and without a bound it has the same rules."""
    own = rows.assign(budget=rows["parameter"].str.extract(r"=(\d+)")[0].astype(int))
    own = own.drop_duplicates(["set", "seed", "budget"])
    return [
        {
            "set": row.set,
            "seed": row.seed,
            "method": OURS,
            "conditions": row.budget,
            "accuracy": row.test_acc,
        }
        for row in own.itertuples()
    ]


def bounds(rows: pd.DataFrame) -> pd.DataFrame:
    """Gaps and CPU seconds of the fits with a bound, by set."""
    exact = rows[np.isfinite(rows["gap"])]
    return exact.groupby("set")[["gap", "cpu_s"]].agg(["mean", "max", "count"]).round(3)


def markdown(title: str, table: pd.DataFrame) -> str:
    """A table in per cent, the best of each column in bold."""
    lines = [f"| {title} | " + " | ".join(map(str, table.columns)) + " |"]
    lines.append("| --- |" + " --- |" * len(table.columns))
    for method in (own for own in (OURS, *PEERS) if own in table.index):
        cells = [
            f"**{100 * value:.2f}**" if value == table[column].max() else f"{100 * value:.2f}"
            for column, value in table.loc[method].items()
        ]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw(table: pd.DataFrame, path: Path) -> None:
    """Accuracy against conditions, the mean over the sets."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    for method, style in ((OURS, "o-"), ("ruleopt", "s--"), ("BRCG", "^--")):
        axis.plot(table.columns, 100 * table.loc[method], style, label=method)
    axis.set(xlabel="conditions of all rules together, at most", ylabel="test accuracy, %")
    axis.legend()
    figure.savefig(path, dpi=100)
    plt.close(figure)


if __name__ == "__main__":
    main()
