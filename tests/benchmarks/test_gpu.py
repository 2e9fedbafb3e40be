"""The benchmark on a real GPU, as far as it goes without one: what is compared, and how, and the tables."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import struct
import subprocess
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import benchmarks.gpu
import pytest
from benchmarks.gpu.prepare import prepare, write_manifest, write_runtime
from benchmarks.gpu.programs import Program
from benchmarks.gpu.table import write_tables
from benchmarks.gpu.table_mappings import list_mappings

DEVICE = Path(benchmarks.gpu.__file__).parent / "device"
MODULES = ("building", "running", "words", "logs", "check", "counters", "everything", "measure", "sanitize", "timing")


@pytest.fixture(scope="module")
def device() -> Iterator[dict[str, ModuleType]]:
    """The modules of the device part, which stands alone."""
    sys.path.insert(0, str(DEVICE))
    yield {name: importlib.import_module(name) for name in MODULES}
    sys.path.remove(str(DEVICE))
    for name in MODULES:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("expected", "again", "actual", "word"),
    [
        (b"sum 1.5 of 3", b"sum 1.5 of 3", b"sum 1.5 of 3", "same"),
        (b"sum 1.50000001 of 3", b"sum 1.50000001 of 3", b"sum 1.50000002 of 3", "tolerance"),
        (b"sum 1.5 of 3", b"sum 1.5 of 3", b"sum 1.6 of 3", "differs"),
        (b"sum 1.5 of 3", b"sum 1.5 of 3", b"sum 1.5 of 4", "differs"),
        (b"sum 1.5 of 3", b"sum 1.5 of 3", b"sum 1.5", "differs"),
        (b"at 17 of 3", b"at 18 of 3", b"at 19 of 3", "same"),
        (b"200.0 1.1e-14", b"200.0 1.1e-14", b"200.0 2.2e-14", "tolerance"),
        (b"200.0 1.1e-12", b"200.0 1.1e-12", b"200.0 2.2e-12", "differs"),
        (b"sum 1.5", b"sum 1.5", b"sum nan", "differs"),
        (b"200.01", b"200.01", b"200.02", "tolerance"),
    ],
)
def test_words_are_compared(
    expected: bytes, again: bytes, actual: bytes, word: str, device: dict[str, ModuleType]
) -> None:
    assert device["words"].compare_texts(expected, again, actual)[0] == word


def _log(
    values: array[float] | array[int], *, instance: int = 0, kind: int = 3, stale: tuple[int, int] | None = None
) -> bytes:
    """Return a log of one object, as the capture run time writes it."""
    data, region, name = values.tobytes(), b"f/i", b"a"
    size = values.itemsize
    runs = struct.pack("=2q", *stale) if stale else b""
    head = struct.pack(
        "=4I5q4IQq", 0x31435357, 0, kind, size, instance, 0, len(values), 0, len(values), 0, len(region), len(name),
        len(runs) // 16, hash(data) & (2**64 - 1), len(data),
    )  # fmt: skip
    return head + region + name + runs + data


def test_logs_are_compared(device: dict[str, ModuleType]) -> None:
    compare = device["logs"].compare_logs
    base = _log(array("d", [1.0, 2.0, 3.0]))
    assert compare(base, base, base)[0] == "same"
    assert compare(base, base, _log(array("d", [1.0, 2.0 + 1e-13, 3.0])))[0] == "tolerance"
    assert compare(base, base, _log(array("d", [1.0, 2.1, 3.0])))[0] == "differs"
    assert compare(base, base, _log(array("d", [1.0, float("nan"), 3.0])))[0] == "differs"
    assert compare(base, _log(array("d", [1.0, 2.5, 3.0])), _log(array("d", [1.0, 2.1, 3.0])))[0] == "same"
    assert compare(base, base, _log(array("d", [1.0, 7.0, 3.0]), stale=(1, 2)))[0] == "same"
    assert compare(base, base, _log(array("d", [1.0, 2.0, 3.0]), instance=1))[0] == "differs"
    whole = _log(array("i", [1, 2, 3]), kind=1)
    assert compare(whole, whole, _log(array("i", [1, 2, 4]), kind=1))[0] == "differs"


def test_an_address_in_a_struct_is_left_out(device: dict[str, ModuleType]) -> None:
    compare = device["logs"].compare_logs
    one, other, port = (
        _log(array("B", [*place.to_bytes(8, "little"), *range(8)]), kind=0) for place in (0x5510, 0x6610, 0x7780)
    )
    assert compare(one, other, port)[0] == "same"
    wrong = _log(array("B", [*(0x5510).to_bytes(8, "little"), *range(1, 9)]), kind=0)
    assert compare(one, other, wrong)[0] == "differs"


PROGRAM = """#include <stdio.h>
static double a[64];
int main(void)
{
    for (int i = 0; i < 64; i++)
        a[i] = 0.5 * i;
    printf("%g\\n", a[7]);
    return 0;
}
"""


def test_a_program_is_written_down_and_its_original_runs(tmp_path: Path, device: dict[str, ModuleType]) -> None:
    source = tmp_path / "half.c"
    source.write_text(PROGRAM)
    folder = tmp_path / "out"
    write_runtime(folder)
    (row,) = prepare(iter([Program("half", "example", (source,))]), folder)
    write_manifest([row], folder)
    (read,) = json.loads((folder / "manifest.json").read_text())["programs"]
    assert set(read["builds"]) == {"original", "port", "reference", "candidate"}
    assert "half_kernels.cu" in read["builds"]["port"]["units"]
    builder = device["building"].Builder(folder, tmp_path / "work", "sm_90")
    for name in ("original", "reference"):
        program, said = builder.build(read, name, device["building"].EXACT)
        assert program, said
        ran = device["running"].run([program], {"WS_FILL": "64"}, 20.0)
        assert (ran.code, ran.out) == (0, b"3.5\n")
    records, _ = device["logs"].read_log(ran.log)
    assert [key[1] for key in records] == ["a"]


def test_programs_of_one_name_are_written_down_apart(tmp_path: Path) -> None:
    source = tmp_path / "half.c"
    source.write_text(PROGRAM)
    rows = prepare(iter([Program("half", kind, (source,)) for kind in ("example", "case")]), tmp_path / "out")
    assert [row["name"] for row in rows] == ["half", "case-half"]
    assert all((tmp_path / "out" / "programs" / row["name"] / "port").is_dir() for row in rows)


def test_tables_say_what_came_back(tmp_path: Path) -> None:
    kernel = {"file": "patterns", "number": 0, "kernel": "coalesced", "block": [128, 1, 1], "ptx": None}
    (tmp_path / "machine.txt").write_text("a machine\n")
    ours = {**kernel, "counts": {"global load sectors": 128}}
    (tmp_path / "counts.json").write_text(json.dumps({"device": "h200", "kernels": [ours]}))
    theirs = {
        **kernel,
        "word": "same",
        "registers": 8,
        "shared": 0,
        "blocks": 16,
        "figures": {"global load sectors": 130.0},
    }
    (tmp_path / "count.jsonl").write_text(json.dumps(theirs) + "\n")
    first = {"name": "p", "kind": "row", "kernels": 1, "records": 2, "word": "differs", "where": "port: word 3"}
    rows = [first, {**first, "word": "same", "where": ""}, {**first, "name": "q", "where": "port: word 4"}]
    (tmp_path / "check.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    timed = {"name": "t", "kind": "large", "word": "same", "original_s": 2.0, "port_s": 0.5, "wall_s": 4.0,
             "profile": [0.25, 3, 0.125, 2]}  # fmt: skip
    (tmp_path / "time.jsonl").write_text(json.dumps(timed) + "\n")
    write_tables(tmp_path, tmp_path)
    right, times, counts = ((tmp_path / name).read_text() for name in ("gpu.txt", "gpu_times.txt", "gpu_counts.txt"))
    assert right.startswith("a machine\n")
    assert "row q: differs: port: word 4" in right and "row p" not in right
    assert times.split("\nt ")[1].split()[:4] == ["2.000", "0.500", "4.00", "4.000"]
    assert "the port loses: nowhere" in times and "with CUDA's start: t" in times
    assert "patterns coalesced" in counts and "1 of 1 equal" in counts


def test_figures_of_a_device_are_read(device: dict[str, ModuleType]) -> None:
    said = "clock 1980000 kHz\nstream_copy 4012.5 GB/s\nnothing here to read of a figure\n"
    (clock, copy) = device["measure"].read_figures(said)
    assert clock == {"name": "clock", "word": "same", "value": 1980000.0, "unit": "kHz"}
    assert (copy["name"], copy["value"]) == ("stream_copy", 4012.5)


def test_what_has_an_answer_is_not_left(tmp_path: Path, device: dict[str, ModuleType]) -> None:
    everything = device["everything"]
    programs = [{"name": f"{kind}{n}", "kind": kind} for kind in ("large", "mapping", "row") for n in range(10)]
    results = tmp_path / "check.jsonl"
    tasks = {task[0]: task for task in everything.TASKS}
    assert len(everything.left_of(tasks["time"], programs, results)) == 10
    assert [row["name"] for row in everything.left_of(tasks["sanitize"], programs, results)][-1] == "row7"
    rows = [{"name": "row0", "word": "same"}, {"name": "row1", "word": "no time"}, {"name": "row2", "word": "differs"}]
    results.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"warning": "a.cu", "said": "unused"}]))
    left = [row["name"] for row in everything.left_of(tasks["check"], programs, results)]
    assert left == ["row1", *(f"row{n}" for n in range(3, 10))]


# builds what the driver asks for: a program that says how long its kernels take, or what a device can do
COMPILER = """#!/bin/sh
for word in "$@"; do target=$word; case $word in *device.cu) figures=1;; esac; done
while [ $# -gt 1 ]; do [ "$1" = -o ] && target=$2; shift; done
case $target in
*.o) : > $target;;
*) if [ -n "$figures" ]; then text='echo "stream_copy 4012.5 GB/s"'; else text='echo "activity 0.25 3 0.125 2" >&2'; fi
   printf '#!/bin/sh\n%s\n' "$text" > $target; chmod +x $target;;
