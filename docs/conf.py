"""The manual, built offline: `sphinx-build -W --keep-going -b html docs docs/_build`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from warpsmith import __version__

project = "warpsmith"
release = __version__
extensions = ["myst_parser", "generated"]
exclude_patterns = ["_build", "_ext"]
myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
# formulas are MathML, which browsers draw without a script from elsewhere
html_math_renderer = "mathml"

html_theme = "furo"
html_title = "warpsmith"
html_copy_source = False
html_show_sphinx = False
pygments_style = "sphinx"
