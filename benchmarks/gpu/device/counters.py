"""What the GPU's counters say of kernels whose launches are written down in counts/, and what the kernels leave."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import tempfile
from array import array
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = ["METRICS", "count_file"]

METRICS = {
    "global load requests": ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",),
    "global load sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",),
    "global store requests": ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",),
    "global store sectors": ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",),
    "global atomic requests": (
        "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    ),
    "global atomic sectors": (
        "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    ),
    "shared load requests": ("smsp__inst_executed_op_shared_ld_pred_on_any.sum",),
    "shared load wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",),
    "shared load conflicts": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",),
    "shared store requests": ("smsp__inst_executed_op_shared_st_pred_on_any.sum",),
    "shared store wavefronts": ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",),
    "shared store conflicts": ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",),
    "threads an instruction": ("smsp__thread_inst_executed_per_inst_executed.ratio",),
    "branches": ("smsp__sass_branch_targets.sum",),
    "branches divergent": ("smsp__sass_branch_targets_threads_divergent.sum",),
}
"""Our name of a figure, and the counters whose sum it is."""
_LINE = re.compile(r"^launch (\d+) registers (\d+) shared (\d+) local (\d+) blocks (\d+)$", re.MULTILINE)
_CODES = {"i32": "i", "f32": "f", "u8": "B", "i64": "q", "f64": "d"}


def count_file(folder: Path, arch: str, kernels: list[dict]) -> list[dict]:
    """Build a file's driver, run it, run it under ncu; return a row for each launch."""
    work = Path(tempfile.mkdtemp(prefix="count-"))
    for path in folder.iterdir():
        (work / path.name).write_bytes(path.read_bytes())
    header = Path(__file__).parent / "driver.h"
    command = ["nvcc", f"-arch={arch}", "-O3", "-fmad=false", f"-I{header.parent}", "driver.cu", "-o", "driver"]
    built = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=300)
    name = folder.name
    if built.returncode:
        return [{"file": name, "word": "does not build", "where": built.stderr[:1000]}]
    ran = subprocess.run(["./driver"], cwd=work, capture_output=True, text=True, timeout=120)
    said = {int(m[1]): m for m in _LINE.finditer(ran.stdout)}
    metrics = ",".join(metric for metrics in METRICS.values() for metric in metrics)
    asked = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--metrics", metrics, "./driver"]
    profiled = subprocess.run(asked, cwd=work, capture_output=True, text=True, timeout=400)
    figures = _figures(profiled.stdout)
    rows = []
    for position, kernel in enumerate(kernels):
        number = kernel["number"]
        row = {"file": name, "kernel": kernel["kernel"], "number": number}
        if number not in said:
            rows.append({**row, "word": "does not run", "where": (ran.stdout + ran.stderr)[-300:]})
            continue
        word, where = _compare(work, number, kernel["buffers"])
        found = said[number]
        row |= {"registers": int(found[2]), "shared": int(found[3]), "local": int(found[4]), "blocks": int(found[5])}
        raw = figures.get(position, {})
        row["figures"] = {n: sum(raw[m] for m in parts) for n, parts in METRICS.items() if all(m in raw for m in parts)}
        rows.append({**row, "word": word, "where": where, "kernel_seen": raw.get("kernel", "")})
    if not figures and rows:
        rows[0]["ncu"] = (profiled.stdout + profiled.stderr)[-500:]
    return rows


def _figures(text: str) -> dict[int, dict]:
    """Return the metrics of each launch, in the order of the launches."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    found: dict[int, dict] = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        one = found.setdefault(int(row["ID"]), {"kernel": row["Kernel Name"]})
        one[row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    return found


def _compare(work: Path, number: int, buffers: list) -> tuple[str, str]:
    expected = (work / f"launch_{number}.out").read_bytes()
    actual = (work / f"device_{number}.out").read_bytes()
    if not expected:
        return "not simulated", ""
    at, fate = 0, ("same", "")
    for n, (type, size) in enumerate(buffers):
        one, other = (array(_CODES[type], data[at : at + size]) for data in (expected, actual))
        at += size
        for k, (x, y) in enumerate(zip(one, other, strict=True)):
            if x == y or (x != x and y != y):
                continue
            text = f"buffer {n}[{k}]: {y!r} for {x!r}"
            if type[0] != "f" or abs(x - y) > (1e-5 if type == "f32" else 1e-12) * max(abs(x), abs(y), 1e-3):
                return "differs", text
            fate = "tolerance", text
    return fate


def count_all(folder: Path, arch: str, results: Path) -> list[dict]:
    """Count the kernels of all files, so many at a time; write the rows."""
    document = json.loads((folder / "counts.json").read_text())
    files = sorted(path for path in (folder / "counts").iterdir() if path.is_dir())
    with ThreadPoolExecutor(8) as pool:
        jobs = [[k for k in document["kernels"] if k["file"] == path.name] for path in files]
        rows = [
            row
            for part in pool.map(lambda job: count_file(job[0], arch, job[1]), zip(files, jobs, strict=True))
            for row in part
        ]
    with results.open("a") as file:
        for row in rows:
            file.write(json.dumps(row) + "\n")
    return rows
