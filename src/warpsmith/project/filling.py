"""Files of `templates/`: what a build is given in shell and in CMake, with `@name@` where a value goes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

__all__ = ["fill_template"]

_NAME = re.compile(r"@([a-z]+)@")


def fill_template(name: str, values: Mapping[str, str]) -> str:
    """Return a template with a value for each name in it. Raises KeyError for a name without one."""
    text = files("warpsmith.project").joinpath("templates", name).read_text("utf-8")
    return _NAME.sub(lambda found: values[found[1]], text)
