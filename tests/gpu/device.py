"""Runs what `benchmarks.gpu` has written down on the machine's GPU."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import benchmarks.gpu

__all__ = ["answers"]


def answers(command: str, folder: Path) -> list[dict[str, Any]]:
    """Return the answers of the device part to `command` on a folder that was prepared."""
    shutil.copytree(Path(benchmarks.gpu.__file__).parent / "device", folder / "device")
    results = folder / "results.jsonl"
    words = [sys.executable, str(folder / "device"), command, "--results", str(results), "--jobs", "4"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in results.read_text().splitlines()]
