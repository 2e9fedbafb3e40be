from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import function, load, loop, shown
from warpsmith.poly.dependences.reductions import array_reductions, array_scans
from warpsmith.poly.dependences.scalars import ScalarRoles, classify_scalars
from warpsmith.poly.effects.liveness import live_after
from warpsmith.tree.nodes import Block

HEAD = """#include <math.h>
struct pt { double x, y; };
int g;
void sink(int *);
static void fill(int *p, int v) { if (v) *p = v; }
"""


def roles(folder: Path, declarations: str, body: str, after: str = "") -> ScalarRoles:
    """Classify the scalars of `for (i …) { body }` in a function with the given declarations."""
    text = f"{HEAD}double f(int n, double *a, double *b, int *h, struct pt *q) {{ int i, j; {declarations}\n"
    program = load(text + f"for (i = 0; i < n; i++) {{ {body} }}\n{after} return 0; }}", folder)
    return classify_scalars(program, function(program, "f"), loop(program, "f/i"))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (("double t;", "t = a[i]; b[i] = t;", ""), ("t", "", "")),
        (("double t;", "t = a[i]; b[i] = t;", "b[0] = t;"), ("t", "t", "")),
        (("double t;", "if (a[i] > 0) t = 1; else t = 2; b[i] = t;", ""), ("t", "", "")),
        # what is passed on is a running value, where it does not depend on what was passed on before
        (("double t = 0;", "if (a[i] > 0) t = 1; else b[i] = t;", ""), ("", "", "")),
        (("double t = 0;", "if (a[i] > 0) t = 1; b[i] = t;", ""), ("", "", "")),
        (("double t = 0;", "if (a[i] > t) t = 1; b[i] = t;", ""), ("", "", "t")),
        (("int k = 0;", "if (a[i] > 0) k = i;", "h[0] = k;"), ("", "", "k")),
        (("int k = 0;", "if (a[i] > 0) { k = i; h[k] = 1; }", ""), ("k", "", "")),
        (("double t;", "for (j = 0; j < n; j++) { t = a[j]; b[j] = t; }", ""), ("j t", "", "")),
        (("double t;", "for (j = 0; j < n; j++) t = a[j]; b[i] = t;", ""), ("j", "", "t")),
        (("double t;", "for (j = 0; j < 3; j++) t = a[j]; b[i] = t;", ""), ("j t", "", "")),
        (("int k;", "for (j = 0; j < n; j++) b[j] = 0; k = j; h[i] = k;", ""), ("j k", "", "")),
        (("double t;", "switch (h[i]) { case 0: t = 1; break; default: t = 2; } b[i] = t;", ""), ("t", "", "")),
        (("double t;", "switch (h[i]) { case 0: t = 1; break; case 1: t = 2; } b[i] = t;", ""), ("", "", "t")),
        (("double t = 0;", "switch (h[i]) { case 0: t = 1; case 1: b[i] = t; }", ""), ("", "", "t")),
        (("int k;", "fill(&k, i); h[i] = k;", ""), ("", "", "k")),
        (("double t;", "if (h[i]) continue; t = a[i]; b[i] = t;", ""), ("t", "", "")),
        (("double t = 0;", "if (h[i]) continue; t = a[i]; b[i] = t;", "b[0] = t;"), ("", "", "t")),
        (("double s, c;", "sincos(a[i], &s, &c); b[i] = s * c;", ""), ("c s", "", "")),
        (("struct pt p;", "p.x = a[i]; p.y = 0; q[i] = p;", ""), ("p", "", "")),
        (("struct pt p;", "p.x = a[i]; q[i] = p;", ""), ("", "", "p")),
        (("double t; double *r = &t;", "t = a[i]; b[i] = *r;", ""), ("", "", "t")),
        (("int k; sink(&k);", "k = i; h[i] = k;", ""), ("", "", "k")),
        (("", "g = i; h[i] = g;", ""), ("g", "g", "")),
        (("double x = 1;", "x = x * x + a[i]; b[i] = x;", ""), ("", "", "x")),
        (("int k;", "k = 1; { int k2 = k; static int s; s += k2; h[i] = s; }", ""), ("k k2", "", "s")),
        (("int k;", "do { k = h[i]; h[i] = k + 1; } while (k < 3);", ""), ("k", "", "")),
        (("int k, m = 0;", "k = h[i]; while (k > 0) { k--; m = k; }", "h[0] = m;"), ("k", "", "m")),
    ],
)
def test_roles(code: tuple[str, str, str], expected: tuple[str, str, str], tmp_path: Path) -> None:
    """`code`: declarations, loop body, what follows; `expected`: private, live out, carried."""
    found = roles(tmp_path, *code)
    carried = " ".join(sorted(c.symbol.name for c in found.carried))
    assert (shown(found.private), shown(found.live_out), carried) == expected


def test_a_carried_scalar_names_both_places(tmp_path: Path) -> None:
    found = roles(tmp_path, "double t = 0;", "if (a[i] > 0)\n t = b[0];\nelse\n b[i] = t / 2, t = b[i];")
    (carried,) = found.carried
    assert (carried.write.line, carried.read.line) == (8, 10)
    assert carried.reason.rule == "POR003"


