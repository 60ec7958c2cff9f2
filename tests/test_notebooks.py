"""The notebooks of tutorials are their pages."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ROOT / "examples" / "notebooks"
sys.path.append(str(NOTEBOOKS))

import make_notebooks  # noqa: E402


@pytest.mark.parametrize("name", make_notebooks.PAGES)
def test_a_notebook_is_up_to_date(name: str) -> None:
    """`python examples/notebooks/make_notebooks.py` would change nothing."""
    file = NOTEBOOKS / f"{name}.ipynb"
    assert file.read_text(encoding="utf-8") == make_notebooks.written(name)


@pytest.mark.parametrize("name", make_notebooks.PAGES)
def test_a_notebook_has_all_of_its_page(name: str) -> None:
    """Each block of code, its output, and links to files that exist."""
    own = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    page = (make_notebooks.GUIDE / f"{name}.md").read_text(encoding="utf-8")
    cells = [cell for cell in own["cells"] if cell["cell_type"] == "code"]
    assert len(cells) == page.count("```python") + 1
    assert sum(len(cell["outputs"]) for cell in cells) == page.count("```text")
    for cell in cells[1:]:
        assert "".join(cell["source"]) in page
    words = "".join("".join(cell["source"]) for cell in own["cells"])
    links = re.findall(r"\]\((\.\./[^)#]+)", words)
    assert links
    for link in links:
        assert (NOTEBOOKS / link).exists(), link
