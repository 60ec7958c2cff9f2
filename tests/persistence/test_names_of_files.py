"""No module and no private attribute of a model is named in a file: they may change."""

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import cgboost
from cgboost import RBF, LPBoostClassifier
from cgboost.generation.history import StopReason
from cgboost.generation.resuming import RunRecord
from cgboost.persistence import attributes, classes
from cgboost.persistence.codec import encoded
from cgboost.persistence.decoding import decoded
from tests.persistence.make_files import FOLDER, file_name
from tests.persistence.models import fitted

SOURCES = Path(cgboost.__file__).parents[1]
MODULES = {
    "kernels/numeric/distances": "gaussian",
    "estimators/kernel/base_kernel_boost": "read_rows",
}
WORDS = {
    r"\bdistances(?= import)": "gaussian",
    r"\bbase_kernel_boost\b": "read_rows",
    r"\b_runs\b": "_ended",
}
"""Two modules and a private attribute, in all sources."""
READING = """
import json, sys, numpy, cgboost
X = numpy.load(sys.argv[1])
models = [cgboost.load(path) for path in sys.argv[2:]]
print(json.dumps([cgboost.__file__, *(model.predict(X)[:5].tolist() for model in models)]))
"""


def test_every_kind_is_a_class() -> None:
    """Each is found in its module; a name that two classes have is none, and no model has those."""
    for kind, module in classes.kinds().items():
        own = classes.known_class(kind)
        assert (own.__name__, own.__module__) == (kind, module)
        assert classes.is_ours(own)
    found = classes.classes_in(classes.MODEL_ROOMS + classes.OTHER_ROOMS)
    counts = Counter(name for _, name in found)
    assert {name for name in counts if counts[name] > 1} == {"Budget", "_Check"}


@pytest.mark.parametrize("old", classes.RENAMED)
def test_what_was_renamed_is_found(old: str) -> None:
    """In whatever room its module was; an old name without module is that of nothing else."""
    name = f"cgboost.any.{old}" if ":" in old else old
    assert classes.known_class(name).__name__ == classes.RENAMED[old]
    assert old not in classes.kinds()


def test_names_of_format_1_are_kinds_with_any_module() -> None:
    """If it was one of cgboost's; names of others are never kinds."""
    assert classes.known_class("cgboost.kernels.features.rbf:RBF") is RBF
    assert classes.known_class("cgboost.gone:StopReason") is StopReason
    for name in ("os:RBF", "cgboost:RBFs", "kernels.numeric.rbf:RBF"):
        assert classes.kind_today(name) not in classes.kinds()


def test_attributes_of_the_schema_have_names_of_their_own() -> None:
    """Each class is there, and no two attributes have one name in files."""
    for kind, names in attributes.IN_FILES.items():
        own = attributes.names_in_files(classes.known_class(kind))
        assert own.items() >= names.items()
        assert len(set(own.values())) == len(own)


def test_what_an_old_file_lacks_is_as_by_default() -> None:
    """A parameter of an estimator, and a field of a record that has a list or a dictionary."""
    record = RunRecord([], [], [], [], [], 0.0, 0.0, 0.0, 0, 0.0, smoothing={"a": 1})
    for own, name in ((LPBoostClassifier(C=3.0, tol=0.5), "tol"), (record, "smoothing")):
        graph = json.loads(json.dumps(encoded(own).as_json()))
        (number,) = graph["root"]
        shape, *values = graph["nodes"][number]
        place = graph["shapes"][shape][2].index(name)
        graph["shapes"][shape][2].pop(place)
        values.pop(place)
        graph["nodes"][number] = [shape, *values]
        old = decoded(graph, [])
        assert getattr(old, name) == ({} if own is record else LPBoostClassifier().tol)
        assert vars(old).keys() == vars(own).keys()


def test_renamed_modules_and_attributes_read_old_files(tmp_path: Path) -> None:
    """A copy of cgboost in which they have other names reads files of all versions."""
    for top in ("cgboost", "solvers"):
        shutil.copytree(SOURCES / top, tmp_path / top)
    for path in [*tmp_path.rglob("*.py"), *tmp_path.rglob("*.pyi")]:
        old = new = path.read_text(encoding="utf-8")
        for words, other in WORDS.items():
            new = re.sub(words, other, new)
        if new != old:
            path.write_text(new, encoding="utf-8")
    for module, other in MODULES.items():
        path = tmp_path / "cgboost" / f"{module}.py"
        path.rename(path.with_stem(other))
    name = "sums, normalised, standardised"
    np.save(tmp_path / "X.npy", fitted(name)[1])
    folders = sorted(FOLDER.glob("format_*"))
    files = [str(folder / file_name(name)) for folder in folders]
    command = [sys.executable, "-c", READING, "X.npy", *files]
    read = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    place, *values = json.loads(read.stdout)
    assert Path(place).is_relative_to(tmp_path)
    assert len(values) == len(folders) > 1
    for folder, own in zip(folders, values, strict=True):
        said = json.loads((folder / "outputs.json").read_text(encoding="utf-8"))["outputs"]
        assert own == said[name][1]


def test_libraries_of_old_files_divide_sums_as_a_whole(tmp_path: Path) -> None:
    """As True meant when they were written, also in clones and when they are saved again."""
    for folder in FOLDER.glob("format_*"):
        old = cgboost.load(folder / file_name("sums, normalised, standardised")).library
        assert old.normalize == clone(old).normalize == "whole"
        cgboost.CGBoostClassifier(old).save(tmp_path / "again.cgb")
        assert cgboost.load(tmp_path / "again.cgb").library == old
    new = cgboost.KernelLibrary({"rbf": RBF()}, normalize=True)
    assert decoded(json.loads(json.dumps(encoded(new).as_json())), []).normalize is True
