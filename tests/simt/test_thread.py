"""One thread: what its instructions do, where it goes, and what it must not do."""

from __future__ import annotations

import struct

import pytest

from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch, Outcome
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.observer import Lane, Silent
from warpsmith.ssa.nodes import Instruction
from warpsmith.ssa.reader import parse_module


class Kept(Silent):
    """Keeps what each thread computed, by the name of the value."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, str], list[int]] = {}

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        for result, number in zip(place.results, numbers, strict=True):
            self.numbers.setdefault((lane.thread, result.name), []).append(number)


def ran(body: str, threads: int = 1, more: str = "", warp: int = 32) -> tuple[Outcome, Kept, bytes]:
    head = "shared @s i32 x 4 align 4\nkernel @k(p 8 align 8 i64, n 4 align 4 i32)\nstart:\n  %p:i64 = param [p+0]\n"
    text = f"{head}{body}\n"
    text += ("" if "return" in body else "  return\n") + f"end\n{more}"
    memory, kept = LaunchMemory(), Kept()
    buffer = memory.allocate("p", bytes(range(32)))
    arguments = {"p": struct.pack("<q", buffer.address), "n": struct.pack("<i", -3)}
    launch = Launch((2, 1, 1), (threads, 1, 1), arguments, warp=warp)
    outcome = interpret(parse_module(text), "k", launch, memory, kept)
    return outcome, kept, bytes(buffer.data)


def value(body: str, name: str = "e", thread: int = 0, threads: int = 1, warp: int = 32) -> int:
    outcome, kept, _ = ran(body, threads, warp=warp)
    assert outcome.complete, [problem.message for problem in outcome.problems]
    return kept.numbers[thread, name][0]


@pytest.mark.parametrize(
    ("register", "expected"),
    [("tid.x", 5), ("ntid.x", 40), ("nctaid.x", 2), ("laneid", 5), ("warpid", 1), ("nwarpid", 3), ("lanemask_eq", 32),
     ("lanemask_lt", 31), ("lanemask_le", 63), ("lanemask_gt", 0xFFC0), ("lanemask_ge", 0xFFE0)],
)  # fmt: skip
def test_registers(register: str, expected: int) -> None:
    thread = 21 if register not in ("tid.x",) else 5
    assert value(f"  %e:i32 = query [{register}]", thread=thread, threads=40, warp=16) == expected


def test_a_register_that_no_run_has_and_what_is_not_modeled_stop_it() -> None:
    for body, said in (
        ("  %e:i64 = query [clock64]", "the register %clock64 has no value here"),
        ("  %e:i32 = unmodeled ['mystery'] 1:i32", "this instruction is not modeled: mystery"),
        ("  %e:i32 = lanewise ['nobody'] 1:i32", "this instruction is not modeled: nobody"),
        ("  %e:i32 = param [q+0]", "the launch gives no argument q"),
        ("  %e:i64 = param [n+0]", "the launch gives no argument n, or not all of it"),
        ("  %e:i32 = address [@none]", "there is no variable called none"),
        ("  %e:i32 = call [@nobody] 1:i32", "nobody is not defined in this file"),
        ("  unreachable", "control gets to a place that it never should"),
        ("  %e:i32 = load [global +2 align 4] %p", "is not a multiple of 4, as load needs"),
    ):
        outcome, *_ = ran(body.replace("  unreachable", "  unreachable\nafter:\n  return"))
        assert not outcome.complete and said in outcome.problems[-1].message


def test_loads_and_stores_of_several_elements() -> None:
    assert value("  %e:i32 %f:i32 = load [global +4 align 4] %p", "f") == 0x0B0A0908
    assert value("  %e:i16 = load [global +2 align 1] %p") == 0x0302
    _, _, data = ran("  store [global +8 align 8] %p 1:i32 0x01020304:i32")
    assert data[8:16] == b"\1\0\0\0\4\3\2\1"


def test_windows_lead_from_one_space_to_the_generic_one_and_back() -> None:
    body = """
  %s:i32 = address [@s]
  %w:i64 = zext %s
  %g:i64 = to_generic ['shared'] %w
  store [generic +4 align 4] %g 77:i32
  %b:i64 = from_generic ['shared'] %g
  %e:i32 = load [shared +4 align 4] %b"""
    assert value(body) == 77


@pytest.mark.parametrize(
    ("op", "new"),
    [("add", 12), ("smin", 5), ("smax", 7), ("umin", 5), ("umax", 7), ("and", 5), ("or", 7), ("xor", 2),
     ("exchange", 7), ("inc", 6), ("dec", 4)],
)  # fmt: skip
def test_atomics_give_what_was_there(op: str, new: int) -> None:
    body = f"  store [global +0 align 4] %p 5:i32\n  %e:i32 = atomic_{op} [global +0 align 4] %p 7:i32\n"
    assert value(body) == 5
    assert value(f"{body}  %f:i32 = load [global +0 align 4] %p", "f") == new


@pytest.mark.parametrize(
    ("op", "old", "operands", "new"),
    [
        ("smin", 1, "-2", 2**32 - 2), ("umin", 1, "-2", 1), ("smax", 1, "-2", 1), ("umax", 1, "-2", 2**32 - 2),
        ("inc", 7, "7", 0), ("inc", 9, "7", 0), ("dec", 0, "7", 7), ("dec", 9, "7", 7), ("add", 2**32 - 1, "2", 1),
        ("compare", 5, "5 9", 9), ("compare", 4, "5 9", 4),
    ],
)  # fmt: skip
def test_atomics_at_their_edges(op: str, old: int, operands: str, new: int) -> None:
    given = " ".join(f"{int(number) % 2**32}:i32" for number in operands.split())
    body = f"  store [global +0 align 4] %p {old}:i32\n  %e:i32 = atomic_{op} [global +0 align 4] %p {given}\n"
    assert value(f"{body}  %f:i32 = load [global +0 align 4] %p", "f") == new


FUNCTION = """function @f(n 4 align 4 i32) -> i32
start:
  %n:i32 = param [n+0]
  %c:i1 = eq %n 0:i32
  branch %c zero more
