"""What an installation without the extras does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import cgboost
from cgboost.optional import EXTRAS, is_installed, require

HIDDEN = ({*EXTRAS} - {"pandas"}) | {"daqp", "piqp"}
"""Without pandas, which scikit-learn takes for a module wherever `sys.modules` has its name."""

SCRIPT = f"""
import sys
sys.modules.update(dict.fromkeys({HIDDEN}))

import numpy as np
from cgboost import CGBoostClassifier, LPBoostClassifier, SparseLinearRegressor, TransformRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
models = [CGBoostClassifier(verbose=1), CGBoostClassifier(penalty="l1"), LPBoostClassifier()]
for model in models:
    assert model.fit(X, y).converged_, model
assert SparseLinearRegressor(loss="absolute_error", alpha=0.1).fit(X, X[:, 0]).converged_
assert TransformRegressor().fit(X, X[:, 0]).score(X, X[:, 0]) > 0.5
assert "certified" in repr(models[0])
assert "<div" in models[0]._repr_html_inner()
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    """A script, after the models of ``SCRIPT``."""
    command = [sys.executable, "-c", SCRIPT + code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_models_need_none_of_the_extras() -> None:
    """They are fitted, with plain lines of progress, and show themselves."""
    done = run("")
    assert done.returncode == 0, done.stderr
    assert "optimal after" in done.stderr


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("from cgboost.inspection import plot_history as f; f(models[0])", "cgboost[plots]"),
        ("models[0].report('report.html')", "cgboost[report]"),
        ("models[0].to_onnx('model.onnx')", "cgboost[onnx]"),
        ("TransformRegressor().fit(X, X[:, 0]).to_sql('t')", "cgboost[sql]"),
        ("from cgboost.studies.cli import main; sys.exit(main(['odd-even']))", "cgboost[progress]"),
        ("LPBoostClassifier(solver='piqp').fit(X, y)", "pip install piqp"),
        ("CGBoostClassifier(solver='daqp').fit(X, y)", "pip install daqp"),
    ],
)
def test_what_is_missing_is_said_in_one_line(code: str, words: str) -> None:
    """With the command that installs it."""
    done = run(code)
    assert done.returncode != 0
    assert words in done.stderr.strip().splitlines()[-1], done.stderr


def test_every_package_that_is_asked_for_has_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error says how to install it."""
    asked = re.compile(r"\b(?:require|OnDemand)\(\s*\"(\w+)[\w.]*\"")
    files = Path(cgboost.__path__[0]).rglob("*.py")
    packages = {name for file in files for name in asked.findall(file.read_text("utf-8"))}
    assert {"pandas", "skops", "sqlglot"} <= packages
    assert packages - EXTRAS.keys() == {"skl2onnx"}  # of the peers, which no extra of users has
    for package in packages & EXTRAS.keys():
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=rf"pip install \"cgboost\[{EXTRAS[package]}\]\""):
            require(package, "this")


def test_what_is_there_is_not_asked_for() -> None:
    """What is not there has an extra, or none."""
    require("matplotlib", "a picture")
    with pytest.raises(ImportError, match="a test needs .*: pip install no_such_package$"):
        require("no_such_package", "a test")
    assert is_installed("numpy", "scipy")
    assert not is_installed("numpy", "no_such_package")
