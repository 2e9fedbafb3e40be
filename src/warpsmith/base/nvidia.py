"""NVIDIA's run-time compiler and tools, where they are installed (the `cuda` extra). They need no driver and no GPU."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

__all__ = ["find_tool", "has_bindings", "has_nvrtc", "load_nvrtc"]


def find_tool(name: str) -> str | None:
    """Return where a tool of CUDA's toolkit is (ptxas, nvdisasm): on PATH, else in NVIDIA's packages for Python; None
    where it is in neither."""
    found = shutil.which(name)
    packages = None if found is not None else importlib.util.find_spec("nvidia")
    folders = packages.submodule_search_locations or () if packages is not None else ()
    places = (place for folder in folders for place in sorted(Path(folder).glob(f"*/bin/{name}")))
    return found or next((str(place) for place in places if place.is_file()), None)


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
