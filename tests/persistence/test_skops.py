"""skops stores all models, and loads them with the types that are listed for it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import skops.io

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


def test_the_list_has_classes_that_models_are_made_of() -> None:
    """No functions, nothing of the rooms that run processes or write files."""
    names = trusted_types()
    assert len(names) == len(set(names)) > 100
    shut = ("cgboost.parallel", "cgboost.studies", "cgboost.inspection", "cgboost.additive.sql")
    assert [name for name in names if name.startswith(shut)] == []


def test_it_is_told_what_skops_is_given_in_another_process(tmp_path: Path) -> None:
    """The list does not depend on what has been imported before."""
    fitted("Matern")
    code = "import cgboost.persistence as p; print(len(p.trusted_types()))"
    own = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(own.stdout) == len(trusted_types())
