"""The capture runtime, compiled and run: what it records of which objects."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np

from warpsmith.emit.files import OutputFile
from warpsmith.run.compare.captures import CaptureLog, CaptureRecord, read_log
from warpsmith.run.native.programs import build_native
from warpsmith.run.referee.reference import runtime_files
from warpsmith.run.verification import Sources

HEAD = """#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <math.h>
void ws_capture(const char *region, const char *name, const void *object, long long declared_bytes, int kind,
                int element_size, long long lower, long long upper, const void *device);
int main(void)
{
"""


def log_of(body: str, directory: Path, before: str = "") -> CaptureLog:
    sources = Sources((OutputFile("t.c", before + HEAD + body + "\n    return 0;\n}\n"), *runtime_files()))
    built = build_native(sources, ("-O1", "-Wall"), directory / "build")
    assert built.command, built.message
    environment = {**os.environ, "WS_CAPTURE_LOG": str(directory / "log"), "WS_POISON": "3"}
    done = subprocess.run(built.command, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return read_log(directory / "log")


def one(log: CaptureLog, region: str, name: str, instance: int = 0) -> CaptureRecord:
    return log.records[region, name][instance]


def values(record: CaptureRecord) -> list[float]:
    assert record.values is not None
    return [float(v) for v in record.values]


def test_the_extent_is_the_declared_size_or_the_allocation_or_the_section(tmp_path: Path) -> None:
    log = log_of(
        """
    int *p = calloc(10, sizeof(int)), declared[4] = {1, 2, 3, 4}, *stack = declared;
    p[3] = 7;
    ws_capture("r", "p", p + 2, -1, 1, 4, 0, 3, 0);
    ws_capture("r", "declared", declared, sizeof declared, 1, 4, 0, 2, 0);
    ws_capture("r", "stack", stack, -1, 1, 4, 1, 3, 0);
    ws_capture("r", "nothing", NULL, -1, 1, 4, 0, 0, 0);
    free(p);""",
        tmp_path,
    )
    p = one(log, "r", "p")
    assert (p.extent_from, p.first, p.count, p.lower, p.upper) == ("allocation", -2, 10, 0, 3)
    assert values(p)[3] == 7
    declared = one(log, "r", "declared")
    assert (declared.extent_from, values(declared)) == ("type", [1, 2, 3, 4])
    stack = one(log, "r", "stack")
    assert (stack.extent_from, stack.first, values(stack)) == ("section", 1, [2, 3])
    assert one(log, "r", "nothing").count == 0


def test_the_block_that_an_object_lies_in_may_be_a_variable(tmp_path: Path) -> None:
    log = log_of(
        """
    int automatic[8] = {0};
    ws_capture_block();
    ws_capture("r", "kept", kept + 4, -1, 1, 4, -100, 100, 0);
    ws_capture_block();
    ws_capture("r", "automatic", automatic + 4, -1, 1, 4, -100, 100, 0);""",
        tmp_path,
        "static int kept[12] = {7};\nvoid ws_capture_block(void);\n",
    )
    kept = one(log, "r", "kept")
    assert (kept.first, kept.count, kept.lower, kept.upper) == (-4, 12, -4, 8)
    assert values(kept)[0] == 7
    # of the stack it is not known where a variable begins
    assert one(log, "r", "automatic").count == 0


def test_every_way_to_allocate_is_seen(tmp_path: Path) -> None:
    log = log_of(
        """
    char *a = malloc(3), *b = aligned_alloc(64, 128), *c = realloc(malloc(5), 900), *d = strdup("four"), *e;
    if (posix_memalign((void **)&e, 64, 7)) return 1;
    for (int i = 0; i < 20000; i++) free(malloc(i % 100));
    memset(a, 1, 3); memset(b, 1, 128); memset(c, 1, 900); memset(e, 1, 7);
    ws_capture("r", "a", a, -1, 1, 1, 0, 1, 0); ws_capture("r", "b", b, -1, 1, 1, 0, 1, 0);
    ws_capture("r", "c", c, -1, 1, 1, 0, 1, 0); ws_capture("r", "d", d, -1, 1, 1, 0, 1, 0);
    ws_capture("r", "e", e, -1, 1, 1, 0, 1, 0);""",
        tmp_path,
    )
    assert [one(log, "r", name).count for name in "abcde"] == [3, 128, 900, 5, 7]


def test_the_device_section_is_laid_over_and_the_host_poisoned(tmp_path: Path) -> None:
    log = log_of(
        """
    double *p = malloc(4 * sizeof *p), device[2] = {10, 20};
    for (int i = 0; i < 4; i++) p[i] = i;
    ws_capture("r", "p", p, -1, 3, 8, 1, 3, device);
    ws_capture("r", "host", p, -1, 3, 8, 0, 1, 0);
    if (!isnan(p[1]) || !isnan(p[2]) || p[0] != 0 || p[3] != 3) return 1;
    p[1] = 5;
    ws_capture("r", "later", p, -1, 3, 8, 0, 4, 0);""",
        tmp_path,
    )
    assert values(one(log, "r", "p")) == [0, 10, 20, 3]
    # Through another name the stale elements are known for what they are; what the host wrote since is not stale.
    assert one(log, "r", "host").stale == ((1, 3),)
    assert one(log, "r", "later").stale == ()
    assert values(one(log, "r", "later"))[:2] == [0, 5]


def test_what_lies_where_another_object_was_is_known_to_be_stale(tmp_path: Path) -> None:
    log = log_of(
        """
    static double pool[32], device[32];
    short *later = (short *)(pool + 8), newer[32] = {0};
    ws_capture("r", "pool", pool, sizeof pool, 3, 8, 0, 32, device);
    ws_capture("r", "later", later, 64, 1, 2, 0, 16, newer);
    ws_capture("s", "later", later, 64, 1, 2, 0, 0, 0);
    ws_capture("s", "pool", pool, sizeof pool, 3, 8, 0, 0, 0);""",
        tmp_path,
    )
    for name in ("later", "pool"):
        stale = one(log, "s", name).stale
        assert {element for begin, end in stale for element in range(begin, end)} == set(range(32)), name


def test_arrays_of_one_block_are_told_apart(tmp_path: Path) -> None:
    log = log_of(
        """
    double *p = malloc(6 * sizeof *p), device[2] = {10, 20};
    int *q = (int *)(p + 2), numbers[3] = {7, 8, 9};
    memset(p, 0, 48);
    ws_capture_ahead(), ws_capture("r", "p", p, -1, 3, 8, 0, 2, device);
    ws_capture_ahead(), ws_capture("r", "q", q, -1, 1, 4, 0, 3, numbers);
    ws_capture("r", "p", p, -1, 3, 8, 0, 2, device);
    ws_capture("r", "q", q, -1, 1, 4, 0, 3, numbers);
    q[0] = 5;
    ws_capture("r", "p", p, -1, 3, 8, 0, 2, device);""",
        tmp_path,
        before="void ws_capture_ahead(void);\n",
    )
    assert log.totals["r", "p"] == 2 and log.totals["r", "q"] == 1
    # an element of which a part is newer elsewhere is left out as a whole
    assert one(log, "r", "p").stale == ((2, 4),)
    assert one(log, "r", "q").stale == ((-4, 0),)
    assert values(one(log, "r", "q"))[4:7] == [7, 8, 9]
    # what the host has written since is not stale
    assert one(log, "r", "p", 1).stale == ((3, 4),)


def test_first_and_last_instances_are_whole_and_the_others_summarized(tmp_path: Path) -> None:
    log = log_of(
        """
    static double a[3000];
    for (int t = 0; t < 1000; t++) {
        for (int i = 0; i < 3000; i++) a[i] = t + i;
        ws_capture("r", "a", a, sizeof a, 3, 8, 100, 200, 0);
    }""",
        tmp_path,
    )
    records = log.records["r", "a"]
    assert log.totals["r", "a"] == 1000 and len(records) == 1000
    assert all(records[i].values is not None for i in (*range(8), 16, 999))
    middle = records[500].summary or records[501].summary
    assert middle is not None
    t = 500 if records[500].summary else 501
    everything = np.arange(3000) + float(t)
    assert sum(block.sum for block in middle.blocks) == everything.sum()
    assert middle.blocks[0].sum == everything[:100].sum()
    assert middle.blocks[-1].sum == everything[200:].sum()
    assert (middle.samples == everything[middle.positions]).all()


def test_the_log_stays_bounded(tmp_path: Path) -> None:
    log_of(
        """
    size_t n = 3 << 20;
    double *a = calloc(n, sizeof *a);
    for (int t = 0; t < 40; t++) { a[t] = t; ws_capture("r", "a", a, -1, 3, 8, 0, n, 0); }""",
        tmp_path,
    )
    assert (tmp_path / "log").stat().st_size < 64 << 20


def test_a_forked_child_does_not_write_into_the_log(tmp_path: Path) -> None:
    log = log_of(
        """
    int a[2] = {1, 2};
    ws_capture("r", "a", a, sizeof a, 1, 4, 0, 2, 0);
    if (fork() == 0) { ws_capture("child", "a", a, sizeof a, 1, 4, 0, 2, 0); exit(0); }
    usleep(50000);""",
        tmp_path,
    )
    assert log.complete and set(log.records) == {("r", "a")} and log.totals == {("r", "a"): 1}


def test_a_log_cut_short_or_garbled_ends_there(tmp_path: Path) -> None:
    log_of('int a[2] = {1, 2}; ws_capture("r", "a", a, sizeof a, 1, 4, 0, 2, 0);', tmp_path)
    data = (tmp_path / "log").read_bytes()
    for broken in (data[:-3], data[: len(data) // 2], data + b"garbage"):
        (tmp_path / "cut").write_bytes(broken)
        assert not read_log(tmp_path / "cut").complete
    assert read_log(tmp_path / "absent").complete


def test_an_empty_section_behind_the_object_is_one_at_its_end(tmp_path: Path) -> None:
    # many instances: later ones are summed up block by block, around the section
    log = log_of(
        """
    int *p = calloc(1000, sizeof(int));
    for (int i = 0; i < 100; i++)
        ws_capture("r", "p", p, -1, 1, 4, 100000000, 100000000, 0);
    free(p);""",
        tmp_path,
    )
    first = one(log, "r", "p")
    assert (first.first, first.count, first.lower, first.upper) == (0, 1000, 1000, 1000)
    assert len(log.records["r", "p"]) == 100


def test_what_host_and_device_share_is_recorded_and_not_overwritten(tmp_path: Path) -> None:
    log = log_of(
        """
    double p[4] = {1, 2, 3, 4}, device[2] = {5, 6};
    ws_capture("shared", "p", p, sizeof p, 3, 8, 1, 3, p + 1);
    ws_capture("shared again", "p", p, sizeof p, 3, 8, 1, 3, p + 1);
    ws_capture("apart", "p", p, sizeof p, 3, 8, 1, 3, device);
    ws_capture("after", "p", p, sizeof p, 3, 8, 0, 0, 0);""",
        tmp_path,
    )
    assert values(one(log, "shared", "p")) == values(one(log, "shared again", "p")) == [1, 2, 3, 4]
    assert values(one(log, "apart", "p")) == [1, 5, 6, 4]
    assert values(one(log, "after", "p"))[1:3] != [2, 3], "the host's copy is stale where the device has a newer one"
