"""The package solvers, where users have something else of that name."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cgboost
import solvers
from cgboost import CGBoostClassifier, _solvers

ROOT = Path(cgboost.__file__).parents[1]

SCRIPT = """
import solvers
from solvers import answer

import numpy as np
from cgboost import CGBoostClassifier, LPBoostClassifier, SparseLinearRegressor, load
from cgboost import _solvers as own
from sklearn.model_selection import GridSearchCV

assert answer() == 42
assert own.__name__ == "cgboost._solvers" and own is not solvers
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
model = CGBoostClassifier().fit(X, y)
model.save("model.cgb")
assert (load("model.cgb").predict(X) == model.predict(X)).all()
for solver in ("highs", "clarabel", "cvxpy:CLARABEL"):
    assert LPBoostClassifier(solver=solver).fit(X, y).converged_
assert SparseLinearRegressor(loss="absolute_error", alpha=0.1).fit(X, X[:, 0]).gap_ < 1e-3
program = own.Program(np.ones(3000), lower=-1.0, upper=1.0)
assert own.solve(program, "piqp", time_limit=60.0).status is own.Status.OPTIMAL
search = GridSearchCV(CGBoostClassifier(), {"C": [0.1, 1.0]}, n_jobs=2, error_score="raise", cv=2)
assert search.fit(X, y).score(X, y) > 0.5
try:
    own.solve(program, "hihgs")
except own.SolverError as error:
    print(type(error).__module__, float(model.objective_))
"""


def run(folder: Path, code: str) -> list[str]:
    """Words of the last line that a script in a folder prints, with the package on the path."""
    (folder / "script.py").write_text(code, encoding="utf-8")
    place = os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "script.py"]
    done = subprocess.run(
        command, cwd=folder, env=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1].split()  # HiGHS may introduce itself before


@pytest.mark.parametrize("place", ["solvers.py", "solvers/__init__.py"])
def test_a_module_of_users_called_solvers_does_no_harm(tmp_path: Path, place: str) -> None:
    """They have theirs, the package has its own, and a saved model is the same as without."""
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_text("def answer():\n    return 42\n", encoding="utf-8")
    module, objective = run(tmp_path, SCRIPT)
    assert module == "cgboost._solvers.program.status"
    model = cgboost.load(tmp_path / "model.cgb")
    assert isinstance(model, CGBoostClassifier)
    assert model.objective_ == float(objective)
    assert model.predict(np.zeros((1, 4))).shape == (1,)


def test_a_broken_module_of_users_is_not_run(tmp_path: Path) -> None:
    """It is looked for and not imported."""
    (tmp_path / "solvers.py").write_text("raise SystemExit(3)", encoding="utf-8")
    assert run(tmp_path, "import cgboost\nprint(cgboost.RBF.__name__)") == ["RBF"]


def test_a_script_may_itself_be_called_solvers(tmp_path: Path) -> None:
    """Then `solvers` is no module that has been imported, and one that would be found."""
    code = "if __name__ == '__main__':\n    import cgboost\n    print(cgboost.RBF.__name__)\n"
    (tmp_path / "solvers.py").write_text(code, encoding="utf-8")
    assert run(tmp_path, "import runpy; runpy.run_path('solvers.py', run_name='__main__')") == [
        "RBF"
    ]


def test_the_name_is_shared_where_it_is_free() -> None:
    """Users who catch an error of `solvers` catch what the package raises."""
    assert _solvers is solvers
    assert cgboost.masters.linear.linear_master.UnboundedError is solvers.UnboundedError  # type: ignore[attr-defined]


def test_a_damaged_installation_says_so(tmp_path: Path) -> None:
    """Without its folder the package cannot be imported, and the cure is named."""
    code = (ROOT / "cgboost" / "_solvers.py").read_text(encoding="utf-8")
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "_solvers.py").write_text(code, encoding="utf-8")
    (tmp_path / "part" / "__init__.py").touch()
    test = "try:\n    import part._solvers\nexcept ImportError as error:\n    print(error)"
    assert "--force-reinstall" in run(tmp_path, test)
