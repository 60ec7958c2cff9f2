"""Whether a change can be seen in pages, the gallery or examples: the tests of these run for it.

Usage, in the repository: ``python tests/pages_needed.py``. It prints a reason and ends with status
0 if they are needed: a page, an example or a docstring differs from the merge base, or a public
name or its parameters; always where there is no merge base (``.ci/run``).
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent

SHOWN = ("docs/", "examples/", "README.md", "tests/test_pages", "tests/test_gallery")
"""Paths whose changes are seen in a page, or in what these tests do."""

CODE = ("cgboost/", "solvers/")


def git(*arguments: str) -> str:
    """What git prints; nothing where it fails."""
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def merge_base() -> str:
    """The commit that a change began from; empty where nobody can say."""
    head = git("rev-parse", "HEAD").strip()
    base = git("merge-base", "HEAD", "origin/HEAD").strip()
    return "" if base == head else base


def face(text: str) -> list[str]:
    """The docstrings and the public names of a module, with their parameters."""
    return list(_face(ast.parse(text))) if text else []


def _face(node: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)) and not child.name.startswith("_"):
            head = ast.unparse(child.args) if isinstance(child, ast.FunctionDef) else ""
            yield f"{child.name}({head})\n{ast.get_docstring(child)}"
            if isinstance(child, ast.ClassDef):
                fields = [part for part in child.body if isinstance(part, ast.AnnAssign)]
                yield from map(ast.unparse, fields)
                yield from _face(child)
    if isinstance(node, ast.Module):
        yield ast.get_docstring(node) or ""


def reason(base: str) -> str:
    """Why the tests of pages are needed; empty if they are not."""
    if not base:
        return "there is no merge base"
    for path in git("diff", "--name-only", base).split():
        if path.startswith(SHOWN):
            return f"{path} differs"
        if path.startswith(CODE) and path.endswith((".py", ".pyi")):
            now = (ROOT / path).read_text("utf-8") if (ROOT / path).exists() else ""
            if face(git("show", f"{base}:{path}")) != face(now):
                return f"a docstring or a public name of {path} differs"
    return ""


if __name__ == "__main__":
    found = reason(merge_base())
    sys.stdout.write(f"pages, gallery and examples: {found or 'nothing that they show differs'}\n")
    sys.exit(0 if found else 1)
