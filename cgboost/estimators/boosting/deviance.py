"""Outputs that stand for class probabilities: what they predict, and what they pay for it.

One output f is half the log-odds of the second class, p = 1/(1 + e^{−2f}); of K outputs the classes
have p_k = e^{f_k} / Σ_l e^{f_l}. The first is the second with the outputs −f and f.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

Vector = NDArray[np.float64]


def class_probabilities(outputs: Vector) -> Vector:
    """Probabilities of all classes, shape (n_rows, n_classes), from one output or one a class."""
    shares: Vector = softmax(_class_scores(outputs), axis=1)
    return shares


def mean_log_loss(labels: Vector, output: Vector) -> float:
    """Mean of −log p of the right class.

    Labels are ±1; with one output a class they have the shape (n_rows, n_classes) and 1 for the
    row's class alone.
    """
    if output.ndim == 1:
        return float(np.mean(np.logaddexp(0.0, -2.0 * labels * output)))
    return -float(np.mean(log_softmax(output, axis=1)[labels > 0]))


def _class_scores(outputs: Vector) -> Vector:
    return np.hstack([-outputs, outputs]) if outputs.shape[1] == 1 else outputs
