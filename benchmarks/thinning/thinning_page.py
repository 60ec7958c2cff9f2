"""Records, tables and picture of the thinning study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path

import numpy as np
from page_tables import refresh, table
from study_jobs import Store

REGRESSION = ("boston", "liver")
WITH_AUC = ("adult", "coil2000")
WHOLE, OURS = "whole", "ThinnedEnsemble"
OTHERS = {"truncated": "truncated", "LP over votes": "LP over votes", "l1": "ℓ1 refit"}
ALLOWED_POINTS, ALLOWED_RMSE = 0.1, 1.0
"""What may be lost: points of accuracy, or percent of the RMSE."""

HEAD = (
    "data | ensemble | whole | **ThinnedEnsemble** | its loss | truncated | LP over votes | "
    "ℓ1 refit | "
    "members | seeds | within"
)
AUC_HEAD = "data | ensemble | whole | **ThinnedEnsemble** | truncated | LP over votes | ℓ1 refit"
TIME_HEAD = (
    "data | ensemble | fit, s | thinning, s | predicting, whole, ms | thinned, ms | ratio | members"
)
MEAN_HEAD = "ensemble | **ThinnedEnsemble** | truncated | LP over votes | ℓ1 refit | within"


@dataclass(frozen=True)
class Measured:
    """One ensemble, thinned by one method."""

    data: str
    ensemble: str
    seed: int
    method: str
    score: float
    auc: float
    members: int
    seconds: float
    predicting: float


def measured(folder: Path) -> Store[Measured]:
    """The records of a folder."""
    return Store(folder / "thinning.csv", Measured)


class Means:
    """Means over the seeds, by data, ensemble and method."""

    def __init__(self, rows: Sequence[Measured]) -> None:
        ours = {(row.data, row.ensemble, row.seed) for row in rows if row.method == OURS}
        self.rows = [row for row in rows if (row.data, row.ensemble, row.seed) in ours]
        self.cases = list(dict.fromkeys((row.data, row.ensemble) for row in self.rows))
        self.seeds = dict.fromkeys(self.cases, 0)
        for data, ensemble, _ in ours:
            self.seeds[data, ensemble] += 1
        self.ensembles = list(dict.fromkeys(row.ensemble for row in rows))

    def __call__(self, case: tuple[str, str], method: str, field: str = "score") -> float:
        """The mean of a field; nan where there is none."""
        found = [
            getattr(row, field)
            for row in self.rows
            if (row.data, row.ensemble, row.method) == (*case, method)
        ]
        return float(np.mean(found)) if found else float("nan")

    def loss(self, case: tuple[str, str], method: str, field: str = "score") -> float:
        """Points of accuracy lost, or percent of the RMSE, over the seeds of the method."""
        own = self._by_seed(case, method, field)
        if not own:
            return float("nan")
        whole = self._by_seed(case, WHOLE, field)
        before = float(np.mean([whole[seed] for seed in own]))
        after = float(np.mean(list(own.values())))
        return 100.0 * (after / before - 1.0) if case[0] in REGRESSION else before - after

    def _by_seed(self, case: tuple[str, str], method: str, field: str) -> dict[int, float]:
        wanted = (*case, method)
        found = [row for row in self.rows if (row.data, row.ensemble, row.method) == wanted]
        return {row.seed: getattr(row, field) for row in found}

    def within(self, case: tuple[str, str]) -> bool:
        """Whether as little is lost as was asked for."""
        allowed = ALLOWED_RMSE if case[0] in REGRESSION else ALLOWED_POINTS
        return self.loss(case, OURS) <= allowed + 1e-9


def tables(folder: Path) -> dict[str, str]:
    """All tables of the page."""
    means = Means(measured(folder).rows)
    return {
        "thinning_means": _means(means),
        "thinning_scores": _scores(means),
        "thinning_auc": _auc(means),
        "thinning_times": _times(means),
    }


def _number(value: float, digits: int = 2) -> str:
    return "" if isnan(value) else f"{value:.{digits}f}"


def _means(means: Means) -> str:
    lines = []
    for ensemble in means.ensembles:
        cases = [case for case in means.cases if case[1] == ensemble]
        cells = [
            _number(float(np.nanmean([means.loss(case, method) for case in cases])))
            for method in (OURS, *OTHERS)
        ]
        within = sum(map(means.within, cases))
        lines.append([ensemble, *cells, f"{within} of {len(cases)}"])
    return table(lines, MEAN_HEAD)


def _scores(means: Means) -> str:
    lines = []
    for case in means.cases:
        cells = [_number(means.loss(case, method)) for method in OTHERS]
        members = f"{means(case, OURS, 'members'):.0f} of {means(case, WHOLE, 'members'):.0f}"
        loss = f"{means.loss(case, OURS):+.2f}" + (" %" if case[0] in REGRESSION else "")
        own = [_number(means(case, method)) for method in (WHOLE, OURS)]
        lines.append(
            [
                *case,
                *own,
                loss,
                *cells,
                members,
                str(means.seeds[case]),
                "yes" if means.within(case) else "**no**",
            ]
        )
    return table(lines, HEAD)


def _auc(means: Means) -> str:
    lines = []
    for case in means.cases:
        if case[0] in WITH_AUC:
            losses = [_number(means.loss(case, method, "auc")) for method in (OURS, *OTHERS)]
            lines.append([*case, _number(means(case, WHOLE, "auc")), *losses])
    return table(lines, AUC_HEAD)


def _times(means: Means) -> str:
    lines = []
    for case in means.cases:
        before, after = (1e3 * means(case, method, "predicting") for method in (WHOLE, OURS))
        seconds = [_number(means(case, method, "seconds")) for method in (WHOLE, OURS)]
        share = means(case, OURS, "members") / means(case, WHOLE, "members")
        ratio = f"{100 * after / before:.0f} %"
        lines.append(
            [*case, *seconds, _number(before, 1), _number(after, 1), ratio, f"{share:.0%}"]
        )
    return table(lines, TIME_HEAD)


def draw(rows: Sequence[Measured], path: Path) -> None:
    """Loss of every method, a panel for each ensemble."""
    import matplotlib.pyplot as plt

    means = Means(rows)
    names = {OURS: "ThinnedEnsemble", **OTHERS}
    colours = ("#1f5fa8", "#8a8a8a", "#c8553d", "#d9a441")
    fig, axes = plt.subplots(
        1, len(means.ensembles), figsize=(2.6 * len(means.ensembles), 3.4), sharey=True
    )
    data = list(dict.fromkeys(case[0] for case in means.cases))
    for axis, ensemble in zip(np.atleast_1d(axes), means.ensembles, strict=True):
        for place, (method, name) in enumerate(names.items()):
            losses = [means.loss((one, ensemble), method) for one in data]
            at = np.arange(len(data)) + 0.2 * (place - 1.5)
            axis.plot(losses, at, "o", color=colours[place], label=name, markersize=5, zorder=3)
        axis.axvline(0.0, color="#444444", linewidth=0.8)
        axis.set_xscale("symlog", linthresh=1.0)
        axis.set_xlim(-50.0, 100.0)
        axis.set_xticks([-10, -1, 0, 1, 10], ["−10", "−1", "0", "1", "10"])
        axis.set_title(ensemble, fontsize=9)
        axis.set_yticks(range(len(data)), data, fontsize=8)
        axis.tick_params(axis="x", labelsize=7)
        axis.grid(axis="x", alpha=0.3)
    np.atleast_1d(axes)[0].invert_yaxis()
    handles, labels = np.atleast_1d(axes)[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="lower center", ncols=4, frameon=False, fontsize=8)
    fig.supxlabel("loss: points of accuracy, or % of the RMSE", fontsize=8, y=0.09)
    fig.tight_layout(rect=(0, 0.1, 1, 1))
    fig.savefig(path, dpi=130)
    plt.close(fig)


def refresh_page(folder: Path) -> None:
    """Put the tables into the page."""
    refresh(folder / "page.md", tables(folder))
