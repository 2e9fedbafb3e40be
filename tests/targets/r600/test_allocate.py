"""Registers: what lives at once does not share one."""

from __future__ import annotations

import pytest

from tests.front.il.listings import PLAIN, TRANSLATED
from tests.front.il.running import parse
from tests.targets.r600.seeded import case_of
from warpsmith.targets.r600.analyze import compile_il
from warpsmith.targets.r600.code import AluClause, ExportLine


@pytest.mark.parametrize("seed", range(10))
def test_a_slot_writes_its_own_component(seed: int) -> None:
    code = compile_il(parse(case_of(seed).text), "r700").code
    lines = [line for c in code.clauses if isinstance(c, AluClause) for b in c.bundles for line in b.lines]
    assert lines and all(line.slot in ("t", line.target.component) for line in lines)
    for clause in code.clauses:
        if isinstance(clause, AluClause):
            for bundle in clause.bundles:
                assert len({line.target for line in bundle.lines}) == len(bundle.lines)


def test_registers_are_used_again() -> None:
    assert compile_il(parse(PLAIN), "r600").code.registers <= 4
    assert compile_il(parse(TRANSLATED), "r600").code.registers <= 6


def test_clauses_begin_where_fetches_stand() -> None:
    code = compile_il(parse(PLAIN), "r600").code
    kinds = ["ALU" if isinstance(one, AluClause) else "TEX" for one in code.clauses]
    (export,) = code.exports
    assert kinds == ["TEX", "ALU", "TEX", "ALU"] and isinstance(export, ExportLine) and export.swizzle[1:] == "___"
