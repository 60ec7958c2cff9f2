"""skops stores all models, and loads them with the types that are listed for it."""

import datetime
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import pytest
import skops.io

from cgboost import LPBoostClassifier, TransformRegressor
from cgboost.persistence import trusted_types
from tests.persistence.make_files import NAMES
from tests.persistence.models import fitted, outputs


@pytest.mark.parametrize("name", NAMES)
def test_skops_loads_models_bit_by_bit(name: str) -> None:
    """Nothing has to be trusted by hand."""
    model, rows = fitted(name)
    data = skops.io.dumps(model)
    same = skops.io.loads(data, trusted=trusted_types())
    if name != "not fitted":
        for (method, own), (_, other) in zip(
            outputs(model, rows), outputs(same, rows), strict=True
        ):
            np.testing.assert_array_equal(own, other, err_msg=method, strict=True)


def test_categories_and_labels_keep_their_types() -> None:
    """A text and the number that it says are two categories; keys of a parameter stay as well."""
    day = datetime.datetime(2020, 1, 1)
    values = [1, "1", 1.5, "1.5", False, "False", (1, "x"), (1, ("x",)), b"x", "x", day, str(day)]
    values += [datetime.timedelta(3), datetime.time(3), Decimal("0.1"), Fraction(1, 3), UUID(int=1)]
    values += [frozenset([1]), pd.Interval(0, 1), 2**70, np.int64(7), np.float32(0.1), range(3)]
    frame = pd.DataFrame({"g": pd.Series(values * 9, dtype=object)})
    model = TransformRegressor(categorical_features=["g"], n_estimators=1, early_stopping=False)
    model.fit(frame, np.tile(np.arange(len(values)), 9))
    same = skops.io.loads(skops.io.dumps(model), trusted=trusted_types())
    assert [*same._schema.categories[0].items()] == [*model._schema.categories[0].items()]
    np.testing.assert_array_equal(same.predict(frame), model.predict(frame))

    weights = {False: 3.0, True: 1.0}
    classifier = LPBoostClassifier(class_weight=weights, max_columns=3).fit([[0.0], [1.0]], [0, 1])
    same = skops.io.loads(skops.io.dumps(classifier), trusted=trusted_types())
    assert same.class_weight == weights


def test_the_list_has_classes_that_models_are_made_of() -> None:
    """No functions, nothing of the rooms that run processes or write files."""
    names = trusted_types()
    assert len(names) == len(set(names)) > 100
    shut = ("cgboost.parallel", "cgboost.studies", "cgboost.inspection", "cgboost.additive.sql")
    assert [name for name in names if name.startswith(shut)] == []
