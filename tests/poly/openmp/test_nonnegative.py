"""Numbers that are never negative: what is said of them, and what they are in runs with undefined behavior caught."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.openmp import nonnegative
from warpsmith.poly.openmp.nonnegative import is_never_negative
from warpsmith.tree.nodes import Index, Name
from warpsmith.tree.walk import walk

# the value that is asked about is `asked`; `n` is 9 in runs, `d` counts down from there
SAFE = {
    "a number": "int asked = 4;",
    "a counter": "int s = 0; for (int i = 0; i < n; i++) s = i; int asked = s;",
    "a counter that starts later": "int s = 2; for (int i = s; i < n; i += 3) s = i; int asked = s;",
    "the least of some": "int at; for (int i = 0; i < n; i++) if (i == 0 || d[i] < d[at]) at = i; int asked = at;",
    "sums and products": "int s = 1; for (int i = 0; i < 5; i++) { s += i; s = s * 3 / 2 % 100; } int asked = s;",
    "without a sign": "unsigned u = d[8]; u -= 5; unsigned asked = u;",
    "some bits": "int asked = (d[8] - 5) & 7;",
    "a choice": "int s = 0; int asked = n > 3 ? s++ : 7;",
    "a function": "int asked = least(d, n);",
    "of itself": "int asked = digits(n);",
    "wider": "short t = 3; int asked = t; asked++;",
    "a byte": "int asked = (int)(unsigned char)(d[8] - 5);",
    "a truth": "int asked = d[0] < 0; asked |= !n;",
}
NOT_SAFE = {
    "a parameter": "int asked = n - 12;",
    "an element": "int asked = d[8] - 5;",
    "counted down": "int s = 2; for (int i = 0; i < n; i++) s--; int asked = s;",
    "a counter behind its loop": "int i; for (i = n; i >= 0; i--) ; int asked = i;",
    "by its address": "int s = 0; int *p = &s; *p = -1; int asked = s;",
    "cut off": "signed char t = 100; for (int i = 0; i < 5; i++) t += 20; int asked = t;",
    "counted over": "signed char t = 120; for (int i = 0; i < 9; i++) t++; int asked = t;",
    "a sign back": "unsigned u = d[0]; u -= 20; int asked = u;",
    "cast to a sign": "unsigned u = d[8]; int asked = (int)(u - 5);",
    "compared without one": "unsigned u = 3000000000u; int asked = 1; asked += u;",
    "bits of two": "int asked = (d[8] - 5) & (d[8] - 7);",
    "itself and another": "int s = d[8] - 5, asked = s & (s - 1);",
    "bits that are set": "int asked = (d[8] - 5) | 1;",
    "a function that says none": "int asked = where(d, n, 100);",
    "of a real number": "double r = -2.5; int asked = r;",
    "a difference": "int s = 1, t = 2; int asked = s - t;",
}
_HEAD = """
static int least(const int *d, int n)
{
    int at;
    for (int i = 0; i < n; i++) if (i == 0 || d[i] < d[at]) at = i;
    return at;
}
static int digits(int n) { if (n < 10) return 1; return 1 + digits(n / 10); }
static int where(const int *d, int n, int x)
{
    for (int i = 0; i < n; i++) if (d[i] == x) return i;
    return -1;
}
"""


def says(text: str) -> bool:
    program = program_of(f"{_HEAD}\nlong f(int n, int *d) {{ {text} long more[100]; return more[asked]; }}\n")
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    places = (part for part in walk(function.body) if isinstance(part, Index))
    (shown,) = (p for p in places if isinstance(p.base, Name) and p.base.symbol.name == "more")
    return is_never_negative(program, function, shown.index)


@pytest.mark.parametrize("title", SAFE)
def test_what_is_never_negative(title: str) -> None:
    assert says(SAFE[title])


@pytest.mark.parametrize("title", NOT_SAFE)
def test_what_may_be_negative(title: str) -> None:
    assert not says(NOT_SAFE[title])


def test_runs_agree(tmp_path: Path) -> None:
    functions = "".join(
        f"static long f{k}(int n, int *d) {{ {text} return asked; }}\n"
        for k, text in enumerate([*SAFE.values(), *NOT_SAFE.values()])
    )
    calls = "".join(f"f{k}(9, d), " for k in range(len(SAFE) + len(NOT_SAFE)))
    (tmp_path / "p.c").write_text(f"""#include <stdio.h>
{_HEAD}{functions}
int main(void)
{{
    int d[9] = {{8, 7, 6, 5, 4, 3, 2, 1, 0}};
    long all[] = {{ {calls} }};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++) printf("%ld\\n", all[k]);
}}
""")
    subprocess.run(["gcc", "-w", "-O1", "p.c", "-o", "p"], cwd=tmp_path, check=True)
    shown = subprocess.run(["./p"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()
    values = dict(zip([*SAFE, *NOT_SAFE], map(int, shown), strict=True))
    assert all(values[title] >= 0 for title in SAFE)
    assert all(values[title] < 0 for title in NOT_SAFE), "each is there for a reason"


BUGS: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "any step is up": ("counted down", lambda patch: patch.setattr(nonnegative, "_UP", ("++x", "x++", "--x", "x--"))),
    "every type is wide": ("counted over", lambda patch: patch.setattr(nonnegative, "_is_wide", lambda kind: True)),
    "an address is nothing": ("by its address", lambda patch: patch.setattr(nonnegative, "_STEPS", frozenset())),
    "differences stay": ("a difference", lambda patch: patch.setattr(nonnegative, "_KEEPS", frozenset("-+"))),
}


@pytest.mark.parametrize("bug", BUGS)
def test_seeded_bugs_are_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    title, seed = BUGS[bug]
    assert not says(NOT_SAFE[title])
    seed(monkeypatch)
    assert says(NOT_SAFE[title])
