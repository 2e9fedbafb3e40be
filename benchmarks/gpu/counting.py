"""Kernels with their launches and arguments, what `warpsmith simulate` counts of them, and a driver for each file.

    counts/FILE/FILE.cu      the kernels            launch_N.in    each parameter: whether a buffer, its bytes, content
                driver.cu    launches them all      launch_N.out   all buffers, as the simulator leaves them
    counts.json              what was counted

A launch is a line `// run:` in the file of the kernels (tests/corpus/reading.py).
"""

from __future__ import annotations

import json
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace
from tests.corpus.reading import Run, runs

from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.simulate import SimulateOptions, simulate
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.report.simulation.model import MemoryRow, SimulationReport
from warpsmith.simt.choose import Engine
from warpsmith.ssa.nodes import Function

__all__ = ["PATTERNS", "count_kernels"]

ROOT = Path(__file__).parents[2]
DEVICE = "h200"
_SEED = 5
_TYPES = {"i32": "<i4", "f32": "<f4", "u8": "u1", "i64": "<i8", "f64": "<f8"}
_ENTRY = re.compile(r"\.entry\s+(\w+)")
PATTERNS = Path(__file__).parent / "kernels" / "patterns.cu"


def count_kernels(folder: Path, files: Sequence[Path] | None = None, engine: Engine = "") -> None:
    """Write drivers and counts below `folder`, for the examples' kernels and our patterns where no files are named."""
    chosen = files or [*sorted((ROOT / "examples" / "kernels").glob("*.cu")), PATTERNS]
    rows = [row for path in chosen for row in _count_file(path, folder / "counts" / path.stem, engine)]
    (folder / "counts.json").write_text(json.dumps({"device": DEVICE, "kernels": rows}, indent=1))


def _count_file(path: Path, target: Path, engine: Engine) -> Iterator[dict[str, Any]]:
    name, text = path.stem, path.read_text()
    target.mkdir(parents=True, exist_ok=True)
    (target / f"{name}.cu").write_text(text)
    file = KernelFile(f"{name}.cu", "cuda", (), text)
    unit = read_unit(file)
    assert isinstance(unit, KernelUnit), unit
    ptx = _ptx_of(target, name)
    launches: list[str] = []
    for number, run in enumerate(runs(text)):
        kernel = next(f for f in unit.module.functions if f.name.partition("<")[0] == run.kernel)
        try:
            row = _count((file, ptx, engine), kernel, run, target / f"launch_{number}")
        except WarpsmithError as error:
            print(f"{name}: {run.kernel}: {error}", file=sys.stderr)
            continue
        launches.append(_launch(run, kernel, number))
        yield {"file": name, "number": number, **row}
    lines = [f'#include "{name}.cu"', '#include "driver.h"', "int main()", "{", *launches, "}", ""]
    (target / "driver.cu").write_text("\n".join(lines))


def _launch(run: Run, kernel: Function, number: int) -> str:
    grid, block = (", ".join(map(str, dim)) for dim in (run.grid, run.block))
    return f"    launch((const void *)&{kernel.name}, {number}, dim3({grid}), dim3({block}), {run.shared});"


def _count(of: tuple[KernelFile, KernelFile | None, Engine], kernel: Function, run: Run, stem: Path) -> dict[str, Any]:
    """Simulate one launch; write its arguments and what it leaves. `of`: the file, what nvcc makes of it, which is
    counted too, and the engine."""
    file, ptx, engine = of
    given = [*_arguments(kernel, run)]
    packed = (struct.pack("<qq", data is not None, len(data or number)) + (data or number) for data, number, _ in given)
    stem.with_suffix(".in").write_bytes(b"".join(packed))
    with tempfile.TemporaryDirectory() as folder:
        texts, out = [], {}
        for parameter, (data, _, text) in zip(kernel.parameters, given, strict=True):
            if data is not None:
                path = Path(folder, f"{parameter.name}.npy")
                np.save(path, np.frombuffer(data, _TYPES[text.partition("*")[0]]))
                out[parameter.name] = f"{path}.out.npy"
            texts.append(text if data is None else f"@{path}")
        named = [f"{p.name}={text}" for p, text in zip(kernel.parameters, texts, strict=True)]
        report = simulate(file, replace(_options(kernel.name, run, named, out), engine=engine))
        whole = report.status != "incomplete"
        left = b"".join(np.load(out[name]).tobytes() for name in out) if whole else b""
        of_ptx = None if ptx is None else _count_ptx(ptx, run, texts)
    stem.with_suffix(".out").write_bytes(left)
    types = [(text.partition("*")[0], len(data)) for data, _, text in given if data is not None]
    return {"kernel": run.kernel, "status": report.status, "buffers": types, "ptx": of_ptx, **_sums(report)}


