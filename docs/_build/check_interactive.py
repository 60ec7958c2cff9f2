"""A walk through every step of the interactive page in headless Chromium, as a file and offline.

What the page shows is compared with the exported runs: numbers, tables, heights of bars, colours of
the plane. All of it by keyboard: with the keys of the page, then with Tab and Enter alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from check_in_browser import Tab

SCENES = Path(__file__).parents[1] / "interactive" / "scenes"
NAMES = ("cutting_stock", "lpboost", "regression")
LARGEST = 300_000
"""Bytes of the page."""
PIXELS = 0.02
"""Heights of bars are rounded to thousandths of a pixel."""
CLEAR = 0.05
"""Outputs of the model nearer to 0 than this have no colour that could be told."""

SHOWN = """() => {
  const text = (id) => document.getElementById(id).textContent;
  const cells = (id) => [...document.getElementById(id).tBodies[0].rows].map(
    (row) => [...row.cells].map((cell) => cell.textContent));
  const bars = (id, name) => [...document.querySelectorAll(`#${id} rect[data-${name}]`)].map(
    (bar) => [Number(bar.dataset[name]), Number(bar.getAttribute("height")), bar.dataset.sign]);
  const curve = document.querySelector('#gap path[data-curve="objective"]').getAttribute("d");
  return {
    text: text("text"), objective: text("objective"), bound: text("bound"), gap: text("gap-value"),
    sealed: !document.getElementById("seal").hidden, next: text("next"),
    duals: cells("dual-table"), coef: cells("coef-table"), rounds: cells("rounds"),
    bars: bars("duals", "row"), worths: bars("worths", "column"),
    line: Number(document.querySelector("#worths .limit").getAttribute("y1")),
    base: Number(document.querySelector("#worths .axis").getAttribute("y1")),
    vertices: curve.match(/[ML]/g).length,
    width: document.documentElement.scrollWidth,
  };
}"""

BLUE = """([points, frame]) => {
  const canvas = document.querySelector("#model canvas");
  const [left, right, low, high] = frame;
  const context = canvas.getContext("2d");
  return points.map(([x, y]) => {
    const i = Math.floor((x - left) / (right - left) * canvas.width);
    const k = Math.floor((high - y) / (high - low) * canvas.height);
    const [red, , blue] = context.getImageData(i, k, 1, 1).data;
    return blue - red;
  });
}"""
"""More blue than red at each point: where the model says +1."""


def digits(value: float, places: int = 4) -> str:
    """A number as the page writes it."""
    text = f"{value:.{places}f}"
    return (text.replace("-", "") if float(text) == 0 else text).replace("-", "\u2212")


def faults(path: Path, browser: Any) -> Iterator[str]:
    """One line for each thing that the page does not show as the runs have it."""
    if not path.is_file():
        yield f"{path}: no such file"
        return
    size = len(path.read_bytes())
    if size >= LARGEST:
        yield f"{path.name}: {size} bytes, at most {LARGEST} are allowed"
    for look in ("light", "phone"):
        tab = Tab(browser, look, path.as_uri(), motion=False)
        tab.page.context.set_offline(True)
        tab.open(path.as_uri())
        for number, name in enumerate(NAMES):
            scene = json.loads((SCENES / f"{name}.json").read_text(encoding="utf-8"))
            if look == "light":
                tab.page.keyboard.press(str(number + 1))
            else:
                by_tab_alone(tab, number)
            forward = "ArrowRight" if look == "light" else "Enter"
            for fault in walk(tab, scene, forward):
                yield f"{look}, {name}, {fault}"
        yield from (f"{look}: {fault}" for fault in tab.faults())
    yield from moving(path, browser)


def by_tab_alone(tab: Tab, number: int) -> None:
    """Choose a scene with the arrows of the radio buttons, and go to the button for the next step."""
    focus(tab, "choose-")
    if number:
        tab.page.keyboard.press("ArrowRight")
    focus(tab, "next")


def focus(tab: Tab, name: str) -> None:
    """Press Tab until an element with a name that begins like this has the focus."""
    for _ in range(40):
        if str(tab.page.evaluate("document.activeElement.id")).startswith(name):
            return
        tab.page.keyboard.press("Tab")
    raise LookupError(f"no way to #{name} with the Tab key")


def walk(tab: Tab, scene: dict[str, Any], forward: str) -> Iterator[str]:
    """Every step of a scene, and one more, which begins anew or stays."""
    count = 2 * len(scene["rounds"])
    for step in range(count):
        shown = tab.page.evaluate(SHOWN)
        yield from (f"step {step + 1}: {fault}" for fault in compare(shown, scene, step))
        if shown["width"] > tab.width:
            yield f"step {step + 1}: {shown['width']} pixels wide, the window {tab.width}"
        if scene["name"] == "lpboost" and step:
            yield from colours(tab, scene, step)
        if step + 1 < count:
            tab.page.keyboard.press(forward)


def compare(shown: dict[str, Any], scene: dict[str, Any], step: int) -> Iterator[str]:
    """Differences between what is shown in a step and the run."""
    place, priced = divmod(step, 2)
    now = scene["rounds"][place]
    last = bool(priced) and place == len(scene["rounds"]) - 1
    proven = now if priced else scene["rounds"][place - 1] if place else None
    bound = "none yet" if proven is None else digits(proven["bound"])
    gap = math.inf if proven is None else (now["objective"] - proven["bound"]) / now["objective"]
    expected = {
        "objective": digits(now["objective"]),
        "bound": bound,
        "gap": "\u2013" if proven is None else f"{100 * abs(gap):.2f} %",
        "sealed": last,
        "vertices": place + 1,
        "next": "Start again" if last else "Let the best enter" if priced else "Price the columns",
    }
    yield from (
        f"{name} is {shown[name]!r}, not {value!r}"
        for name, value in expected.items()
        if shown[name] != value
    )
    said = [f"Round {place}.", digits(now["objective"])] + priced * [digits(now["bound"])]
    if priced and not last:
        said.append(digits(abs(now["worth"])))
    yield from (f"the text lacks {words!r}" for words in said if words not in shown["text"])
    for name, values in {"duals": now["duals"], "coef": [value for _, value in now["coef"]]}.items():
        if [cells[-1] for cells in shown[name]] != [digits(value, 6) for value in values]:
            yield f"the table of {name} differs"
    yield from heights(shown["bars"], now["duals"])
    yield from worths(shown, now, priced=bool(priced), last=last)
    rows = [[digits(one["objective"]), digits(one["bound"])] for one in scene["rounds"]]
    if [cells[3:5] for cells in shown["rounds"]] != rows:
        yield "the table of rounds differs"


def heights(bars: list[Any], duals: list[float]) -> Iterator[str]:
    """Bars of duals that are not as high as the duals are."""
    unit = max(height for _, height, _ in bars) / max(map(abs, duals))
    if len(bars) != len(duals):
        yield f"{len(bars)} bars for {len(duals)} duals"
    for row, height, sign in bars:
        if abs(height - unit * abs(duals[row])) > PIXELS or int(sign) * duals[row] < 0:
            yield f"the bar of dual {row} is {height} pixels high, the dual is {duals[row]}"


def worths(shown: dict[str, Any], now: dict[str, Any], *, priced: bool, last: bool) -> Iterator[str]:
    """Bars of columns: the best is the highest, and columns in use are worth what they cost."""
    bars = {column: height for column, height, _ in shown["worths"]}
    cost = shown["base"] - shown["line"]
    slack = 0.1 + PIXELS  # lines are drawn to tenths of a pixel
    if not priced:
        if any(bars.values()):
            yield "bars of columns that were not priced yet"
        return
    if abs(bars[now["best"]] - cost * abs(now["worth"])) > slack * (1 + abs(now["worth"])):
        yield f"the best column is {bars[now['best']]} pixels high, a cost of 1 {cost}"
    if max(bars.values()) > bars[now["best"]] + PIXELS:
        yield "another column is higher than the best"
    if last and max(bars.values()) > cost + slack:
        yield "a column is worth more than it costs, at the end"
    for column, value in now["coef"]:
        if abs(value) > 1e-6 and abs(bars[column] - cost) > slack:
            yield f"column {column} is in use, and worth {bars[column] / cost}"


def colours(tab: Tab, scene: dict[str, Any], step: int) -> Iterator[str]:
    """Training points on ground of the other colour."""
    points, output = scene["data"]["points"], scene["rounds"][step // 2]["output"]
    corners = [[f(p[axis] for p in points) for f in (min, max)] for axis in (0, 1)]
    frame = [end + way for low_high in corners for end, way in zip(low_high, (-0.35, 0.35))]
    blue = tab.page.evaluate(BLUE, [points, frame])
    for point, value, tint in zip(points, output, blue, strict=True):
        if abs(value) > CLEAR and (tint > 0) != (value > 0):
            yield f"step {step + 1}: the model is {value} at {point}, the ground has the other colour"


def moving(path: Path, browser: Any) -> Iterator[str]:
    """With motion: a step ends where it does without, and Play goes on by itself.

    Dark is dark where the system is, unless the reader of the site chose otherwise.
    """
    tab = Tab(browser, "dark", path.as_uri())
    tab.open(path.as_uri())
    if tab.page.evaluate("document.documentElement.dataset.theme") != "dark":
        yield "the page is light where the system is dark"
    scene = json.loads((SCENES / f"{NAMES[0]}.json").read_text(encoding="utf-8"))
    focus(tab, "play")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_function("document.getElementById('slider').value === '1'")
    tab.page.keyboard.press("Space")
    tab.page.wait_for_timeout(1000)
    shown = tab.page.evaluate(SHOWN)
    yield from (f"in motion: {fault}" for fault in compare(shown, scene, 1))
    yield from (f"dark: {fault}" for fault in tab.faults())
    tab.page.evaluate("localStorage.setItem('mode', 'light')")
    tab.page.reload()
    if tab.page.evaluate("document.documentElement.dataset.theme") != "light":
        yield "the page is dark where the site was set to light"
