"""Slow tests run only where they are asked for: `-m slow`, a part of them with `--shard 2/4`. What many tests need
once is shared here."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from pathlib import Path

import pytest

# as the command line has it: trees and memos only grow
gc.set_threshold(200_000, 20, 20)
# the processes that tests start compile our sources once, wherever byte code is not kept beside them
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir(), f"warpsmith-tests-{os.getuid()}")))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shard", default="1/1", help="K/N: the Kth of N equal parts of the chosen tests, K from 1")


def pytest_collection_finish() -> None:
    """Nothing that was collected goes away: it is not looked through again."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part, _, parts = str(config.getoption("--shard")).partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise pytest.UsageError("--shard takes K/N with 1 <= K <= N, for example 2/4")
    mine = items[int(part) - 1 :: int(parts)]
    chosen = set(mine)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = mine
    _skip_without_device(items)
    if "slow" in str(config.getoption("-m")):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if len(slow) < len(items):
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
        return
    for item in slow:
        item.add_marker(pytest.mark.skip(reason="slow: run with -m slow"))


def _skip_without_device(items: list[pytest.Item]) -> None:
    if Path("/dev/nvidiactl").exists() and shutil.which("nvcc"):
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device, and nvcc"))
