"""Where control may leave a loop's body, or skip a part of it."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.pointers.control import ends_in_continue, jumps, leaves
from warpsmith.tree.nodes import For, Stmt

# body of the loop: jumps, leaves, ends in continue
CASES: list[tuple[str, bool, bool, bool]] = [
    ("a[i] = 0;", False, False, False),
    ("break;", True, False, False),
    ("if (i) break;", True, False, False),
    ("if (i) a[i] = 0; else { a[i] = 1; break; }", True, False, False),
    # a break of another loop or a switch is not this loop's
    ("for (int j = 0; j < 3; j++) { if (j) break; }", False, False, False),
    ("while (a[i]) break;", False, False, False),
    ("switch (i) { case 1: break; default: a[i] = 0; }", False, False, False),
    # a continue in a switch is
    ("switch (i) { case 1: continue; default: a[i] = 0; }", True, False, False),
    ("for (int j = 0; j < 3; j++) { if (j) continue; }", False, False, False),
    # what the walk over statements follows: a condition that ends the iteration
    ("if (i) continue; a[i] = 0;", False, False, False),
    ("if (i) { a[i] = 1; continue; } a[i] = 0;", False, False, False),
    ("if (i) { if (a[i]) continue; continue; } a[i] = 0;", True, False, False),
    ("if (i) continue; else a[i] = 1;", True, False, False),
    ("if (i) a[i] = 1; else continue;", True, False, False),
    ("{ if (i) continue; } a[i] = 0;", True, False, False),
    ("a[i] = 0; continue;", True, False, True),
    ("{ a[i] = 0; { continue; } }", True, False, True),
    ("if (i) { if (a[i]) { continue; } } a[i] = 0;", True, False, False),
    ("if (i) return;", True, True, False),
    ("for (int j = 0; j < 3; j++) return;", True, True, False),
    ("goto out;", True, True, False),
    ("if (i) goto out; a[i] = 0;", True, True, False),
    (";", False, False, False),
    ("{ }", False, False, False),
]


@functools.cache
def bodies() -> list[Stmt]:
    """Return the bodies of the loops: all are parsed at once."""
    text = "\n".join(
        f"void f{k}(int n, int *a) {{ for (int i = 0; i < n; i++) {{ {case[0]} }} a[0] = n; out: return; }}"
        for k, case in enumerate(CASES)
    )
    program = program_of(text)
    found: list[Stmt] = []
    for k in range(len(CASES)):
        loop = function(program, f"f{k}").body.statements[0]
        assert isinstance(loop, For)
        found.append(loop.body)
    return found


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_where_control_goes(number: int) -> None:
    body = bodies()[number]
    assert (jumps(body), leaves(body), ends_in_continue(body)) == CASES[number][1:]
