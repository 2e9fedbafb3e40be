"""Steps on programs: registers and literals that there were not before."""

from __future__ import annotations

from tests.front.il.running import parse
from tests.targets.il.agree import HEAD
from warpsmith.front.il.nodes import IlDestination, IlRegister, IlSource
from warpsmith.targets.il.rewrites import Writer


def test_registers_are_fresh_and_literals_are_found_or_made() -> None:
    write = Writer(parse(f"{HEAD}mov r7, v0.x\nendmain\nend\n"), None)
    assert [write.fresh().number for _ in range(3)] == [8, 9, 10]
    assert write.literal(6) == IlSource(IlRegister("l", 0), "zzzz")
    assert [write.literal(word).register.number for word in (77, 78, 77)] == [1, 2, 1]
    assert [one.words[0] for one in write.literals] == [77, 78]


def test_instructions_are_appended() -> None:
    write = Writer(parse(f"{HEAD}mov r7, v0.x\nendmain\nend\n"), None)
    made = write.compute("utof", IlSource(IlRegister("r", 7)))
    write.put("mov", IlDestination(IlRegister("o", 0)), made)
    assert [one.op.name for one in write.lines] == ["utof", "mov"] and made.register.number == 8
