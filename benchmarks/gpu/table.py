"""The tables of benchmarks/results/gpu*.txt, made of what came back from the machine with the GPU.

check.jsonl, sanitize.jsonl, time.jsonl, count.jsonl,
device.jsonl, mapping.jsonl                             one answer a line; the last one of a program counts
counts.json                                             what was simulated here
machine.txt                                             the machine
"""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.gpu.reasons import REASONS
from benchmarks.gpu.table_mappings import list_device, list_mappings

from warpsmith.machine.devices import device
from warpsmith.machine.occupancy import occupancy

__all__ = ["RESULTS", "write_tables"]

RESULTS = Path(__file__).parents[1] / "results"
_WORDS = ("same", "tolerance", "differs", "does not build", "crashes", "CUDA error", "hangs", "unsteady",
          "original fails", "no time", "broken")  # fmt: skip
_TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
Row = dict[str, Any]


def write_tables(folder: Path, target: Path = RESULTS) -> list[Path]:
    """Write the tables of the results in `folder`, those for which there are answers; return their paths."""
    machine = (folder / "machine.txt").read_text().strip()
    written = []
    for command, name, words, lines in _tables(folder):
        if (folder / f"{command}.jsonl").exists():
            path = target / name
            path.write_text("\n".join([machine, f"command  {words}", "", *lines(), ""]))
            written.append(path)
    return written


def _tables(folder: Path) -> Iterator[tuple[str, str, str, Callable[[], list[str]]]]:
    """Yield what the device part was asked, the file of its table, the command line, and what makes the lines."""

    def right() -> list[str]:
        return [*_right(_read(folder / "check.jsonl", "name")), "", *_clean(_read(folder / "sanitize.jsonl", "name"))]

    checked = "python3 FOLDER/device check --results check.jsonl; … sanitize --results sanitize.jsonl"
    yield "check", "gpu.txt", checked, right
    timed = "python3 FOLDER/device time --results time.jsonl"
    yield "time", "gpu_times.txt", timed, lambda: [*_times(_read(folder / "time.jsonl", "name"))]
    counted = "python3 FOLDER/device count --results count.jsonl"
    yield "count", "gpu_counts.txt", counted, lambda: [*_counts(folder)]
    every = "python3 FOLDER/device all"
    yield "device", "gpu_device.txt", every, lambda: [*list_device(_read(folder / "device.jsonl", "name"))]

    def mapped() -> list[str]:
        machine = (folder / "machine.txt").read_text()
        return [*list_mappings(_read(folder / "mapping.jsonl", "name"), _given(folder, "manifest.json"), machine)]

    yield "mapping", "gpu_mappings.txt", every, mapped


def _given(folder: Path, name: str) -> Path:
    """Return where a file is that was prepared here: beside the results, or in the folder around them."""
    return folder / name if (folder / name).exists() else folder.parent / name


def _read(path: Path, *keys: str) -> list[Row]:
    """Return the last answer of each program, by kind and name."""
    found: dict[tuple[str, ...], Row] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        row = json.loads(line)
        if all(key in row for key in keys):
            found[(row.get("kind", ""), *(str(row[key]) for key in keys))] = row
    return list(found.values())


# --- are ports right, are they clean


def _right(rows: list[Row]) -> Iterator[str]:
    yield "Ports on the device against their originals"
    yield ""
    heads = ("programs", "kernels", "same", "tolerance", "wrong", "not judged", "objects", "worst error")
    yield f"{'kind':10}" + "".join(f"{head:>12}" for head in heads)
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    judged = [*((kind, [row for row in rows if row["kind"] == kind]) for kind in kinds), ("all", rows)]
    for kind, part in judged:
        words = Counter(row["word"] for row in part)
        wrong = sum(words[word] for word in ("differs", "does not build", "crashes", "CUDA error", "hangs", "unsteady"))
        left = len(part) - wrong - words["same"] - words["tolerance"]
        kernels, records = (sum(row.get(key, 0) for row in part) for key in ("kernels", "records"))
        worst = max((row.get("error", 0.0) for row in part), default=0.0)
        yield (
            f"{kind:10}{len(part):12}{kernels:12}{words['same']:12}{words['tolerance']:12}{wrong:12}{left:12}{records:12}"
            f"{worst:12.2g}"
        )
    yield ""
    yield "builds: " + "; ".join(f"{name} {_list(counts)}" for name, counts in _builds(rows))
    yield ""
    yield "same: every object and all output bit for bit, in all builds; tolerance: where sums are combined in another"
    yield "order, a library function is the device's own, or (build `fast`) nvcc contracts a product and a sum."
    yield "port, captures: nvcc -fmad=false; fast: nvcc as it is. objects: compared whole, after every region."
    yield "worst error: relative, of one element. not judged: the original itself fails, or there was no time."
    bad = [row for row in rows if row["word"] not in ("same", "tolerance")]
    for row in sorted(bad, key=lambda row: (row["kind"], row["name"])):
        yield f"  {row['kind']} {row['name']}: {row['word']}: {' '.join(row.get('where', '').split())[:160]}"
        known = REASONS.get((row["name"], row["where"].partition(":")[0]))
        if known:
            yield f"      {known}"


