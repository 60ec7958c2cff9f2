"""Products of terms from sums by group are those of the rows."""

import numpy as np
import pytest

from cgboost.additive.sql.term_products import TermProducts, key_of
from cgboost.additive.statistics.moments import Moments
from cgboost.additive.statistics.passes import Parts
from cgboost.additive.trees.transformation import Transformation
from cgboost.tables.preparation import Categories, Groups, intervals_of


class Rows:
    """Two features of numbers, one of categories, two outputs, a response; weights."""

    def __init__(self, seed: int, n_rows: int = 400) -> None:
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(n_rows, 3))
        self.X[:, 1] += 1e3
        self.X[:, 2] = rng.integers(4, size=n_rows)
        self.outputs, self.response = rng.normal(size=(n_rows, 2)), rng.normal(size=n_rows)
        self.weights = rng.choice([0.5, 1.0, 2.0], n_rows)
        self.held = rng.random(n_rows) < 0.3
        ones = np.ones(n_rows)
        self.groups: list[Groups] = [intervals_of(self.X[:, j], ones, 8) for j in range(2)]
        self.groups.append(Categories(4))

    def moments(self, values: np.ndarray) -> Parts:
        """Of columns, as one group."""
        held = self.held
        return Parts(
            Moments.of(values[~held], self.weights[~held]),
            Moments.of(values[held], self.weights[held]),
        )

    def grouped(self, feature: int) -> Parts:
        """Of (x, outputs, response) in the groups of a feature."""
        groups, x = self.groups[feature], self.X[:, feature]
        values = np.column_stack([groups.regressor(x), self.outputs, self.response])
        parts = []
        for held in (False, True):
            chosen = [(groups.codes(x) == g) & (self.held == held) for g in range(groups.n_groups)]
            parts.append(Moments.stacked([Moments.of(values[c], self.weights[c]) for c in chosen]))
        return Parts(*parts)

    def term(self, feature: int, seed: int, n_leaves: int) -> Transformation:
        """A function of a feature and the outputs; one leaf is that of all values."""
        rng = np.random.default_rng(seed)
        groups = self.groups[feature]
        leaf = np.arange(groups.n_groups) * n_leaves // groups.n_groups
        slope = rng.normal(size=n_leaves) * groups.ordered
        return Transformation(
            feature, groups, leaf, rng.normal(size=n_leaves), slope, rng.normal(size=(n_leaves, 2))
        )


@pytest.mark.parametrize("seed", range(4))
def test_they_are_those_of_the_rows(seed: int) -> None:
    """Of trees, of functions without a split, of equal ones; few pairs are read."""
    rows = Rows(seed)
    terms = [rows.term(0, 1, 3), rows.term(1, 2, 4), rows.term(2, 3, 3)]  # split
    terms += [rows.term(0, 4, 1), rows.term(1, 5, 1), rows.term(2, 6, 1), terms[0]]
    values = [term(rows.X[:, term.feature], rows.outputs) for term in terms]
    near = np.array([value.mean() + 0.1 for value in values])
    origin = np.array([0.2, -0.1, 0.05])
    grouped = {feature: rows.grouped(feature) for feature in range(3)}
    products = TermProducts(terms, near, grouped, origin, {key_of(terms[1]): 0.3})
    assert len(products.parts) == 5  # three trees, and two features along which others go
    assert len(products.pairs) == 8
    columns = [
        (rows.groups[part.feature].regressor(rows.X[:, part.feature]))
        if part.term is None
        else part.term(rows.X[:, part.feature], rows.outputs)
        for part in products.parts
    ]
    assert products.parts[1].origin == 0.3
    centred = [c - part.origin for c, part in zip(columns, products.parts, strict=True)]
    read = {
        (i, j): np.array(
            [
                np.sum((rows.weights * centred[i] * centred[j])[own])
                for own in (~rows.held, rows.held)
            ]
        )
        for i, j in products.pairs
    }
    found = products.moments(read)
    wanted = rows.moments(np.column_stack([*values, rows.response]))
    for own, other in ((found.training, wanted.training), (found.holdout, wanted.holdout)):
        np.testing.assert_allclose(own.count, other.count)
        np.testing.assert_allclose(own.mean, other.mean, rtol=1e-12, atol=1e-12)
        scale = np.sqrt(np.diag(other.scatter[0]))
        errors = np.abs(own.scatter[0] - other.scatter[0]) / np.outer(scale, scale)
        assert errors.max() < 1e-11


def test_without_terms_the_response_is_left() -> None:
    """Its statistics come from any input."""
    rows = Rows(0)
    products = TermProducts([], np.zeros(0), {2: rows.grouped(2)}, np.zeros(3), {})
    assert not products.pairs
    found, wanted = products.moments({}), rows.moments(rows.response[:, None])
    np.testing.assert_allclose(found.training.scatter, wanted.training.scatter)
    np.testing.assert_allclose(found.holdout.mean, wanted.holdout.mean, atol=1e-12)
