"""How Sphinx builds the site: `make docs`. The pages are the Markdown files of docs/."""

import sys
import warnings
from pathlib import Path

import cgboost

sys.path.insert(0, str(Path(__file__).parent / "extensions"))
warnings.filterwarnings("ignore", message=".*non-interactive.*")  # pictures are made, not shown

project = "cgboost"
author = "the cgboost developers"
project_copyright = "cgboost developers, BSD-3-Clause"
version = release = cgboost.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    # ours, in extensions/
    "compiled_template",
    "garbage",
    "interactive_page",
    "landing_pages",
    "offline_formulas",
    "plain_docstrings",
    "quiet_references",
    "root_pages",
]
exclude_patterns = ["_*", *(f"gallery/**/*.{end}" for end in ("ipynb", "py", "md5", "zip"))]
templates_path = [str(Path(__file__).parent / "templates")]  # autosummary looks from docs/
nitpicky = True

# Markdown
myst_fence_as_directive = ["math"]
mathjax_path = "mathjax.js"
myst_heading_anchors = 4
landing_pages = [
    "index",
    *(f"{room}/index" for room in ("user_guide", "methods", "studies", "api", "development")),
]
landing_page_for_the_rest = "studies/index"
root_pages = {name: f"project/{name.lower()}" for name in ("README", "CONTRIBUTING", "CHANGELOG")}
gallery = Path(__file__).parents[2] / "examples" / "gallery"
made_pages = {"examples/gallery": "gallery/index.rst"} | {
    f"examples/gallery/{path}": f"gallery/{path.with_suffix('.rst')}"
    for path in (script.relative_to(gallery) for script in gallery.rglob("plot_*.py"))
}

# Docstrings
autosummary_generate = True
autodoc_typehints = "none"  # the sections of the docstrings say more
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False  # the template of a class lists them
numpydoc_class_members_toctree = False
toc_object_entries_show_parents = "hide"

# Gallery
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "backreferences_dir": "api/backreferences",
    "doc_module": ("cgboost",),
    "filename_pattern": r"/plot_",
    "remove_config_comments": True,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "reset_modules": ("matplotlib", "garbage.keep"),
    "reset_modules_order": "both",
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": True,
    "thumbnail_size": (640, 448),
    "capture_repr": (),  # what a script prints, and no more
    "abort_on_example_error": True,
}

# The look
html_theme = "pydata_sphinx_theme"
html_title = "cgboost"
html_static_path = ["static"]
html_css_files = ["cgboost.css"]
html_js_files = ["tables.js"]
html_favicon = "static/favicon.svg"
html_sidebars = {
    name: [] for name in ("index", "user_guide/getting_started", "user_guide/column_generation")
}
html_show_sourcelink = html_copy_source = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {
        "text": "cgboost",
        "image_light": "_build/static/logo.svg",
        "image_dark": "_build/static/logo.svg",
        "alt_text": "cgboost: the front page",
    },
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "collapse_navigation": True,  # each page lists its own section only
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
