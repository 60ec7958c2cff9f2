"""What a wheel has besides the modules: the page that explains messages."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools.command.build_py import build_py

PAGE = Path("docs/user_guide/messages.md")


class BuildWithPages(build_py):
    """Copies the page into the package, from which ``cgboost explain`` reads it."""

    def run(self) -> None:
        """Build, and copy."""
        super().run()
        if not self.editable_mode:
            shutil.copy(PAGE, Path(self.build_lib) / "cgboost" / PAGE.name)
