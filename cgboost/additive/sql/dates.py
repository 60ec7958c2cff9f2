"""Features of dates in SQL, the same as :mod:`cgboost.tables.date_features` makes of frames."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from cgboost.additive.sql.engines import ENGINES, DatabaseEngine
from cgboost.tables.date_features import DAY, PARTS, DateFeatures

HOURS = 24
"""Of a day."""


def date_expression(engine: DatabaseEngine, column: str, part: str) -> str:
    """A feature of a column of dates or times, a number; NULL where the date is.

    Parameters
    ----------
    column : str
        As it stands in a query.
    part : str
        Of :data:`~cgboost.tables.date_features.PARTS`.
    """
    since = engine.microseconds.format(column)
    within = f"(({since} % {DAY} + {DAY}) % {DAY})"  # a remainder has the sign of what is divided
    day = f"(({since} - {within}) / {DAY})"  # without a remainder
    double, hour = engine.sql.double, DAY // HOURS
    match part:
        case "days":
            own = f"CAST({within} AS {double}) / {engine.sql.number(float(DAY))}"
            return f"CAST({day} AS {double}) + {own}"
        case "month":
            return engine.month.format(column=column, day=day)
        case "weekday":
            return f"((CAST({day} AS BIGINT) % 7 + 10) % 7)"
        case _:
            return f"(({within} - {within} % {hour}) / {hour})"


def date_features_query(dates: DateFeatures, table: str, *, dialect: str = "duckdb") -> str:
    """The query of a table that makes the features of its dates in a database.

    It can be the query of an :class:`~cgboost.sources.SQLSource`, or a view that the query of a
    model (``model.to_sql``) predicts from.

    Parameters
    ----------
    dates : DateFeatures
        Fitted to a frame with the columns of the table.
    table : str
        Its dates have a type of dates; in SQLite they are text, read to the millisecond.
    dialect : {"duckdb", "postgresql", "sqlite"}, default="duckdb"

    Raises
    ------
    ImportError
        Without the package sqlglot (extra "sql").
    ValueError
        If the dialect is unknown, or columns have lengths of time.

    Examples
    --------
    >>> import pandas as pd
    >>> from cgboost.sources import DateFeatures, date_features_query
    >>> frame = pd.DataFrame({"day": pd.to_datetime(["2024-02-29"]), "size": [1.0]})
    >>> print(date_features_query(DateFeatures(["month"]).fit(frame), "sales", dialect="sqlite"))
    SELECT CAST(CAST(strftime('%m', "day") AS INTEGER) AS REAL) AS "day_month",
    "size"
    FROM "sales"
    """
    check_is_fitted(dates)
    if dialect not in ENGINES:
        raise ValueError(f"dialect must be one of {[*ENGINES]} for dates, got {dialect!r}")
    if dates.lengths_:
        raise ValueError(
            f"{dates.lengths_} have lengths of time, which databases write differently: make them "
            "numbers of days before fit"
        )
    engine = ENGINES[dialect]
    name, made = engine.sql.name, []
    for column in dates.feature_names_in_:
        if column not in dates.dates_:
            made.append(name(column))
            continue
        for part in PARTS:
            if part in dates.features:
                own = engine.number.format(date_expression(engine, name(column), part))
                made.append(f"{own} AS {name(f'{column}_{part}')}")
    return "SELECT " + ",\n".join(made) + f"\nFROM {name(table)}"
