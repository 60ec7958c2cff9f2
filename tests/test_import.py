"""What ``import cgboost`` costs and changes."""

import json
import subprocess
import sys

import pytest

HEAVY = ("cvxpy", "networkx", "matplotlib", "osqp", "clarabel", "piqp", "highspy", "rich", "polars")

PROBE = """
import json, logging, sys, warnings
import sklearn.base, sklearn.utils.multiclass, sklearn.utils.validation
before = {name.partition(".")[0] for name in sys.modules}
root = logging.getLogger()
state = (root.level, len(root.handlers), len(warnings.filters))
import MODULE
assert (root.level, len(root.handlers), len(warnings.filters)) == state
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules} - before)))
"""


@pytest.mark.parametrize(
    "module", ["cgboost", "solvers", "cgboost.studies.cli", "cgboost.inspection"]
)
def test_import_loads_no_heavy_package(module):
    """Solvers, plotting and progress packages are imported where they are used, not before."""
    code = PROBE.replace("MODULE", module)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    added = json.loads(done.stdout)
    assert module.partition(".")[0] in added
    assert not set(added) & set(HEAVY)


def test_a_name_is_imported_when_it_is_asked_for():
    """The package alone loads neither scikit-learn nor NumPy, and has all names and modules."""
    code = """
import sys
import cgboost
assert not {"sklearn", "numpy", "scipy"} & set(sys.modules)
assert "CGBoostClassifier" in dir(cgboost) and "RBF" in cgboost.__all__
assert cgboost.linear.QuantileRegressor and cgboost.generation.Column
try:
    cgboost.CGBoostClasifier
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "CGBoostClasifier" in done.stdout


def test_a_folder_of_the_same_name_does_not_hide_the_package(tmp_path):
    """Beside a folder called cgboost (a clone, say) Python still finds the installed package."""
    (tmp_path / "cgboost").mkdir()
    code = "from cgboost import RBF"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, stderr=-1, check=False)
    assert done.returncode == 0, done.stderr


def test_solvers_import_nothing_of_cgboost():
    """The arrows between the packages point one way."""
    code = PROBE.replace("MODULE", "solvers")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(json.loads(done.stdout)) & {"cgboost", "sklearn"}
