"""What the packages say of themselves, and what scikit-learn's checks say of their classes."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from peers_fits import Class, in_short

CLASSES = (
    ("cgboost", "cgboost.CGBoostClassifier"),
    ("cgboost", "cgboost.CGBoostRegressor"),
    ("cgboost", "cgboost.LPBoostClassifier"),
    ("cgboost", "cgboost.AdaBoostClassifier"),
    ("cgboost", "cgboost.GradientBoostingClassifier"),
    ("cgboost", "cgboost.GradientBoostingRegressor"),
    ("cgboost", "cgboost.TransformClassifier"),
    ("cgboost", "cgboost.TransformRegressor"),
    ("cgboost", "cgboost.AdditiveRegressor"),
    ("cgboost", "cgboost.LinearTreeRegressor"),
    ("cgboost", "cgboost.BLFRegressor"),
    ("scikit-learn", "sklearn.svm.SVC"),
    ("scikit-learn", "sklearn.ensemble.AdaBoostClassifier"),
    ("scikit-learn", "sklearn.ensemble.HistGradientBoostingClassifier"),
    ("scikit-learn", "sklearn.ensemble.HistGradientBoostingRegressor"),
    ("scikit-learn", "sklearn.cross_decomposition.PLSRegression"),
    ("lightgbm", "lightgbm.LGBMClassifier"),
    ("lightgbm", "lightgbm.LGBMRegressor"),
    ("interpret-core", "interpret.glassbox.ExplainableBoostingClassifier"),
    ("interpret-core", "interpret.glassbox.ExplainableBoostingRegressor"),
    ("pygam", "pygam.LogisticGAM"),
    ("pygam", "pygam.LinearGAM"),
    ("ikpls", "ikpls.sklearn.PLS"),
    ("colboost", "colboost.ensemble.EnsembleClassifier"),
    ("gurobipy", ""),
)
"""Package and class; gurobipy, which colboost needs, has none."""

LIMIT_SECONDS = 60
WAITING = 20
"""How many times as long to wait by the clock as the CPU may work."""


def checked(known: set[str], limit: int = LIMIT_SECONDS) -> Iterator[Class]:
    """Every class that is not known yet, checked in its own process that has a time limit."""
    for package, name in CLASSES:
        if (name or package) not in known:
            before = cpu_of_children()
            checks, failed, error = outcome(name, limit) if name else (0, "", "no estimator")
            seconds = cpu_of_children() - before
            yield Class(name or package, package, *about(package), checks, failed, seconds, error)


def in_line(classes: Iterable[Class]) -> list[Class]:
    """In the order of the list above, whenever they were measured."""
    order = {name or package: place for place, (package, name) in enumerate(CLASSES)}
    return sorted(classes, key=lambda own: order.get(own.name, len(order)))


def missing(classes: Iterable[Class]) -> list[Class]:
    """Those of the list above that have no record; packages as they are installed now."""
    known = {own.name for own in classes}
    return [
        Class(name or package, package, *about(package), error="not checked")
        for package, name in CLASSES
        if (name or package) not in known
    ]


def cpu_of_children() -> float:
    """CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def outcome(name: str, limit: int) -> tuple[int, str, str]:
    """How many checks were run, the names of those that failed, and why they ended early."""
    command = [sys.executable, str(Path(__file__).parent), "--check", name, "--limit", str(limit)]
    late = False
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            printed, _ = process.communicate(timeout=WAITING * limit)
        except subprocess.TimeoutExpired:
            process.kill()
            late = True
            printed, _ = process.communicate()
    records = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    errors = [record["error"] for record in records if "error" in record]
    statuses = [(r["check"], r["status"]) for r in records if "check" in r]
    run = [(check, status) for check, status in statuses if status != "skipped"]
    failed = " ".join(check for check, status in run if status == "failed")
    if late or process.returncode == -signal.SIGXCPU:
        errors.append(f"not finished within {limit} s")
    elif process.returncode and not errors:
        errors.append(f"the process ended with status {process.returncode}")
    return len(run), failed, "; ".join(errors)


def check(name: str, limit: int) -> None:
    """In the child process: run all checks on a class, one line of JSON for each."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    from sklearn.utils.estimator_checks import check_estimator

    def tell(**record: Any) -> None:
        line = {"check": record["check_name"], "status": record["status"]}
        print(json.dumps(line), flush=True)

    warnings.simplefilter("ignore")
    try:
        module, _, own = name.rpartition(".")
        estimator = getattr(import_module(module), own)()
        check_estimator(estimator, on_skip=None, on_fail=None, callback=tell)
    except Exception as error:  # no import, no default constructor, …
        print(json.dumps({"error": in_short(error)}), flush=True)


def about(package: str) -> tuple[str, str, str]:
    """Version, licence and Python versions, as the metadata has them."""
    try:
        found = distribution(package)
    except PackageNotFoundError:
        return "not installed", "", ""
    data = found.metadata
    classifiers = data.get_all("Classifier") or []
    licences = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License")]
    licence = data["License-Expression"] or data["License"] or ", ".join(licences)
    named = [line.rpartition(" :: ")[2] for line in classifiers if " :: Python :: 3." in line]
    python = data["Requires-Python"] or ", ".join(named)
    return found.version, licence or "not stated", python or "not stated"
