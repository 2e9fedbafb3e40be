"""The tables of what the device can do, and of the mappings that it was given against their predicted times."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.gpu.mappings import VARIANTS
from benchmarks.tuning_spaces.ranking import rank

Row = dict[str, Any]

__all__ = ["list_device", "list_mappings"]


def list_device(rows: list[Row]) -> Iterator[str]:
    """Yield a line for each figure of the device."""
    yield "What the device can do"
    yield ""
    for row in rows:
        if "value" in row:
            yield f"{row['name']:20}{row['value']:14,.2f} {row['unit']}"
        else:
            yield f"{row['name']:20}{row['word']}: {row['where'][:120]}"
    yield ""
    yield "stream: 64 M doubles an array, bytes as STREAM counts them; launches: as the host sees one with its end, one"
    yield "of a thousand in a row, and by events on the device; copies: of 256 MB; dgemm, sgemm: cuBLAS, C += A B."
    yield "All are the best of ten, after three that do not count."


def list_mappings(rows: list[Row], manifest: Path, machine: str) -> Iterator[str]:
    """Yield a line for each program: how its variants rank by the device and by the model. `machine`: what it says of
    itself; of a device that nothing was predicted for, the first one's times stand there."""
    programs = [row for row in json.loads(manifest.read_text())["programs"] if "predicted" in row]
    devices = dict.fromkeys(name for row in programs for name in row["predicted"])
    device = next((name for name in devices if name in machine.lower()), next(iter(devices), ""))
    predicted = {row["name"]: row["predicted"][device] for row in programs}
    yield f"Mappings of PolyBench at LARGE: measured times of all kernels, and those predicted for the {device}"
    yield ""
    heads = (
        f"{'variants':>9}{'fastest':>15}{'seconds':>12}{'predicted':>15}{'regret':>8}{'tau':>7}{'off':>6}{'plain':>7}"
    )
    yield f"{'program':16}{heads}"
    regrets: list[float] = []
    for name, variants in _by_program(rows).items():
        timed = {v: row["kernels_s"] for v, row in variants.items() if row.get("kernels_s")}
        known = {v: t for v in timed if (t := predicted.get(f"{name}-{v}")) is not None}
        if not timed:
            yield f"{name:16}{next(iter(variants.values()))['word']}"
            continue
        fastest = min(timed, key=lambda v: timed[v])
        line = f"{name:16}{len(timed):9}{fastest:>15}{timed[fastest]:12.6f}"
        if known:
            found = rank([*known.values()], [timed[v] for v in known])
            regrets.append(found.regret)
            chosen = min(known, key=lambda v: known[v])
            tau = "-" if found.tau is None else f"{found.tau:.2f}"
            line += f"{chosen:>15}{found.regret:8.2f}{tau:>7}{found.off:6.2f}"
        plain = f"{timed['plain'] / timed[fastest]:.2f}" if "plain" in timed else "-"
        yield f"{line:88}{plain:>7}"
    yield ""
    if regrets:
        yield f"regret: median {statistics.median(regrets):.2f}, most {max(regrets):.2f}, of {len(regrets)} programs"
    yield "regret: how much more what the model takes for the fastest took than the fastest, as a share of it; tau:"
    yield "Kendall's tau-b of measured and predicted times; off: by which factor predictions are off in the median;"
    yield "plain: the default port by the fastest. A variant whose kernels lack a predicted time is left out of these."


def _by_program(rows: list[Row]) -> dict[str, dict[str, Row]]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        stem, variant = _split(row["name"])
        found.setdefault(stem, {})[variant] = row
    return found


def _split(name: str) -> tuple[str, str]:
    """Return a program and its variant: heat-3d and 32x8-swapped of heat-3d-32x8-swapped."""
    variant = max((v for v in ("plain", *VARIANTS) if name.endswith(f"-{v}")), key=len)
    return name.removesuffix(f"-{variant}"), variant
