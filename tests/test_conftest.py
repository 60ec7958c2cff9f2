"""The settings that conftest gives every test."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=2)
@given(st.booleans())
def test_a_slow_example_is_no_failure(fair: bool) -> None:
    """Hypothesis's own deadline is 200 ms, which a busy machine may need for anything."""
    time.sleep(0.25)
    assert fair in (True, False)
