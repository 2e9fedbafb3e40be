"""Where an iteration moves a scalar on: under which conditions, how far, and what each use finds."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.dependences.sites import UpdateSite, find_sites
from warpsmith.tree.nodes import For, Index, Name
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.walk import walk

HEAD = "void take(int *);\n"
# what an iteration does, and its sites: conditions, how far k moves, and what the subscripts of a find in the run
CASES: list[tuple[str, list[str]]] = [
    ("a[k++] = 1;", ["moves 1, a at 0"]),
    ("a[++k] = 1;", ["moves 1, a at 1"]),
    ("if (b[i]) a[k++] = 1;", ["b[i]: moves 1, a at 0"]),
    ("if (b[i]) { a[k] = 1; k += 2; a[k] = 3; }", ["b[i]: moves 2, a at 0 2"]),
    ("if (b[i]) a[k--] = 1; else { k -= 2; a[k] = 1; }", ["b[i]: moves -1, a at 0", "not b[i]: moves -2, a at -2"]),
    ("if (b[i] > 1) { if (b[i] < 9) { k = k + 3; } }", ["b[i] > 1, b[i] < 9: moves 3, a at"]),
    ("if (b[i] < 0) continue; k = 2 + k;", ["not b[i] < 0: moves 2, a at"]),
    ("if (b[i] < 0) { b[i] = 0; continue; } if (b[i] > 3) a[k++] = 1;",
     ["not b[i] < 0, b[i] > 3: moves 1, a at 0"]),
    ("if (b[i]) { int at = k++; a[at] = 1; if (b[i] > 2) a[at] = 2; }", ["b[i]: moves 1, a at 0 0"]),
    ("if (b[i]) { int at = k; k++; at = 0; a[at] = 1; }", ["b[i]: moves 1, a at ?"]),
    ("if (b[i]) { long at = k++; a[at] = 1; }", ["b[i]: moves 1, a at 0"]),
    ("if (b[i]) { short at = k++; a[at] = 1; }", ["b[i]: moves 1, a at ?"]),
    ("if (b[i]) { for (int j = 0; j < 3; j++) a[k] += j; k++; }", ["b[i]: moves 1, a at 0"]),
    ("if (b[i]) { k += b[i]; a[k] = 1; }", ["b[i]: moves ?, a at ?"]),
    ("if (b[i]) { a[k++] = 1; a[k++] = 2; }", ["b[i]: moves 2, a at 0 1"]),
    ("if (b[i]) { a[k++] = 1; continue; } if (b[i + 1]) a[k++] = 2;",
     ["b[i]: moves 1, a at 0", "not b[i], b[i + 1]: moves 1, a at 0"]),
    ("if (b[i]) { k++; if (b[i] > 4) k++; }", ["b[i]: moves 1, a at", "b[i], b[i] > 4: moves 1, a at"]),
    ("a[k++] = 1; if (b[i]) { k++; a[k] = 2; } a[k] = 3; k += 2;",
     ["moves 1, a at 0", "b[i]: moves 1, a at 1", "moves 2, a at ? ? 0"]),
    ("if (b[i]) a[k++] = 1; a[k] = 3; k++; if (a[k]) k++;",
     ["b[i]: moves 1, a at 0", "moves 1, a at ? 0", "a[k]: moves 1, a at"]),
    # what moves k otherwise, more than once, or not in every run
    ("k = 0;", []),
    ("k *= 2;", []),
    ("if (b[i]) a[k++] = 1; k = b[i];", []),
    ("for (int j = 0; j < 3; j++) if (b[j]) k++;", []),
    ("if (b[i]) { a[k] = 1; if (b[i] > 4) continue; k++; }", []),
    ("a[b[i] ? k++ : 0] = 1;", []),
    ("if (b[i] && k++) a[0] = 1;", []),
    ("b[i] && (k += 1);", []),
    ("a[k++] = k;", []),
    ("if (b[i]) take(&k); else k++;", []),
    ("switch (b[i]) { case 1: k++; }", []),
    ("if (b[i]) { if (b[0]) { if (b[1]) continue; } k++; }", []),
]  # fmt: skip


@functools.cache
def _loops() -> list[For]:
    texts = (
        f"void f{number}(int n, int *a, int *b) {{ int k = 0; for (int i = 0; i < n; i++) {{ {body} }} b[0] = k; }}"
        for number, (body, _) in enumerate(CASES)
    )
    program = program_of(HEAD + "\n".join(texts))
    loops = (function(program, f"f{number}").body.statements[1] for number in range(len(CASES)))
    return [loop for loop in loops if isinstance(loop, For)]


def _shown(site: UpdateSite) -> str:
    conditions = ", ".join(f"{'' if holds else 'not '}{Printer().expr(c)}" for _, c, holds in site.conditions)
    run = site.path[site.steps[0].place - _before(site) :]
    uses = [n for stmt in run for n in walk(stmt) if isinstance(n, Index) and _name(n) == "a"]
    at = "".join(f" {site.offsets.get(id(use.index), '?')}" for use in uses)
    moved = "?" if site.moved is None else site.moved
    return f"{conditions}{': ' if conditions else ''}moves {moved}, a at{at}"


def _before(site: UpdateSite) -> int:
    """Return how many statements of the run stand before its first step."""
    return site.steps[0].place - 1 - max((place for place, _, _ in site.conditions), default=-1)


def _name(index: Index) -> str:
    return index.base.symbol.name if isinstance(index.base, Name) else ""


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_sites_of_an_iteration(number: int) -> None:
    loop = _loops()[number]
    symbol = next(n.symbol for n in walk(loop) if isinstance(n, Name) and n.symbol.name == "k")
    assert [_shown(site) for site in find_sites(loop, symbol)] == CASES[number][1]
