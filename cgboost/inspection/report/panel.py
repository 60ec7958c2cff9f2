"""Facts and drawings of a fitted model below scikit-learn's diagram in a notebook."""

from __future__ import annotations

from typing import Any

from cgboost.inspection.report.facts import Facts
from cgboost.inspection.report.markup import escaped
from cgboost.inspection.report.sparkline import sparklines

BOX = (
    "font:13px/1.45 system-ui,sans-serif;color:inherit;margin:.6em 0;padding:.5em .8em;"
    "border:1px solid rgba(128,128,128,.45);border-radius:.4em;display:flex;flex-wrap:wrap;"
    "align-items:flex-start;gap:.4em 1.6em;max-width:54em"
)
NAME = "padding:0 .8em 0 0;opacity:.7;text-align:left;white-space:nowrap;background:none"
VALUE = "padding:0;text-align:left;background:none"
CAPTION = "font-size:11px;opacity:.7"


def panel(model: Any, facts: Facts) -> str:
    """A box with the facts and, where a loop has made the model, its history.

    Styles stand at the elements themselves, colours are those of the notebook.
    """
    lines = "".join(
        f'<tr style="background:none"><th style="{NAME};font-weight:normal">{escaped(name)}</th>'
        f'<td style="{VALUE}">{escaped(value)}</td></tr>'
        for name, value in facts.pairs()
    )
    kept = [run.kept for run in facts.runs]
    drawings = "".join(
        f'<div>{svg}<div style="{CAPTION}">{escaped(caption)}</div></div>'
        for caption, svg in (sparklines(model.history_, kept) if facts.runs else [])
    )
    return (
        f'<div class="cgboost-panel" style="{BOX}">'
        f'<table style="border:0;border-collapse:collapse;margin:0;font-size:13px">'
        f"<tbody>{lines}</tbody></table><div>{drawings}</div></div>"
    )
