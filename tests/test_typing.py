"""Editors and type checkers know the parameters of estimators, their types and their words."""

import inspect
import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest
from mypy import api

import cgboost
from tests.inspection.report.models import ESTIMATORS

ROOT = Path(__file__).parents[1]

RIGHT = """
import numpy as np
from cgboost import (
    RBF, AdaBoostClassifier, BLFRegressor, CGBoostClassifier, CGBoostRegressor, KernelLibrary,
    Linear, LinearTreeRegressor, LPBoostClassifier, TransformRegressor,
)
library = KernelLibrary({"mine": lambda X, Z: X @ Z.T, "sum": Linear() + 2 * RBF()})
X, y = np.ones((4, 2)), np.arange(4) % 2
model = CGBoostClassifier(library, C=2.0, penalty="l1", columns_per_round="all").fit(X, y)
reveal_type(model)
reveal_type(model.report("report.html"))
CGBoostRegressor(nu=0.1, priority="full").fit(X, y, eval_set=(X, y))
LPBoostClassifier(formulation="erlp", nu=0.1)
BLFRegressor("cv", kernel=RBF(0.1))
TransformRegressor(variant="transform")
AdaBoostClassifier(n_estimators=5)
LinearTreeRegressor(max_depth=3)
"""

WRONG = """
from cgboost import BLFRegressor, CGBoostClassifier, LPBoostClassifier, TransformRegressor
CGBoostClassifier(Cost=1.0)
CGBoostClassifier(penalty="l3")
CGBoostClassifier(loss="hing")
CGBoostClassifier(None, 1.0)
CGBoostClassifier(tol="small")
CGBoostClassifier(columns_per_round="many")
LPBoostClassifier(formulation="pl")
TransformRegressor(variant="transformed")
BLFRegressor("best")
CGBoostClassifier().reports("report.html")
"""


def checked(code: str, folder: Path) -> str:
    """What mypy says about some code, without the name of the file."""
    file = folder / "snippet.py"
    file.write_text(code, encoding="utf-8")
    options = [
        "--strict",
        "--ignore-missing-imports",
        "--follow-imports=silent",
        "--no-error-summary",
    ]
    options += ["--config-file=", f"--cache-dir={ROOT / '.mypy_cache'}"]
    said, failure, _ = api.run([*options, str(file)])
    assert failure == ""
    return said.replace(str(file), "snippet.py")


def test_right_use_passes_and_results_have_types(tmp_path: Path) -> None:
    """No complaint; a fit returns the class it was called on, and a report a path."""
    said = checked(RIGHT, tmp_path)
    assert "error" not in said
    assert '"cgboost.estimators.kernel.cg_boost.CGBoostClassifier"' in said
    assert '"pathlib.Path"' in said


def test_wrong_names_and_words_are_found(tmp_path: Path) -> None:
    """Each line of wrong use has an error, and the message names what is wrong."""
    said = checked(WRONG, tmp_path)
    lines = WRONG.splitlines()
    wrong = [number for number, line in enumerate(lines, start=1) if line and "import" not in line]
    assert sorted({int(found) for found in re.findall(r"snippet.py:(\d+): error", said)}) == wrong
    for words in (
        '"Cost"',
        "Literal['l1', 'l2', 'elasticnet', 'rkhs', 'group']",
        '"reports"',
        "Too many positional arguments",
    ):
        assert words in said


@pytest.mark.parametrize("package", ["cgboost", "solvers"])
def test_packages_say_that_they_are_typed(package: str) -> None:
    """PEP 561: the marker is beside ``__init__.py``, and the build takes it along."""
    assert files(package).joinpath("py.typed").is_file()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "py.typed" in project["tool"]["setuptools"]["package-data"][package]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_constructors_are_written_out(name: str) -> None:
    """Every parameter has a name, a type and a default: what an editor offers after ``(``."""
    kind = getattr(cgboost, name)
    parameters = inspect.signature(kind).parameters
    assert set(parameters) == set(kind().get_params(deep=False))
    for parameter in parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty
        assert parameter.default is not inspect.Parameter.empty
        assert parameter.kind is not inspect.Parameter.VAR_KEYWORD
