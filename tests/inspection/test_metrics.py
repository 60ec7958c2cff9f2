"""The Gini coefficient against areas by brute force, the AUC, and what must not change it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from cgboost.inspection.metrics import gains_chart, gini_coefficient, plot_gains


@st.composite
def samples(draw, *, binary: bool = False, weights: int = 1):
    """Targets that are not all alike, scores with ties, and whole weights up to ``weights``."""
    size = draw(st.integers(2, 25))
    largest = 1 if binary else 6
    target = draw(st.lists(st.integers(0, largest), min_size=size, max_size=size))
    score = draw(st.lists(st.integers(-4, 4), min_size=size, max_size=size))
    weight = draw(st.lists(st.integers(min(1, weights - 1), weights), min_size=size, max_size=size))
    counting = {t for t, w in zip(target, weight, strict=True) if w}
    if len(counting) < 2:
        target[:2], weight[:2] = [0, 1], [1, 1]
    return np.array(target), np.array(score), np.array(weight)


def pairs(target, score, weight):
    """Who of two rows has more, and was it said so? Summed over all pairs in exact fractions.

    The area between chart and diagonal is Σ w_i w_j (y_i − y_j) sign(s_i − s_j) over all pairs,
    up to a factor that depends on weights and targets alone.
    """
    total = Fraction(0)
    for y_i, s_i, w_i in zip(target, score, weight, strict=True):
        for y_j, s_j, w_j in zip(target, score, weight, strict=True):
            sign = int(s_i > s_j) - int(s_i < s_j)
            total += Fraction(int(w_i) * int(w_j) * (int(y_i) - int(y_j)) * sign)
    return total


@given(samples(binary=True, weights=3))
def test_of_two_classes_it_is_twice_the_auc_minus_one(sample):
    """With ties and sample weights, against scikit-learn."""
    y, score, weights = sample
    wanted = 2 * roc_auc_score(y, score, sample_weight=weights) - 1
    assert gini_coefficient(y, score, weights) == pytest.approx(wanted, abs=1e-12)
    assert gini_coefficient(y == 1, score, weights) == pytest.approx(wanted, abs=1e-12)


@given(samples(weights=3))
def test_the_area_by_brute_force(sample):
    """A sum over all pairs of rows in exact arithmetic, relative to that of a perfect order."""
    y, score, weights = sample
    wanted = float(pairs(y, score, weights) / pairs(y, y, weights))
    assert gini_coefficient(y, score, weights) == pytest.approx(wanted, abs=1e-12)


@given(samples(weights=3))
def test_the_area_under_the_chart(sample):
    """The chart's own trapezoids give the coefficient; it rises from (0, 0) to (1, 1)."""
    y, score, weights = sample
    (rows, gained), best = gains_chart(y, score, weights), gains_chart(y, y, weights)
    area = np.trapezoid(gained, rows) - 0.5
    assert gini_coefficient(y, score, weights) == pytest.approx(
        area / (np.trapezoid(best[1], best[0]) - 0.5), abs=1e-10
    )
    assert (rows[0], gained[0], rows[-1], gained[-1]) == (0.0, 0.0, 1.0, 1.0)
    assert np.all(np.diff(rows) > 0)
    assert np.all(np.diff(gained) >= 0)
    assert len(rows) == len(np.unique(score[weights > 0])) + 1


@given(samples(weights=3), st.randoms(use_true_random=False))
def test_what_changes_nothing(sample, random):
    """Increasing functions of the score, the unit of the target and of weights, the row order."""
    y, score, weights = sample
    wanted = pytest.approx(gini_coefficient(y, score, weights), abs=1e-12)
    for changed in (np.exp(score), score**3, 1e9 + score, np.where(score == 4, np.inf, score)):
        assert gini_coefficient(y, changed, weights) == wanted
    assert gini_coefficient(1e-200 * y, score, 1e200 * weights) == wanted
    order = list(range(len(y)))
    random.shuffle(order)
    assert gini_coefficient(y[order], score[order], weights[order]) == wanted
    assert gini_coefficient(y, -score, weights) == pytest.approx(
        -gini_coefficient(y, score, weights), abs=1e-12
    )


