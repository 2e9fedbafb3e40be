"""Objects of the stack in the present table: hostile frames, blocks, threads and stacks on a device that is other host
memory, each with its own bytes, so that what was taken for an older object is seen."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emit.host_device import CALLERS, HOST_DEVICE, tables
from warpsmith.emit.carried import RuntimeNeeds, declarations
from warpsmith.emit.words import Support
from warpsmith.run.native.tools import cxx_compiler

_PROGRAM = r"""
#include <alloca.h>
#include <pthread.h>
#include <sys/mman.h>
#include <atomic>
#include <new>
#define FAR __attribute__((noinline, noclone))
enum { SIZE = 64, ALL = WS_COPY | WS_KEEP | WS_WATCH };

/* no block of the heap, and no variable of static storage */
static bool ws_allocation_watch(const void *) { return false; }

static int failures;
static void fail(const char *what, const char *how)
{
    printf("%s: %s\n", what, how);
    failures++;
}
/* A kernel reads an object, which has one value in all its bytes: whether that is copied in, and what it finds. */
FAR static void reads(const char *what, const char *object, char value, bool copies, long long bytes = SIZE)
{
    const long long before = copied;
    char *device = (char *)ws_data_enter(object, bytes, ALL, what, "", 0);
    for (long long i = 0; i < bytes; i++)
        if (device[i] != value)
            return fail(what, "a kernel reads an older object");
    ws_data_exit(device, 0, "", 0);
    if ((copied != before) != copies)
        fail(what, copies ? "taken for what was kept" : "copied again");
}
FAR static void writes(char *object, char value)
{
    char *device = (char *)ws_data_enter(object, SIZE, ALL, "written", "", 0);
    memset(device, value, SIZE);
    ws_data_exit(device, 1, "", 0);
}
FAR static bool all(const char *object, char value)
{
    for (int i = 0; i < SIZE; i++)
        if (object[i] != value)
            return false;
    return true;
}
FAR static void keep(const void *object) { asm volatile("" : : "r"(object) : "memory"); }

