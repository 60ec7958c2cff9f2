"""The pages that put our calls next to those of others: every one of ours runs."""

import re
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

GUIDE = Path(__file__).parents[1] / "docs" / "user_guide"
PAGES = {name: (GUIDE / f"{name}.md").read_text("utf-8") for name in ("coming_from", "cheat_sheet")}
SETUP = {name: re.search(r"```python\n(.*?)```", page, re.S)[1] for name, page in PAGES.items()}
CALLS = [
    (name, call)
    for name, page in PAGES.items()
    for call in re.findall(r"^\|.*\| `([^`]+)`[^|`]*\|$", page, re.M)
]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The names of each page; those of the first are known to the second, as it says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("calls"))
        first: dict[str, Any] = {"__name__": "page"}
        exec(SETUP["coming_from"], first)
        second = dict(first)
        exec(SETUP["cheat_sheet"], second)
        first["cgboost"] = second["cgboost"]
        return {"coming_from": first, "cheat_sheet": second}


@pytest.mark.parametrize(("page", "call"), CALLS, ids=[call[:40] for _, call in CALLS])
def test_our_call_runs(
    names: dict[str, dict[str, Any]],
    page: str,
    call: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As it stands in the last column, on the names of its page."""
    monkeypatch.chdir(tmp_path)
    space = names[page]
    Path("jobs.lp").write_text(space["program"], encoding="utf-8")
    if "load(" in call:
        space["kernels"].save("model.cgboost")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        eval(call, space)
    plt.close("all")


def test_the_pages_have_as_many_calls_as_they_look() -> None:
    """No pattern of this file has lost its lines."""
    counts = {page: sum(own == page for own, _ in CALLS) for page in PAGES}
    assert counts["coming_from"] >= 40
    assert counts["cheat_sheet"] >= 30
