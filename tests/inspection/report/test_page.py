"""``model.report(path)``: one file that says everything and needs nothing."""

import platform
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from cgboost import (
    CGBoostClassifier,
    GradientBoostingRegressor,
    KernelLibrary,
    LinearTreeRegressor,
    Precomputed,
)
from cgboost.inspection.report.facts import facts_of
from cgboost.inspection.report.page import machine, made_with, panel, versions
from tests.inspection.report.models import CASES, NASTY, fitted, stopped

VOID = {"meta", "br", "hr", "img", "link", "input"}


class Outline(HTMLParser):
    """Open tags, ids, links and text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.sources: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "data", "srcset"):
                self.sources.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text += data


def outline(page: str) -> Outline:
    """The page, read; every tag must be closed in its place."""
    found = Outline()
    found.feed(page)
    assert found.open == []
    return found


@pytest.mark.parametrize(("name", "n_classes"), CASES)
def test_every_model_has_a_report_that_stands_alone(
    name: str, n_classes: int, tmp_path: Path
) -> None:
    """Well-formed, no script, no id twice, nothing to be fetched; so is its panel in a notebook."""
    model = fitted(name, n_classes)
    file = model.report(tmp_path / "report.html")
    assert file == tmp_path / "report.html"
    page = file.read_text(encoding="utf-8")
    found = outline(page)
    assert not {"script", "link", "iframe", "img", "b"} & set(found.tags)
    assert len(found.ids) == len(set(found.ids))
    assert all(source.startswith("#") for source in found.sources)
    assert {source[1:] for source in found.sources} <= set(found.ids)
    assert not re.search(r"@import|url\((?!#)", page)
    for words in ("Certificate", "Parameters", "Made with", "numpy", name):
        assert words in found.text
    assert ("History" in found.text) == hasattr(model, "history_")
    assert page.count("<svg") >= 1
    assert page.count("<style") == 1
    html = panel(model, facts_of(model))
    ElementTree.fromstring(html)
    assert NASTY not in html
    assert not re.search("<script|<style", html)
    assert ("<svg" in html) == (name != "LinearTreeRegressor")


def test_the_numbers_are_those_of_the_model(tmp_path: Path) -> None:
    """Objective, bound, gap, columns per kernel and the largest coefficients."""
    model = fitted("CGBoostClassifier")
    text = outline(model.report(tmp_path / "r.html").read_text(encoding="utf-8")).text
    largest = model.columns_["coefficient"][np.argmax(np.abs(model.columns_["coefficient"]))]
    for number in (model.objective_, model.dual_bound_, largest):
        assert f"{number:.6g}" in text
    assert f"gap {model.gap_:.1e} (certified)" in text
    assert f"below {model.dual_bound_:.6g}" in text
    for name, count in model.columns_per_kernel_.items():
        assert f"{name} {count}" in text
    assert "validation error" in text


def test_names_of_users_are_text(tmp_path: Path) -> None:
    """Kernels and classes called like a tag or a formula appear as they are, pictures included."""
    for name, n_classes in (("CGBoostClassifier", 2), ("AdaBoostClassifier", 3)):
        page = fitted(name, n_classes).report(tmp_path / "r.html").read_text(encoding="utf-8")
        assert NASTY not in page
        pictures = " ".join(re.findall(r"<svg.*?</svg>", page, re.S))
        assert NASTY in outline(pictures).text


def test_what_the_gap_lacks_is_said(tmp_path: Path) -> None:
    """A model that was stopped says that its gap is above tol, and why it stopped."""
    page = stopped(max_columns=2).report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert "above the 0.0001 that was asked for" in page
    assert "as many columns as it was allowed" in page


def test_parts_that_a_model_has(tmp_path: Path) -> None:
    """Kernels, features, stages and trees stand where there are any."""

    def text(name: str) -> str:
        return fitted(name).report(tmp_path / "r.html").read_text(encoding="utf-8")

    assert "<h2>Kernels</h2>" in text("CGBoostRegressor")
    assert "share of the output" in text("CGBoostClassifier")  # where centres are rows
    given = CGBoostClassifier(KernelLibrary({"given": Precomputed()}))
    given.fit(np.eye(6), np.arange(6) % 2).report(tmp_path / "g.html")
    assert "share of the output" not in (tmp_path / "g.html").read_text("utf-8")
    assert "<h2>Kernels</h2>" not in text("AdaBoostClassifier")
    assert "Variable importance" in text("AdaBoostClassifier")
    assert "Stage 0 of" in text("TransformRegressor")
    assert "Variable importance in projection" in text("BLFRegressor")
    assert "or missing:" in text("LinearTreeRegressor")


def test_a_report_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    """Writing twice leaves one file, the last one; a path may be a str."""
    file = tmp_path / "r.html"
    fitted("CGBoostClassifier").report(str(file))
    fitted("L2BoostRegressor").report(file)
    assert "<h1>L2BoostRegressor</h1>" in file.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


@pytest.mark.parametrize("model", [CGBoostClassifier(), LinearTreeRegressor()], ids=repr)
def test_a_model_that_is_not_fitted_has_no_report(model, tmp_path: Path) -> None:
    """An error, and no file."""
    with pytest.raises(NotFittedError, match="call fit first"):
        model.report(tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder, a missing folder, and a file in the place of a folder are named in the message."""
    model = fitted("L2BoostRegressor")
    with pytest.raises(ValueError, match="is a folder"):
        model.report(tmp_path)
    with pytest.raises(ValueError, match="folder of path does not exist: .*none"):
        model.report(tmp_path / "none" / "r.html")
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="folder of path does not exist: .*file"):
        model.report(tmp_path / "file" / "r.html")
    with pytest.raises(ValueError, match="cannot be written"):
        model.report(tmp_path / ("n" * 300))


def test_the_page_is_not_needed_before_a_report(tmp_path: Path) -> None:
    """``repr`` loads neither matplotlib nor the templates."""
    import subprocess
    import sys

    code = (
        "import sys, numpy as np; from cgboost import L2BoostRegressor as L2;"
        "X = np.eye(9); m = L2(n_estimators=3).fit(X, X[:, 0]); repr(m);"
        "assert not {'matplotlib', 'jinja2'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_names_that_no_encoding_has(tmp_path: Path) -> None:
    """Half a surrogate pair in a feature's name is written as its code, in file and notebook."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    frame = pd.DataFrame(X)
    frame.columns = pd.Index(["a", "b\ud800c"], dtype=object)
    model = GradientBoostingRegressor(n_estimators=3).fit(frame, X[:, 1])
    assert r"b\ud800c" in model.report(tmp_path / "report.html").read_text(encoding="utf-8")
    assert model._repr_html_().encode("utf-8")


def test_versions_are_those_that_are_installed() -> None:
    """Python first, then the packages in the order asked for; unknown ones are left out."""
    found = versions("scipy", "no-such-package", "numpy")
    assert list(found) == ["Python", "scipy", "numpy"]
    assert found["Python"] == platform.python_version()
    line = made_with("numpy")
    assert line == f"Python {platform.python_version()}, numpy {np.__version__}; {machine()}"
    assert platform.system() in line
