"""What statements touch: which part, all of it, and what is read before it is written."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.mapped.accessed import certainly_reads, touched_by

LOOPS = {
    "for (int i = 0; i < n; i++) a[i] = b[i];": "a w [0, n) covers; b r [0, n) exposed",
    "for (int i = 1; i < n; i++) a[i] += 1;": "a rw [1, n) covers exposed",
    "for (int i = 0; i < n; i++) { a[i] = 1; a[i] *= 2; }": "a rw [0, n) covers",
    "for (int i = 0; i < n; i++) if (b[i] > 0) a[i] = 1;": "a w ?; b r [0, n) exposed",
    "for (int i = 0; i < n; i += 2) a[i] = 1;": "a w ",
    "for (int i = 0; i < n; i++) { if (i > 0) a[i] = 1; b[i] = a[i]; }": "a rw [0, n) exposed; b w [0, n) covers",
}


@pytest.mark.parametrize("text", LOOPS)
def test_what_a_loop_touches(text: str) -> None:
    program = program_of(f"void f(int n, double *restrict a, double *restrict b) {{ {text} }}")
    (function,) = (f for _, f in program.functions())
    stmt = function.body.statements[0]
    facts = Facts.about(program, PolyOptions())
    found = touched_by(facts, function, stmt, {}, lambda s: s.name in "ab")
    shown = (
        f"{one.symbol.name} {'r' * one.read}{'w' * one.written} {one.extent.text if one.extent is not None else '?'}"
        f"{' covers' * one.covers}{' exposed' * one.exposed}"
        for one in found
    )
    assert "; ".join(shown).startswith(LOOPS[text])
    reads = [one.symbol for one in found if one.read]
    assert all(certainly_reads(facts, function, stmt, symbol) for symbol in reads)
