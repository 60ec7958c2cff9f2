"""How much a test does: `make slow` does all of it."""

import os

WHOLE = os.environ.get("CGBOOST_TESTS") == "whole"
"""Whether this is `make slow`, or somebody who wants as much."""


def examples(most: int) -> int:
    """How many examples of a law Hypothesis tries: a third of these, but three at least."""
    return most if WHOLE else max(min(most, 3), most // 3)
