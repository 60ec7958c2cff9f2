"""The site can be built and is complete: what does not take a build to find out.

`make docs` builds it, with warnings as errors, and looks at every page.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILD = DOCS / "_build"
sys.path[:0] = [str(BUILD), str(BUILD / "extensions")]

import check_site  # noqa: E402
import offline_formulas  # noqa: E402
from landing_pages import contents  # noqa: E402
from plain_docstrings import escaped  # noqa: E402
from root_pages import relinked  # noqa: E402

MADE = {"gallery", "project", "api"}
BUILT = {"gallery", "project"}
"""Folders of docs/ that the build of the site fills."""
PACKAGED = {
    "myst_parser": "myst-parser",
    "numpydoc": "numpydoc",
    "sphinx": "sphinx",
    "sphinx_gallery": "sphinx-gallery",
    "pydata_sphinx_theme": "pydata-sphinx-theme",
    "playwright": "playwright",
}
HEADER = 6
"""Most links that stand in one row with the name and the search, on a screen of 1280 pixels."""


def settings() -> dict[str, object]:
    """What `docs/_build/conf.py` says."""
    space: dict[str, object] = {"__file__": str(BUILD / "conf.py")}
    exec(compile((BUILD / "conf.py").read_text(encoding="utf-8"), "conf.py", "exec"), space)
    return space


def test_every_extension_is_ours_or_in_the_extra() -> None:
    """`pip install .[docs]` brings all that conf.py and the checks import."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = {re.split(r"[><=]", line)[0] for line in project["optional-dependencies"]["docs"]}
    conf = settings()
    names = [name.split(".")[0] for name in [*conf["extensions"], conf["html_theme"], "playwright"]]
    for name in names:
        assert (BUILD / "extensions" / f"{name}.py").exists() or PACKAGED[name] in extra


def test_the_formulas_come_from_the_extra() -> None:
    """MathJax is a package of the extra, so that no page asks the network for it."""
    assert offline_formulas.PACKAGE in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert settings()["mathjax_path"] == "mathjax.js"


def test_the_header_has_one_row() -> None:
    """The front page lists few rooms by short names; the logo is there."""
    conf = settings()
    rooms = contents(DOCS, conf["landing_pages"], conf["root_pages"] | conf["made_pages"])["index"]
    assert len(rooms) <= HEADER
    assert sum(map(len, rooms.values())) <= 50
    options = conf["html_theme_options"]
    assert options["header_links_before_dropdown"] >= len(rooms)
    assert (BUILD / "static" / Path(options["logo"]["image_light"]).name).is_file()


def test_the_numbers_of_the_front_page_are_those_of_the_readme() -> None:
    """Each number in bold on the front page stands in the measured table of README.md."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = re.search(r"<!-- table: front page -->(.*?)<!-- /table -->", readme, re.S)[1]
    front = (DOCS / "index.md").read_text(encoding="utf-8")
    section = re.search(r"## Three numbers\n(.*?)\n## ", front, re.S)[1]
    bold = " ".join(re.findall(r"\*\*(.*?)\*\*", section))
    numbers = re.findall(r"[\d.]+", bold)
    assert len(numbers) == 6
    assert all(number in table for number in numbers)


def test_what_people_search_for_is_said_on_a_page() -> None:
    """The index of the search has the words of pages: these are on one of the guide at least."""
    pages = [path.read_text(encoding="utf-8").lower() for path in DOCS.glob("user_guide/*.md")]
    for words in ("shap", "p-value", "confidence interval"):
        assert any(words in page for page in pages), words


def test_every_page_is_in_the_contents() -> None:
    """Each page of docs/ is listed by a landing page, so that a reader can find it."""
    conf = settings()
    listed = contents(DOCS, conf["landing_pages"], conf["root_pages"] | conf["made_pages"])
    names = {name for page in listed.values() for name in page} | {"index"}
    pages = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for path in [*DOCS.rglob("*.md"), *(DOCS / "api").glob("*.rst")]
        if path.relative_to(DOCS).parts[0] not in BUILT
    }
    assert pages <= names
    made = {name for name in names - pages if name.split("/")[0] in MADE}
    assert names == pages | made


def test_a_page_has_one_place_in_the_contents(tmp_path: Path) -> None:
    """What two landing pages list belongs to the first; a link to a section is no entry."""
    (tmp_path / "a.md").write_text("- [One](one.md)\n- [Made](../made)\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("- [Again](one.md)\n- [Two](two.rst#x): y\n", encoding="utf-8")
    assert contents(tmp_path, ["a", "b"], {"made": "folder/index.rst"}) == {
        "a": {"one": "One", "folder/index": "Made"},
        "b": {},
    }


def test_links_of_the_root_are_led_to_the_same_files() -> None:
    """README's links still lead to the same files from the folder of its copy."""
    moved = {
        ROOT / "CONTRIBUTING.md": DOCS / "project" / "contributing.md",
        ROOT / "examples" / "gallery": DOCS / "gallery" / "index.rst",
    }
    text = "[a](docs/index.md#x) [b](CONTRIBUTING.md) [c](examples/e.py) [d](https://a.b) [e](#f)"
    there = DOCS / "project" / "readme.md"
    assert relinked(text, ROOT / "README.md", there, moved) == (
        "[a](../index.md#x) [b](contributing.md) [c](../../examples/e.py) [d](https://a.b) [e](#f)"
    )
    index = DOCS / "index.md"
    assert relinked("[g](../examples/gallery)", index, index, moved) == "[g](gallery/index.rst)"


def test_formulas_of_docstrings_are_no_markup() -> None:
    """Bars and final underscores are made plain, but not in literals, links and examples."""
    lines = ["Σ|α_j| and gap_, ``|x|``", "`link <a>`_", ">>> model.gap_"]
    assert escaped(lines) == ["Σ∣α_j∣ and gap\\_, ``|x|``", "`link <a>`_", ">>> model.gap_"]


def test_the_check_of_the_site_finds_what_is_missing(tmp_path: Path) -> None:
    """A page, an anchor and a picture that are not there, and a script from the network."""
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">x</a><a href="gone.html">x</a><a href="#here">x</a>'
        '<a href="https://far.away">x</a><img src="gone.png"><script src="https://cdn/x.js">'
        "</script>",
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text("<p>nothing</p>", encoding="utf-8")
    assert sorted(check_site.faults(tmp_path)) == [
        "a.html: loads https://cdn/x.js from the network",
        "a.html: no anchor for b.html#there",
        "a.html: no file for gone.html",
        "a.html: no file for gone.png",
    ]
