"""The report: one HTML file that needs nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from cgboost._version import __version__
from cgboost.inspection.report.facts import Facts, facts_of
from cgboost.inspection.report.markup import escaped
from cgboost.inspection.report.pictures import pictures
from cgboost.inspection.report.sections import Subject, sections
from cgboost.inspection.report.style import STYLE


def write_report(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write the report of a fitted model: what ``model.report(path)`` does, and documents."""
    facts = facts_of(model)
    if facts is None:
        raise NotFittedError(f"{type(model).__name__} has nothing to report yet: call fit first")
    file = Path(path)
    try:
        if file.is_dir():
            raise ValueError(f"path must be a file to write, {str(file)!r} is a folder")
        if not file.parent.is_dir():
            raise ValueError(f"the folder of path does not exist: {str(file.parent)!r}")
        file.write_text(page(model, facts), encoding="utf-8")
    except OSError as error:
        raise ValueError(f"path {str(file)!r} cannot be written: {error.strerror}") from error
    return file


def page(model: Any, facts: Facts) -> str:
    """The whole file, as text."""
    title = type(model).__name__
    parts = list(sections(Subject(model, facts, list(pictures(model)))))
    links = "".join(f'<a href="#{part.name}">{escaped(part.title)}</a>' for part in parts)
    body = "".join(
        f'<section id="{part.name}"><h2>{escaped(part.title)}</h2>{part.html}</section>'
        for part in parts
    )
    constructor = BaseEstimator.__repr__(model)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="cgboost {escaped(__version__)}">
<title>{escaped(title)}: report</title>
<style>
{STYLE}</style>
</head>
<body>
<header>
<h1>{escaped(title)}</h1>
<pre>{escaped(constructor)}</pre>
<p class="verdict">{escaped(verdict(facts))}</p>
<nav>{links}</nav>
</header>
<main>
{body}
</main>
</body>
</html>
"""


def verdict(facts: Facts) -> str:
    """The first line: how large the model is, what is proved, how it does on held-out rows."""
    scores = [f"{name} {value}" for name, value in facts.scores.items()]
    return "; ".join([facts.size, facts.certificate, *scores])
