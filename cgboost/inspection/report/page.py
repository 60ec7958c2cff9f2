"""Report of a fit as an HTML page, with the versions it was made with.

What a result was made with: the versions and the machine that pages and reports name.

The report, one HTML file that needs nothing else, and the panel below a diagram in a notebook.

The words and their layout are in ``templates/``; here is what they are given. Whatever comes from
the user is escaped by the templates.
"""

from __future__ import annotations

import datetime
import math
import os
import platform
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from cgboost._version import __version__
from cgboost.inspection.kernel_importance import centre_rows, column_shares, kernel_shares
from cgboost.inspection.report.facts import (
    Facts,
    Table,
    facts_of,
    kind_of,
    meaning,
    n_basis_functions,
    proven,
)
from cgboost.inspection.report.pictures import Picture, importances, pictures, sparklines
from cgboost.optional import require
from cgboost.persistence.files import check_target, write_text


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python and of the packages that are installed, in the order asked for.

    Parameters
    ----------
    *packages : str
        Names as they are installed under; those that are not there are left out.
    """
    found = {"Python": platform.python_version()}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """Cores, processor and system in a few words."""
    return f"{os.cpu_count()} cores, {_processor()}, {platform.system()}"


def made_with(*packages: str) -> str:
    """Versions and machine in one line, as pages print it."""
    words = ", ".join(f"{name} {number}" for name, number in versions(*packages).items())
    return f"{words}; {machine()}"


def _processor() -> str:
    """The model name that Linux tells, else the kind of processor."""
    table = Path("/proc/cpuinfo")
    if table.is_file():
        for line in table.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if TYPE_CHECKING:
    from jinja2 import Environment

SHOWN_ROUNDS = 12
"""Rounds of the history that are shown at once; the others unfold."""

DETAILS = ("evaluated", "stratum", "master_seconds", "pricing_seconds")
"""What only the unfolded history says."""

SHOWN_COLUMNS = 15

UNFOLDED_COLUMNS = 500
"""Columns that are shown at once, and those that unfold."""

SHOWN_FEATURES = 20

PACKAGES = ("cgboost", "numpy", "scipy", "scikit-learn", "highspy")


class TableView(NamedTuple):
    """A table as a template shows it.

    Attributes
    ----------
    rows : list of tuples
        One value for each name of the header.
    numeric : list of bool
        The columns that are numbers, which stand on the right.
    """

    header: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    numeric: list[bool]

    @classmethod
    def of(cls, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> TableView:
        """The table with these rows."""
        lines = [tuple(row) for row in rows]
        numeric = [
            bool(lines) and all(isinstance(line[k], Real) for line in lines)
            for k in range(len(header))
        ]
        return cls(tuple(header), lines, numeric)

    @classmethod
    def of_arrays(cls, columns: Table, rows: Any = slice(None)) -> TableView:
        """Some rows of a table of arrays."""
        header = [name.replace("_", " ") for name in columns]
        values = (np.asarray(column)[rows].tolist() for column in columns.values())
        return cls.of(header, zip(*values, strict=True))


def write_report(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write the report of a fitted model: what ``model.report(path)`` does, and documents."""
    for package in ("jinja2", "matplotlib"):
        require(package, "a report")
    facts = facts_of(model)
    if facts is None:
        raise NotFittedError(f"{type(model).__name__} has nothing to report yet: call fit first")
    file = Path(path)
    check_target(file)  # before the time that a page takes
    write_text(file, page(model, facts))
    return file


def page(model: Any, facts: Facts) -> str:
    """The whole file, as text."""
    drawn: dict[str, list[Picture]] = {"history": [], "columns": [], "features": []}
    for section, picture in pictures(model):
        drawn[section].append(picture)
    return _render(
        "report.html",
        title=type(model).__name__,
        version=__version__,
        constructor=BaseEstimator.__repr__(model),
        verdict=verdict(facts),
        sections={
            "Certificate": _certificate(facts),
            "Constraints": _constraints(model),
            "History": _history(model, drawn["history"]),
            "Columns": _columns(model, drawn["columns"]),
            "Kernels": _kernels(model),
            "Features": _features(model, drawn["features"]),
            "Parameters": _parameters(model),
            "Made with": _made_with(model),
        },
    )


def panel(model: Any, facts: Facts) -> str:
    """A box with the facts and, where a loop has made the model, its history."""
    kept = [run.kept for run in facts.runs]
    monitored = getattr(model, "_monitored", ())
    drawings = sparklines(model.history_, kept, monitored) if facts.runs else []
    return _render("panel.html", facts=facts.pairs(), pictures=drawings)


def verdict(facts: Facts) -> str:
    """The first line: how large the model is, what is proved, how it does on held-out rows."""
    scores = [f"{name} {value}" for name, value in facts.scores.items()]
    return "; ".join([facts.size, facts.certificate, *scores])


def cell(value: Any) -> str:
    """A value as a table shows it: numbers with six digits at most, a dash for none."""
    if isinstance(value, Real) and not isinstance(value, (bool, Integral)):
        return f"{float(value):.6g}" if math.isfinite(value) else "–"
    return str(value)


def _certificate(facts: Facts) -> dict[str, Any]:
    header = (facts.kind, "objective", "lower bound", "gap", "stopped", "rounds")
    rows = [
        (run.label, run.objective, run.bound, run.gap, str(run.stop_reason), run.rounds)
        for run in facts.runs
    ]
    return {
        "facts": facts,
        "proven": proven(facts.objective, facts.bound, facts.gap),
        "above_tol": facts.tol is not None and facts.tol < facts.gap < math.inf,
        "meanings": list(dict.fromkeys(meaning(run.stop_reason, run.gap) for run in facts.runs)),
        "classes": TableView.of(header, rows) if len(rows) > 1 else None,
        "messages": sorted({run.message for run in facts.runs if run.message}),
    }