/* --- what is called in a data region */
FAR static void callee(char value)
{
    char mine[SIZE];
    memset(mine, value, SIZE);
    reads("an array of a callee", mine, value, true);
    reads("an array of a callee, again", mine, value, true);
}
__attribute__((always_inline)) static inline void inlined(char value)
{
    char mine[SIZE];
    memset(mine, value, SIZE);
    reads("an array of what is inlined", mine, value, true);
}
FAR static void inner(char *theirs, char value)
{
    char mine[SIZE];
    memset(mine, value, SIZE);
    ws_data_region held("", 0);
    ws_data_callers(WS_FRAME);
    ws_data_outlives(mine, SIZE);
    reads("an object of a data region in a data region", mine, value, true);
    reads("an object of a data region in a data region, again", mine, value, true);
    reads("an object of what the data region lies in", theirs, 1, false);
}
static void thrown(char *theirs)
{
    try {
        char mine[SIZE];
        memset(mine, 33, SIZE);
        ws_data_region held("", 0);
        ws_data_callers(WS_FRAME);
        ws_data_outlives(mine, SIZE);
        reads("an object of a data region that is left", mine, 33, true);
        throw 1;
    } catch (int) {
        reads("an object behind a data region that was left", theirs, 1, false);
    }
}
static void *passing_thread(void *)
{
    ws_data_begin("", 0);
    ws_data_end("", 0);
    return nullptr;
}
/* --- a data region */
FAR static void opener(char *theirs)
{
    char mine[SIZE], written[SIZE], pair[2 * SIZE];
    memset(mine, 1, SIZE), memset(written, 2, SIZE), memset(pair, 3, 2 * SIZE);
    ws_data_begin("", 0);
    ws_data_callers(WS_FRAME);
    ws_data_outlives(mine, SIZE);
    ws_data_outlives(written, SIZE);
    ws_data_outlives(pair, SIZE);
    reads("an object that is told of", mine, 1, true);
    reads("an object that is told of, again", mine, 1, false);
    reads("an object of a caller", theirs, 9, true);
    reads("an object of a caller, again", theirs, 9, !CALLERS);
    reads("more than is told of", pair, 3, true, 2 * SIZE);
    reads("more than is told of, again", pair, 3, true, 2 * SIZE);
    for (char k = 10; k < 14; k++) {
        callee(k);
        { char block[SIZE]; memset(block, k, SIZE); reads("an array of a block", block, k, true); }
        { char other[SIZE]; memset(other, -k, SIZE); reads("an array of another block", other, -k, true); }
        inlined(k);
        inlined(-k);
        { char sized[SIZE + k - k]; memset(sized, k, SIZE); reads("an array of any length", sized, k, true); }
        inner(mine, k);
        thrown(mine);
    }
    pthread_t passing;
    pthread_create(&passing, nullptr, passing_thread, nullptr);
    pthread_join(passing, nullptr);
    reads("an object that is told of, behind another thread's data region", mine, 1, false);
    writes(written, 4);
    if (!all(written, 2))
        fail("an object that is told of", "copied back in the data region");
    ws_data_end("", 0);
    if (!all(written, 4))
        fail("an object that is told of", "not copied back at the end of the data region");
    keep(pair);
}
/* where `opener` had its own objects others lie now, of another data region and of none */
FAR static void later(char value)
{
    char mine[8 * SIZE];
    memset(mine, value, sizeof mine);
    ws_data_begin("", 0);
    for (int i = 0; i < 8; i++)
        reads("an object of a later data region", mine + i * SIZE, value, true);
    for (int i = 0; i < 8; i++)
        reads("an object of a later data region, again", mine + i * SIZE, value, true);
    ws_data_end("", 0);
}
/* --- threads */
static std::atomic<int> step;
static void wait_for(int wanted)
{
    while (step.load() != wanted)
        sched_yield();
}
FAR static void *other_thread(void *theirs)
{
    char mine[SIZE];
    memset(mine, 41, SIZE);
    ws_data_begin("", 0);
    ws_data_callers(WS_FRAME);
    ws_data_outlives(mine, SIZE);
    reads("an object of another thread", mine, 41, true);
    reads("an object of another thread, again", mine, 41, true);
    char *device = (char *)ws_data_enter(theirs, SIZE, ALL, "in use", "", 0);
    step = 1;
    wait_for(2);
    ws_data_exit(device, 0, "", 0);
    step = 3;
    wait_for(4);
    ws_data_end("", 0);
    return nullptr;
}
FAR static void first_opener(pthread_t *thread)
{
    char mine[SIZE], used[SIZE];
    memset(mine, 42, SIZE), memset(used, 43, SIZE);
    ws_data_begin("", 0);
    ws_data_outlives(mine, SIZE);
    ws_data_outlives(used, SIZE);
    reads("an object of the first thread", mine, 42, true);
    pthread_create(thread, nullptr, other_thread, used);
    wait_for(1);
    ws_data_end("", 0);
    step = 2;
    wait_for(3);
}
FAR static void after_first_opener(void)
{
    char mine[4 * SIZE];
    memset(mine, 44, sizeof mine);
    for (int i = 0; i < 4; i++)
        reads("an object where the first thread's were", mine + i * SIZE, 44, true);
    for (int i = 0; i < 4; i++)
        reads("an object where the first thread's were, again", mine + i * SIZE, 44, true);
}
static char *beyond;
FAR static void begins_on_a_small_stack(char *theirs)
{
    ws_data_begin("", 0);
    ws_data_callers(WS_FRAME);
    reads("an object of a caller on a small stack", theirs, 51, true);
    reads("an object of a caller on a small stack, again", theirs, 51, !CALLERS);
    reads("memory beyond the stack", beyond, 52, true);
    memset(beyond, 53, SIZE);
    reads("other memory beyond the stack", beyond, 53, true);
    ws_data_end("", 0);
}
static void *on_a_small_stack(void *)
{
    char mine[SIZE];
    memset(mine, 51, SIZE);
    begins_on_a_small_stack(mine);
    keep(mine);
    return nullptr;
}
FAR static void small_stack(void)
{
    const size_t bytes = 1 << 20;
    char *memory = (char *)mmap(nullptr, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t wanted;
    pthread_t thread;
    beyond = memory + bytes + 4096;
    memset(beyond, 52, SIZE);
    pthread_attr_init(&wanted);
    pthread_attr_setstack(&wanted, memory, bytes);
    pthread_create(&thread, &wanted, on_a_small_stack, nullptr);
    pthread_join(thread, nullptr);
}
FAR static void caller(void)
{
    char mine[SIZE];
    memset(mine, 9, SIZE);
    opener(mine);
    keep(mine);
}
int main(void)
{
    caller();
    if (ws_ranges != nullptr)
        fail("the table", "something stays outside every data region");
    later(60);
    later(61);
    pthread_t thread;
    first_opener(&thread);
    after_first_opener();
    step = 4;
    pthread_join(thread, nullptr);
    small_stack();
    if (ws_ranges != nullptr || ws_lastings != nullptr)
        fail("the table", "something stays at the end");
    if (failures == 0)
        printf("ok\n");
    return 0;
}
"""

_BUGS: dict[str, Callable[[str], str]] = {
    "all that is watched is kept": lambda t: t.replace("flags &= ~WS_KEEP;", ";"),
    "the frame of the table itself": lambda t: t.replace(
        "ws_lasts((const char *)frame, end)", "ws_lasts((const char *)__builtin_frame_address(0), end)"
    ),
    "a stack without an end": lambda t: t.replace("at < high ? high : nullptr", "at < high ? (char *)~0ul : nullptr"),
    "data regions in data regions tell as well": lambda t: t.replace(" || ws_opened != 1)", ")"),
    "other threads tell as well": lambda t: t.replace("ws_opener != ws_thread() || ws_opened != 1", "ws_opened != 1"),
    "other threads end it": lambda t: t.replace("ws_opener != ws_thread() || --ws_opened > 0", "--ws_opened > 0"),
    "the end of a data region in a data region ends it": lambda t: t.replace(" || --ws_opened > 0)", ")"),
    "what was told of is remembered": lambda t: t.replace(
        "ws_opener != ws_thread() || --ws_opened > 0", "ws_opener != ws_thread() || --ws_opened > -9"
    ),
    "what was kept stays": lambda t: t.replace("ws_met(one->begin, one->end)", "ws_met(one->begin, one->begin)"),
    "what is in use stays kept": lambda t: t.replace("range->kept = false;", ""),
    "only the first byte counts": lambda t: t.replace(" || end > one->end)", ")"),
    "nothing is told of": lambda t: t.replace("ws_lastings = one;\n}", "free(one);\n}"),
}


def _run(text: str, directory: Path, level: str = "-O1") -> str:
    source, program = directory / "table.cpp", directory / "table"
    declared = declarations(Support("ws"), RuntimeNeeds(present=True, allocations=True))
    known = f"#define CALLERS {int(CALLERS)}"
    source.write_text("\n".join((HOST_DEVICE, declared, known, text, _PROGRAM)))
    flags = ["-std=c++17", level, "-w", "-fno-stack-protector"]
    subprocess.run([cxx_compiler(), *flags, str(source), "-o", str(program), "-lpthread"], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip() if done.returncode == 0 else f"ended with {done.returncode}"


def test_only_what_outlives_the_data_region_is_kept(tmp_path: Path) -> None:
    assert _run(tables("data_regions.cu", "PRESENT", "ALLOCATIONS"), tmp_path) == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3"])
def test_it_is_so_for_every_layout_of_the_frames(level: str, tmp_path: Path) -> None:
    assert _run(tables("data_regions.cu", "PRESENT", "ALLOCATIONS"), tmp_path, level) == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("bug", sorted(_BUGS))
def test_a_broken_table_is_seen(bug: str, tmp_path: Path) -> None:
    right = tables("data_regions.cu", "PRESENT", "ALLOCATIONS")
    wrong = _BUGS[bug](right)
    assert wrong != right
    assert _run(wrong, tmp_path) != "ok"
