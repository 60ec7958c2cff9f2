"""Outputs of a model by the labels of their classes, or by their places."""

from typing import Any

import numpy as np
import pytest

from cgboost.estimators.common.class_outputs import output_labels, output_place


class Fitted:
    """A model with classes."""

    def __init__(self, *labels: Any) -> None:
        self.classes_ = np.array(labels)


def test_two_classes_have_one_output() -> None:
    """That of the second; more have one each, a regressor has none with a label."""
    assert output_labels(Fitted("a", "b")) == ["b"]
    assert output_labels(Fitted(3, 4, 7)) == [3, 4, 7]
    assert output_labels(object()) == []


def test_a_label_comes_before_a_place() -> None:
    """Of labels 1, 2, 5 the number 1 is the first, and 0, which is no label, is a place."""
    labels = output_labels(Fitted(1, 2, 5))
    assert [output_place(k, labels) for k in (1, 2, 5, 0)] == [0, 1, 2, 0]
    assert output_place(None, labels) == 0
    assert output_place(None, labels, default=-1) == -1
    assert output_place(np.int64(2), ["a", "b", "c"]) == 2
    assert output_place(np.str_("b"), ["a", "b", "c"]) == 1


@pytest.mark.parametrize("output", [3, -1, "d", 1.0, ["a"], np.arange(3)], ids=str)
def test_what_is_no_output_is_an_error(output: Any) -> None:
    """It lists the classes."""
    with pytest.raises(IndexError, match=r"one of the classes \['a', 'b', 'c'\], or its place"):
        output_place(output, output_labels(Fitted("a", "b", "c")))
