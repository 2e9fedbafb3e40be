"""Which threads are there when one of them is: all, just those that conditions let through, or some."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.analysis.test_kernel import HEAD
from warpsmith.analysis.memory.presence import Guard, Presences, conditions
from warpsmith.analysis.memory.solved import solved_forms
from warpsmith.analysis.uniformity.facts import Dim, LaunchShape
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.uniformity import uniformity
from warpsmith.ssa.reader import parse_module

ALL = frozenset(range(64))
LOOP = """
  jump head
head:
  %j:i32 = phi start 0:i32 body %k
  %c:i1 = slt %j {}
  branch %c body done
body:
  %k:i32 = add %j 1:i32
  store [shared +0 align 4] %t %k
  jump head
done:
  store [shared +0 align 4] %t %j
"""


def presences(body: str, block: Dim = (64, 1, 1)) -> Presences:
    module = parse_module(f"{HEAD}{body}\n  return\nend\n")
    answer = uniformity(module.functions[0], Threads("warp", block))
    return Presences(solved_forms(module, answer, LaunchShape(block)))


def behind(lines: str, block: Dim = (64, 1, 1), way: str = "yes") -> tuple[str, frozenset[int]]:
    """Return who is on a way of a branch on %c, which the lines compute."""
    body = "\n".join(f"  {line.strip()}" for line in lines.split(";"))
    body += "\n  branch %c yes no\nyes:\n  store [shared +0 align 4] %t %x\n  jump end\nno:"
    found = presences(f"{body}\n  store [shared +4 align 4] %t %x\n  jump end\nend:", block).at(way)
    return found.kind, found.threads


def test_everyone_is_where_no_branch_parts_threads() -> None:
    assert behind("%c:i1 = slt %n 3:i32") == ("all", ALL)
    assert presences("").at("start").threads == ALL


def test_a_condition_that_is_a_number_lets_just_those_through() -> None:
    assert behind("%c:i1 = slt %x 5:i32") == ("known", frozenset(range(5)))
    assert behind("%c:i1 = slt %x 5:i32", way="no") == ("known", frozenset(range(5, 64)))
    assert behind("%c:i1 = slt %x 5:i32", way="end") == ("all", ALL)
    assert behind("%c:i1 = slt %x %n") == ("some", ALL)


@pytest.mark.parametrize(
    ("lines", "yes", "no"),
    [
        ("%a:i1 = slt %x 4:i32; %b:i1 = slt %n 3:i32; %c:i1 = and %a %b", range(4), ALL),
        ("%a:i1 = slt %x 4:i32; %b:i1 = slt %n 3:i32; %c:i1 = or %a %b", ALL, range(4, 64)),
        ("%a:i1 = slt %x 4:i32; %b:i1 = slt %n 3:i32; %d:i1 = and %a %b; %c:i1 = not %d", ALL, range(4)),
        ("%a:i1 = slt %x 4:i32; %b:i1 = slt %n 3:i32; %c:i1 = select %a %b 0:i1", range(4), ALL),
        ("%a:i1 = slt %x 4:i32; %b:i1 = slt %n 3:i32; %c:i1 = select %a 1:i1 %b", ALL, range(4, 64)),
        ("%a:i1 = slt %n 4:i32; %b:i1 = slt %x 3:i32; %d:i1 = slt %x 5:i32; %c:i1 = select %a %b %d",
         range(5), range(3, 64)),
        # the low bits of the sum are those of tid.x
        ("%m:i32 = shl %b 8:i32; %s:i32 = add %m %x; %c:i1 = eq %s 0:i32", {0}, ALL),
        ("%m:i32 = shl %b 8:i32; %s:i32 = add %m %x; %c:i1 = ne %s 7:i32", ALL, {7}),
        ("%s:i32 = add %n %x; %c:i1 = eq %s 0:i32", ALL, ALL),
        ("%m:i32 = shl %b 3:i32; %s:i32 = add %m %x; %c:i1 = eq %s 2:i32", range(2, 64, 8), ALL),
    ],
)  # fmt: skip
def test_a_condition_known_in_part_keeps_some_away(lines: str, yes: Iterable[int], no: Iterable[int]) -> None:
    assert behind(lines) == ("some", frozenset(yes))
    assert behind(lines, way="no") == ("some", frozenset(no))


def test_conditions_one_behind_the_other() -> None:
    body = """
  %c:i1 = slt %x 9:i32
  branch %c one end
one:
  %d:i1 = slt 3:i32 %x
  store [shared +0 align 4] %t %x
  branch %d two end
