"""Declarations of PTX: registers, parameters, variables, limits."""

from __future__ import annotations

import pytest

from tests.front.ptx.lines import HEADER
from warpsmith.base.source import SourceFile
from warpsmith.front.ptx.read import read_ptx
from warpsmith.ssa.nodes import Limits, Module


def module(text: str) -> tuple[Module, list[str]]:
    made, findings = read_ptx(SourceFile("k.ptx", HEADER + text))
    return made, [f.message for f in findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".global .align 8 .f64 x[3]", ("global", "f64", 3, 8, ())),
        (".const .align 4 .b32 x[2] = {1, 0x2}", ("constant", "i32", 2, 4, (1, 2))),
        (".shared .align 16 .b8 x[64]", ("shared", "i8", 64, 16, ())),
        (".extern .shared .align 16 .b8 x[]", ("shared", "i8", 0, 16, ())),
        (".global .u32 x = 7", ("global", "i32", 1, 4, (7,))),
    ],
)
def test_variables(text: str, expected: tuple[object, ...]) -> None:
    made, told = module(f"{text};\n")
    (symbol,) = made.symbols
    assert (symbol.space, str(symbol.type), symbol.count, symbol.align, symbol.initial) == expected and told == []


def test_parameters_and_limits() -> None:
    made, told = module(
        ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24], .param .f32 f)\n"
        ".maxntid 64, 2\n.minnctapersm 3\n{ ret; }\n.entry l() .reqntid 8, 4, 2 { ret; }\n"
    )
    k, other = made.functions
    assert told == []
    assert [(p.name, p.bytes, p.align) for p in k.parameters] == [("a", 8, 16), ("s", 24, 8), ("f", 4, 4)]
    assert k.limits == Limits(128, None, 3) and other.limits.exact_block == (8, 4, 2)
