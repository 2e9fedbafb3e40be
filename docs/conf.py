"""The manual, built offline: `sphinx-build -W --keep-going -b html docs docs/_build`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from warpsmith import __version__

project = "warpsmith"
release = __version__
extensions = ["myst_parser", "generated"]
exclude_patterns = ["_build", "_ext"]
# no mathematics: what Sphinx has draws formulas by a script from another machine
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "warpsmith"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["wide.css"]
# quotes in help texts are those of a shell
smartquotes = False
