"""The built site in headless Chromium, driven by Playwright.

Every page is loaded from a server on this machine, as wide as a phone; what does not show, does not
load, asks the network, raises in a script or is wider than the phone is a fault. Of the pages that
one template makes from docstrings the first is loaded, and then shows the content of the others.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
"""The first, made for what has no window, takes two thirds of the time of the second."""
PATIENCE = 30.0
"""Seconds for the browser to start, and for a page to load."""

PICTURES_AND_WIDTH = """
Promise.all([...document.images].map(async (image) => {
  image.loading = "eager";
  try { await image.decode(); } catch (error) { return image.getAttribute("src"); }
  return image.naturalWidth === 0 ? image.getAttribute("src") : null;
})).then((found) => {
  const parts = [document.documentElement, ...document.querySelectorAll(".bd-article-container")];
  const excess = parts.map((part) => part.scrollWidth - part.clientWidth);
  return [found.filter((name) => name !== null), Math.max(...excess)];
})
"""
"""Sources of the pictures that do not show, and by how many pixels the page or its article, which the
theme lets scroll by itself, is too wide."""
EXCHANGE = """
async (address) => {
  const text = await (await fetch(address)).text();
  const next = new DOMParser().parseFromString(text, "text/html");
  const loads = (page) => [...page.querySelectorAll("script[src], link[rel=stylesheet]")]
    .map((element) => element.getAttribute("src") ?? element.getAttribute("href")).join();
  const content = next.querySelector("main");
  if (loads(next) !== loads(document) || content.querySelector("script, style")) return false;
  document.querySelector("main").replaceWith(document.adoptNode(content));
  return true;
}
"""
"""Shows the content of another page in the open one, where it has no other scripts and styles."""
ONE_TEMPLATE = "api/generated"
"""The folder of the pages that one template makes, three quarters of the site."""
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""Only this machine is there: a request to any other fails, and that is noted."""
CANCELLED = "net::ERR_ABORTED"
"""What a request says that was under way when the next page was opened."""

MAIN_PAGES = (
    "index",
    "user_guide/getting_started",
    "user_guide/column_generation",
    "methods/lpboost",
    "user_guide/own_parts",
    "user_guide/how_to_solvers",
    "gallery/index",
    "gallery/programs/plot_cutting_stock",
    "api/estimators",
    "api/generated/cgboost.CGBoostClassifier",
    "interactive/index",
)
LOOKS = {"light": (1280, 900), "dark": (1280, 900), "phone": (390, 844)}


def find_browser() -> str | None:
    """Chromium, by one of its names; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def pages_of(site: Path) -> list[Path]:
    """The pages of a site; what the theme keeps besides its scripts is none."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


@contextlib.contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of the site on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # connections stay open

        def log_message(self, *arguments: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextlib.contextmanager
def opened(browser: str) -> Iterator[Any]:
    """A running browser of Playwright's, by the path of its program."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=browser,
            args=["--no-sandbox", "--disable-gpu", "--hide-scrollbars", NO_NETWORK],
            timeout=1000 * PATIENCE,
        )
        try:
            yield running
        finally:
            running.close()


class Tab:
    """A page of the browser with one of the `LOOKS`, and what it complains of.

    Parameters
    ----------
    browser
        Playwright's.
    look : str
    root : str
        Addresses that begin with it are ours.
    motion : bool, default=True
        False: the reader of the page asks for no motion.
    """

    def __init__(self, browser: Any, look: str, root: str, *, motion: bool = True) -> None:
        width, height = LOOKS[look]
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if look == "dark" else "light",
            is_mobile=look == "phone",
            has_touch=look == "phone",
            reduced_motion="no-preference" if motion else "reduce",
        )
        context.set_default_timeout(1000 * PATIENCE)
        self.width, self.root = width, root
        self.page = context.new_page()
        self.complaints: list[str] = []
        self.page.on("requestfailed", self._failed)
        self.page.on("pageerror", lambda error: self.complaints.append(f"a script raised: {error}"))
        self.page.on("console", self._said)

    def _failed(self, request: Any) -> None:
        if request.failure == CANCELLED:
            return
        here = request.url.startswith(self.root)
        words = f"{request.url}: {request.failure}"
        self.complaints.append(f"{'a request failed' if here else 'asks the network'}: {words}")

    def _said(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(f"console: {message.text} ({message.location['url']})")

    def open(self, address: str) -> None:
        """Load a page, and wait until it has loaded."""
        self.complaints.clear()
        self.page.goto(address)

    def exchange(self, address: str) -> bool:
        """Show the content of another page in the open one; False where that would not do."""
        self.complaints.clear()
        return bool(self.page.evaluate(EXCHANGE, address))

    def faults(self) -> list[str]:
        """What is wrong with the open page."""
        broken, excess = self.page.evaluate(PICTURES_AND_WIDTH)
        hidden = [f"picture {name} does not show" for name in broken]
        wide = [f"{self.width + excess} pixels wide, the window {self.width}"] if excess > 0 else []
        return [*hidden, *self.complaints, *wide]


def faults(site: Path, browser: Any, screenshots: Path | None = None) -> Iterator[str]:
    """One line for each thing that does not show, load or run."""
    with served(site) as root:
        tab = Tab(browser, "phone", root)
        folder = None
        for path in pages_of(site):
            name = path.relative_to(site).as_posix()
            before, folder = folder, path.relative_to(site).parent.as_posix()
            if not (before == folder == ONE_TEMPLATE and tab.exchange(f"{root}/{name}")):
                tab.open(f"{root}/{name}")
            yield from (f"{name}: {fault}" for fault in tab.faults())
        if screenshots is not None:
            take(browser, root, screenshots)


def take(browser: Any, root: str, folder: Path) -> None:
    """Pictures of the main pages: light, dark, and as wide as a phone."""
    for look in LOOKS:
        tab = Tab(browser, look, root)
        for name in MAIN_PAGES:
            tab.open(f"{root}/{name}.html")
            tab.page.screenshot(path=folder / f"{name.replace('/', '-')}-{look}.png")
