"""Tables: which arrays keep the numbers of their text, and what their runs are."""

from __future__ import annotations

import random

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.regions.tables import find_tables, runs_of

MAIN = "int main(void) { return 0; }"
# declarations and functions, and the table `t` that there is (None: none)
CASES: list[tuple[str, tuple[int, ...] | None]] = [
    ("static int t[3] = {4, 5, -6};", (4, 5, -6)),
    ("static int t[4] = {4, 5};", (4, 5, 0, 0)),
    ("enum { TWO = 2 };\n#define K 3\nstatic unsigned t[] = {TWO, K, 2 * K + 1};", (2, 3, 7)),
    ("const long t[2] = {1, 2};", (1, 2)),
    ("const int t[2] = {1, 2}; void g(const int *); void f(void) { g(t); }", (1, 2)),
    ("static int t[2] = {1, 2}; int f(int i) { return t[i] + sizeof t[0]; }", (1, 2)),
    ("int f(int i) { int t[2] = {1, 2}; return t[i]; }", (1, 2)),
    (f"int t[2] = {{1, 2}}; {MAIN}", (1, 2)),
    # another file may change it
    ("int t[2] = {1, 2};", None),
    ("static int t[2] = {1, 2}; void f(int i) { t[i] = 3; }", None),
    ("static int t[2] = {1, 2}; void f(int i) { t[i]++; }", None),
    ("static int t[2] = {1, 2}; void f(int i) { t[i] += 2; }", None),
    ("static int t[2] = {1, 2}; int *f(int i) { return &t[i]; }", None),
    ("static int t[2] = {1, 2}; int *f(int i) { return t + i; }", None),
    ("static int t[2] = {1, 2}; void g(int *); void f(void) { g(t); }", None),
    ("static int t[2] = {1, 2}; void f(int i) { *(t + i) = 3; }", None),
    ('static int t[2] = {1, 2}; void f(void) { __asm__("nop" : "+r"(t[0])); }', None),
    ("int g(void); int f(int i) { int t[2] = {1, g()}; return t[i]; }", None),
    ("static unsigned char t[2] = {1, 300};", None),
    ("static volatile int t[2] = {1, 2};", None),
    ("static int t[3] = {[1] = 2};", None),
    ("static int t[2];", None),
    ("static double t[2] = {1, 2};", None),
    ("static int t[2][2] = {{1, 2}, {3, 4}};", None),
]


@pytest.mark.parametrize(("text", "numbers"), CASES, ids=[text for text, _ in CASES])
def test_tables(text: str, numbers: tuple[int, ...] | None) -> None:
    found = {symbol.name: table for symbol, table in find_tables(program_of(text)).items()}
    assert found == ({} if numbers is None else {"t": numbers})


def test_runs_say_what_the_table_says() -> None:
    assert [(r.first, r.count, r.value, r.step) for r in runs_of((5, 7, 9, 30, 32))] == [(0, 3, 5, 2), (3, 2, 30, 2)]
    source = random.Random(4)
    for _ in range(200):
        numbers = [source.randint(-2, 2) for _ in range(source.randint(0, 12))]
        runs = runs_of(numbers)
        assert [run.value + k * run.step for run in runs for k in range(run.count)] == numbers
        assert [run.first for run in runs] == [sum(r.count for r in runs[:k]) for k in range(len(runs))]
