"""The spectrum kernel of strings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgboost import Spectrum
from cgboost.exceptions import KernelError
from cgboost.kernels import kernel_values

STRINGS = st.lists(st.text("acgt", max_size=8), min_size=1, max_size=6)


def occurrences(word: str, text: str) -> int:
    """How often a word stands in a text, overlapping."""
    return sum(text.startswith(word, place) for place in range(len(text)))


@given(STRINGS, STRINGS, st.integers(1, 4))
def test_values_count_common_words(rows: list[str], centres: list[str], length: int) -> None:
    """Σ over words of the products of their counts, as counted one by one."""
    words = {text[i : i + length] for text in rows for i in range(len(text) - length + 1)}
    expected = [
        [sum(occurrences(w, a) * occurrences(w, b) for w in words) for b in centres] for a in rows
    ]
    X, Z = np.array(rows, dtype=object), np.array(centres, dtype=object)
    np.testing.assert_array_equal(Spectrum(length)(X, Z), expected)


def test_other_things_than_strings_are_named() -> None:
    """The message shows the value and its type."""
    X = np.array([["acgt"], [3]], dtype=object)
    with pytest.raises(KernelError, match="'dna' failed.*takes strings, got 3 .int"):
        kernel_values("dna", Spectrum(2), X, X)


@pytest.mark.parametrize("length", [0, -1, 2.5, "3"])
def test_the_length_is_a_whole_number(length: object) -> None:
    """Anything else is refused."""
    with pytest.raises(ValueError, match="length must be a whole number ≥ 1"):
        Spectrum(length)  # type: ignore[arg-type]
