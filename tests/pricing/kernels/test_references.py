"""From one pseudo-response to the next: the cheaper way, and errors that are never understated."""

import numpy as np

from cgboost.kernels.expansions import Rounding
from cgboost.pricing.kernels.scores import NEGLIGIBLE, WAITING_SHARE, Reference, change

ROUNDING = Rounding(1e-7, np.full(10, 2.0), diagonal=1e-7)
ONES = np.ones(10)


def after(reference: Reference, response: np.ndarray) -> Reference:
    """The reference of the scores after a pass."""
    own = change(reference, response, ROUNDING)
    error = own.errors(reference, ROUNDING)[0]
    return Reference(own.target, error, error if own.restart else reference.first_error)


def test_the_first_pass_begins_anew() -> None:
    """Without scores the weights are those of the response itself."""
    response = np.arange(10.0)
    own = change(Reference(), response, ROUNDING)
    assert own.restart
    np.testing.assert_array_equal(own.weights, response)


def test_few_changes_are_added_and_many_begin_anew() -> None:
    """Whichever has fewer nonzeros: what has changed, or the response."""
    reference = Reference(ONES)
    few = ONES.copy()
    few[2] = 3.0
    own = change(reference, few, ROUNDING)
    assert not own.restart
    np.testing.assert_array_equal(own.weights, 2.0 * np.eye(10)[2])
    sparse = np.eye(10)[4]
    own = change(reference, sparse, ROUNDING)
    assert own.restart
    np.testing.assert_array_equal(own.weights, sparse)


def test_negligible_changes_wait_until_they_add_up() -> None:
    """They are not priced, the error says so, and together they are priced in the end."""
    reference, response = after(Reference(), ONES), ONES.copy()
    step = 0.3 * WAITING_SHARE * ROUNDING.relative
    for count in range(1, 12):
        response = response.copy()
        response[0] += step
        own = change(reference, response, ROUNDING)
        if own.weights.any():
            break
        np.testing.assert_array_equal(own.target, ONES)
        kept, now = own.errors(reference, ROUNDING)
        np.testing.assert_allclose(now - kept, count * step * 2.0, rtol=1e-3)
    assert 1 < count < 12
    np.testing.assert_allclose(own.weights[0], count * step, rtol=1e-3)


def test_nothing_waits_where_rounding_is_not_known() -> None:
    """A kernel of one's own is priced to the last digit."""
    response = ONES.copy()
    response[0] += 0.1 * NEGLIGIBLE
    assert change(Reference(ONES), response, None).weights[0] > 0


def test_errors_add_up_over_passes_and_vanish_with_a_fresh_start() -> None:
    """Each pass adds the rounding of what it adds; a restart has that of the response alone."""
    reference = after(Reference(), ONES)
    fresh = reference.error
    assert fresh >= ROUNDING.relative * 20.0
    for sign in (1.0, -1.0) * 6:
        response = ONES.copy()
        response[:3] += sign
        grown = after(reference, response)
        assert grown.error > reference.error
        reference = grown
    assert reference.is_stale
    assert not after(Reference(), response).is_stale
    assert not Reference().is_stale