two:
  store [shared +4 align 4] %t %x
  jump end
end:"""
    found = presences(body)
    assert (found.at("two").kind, set(found.at("two").threads)) == ("known", {4, 5, 6, 7, 8})
    assert set(found.find_diverging("two")) == {"start", "one"}
    assert found.find_diverging("end") == ()
    assert (found.guard("start", "two"), found.guard("one", "two")) == (Guard("start", True), Guard("one", True))
    assert found.guard("start", "end") is None
    assert found.most_lanes(found.at("two")) == 5
    assert found.most_lanes(found.at("end")) == 32


def test_lanes_are_counted_in_each_warp() -> None:
    body = "\n  branch %c yes end\nyes:\n  store [shared +0 align 4] %t %x\n  jump end\nend:"
    for first, most in ((29, 32), (61, 2)):
        found = presences(f"  %c:i1 = slt {first}:i32 %x{body}")
        assert found.most_lanes(found.at("yes")) == most


def test_in_a_loop_that_threads_leave_apart_some_are_there() -> None:
    found = presences(LOOP.format("%x"))
    assert (found.at("body").kind, found.at("done").kind) == ("some", "all")
    assert presences(LOOP.format("%n")).at("body").kind == "all"


def test_sums_that_are_0_where_a_guard_lets_through() -> None:
    def zeros(lines: str, *, holds: bool = True) -> list[str]:
        body = "\n".join(f"  {line.strip()}" for line in lines.split(";"))
        body += "\n  branch %c yes end\nyes:\n  store [shared +0 align 4] %t %x\n  jump end\nend:"
        found = presences(body).zeros(Guard("start", holds))
        return sorted("+".join(sorted(a.name for a in form.atoms())) for form in found)

    equal = "%a:i1 = eq %x %n; %b2:i1 = eq %x %b"
    assert zeros("%c:i1 = eq %x %n") == ["n+tid.x"]
    assert zeros("%c:i1 = eq %x %n", holds=False) == []
    assert zeros("%c:i1 = ne %x %n", holds=False) == ["n+tid.x"]
    assert zeros("%a:i1 = ne %x %n; %c:i1 = not %a") == ["n+tid.x"]
    assert zeros(f"{equal}; %c:i1 = and %a %b2") == ["ctaid.x+tid.x", "n+tid.x"]
    assert zeros(f"{equal}; %c:i1 = and %a %b2", holds=False) == []
    assert zeros(f"{equal}; %c:i1 = or %a %b2") == []
    assert zeros(f"{equal}; %c:i1 = select %a %b2 0:i1") == ["ctaid.x+tid.x", "n+tid.x"]
    assert zeros(f"{equal}; %c:i1 = select %a %b2 1:i1") == []
    assert zeros("%c:i1 = slt %x %n") == []


def test_a_switch_lets_anyone_through_and_its_value_is_a_condition() -> None:
    found = presences("  switch %x 0 a end\na:\n  store [shared +0 align 4] %t %x\n  jump end\nend:")
    assert (found.at("a").kind, found.at("a").threads) == ("some", ALL)
    assert found.zeros(Guard("start", True)) == []
    assert [value.name for value in conditions(found.forms)] == ["x"]
    assert conditions(presences("  branch 1:i1 a end\na:\n  jump end\nend:").forms) == []


EITHER = """
  %c:i1 = eq %x 5:i32
  branch %c both test
test:
  %d:i1 = {}
  branch %d both end
both:
  store [shared +0 align 4] %t %x
  jump end
end:"""


def test_where_two_ways_meet_those_may_be_there_that_come_by_one_of_them() -> None:
    found = presences(EITHER.format("eq %x 9:i32"))
    assert (found.at("both").kind, set(found.at("both").threads)) == ("some", {5, 9})
    assert set(found.at("test").threads) == ALL - {5}
    assert presences(EITHER.format("eq %x %n")).at("both").threads == ALL
    assert presences(EITHER.format("slt %n 9:i32")).at("both").threads == ALL


def test_who_goes_around_a_loop_again_may_be_anyone() -> None:
    body = """
  %c:i1 = eq %x 5:i32
  branch %c head end
head:
  %j:i32 = phi start 0:i32 more %k
  %k:i32 = add %j 1:i32
  %e:i1 = eq %x 5:i32
  branch %e more out
more:
  %g:i1 = slt %k %n
  branch %g head out
out:
  store [shared +0 align 4] %t %x
  jump end
end:"""
    found = presences(body)
    assert set(found.at("more").threads) == {5}
    assert {5} <= set(found.at("out").threads)
