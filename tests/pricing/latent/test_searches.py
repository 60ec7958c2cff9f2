"""The search for factors: what is saved changes nothing."""

from typing import Any

import numpy as np
import pytest

from cgboost.pricing.latent import LinearSearch, LinearSpace
from tests.pricing.latent.references import deflated_factors

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 12)) + RNG.normal(size=(60, 1)) * 3.0
Y = X[:, :3].sum(axis=1) + RNG.normal(size=60)


class Counting(LinearSpace):
    """Counts the products X̃ᵀa."""

    transposed_calls = 0

    def transposed(self, a: np.ndarray) -> np.ndarray:
        self.transposed_calls += 1
        return super().transposed(a)


def stepped(search: LinearSearch, response: np.ndarray) -> np.ndarray:
    """The next factor, accepted."""
    direction = search.direction(response)
    values, along = search.basis.without(direction.values)
    length = search.basis.length(values)
    search.offer(direction, along, length)
    search.accept(values / length)
    return values / length


def test_the_slopes_of_residuals_are_computed_once() -> None:
    """Least squares moves u within the span of T: X̃ᵀu then follows from P, and T is right."""
    space = Counting(np.asfortranarray(X), np.ones(60))
    search, u, responses = space.search(deflate=True), Y - Y.mean(), []
    for _ in range(6):
        responses.append(u)
        t = stepped(search, u)
        u = u - t * (t @ u)
    T, W, P = deflated_factors(X, responses)
    np.testing.assert_allclose(search.basis.factors, T, atol=1e-11)
    np.testing.assert_allclose(search.family.weights.values, W, atol=1e-10)
    np.testing.assert_allclose(search.family.loadings.values, P, atol=1e-10)
    assert space.transposed_calls == 1 + 6  # of u once, and of each factor (columns lie apart)


def test_other_responses_are_multiplied_anew() -> None:
    """A response of its own has slopes of its own."""
    space = Counting(np.ascontiguousarray(X), np.ones(60))
    search, responses = space.search(deflate=True), RNG.normal(size=(5, 60))
    for u in responses:
        stepped(search, u)
    T, W, P = deflated_factors(X, list(responses))
    np.testing.assert_allclose(search.basis.factors, T, atol=1e-11)
    np.testing.assert_allclose(search.family.weights.values, W, atol=1e-11)
    np.testing.assert_allclose(search.family.loadings.values, P, atol=1e-10)
    assert space.transposed_calls == 5


@pytest.mark.parametrize("deflate", [True, False])
def test_a_direction_is_that_of_steepest_descent(deflate: bool) -> None:
    """W = X̃ᵀa/‖X̃ᵀa‖, and its values X̃w."""
    search: Any = LinearSpace(X, np.ones(60)).search(deflate=deflate)
    u = RNG.normal(size=60)
    centred = X - X.mean(axis=0)
    direction = search.direction(u)
    w = centred.T @ u
    assert direction.length == pytest.approx(np.linalg.norm(w))
    np.testing.assert_allclose(direction.values, centred @ w / np.linalg.norm(w), atol=1e-12)


def test_no_response_has_no_direction() -> None:
    """Of zeros the length is 0 and nothing is divided by it."""
    direction = LinearSpace(X, np.ones(60)).search(deflate=True).direction(np.zeros(60))
    assert direction.length == 0.0
    np.testing.assert_array_equal(direction.values, np.zeros(60))
