"""Write the files of this version that later versions must read.

``python -m tests.persistence.make_files``. Files of earlier versions are never written again: each
version has a folder of its own.
"""

import json
from pathlib import Path

import numpy as np

import cgboost
from cgboost.persistence.archive import FORMAT_VERSION
from tests.persistence.models import fitted, outputs

FOLDER = Path(__file__).parent / "data"
NAMES = (
    "Matern",
    "sums, normalised, standardised",
    "words",
    "thinned forest",
    "isotonic",
    "frame with words",
    "CGBoostClassifier, 3",
    "LPBoostClassifier, 2",
    "RuleSetRegressor, 2",
    "SparseLinearRegressor, 2",
    "GradientBoostingClassifier, 2",
    "LinearTreeRegressor, 2",
    "BLFClassifier, 2",
    "random state",
)
"""Of models of all kinds."""

FEW = (
    "Matern",
    "sums, normalised, standardised",
    "thinned forest",
    "frame with words",
    "RuleSetRegressor, 2",
    "SparseLinearRegressor, 2",
    "LinearTreeRegressor, 2",
    "BLFClassifier, 2",
)
"""Of those that are written."""


def folder() -> Path:
    """That of this version of the format."""
    return FOLDER / f"format_{FORMAT_VERSION}"


def file_name(name: str) -> str:
    """Without commas and blanks."""
    return name.replace(", ", "-").replace(" ", "_") + ".cgb"


def main() -> None:
    """Write them, and what they predict."""
    folder().mkdir(parents=True, exist_ok=True)
    said = {}
    for name in FEW:
        model, rows = fitted(name)
        model.save(folder() / file_name(name))
        method, values = next(iter(dict(outputs(model, rows)).items()))
        said[name] = [method, np.asarray(values[:5]).tolist()]
    about = {"cgboost": cgboost.__version__, "outputs": said}
    text = json.dumps(about, indent=1, ensure_ascii=False)
    (folder() / "outputs.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