def _builds(rows: list[Row]) -> Iterator[tuple[str, Counter[str]]]:
    for name in ("port", "fast", "captures"):
        yield name, Counter(row["builds"][name] for row in rows if name in row.get("builds", {}))


def _list(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[word]} {word}" for word in _WORDS if counts[word])


def _clean(rows: list[Row]) -> Iterator[str]:
    yield "compute-sanitizer on ports"
    yield ""
    yield f"{'kind':12}{'programs':>9}" + "".join(f"{tool:>12}" for tool in _TOOLS)
    for kind in dict.fromkeys(row["kind"] for row in rows):
        part = [row for row in rows if row["kind"] == kind and "tools" in row]
        found = [sum(max(0, row["tools"][tool]["count"]) for row in part) for tool in _TOOLS]
        yield f"{kind:12}{len(part):9}" + "".join(f"{number:12}" for number in found)
    yield ""
    yield "errors and hazards that each tool counts"
    for row in rows:
        if row["word"] == "no answer" and "terminated before first instrumented" in row["where"]:
            yield f"  {row['kind']} {row['name']}: no kernel of it runs"
        elif row["word"] != "clean":
            said = " ".join(row["where"].replace("=========", "").split())
            yield f"  {row['kind']} {row['name']}: {row['word']}: {said[:160]}"


# --- how fast


def _times(rows: list[Row]) -> Iterator[str]:
    yield "PolyBench at LARGE: the original on one thread against the port, in seconds"
    yield ""
    heads = ("original", "port", "ratio", "with start", "ratio", "kernels", "launches", "copies", "number")
    yield f"{'program':16}" + "".join(f"{head:>11}" for head in heads) + "  output"
    timed = [row for row in rows if "port_s" in row]
    for row in timed:
        one, other, wall = row["original_s"], row["port_s"], row["wall_s"]
        kernels, launches, copies, number = row["profile"] if isinstance(row["profile"], list) else [math.nan] * 4
        yield (
            f"{row['name']:16}{one:11.3f}{other:11.3f}{one / other:11.2f}{wall:11.3f}{one / wall:11.2f}{kernels:11.4f}"
            f"{launches:11.0f}{copies:11.4f}{number:11.0f}  {row['word']}"
        )
    for row in rows:
        if "port_s" not in row:
            yield f"{row['name']:16}{row['word']}: {row['where'][:120]}"
    yield ""
    ratios = [row["original_s"] / row["port_s"] for row in timed]
    started = [row["original_s"] / row["wall_s"] for row in timed]
    if timed:
        yield f"ratio, median: {statistics.median(ratios):.1f}, with CUDA's start {statistics.median(started):.1f}"
        yield f"the port loses: {_names(timed, ratios)}"
        yield f"and with CUDA's start: {_names(timed, started)}"
    for row in timed:
        if row["word"] not in ("same", "tolerance"):
            yield f"{row['name']}: {row['where']}: {REASONS.get((row['name'], 'output'), 'not known')}"
    yield ""
    yield "original: gcc -O3 -march=native, one thread, from before main to the end; port: the same of the"
    yield "port (nvcc -O3), CUDA's context made before; with start: the whole process. Medians of up to five runs."
    yield "kernels, copies: sums of their times on the device as CUPTI records them, in a run of its own. All of a"
    yield "program counts, also that it makes its data and adds up its results. Four originals ran at a time."


def _names(rows: list[Row], ratios: list[float]) -> str:
    return ", ".join(row["name"] for row, ratio in zip(rows, ratios, strict=True) if ratio < 1) or "nowhere"


# --- what is counted


def _counts(folder: Path) -> Iterator[str]:
    document = json.loads(_given(folder, "counts.json").read_text())
    ours = {(k["file"], str(k["number"])): k for k in document["kernels"]}
    rows = [row for row in _read(folder / "count.jsonl", "file", "number") if "figures" in row]
    yield f"What `warpsmith simulate` counts of {len(rows)} kernels against the counters of the device"
    yield ""
    words = Counter(row["word"] for row in rows)
    yield f"memory at the end: {_list(words)}"
    for row in rows:
        if row["word"] == "differs":
            yield f"  {row['file']} {row['kernel']}: {row['where']}: {_reason(row, 'memory')}"
    yield ""
    yield from _compared(rows, ours)
    yield ""
    yield from _resident(rows, ours, document["device"])


