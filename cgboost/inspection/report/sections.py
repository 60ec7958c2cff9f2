"""The parts of a report: each is a title and HTML, or nothing where a model has nothing to say."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from cgboost.inspection.provenance import machine, versions
from cgboost.inspection.report import markup
from cgboost.inspection.report.facts import Facts, Table, kind_of
from cgboost.inspection.report.meanings import meaning, proven
from cgboost.inspection.report.pictures import Picture, importances

SHOWN_ROUNDS = 12
"""Rounds of the history that are shown at once; the others unfold."""

DETAILS = ("evaluated", "stratum", "master_seconds", "pricing_seconds")
"""What only the unfolded history says."""

SHOWN_COLUMNS = 15
MOST_COLUMNS = 500
"""Columns that are shown at once, and those that unfold."""

SHOWN_FEATURES = 20

PACKAGES = ("cgboost", "numpy", "scipy", "scikit-learn", "highspy")


class Section(NamedTuple):
    """A title, a name for links, and HTML."""

    title: str
    name: str
    html: str


class Subject(NamedTuple):
    """What a report is about.

    Attributes
    ----------
    model : fitted estimator
    facts : Facts
    pictures : list of (section, (SVG, caption))
    """

    model: Any
    facts: Facts
    pictures: list[tuple[str, Picture]]

    def figures(self, section: str) -> str:
        """The pictures of a section."""
        return "".join(
            markup.figure(*picture) for name, picture in self.pictures if name == section
        )


def sections(subject: Subject) -> Iterator[Section]:
    """Those that the model has, in the order of the page."""
    for title, make in SECTIONS.items():
        if html := make(subject):
            yield Section(title, title.lower().replace(" ", "-"), html)


def _certificate(subject: Subject) -> str:
    facts = subject.facts
    if not facts.runs:
        return markup.paragraph(
            "This model is grown, not optimised by a loop of rounds, so that there is no bound. "
            "Judge it by its scores on rows that it has not seen."
        )
    parts = [markup.pairs(facts.pairs())]
    parts.append(markup.paragraph(proven(facts.objective, facts.bound, facts.gap)))
    if facts.tol is not None and facts.gap > facts.tol and np.isfinite(facts.gap):
        parts.append(
            markup.paragraph(
                f"The gap is above the {facts.tol:g} that was asked for (tol). The bound is true "
                "all the same; the model may be better than it says."
            )
        )
    for sentence in dict.fromkeys(meaning(run.stop_reason, run.gap) for run in facts.runs):
        parts.append(markup.paragraph(sentence))
    if len(facts.runs) > 1:
        header = ("class", "objective", "lower bound", "gap", "stopped", "rounds")
        rows = [
            (run.label, run.objective, run.bound, run.gap, str(run.stop_reason), run.rounds)
            for run in facts.runs
        ]
        parts.append(markup.table(header, rows))
    said = {run.message for run in facts.runs if run.message}
    if said:
        words = "".join(markup.paragraph(message) for message in sorted(said))
        parts.append(markup.folded("In the words of the loop", words))
    return "".join(parts)


def _history(subject: Subject) -> str:
    history = getattr(subject.model, "history_", None)
    if history is None:
        return ""
    count = len(history["round"])
    places = np.unique(np.linspace(0, count - 1, min(count, SHOWN_ROUNDS)).astype(int))
    brief = {
        name: values[places]
        for name, values in history.items()
        if name not in DETAILS and (values.dtype.kind != "f" or np.isfinite(values).any())
    }
    everything = markup.folded(f"All {count} rounds, all that is known", _table_of(history))
    return subject.figures("history") + _table_of(brief) + everything


def _columns(subject: Subject) -> str:
    columns = getattr(subject.model, "columns_", None)
    if columns is None:
        return ""
    order = np.argsort(-np.abs(columns["coefficient"]), kind="stable")
    count, kind = len(order), kind_of(columns, len(order))
    if not count:
        return markup.paragraph("The model has no columns: it predicts the same for every row.")
    what = "The" if count <= SHOWN_COLUMNS else f"The {SHOWN_COLUMNS} most important of"
    parts = [
        subject.figures("columns"),
        markup.paragraph(f"{what} {count} {kind}, largest |coefficient| first."),
        _table_of(columns, order[:SHOWN_COLUMNS]),
    ]
    if count > SHOWN_COLUMNS:
        words = f"All {count}" if count <= MOST_COLUMNS else f"The first {MOST_COLUMNS}"
        parts.append(markup.folded(words, _table_of(columns, order[:MOST_COLUMNS])))
    return "".join(parts)


def _kernels(subject: Subject) -> str:
    model = subject.model
    counts = getattr(model, "columns_per_kernel_", None)
    if counts is None:
        return ""
    library = model._library
    sizes = np.abs(model.columns_["coefficient"])
    total = float(sizes.sum()) or 1.0
    rows = []
    for name, kernel in library.kernels.items():
        mine = model.columns_["kernel"] == name
        share = f"{100 * float(sizes[mine].sum()) / total:.1f} %"
        rows.append((name, _short(kernel), counts[name], share))
    words = (
        "Kernels are divided by √(k(x, x) k(z, z))."
        if library.normalize
        else "Kernels are as they are, not normalised."
    )
    header = ("kernel", "what it is", "columns", "share of Σ|coefficient|")
    return markup.paragraph(words) + markup.table(header, rows)


def _features(subject: Subject) -> str:
    model = subject.model
    parts = [subject.figures("features")]
    found = importances(model)
    if found is not None and found.any():
        names = getattr(model, "feature_names_in_", np.arange(len(found)))
        order = np.argsort(-found, kind="stable")[:SHOWN_FEATURES]
        rows = [(names[j], f"{100 * found[j]:.2f} %") for j in order if found[j] > 0]
        parts.append(markup.folded("As a table", markup.table(("feature", "share"), rows)))
    if hasattr(model, "vip_"):
        names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))
        order = np.argsort(-model.vip_, kind="stable")[:SHOWN_FEATURES]
        parts.append(markup.paragraph("Variable importance in projection; 1 is average."))
        parts.append(
            markup.table(("feature", "VIP"), [(names[j], float(model.vip_[j])) for j in order])
        )
    if hasattr(model, "text"):
        words = markup.escaped(model.text())
        parts.append(f'<pre class="wide">{words}</pre>')
    return "".join(parts)


def _parameters(subject: Subject) -> str:
    defaults = type(subject.model)().get_params(deep=False)
    rows = [
        (name, _short(value), "" if _same(value, defaults.get(name)) else "yes")
        for name, value in subject.model.get_params(deep=False).items()
    ]
    rows.sort(key=lambda row: row[2] != "yes")
    return markup.table(("parameter", "value", "changed"), rows)


def _made_with(subject: Subject) -> str:
    facts: list[tuple[str, Any]] = list(versions(*PACKAGES).items())
    facts.append(("machine", machine()))
    facts.append(("features", getattr(subject.model, "n_features_in_", "")))
    now = datetime.datetime.now().astimezone()
    facts.append(("written", now.strftime("%-d %B %Y, %H:%M %Z")))
    note = "Versions and machine are those of the report, which may be newer than the model."
    return markup.pairs(facts) + markup.paragraph(note)


SECTIONS: dict[str, Callable[[Subject], str]] = {
    "Certificate": _certificate,
    "History": _history,
    "Columns": _columns,
    "Kernels": _kernels,
    "Features": _features,
    "Parameters": _parameters,
    "Made with": _made_with,
}


def _table_of(columns: Table, rows: Any = slice(None)) -> str:
    """Some rows of a table of arrays."""
    header = [name.replace("_", " ") for name in columns]
    values = (np.asarray(column)[rows].tolist() for column in columns.values())
    return markup.table(header, zip(*values, strict=True))


def _same(value: Any, default: Any) -> bool:
    return value is default or repr(value) == repr(default)


def _short(value: Any, most: int = 200) -> str:
    words = repr(value)
    return words if len(words) <= most else f"{words[: most - 1]}…"
