"""Losses as SQL: value, pseudo-response and curvature are those of Python."""

import numpy as np
import pytest

from cgboost.additive.sql.engines import engine_of
from cgboost.additive.sql.losses import expressions_of
from cgboost.additive.sql.session import Session
from cgboost.exceptions import UnsupportedLossError
from cgboost.losses import AbsoluteError, Huber, LogLoss, Poisson, SquaredError
from tests.additive.sql.sql_tables import DATABASES, connected, write

F = np.array([-1e6, -800.0, -351.0, -40.0, -1.5, -1e-9, 0.0, 1e-9, 0.3, 2.0, 40.0, 351.0, 800.0])


@pytest.mark.parametrize("database", DATABASES)
@pytest.mark.parametrize(
    "loss", [SquaredError(), Huber(0.7), LogLoss(), Poisson()], ids=lambda loss: loss.name
)
def test_losses_are_those_of_python(loss: object, database: str, server: str) -> None:
    """Where nothing may overflow either, at both ends, and at kinks."""
    targets = [-1.0, 1.0] if isinstance(loss, LogLoss) else [0.0, 1.0, 7.0]
    f = F[F < 500] if isinstance(loss, Poisson) else F
    y, f = (part.ravel() for part in np.meshgrid(targets, f))
    with connected(database, server) as connection:
        columns = {"y": y.tolist(), "f": f.tolist(), "n": list(map(float, range(len(y))))}
        write(connection, database, {k: ("DOUBLE", v) for k, v in columns.items()})
        session = Session(connection, engine_of(connection, None))
        session.open()
        for target in ("f", "(f * 1.0e0)"):  # a column, or an expression in brackets
            own = expressions_of(loss, session.sql, "y", target)
            rows = session.rows(
                f"SELECT {own.value}, {own.response}, {own.curvature} FROM t ORDER BY n"
            )
            value, response, curvature = np.array(rows, dtype=float).T
            np.testing.assert_allclose(value, loss.value(y, f), rtol=1e-12, atol=2e-15)
            np.testing.assert_allclose(response, -loss.gradient(y, f), rtol=1e-12, atol=1e-250)
            wanted = loss.hessian_diag(y, f)
            np.testing.assert_allclose(curvature, wanted, rtol=1e-12, atol=1e-250)
        session.close()


def test_other_losses_are_refused() -> None:
    """The message names those that there are."""
    with connected("duckdb") as connection:
        sql = engine_of(connection, None).sql
        with pytest.raises(UnsupportedLossError, match="AbsoluteError.* takes SquaredError, Huber"):
            expressions_of(AbsoluteError(), sql, "y", "f")