esac
"""


def test_all_goes_on_where_it_stopped(tmp_path: Path) -> None:
    source = tmp_path / "half.c"
    source.write_text(PROGRAM)
    folder, tools = tmp_path / "out", tmp_path / "tools"
    tools.mkdir()
    (tools / "nvcc").write_text(COMPILER)
    (tools / "nvcc").chmod(0o755)
    write_runtime(folder)
    rows = prepare((Program(f"half-{v}", "mapping", (source,), timed=True) for v in ("plain", "32x8")), folder)
    assert all(row["predicted"]["h200"] > 0 for row in rows)
    write_manifest(rows, folder)
    shutil.copytree(DEVICE, folder / "device")
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    command = [sys.executable, str(folder / "device"), "all", "--seconds"]

    def call(seconds: str) -> tuple[int, list[str]]:
        ran = subprocess.run([*command, seconds], env=environment, capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout.splitlines()

    assert call("0") == (3, ["device: 1 left", "time: 0 left", "mapping: 2 left", "check: 0 left", "sanitize: 0 left"])
    code, said = call("60")
    assert (code, said[0], said[2]) == (0, "device: 0 left", "mapping: 0 left")
    answers = (folder / "results" / "mapping.jsonl").read_text()
    assert call("60")[0] == 0 and (folder / "results" / "mapping.jsonl").read_text() == answers
    write_tables(folder / "results", tmp_path)
    assert "stream_copy" in (tmp_path / "gpu_device.txt").read_text()
    (line,) = [line for line in (tmp_path / "gpu_mappings.txt").read_text().splitlines() if line.startswith("half ")]
    assert line.split()[1:4] == ["2", "plain", "0.250000"] and line.split()[-1] == "1.00"


@pytest.mark.parametrize(
    ("machine", "device"), [("machine  NVIDIA H200, driver 1", "h200"), ("machine  NVIDIA A100-SXM4-80GB", "a100"),
                            ("machine  no GPU", "h100")],
)  # fmt: skip
def test_mappings_are_predicted_for_the_device_that_was_there(machine: str, device: str, tmp_path: Path) -> None:
    times = {"h100": 2.0, "h200": 1.0, "a100": 4.0}
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"programs": [{"name": "half-plain", "predicted": times}, {"name": "other"}]}))
    rows = [{"name": "half-plain", "kind": "mapping", "word": "same", "kernels_s": 2.0}]
    title, _, _, line, *_ = list_mappings(rows, manifest, machine)
    # off: by which factor the prediction is
    assert title.endswith(device) and line.split()[-2] == f"{max(times[device] / 2, 2 / times[device]):.2f}"