def _arguments(kernel: Function, run: Run) -> Iterator[tuple[bytes | None, bytes, str]]:
    """Yield each argument: a buffer's content or the bytes of a number, and its text."""
    chosen = random.Random(_SEED)
    for parameter in kernel.parameters:
        data = run.buffer(parameter.name, chosen)
        text = run.arguments[parameter.name].split("|")[0]
        if data is not None:
            yield data, b"", text
            continue
        real = parameter.type is not None and parameter.type.kind == "float"
        form = {(True, 4): "<f", (True, 8): "<d", (False, 4): "<i", (False, 8): "<q"}[real, parameter.bytes]
        yield None, struct.pack(form, float(text) if real else int(text)), text


def _options(kernel: str, run: Run, arguments: list[str], out: dict[str, str]) -> SimulateOptions:
    return SimulateOptions(
        kernel=kernel, block=run.block, grid=run.grid, arguments=tuple(arguments), shared=run.shared, device=DEVICE,
        max_steps=200_000_000, out=out, checks=("race", "oob", "barrier"),
    )  # fmt: skip


def _count_ptx(file: KernelFile, run: Run, texts: list[str]) -> dict[str, int] | None:
    """Return the figures of what nvcc made of the kernel; None where they cannot be told."""
    assert file.text is not None
    named = re.compile(rf"(?<![a-z_]){len(run.kernel)}{run.kernel}")
    name = next((entry for entry in _ENTRY.findall(file.text) if named.search(entry)), "")
    if not name:
        return None
    try:
        report = simulate(file, _options(name, run, [f"{n}={text}" for n, text in enumerate(texts)], {}))
    except WarpsmithError as error:
        print(f"{file.path}: {run.kernel}: {error}", file=sys.stderr)
        return None
    return _sums(report)["counts"] if report.work is not None and report.status != "incomplete" else None


def _ptx_of(target: Path, name: str) -> KernelFile | None:
    """Compile a file of kernels with nvcc as the device part does; None without nvcc."""
    if shutil.which("nvcc") is None:
        return None
    command = ["nvcc", "-arch=sm_90", "-O3", "-fmad=false", "-ptx", f"{name}.cu", "-o", f"{name}.ptx"]
    subprocess.run(command, cwd=target, check=True, capture_output=True)
    return KernelFile(f"{name}.ptx", "ptx", (), (target / f"{name}.ptx").read_text())


def _sums(report: SimulationReport) -> dict[str, Any]:
    """Return the figures that a GPU's counters have too."""
    sums = Counter[str]()
    for row in report.memory:
        sums.update(_figures(row))
    work = report.work
    launch = report.launch
    assert work is not None and launch is not None
    threads = work.lane_instructions / work.warp_instructions if work.warp_instructions else 0.0
    visits = sum(b.visits for b in report.branches)
    diverged = sum(b.divergences for b in report.branches)
    return {
        "counts": dict(sums), "threads": threads, "visits": visits, "diverged": diverged,
        "mistakes": len(report.mistakes), "block": launch.block, "shared": launch.shared_bytes,
    }  # fmt: skip


def _figures(row: MemoryRow) -> dict[str, int]:
    place = f"{row.space} {row.kind}"
    if row.space == "global":
        return {f"{place} requests": row.requests, f"{place} sectors": row.sectors}
    if row.space == "shared":
        return {f"{place} requests": row.requests, f"{place} wavefronts": row.requests + row.bank_conflicts,
                f"{place} conflicts": row.bank_conflicts}  # fmt: skip
    return {}
