"""Numbers of the records in words: scores, ratios, who is first, and who is ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fits import Summary

import cgboost

Found = dict[str, dict[str, Summary]]


def is_ours(model: str) -> bool:
    """Whether a name of the tables, up to its comma, is that of a class of cgboost."""
    return model.partition(",")[0] in cgboost.__all__


def pick(found: Found, task: str, *models: str) -> list[Summary] | None:
    """Summaries of these models, or None if one of them has no fit."""
    own = [found.get(task, {}).get(model) for model in models]
    worked = [s for s in own if s is not None and s.fits]
    return worked if len(worked) == len(models) else None


def ranked(own: Iterable[Summary], higher_is_better: bool = False) -> list[Summary]:
    """Those that were fitted, the best mean test score first."""
    sign = -1 if higher_is_better else 1
    return sorted((s for s in own if s.fits), key=lambda s: sign * s.mean("test"))


def number(own: Summary) -> str:
    """Mean test score."""
    return digits(own.mean("test"), own)


def digits(value: float, own: Summary) -> str:
    """Two decimals of percentages, three of errors near 1."""
    return f"{value:.3f}" if abs(own.mean("test")) < 2 else f"{value:.2f}"


def short(value: float) -> str:
    """Two digits that mean something, and no powers of ten for large numbers."""
    return f"{value:.0f}" if abs(value) >= 10 else f"{value:.2g}"


def seconds(own: Summary) -> str:
    """Median time to fit."""
    return f"{short(own.median('fit_seconds'))} s"


def listed(words: Sequence[str], last: str = "and") -> str:
    """One, two and three."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
