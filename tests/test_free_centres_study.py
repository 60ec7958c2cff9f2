"""The study of free centres, on few of the digits that scikit-learn ships."""

from pathlib import Path
from typing import Any

import numpy as np

from tests.studies.modules import modules

ROOT = Path(__file__).parents[1]


parts = modules("benchmarks", "free_centres free_centres_page")
"""The script and the module of its page."""


def test_every_method_is_measured_and_the_page_is_made(
    parts: dict[str, Any], tmp_path: Path
) -> None:
    """All stages and methods have records, bounds are on their sides, nothing is lost on disk."""
    study, page = parts.values()
    plan = study.Plan(study.gaussians([0.1]), (3.0,), (40,), nystroem=(20,))
    split = study.read("digits", ROOT, 0)
    few = study.cut(split.X[:200], split.y[:200], 120, 80, (split.X_test, split.y_test))
    records = list(study.measured("digits", plan, few, 0, list(study.METHODS)))
    assert {record.method for record in records} == set(page.COLOURS)
    free = [record for record in records if record.method == "free centres"]
    assert [record.columns for record in free] == [20, 40]
    (machine,) = [record for record in records if record.method == "SVC"]
    assert free[-1].bound <= machine.bound * (1 + 1e-4)
    assert machine.bound <= free[-1].objective * (1 + 1e-4)
    assert all(record.test < 25 for record in records)
    (nearest,) = [record for record in records if record.method == "SVC on free centres"]
    assert nearest.objective >= free[-1].objective * (1 - 1e-6)  # which is the best of that span

    page.records_of(tmp_path).extend(records)
    read = page.records_of(tmp_path).rows
    assert [(r.method, r.columns) for r in read] == [(r.method, r.columns) for r in records]
    page.draw(read, tmp_path / "free_centres.png")
    assert (tmp_path / "free_centres.png").stat().st_size > 10_000
    found = page.tables(tmp_path)
    assert "| 8×8 digits odd/even, 600 rows | SVC |" in found["errors"]
    assert found["gaps"].count("\n") == 2


def test_the_choice_is_made_on_the_validation_rows(parts: dict[str, Any]) -> None:
    """Lowest validation error for each seed, of equals the fewest columns, within the size."""
    _, page = parts.values()

    def record(seed: int, columns: int, validation: float) -> Any:
        return page.Record(
            "digits", seed, "SVC", "p=2", 1.0, columns, validation, 9.0, *[np.nan] * 4
        )

    records = [record(0, 30, 5.0), record(0, 20, 5.0), record(0, 99, 1.0), record(1, 10, 7.0)]
    assert page.chosen(records, "digits", "SVC", 50) == [records[1], records[3]]
    assert page.chosen(records, "digits", "SVC") == [records[2], records[3]]
    assert page.chosen(records, "adult", "SVC") == []


def test_areas_under_the_curve_are_errors_too(parts: dict[str, Any]) -> None:
    """A ranked table counts 100 less the area in percent, others wrong signs."""
    study, _ = parts.values()
    empty, y, outputs = np.zeros((4, 1)), np.array([1, 1, -1, -1]), np.array([3.0, 2.0, 1.0, -1.0])
    data = study.Data(empty, y, empty, y, empty, y)
    assert data.error(outputs, y) == 25.0
    ranked = study.Data(empty, y, empty, y, empty, y, ranked=True)
    assert ranked.error(outputs, y) == 0.0
    assert ranked.errors(lambda X: -outputs) == (100.0, 100.0)
