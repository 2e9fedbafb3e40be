"""The table of allocations over the real C library: random blocks against a model, and every special case."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.emit.host_device import tables
from warpsmith.emit.carried import RuntimeNeeds, declarations, run_time
from warpsmith.emit.words import Support
from warpsmith.run.native.tools import c_compiler, cxx_compiler

_TABLE = tables("rows.cu", "ALLOCATIONS", "ROWS")

_DRIVER = r"""
#include <stdio.h>
#include <sys/wait.h>
#include <thread>
static int bad;
static void want(const char *what, long long got, long long wanted)
{
    if (got != wanted && bad++ < 5)
        printf("%s: %lld, not %lld\n", what, got, wanted);
}
struct block { char *at; size_t bytes; };

/* Blocks of one thread: made, moved, freed; asked for at random places. */
static void live(unsigned state, int rounds)
{
    std::vector<block> mine;
    auto any = [&state](unsigned below) { return (state = state * 1664525u + 1013904223u) >> 8, (state >> 8) % below; };
    for (int k = 0; k < rounds; k++) {
        const size_t bytes = any(3000);
        if (mine.size() < 200 || any(2)) {
            void *made = nullptr;
            switch (any(5)) {
            case 0: made = calloc(bytes, 1); break;
            case 1: mine.push_back({(char *)aligned_alloc(64, bytes / 64 * 64), bytes / 64 * 64}); continue;
            case 2: if (posix_memalign(&made, 128, bytes) != 0) abort(); break;
            default: made = malloc(bytes);
            }
            mine.push_back({(char *)made, bytes});
        } else {
            block &one = mine[any((unsigned)mine.size())];
            const size_t offset = one.bytes ? any((unsigned)one.bytes) : 0;
            want("bytes to the end", (long long)ws_allocation_bytes(one.at + offset), (long long)(one.bytes - offset));
            want("elements before", ws_allocation_lower(one.at + offset, 8), -(long long)(offset / 8));
            want("one past the end", (long long)ws_allocation_bytes(one.at + one.bytes), 0);
            const block &other = mine[any((unsigned)mine.size())];
            if (one.bytes > 0 && other.bytes > 0)
                want("apart", ws_allocations_apart(one.at + offset, other.at + other.bytes), one.at != other.at);
            if (any(2)) {
                one.at = (char *)realloc(one.at, bytes + 1);
                one.bytes = bytes + 1;
            } else {
                const char *gone = one.at;
                free(one.at);
                want("a freed block", (long long)ws_allocation_bytes(gone), 0);
                one = mine.back();
                mine.pop_back();
            }
        }
    }
    for (const block &one : mine)
        free(one.at);
}
static double table[40];
static double beside[40];
struct shape { int a; double b[3]; } shapes[5];

