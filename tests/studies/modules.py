"""The modules of a study, which import each other as those of a script do."""

import importlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def modules(folder: str, names: str, settings: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """A fixture with the modules of these names; ``settings`` are values of their constants."""

    @pytest.fixture(scope="module")
    def parts() -> Iterator[dict[str, Any]]:
        with pytest.MonkeyPatch.context() as patch:
            for path in (ROOT / "examples" / "reproduce", ROOT / folder):
                patch.syspath_prepend(str(path))
            found = {name: importlib.import_module(name) for name in names.split()}
            for place, value in settings.items():
                module, constant = place.split(".")
                patch.setattr(found[module], constant, value)
            yield found

    return parts
