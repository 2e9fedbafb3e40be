"""The search for inputs that part threads finds them where there are any."""

from __future__ import annotations

import struct

import pytest

from tests.corpus.inputs import Inputs
from tests.corpus.steering import Limits, Steering
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.machine.devices import device
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch, Outcome
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.observer import Observer
from warpsmith.ssa.reader import parse_module

KERNEL = """
kernel @k(a 8 align 8 i64, n 4 align 4 i32)
start:
  %a:i64 = param [a+0]
  %n:i32 = param [n+0]
  %x:i32 = query [tid.x]
  %o:i64 = smulwide %x 4:i32
  %p:i64 = add %a %o
  %v:i32 = load [global +0 align 4] %p
CONDITION
  branch %c rare done
rare:
  %last:i1 = slt %x %n
  branch %last found done
found:
  jump done
done:
  return
end
"""


def _searched(condition: str) -> Steering:
    """Return the runs of a kernel whose condition `%c` is made by these lines."""
    module = parse_module(KERNEL.replace("CONDITION", condition))

    def run(inputs: Inputs, observer: Observer, *, checks: bool) -> Outcome:
        memory = LaunchMemory(checks=checks)
        buffer = memory.allocate("a", bytes(4 * 32))
        for address, word in inputs.words.items():
            buffer.data[address - buffer.address : address - buffer.address + len(word)] = word
        given = {"a": struct.pack("<q", buffer.address), "n": struct.pack("<i", 1000)}
        launch = Launch((1, 1, 1), (32, 1, 1), inputs.instead(given), max_steps=4000, lanes=inputs.lanes)
        return interpret(module, "k", launch, memory, observer)

    made = Steering(examine(module, "k", LaunchShape((32, 1, 1)), device("h100")), run)
    made.start(range(2))
    made.search(Limits(100, 1_000_000, 20))
    return made


def test_a_word_and_an_argument_that_part_threads_are_found() -> None:
    made = _searched("  %c:i1 = eq %v 123456789:i32")
    assert made.seen.diverged["warp"] == {"start", "rare"}
    assert made.missing() == []
    assert made.made < 200


def test_what_never_parts_threads_stays() -> None:
    # no square is 3 modulo 4, which the analysis does not know
    made = _searched("  %q:i32 = mul %v %v\n  %r:i32 = and %q 3:i32\n  %c:i1 = eq %r 3:i32")
    assert made.missing() == [("start", "warp"), ("start", "block")]
    assert made.made >= 100


@pytest.mark.parametrize(
    "condition",
    [
        # no comparison ever meets the word itself
        "  %t:i32 = mul %v 5:i32\n  %m:i32 = mul %x 25:i32\n  %s:i32 = sub %t %m\n  %c:i1 = eq %s 98765430:i32",
        "  %f:i32 = uextract %v 19:i32 9:i32\n  %c:i1 = eq %f 300:i32",
    ],
)
def test_a_word_is_climbed_to(condition: str) -> None:
    made = _searched(condition)
    assert made.seen.diverged["warp"] == {"start", "rare"}
    assert made.made < 250


def test_what_parts_threads_only_by_an_overflow_is_known_as_that() -> None:
    # no square is negative, but for those that do not fit
    made = _searched("  %q:i32 = mul [nsw] %v %v\n  %c:i1 = slt %q 0:i32")
    assert made.wrapped["warp"] == {"start"}
    assert made.seen.diverged["warp"] == set()
    assert made.missing() == []
