"""NVIDIA's run-time compiler, where it is installed (the `cuda` extra). It needs no driver and no GPU."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from types import ModuleType

__all__ = ["has_bindings", "has_nvrtc", "load_nvrtc"]


def has_bindings() -> bool:
    """Whether the bindings are installed; their library may be missing. Loads nothing of it."""
    try:
        return importlib.util.find_spec("cuda.bindings.nvrtc") is not None
    except ImportError:
        return False


def has_nvrtc() -> bool:
    """Whether NVRTC can be used: loads it."""
    return load_nvrtc() is not None


@functools.cache
def load_nvrtc() -> ModuleType | None:
    """Return the bindings of NVRTC; None where they are not installed, or cannot load the library."""
    try:
        nvrtc = importlib.import_module("cuda.bindings.nvrtc")
        # the first call loads the library: it raises RuntimeError where there is none
        nvrtc.nvrtcVersion()
    except (ImportError, OSError, RuntimeError):
        return None
    return nvrtc
