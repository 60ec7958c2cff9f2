"""The settings that conftest gives every test."""

import re
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import TESTS

RNG = np.random.default_rng(0)


@settings(max_examples=2)
@given(st.booleans())
def test_a_slow_example_is_no_failure(fair: bool) -> None:
    """Hypothesis's own deadline is 200 ms, which a busy machine may need for anything."""
    time.sleep(0.25)
    assert fair in (True, False)


@pytest.mark.parametrize("turn", [1, 2])
def test_a_test_draws_what_it_draws_alone(turn: int) -> None:
    """Else whether it fails could depend on the tests before it."""
    assert RNG.random() == np.random.default_rng(0).random()


def test_no_exception_from_a_law_is_left_over() -> None:
    """What a case says does not hold for it is the name of a test of the suite."""
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py")]
    exceptions = [keys for text in texts for keys in re.findall(r"\bbut=\{(.*?)\}", text, re.S)]
    named = {name for keys in exceptions for name in re.findall(r"^\s*\"(\w+)\":", keys, re.M)}
    assert named <= {name for text in texts for name in re.findall(r"def test_(\w+)", text)}
