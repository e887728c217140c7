"""Settings of Sphinx, which makes the site: `sphinx-build -W docs build/docs`."""

import tomllib
from pathlib import Path
from typing import Any

project = "lesson-claims"
copyright = "the authors of lesson-claims"  # noqa: A001  Sphinx asks for this name
package = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
version = release = package["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "lesson-claims"
html_show_copyright = False
html_show_sourcelink = False

myst_heading_anchors = 3
default_role = "literal"  # docstrings write code between single backticks
autodoc_member_order = "bysource"
autodoc_type_aliases = {name: name for name in ("EvidenceOf", "Outcome", "Recipe", "npt.ArrayLike")}
add_module_names = False  # the public names are imported from the package itself


def mend(_app: Any, what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Let docstrings be read as they are meant.

    reStructuredText takes |a − b| for the name of a substitution, and Napoleon what stands before a colon in the first
    line of a value for its type.
    """
    lines[:] = [line.replace("|", r"\|") for line in lines]
    if what in ("attribute", "data", "property") and lines:
        lines[0] = lines[0].replace(": ", " – ")


def setup(app: Any) -> None:
    """Connect what this file defines with Sphinx."""
    app.connect("autodoc-process-docstring", mend, priority=1)
