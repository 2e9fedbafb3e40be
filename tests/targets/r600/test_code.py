"""Programs of R600 as data."""

from __future__ import annotations

from warpsmith.targets.r600.code import (
    AluBundle,
    AluClause,
    AluLine,
    AluSource,
    ExportLine,
    Gpr,
    Kc,
    R600Code,
    TexClause,
    TexLine,
)


def test_what_a_program_counts() -> None:
    line = AluLine("x", "ADD", Gpr(2, "x"), (AluSource(Gpr(7, "y")), AluSource(Kc(0, 1, "x"))))
    clauses = (TexClause((TexLine("SAMPLE", 1, "x___", 0, "x___", 0, 0),)), AluClause((AluBundle((line,)),)))
    code = R600Code(clauses, (ExportLine(0, 2, "x___"),))
    assert (code.bundles, code.fetches, code.registers) == (1, 1, 8)
    assert R600Code((), ()).registers == 0
