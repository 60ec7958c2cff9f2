"""Table and picture of the study of equal rates, from its records."""

from __future__ import annotations

from math import isnan
from pathlib import Path

from page_tables import csv_rows, table

HEAD = (
    "model | over | CPU s | AUC, test | accuracy, test | difference of rates, training | test | "
    "predictions that differ between two runs"
)

THRESHOLDS_HEAD = (
    "rows | model | over | CPU s | accuracy, training | test | difference of rates, training | test"
)


def tables(folder: Path) -> dict[str, str]:
    """The table of all entrants."""
    rows = []
    for row in csv_rows(folder / "adult.csv"):
        auc = float(row["auc"])
        rows.append(
            [
                row["model"],
                row["over"],
                f"{float(row['seconds']):.2f}",
                f"{auc:.3f}",
                f"{float(row['accuracy']):.3f}",
                f"{float(row['rates_train']):.4f}",
                f"{float(row['rates_test']):.4f}",
                f"{100 * float(row['differ']):.1f} %",
            ]
        )
    return {"adult": table(rows, HEAD), "thresholds": table(_thresholds(folder), THRESHOLDS_HEAD)}


def _thresholds(folder: Path) -> list[list[str]]:
    """A line for each model on top of a booster."""
    return [
        [
            row["rows"],
            row["model"],
            row["over"],
            f"{float(row['seconds']):.2f}",
            f"{float(row['accuracy_train']):.4f}",
            f"{float(row['accuracy']):.4f}",
            f"{float(row['rates_train']):.4f}",
            f"{float(row['rates_test']):.4f}",
        ]
        for row in csv_rows(folder / "thresholds.csv")
    ]


def draw(folder: Path) -> None:
    """AUC against CPU seconds, and the differences of rates."""
    import matplotlib.pyplot as plt

    rows = list(csv_rows(folder / "adult.csv"))
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for model, colour in (("ConstrainedBoostClassifier", "C0"), ("ExponentiatedGradient", "C1")):
        own = [row for row in rows if row["model"] == model]
        values = {
            name: [float(row[name]) for row in own] for name in own[0] if _is_number(own, name)
        }
        axes[0].plot(values["seconds"], values["auc"], "o", color=colour, label=model)
        axes[1].plot(values["rates_train"], values["auc"], "o", color=colour, label=model)
        axes[1].plot(values["rates_test"], values["auc"], "x", color=colour)
    axes[0].set(xscale="log", xlabel="CPU seconds of a fit", ylabel="AUC on the test rows")
    axes[1].axvline(0.02, color="0.6", linestyle="--", label="limit")
    axes[1].set(xlabel="difference of rates (× test rows)")
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.legend()
    figure.savefig(folder / "adult.png", dpi=110)
    plt.close(figure)


def _is_number(rows: list[dict[str, str]], name: str) -> bool:
    try:
        return all(not isnan(float(row[name])) for row in rows)
    except ValueError:
        return False
