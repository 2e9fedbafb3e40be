"""MEM006: what a thread has loaded already, with nothing written since."""

from __future__ import annotations

import pytest

from tests.analysis.rules.test_arithmetic import compiled
from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.memory.repeated_loads import find_repeated

AT = "  %o:i64 = smulwide %i 4:i32\n  %p:i64 = add %a %o\n"
AGAIN = "  %o2:i64 = smulwide %i 4:i32\n  %q:i64 = add %a %o2\n"
FIRST, SECOND = "  %v:i32 = load [global +0 align 4] %p\n", "  %u:i32 = load [global +0 align 4] %q\n"


def found(body: str, *, ptx: bool = False) -> list[KernelFinding]:
    facts = told(body, ROW)
    return list(find_repeated(compiled(facts) if ptx else facts))


def test_the_same_address_again() -> None:
    (one,) = found(AT + AGAIN + FIRST + SECOND)
    assert (one.rule, one.certainty) == ("MEM006", "heuristic")
    assert one.message == "load of a that the thread has loaded already, with nothing written between"
    (sure,) = found(AT + AGAIN + FIRST + SECOND, ptx=True)
    assert (sure.certainty, sure.assumptions) == ("proven", ())


@pytest.mark.parametrize(
    "body",
    [
        AT + AGAIN + FIRST,
        AT + AGAIN + FIRST + SECOND.replace("+0", "+4"),
        AT + AGAIN + FIRST + SECOND.replace("i32 =", "i16 =").replace("align 4", "align 2"),
        AT + AGAIN + FIRST + "  store [shared +0 align 4] %t %x\n" + SECOND,
        AT + AGAIN + FIRST + "  barrier [waits] 0:i32\n" + SECOND,
        AT + AGAIN + FIRST + "  call [@f]\n" + SECOND,
        AT + AGAIN + FIRST + "  %w2:i32 = atomic_add [global +0 align 4] %a %x\n" + SECOND,
        AT + AGAIN.replace("%i", "%x") + FIRST + SECOND,
        AT + AGAIN + FIRST + "  jump next\nnext:\n" + SECOND,
        AT + AGAIN + (FIRST + SECOND).replace("align 4]", "align 4 volatile]"),
        AT + AGAIN + (FIRST + SECOND).replace("align 4]", "align 4 cached read only]"),
        (FIRST + SECOND.replace("%q", "%p")).replace("global", "shared").replace("%p", "%t"),
    ],
)
def test_what_is_no_repetition(body: str) -> None:
    assert found(body) == []


def test_what_is_only_read_is_kept_by_the_compiler_in_source_alone() -> None:
    body = AT + AGAIN + (FIRST + SECOND).replace("align 4]", "align 4 cached read only]")
    assert [one.rule for one in found(body, ptx=True)] == ["MEM006"]


LOOP = (
    AT
    + """
  jump head
head:
  %j:i32 = phi start 0:i32 head %k
  %k:i32 = add %j 1:i32
  %m:i64 = sext %k
  %q:i64 = add %p %m
BODY  %c:i1 = slt %k %n
  branch %c head done
done:
"""
)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (FIRST, 1),
        (FIRST.replace("%p", "%q").replace("align 4", "align 1"), 0),
        (FIRST + "  store [shared +0 align 4] %t %x\n", 0),
        (FIRST.replace("align 4]", "align 4 volatile]"), 0),
        ("  store [global +0 align 4] %p %x\n", 0),
        (FIRST.replace("[global +0 align 4] %p", "[shared +0 align 4] %t"), 0),
    ],
)
def test_a_loop_that_loads_the_same_in_every_iteration(body: str, count: int) -> None:
    told_ = found(LOOP.replace("BODY", body))
    assert [one.message.partition(",")[0] for one in told_] == ["load of a is repeated in every iteration"] * count