int main()
{
    std::thread other(live, 5u, 60000), third(live, 7u, 60000);
    live(3u, 20000);
    for (int k = 0; k < 60; k++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(ws_allocation_bytes(malloc(10)) == 10 ? 0 : 1);
        int status = 1;
        waitpid(child, &status, 0);
        want("a child", status, 0);
    }
    other.join();
    third.join();
    int local[4] = {0};
    void *mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double *volatile tables = table, *volatile besides = beside;
    char *copy = strdup("four"), *heap = (char *)malloc(100);
    want("the library's block", (long long)ws_allocation_bytes(copy), 5);
    want("a local array", (long long)ws_allocation_bytes(local), 0);
    want("a mapping", (long long)ws_allocation_bytes(mapped), 0);
    want("null", (long long)ws_allocation_bytes(nullptr), 0);
    want("new", (long long)ws_allocation_bytes(new int[25]), 100);
    want("a static variable", (long long)ws_allocation_bytes(tables + 3), 37 * 8);
    want("its elements before", ws_allocation_lower(tables + 3, 8), tables == besides + 40 ? -43 + 40 : -3);
    want("a static struct", (long long)ws_allocation_bytes(&shapes[1].b[2]), (long long)sizeof shapes - 56);
    want("two variables", ws_allocations_apart(tables + 1, besides + 1), 1);
    want("one variable", ws_allocations_apart(tables + 1, tables + 40 - 1), 0);
    want("heap and stack", ws_allocations_apart(heap, local), 1);
    want("stack and heap", ws_allocations_apart(local, heap + 100), 1);
    want("stack and mapping", ws_allocations_apart(local, mapped), 0);
    /* where one variable ends, another begins: the address may mean either */
    double *first = tables < besides ? tables : besides, *second = tables < besides ? besides : tables;
    if (first + 40 == second) {
        want("the end of one, start of another", ws_allocation_lower(second, 8), -40);
        want("which may be either", ws_allocations_apart(second, first + 3), 0);
    }
    char **rows = (char **)malloc(4 * sizeof *rows), *block = (char *)malloc(64);
    rows[0] = block + 16, rows[1] = block, rows[2] = nullptr, rows[3] = block + 64;
    const long long *starts = ws_row_starts(rows, 8);
    want("rows of one block", starts != nullptr && starts[0] == 0 && starts[1] == -2 && starts[3] == 6, 1);
    want("asked for again", ws_row_starts(rows, 8) == starts, 1);
    want("row zero", ws_row_zero(starts) == block + 16, 1);
    want("two rows of one block", ws_rows_distinct(starts), 0);
    want("two elements of each", ws_rows_clear(starts, 0, 2) && ws_rows_clear(starts, -1, 1), 1);
    want("three elements of each", ws_rows_clear(starts, 0, 3) || ws_rows_clear(starts, 5, 8), 0);
    want("nothing of each", ws_rows_clear(starts, 9, 9) && ws_rows_clear(starts, 9, -9), 1);
    const long long *inner = ws_row_starts(rows + 1, 8);
    want("from the second row", inner == starts + 1 && ws_row_zero(inner) == block + 16, 1);
    rows[1] = block + 4;
    want("a row between elements", ws_row_starts(rows, 8) == nullptr, 1);
    rows[1] = block + 8;
    starts = ws_row_starts(rows, 8);
    want("rows that have moved", starts != nullptr && starts[1] == -1, 1);
    rows[1] = heap + 16;
    starts = ws_row_starts(rows, 8);
    want("a row elsewhere", starts != nullptr && starts[1] == (long long)((uintptr_t)heap - (uintptr_t)block) / 8, 1);
    want("another row of the first block", ws_rows_distinct(starts), 0);
    want("what is in a row's block", ws_rows_apart(starts, heap + 50), 0);
    want("what is in no row's block", ws_rows_apart(starts, copy), 1);
    want("the stack", ws_rows_apart(starts, local), 1);
    want("a static variable", ws_rows_apart(starts, tables), 1);
    rows[0] = nullptr, rows[3] = (char *)(tables + 1);
    starts = ws_row_starts(rows, 8);
    want("no first row", starts != nullptr && ws_row_zero(starts) == heap + 16 && starts[1] == 0, 1);
    want("rows of the heap and of a variable", ws_rows_distinct(starts) && ws_rows_clear(starts, 0, 1000), 1);
    want("that variable", ws_rows_apart(starts, tables + 20), 0);
    char **more = (char **)malloc(2 * sizeof *more);
    more[0] = copy, more[1] = block;
    const long long *others = ws_row_starts(more, 1);
    want("bytes of other blocks", ws_rows_apart(starts, others) && ws_rows_apart(others, starts), 1);
    more[1] = heap + 99;
    others = ws_row_starts(more, 1);
    want("rows that share a block", ws_rows_apart(starts, others) || ws_rows_apart(others, starts), 0);
    want("rows and themselves", ws_rows_apart(starts, starts), 0);
    want("elements that no block begins with", ws_row_starts(more, 24) == nullptr, 1);
    char *gone = (char *)malloc(200);
    rows[0] = gone, rows[1] = rows[3] = nullptr;
    starts = ws_row_starts(rows, 8);
    want("a block that will die", starts != nullptr && ws_rows_apart(starts, gone) == 0, 1);
    free(gone);
    want("a dead block", ws_row_starts(rows, 8) == nullptr, 1);
    rows[0] = heap, rows[1] = (char *)local, rows[2] = block, rows[3] = (char *)&local;
    want("rows of which some are unknown", ws_row_starts(rows, 8) == nullptr && !ws_row_starts_of(rows, 0, 2, 8), 1);
    starts = ws_row_starts_of(rows + 1, 1, 2, 8);
    want("those that are asked for", starts != nullptr && ws_row_zero(starts) == heap, 1);
    want("one of the same", ws_row_starts_of(rows, 2, 3, 8) == starts - 1, 1);
    want("no row", ws_row_starts_of(rows, 2, 2, 8) == nullptr && ws_row_starts_of(nullptr, 0, 2, 8) == nullptr, 1);
    char *mine[5] = {(char *)local, heap, block + 8, heap + 8, (char *)local};
    starts = ws_row_starts_of(mine, 1, 4, 8);
    want("row pointers on the stack", starts != nullptr && starts[1] == 0 && starts[3] == 1, 1);
    want("two of one block", ws_rows_distinct(starts), 0);
    starts = ws_row_starts_of(mine + 2, -1, 1, 8);
    want("a row in front", starts != nullptr && starts[-1] == 0 && ws_rows_distinct(starts), 1);
    want("rows in front alone", ws_row_starts_of(mine + 4, -3, -1, 8) == nullptr, 1);
    rows[0] = rows[1] = rows[3] = nullptr, rows[2] = (char *)local;
    want("a row on the stack", ws_row_starts(rows, 8) == nullptr, 1);
    rows[1] = rows[2] = rows[3] = nullptr;
    want("no row at all", ws_row_starts(rows, 8) == nullptr, 1);
    printf(bad ? "" : "ok\n");
    return 0;
}
"""

_FOUND = "(uintptr_t)at - found->start <= found->bytes"
_APART = "return start + bytes <= other_start || other_start + other_bytes <= start;"
_LOCK = "while (__atomic_test_and_set(&ws_allocation_lock, __ATOMIC_ACQUIRE))\n        sched_yield();"
_BUGS: dict[str, tuple[str, str]] = {
    "a freed block stays": ("    ws_allocation_forget(memory);\n", ""),
    "realloc keeps the old size": (
        "return ws_allocation_record(memory, bytes,",
        "return ws_allocation_record(memory, had,",
    ),
    "interior pointers are not found": ("node->start <= (uintptr_t)at) {", "node->start == (uintptr_t)at) {"),
    "any block in front serves": (f" && {_FOUND}", ""),
    "a block from its start": ("? start + bytes - (uintptr_t)at : 0", "? bytes : 0"),
    "nothing lies before": ("? -(long long)(((uintptr_t)at - start) / element) : 0", "? 0 : 0"),
    "all are apart": (_APART, "return 1;"),
    "the end is outside": (_FOUND, _FOUND.replace("<=", "<")),
    "no lock": (_LOCK, ""),
    "a child inherits the lock": (
        "    __register_atfork(ws_allocations_enter, ws_allocations_leave, ws_allocations_leave, nullptr);\n",
        "",
    ),
    "an end is one variable's": ("if (place == one->start && one", "if (false && one"),
    "rows are not looked at again": ("memcmp(rows->seen.data() + from, rows->first + from, bytes) == 0", "true"),
    "rows of dead blocks": ("rows->deaths == ws_row_deaths", "rows->deaths != ~0ull"),
    "rows of any block": ("return nullptr;\n    return rows->zero", "break;\n    return rows->zero"),
    "what is not asked for has to be known": ("i = low; i < high", "i = 0; i < rows->count"),
    "rows of one block are clear": ("/ (long long)rows->element < high - low)", "< high - low)"),
    "rows stand in order": ("return rows->seen[a] < rows->seen[b];", "return a < b;"),
    "all rows are distinct": ("            rows->distinct = false;\n", "            {}\n"),
    "rows are apart from all": (
        "            k++;\n        else\n            return 0;",
        "            k++;\n        else\n            i++;",
    ),
    "only the first row's block counts": ("rows->sorted.size() : 1;", "1 : 1;"),
}


def _program(text: str, directory: Path) -> list[str]:
    source, program = directory / "allocations.cpp", directory / "allocations"
    source.write_text(text + _DRIVER)
    options = ["-std=c++17", "-O1", "-w", "-fno-builtin"]
    subprocess.run([cxx_compiler(), *options, str(source), "-o", str(program), "-lpthread"], check=True)
    return [str(program)]


def _run(text: str, directory: Path) -> str:
    program = _program(text, directory)
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            told, _ = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            # the children that it has made as well
            os.killpg(process.pid, signal.SIGKILL)
            return "it does not end"
    return told.strip() if process.returncode == 0 else f"ended with {process.returncode}: {told}"


def test_units_are_what_the_program_made(tmp_path: Path) -> None:
    assert _run(_TABLE, tmp_path) == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("bug", sorted(_BUGS))
def test_a_broken_table_is_seen(bug: str, tmp_path: Path) -> None:
    wrong = _TABLE.replace(*_BUGS[bug])
    assert wrong != _TABLE
    # without a lock, or with a lock that another thread held at a fork, a program may come through once
    attempts = 8 if bug in ("no lock", "a child inherits the lock") else 1
    assert any(_run(wrong, tmp_path) != "ok" for _ in range(attempts))


_OWN = """\
#include <stddef.h>
static char memory[1 << 22];
static size_t used;
void *malloc(size_t n) { void *made = memory + used; used += (n + 31) / 16 * 16; return made; }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { char *made = malloc(n); for (size_t i = 0; p && i < n; i++) made[i] = ((char *)p)[i];
    return made; }