def _history(model: Any, drawn: list[Picture]) -> dict[str, Any] | None:
    history = getattr(model, "history_", None)
    if history is None:
        return None
    count = len(history["round"])
    places = np.unique(np.linspace(0, count - 1, min(count, SHOWN_ROUNDS)).astype(int))
    brief = {
        name: values
        for name, values in history.items()
        if name not in DETAILS and (values.dtype.kind != "f" or np.isfinite(values).any())
    }
    return {
        "pictures": drawn,
        "count": count,
        "brief": TableView.of_arrays(brief, places),
        "everything": TableView.of_arrays(history),
    }


def _constraints(model: Any) -> TableView | None:
    """Value, limit and price of each part of each constraint; None for a model without any."""
    found = getattr(model, "constraints_report_", None)
    return None if found is None or not len(found["part"]) else TableView.of_arrays(found)


def _columns(model: Any, drawn: list[Picture]) -> dict[str, Any] | None:
    columns = getattr(model, "columns_", None)
    if columns is None:
        return None
    names = getattr(model, "feature_names_in_", None)
    if names is not None and np.asarray(columns.get("feature", "")).dtype.kind in "iu":
        named = {"feature": np.asarray(names)[columns["feature"]]}
        columns = {name: own for name, own in (columns | named).items() if name != "name"}
    sizes, words = np.abs(columns["coefficient"]), "largest |coefficient| first"
    deviations = vars(model).get("_deviations")
    if deviations is not None:
        own = deviations[model.columns_["feature"]]
        columns = columns | {"per standard deviation": columns["coefficient"] * own}
        sizes, words = sizes * own, "largest |coefficient| × standard deviation first"
    elif len(sizes) > 1 and np.all(sizes == sizes[0]):
        words = "as they came: their coefficients are equal"
    order = np.argsort(-sizes, kind="stable")
    count = len(order)
    many = count > SHOWN_COLUMNS
    return {
        "order": words,
        "pictures": drawn,
        "count": count,
        "kind": kind_of(columns, count) if count == n_basis_functions(model) else "coefficients",
        "shown": TableView.of_arrays(columns, order[:SHOWN_COLUMNS]),
        "rest": TableView.of_arrays(columns, order[:UNFOLDED_COLUMNS]) if many else None,
    }


def _kernels(model: Any) -> dict[str, Any] | None:
    counts = getattr(model, "columns_per_kernel_", None)
    if counts is None:
        return None
    sizes = np.abs(model.columns_["coefficient"])
    total = float(sizes.sum()) or 1.0
    shares, rows = _output_shares(model), []
    for name, kernel in model._family.library.kernels.items():
        mine = model.columns_["kernel"] == name
        share = f"{100 * float(sizes[mine].sum()) / total:.1f} %"
        row = (name, _short(kernel), counts[name], share)
        rows.append(row if shares is None else (*row, f"{100 * shares[name]:.1f} %"))
    header = ["kernel", "what it is", "columns", "share of Σ|coefficient|"]
    header += [] if shares is None else ["share of the output's variance"]
    table = TableView.of(header, rows)
    return {
        "normalized": model._family.library.normalize,
        "table": table,
        "shares": shares is not None,
    }


def _output_shares(model: Any) -> dict[str, float] | None:
    """Share of each kernel in the output's variance over the centres; None: they are no rows."""
    rows = centre_rows(model)
    if rows is None or not len(rows):
        return None
    columns = model.columns_ | {"share": column_shares(model, rows)}
    names = tuple(model.columns_per_kernel_)
    return dict(zip(names, kernel_shares(columns, names).tolist(), strict=True))


def _features(model: Any, drawn: list[Picture]) -> dict[str, Any] | None:
    content: dict[str, Any] = {"pictures": drawn, "importances": None, "vip": None}
    content["text"] = model.text() if hasattr(model, "text") else None
    found = importances(model)
    if found is not None and found.any():
        names = getattr(model, "feature_names_in_", np.arange(len(found)))
        order = np.argsort(-found, kind="stable")[:SHOWN_FEATURES]
        rows = [(names[j], f"{100 * found[j]:.2f} %") for j in order if found[j] > 0]
        content["importances"] = TableView.of(("feature", "share"), rows)
    if hasattr(model, "vip_"):
        names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))
        order = np.argsort(-model.vip_, kind="stable")[:SHOWN_FEATURES]
        vip = [(names[j], float(model.vip_[j])) for j in order]
        content["vip"] = TableView.of(("feature", "VIP"), vip)
    return content if any(content.values()) else None


def _parameters(model: Any) -> TableView:
    defaults = type(model)().get_params(deep=False)
    rows = [
        (name, _short(value), "" if _same(value, defaults.get(name)) else "yes")
        for name, value in model.get_params(deep=False).items()
    ]
    return TableView.of(
        ("parameter", "value", "changed"), sorted(rows, key=lambda row: row[2] != "yes")
    )


def _made_with(model: Any) -> list[tuple[str, Any]]:
    now = datetime.datetime.now().astimezone()
    return [
        *versions(*PACKAGES).items(),
        ("machine", machine()),
        ("features", getattr(model, "n_features_in_", "")),
        ("written", now.strftime("%-d %B %Y, %H:%M %Z")),
    ]


def _same(value: Any, default: Any) -> bool:
    return value is default or repr(value) == repr(default)


def _short(value: Any, most: int = 200) -> str:
    words = repr(value)
    return words if len(words) <= most else f"{words[: most - 1]}…"


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("cgboost.inspection.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["cell"] = cell
    return environment


def _render(name: str, **content: Any) -> str:
    text = _templates().get_template(name).render(content) + "\n"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # names may have surrogates
