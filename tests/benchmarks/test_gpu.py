"""The benchmark on a real GPU, as far as it goes without one: what is compared, and how, and the tables."""

from __future__ import annotations

import importlib
import json
import struct
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

DEVICE = Path(benchmarks.gpu.__file__).parent / "device"
MODULES = ("building", "running", "words", "logs", "check")


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
