"""Shapes: perfect nests, ranges, trip counts, jumps, pragmas, and what the loops around tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.refusals import one
from warpsmith.loops.analysis.shape import (
    enclosing_facts,
    find_marked,
    following,
    jump,
    perfect_nest,
    range_of,
    trip_count,
)
from warpsmith.loops.linear import Linear
from warpsmith.loops.place import LoopContext
from warpsmith.tree.nodes import For, Stmt


def loop(body: str, folder: Path, address: str = "F/i") -> For:
    return LoopContext.of(one(body, folder).program, address).require_counted()


def shown(form: Linear) -> str:
    return "+".join([f"{c}{s.name}" for s, c in form.terms] + [str(form.constant)])


@pytest.mark.parametrize(
    ("header", "low", "past", "trips"),
    [
        ("int i = 0; i < 10; i++", "0", "10", 10),
        ("int i = 0; i <= 10; i++", "0", "11", 11),
        ("int i = 10; i > 0; i--", "1", "11", 10),
        ("int i = 10; i >= 0; i--", "0", "11", 11),
        ("int i = 5; i < 2; i++", "5", "2", 0),
        ("int i = 0; i < 10; i += 3", None, None, 4),
        ("int i = 9; i > 0; i -= 4", None, None, 3),
        ("int i = m; i < n - 1; i++", "1m+0", "1n+-1", None),
        ("int i = 0; i < n * m; i++", None, None, None),
        ("unsigned i = 0; i < n; i++", None, None, None),
        ("unsigned i = 0; i < 7; i++", "0", "7", 7),
        ("unsigned i = 7; i > 0; i--", None, None, None),
        ("unsigned char i = 0; i < 200; i++", None, None, None),
        ("int i = 0; i != n; i++", None, None, None),
        ("long i = n; i < m; i++", "1n+0", "1m+0", None),
        ("int i = (int)x[0]; i < n; i++", None, None, None),
    ],
)
def test_ranges_and_trip_counts(
    header: str, low: str | None, past: str | None, trips: int | None, tmp_path: Path
) -> None:
    found = loop(f"for ({header}) y[i] = 1;", tmp_path)
    values = range_of(found)
    ends = (None, None) if values is None else (shown(values.low), shown(values.past))
    assert ends == (low, past)
    assert trip_count(found) == trips


def test_a_perfect_nest_looks_through_blocks(tmp_path: Path) -> None:
    inner = "for (int j = 0; j < m; j++) { for (int l = 0; l < k; l++) a[i][j] = l; ; }"
    body = f"for (int i = 0; i < n; i++) {{ {{ {inner} }} }}"
    assert [part.variable.name for part in perfect_nest(loop(body, tmp_path))] == ["i", "j", "l"]


@pytest.mark.parametrize(
    ("body", "leaves"),
    [
        ("x[i] = 1;", False),
        ("if (x[i] > 1) break; x[i] = 1;", True),
        ("if (x[i] > 1) continue; x[i] = 1;", True),
        ("if (x[i] > 1) return;", True),
        ("for (int j = 0; j < m; j++) if (x[j] > 1) break;", False),
        ("switch (m) { case 1: x[i] = 1; break; }", False),
        ("switch (m) { case 1: x[i] = 1; continue; }", True),
        ("while (x[i] > 1) { x[i] -= 1; if (x[i] < 0) return; }", True),
        ("if (x[i] > 1) goto out; x[i] = 1;", True),
    ],
)
def test_jumps_out_of_an_iteration(body: str, leaves: bool, tmp_path: Path) -> None:
    stand = one(f"for (int i = 0; i < n; i++) {{ {body} }} out: x[0] = 1;", tmp_path)
    inside: Stmt = LoopContext.of(stand.program, "F/i").loop.body
    assert (jump(inside) is not None) == leaves


def test_pragmas_about_a_loop(tmp_path: Path) -> None:
    text = "\n#pragma {}\n    for (int i = 0; i < n; i++) x[i] = 1;\n"
    for pragma, speaks in (("omp parallel for", True), ("GCC ivdep", True), ("scop", False), ("target", False)):
        place = LoopContext.of(one(text.format(pragma), tmp_path).program, "F/i")
        assert (find_marked(place.function, place.loop) is not None) == speaks, pragma


def test_the_statement_behind_a_loop(tmp_path: Path) -> None:
    place = LoopContext.of(one("for (int i = 0; i < n; i++) x[i] = 1; ; y[0] = 1;", tmp_path).program, "F/i")
    behind = following(place.function, place.loop)
    assert behind is not None and behind.span.text == "y[0] = 1;"


def test_facts_leave_out_what_the_loops_change(tmp_path: Path) -> None:
    body = "int q = 1, *p = &n; for (int i = 0; i < m; i++) { for (int j = q; j < n; j++) a[i][j] = 1; q = *p; }"
    place = LoopContext.of(one(body, tmp_path).program, "F/i/j")
    rows = {shown(row) for row in enclosing_facts(place.function, place.around, (place.require_counted(),))}
    # i >= 0 and i < m; nothing of q, which is written, or of n, which p may change.
    assert rows == {"1i+0", "-1i+1m+-1"}
