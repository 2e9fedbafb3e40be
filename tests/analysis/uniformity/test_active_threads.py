"""Which threads may be in a block of code together, and what is the same for those."""

from __future__ import annotations

import pytest

from warpsmith.analysis.uniformity.active_threads import ActiveThreadSets
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.uniformity import Uniformity, uniformity
from warpsmith.ssa.reader import parse_module

HEAD = """
kernel @k(n 4 align 4 i32)
start:
  %n:i32 = param [n+0]
  %x:i32 = query [tid.x]
  %b:i32 = query [ctaid.x]
"""


def answer(body: str, block: Dim | None = (64, 1, 1), level: str = "warp") -> Uniformity:
    (function,) = parse_module(f"{HEAD}{body}\n  return\nend\n").functions
    return uniformity(function, Threads("block" if level == "block" else "warp", block))


def behind(condition: str, way: str = "yes") -> tuple[ActiveThreadSets, str]:
    body = f"""
  {condition}
  branch %c yes no
yes:
  %v:i32 = add %x 1:i32
  jump end
no:
  %w:i32 = add %x 1:i32
  jump end
end:"""
    sets = answer(body).active_sets
    assert sets is not None
    return sets, way


@pytest.mark.parametrize(
    ("condition", "yes", "no"),
    [
        ("%c:i1 = slt %x 2:i32", (False, True), (False, True)),
        ("%c:i1 = eq %x 2:i32", (True, True), (False, True)),
        ("%c:i1 = ne %x 2:i32", (False, True), (True, True)),
        # one at a time, whichever it is
        ("%c:i1 = eq %x %n", (True, True), (False, False)),
        ("%c:i1 = eq %n 3:i32", (False, False), (False, False)),
        ("%c:i1 = slt %x %n", (False, False), (False, False)),
        # nobody is alone, since the second warp has none on one side
        ("%c:i1 = slt %x 33:i32", (False, True), (False, True)),
    ],
)
def test_who_is_behind_a_branch(condition: str, yes: tuple[bool, bool], no: tuple[bool, bool]) -> None:
    for way, (alone, narrow) in (("yes", yes), ("no", no), ("end", (False, False))):
        sets, name = behind(condition, way)
        assert (way, sets.alone(name), sets.narrow(name)) == (way, alone, narrow)


def test_a_value_is_the_same_where_those_that_are_there_have_one_number() -> None:
    body = """
  %m:i32 = shl %b 6:i32
  %i:i32 = add %m %x
  %c:i1 = slt %x 2:i32
  branch %c yes end
yes:
  %d:i1 = slt %x 5:i32
  branch %d in end
in:
  jump end
end:
  %e:i1 = slt %x 5:i32
  branch %e last done
last:
  jump done
done:"""
    found = answer(body)
    assert "yes" not in found.branches
    assert "end" in found.branches


def test_one_thread_alone_has_nobody_to_part_from() -> None:
    body = """
  %c:i1 = eq %x %n
  branch %c yes end
yes:
  %l:i32 = query [laneid]
  %d:i1 = slt %l 5:i32
  branch %d in end
in:
  jump end
end:"""
    found = answer(body)
    assert found.is_alone("yes") and "yes" not in found.branches and "start" in found.branches
    # where the shape is not known, nobody knows who is there
    assert "yes" in answer(body, None).branches


def test_an_equality_with_what_differs_picks_nobody() -> None:
    body = """
  %l:i32 = query [laneid]
  %s:i32 = shl %n %l
  %c:i1 = eq %x %s
  branch %c yes end
yes:
  jump end
end:"""
    assert not answer(body).is_alone("yes")


def test_a_loop_that_threads_come_back_to_lets_others_in_later() -> None:
    body = """
  jump head
head:
  %i:i32 = phi start 0:i32 next %j
  %c:i1 = eq %x %i
  branch %c yes next
yes:
  %d:i1 = slt %x 5:i32
  branch %d in next
in:
  jump next
next:
  %j:i32 = add %i 1:i32
  %e:i1 = slt %j %n
  branch %e head done
done:
  %k:i1 = slt %x 9:i32
  branch %k last fin
last:
  jump fin
fin:"""
    found = answer(body)
    # in one iteration there is one thread; behind the loop there are all
    assert found.is_alone("yes") and "yes" not in found.branches
    assert not found.is_alone("done") and "done" in found.branches


def test_a_loop_entered_at_two_places_tells_nothing() -> None:
    body = """
  %c:i1 = eq %x 3:i32
  branch %c l r
l:
  %d:i1 = slt %x 5:i32
  branch %d r done
r:
  %e:i1 = slt %n 5:i32
  branch %e l done
done:"""
    sets = answer(body).active_sets
    assert sets is not None
    assert not sets.narrow("l") and not sets.narrow("r")
