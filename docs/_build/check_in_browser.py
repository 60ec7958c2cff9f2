"""The built site in headless Chromium, through its DevTools protocol.

Every page is loaded from a server on this machine, as wide as a phone; what does not show, does not
load, asks the network, raises in a script or is wider than the phone is a fault.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import http.server
import json
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 30.0
"""Seconds for the browser to start, and for a page to load."""

BROKEN_PICTURES = """
Promise.all([...document.images].map(async (image) => {
  image.loading = "eager";
  try { await image.decode(); } catch (error) { return image.getAttribute("src"); }
  return image.naturalWidth === 0 ? image.getAttribute("src") : null;
})).then((found) => found.filter((name) => name !== null))
"""

MAIN_PAGES = (
    "index",
    "getting_started",
    "column_generation",
    "lpboost",
    "own_parts",
    "how_to_solvers",
    "gallery/index",
    "gallery/plot_cutting_stock",
    "api/estimators",
    "api/generated/cgboost.CGBoostClassifier",
)
LOOKS = {"light": (1280, 900), "dark": (1280, 900), "phone": (390, 844)}


def find_browser() -> str | None:
    """Chromium, by one of its names; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def pages_of(site: Path) -> list[Path]:
    """The pages of a site; what the theme keeps beside its scripts is none."""
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


class Tab:
    """One tab of the browser: commands, their answers, and the events in between."""

    def __init__(self, address: str) -> None:
        from websocket import create_connection

        self._socket = create_connection(address, timeout=PATIENCE, suppress_origin=True)
        self._number = 0
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one command; events that arrive before it are kept."""
        self._number += 1
        request = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps(request))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == self._number:
                return dict(message.get("result", {}))
            self.events.append(message)

    def open(self, address: str) -> None:
        """Load a page, and wait until it has loaded."""
        self.events.clear()
        self.ask("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(json.loads(self._socket.recv()))

    def look(self, name: str) -> None:
        """From now on pages are as wide, and as light, as one of `LOOKS`."""
        width, height = LOOKS[name]
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1}
        self.ask("Emulation.setDeviceMetricsOverride", **metrics, mobile=name == "phone")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if name == "dark" else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def value(self, expression: str) -> Any:
        """What a script returns on the page."""
        answer = self.ask(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True
        )
        return answer["result"].get("value")


@contextlib.contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of the site on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextlib.contextmanager
def opened(browser: str) -> Iterator[Tab]:
    """A tab of a new browser, with a profile that is thrown away."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += ["--remote-debugging-port=0", f"--user-data-dir={profile}", "about:blank"]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, stdout=quiet, stderr=quiet)
        try:
            yield Tab(_address(Path(profile) / "DevToolsActivePort"))
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def _address(port_file: Path) -> str:
    """Where the browser listens, once it has said so."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if port_file.exists() and (port := port_file.read_text().split("\n")[0]):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                tabs = [tab for tab in json.load(answer) if tab["type"] == "page"]
            if tabs:
                return str(tabs[0]["webSocketDebuggerUrl"])
        time.sleep(0.1)
    raise TimeoutError(f"the browser did not start within {PATIENCE:g} s")


def faults(site: Path, browser: str, screenshots: Path | None = None) -> Iterator[str]:
    """One line for each thing that does not show, load or run."""
    with served(site) as root, opened(browser) as tab:
        tab.look("phone")
        for path in pages_of(site):
            name = path.relative_to(site).as_posix()
            tab.open(f"{root}/{name}")
            broken = tab.value(BROKEN_PICTURES) or []
            yield from (f"{name}: picture {source} does not show" for source in broken)
            yield from (f"{name}: {words}" for words in _complaints(tab.events, root))
            if (width := tab.value("document.documentElement.scrollWidth")) > LOOKS["phone"][0]:
                yield f"{name}: {width} pixels wide on a phone"
        if screenshots is not None:
            take(tab, root, screenshots)


def _complaints(events: list[dict[str, Any]], root: str) -> Iterator[str]:
    """What the browser has to say about a page."""
    for event in events:
        what = event.get("params", {})
        match event["method"]:
            case "Network.requestWillBeSent":
                address = what["request"]["url"]
                if not address.startswith((root, "data:", "blob:")):
                    yield f"asks the network for {address}"
            case "Network.responseReceived" if what["response"]["status"] >= 400:
                yield f"{what['response']['status']} for {what['response']['url']}"
            case "Network.loadingFailed" if not what.get("canceled"):
                yield f"a request failed: {what['errorText']}"
            case "Runtime.exceptionThrown":
                yield f"a script raised: {what['exceptionDetails']['text']}"
            case "Runtime.consoleAPICalled" if what["type"] == "error":
                yield f"console: {what['args'][0].get('value') if what['args'] else ''}"
            case "Log.entryAdded" if what["entry"]["level"] == "error":
                yield f"log: {what['entry']['text']}"


def take(tab: Tab, root: str, folder: Path) -> None:
    """Pictures of the main pages: light, dark, and as wide as a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    for look in LOOKS:
        tab.look(look)
        for page in MAIN_PAGES:
            tab.open(f"{root}/{page}.html")
            picture = tab.ask("Page.captureScreenshot", format="png")["data"]
            target = folder / f"{page.replace('/', '-')}-{look}.png"
            target.write_bytes(base64.b64decode(picture))
