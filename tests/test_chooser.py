"""The pages that help to choose say what is so."""

import inspect
import re
import warnings
from pathlib import Path

import pytest
import sklearn

import cgboost

GUIDE = Path(__file__).parents[1] / "docs" / "user_guide"
CHOOSER = (GUIDE / "chooser.md").read_text(encoding="utf-8")
PARAMETERS = (GUIDE / "parameters.md").read_text(encoding="utf-8")
SETUP = re.search(r"```python\n(.*?)```", CHOOSER, re.DOTALL)[1]
LINES = re.findall(r"^\|[^|]+\| `([^`]+\.fit\([^`]+)` \|", CHOOSER, re.MULTILINE)
LINES += re.findall(r"`(\w+\([^`]*\)\.fit\(X\))`", CHOOSER)
SECTIONS = re.split(r"^## ", PARAMETERS, flags=re.MULTILINE)[1:]
CLASSICAL = {"n_estimators", "learning_rate", "max_depth"}
"""Of several classes, whose defaults differ."""
ROWS = [
    (estimator, *row)
    for section in SECTIONS
    for estimator in re.findall(r"`(\w+)`", section.partition("\n")[0])
    for row in re.findall(r"^\| `(\w+)`[^|]*\| ([^|]+) \|", section, re.MULTILINE)
    if row[0] in inspect.signature(getattr(cgboost, estimator)).parameters
]


@pytest.mark.parametrize("line", LINES)
def test_every_line_of_the_chooser_runs(line: str) -> None:
    """On the data that the page names, and gives a fitted model."""
    names = {name: getattr(cgboost, name) for name in cgboost.__all__} | {"sklearn": sklearn}
    exec(SETUP, names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = eval(line, names)
    assert hasattr(model, "predict")
    assert model.n_features_in_ in (10, 30)


def test_the_chooser_has_lines_for_most_estimators() -> None:
    """No pattern of this test has lost its lines."""
    assert len(LINES) >= 20
    assert len(ROWS) >= 30
    named = re.findall(r"^\| `(\w+)`", PARAMETERS, re.MULTILINE)
    assert set(named) <= {parameter for _, parameter, _ in ROWS} | CLASSICAL


@pytest.mark.parametrize(("estimator", "parameter", "default"), ROWS)
def test_parameters_and_their_defaults_are_those_of_the_class(
    estimator: str, parameter: str, default: str
) -> None:
    """A default that is a number or a word in code is that of the signature."""
    value = inspect.signature(getattr(cgboost, estimator)).parameters[parameter].default
    said = re.match(r"`([^`]+)`|([\d.]+)$|([\d.]+)[,;]", default.strip())
    if said:
        word = next(group for group in said.groups() if group)
        assert word.strip('"') == str(value) or float(word) == value
