"""The variants of transform regression, as switches of one builder and one master.

[P] is Pednault, *Transform Regression and the Kolmogorov Superposition Theorem*, SDM 2006.
"""

from __future__ import annotations

from typing import NamedTuple


class Variant(NamedTuple):
    """What a stage may use, and how stages are combined."""

    feed_forward: bool = False
    regressors: bool = False
    link: bool = False
    orthogonal: bool = False


VARIANTS = {
    "gradient": Variant(),
    "initial": Variant(link=True),
    "orthogonal": Variant(link=True, orthogonal=True),
    "feed_forward": Variant(link=True, feed_forward=True),
    "orthogonal_feed_forward": Variant(link=True, feed_forward=True, orthogonal=True),
    "transform": Variant(feed_forward=True, regressors=True),
}
"""[P]: Table 1 with Table 3 as its base learner, Tables 4, 5, 6, 7 and 8."""


LARGEST_STEP = 2.0
"""What a stage changes half the log-odds, the score of a class or the log of a mean by, at most: a
stage that is right on every training row would be sure of what it is not."""
