"""islpy, loaded: the library is imported here alone.

It asks the standard library for its version, which loads what reads the metadata of packages, archives and mail: that
takes longer than isl itself. The version stands in the name of a folder beside it, too, and is set before the import.
"""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

__all__ = ["isl"]

_FOLDER = re.compile(r"islpy-(?P<text>(?P<numbers>[0-9]+(?:\.[0-9]+)*)(?P<status>[a-z0-9]*))\.dist-info")


def _version() -> ModuleType | None:
    """Return islpy's module that says its version; None where it is loaded, or is not installed in one folder."""
    spec = find_spec("islpy") if "islpy" not in sys.modules else None
    places = (spec.submodule_search_locations or ()) if spec is not None else ()
    names = [entry.name for place in places for entry in Path(place).parent.iterdir()]
    found = [name for name in map(_FOLDER.fullmatch, names) if name is not None]
    if len(found) != 1:
        return None
    module = ModuleType("islpy.version")
    numbers = tuple(map(int, found[0]["numbers"].split(".")))
    vars(module).update(VERSION_TEXT=found[0]["text"], VERSION_STATUS=found[0]["status"], VERSION=numbers)
    return module


if (version := _version()) is not None:
    sys.modules[version.__name__] = version

import islpy as isl  # noqa: E402 - after its version is set

if version is not None:
    vars(isl)["version"] = version
