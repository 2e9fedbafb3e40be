"""The present table against a model: random homes, touches, data regions and pauses on bytes whose true values are
known.

The generated text runs unchanged on a device that is other host memory, filled with garbage where nobody has written.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emit.host_device import HOST_DEVICE, tables
from warpsmith.run.native.tools import cxx_compiler

_AFTER = r"""
enum { SIZE = 96, LASTING = 64 };
static char host[SIZE], truth[SIZE];
static unsigned state;
static int any(int below) { return (int)((state = state * 1103515245u + 12345u) >> 16) % below; }
static void fail(const char *what, int at) { printf("seed %u: %s at %d\n", state, what, at); exit(1); }
static void range(int *begin, int *end)
{
    *begin = any(SIZE);
    *end = *begin + any(SIZE - *begin + 1);
}
static bool apart(int b, int e, int c, int f) { return e <= c || f <= b; }

/* Enter some ranges, check what is there, write some, leave in any order. */
static void home(int fixed)
{
    int begin[3], end[3], written[3], count = fixed >= 0 ? 2 : 1 + any(3);
    char *device[3];
    for (int k = 0; k < count; k++) {
        if (fixed >= 0) {
            begin[k] = k * 24 + fixed, end[k] = begin[k] + 20, written[k] = k == fixed;
        } else {
            range(&begin[k], &end[k]);
            written[k] = any(2);
            for (int j = 0; j < k; j++)
                if ((written[k] || written[j]) && !apart(begin[k], end[k], begin[j], end[j]))
                    written[k] = 0, begin[k] = end[k] = 0;
        }
        int flags = WS_COPY | (end[k] <= LASTING ? WS_KEEP : 0);
        device[k] = (char *)ws_data_enter(host + begin[k], end[k] - begin[k], flags, "x", "", 0);
    }
    for (int k = 0; k < count; k++)
        for (int i = begin[k]; i < end[k]; i++)
            if (device[k][i - begin[k]] != truth[i])
                fail("a kernel reads an old byte", i);
    for (int k = 0; k < count; k++)
        for (int i = begin[k]; written[k] && i < end[k]; i++)
            if (any(3))
                device[k][i - begin[k]] = truth[i] = (char)any(256);
    int first = any(count);
    for (int k = 0; k < count; k++)
        ws_data_exit(device[(first + k) % count], written[(first + k) % count], "", 0);
}
static void look(int b, int e)
{
    for (int i = b; i < e; i++)
        if (host[i] != truth[i])
            fail("the host reads an old byte", i);
}
static void touch(void)
{
    int b, e, all = any(6) == 0, write = any(2), alone = all && any(2);
    range(&b, &e);
    if (alone)
        ws_data_to_host("", 0);
    else if (all)
        ws_update_host_all("", 0);
    else
        ws_update_host(host + b, e - b, "", 0);
    look(b, e);
    for (int i = b; write && i < e; i++)
        if (any(2))
            host[i] = truth[i] = (char)any(256);
    if (alone)
        return;
    if (write && all)
        ws_update_device_all("", 0);
    else if (write)
        ws_update_device(host + b, e - b, "", 0);
}
/* A block of the heap: kernels know two of three bytes, the host writes the third one without a word. */
enum { BLOCK = 48 };
static int blocks;
static void piece(int *begin, int *end)
{
    *begin = any(BLOCK / 3) * 3 + 1;
    *end = *begin + 1 + any(2);
}
static void block_home(void)
{
    int begin[3], end[3], written[3], count = 1 + any(3);
    char *device[3];
    for (int k = 0; k < count; k++) {
        int whole = any(2);
        piece(&begin[k], &end[k]);
        if (whole)
            begin[k] = 0, end[k] = BLOCK;
        written[k] = any(2);
        for (int j = 0; j < k; j++)
            if ((written[k] || written[j]) && !apart(begin[k], end[k], begin[j], end[j]))
                written[k] = 0, begin[k] = end[k] = 0;
        int flags = WS_COPY | WS_KEEP | (whole ? WS_ALLOCATION : 0) | (written[k] ? WS_CHANGE : 0);
        device[k] = (char *)ws_data_enter(host + begin[k], end[k] - begin[k], flags, "x", "", 0);
    }
    for (int k = 0; k < count; k++)
        for (int i = begin[k]; i < end[k]; i++)
            if (i % 3 != 0 && device[k][i - begin[k]] != truth[i])
                fail("a kernel reads an old byte of a block", i);
    for (int k = 0; k < count; k++)
        for (int i = begin[k]; written[k] && i < end[k]; i++)
            if (i % 3 != 0 && any(3))
                device[k][i - begin[k]] = truth[i] = (char)any(4);
    for (int k = count; k-- > 0;)
        ws_data_exit(device[k], written[k], "", 0);
}
static void block_touch(void)
{
    int b, e, write = any(2);
    piece(&b, &e);
    if (any(4) == 0)
        b = 1, e = BLOCK;
    ws_update_host(host + b, e - b, "", 0);
    look(b, e);
    for (int i = b; write && i < e; i++)
        if (any(2))
            host[i] = truth[i] = (char)any(4);
    if (write)
        ws_update_device(host + b, e - b, "", 0);
    for (int i = 0; i < BLOCK; i += 3)
        if (any(8) == 0)
            host[i] = truth[i] = (char)any(4);
}
static void act(int depth)
{
    int kind = any(10);
    if (kind < 4)
        blocks ? block_home() : home(-1);
    else if (kind < 7)
        blocks ? block_touch() : touch();
    else if (kind < 8 && depth < 3) {
        ws_data_begin("", 0);
        for (int k = any(8); k > 0; k--)
            act(depth + 1);
        ws_data_end("", 0);
    } else if (kind < 9) {
        ws_data_suspend("", 0);
        look(0, SIZE);
        host[any(SIZE)] = 7;
        memcpy(truth, host, SIZE);
        blocks ? block_home() : home(-1);
        look(0, SIZE);
        ws_data_resume("", 0);
    } else {
        /* what is not kept goes out of scope, and something else lives there */
        for (int i = LASTING; i < SIZE; i++)
            host[i] = truth[i] = (char)any(256);
    }
    if (ws_data_regions == 0) {
        look(0, SIZE);
        if (ws_ranges != nullptr)
            fail("something stays outside every data region", 0);
    }
}
int main(void)
{
    for (unsigned seed = 1; seed <= 4000; seed++) {
        state = seed * 7919u;
        blocks = seed % 3 == 0;
        for (int k = 0; k < 12; k++)
            act(0);
    }
    /* two homes that take turns, with other ranges: after the first rounds nothing moves */
    blocks = 0;
    ws_data_begin("", 0);
    long long before = 0;
    for (int k = 0; k < 10; k++) {
        home(k % 2);
        if (k == 3)
            before = copied;
    }
    if (copied != before)
        fail("what stays is copied again", (int)(copied - before));
    ws_data_end("", 0);
    printf("ok\n");
    return 0;
}
"""

_BUGS: dict[str, Callable[[str], str]] = {
    "nothing written comes back": lambda t: t.replace(
        "range->written = !range->dead && (range->written || written != 0);", ""
    ),
    "kept where it may die": lambda t: t.replace("range->kept && ws_data_regions > 0", "ws_data_regions > 0"),
    "kept outside a data region": lambda t: t.replace("range->kept && ws_data_regions > 0 && ", "range->kept && "),
    "kept in a suspension": lambda t: t.replace(" && ws_data_suspended == 0", ""),
    "a part is taken for the whole": lambda t: t.replace(
        "range->host > begin || range->host + range->bytes < end", "range->host > begin"
    ),
    "growing forgets what was written": lambda t: t.replace("range->written = range->written || old->written;", ""),
    "an update of the device is dropped": lambda t: t.replace(
        "at - range->host), at, at, stop, cudaMemcpyHostToDevice",
        "at - range->host), at, at, at, cudaMemcpyHostToDevice",
    ),
    "an update clears more than it copied": lambda t: t.replace(
        "begin <= range->host && range->host + range->bytes <= end", "begin <= range->host"
    ),
    "the end of a data region forgets": lambda t: t.replace("ws_data_suspended = 0;\n    ws_let_go(file, line);", ""),
    "what went to the host stays on the device": lambda t: re.sub(
        r"(void ws_data_to_host\((?:.*\n)*?.*)    ws_let_go\(file, line\);\n", r"\1", t, count=1
    ),
    "bytes of an older range go to the host": lambda t: t.replace("other->written = true;", ""),
    "all of a block comes back": lambda t: t.replace("if (now[i] != before[i])", ""),
    "a block is remembered again": lambda t: t.replace("stays && range->before == nullptr)", "stays)"),
    "a block is not remembered": lambda t: t.replace("(flags & WS_CHANGE) != 0 && range->whole", "false"),
    "a block that grows keeps its old bytes": lambda t: t.replace("if (grows && whole)", "if (false)"),
    "an older range is the newest": lambda t: t.replace("a->age > b->age", "a->age < b->age"),
    "a range that begins far in front is not found": lambda t: t.replace("2ull << number", "0ull << number"),
    "a range is not taken out": lambda t: t.replace("    all.erase(at);\n", ""),
    "an update of the device is not remembered": lambda t: t.replace(
        "memcpy(range->before + (at - range->host), at, (size_t)(stop - at));", ";"
    ),
}


def _run(text: str, directory: Path) -> str:
    source, program = directory / "table.cpp", directory / "table"
    source.write_text(HOST_DEVICE + text + _AFTER)
    subprocess.run(
        [cxx_compiler(), "-std=c++17", "-O1", "-w", str(source), "-o", str(program), "-lpthread"], check=True
    )
    try:
        done = subprocess.run([str(program)], capture_output=True, text=True, timeout=30, check=False)
    except subprocess.TimeoutExpired:
        return "does not end"
    return done.stdout.strip() if done.returncode in (0, 1) else f"ended with {done.returncode}"


def test_the_table_keeps_both_sides_true(tmp_path: Path) -> None:
    assert _run(tables("data_regions.cu", "PRESENT"), tmp_path) == "ok"


@pytest.mark.slow
@pytest.mark.parametrize("bug", sorted(_BUGS))
def test_a_broken_table_is_seen(bug: str, tmp_path: Path) -> None:
    right = tables("data_regions.cu", "PRESENT")
    wrong = _BUGS[bug](right)
    assert wrong != right
    assert _run(wrong, tmp_path) != "ok"
