"""Outputs of a model by the labels of their classes, or by their places."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np


def output_labels(model: Any) -> list[Any]:
    """The classes that the outputs f of a model are of; empty for a regressor.

    Two classes have one output, that of the second.
    """
    labels = list(getattr(model, "classes_", ()))
    return labels[1:] if len(labels) == 2 else labels


def output_place(output: Any, labels: Sequence[Any], default: int = 0) -> int:
    """The place of an output that is called by its label or its place.

    Parameters
    ----------
    output : class label, int or None
        A label comes before a place, where labels are integers. None stands for ``default``.
    labels : sequence
        Labels of all outputs; empty where there is one without a label.
    default : int, default=0

    Raises
    ------
    IndexError
        If there is no such output.
    """
    if output is None:
        return default
    found = [k for k, label in enumerate(labels) if np.ndim(output) == 0 and label == output]
    if found:
        return found[0]
    count = max(1, len(labels))
    if isinstance(output, Integral) and 0 <= int(output) < count:
        return int(output)
    names = [label.item() if isinstance(label, np.generic) else label for label in labels]
    known = f"one of the classes {names}, or its place" if names else "0, the only one"
    if len(names) == 1:
        known = f"{names[0]!r} or 0: two classes have one output, that of the second"
    places = f" from 0 to {count - 1}" if len(names) > 1 else ""
    raise IndexError(f"output must be {known}{places}, got {output!r}")
