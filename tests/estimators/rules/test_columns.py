"""Tables as rules read them."""

import numpy as np
import pandas as pd

from cgboost.estimators.rules.rule_columns import UNKNOWN_CATEGORY, encoded
from cgboost.tables.table_encoding import SchemaMaker
from tests.estimators.rules.people import people


def test_unknown_categories_are_told_from_missing_ones():
    """A category that training rows had not is −1, a missing one nan; known ones have numbers."""
    frame, _, _ = people(50)
    maker = SchemaMaker()
    maker.see(frame)
    schema = maker.schema()
    new = frame.head(3).assign(work=["martian", None, "self"])
    values = encoded(schema, new)[:, 1]
    assert values[0] == UNKNOWN_CATEGORY
    assert np.isnan(values[1])
    assert values[2] == schema.categories[1]["self"]


def test_an_array_of_numbers_is_not_copied():
    """Without categories the numbers are those that were given."""
    X = np.array([[1.0, np.nan], [2.0, 3.0]])
    maker = SchemaMaker()
    maker.see(X)
    assert encoded(maker.schema(), X) is X


def test_categories_of_pandas_and_truth_values():
    """Categorical types and truth values are read as they are in frames."""
    frame = pd.DataFrame({"c": pd.Categorical(["a", "b", None]), "t": [True, False, True]})
    maker = SchemaMaker()
    maker.see(frame)
    values = encoded(maker.schema(), frame)
    np.testing.assert_array_equal(values, [[0, 1], [1, 0], [np.nan, 1]])
