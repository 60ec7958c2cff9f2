"""Failures of solvers: the advice is about what is large, and there is none where none fits."""

import numpy as np
import pytest

from cgboost import LPBoostClassifier
from cgboost.exceptions import MasterError
from cgboost.losses import hinge, nu_hinge
from cgboost.optimizers.solver_failures import advice, solver_errors_as_master_errors
from solvers import (
    LimitError,
    OptionError,
    SolverError,
    SolverFailure,
    Status,
    UnsupportedProblemError,
)

LABELS = np.array([1.0, -1.0])


@pytest.mark.parametrize(
    ("cost", "largest", "words"),
    [
        (1.1e8, 1.0, "choose a smaller C: errors of a row cost up to 1.1e.08"),
        (1e8, 1.0, "name another solver"),
        (1.0, 1001.0, "scale the features or normalise the kernels: .* a column is 1e.03"),
        (1.0, 1000.0, "name another solver"),
        (1.0, 0.0009, "scale the features .* is 0.0009"),
        (1.0, 0.001, "name another solver"),
        (1.0, 0.0, "name another solver"),
    ],
)
def test_advice_is_about_what_is_large(cost, largest, words):
    """Costs, then columns; columns of ordinary size, such as stumps, are not to be scaled."""
    with pytest.raises(MasterError, match=f"^it failed; {words}.*explain solvers"):  # noqa: SIM117
        with solver_errors_as_master_errors(
            lambda: advice(hinge(LABELS, np.full(2, cost)), largest)
        ):
            raise SolverFailure("it failed")


def test_prices_of_a_loss_with_nu_are_no_matter_of_c():
    """With ν there is no C to make smaller."""
    loss = nu_hinge(LABELS, np.full(2, 1e9), 0.5, balanced=True)
    assert advice(loss, 1.0).startswith("name another solver")


@pytest.mark.parametrize("error", [OptionError, UnsupportedProblemError])
def test_errors_without_numbers_get_no_advice(error):
    """An option that a solver does not know is not mended by scaled features."""
    with pytest.raises(MasterError, match="^no such thing .more: cgboost"):  # noqa: SIM117
        with solver_errors_as_master_errors(lambda: "scale the features"):
            raise error("no such thing")


@pytest.mark.parametrize(
    ("status", "timed_out"), [(Status.TIME_LIMIT, True), (Status.ITERATION_LIMIT, False)]
)
def test_time_that_is_up_is_no_failure(status, timed_out):
    """A time limit is told from a limit of iterations, and gets no advice."""
    with pytest.raises(MasterError) as caught, solver_errors_as_master_errors(lambda: "scale"):
        raise LimitError("limit", status=status)
    assert caught.value.timed_out is timed_out
    assert ("scale" in str(caught.value)) is not timed_out


def test_stumps_are_not_to_be_scaled(monkeypatch):
    """A solver that fails on columns of ±1 leads to no advice on features."""

    def fail(*arguments, **options):
        raise SolverError("it failed")

    monkeypatch.setattr("cgboost.masters.support_vector.master.RestrictedDual.solve", fail)
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(MasterError, match="it failed; name another solver"):
        LPBoostClassifier().fit(X, np.arange(20) % 2)