"""

_ASKS = """\
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char *p = malloc(100);
    printf("%d %d\\n", (int)ws_allocation_bytes(p), ws_allocations_apart(p, p + 50));
    return 0;
}
"""


def _linked(directory: Path, more: tuple[str, ...], options: tuple[str, ...] = ()) -> str:
    (directory / "table.cpp").write_text(_TABLE)
    (directory / "asks.c").write_text(declarations(Support("ws"), RuntimeNeeds(allocations=True)) + _ASKS)
    for name, compiler in (("table.cpp", cxx_compiler()), ("asks.c", c_compiler()), *((n, c_compiler()) for n in more)):
        subprocess.run([compiler, "-c", "-w", "-O1", name], cwd=directory, check=True)
    objects = ["asks.o", *(f"{Path(name).stem}.o" for name in more), "table.o"]
    subprocess.run([cxx_compiler(), *objects, *options, "-o", "asks"], cwd=directory, check=True)
    return subprocess.run(["./asks"], cwd=directory, capture_output=True, text=True, check=True).stdout.strip()


def test_a_program_with_an_allocator_of_its_own_knows_no_blocks(tmp_path: Path) -> None:
    (tmp_path / "own.c").write_text(_OWN)
    # all that it gives out is one variable of its own
    assert _linked(tmp_path, ("own.c",)) != "100 0"


@pytest.mark.slow
def test_c_and_static_programs(tmp_path: Path) -> None:
    assert _linked(tmp_path, ()) == "100 0"
    assert _linked(tmp_path, (), ("-static",)) == "0 0"


def test_another_prefix_leaves_the_names_alone() -> None:
    text = run_time(Support("ws1"), RuntimeNeeds(present=True, allocations=True, rows=True)).text
    assert "#define WS_WEAK_ALLOCATIONS __attribute__((weak))\n" in text
    assert 'extern "C" WS_WEAK_ALLOCATIONS size_t ws_allocation_bytes(' in text
    assert "ws1_copy_to_device(there->table" in text and "void *ws1_rows_enter(" in text
    assert "ws_update" not in _TABLE and "rows_enter" not in _TABLE
