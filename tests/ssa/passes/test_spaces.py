"""Into which memory generic addresses lead."""

from __future__ import annotations

import pytest

from tests.ssa.passes.test_tidy import one
from warpsmith.ssa.nodes import Memory as MemoryDetail
from warpsmith.ssa.passes.spaces import with_spaces
from warpsmith.ssa.verify import faults


def test_spaces_of_pointers_are_found_around_loops_and_not_where_two_meet() -> None:
    text = """
kernel @k(n 4 align 4 i32, g 8 align 8 i64)
  shared @s i32 x 8 align 4
entry:
  %s:i64 = address [@s]
  %p:i64 = to_generic ['shared'] %s
  %n:i64 = param [g+0]
  %g:i64 = to_generic ['global'] %n
  %c:i1 = slt 1:i32 2:i32
  jump head
head:
  %q:i64 = phi entry %p head %r
  %r:i64 = add %q 4:i64
  %v:i32 = load [generic +0 align 4] %r
  %t:i1 = slt %v 3:i32
  branch for %t head after
after:
  %either:i64 = select %t %p %g
  %w:i32 = load [generic +0 align 4] %either
  %only:i64 = select %t %g %n
  %x:i32 = load [generic +0 align 4] %g
  %number:i64 = bitcast %p
  %y:i32 = load [generic +0 align 4] %number
  return
end
"""
    made = with_spaces(one(text))
    assert faults(made) == ()
    found = [i.detail.space for _, i in made.instructions() if isinstance(i.detail, MemoryDetail)]
    assert found == ["shared", "generic", "global", "generic"]


@pytest.mark.parametrize(
    ("line", "space", "address"),
    [
        ("%a:i64 = add %p 4:i64", "shared", "own"),
        ("%a:i64 = add 4:i64 %p", "shared", "own"),
        ("%a:i64 = sub %p 4:i64", "shared", "own"),
        ("%a:i64 = sub %p %p", "generic", ""),
        ("%a:i64 = add %p %p", "generic", ""),
        ("%a:i64 = select %c %p %p", "shared", "own"),
        ("%a:i64 = select %c %p 0:i64", "shared", "own"),
        ("%a:i64 = select %c %p 16:i64", "generic", ""),
        ("%a:i64 = add %g %n", "global", "same"),
        ("%a:i64 = select %c %g %n", "generic", ""),
        ("%a:i64 = to_generic ['generic'] %n", "generic", ""),
        ("%a:i64 = xor %p 4:i64", "generic", ""),
    ],
)
def test_spaces_of_one_access(line: str, space: str, address: str) -> None:
    function = one(f"""
kernel @k(n 8 align 8 i64)
  shared @s i32 x 8 align 4
entry:
  %s:i64 = address [@s]
  %p:i64 = to_generic ['shared'] %s
  %n:i64 = param [n+0]
  %g:i64 = to_generic ['global'] %n
  %c:i1 = eq %n 3:i64
  {line}
  %v:i32 = load [generic +0 align 4] %a
  return
end
""")
    made = with_spaces(function)
    assert faults(made) == ()
    (load,) = (i for _, i in made.instructions() if i.op == "load")
    old = next(i.result for _, i in function.instructions() if i.results[0].name == "a")
    assert isinstance(load.detail, MemoryDetail) and load.detail.space == space
    assert (load.operands[0] is not old) == (address == "own")


def test_without_generic_addresses_nothing_changes() -> None:
    function = one("kernel @k(n 8 align 8 i64)\nentry:\n  %n:i64 = param [n+0]\n  return\nend\n")
    assert with_spaces(function) is function
