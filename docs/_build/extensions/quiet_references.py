"""References of docstrings to what has no page on the site.

The site is built without a network, so that names of other packages are plain text. So are names of
cgboost's own parts that are not public; but they must exist. A short name is looked up among all
that is documented.
"""

from __future__ import annotations

import pydoc
from typing import Any

from docutils.nodes import Element

FOREIGN = ("sklearn", "numpy", "scipy", "concurrent", "rich", "dask", "matplotlib", "cvxpy")


def resolve(app: Any, env: Any, node: Element, content: Element) -> Element | None:
    """A link to what is documented under a longer name; plain text for what only exists."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    if target.split(".")[0] in FOREIGN:
        return content
    domain = env.domains["py"]
    found = sorted(name for name in domain.objects if name.endswith(f".{target}"))
    if found:
        page, builder = node["refdoc"], app.builder
        return domain.resolve_xref(env, page, builder, "obj", found[0], node, content)
    return content if pydoc.locate(target) is not None else None


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True}
