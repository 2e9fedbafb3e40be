"""How long originals and ports take.

    original    gcc -O3 -march=native, one thread        the whole program, without its start
    port        nvcc -O3, gcc as above                   the whole program, after CUDA's own start; wall: with it
    device      kernels and copies alone, by CUPTI       in a run of its own, which is slower as a whole

Originals run four at a time, on a machine with more cores than that; ports alone, one after the other. All are medians.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from building import NATIVE, Builder
from running import Ran, run
from words import compare_texts

__all__ = ["time_kernels", "time_programs"]

HERE = Path(__file__).parent
_RUNS, _LONG_S, _LIMIT_S, _TOGETHER, _BUILT = 5, 3.0, 120.0, 4, 16
_CLOCK = re.compile(r"^clock ([\d.]+)$", re.MULTILINE)
_ACTIVITY = re.compile(r"^activity ([\d.]+) (\d+) ([\d.]+) (\d+)$", re.MULTILINE)


def time_programs(rows: list[dict], builder: Builder, work: Path, results: Path, deadline: float) -> list[dict]:
    """Return the times of programs, in the order of `rows`; each is written to `results` as soon as it is known."""
    clock, device_clock, activity = _objects(work)
    answers = []
    for part in _parts(rows, _TOGETHER):
        if time.monotonic() > deadline:
            break
        wanted = [(row, "original", (clock,)) for row in part]
        wanted += [(row, "port", extra) for row in part for extra in ((device_clock,), (activity, "-lcupti"))]
        built = _build(builder, wanted)
        originals, ports = built[: len(part)], built[len(part) :]
        with ThreadPoolExecutor(_TOGETHER) as pool:
            before = list(pool.map(_timed, (path for path, _ in originals), part))
        for n, row in enumerate(part):
            if n and time.monotonic() > deadline:
                break
            answers.append(_row(row, before[n], ports[2 * n], ports[2 * n + 1]))
            _write(answers[-1], results)
    return answers


def time_kernels(rows: list[dict], builder: Builder, work: Path, results: Path, deadline: float) -> list[dict]:
    """Return how long the kernels of programs take, by themselves; the median of a few runs behind one that does not
    count."""
    activity = _objects(work)[2]
    answers = []
    for part in _parts(rows, _BUILT):
        if time.monotonic() > deadline:
            break
        built = _build(builder, [(row, "port", (activity, "-lcupti")) for row in part])
        for n, (row, (program, said)) in enumerate(zip(part, built, strict=True)):
            if n and time.monotonic() > deadline:
                break
            answers.append(_of_kernels(row, program, said))
            _write(answers[-1], results)
    return answers


def _of_kernels(row: dict, program: str, said: str) -> dict:
    answer = {"name": row["name"], "kind": row["kind"], "word": "same", "where": ""}
    if not program:
        return {**answer, "word": "does not build", "where": said[:300]}
    found: list[list[float]] = []
    for _ in range(_RUNS):
        ran = run([program, *row["run"]], {}, _LIMIT_S)
        read = _ACTIVITY.search(ran.err)
        if read is None:
            word, where = ran.trouble(0)
            return {**answer, "word": word or "crashes", "where": where}
        found.append([float(x) for x in read.groups()])
        if found[0][0] > _LONG_S and len(found) >= 2:
            break
    kept = found[1:]
    return {**answer, "kernels_s": statistics.median(one[0] for one in kept), "launches": kept[-1][1],
            "runs": [one[0] for one in kept]}  # fmt: skip


def _objects(work: Path) -> tuple[str, str, str]:
    """Return what programs are linked with: the host's clock, the one that starts with the device, and CUPTI's."""
    clock, device_clock, activity = str(work / "clock.o"), str(work / "device_clock.o"), str(work / "activity.o")
    if not Path(activity).exists():
        subprocess.run(["gcc", "-c", "-O2", str(HERE / "clock.c"), "-o", clock], check=True)
        subprocess.run(["gcc", "-c", "-O2", "-DON_DEVICE", str(HERE / "clock.c"), "-o", device_clock], check=True)
        subprocess.run(["nvcc", "-c", "-O2", str(HERE / "activity.cpp"), "-o", activity], check=True)
    return clock, device_clock, activity


def _build(builder: Builder, wanted: list[tuple[dict, str, tuple[str, ...]]]) -> list[tuple[str, str]]:
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(lambda job: builder.build(job[0], job[1], NATIVE, job[2]), wanted))


def _parts(rows: list[dict], size: int) -> Iterator[list[dict]]:
    """Yield so many programs as are built before the first of them runs: few where each may take minutes."""
    for at in range(0, len(rows), size):
        yield rows[at : at + size]


def _write(answer: dict, results: Path) -> None:
    with results.open("a") as file:
        file.write(json.dumps(answer) + "\n")


def _timed(program: str, row: dict) -> tuple[list[float], list[Ran]]:
    """Run a program a few times; return what its clock said."""
    times: list[float] = []
    ran: list[Ran] = []
    while program and len(ran) < _RUNS and not (len(ran) >= 3 and sum(times) > 3 * _LONG_S):
        ran.append(run([program, *row["run"]], {}, _LIMIT_S))
        found = _CLOCK.search(ran[-1].err)
        if not found or ran[-1].code:
            break
        times.append(float(found[1]))
        if times[0] > 4 * _LONG_S and len(times) >= 2:
            break
    return times, ran


def _row(row: dict, before: tuple[list[float], list[Ran]], port: tuple[str, str], profiled: tuple[str, str]) -> dict:
    answer = {"name": row["name"], "kind": row["kind"], "word": "same", "where": ""}
    times, ran = before
    if not times:
        return {**answer, "word": "original fails", "where": ran[0].err[-200:] if ran else "it does not build"}
    if not port[0]:
        return {**answer, "word": "does not build", "where": port[1]}
    own, after = _timed(port[0], row)
    if not own:
        word, where = after[0].trouble(0)
        return {**answer, "word": word or "crashes", "where": where}
    answer["word"], answer["where"] = compare_texts(ran[0].out, ran[0].out, after[0].out)
    activity = run([profiled[0], *row["run"]], {}, _LIMIT_S) if profiled[0] else None
    found = _ACTIVITY.search(activity.err) if activity is not None else None
    answer |= {
        "original_s": statistics.median(times), "original_runs": times, "port_s": statistics.median(own),
        "port_runs": own, "wall_s": statistics.median(r.wall for r in after),
        "profile": [float(x) for x in found.groups()] if found else profiled[1],
    }  # fmt: skip
    return answer