zero:
  return 1:i32
more:
  %m:i32 = sub %n 1:i32
  %r:i32 = call [@f] %m
  %e:i32 = mul %r %n
  return %e
end
"""


def test_functions_call_themselves_and_too_deep_calls_stop() -> None:
    outcome, kept, _ = ran("  %v:i32 = call [@f] 5:i32", more=FUNCTION)
    assert outcome.complete and kept.numbers[0, "v"] == [120, 120]
    deep, _, _ = ran("  %v:i32 = call [@f] 500:i32", more=FUNCTION)
    assert "called more than 200 deep" in deep.problems[-1].message
    few, _, _ = ran("  %v:i32 = call [@f]", more=FUNCTION)
    assert "gets 0 values for 1 parameters" in few.problems[-1].message


def test_phis_take_their_values_all_at_once() -> None:
    body = """
  jump head
head:
  %a:i32 = phi start 1:i32 head %b
  %b:i32 = phi start 2:i32 head %a
  %i:i32 = phi start 0:i32 head %j
  %j:i32 = add %i 1:i32
  %e:i32 = sub %a %b
  %c:i1 = ult %j 3:i32
  branch %c head done
done:
  return"""
    _, kept, _ = ran(body)
    assert kept.numbers[0, "e"][:3] == [2**32 - 1, 1, 2**32 - 1]


def test_a_switch_goes_to_its_case_or_elsewhere() -> None:
    body = "  %x:i32 = query [tid.x]\n  switch %x 0 a 2 b rest\na:\n  %e:i32 = add 1:i32 0:i32\n  return\nb:\n"
    body += "  %e:i32 = add 2:i32 0:i32\n  return\nrest:\n  %e:i32 = add 3:i32 0:i32\n  return"
    _, kept, _ = ran(body.replace("%e:i32 = add 2", "%f:i32 = add 2").replace("%e:i32 = add 3", "%g:i32 = add 3"), 3)
    assert [sorted(n for t, n in kept.numbers if t == thread and n in "efg") for thread in range(3)] == [
        ["e"],
        ["g"],
        ["f"],
    ]


def test_what_is_undefined_differs_from_lane_to_lane() -> None:
    _, kept, _ = ran("  %e:i32 = add undef:i32 0:i32", 4)
    assert len({kept.numbers[thread, "e"][0] for thread in range(4)}) == 4


def test_numbers_that_overflow_where_none_may_are_told() -> None:
    body = "  %e:i32 = {} [nsw] {}:i32 {}:i32"
    for op, a, b, wrong in (
        ("add", 2**31 - 1, 1, True),
        ("sub", 2**31, 1, True),
        ("mul", 2**30, 2, True),
        ("add", 5, 6, False),
    ):
        outcome, *_ = ran(body.format(op, a, b))
        assert any(problem.kind == "overflow" for problem in outcome.problems) == wrong


def test_an_exit_inside_a_function_ends_the_thread_and_a_trap_fails() -> None:
    ended, kept, _ = ran("  call [@f]\n  %e:i32 = add 1:i32 0:i32", more="function @f()\nstart:\n  exit\nend\n")
    assert ended.complete and (0, "e") not in kept.numbers
    failed, *_ = ran("  trap\nafter:\n  return")
    assert any(problem.kind == "trap" for problem in failed.problems)


DEEP = """
function @down(n 4 align 4 i32) -> i32
  local @mine i32 x 2 align 4
start:
  %n:i32 = param [n+0]
  %at:i64 = address [@mine]
  store [local +4 align 4] %at %n
  %more:i1 = sgt %n 0:i32
  branch %more deeper end
deeper:
  %less:i32 = sub %n 1:i32
  %below:i32 = call [@down] %less
  %own:i32 = load [local +4 align 4] %at
  %sum:i32 = add %below %own
  return %sum
end:
  READ
end
"""


def _deep(read: str, depth: int) -> tuple[Outcome, Kept, bytes]:
    body = f"  %e:i32 = call [@down] {depth}:i32"
    return ran(body, more=DEEP.replace("READ", read))


def test_each_call_has_local_variables_of_its_own() -> None:
    outcome, kept, _ = _deep("return 0:i32", 9)
    assert outcome.complete and not outcome.problems
    assert kept.numbers[0, "e"] == [45, 45]  # one a block of threads


def test_what_a_call_has_not_written_is_not_known_from_one_before() -> None:
    read = "%first:i32 = load [local +0 align 4] %at\n  return %first"
    outcome, _, _ = _deep(read, 1)
    assert {problem.kind for problem in outcome.problems} == {"uninitialized"}


def test_a_variable_is_gone_when_its_call_returns() -> None:
    read = "%place:i32 = trunc %at\n  return %place"
    body = "  %a:i32 = call [@down] 0:i32\n  %e:i32 = call [@outer] %a\n"
    more = f"""{DEEP.replace("READ", read)}
function @outer(n 4 align 4 i32) -> i32
start:
  %n:i32 = param [n+0]
  %b:i32 = call [@down] 1:i32
  %c:i32 = sub %b 1:i32
  %at:i64 = zext %c
  %e:i32 = load [local +4 align 4] %at
  return %e
end
"""
    outcome, _, _ = ran(body, more=more)
    assert [problem.kind for problem in outcome.problems] == ["bounds"]
