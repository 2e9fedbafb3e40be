"""Calls of library functions that are run, to see what they really read and write.

Every call has buffers for its pointers. It runs once as it is, and once more for each buffer with other contents: what
changes in a buffer was written; where another content of one changes the result or another buffer, it was read.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from warpsmith.tree.effects.effects import FunctionEffects

SIZE = 64


class Tried(Struct, frozen=True):
    """A call with `B0` … for its buffers, and two contents for each (C expressions of bytes)."""

    name: str
    call: str
    first: tuple[str, ...]
    other: tuple[str, ...]
    pointers: tuple[int, ...]


def text(*parts: str) -> tuple[str, ...]:
    return tuple(f'"{part}"' for part in parts)


CALLS: tuple[Tried, ...] = (
    Tried("memcpy", "memcpy(B0, B1, 4)", text("abcd", "wxyz"), text("efgh", "1234"), (0, 1)),
    Tried("memmove", "memmove(B0, B1, 4)", text("abcd", "wxyz"), text("efgh", "1234"), (0, 1)),
    Tried("memset", "memset(B0, 7, 4)", text("abcd"), text("efgh"), (0,)),
    Tried("strcpy", "strcpy(B0, B1)", text("abcd", "xyz"), text("efgh", "12"), (0, 1)),
    Tried("strncpy", "strncpy(B0, B1, 6)", text("abcd", "xyz"), text("efgh", "12"), (0, 1)),
    Tried("strcat", "strcat(B0, B1)", text("ab", "xyz"), text("efg", "12"), (0, 1)),
    Tried("strncat", "strncat(B0, B1, 2)", text("ab", "xyz"), text("efg", "12"), (0, 1)),
    Tried("strlen", "strlen(B0)", text("abc"), text("abcde"), (0,)),
    Tried("strcmp", "strcmp(B0, B1)", text("abc", "abd"), text("zzz", "aaa"), (0, 1)),
    Tried("memcmp", "memcmp(B0, B1, 3)", text("abc", "abd"), text("zzz", "aaa"), (0, 1)),
    Tried("strchr", "strchr(B0, 'c') - B0", text("abc"), text("acb"), (0,)),
    Tried("strstr", "strstr(B0, B1) - B0", text("xabc", "ab"), text("xxab", "bc"), (0, 1)),
    Tried("strspn", "strspn(B0, B1)", text("aab", "a"), text("aaa", "b"), (0, 1)),
    Tried("atoi", "atoi(B0)", text("12"), text("34"), (0,)),
    Tried("atof", "(long)atof(B0)", text("12"), text("34"), (0,)),
    Tried("strtol", "strtol(B0, (char **)B1, 10)", text("12 a", ""), text("345", "qq"), (0, 1)),
    Tried("strtod", "(long)strtod(B0, (char **)B1)", text("12 a", ""), text("345", "qq"), (0, 1)),
    Tried("sprintf", "sprintf(B0, B1, 5)", text("zz", "%d a"), text("yy", "%dbb"), (0, 1)),
    Tried("sscanf", "sscanf(B0, B1, (int *)B2)", text("12", "%d", "z"), text("34", "%x", "y"), (0, 1, 2)),
    Tried("strtok", "strtok(B0, B1) - B0", text("a b", " "), text("c  d", "b"), (0, 1)),
    Tried("strtok_r", "strtok_r(B0, B1, (char **)B2) - B0", text("a b", " ", ""), text("c  d", "b", ""), (0, 1, 2)),
    Tried("frexp", "(long)(8 * frexp(12.5, (int *)B0))", text("zzzz"), text("yyyy"), (1,)),
    Tried("modf", "(long)modf(12.5, (double *)B0)", text("zzzzzzzz"), text("yyyyyyyy"), (1,)),
    Tried("remquo", "(long)remquo(17.0, 4.0, (int *)B0)", text("zzzz"), text("yyyy"), (2,)),
    Tried("sincos", "(sincos(1.0, (double *)B0, (double *)B1), 0)", text("zzzz", "y"), text("yyyy", "x"), (1, 2)),
    Tried("rand_r", "rand_r((unsigned *)B0)", text("abcd"), text("efgh"), (0,)),
    Tried("nrand48", "nrand48((unsigned short *)B0)", text("abcdef"), text("efghij"), (0,)),
    Tried("mktime", "mktime((struct tm *)B0)", text("\\1\\0\\0\\0"), text("\\2\\0\\0\\0"), (0,)),
    Tried("qsort", "(qsort(B0, 4, 1, by), 0)", text("dbca"), text("hgfe"), (0,)),
    Tried("bsearch", "(char *)bsearch(B0, B1, 4, 1, by) - B1", text("c", "abcd"), text("a", "acef"), (0, 1)),
    Tried("swab", "(swab(B0, B1, 4), 0)", text("abcd", "zzzz"), text("efgh", "yyyy"), (0, 1)),
    Tried("strxfrm", "strxfrm(B0, B1, 8)", text("zz", "abc"), text("yy", "de"), (0, 1)),
    Tried("memccpy", "(char *)memccpy(B0, B1, 'c', 4) - B0", text("zzzz", "abcd"), text("yyyy", "cdef"), (0, 1)),
    Tried("fgets", "(rewind(in), fgets(B0, 4, in) - B0)", text("zzzz"), text("yyyy"), (0,)),
    Tried("fread", "(rewind(in), fread(B0, 1, 4, in))", text("zzzz"), text("yyyy"), (0,)),
    Tried("fwrite", "fwrite(B0, 1, 4, out)", text("zzzz"), text("yyyy"), (0,)),
    Tried("fputs", "fputs(B0, out)", text("zz"), text("yyyy"), (0,)),
    Tried("nan", "(nan(B0), 0)", text("1"), text("2"), (0,)),
    Tried("time", "(time((time_t *)B0), 0)", text("zzzz"), text("yyyy"), (0,)),
    Tried("clock_gettime", "clock_gettime(0, (struct timespec *)B0)", text("zzzz"), text("yyyy"), (1,)),
)

_HEAD = """
#define _GNU_SOURCE
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static char B0[64], B1[64], B2[64], S0[64], S1[64], S2[64];
static FILE *in, *out;
static int by(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
static long keyed(const char *text) { long h = 7; for (int i = 0; i < 64; i++) h = h * 31 + text[i]; return h; }
static void show(int call, int variant, long result) {
    printf("%d %d %ld %d %d %d %ld %ld %ld\\n", call, variant, result, memcmp(B0, S0, 64) != 0, memcmp(B1, S1, 64) != 0,
           memcmp(B2, S2, 64) != 0, keyed(B0), keyed(B1), keyed(B2));
}
static void save(void) { memcpy(S0, B0, 64); memcpy(S1, B1, 64); memcpy(S2, B2, 64); }
int main(void) {
    in = tmpfile(); out = tmpfile(); fputs("12 34 56\\n", in);
"""


def observed(folder: Path, calls: Sequence[Tried]) -> dict[str, tuple[set[int], set[int]]]:
    """Return the arguments that each call was seen to read and to write."""
    lines = [_HEAD]
    for number, tried in enumerate(calls):
        for variant in range(len(tried.first) + 1):
            for buffer, content in enumerate(tried.first):
                given = tried.other[buffer] if variant == buffer + 1 else content
                lines.append(f"memset(B{buffer}, 0, 64); memcpy(B{buffer}, {given}, sizeof {given});")
            lines.append(f"save(); {{ long r = (long)({tried.call}); show({number}, {variant}, r); }}")
    source, program = folder / "calls.c", folder / "calls"
    source.write_text("\n".join([*lines, "return 0; }"]))
    subprocess.run(["gcc", "-O0", "-w", "-fno-builtin", str(source), "-lm", "-o", str(program)], check=True)
    shown = subprocess.run([str(program)], check=True, capture_output=True, text=True, cwd=folder).stdout
    rows = [list(map(int, line.split())) for line in shown.splitlines()]
    return {tried.name: _seen(tried, [row[1:] for row in rows if row[0] == n]) for n, tried in enumerate(calls)}


def _seen(tried: Tried, rows: list[list[int]]) -> tuple[set[int], set[int]]:
    reads, writes = set[int](), set[int]()
    base = rows[0]
    for row in rows:
        writes |= {tried.pointers[b] for b in range(len(tried.first)) if row[2 + b]}
    for row in rows[1:]:
        changed = row[0] - 1
        others = [b for b in range(len(tried.first)) if b != changed]
        moved = row[1] != base[1] or any(row[5 + b] != base[5 + b] for b in others)
        # what a buffer holds afterwards depends on what it held, and it was written: read and changed
        if moved:
            reads.add(tried.pointers[changed])
    return reads, writes


def contradictions(table: Mapping[str, FunctionEffects], seen: Mapping[str, tuple[set[int], set[int]]]) -> list[str]:
    """Return the functions that were seen to do more than the table says."""
    found = []
    for name, (reads, writes) in seen.items():
        entry = table[name]
        found += [f"{name} reads {n}" for n in sorted(reads) if not entry.reads_argument(n)]
        found += [f"{name} writes {n}" for n in sorted(writes) if not entry.writes_argument(n)]
    return found
