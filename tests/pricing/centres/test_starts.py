"""Where centres start."""

import numpy as np

from cgboost import RBF
from cgboost.pricing.centres.starts import means, within_reach


def clusters() -> tuple[np.ndarray, np.ndarray]:
    """Four tight groups of rows, two of either sign."""
    rng = np.random.default_rng(0)
    corners = np.array([[0.0, 0.0], [9.0, 9.0], [0.0, 9.0], [9.0, 0.0]])
    X = np.repeat(corners, 50, axis=0) + 0.1 * rng.normal(size=(200, 2))
    return X, np.repeat([1.0, -1.0], 100)


def test_centres_are_the_means_of_either_sign() -> None:
    """Two means of the rows with r > 0, then two of those with r < 0."""
    X, r = clusters()
    found = means(X, r, 4, np.random.RandomState(0))
    assert found.dtype == np.float64
    np.testing.assert_allclose(np.sort(found[:2].sum(axis=1)), [0, 18], atol=0.2)
    np.testing.assert_allclose(found[2:].sum(axis=1), 9.0, atol=0.2)


def test_rows_count_by_the_size_of_r() -> None:
    """A row with r = 0 is in no mean, and one with twice the r weighs twice."""
    X = np.array([[0.0], [1.0], [50.0], [9.0], [9.0]])
    found = means(X, np.array([1.0, 2.0, 0.0, -1.0, -1.0]), 2, np.random.RandomState(0))
    np.testing.assert_allclose(found, [[2.0 / 3.0], [9.0]])


def test_no_sign_gets_more_centres_than_rows() -> None:
    """What one sign cannot use the other gets; without any r there are none."""
    X, _ = clusters()
    few = np.where(np.arange(200) < 3, 1.0, -1.0)
    found = means(X, few, 10, np.random.RandomState(0))
    assert len(found) == 10
    np.testing.assert_array_equal(found[:3], X[:3])
    assert len(means(X, np.zeros(200), 10, np.random.RandomState(0))) == 0
    assert len(means(X[:4], np.array([1.0, 1.0, -1.0, 0.0]), 10, np.random.RandomState(0))) == 3


def test_a_seed_gives_the_same_centres() -> None:
    """With more rows than k-means sees, the choice of rows is the seed's too."""
    rng = np.random.default_rng(1)
    X, r = rng.normal(size=(2000, 3)), rng.normal(size=2000)
    first, again = (means(X, r, 6, np.random.RandomState(3)) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_means_that_no_row_is_like_become_rows() -> None:
    """Of a narrow kernel the mean of two rows is far from both; of a wide one it stays."""
    X = np.array([[0.0], [2.0], [10.0]])
    Z = np.array([[0.9], [10.0]])
    np.testing.assert_array_equal(within_reach(RBF(50.0), X, Z), [[0.0], [10.0]])
    np.testing.assert_array_equal(within_reach(RBF(0.1), X, Z), Z)
    assert len(within_reach(RBF(50.0), X, Z[:0])) == 0


def test_equal_rows_make_fewer_means_without_a_word(recwarn: object) -> None:
    """Two different rows of a sign give two means, whatever number is asked for."""
    X = np.repeat([[0.0], [1.0], [5.0], [6.0]], 5, axis=0)
    found = means(X, np.repeat([1.0, -1.0], 10), 8, np.random.RandomState(0))
    assert set(found[:, 0].round(9)) == {0.0, 1.0, 5.0, 6.0}
    assert not list(recwarn)  # type: ignore[call-overload]
