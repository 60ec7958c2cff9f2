"""Today's peers: environments, outcomes, tables, and what the page says of them."""

import re
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.studies.modules import modules

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks" / "peers" / "today"
DOCS = ROOT / "docs" / "studies" / "something_else"

parts = modules(
    "benchmarks/peers/today",
    "study_jobs " + " ".join(own.stem for own in FOLDER.glob("today_*.py")),
)
"""Those of the comparison."""


@pytest.fixture
def outcomes(parts: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """The committed records by task and entrant."""
    rows = parts["study_jobs"].Store(DOCS / "today.csv", parts["today_page"].Outcome).rows
    return {(row.task, row.entrant): row for row in rows}


def test_every_entrant_has_an_answer_or_a_reason(parts: dict[str, Any], outcomes: Any) -> None:
    """Nobody who was asked is missing, and who has an answer has a version."""
    asked = {(task.name, own.name) for task in parts["today_tasks"].TASKS for own in task.entrants}
    assert asked == set(outcomes)
    for own in outcomes.values():
        assert bool(own.error) != bool(own.words)
        assert own.error or re.match(r"\d", own.version)


def test_every_call_is_there(parts: dict[str, Any]) -> None:
    """An entrant names a function, or says why it is not tried."""
    for task in parts["today_tasks"].TASKS:
        for own in task.entrants:
            assert own.without or callable(getattr(parts["today_calls"], own.call))


def test_reasons_are_short_and_name_no_place(parts: dict[str, Any]) -> None:
    """Of an installer's output the line with the error, without paths and addresses."""
    text = "WARNING: x\nERROR: No match in https://a/b for falkon | x\nlast line\n"
    assert parts["today_environments"].shortened(text) == "No match in for falkon / x"
    assert parts["today_environments"].shortened("") == "no reason given"


def test_who_has_no_answer_is_below_with_the_reason(parts: dict[str, Any]) -> None:
    """A table has the answers first, ours in bold, and the reason instead of numbers."""
    task = replace(
        parts["today_tasks"].TASKS[0], entrants=parts["today_tasks"].TASKS[0].entrants[:2]
    )
    ours, theirs = (own.name for own in task.entrants)
    make = parts["today_page"].Outcome
    found = {
        ours: make("lasso", ours, "1.0", nan, nan, "", "ImportError"),
        theirs: make("lasso", theirs, "2.0", 1.0, 0.5, "0e+00 | 9"),
    }
    rows = list(parts["today_page"].task_rows(task, found))
    assert rows[0] == (theirs, "2.0", "0e+00", "9", "1", "0.5")
    assert rows[1] == ("**cgboost**", "1.0", "ImportError", "", "", "")


def test_the_lowest_objective_is_0_above_the_best(parts: dict[str, Any]) -> None:
    """All answers are judged by the same objective, relative to the lowest of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    rows = {"X": X, "y": X @ [1.0, 0.0, 0.0], "alpha": 0.01}
    answers = {
        "good": {"coef": np.array([0.99, 0.0, 0.0]), "intercept": 0.0},
        "bad": {"coef": np.zeros(3), "intercept": 0.0},
    }
    judged = parts["today_tasks"].TASKS[0].judged(rows, answers)
    assert judged["good"] == ("0e+00", "1")
    assert float(judged["bad"][0]) > 1


def test_the_sentences_of_the_page_are_those_of_its_tables(outcomes: Any) -> None:
    """Who is said to be faster, or to have a property, is or has in the records."""

    def seconds(task: str, name: str) -> float:
        return float(outcomes[task, name].again)

    def words(task: str, name: str) -> list[str]:
        return list(outcomes[task, name].words.split(" | "))

    lasso = {name: own for (task, name), own in outcomes.items() if task == "lasso"}
    ours = lasso.pop("cgboost").again
    assert {name for name, own in lasso.items() if own.again < 0.8 * ours} == {"scikit-learn"}
    assert {name for name, own in lasso.items() if own.again > 1.25 * ours} == {"adelie"}
    assert words("subset", "cgboost, greedy") == words("subset", "El0ps")
    quantiles = {name: words(task, name) for task, name in outcomes if task == "quantiles"}
    assert {name for name, own in quantiles.items() if own[1] == "0"} == {
        "cgboost",
        "quantile-guard",
    }
    assert {name for name, own in quantiles.items() if own[2] == "yes"} == {
        "pyfixest",
        "quantile-guard",
    }
    assert all(seconds("quantiles", "cgboost") <= seconds("quantiles", name) for name in quantiles)
    thresholds = "cgboost", "OxonFair", "fairlearn ThresholdOptimizer"
    for name in thresholds:
        assert 0.8 < seconds("rates", name) / seconds("rates", "cgboost") < 1.25
        assert abs(float(words("rates", name)[0]) - float(words("rates", "cgboost")[0])) < 0.005
    assert max(float(words("rates", name)[1]) for name in thresholds[:2]) <= 0.02
    page = (DOCS / "page.md").read_text(encoding="utf-8")
    accuracies = [words("rates", name)[0] for name in (*thresholds, "cgboost, stumps")]
    assert all(own in page.partition("<!-- table: rates -->")[0] for own in accuracies)
