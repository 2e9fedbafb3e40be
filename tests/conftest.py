"""Slow tests run only where they are asked for: `-m slow`. What many tests need once is shared here."""

from __future__ import annotations

import gc
import os
import tempfile
from pathlib import Path

import pytest

# as the command line has it: trees and memos only grow
gc.set_threshold(200_000, 20, 20)
# the processes that tests start compile our sources once, wherever byte code is not kept beside them
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir(), f"warpsmith-tests-{os.getuid()}")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "slow" in str(config.getoption("-m")):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: run with -m slow"))
