"""The spectrum kernel of strings.

C. Leslie, E. Eskin, W. S. Noble, *The spectrum kernel: a string kernel for SVM protein
classification*, PSB 2002.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from cgboost.kernels.objects.counts import CountKernel


@dataclass(frozen=True)
class Spectrum(CountKernel):
    """k(a, b) = Σ_w count_w(a)·count_w(b) over all words w of ``length`` letters.

    All occurrences of a word are counted, at any position. A string shorter than ``length`` has no
    words.

    Parameters
    ----------
    length : int, default=3

    Examples
    --------
    >>> import numpy as np
    >>> from cgboost import Spectrum
    >>> Spectrum(2)(np.array(["ababa", "aab"]), np.array(["abab"]))
    array([[6.],
           [2.]])
    """

    length: int = 3

    def __post_init__(self) -> None:
        if not isinstance(self.length, Integral) or self.length < 1:
            raise ValueError(f"length must be a whole number ≥ 1, got {self.length!r}")

    def counts(self, item: Any, number: Callable[[Hashable], int]) -> Mapping[int, float]:
        if not isinstance(item, str):
            raise TypeError(f"Spectrum takes strings, got {item!r} ({type(item).__name__})")
        stop = len(item) - self.length + 1
        words = Counter(item[start : start + self.length] for start in range(stop))
        return {number(word): float(count) for word, count in words.items()}
