"""Messages lead to the page that explains them, and the page explains every one."""

import pickle
import re
from pathlib import Path
from typing import get_args

import pytest

from cgboost.exceptions import MESSAGES, Section, see, without_hint
from cgboost.explain import explanation
from cgboost.integer.decomposition import ModelError
from cgboost.integer.decomposition.model import read_model

ROOT = Path(__file__).parents[1]
SOURCES = [*(ROOT / "cgboost").rglob("*.py"), *(ROOT / "solvers").rglob("*.py")]


def anchors(page: Path) -> list[str]:
    """Names of the sections of a page, as links call them."""
    headings = re.findall(r"^#{2,} (.+)$", page.read_text(encoding="utf-8"), re.M)
    return [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]


def test_the_page_has_the_sections_that_messages_name() -> None:
    """No section of the page is without a message, and no message without a section."""
    assert anchors(ROOT / MESSAGES) == list(get_args(Section))


@pytest.mark.parametrize("section", get_args(Section))
def test_every_section_is_named_by_a_message(section: Section) -> None:
    """Somewhere in the sources a message ends with it, or all messages of an error do."""
    calls = re.compile(rf"\bsee\([\"']{section}[\"']\)|^    section = \"{section}\"$", re.M)
    assert any(calls.search(source.read_text(encoding="utf-8")) for source in SOURCES)
    assert see(section) == f" (more: cgboost explain {section})"
    assert explanation(section).startswith("## ")


def test_errors_of_a_class_with_a_section_name_it() -> None:
    """Once, at the end, also after pickling."""
    error = ModelError("no model")
    assert str(error) == f"no model{see('models-with-blocks')}"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_pages_named_in_the_sources_exist() -> None:
    """A page that a message, a help text or a docstring names is there, and so is its section."""
    named = {
        match.groups()
        for source in SOURCES
        for match in re.finditer(
            r"(?<![\w/])(docs/[\w/]+\.md)(?:#([\w-]+))?", source.read_text(encoding="utf-8")
        )
    }
    assert len(named) > 5
    for page, anchor in named:
        assert (ROOT / page).is_file(), page
        assert anchor is None or anchor in anchors(ROOT / page), f"{page}#{anchor}"


def test_links_inside_the_page_lead_to_its_sections() -> None:
    """Links of the page to sections, its own or those of others."""
    text = (ROOT / MESSAGES).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([\w./]*)#([\w-]+)\)", text)
    assert len(links) > 2
    for page, anchor in links:
        target = ROOT / MESSAGES if not page else (ROOT / MESSAGES).parent / page
        assert anchor in anchors(target), f"{page}#{anchor}"


def test_a_message_about_another_has_one_hint(tmp_path: Path) -> None:
    """An error that repeats another one leaves the command of that out."""
    assert without_hint(ModelError("no rows")) == "no rows"
    model = tmp_path / "crossed.lp"
    model.write_text("min\n obj: x\nst\n row: x >= 1\nbounds\n x <= -1\nend\n", encoding="utf-8")
    with pytest.raises(ModelError, match="'x' has the lower bound 0 above") as caught:
        read_model(model)
    assert str(caught.value).count("more: ") == 1
