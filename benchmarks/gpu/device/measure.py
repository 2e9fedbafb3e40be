"""What the device itself can do: device.cu, built and run; a row a figure."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

__all__ = ["measure_device", "read_figures"]

HERE = Path(__file__).parent
_LIMIT_S = 200


def measure_device(arch: str, work: Path, results: Path) -> list[dict]:
    """Build and run device.cu; write a row for each figure, or one that says why there are none."""
    program = str(work / "device")
    command = ["nvcc", f"-arch={arch}", "-O3", str(HERE / "device.cu"), "-lcublas", "-o", program]
    built = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S)
    if built.returncode:
        rows = [{"name": "device", "word": "does not build", "where": built.stderr[:1000]}]
    else:
        ran = subprocess.run([program], capture_output=True, text=True, timeout=_LIMIT_S)
        rows = read_figures(ran.stdout)
        if ran.returncode or not rows:
            rows.append({"name": "device", "word": "crashes", "where": (ran.stdout + ran.stderr)[-300:]})
    with results.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return rows


def read_figures(text: str) -> list[dict]:
    """Return a row for each `NAME VALUE UNIT`."""
    words = (line.split() for line in text.splitlines())
    return [{"name": n, "word": "same", "value": float(v), "unit": u} for n, v, u in (w for w in words if len(w) == 3)]
