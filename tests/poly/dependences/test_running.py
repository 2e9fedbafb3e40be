"""The running value of a loop: what each iteration adds to it, or why that cannot be computed apart from it."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import facts_of, program_of
from tests.poly.programs import function
from warpsmith.poly.dependences.running import Running, running_value
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import Reduction
from warpsmith.tree.nodes import For, Name
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import Program
from warpsmith.tree.walk import walk

HEAD = """#include <math.h>
#include <assert.h>
int next(void), level;
static int odd(int v) { return v % 2; }
static int reads(const int *p, int i) { return p[i] > 2; }
static int sets(int *p, int i) { return p[i] = 2; }
static int sure(int v) { assert(v > 0); return v; }
static int above(int v) { return v > level; }
"""
PARAMETERS = "int n, double *restrict a, double *restrict b, int *restrict h, long *restrict l, _Bool *restrict k"
# declarations, what an iteration does, the variable, and the running value: `op element`, [ in place ]; or words of why
CASES: list[tuple[str, str, str, str]] = [
    ("int s = 0;", "s += h[i]; l[i] = s;", "s", "+ h[i]"),
    ("int s = 0;", "l[i] = s; s = h[i] + s + 2;", "s", "+ h[i] + 2"),
    ("int s = 0;", "int t = h[i]; h[i] = s; s += t;", "s", "+ h[i]"),
    ("int s = 0;", "int t = h[i] + i; s ^= t; h[i] = s;", "s", "^ h[i] + i"),
    ("long s = 0;", "s -= h[i]; l[i] = s;", "s", "+ -(long)h[i]"),
    ("int s = 0;", "s = s - h[i]; l[i] = s;", "s", "+ -h[i]"),
    ("int s = 0;", "s++; l[i] = s;", "s", "+ 1"),
    ("int s = 0;", "--s; l[i] = s;", "s", "+ -1"),
    ("int s = 1;", "s *= h[i]; l[i] = s;", "s", "* h[i]"),
    ("double m = 0;", "m = a[i] > m ? a[i] : m; b[i] = m;", "m", "max a[i]"),
    ("double m = 0;", "m = fmax(m, a[i]); b[i] = m;", "m", "max a[i] by call"),
    ("", "h[i] = h[i - 1] + l[i];", "h", "+ l[i] [h[i - 1]]"),
    ("", "h[i] = l[i] + h[i - 1] + 1;", "h", "+ l[i] + 1 [h[i - 1]]"),
    ("", "h[i + 3] = h[i + 2] * 2;", "h", "* 2 [h[i + 2]]"),
    # a NaN that is there must stay: a comparison that is false keeps the old value, not the new one
    ("double m = 0;", "m = m > a[i] ? m : a[i]; b[i] = m;", "m", "no form"),
    ("int m = 0;", "m = m > h[i] ? m : h[i]; l[i] = m;", "m", "max h[i]"),
    ("int s = 0;", "s = 3; l[i] = s;", "s", "no form"),
    ("int s = 0;", "s /= h[i]; l[i] = s;", "s", "no form"),
    ("int s = 0;", "s = s + s; l[i] = s;", "s", "no form"),
    ("", "h[i] = h[i - 2] + l[i];", "h", "no form"),
    ("", "h[i] = h[i + 1] + l[i];", "h", "no form"),
    ("", "h[i] = h[i - 1] + h[i - 2];", "h", "no form"),
    ("", "h[l[i]] = h[i - 1] + 1;", "h", "no form"),
    ("int s = 0;", "s = s && h[i]; l[i] = s;", "s", "stays on the host"),
    ("", "k[i] = k[i - 1] | h[i];", "k", "stays on the host"),
    # the update must be done, once, in every iteration
    ("int s = 0;", "if (h[i] < 0) continue; h[i] = h[i - 1] + 1;", "h", "may leave out"),
    ("int s = 0;", "while (h[i]) h[i]--; s += 1; l[i] = s;", "s", "may leave out"),
    ("int s = 1;", "if (h[i]) s *= h[i]; l[i] = s;", "s", "no form"),
    # or, a sum, under conditions that are known before it
    ("int s = 0;", "if (h[i]) s += h[i]; l[i] = s;", "s", "+ h[i] ? h[i] : 0"),
    ("int s = 0;", "if (h[i] < 0) continue; s -= h[i]; l[i] = s;", "s", "+ !(h[i] < 0) ? -h[i] : 0"),
    ("double s = 0;", "if (h[i]) s += a[i]; b[i] = s;", "s", "+ h[i] ? a[i] : -0.0"),
    (
        "int s = 0;",
        "int t = h[i]; if (t > 0 && t < 9) { if (k[i]) l[s++] = t; }",
        "s",
        "+ h[i] > 0 && h[i] < 9 && k[i] ? 1 : 0",
    ),
    (
        "int s = 0;",
        "if (k[i]) l[s++] = 1; else if (h[i]) { l[s] = i; s += 2; }",
        "s",
        "+ (k[i] ? 1 : 0) + (!k[i] && h[i] ? 2 : 0)",
    ),
    ("int s = 0;", "if (fabs(a[i]) > 1) { int t = h[i]; l[s] = t; s = s + t; }", "s", "+ fabs(a[i]) > 1 ? h[i] : 0"),
    ("int s = 0;", "if (odd(h[i])) l[s++] = i;", "s", "+ odd(h[i]) ? 1 : 0"),
    ("int s = 0;", "if (reads(h, i)) l[s++] = i;", "s", "+ reads(h, i) ? 1 : 0"),
    ("int s = 0;", "h[i] = 1; if (reads(h, i)) l[s++] = i;", "s", "h is written before"),
    ("int s = 0;", "if (sets(h, i)) l[s++] = i;", "s", "calls a function"),
    ("int s = 0;", "if (level > h[i]) l[s++] = i;", "s", "+ level > h[i] ? 1 : 0"),
    ("int s = 0;", "if (above(h[i])) l[s++] = i;", "s", "calls a function"),
    ("int s = 0;", "if (s < 9 && h[i]) l[s++] = i;", "s", "depends on s"),
    ("int s = 0, c = 0;", "if (c) l[s++] = i; c = h[i];", "s", "depends on c"),
    ("int s = 0;", "h[i] = l[i]; if (h[i]) l[s++] = i;", "s", "h is written before"),
    ("int s = 0;", "if (h[i]) { if (k[i]) continue; l[s++] = i; }", "s", "+ h[i] && !k[i] ? 1 : 0"),
    ("int s = 0;", "for (int j = 0; j < 3; j++) if (h[i + j]) l[s++] = i;", "s", "no form"),
    # and what it adds may rest on nothing that the iteration has changed
    ("int s = 0;", "h[i] = 2; s += h[i]; l[i] = s;", "s", "h is written before"),
    ("int s = 0;", "h[i] = 3; int t = h[i]; s += t; l[i] = s;", "s", "h is written before"),
    ("int s = 0, c = 1;", "c *= 2; s += c; l[i] = s;", "s", "depends on c"),
    ("int s = 0, c = 1;", "s += c; c = h[i]; l[i] = s;", "s", "depends on c"),
    ("int s = 0;", "int t = s; s += t + h[i]; l[i] = s;", "s", "depends on s"),
    ("int s = 0;", "int t = h[i]; t = t + 1; s += t; l[i] = s;", "s", "depends on t"),
    ("int s = 0;", "int u = h[i]; int t = u; u = 0; s += t; l[i] = s;", "s", "+ h[i]"),
    ("int s = 0;", "short t = h[i]; s += t; l[i] = s;", "s", "+ (short)h[i]"),
    ("int s = 0;", "s += next(); l[i] = s;", "s", "calls a function"),
    ("int s = 0;", "s += h[i]--; l[i] = s;", "s", "no form"),
    ("int s = 0;", "assert(h[i] < n); s += l[h[i]]; l[i] = s;", "s", "an assertion stands"),
    ("int s = 0;", "s += h[i]; l[i] = sure(s);", "s", "an assertion stands"),
    ("", "assert(l[i]); h[i] += h[i - 1];", "h", "an assertion stands"),
    ("int s = 0;", "{ { s += h[i]; l[i] = s; } }", "s", "+ h[i]"),
    ("double s = 0;", "s += sqrt(a[i]); b[i] = s;", "s", "+ sqrt(a[i]) by call"),
    # in place, the iteration's own element is known until it is set
    ("", "h[i] += h[i - 1];", "h", "+ h[i] [h[i - 1]]"),
    ("", "h[i] = h[i] - h[i - 1] + l[i];", "h", "no form"),
    ("", "l[i] = h[i]; h[i] += h[i - 1] + 2; l[i + 9] = h[i] - h[i - 1];", "h", "+ 2 + h[i] [h[i - 1]]"),
    ("", "a[i] = a[i - 1] > a[i] ? a[i - 1] : a[i];", "a", "no form"),
    ("", "a[i] = a[i] > a[i - 1] ? a[i] : a[i - 1];", "a", "max a[i] [a[i - 1]]"),
    ("", "int t = h[i - 1]; h[i] = h[i - 1] + t;", "h", "depends on h"),
    ("", "int t = h[i]; h[i] = h[i - 1] + t;", "h", "+ h[i] [h[i - 1]]"),
    ("", "l[i] = 3; h[i] += h[i - 1] + l[i];", "h", "l is written before"),
]


@functools.cache
def _loops() -> tuple[Program, list[For]]:
    """Return the loop of each case, with their program: all are parsed at once."""
    texts = (
        f"void f{number}({PARAMETERS}) {{ {declarations} for (int i = 3; i < n; i++) {{ {body} }} }}"
        for number, (declarations, body, _, _) in enumerate(CASES)
    )
    program = program_of(HEAD + "\n".join(texts))
    found: list[For] = []
    for number in range(len(CASES)):
        last = function(program, f"f{number}").body.statements[-1]
        assert isinstance(last, For)
        found.append(last)
    return program, found


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[1] for case in CASES])
def test_what_an_iteration_adds_to_a_running_value(number: int) -> None:
    program, loops = _loops()
    loop, (_, _, name, expected) = loops[number], CASES[number]
    symbol = next(n.symbol for n in walk(loop) if isinstance(n, Name) and n.symbol.name == name)
    found = running_value(loop, Reduction("+", symbol, loop.span), Summaries.of(program))
    if not isinstance(found, Running):
        assert found.rule == "POR002" and expected in found.text
        return
    shown = f"{found.op} {Printer().expr(found.element)}"
    shown += f" [{Printer().expr(found.previous)}]" if found.previous is not None else ""
    assert shown + ("" if found.compares else " by call") == expected
    assert found.symbol == symbol


def test_no_scan_where_it_cannot_be_computed_in_parts() -> None:
    text = "void f(int n, int *restrict h, long *restrict l) { int s = 0; for (int i = 0; i < n; i++) { BODY } }"
    good = facts_of(text.replace("BODY", "s += h[i]; l[i] = s;"))["f/i"]
    assert good.category == "scan" and [r.variable.name for r in good.reductions] == ["s"]
    bad = facts_of(text.replace("BODY", "h[i] = 2; s += h[i]; l[i] = s;"))["f/i"]
    assert bad.category == "sequential" and not bad.reductions
    assert "h is written before the iteration reads what it combines with s" in bad.reasons[0].text
