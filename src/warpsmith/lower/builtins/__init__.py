"""Functions that the device brings with it: tables by name, a file for each kind. Read `rows.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from warpsmith.lower.builtins.atomics import ATOMICS
from warpsmith.lower.builtins.exchange import EXCHANGE
from warpsmith.lower.builtins.integers import INTEGERS
from warpsmith.lower.builtins.library import LIBRARY
from warpsmith.lower.builtins.numbers import NUMBERS
from warpsmith.lower.builtins.opencl.groups import OPENCL_GROUPS
from warpsmith.lower.builtins.opencl.numbers import OPENCL_NUMBERS
from warpsmith.lower.builtins.opencl.opencl import OPENCL
from warpsmith.lower.builtins.relations import RELATIONS
from warpsmith.lower.builtins.synchronize import SYNCHRONIZE
from warpsmith.lower.builtins.textures import TEXTURES
from warpsmith.lower.builtins.vectors import VECTORS
from warpsmith.lower.frame import Frame, Result

__all__ = ["BUILTINS"]

BUILTINS: Final[Mapping[str, Callable[[Frame, Any], Result]]] = {
    **LIBRARY, **OPENCL, **OPENCL_GROUPS, **OPENCL_NUMBERS, **VECTORS, **RELATIONS, **NUMBERS, **INTEGERS,
    **EXCHANGE, **ATOMICS, **SYNCHRONIZE, **TEXTURES,
}  # fmt: skip
"""Later tables win: a name that several have means what CUDA says."""