@pytest.mark.parametrize(
    ("declarations", "body", "expected"),
    [
        ("double s = 0;", "s += a[i];", "+ s"),
        ("double s = 0;", "s = s + a[i] + 1;", "+ s"),
        ("double s = 0;", "s = a[i] + s;", "+ s"),
        ("double s = 0;", "s -= a[i];", "+ s"),
        ("double s = 0;", "s = a[i] - s;", "scan linear s"),
        ("double s = 1;", "s = a[i] * s;", "* s"),
        ("double s = 1;", "s = s * a[i] + 1;", "scan linear s"),
        ("double s = 1;", "s *= a[i]; s += 1;", ""),
        ("double s = 0;", "s += a[i] * s;", ""),
        ("double m = 0;", "if (a[i] > m) m = a[i];", "max m"),
        ("double m = 0;", "if (m >= a[i]) m = a[i];", "min m"),
        ("double m = 0;", "m = a[i] > m ? a[i] : m;", "max m"),
        ("double m = 0;", "m = m < a[i] ? m : a[i];", "min m"),
        ("double m = 0;", "m = fmax(m, a[i]);", "max m"),
        ("double m = 0;", "if (a[i] > m) m = b[i];", ""),
        ("double m = 0; int k = 0;", "if (a[i] > m) { m = a[i]; k = i; } h[0] = k;", ""),
        ("int c = 0;", "if (a[i] > 0) c++;", "+ c"),
        ("int c = 0;", "h[c++] = i;", ""),
        ("int s = 0;", "s += 0.5 * a[i];", ""),
        ("int s = 0;", "s |= h[i];", "| s"),
        ("int s = 1;", "s = s && h[i];", "&& s"),
        ("double s = 0;", "for (j = 0; j < n; j++) s += a[j];", "+ s"),
        ("double s = 0;", "s += a[i]; if (s > 10) b[i] = 0;", "scan + s"),
        ("double s = 0;", "s += a[i]; b[i] = s;", "scan + s"),
        ("double s = 0;", "if (h[i]) s += a[i]; b[i] = s;", "scan + s"),
        ("double s = 0; double *r = &s;", "s += a[i]; b[i] = *r;", ""),
    ],
)
def test_reductions_and_scans(declarations: str, body: str, expected: str, tmp_path: Path) -> None:
    found = roles(tmp_path, declarations, body, "b[0] = 0;")
    names_ = [f"{r.op} {r.variable.name}" for r in found.reductions]
    names_ += [f"scan {r.op} {r.variable.name}" for r in found.scans]
    assert " ".join(names_) == expected


@pytest.mark.parametrize(
    ("body", "reduced", "scanned"),
    [
        ("b[h[i]] += a[i];", "b", ""),
        ("h[h[i]]++;", "", ""),
        ("b[h[i]]++;", "b", ""),
        ("b[0] = b[0] + a[i]; a[i] = b[1];", "", ""),
        ("b[0] += a[i]; b[1] *= a[i];", "", ""),
        ("if (a[i] > b[0]) b[0] = a[i];", "b", ""),
        ("b[i] = b[i-1] + a[i];", "", "b"),
        ("b[i] = a[i] * b[i-2];", "", "b"),
        ("b[i] = b[i+1] + a[i];", "", ""),
        ("b[i] = b[i-1] + b[0];", "", ""),
    ],
)
def test_array_updates(body: str, reduced: str, scanned: str, tmp_path: Path) -> None:
    text = f"void f(int n, double *a, double *b, int *h) {{ for (int i = 2; i < n; i++) {{ {body} }} }}"
    one = loop(load(text, tmp_path), "f/i")
    assert " ".join(r.variable.name for r in array_reductions(one)) == reduced
    assert " ".join(r.variable.name for r in array_scans(one)) == scanned


def test_the_own_counter_is_told_apart(tmp_path: Path) -> None:
    text = "int f(int n) { int i; for (i = 0; i < n; i++) ; for (int j = 0; j < n; j++) ; return i; }"
    program = load(text, tmp_path)
    f = function(program, "f")
    assert classify_scalars(program, f, loop(program, "f/i")).counter_live
    assert not classify_scalars(program, f, loop(program, "f/j")).counter_live


def test_live_after(tmp_path: Path) -> None:
    text = "int g; int f(int p) { int a = p; int b = a + p; a = 2; while (b) { b--; p = a; } return p; }"
    program = load(text, tmp_path)
    f = function(program, "f")
    assert isinstance(f.body, Block)
    lives = [shown(live_after(program, f, stmt)) for stmt in f.body.statements]
    assert lives[:4] == ["a g p", "b g p", "a b g p", "g p"]


def test_reasons_are_told_in_an_order_that_no_run_changes(tmp_path: Path) -> None:
    """Six variables that one call may write: sets would give them in another order in most runs."""
    named = [f"v{number}" for number in range(6)]
    given = ", ".join(f"&{name}" for name in named)
    program = load(
        f"void all(int *, int *, int *, int *, int *, int *);\nvoid f(int n, int *h) {{ int {', '.join(named)};\n"
        f"for (int i = 0; i < n; i++) {{ all({given}); h[i] = {' + '.join(named)}; }} }}",
        tmp_path,
    )
    found = classify_scalars(program, function(program, "f"), loop(program, "f/i"))
    told = [carried.symbol for carried in found.carried]
    assert {s.name for s in told} >= set(named)
    assert told == sorted(told, key=lambda symbol: symbol.key)
