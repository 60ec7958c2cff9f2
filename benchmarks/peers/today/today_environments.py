"""An environment for each peer: its newest version from the package index, or why there is none.

An environment stands on the packages of the one that runs this (numpy, scikit-learn, …) and gets
what the peer wants beyond them, in versions of its own where it wants others.
"""

from __future__ import annotations

import os
import subprocess
import sysconfig
import venv
from pathlib import Path

PARENT = "packages_of_the_parent.pth"
LONGEST = 100
"""Characters of a reason."""


class Environment:
    """One virtual environment.

    Parameters
    ----------
    folder : Path
        Where it stands, or will.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"

    def install(self, requirements: tuple[str, ...]) -> str:
        """Install these, made anew where they are not there; the reason if that fails."""
        note = self.folder / "installed.txt"
        wanted = " ".join(requirements)
        if note.is_file() and note.read_text(encoding="utf-8").partition("\n")[0] == wanted:
            return note.read_text(encoding="utf-8").partition("\n")[2]
        venv.create(self.folder, clear=True, with_pip=False, symlinks=os.name != "nt")
        own = sysconfig.get_path("purelib", vars={"base": str(self.folder)})
        parent = sysconfig.get_path("purelib")
        (Path(own) / PARENT).write_text(f"{parent}\n", encoding="utf-8")
        command = [self.python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
        done = subprocess.run(
            [*command, "--quiet", "--upgrade", *requirements],
            capture_output=True,
            text=True,
            check=False,
        )
        reason = shortened(done.stderr) if done.returncode else ""
        note.write_text(f"{wanted}\n{reason}", encoding="utf-8")
        return reason


def shortened(text: str) -> str:
    """The line that says what went wrong: the last with an error, without paths and addresses."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()] or lines or ["no reason given"]
    words = telling[-1].removeprefix("ERROR: ").split()
    kept = [word for word in words if "/" not in word or len(word) < 4]
    return " ".join(kept).replace("|", "/")[:LONGEST].strip()


def version(python: Path | str, package: str) -> str:
    """The version of a package in an environment."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()
