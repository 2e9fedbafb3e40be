"""Where what is kept for later runs lies."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """Return the folder of the cache, there or not: $WARPSMITH_CACHE_DIR, or `warpsmith` in the user's own."""
    named = os.environ.get("WARPSMITH_CACHE_DIR")
    return Path(named) if named else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warpsmith"
