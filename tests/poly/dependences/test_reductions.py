"""The forms of associative updates: what is one, with its operator and its companions, and what is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.analysis import facts_of
from tests.poly.programs import load, loop
from warpsmith.base.verdict import Proved
from warpsmith.poly.dependences.reductions import AssociativeUpdate, updates
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import For, Node
from warpsmith.tree.walk import rebuild, walk

HEAD = """
#include <math.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
"""


def facts_about(declarations: str, body: str, after: str = "") -> LoopFacts:
    text = f"{HEAD}void f(int n, double *restrict a, double *restrict b, int *restrict h, long *restrict l)\n{{\n"
    text += f"{declarations} for (int i = 0; i < n; i++) {{ {body} }} {after} }}"
    return facts_of(text)["f/i"]


def shown(facts: LoopFacts) -> str:
    """Return category and reductions: `reduction max m (at)`."""
    parts = [
        f"{r.op} {r.variable.name}{' (' + ' '.join(c.name for c in r.companions) + ')' if r.companions else ''}"
        for r in facts.reductions
    ]
    proved = "" if facts.combined is None or isinstance(facts.combined, Proved) else " ?"
    return f"{facts.category}{proved}: {', '.join(parts)}"


REDUCTIONS = [
    ("double m = 0; int k = 0;", "if (a[i] > m) { m = a[i]; k = i; }", "b[0] = k;", "max m (k)"),
    ("double m = 0; int k = 0;", "if (m >= a[i]) { k = 2 * i + n; m = a[i]; }", "b[0] = k;", "min m (k)"),
    ("double m = 0; int k = 0;", "double t = fabs(a[i]); if (t > m) { m = t; k = i; }", "b[0] = k;", "max m (k)"),
    ("double m = 0; int k = 0;", "if (h[i] > 2 && a[i] > m) { m = a[i]; k = i; }", "b[0] = k;", "max m (k)"),
    ("double m = 0;", "m = MAX(m, a[i]);", "b[0] = m;", "max m"),
    ("double m = 0;", "m = fmin(a[i], m);", "b[0] = m;", "min m"),
    (
        "double lo = 9, hi = 0;",
        "if (a[i] < lo) lo = a[i]; if (a[i] > hi) hi = a[i];",
        "b[0] = lo + hi;",
        "min lo, max hi",
    ),
    ("double s = 0, t;", "t = s; t = t + a[i]; s = t;", "b[0] = s;", "+ s"),
    ("double s = 0;", "double t = s - a[i]; t += b[i]; s = t;", "b[0] = s;", "+ s"),
    ("double s = 0;", "double t = a[i] * b[i]; s = s + t;", "b[0] = s;", "+ s"),
    ("double s = 0;", "if (h[i]) s += a[i]; else s -= b[i];", "b[0] = s;", "+ s"),
    ("double s = 0;", "s = h[i] > 1 ? s + a[i] : s;", "b[0] = s;", "+ s"),
    ("double s = 0;", "s = h[i] > 1 ? s + a[i] : s - 1;", "b[0] = s;", "+ s"),
    ("double s = 0;", "s = a[i] + s + b[i];", "b[0] = s;", "+ s"),
    ("double s = 1, p = 1;", "s += a[i]; p *= b[i];", "b[0] = s + p;", "+ s, * p"),
    ("int c = 0;", "if (a[i] > 1) ++c; else c--;", "b[0] = c;", "+ c"),
    ("int found = 0;", "found = found || a[i] == 2;", "b[0] = found;", "|| found"),
    ("int found = 0;", "if (a[i] == 2) found = 1;", "b[0] = found;", "|| found"),
    ("int ok = 1;", "if (a[i] == 2) ok = 0;", "b[0] = ok;", "&& ok"),
    ("int ok = 1;", "ok = h[i] && ok;", "b[0] = ok;", "&& ok"),
    ("int m = 0;", "unsigned char t = h[i]; if (t > m) m = t;", "b[0] = m;", "max m"),
    ("", "h[0] += h[i + 1];", "", "+ h"),
]


@pytest.mark.parametrize(("declarations", "body", "after", "expected"), REDUCTIONS)
def test_reductions(declarations: str, body: str, after: str, expected: str) -> None:
    found = facts_about(declarations, body, after)
    assert shown(found) == f"reduction: {expected}"


NONE = [
    ("double m = 0; int k = 0;", "if (a[i] > m) { m = a[i]; k = k + 1; }", "b[0] = k;"),
    ("double m = 0; int k = 0;", "if (a[i] > m) { m = a[i]; k = i; } b[i] = k;", "b[0] = k;"),
    ("double m = 0; int k = 0, j = 0;", "j = h[j]; if (a[i] > m) { m = a[i]; k = j; }", "b[0] = k;"),
    ("double m = 0; int k = 0;", "if (a[i] > m) { m = a[i]; k = i; } if (b[i] > m) m = b[i];", "b[0] = k;"),
    ("double m = 0; int k = 0;", "if (a[i] > m) { m = a[i]; k = i; } if (b[i] >= m) { m = b[i]; k = i; }", "b[0] = k;"),
    ("double m = 0, k = 0;", "if (a[i] > m) { m = a[i]; k = m; }", "b[0] = k;"),
    ("double lo = 9, hi = 0;", "if (a[i] < lo) lo = a[i]; else if (a[i] > hi) hi = a[i];", "b[0] = lo + hi;"),
    ("double s = 0;", "s = a[i] - s;", "b[0] = s;"),
    ("double s = 0;", "s = h[i] ? s + a[i] : s * 2;", "b[0] = s;"),
    ("double s = 0;", "s = s > 3 ? s + a[i] : s;", "b[0] = s;"),
    ("double s = 0;", "s += a[i]; s *= 2;", "b[0] = s;"),
    ("double s = 0;", "s = s + s;", "b[0] = s;"),
    ("double s = 0, c = 0;", "s += a[i]; if (s > 10) c += 1;", "b[0] = c;"),
    ("double s = 0, t;", "t = s; t = t + a[i]; s = t;", "b[0] = s + t;"),
    ("double s = 0, t;", "t = s; s = s + 1; s = t + a[i];", "b[0] = s;"),
    ("double s = 0, t;", "t = s; s += t;", "b[0] = s;"),
    ("double s = 0; float t;", "t = s; t = t + a[i]; s = t;", "b[0] = s;"),
    ("double s = 0; double *r = &s;", "s += a[i]; b[i] = *r;", ""),
    ("int found = h[0];", "if (a[i] == 2) found = 1;", "b[0] = found;"),
    ("int found = 0;", "if (a[i] == 2) found = 1; if (h[i] == 3) found = 0;", "b[0] = found;"),
    ("int m = 0;", "if (l[i] > m) m = l[i];", "b[0] = m;"),
    ("int m = 0;", "if (a[i] > m) m = a[i];", "b[0] = m;"),
    ("unsigned m = 0;", "if (h[i] > m) m = h[i];", "b[0] = m;"),
    ("int s = 0;", "s += 0.5 * a[i];", "b[0] = s;"),
    ("double s = 0;", "s += a[i]; if (a[i] > 9) break;", "b[0] = s;"),
    ("volatile double s = 0;", "s += a[i];", "b[0] = s;"),
    ("", "h[0] += h[i + 1]; l[i] = h[0];", ""),
    ("", "h[0] += h[i];", ""),
    ("int s = 0;", "s--; for (s = 0; s < 2; s++) a[i] = s;", "b[0] = s;"),
    ("int s = 0;", "s += h[i]; b[i] = s; for (s = 0; s < 2; s++) a[i] = s;", "b[0] = s;"),
    ("int m = 0, s = 0;", "if (h[i] > m) { m = h[i]; s = i; } for (s = 0; s < 2; s++) a[i] = 1;", "b[0] = s + m;"),
]


@pytest.mark.parametrize(("declarations", "body", "after"), NONE)
def test_no_reductions(declarations: str, body: str, after: str) -> None:
    found = facts_about(declarations, body, after)
    assert found.category not in ("parallel", "reduction"), shown(found)


def test_ties_and_the_first_companion_are_told() -> None:
    text = "int f(int n, double a[n][n]) { double m = 0; int x = 0, y = 0; for (int i = 0; i < n; i++)"
    text += " for (int j = 0; j < n; j++) if (a[i][j] >= m) { m = a[i][j]; x = i; y = j; } return x + y; }"
    for one in facts_of(text).values():
        (found,) = one.reductions
        assert found.location is not None
        assert (found.location.name, found.strict) == ("x", False)
        assert [c.name for c in found.companions] == ["x", "y"]


def test_names_that_may_be_one_object_are_guarded() -> None:
    text = "void f(int n, int *a, int *b) { for (int i = 1; i < n; i++) a[i] = a[i - 1] + b[i]; }"
    found = facts_of(text)["f/i"]
    assert found.category == "scan" and isinstance(found.combined, Proved)
    assert [a.kind for a in found.combined.assumptions] == ["guarded"]
    assert not isinstance(facts_of(text, guards=False)["f/i"].combined, Proved)


def test_a_use_that_stands_in_two_places_is_no_update(tmp_path: Path) -> None:
    text = "void f(int n, int *a, int *b) { int s = 0; for (int i = 0; i < n; i++) { s += a[i]; b[i] = 1; } b[0] = s; }"
    one = loop(load(text, tmp_path), "f/i")
    assert isinstance(one, For)
    (update,) = updates(one)
    assert isinstance(update, AssociativeUpdate)
    literal = next(n for n in _nodes(one) if getattr(n, "text", "") == "1")
    shared = rebuild(one, lambda node: update.target if node is literal else node)
    assert not updates(shared)


def _nodes(one: For) -> list[Node]:
    return list(walk(one))
