"""The text form, read."""

from __future__ import annotations

import pytest

from tests.ssa.test_verify import GOOD
from warpsmith.base.errors import InputError
from warpsmith.ssa.nodes import Limits
from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.text import print_module
from warpsmith.ssa.types import I32


@pytest.mark.parametrize("broken", ["kernel", "shared @x", GOOD.replace("end\n", "", 1).rpartition("end")[0], "what?"])
def test_what_is_not_the_text_form_is_refused_with_its_line(broken: str) -> None:
    with pytest.raises(InputError, match="line "):
        parse_module(broken)


SMALL = """kernel @k(n 4 align 4 i32, s 8 align 8) [most 64, exact 8 4 2, least 3]
entry:
  %n:i32 = param [n+0]
  {line}
  return
end
"""


@pytest.mark.parametrize(
    "line",
    [
        "%x:i32 = load [shared -8 align 4] %n",
        "%x:i32 = load [global +0 align 4 volatile cached read only scope gpu] %n",
        "%x:i32 = load [global +0 align 4 cached evict first] %n",
        "%x:i32 = add [nsw nuw] %n %n",
        "%x:f32 = fadd [up flush] 0x0:f32 0x0:f32",
        "%x:i32 = ftosi [zero saturate] 0x0:f32",
        '%x:f32 = lanewise ["it\'s [so]"] 0x0:f32',
        "barrier [arrives and] 0:i32",
        "%x:i1 = vote [any unmasked] 1:i1",
        "fence [system]",
        "%x:i32 = call [@a.b] undef:i32",
        "%x:i32 = param [s+4.rows[1].w]",
    ],
)
def test_details_are_read_as_they_are_printed(line: str) -> None:
    text = SMALL.format(line=line)
    assert print_module(parse_module(text)).split() == text.split()


def test_parameters_and_limits() -> None:
    (function,) = parse_module(SMALL.format(line="")).functions
    assert function.kernel and function.limits == Limits(64, (8, 4, 2), 3)
    assert [(p.name, p.bytes, p.align, p.type) for p in function.parameters] == [("n", 4, 4, I32), ("s", 8, 8, None)]
    (plain,) = parse_module("function @f() -> i32\nentry:\n  return 1:i32\nend\n").functions
    assert (plain.kernel, plain.results, plain.limits) == (False, (I32,), Limits())


@pytest.mark.parametrize(
    ("text", "number"),
    [("\n\nshared @x i99 x 1 align 4\n", 3), (SMALL.format(line="add %n:"), 6), ("kernel @k(\n", 1)],
)
def test_the_line_is_named(text: str, number: int) -> None:
    with pytest.raises(InputError, match=f"line {number}: not the IR"):
        parse_module(text)