def _pairs(rows: list[Row], ours: dict[tuple[str, str], Row]) -> Iterator[tuple[str, Row, float, float]]:
    """Yield each figure that either has: its name, the kernel, ours and the device's."""
    for row in rows:
        mine = ours[row["file"], str(row["number"])]["counts"]
        for name, value in row["figures"].items():
            # our counts of passes leave out that a warp's wide accesses take several without a conflict
            compared = name.split()[0] in ("global", "shared") and not name.endswith("wavefronts")
            if compared and (mine.get(name, 0) or value):
                yield name, row, mine.get(name, 0), value


def _compared(rows: list[Row], ours: dict[tuple[str, str], Row]) -> Iterator[str]:
    pairs = [*_pairs(rows, ours)]
    yield f"{'figure':28}{'kernels':>9}{'equal':>7}{'by PTX':>8}{'of our patterns':>17}"
    for name in dict.fromkeys(name for name, *_ in pairs):
        part = [(row, a, b) for n, row, a, b in pairs if n == name]
        own = [(a, b) for row, a, b in part if row["file"] == "patterns"]
        of_ptx = [ours[row["file"], str(row["number"])].get("ptx") for row, *_ in part]
        by_ptx = sum(p is not None and p.get(name, 0) == b for p, (_, _, b) in zip(of_ptx, part, strict=True))
        equal = sum(a == b for _, a, b in part)
        yield f"{name:28}{len(part):9}{equal:7}{by_ptx:8}{sum(a == b for a, b in own):9} of {len(own):4}"
    yield ""
    yield "What differs"
    yield ""
    yield f"{'kernel':36}{'figure':26}{'ours':>8}{'device':>8}{'ratio':>7}  why"
    for name, row, a, b in sorted(pairs, key=lambda pair: (pair[1]["file"], pair[1]["kernel"], pair[0])):
        if a != b:
            ratio = f"{a / b:7.2f}" if b else "      -"
            why = _reason(row, name, ours[row["file"], str(row["number"])], b)
            yield f"{row['file'] + ' ' + row['kernel']:36}{name:26}{a:8.0f}{b:8.0f}{ratio}  {why}"
    yield ""
    yield "All of our patterns"
    yield ""
    yield f"{'kernel':24}" + "".join(
        f"{head:>16}" for head in ("load sectors", "store sectors", "load conflicts", "store conflicts")
    )
    for row in rows:
        if row["file"] == "patterns":
            mine, theirs = ours[row["file"], str(row["number"])]["counts"], row["figures"]
            names = ("global load sectors", "global store sectors", "shared load conflicts", "shared store conflicts")
            cells = (f"{mine.get(n, 0)} / {theirs.get(n, 0):.0f}" for n in names)
            yield f"{row['kernel']:24}" + "".join(f"{cell:>16}" for cell in cells)
    yield "ours / the device's"


def _reason(row: Row, name: str, ours: Row | None = None, value: float = math.nan) -> str:
    """Return why a figure differs, so far as that is known."""
    of_ptx = (ours or {}).get("ptx")
    if of_ptx is not None and of_ptx.get(name, 0) == value:
        return "nvcc: its PTX, simulated, has the device's number"
    known = REASONS.get((row["kernel"], name)) or REASONS.get(("", name))
    if known is None and of_ptx is not None and ours is not None:
        return f"ptxas, or not known: its PTX, simulated, has {of_ptx.get(name, 0)}"
    return known or "not known: its PTX cannot be simulated"


def _resident(rows: list[Row], ours: dict[tuple[str, str], Row], name: str) -> Iterator[str]:
    gpu = device(name)
    different = []
    for row in rows:
        threads = math.prod(ours[row["file"], str(row["number"])]["block"])
        held = occupancy(gpu, threads, row["registers"], row["shared"])
        if held.blocks != row["blocks"]:
            different.append(f"  {row['file']} {row['kernel']}: {held.blocks} blocks for {row['blocks']}")
    equal = f"{len(rows) - len(different)} of {len(rows)} equal"
    yield f"blocks a multiprocessor holds, from registers, threads and shared memory: {equal}"
    yield from different


def merged(paths: Iterable[Path], target: Path) -> None:
    """Write the lines of several files into one."""
    target.write_text("".join(path.read_text() for path in paths if path.exists()))