def test_a_target_far_from_0_loses_no_digits():
    """Only differences between targets matter, also beside a mean a billion times as large."""
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 100, size=500), rng.integers(0, 20, size=500)
    wanted = gini_coefficient(y, score)
    assert gini_coefficient(y + 2.0**40, score) == pytest.approx(wanted, rel=1e-10)


def test_a_chart_by_hand():
    """Five rows, two of them tied, and their shares."""
    rows, gained = gains_chart([4, 1, 3, 0, 2], [9.0, 5.0, 5.0, -1.0, 0.0])
    np.testing.assert_allclose(rows, [0, 0.2, 0.6, 0.8, 1.0])
    np.testing.assert_allclose(gained, [0, 0.4, 0.8, 1.0, 1.0])
    assert gini_coefficient([4, 1, 3, 0, 2], [9.0, 5.0, 5.0, -1.0, 0.0]) == pytest.approx(0.8)


def test_lists_and_single_precision():
    """Whatever is an array of numbers; scores that are equal in float32 are tied."""
    y, score = [0, 1, 1, 0], [0.1, 0.4, 0.35, 0.8]
    assert gini_coefficient(np.array(y, bool), np.float32(score)) == gini_coefficient(y, score)
    close = np.array([0.1, 0.1 + 1e-12])
    assert gini_coefficient([0, 1], close) == 1.0
    assert gini_coefficient([0, 1], close.astype(np.float32)) == 0.0


@pytest.mark.parametrize(
    ("y", "score", "weights", "message"),
    [
        ([0, 1], [1], None, "score must have one entry for each of the 2 rows of y, got 1"),
        ([0, 1], [1, 2], [1], "sample_weight must have one entry for each of the 2 rows of y"),
        ([0, -1.5], [1, 2], None, "y must be finite and not negative, got -1.5"),
        ([0, np.inf], [1, 2], None, "y must be finite and not negative, got inf"),
        ([0, np.nan], [1, 2], None, "y must not have nan, got 1 of them"),
        ([0, 1], [np.nan, np.nan], None, "score must not have nan, got 2 of them"),
        ([0, 1], [1, 2], [1, -1], "sample_weight must be finite and not negative, got -1"),
        ([0, 1], [1, 2], [1, np.nan], "sample_weight must not have nan"),
        ([0, 0], [1, 2], None, "y must not be 0 in every row of positive weight"),
        ([0, 1], [1, 2], [1, 0], "y must not be 0 in every row of positive weight"),
        ([], [], None, "y is empty: there must be at least one row"),
        ([[0, 1]], [[1, 2]], None, r"y must have one dimension, got shape \(1, 2\)"),
        (["a", "b"], [1, 2], None, "could not convert string"),
    ],
)
def test_bad_input(y, score, weights, message):
    """Each error names the argument, and what was wrong with it; for the chart as well."""
    for function in (gini_coefficient, gains_chart):
        with pytest.raises(ValueError, match=message):
            function(y, score, weights)


def test_a_constant_target_has_a_chart_and_no_coefficient():
    """Every order is as good as another: 0/0."""
    np.testing.assert_allclose(gains_chart([2, 2, 2], [1, 2, 3])[1], [0, 1 / 3, 2 / 3, 1])
    for y, weights in (([2, 2, 2], None), ([2, 2, 5], [1, 1, 0])):
        with pytest.raises(
            ValueError, match="y must have more than one value, in rows of positive"
        ):
            gini_coefficient(y, [1, 2, 3], weights)


def test_the_picture():
    """A curve for each model with its coefficient, a perfect one and the diagonal."""
    y, scores = [4, 1, 3, 0, 2], {"good": [9.0, 5.0, 5.0, -1.0, 0.0], "bad": [0, 1, 2, 3, 4]}
    weights = [1, 2, 1, 1, 1]
    [axis] = plot_gains(y, scores, weights).axes
    labels = [text.get_text() for text in axis.get_legend().get_texts()]
    assert labels == [
        *(f"{name}: Gini {gini_coefficient(y, s, weights):.3f}" for name, s in scores.items()),
        "perfect",
        "random",
    ]
    charts = [gains_chart(y, score, weights) for score in [*scores.values(), y]]
    for line, chart in zip(axis.get_lines(), [*charts, ([0, 1], [0, 1])], strict=True):
        np.testing.assert_array_equal(line.get_xdata(), chart[0])
        np.testing.assert_array_equal(line.get_ydata(), chart[1])
