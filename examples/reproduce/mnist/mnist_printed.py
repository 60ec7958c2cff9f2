"""The figures of [B] Table 1 and what else the paper says in numbers."""

from __future__ import annotations

from typing import NamedTuple


class Printed(NamedTuple):
    """A row of the paper's table: errors in percent, seconds, columns of L, Q and R."""

    train_error: float
    test_error: float
    train_seconds: float
    test_seconds: float
    columns: tuple[int | None, int | None, int | None]


PRINTED: dict[str, dict[str, Printed]] = {
    "l2": {
        "L": Printed(1.1, 18.7, 73.1, 0.2, (969, None, None)),
        "Q": Printed(6, 18.0, 90.3, 4.4, (None, 181, None)),
        "R": Printed(16.2, 22.1, 115.2, 870, (None, None, 971)),
        "L+Q": Printed(3.1, 15.2, 90.9, 0.82, (184, 184, None)),
        "L+R": Printed(15, 20.0, 125.4, 882, (980, None, 980)),
        "L+Q+R": Printed(2.5, 16.1, 158.5, 889, (980, 980, 980)),
        "L,Q,R": Printed(0.4, 13.5, 130.2, 13.4, (122, 20, 13)),
    },
    "l1": {
        "L": Printed(4.8, 15.6, 33.1, 0.2, (171, None, None)),
        "Q": Printed(6.3, 19.6, 54.9, 2.3, (None, 94, None)),
        "R": Printed(40, 38.8, 74.6, 6.4, (None, None, 7)),
        "L+Q": Printed(6.0, 16.5, 73.0, 4.5, (98, 98, None)),
        "L+R": Printed(4.8, 15.8, 83.7, 84, (93, None, 93)),
        "L+Q+R": Printed(6.6, 15.3, 71.1, 85.5, (93, 93, 93)),
        "L,Q,R": Printed(0.9, 13.1, 95.5, 11.1, (77, 10, 12)),
    },
}
SCORED_A_ROUND = 255
"""Columns that the paper's stratified process scores a round; a full scan are 3000."""
