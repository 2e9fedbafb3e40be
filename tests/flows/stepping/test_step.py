"""A kernel is stepped through as a person does it: commands go in, answers in plain words come out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from warpsmith.base.errors import UsageError
from warpsmith.flows.simulate import SimulateOptions
from warpsmith.flows.stepping.step import Stepping, step
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit

PARITY = Path(__file__).parents[3] / "examples" / "parity.cu"
GIVEN = ("n=38", "in=iota:i32[n]", "out=zeros:i32[n]")
LOOP = """__global__ void k(int *out, const int *in)
{
    __shared__ int s[8];
    int sum = 0;
    for (int i = 0; i < threadIdx.x; i++) {
        sum += in[i];
    }
    s[threadIdx.x] = sum;
    __syncthreads();
    out[threadIdx.x] = s[7 - threadIdx.x];
}
"""
_UNITS: dict[str, KernelUnit] = {}


@pytest.fixture(autouse=True)
def _read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(file: KernelFile) -> KernelUnit:
        key = file.text or file.path
        if key not in _UNITS:
            made = read_unit(file)
            assert isinstance(made, KernelUnit), made
            _UNITS[key] = made
        return _UNITS[key]

    monkeypatch.setattr("warpsmith.flows.simulate.read_unit", read)


def replies(*said: str, breaks: tuple[str, ...] = (), watches: tuple[str, ...] = (), text: str = "") -> list[str]:
    """Return the answer to each command, its lines joined; the first is what is said at the start."""
    out: list[str] = []
    heard: list[str] = []
    left: Iterator[str] = iter(said)

    def ask() -> str | None:
        out.append("\n".join(heard))
        heard.clear()
        return next(left, None)

    file = KernelFile("k.cu", text=text) if text else KernelFile(str(PARITY))
    given = ("in=iota:i32[8]", "out=zeros:i32[8]") if text else GIVEN
    block = (8, 1, 1) if text else (40, 1, 1)
    step(file, SimulateOptions(block=block, arguments=given), Stepping(breaks, watches, heard.append, ask))
    return out


ODD, EVEN = "-#" * 16, "#-" * 16


def test_next_goes_from_line_to_line_and_from_arm_to_arm() -> None:
    lines = [answer.split(":")[0] for answer in replies(*["next"] * 7)]
    assert lines == [f"line {n}" for n in (3, 5, 6, 8, 9, 10, 12, 13)]
    found = replies("until 10", "next")
    assert ODD in found[1] and "16 of 32 lanes" in found[1] and "x = 3 * x + 1;" in found[1]
    assert EVEN in found[2]


def test_why_a_lane_is_inactive_names_the_branch_and_its_condition() -> None:
    found = replies("until 10", "why 4", "why is lane 3 inactive?", "next", "why 3", "why 77")
    assert found[2] == (
        "lane 4 is inactive: it stands at line 12, until the others come there; at line 9 (if (x & 1)) the condition"
        " was false for it, and true for lanes 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31"
    )
    assert found[3] == "lane 3 is active"
    assert "lane 3 is inactive: it stands at line 13" in found[5]
    assert "true for it, and false for lanes 0, 2" in found[5]
    assert found[6] == "lane 77 has no thread: this warp of the block has 32 threads"


def test_lanes_that_have_ended_and_lanes_that_were_never_there() -> None:
    """Of the second warp 8 lanes have threads, and 2 of them return early."""
    found = replies("continue", "lanes", "why 6", "why 20", breaks=("8:thread == 32",))
    assert "block 0 warp 1" in found[0] and "######" + "-" * 2 not in found[0]
    assert "lanes 0-5: active here" in found[1] or "lanes 0-5: active here" in found[2]
    why = next(one for one in found if one.startswith("lane 6"))
    assert "ended at line 7" in why and "at line 6 (if (i >= n)) the condition was true for it" in why
    assert "lane 20 has no thread: this warp of the block has 8 threads" in found


def test_print_knows_variables_elements_and_expressions() -> None:
    found = replies(
        "until 13", "print x 3", "print x 4", "print in[5]", "print i * 2 + 1 7", "print n", "print nosuch", "p in"
    )
    assert found[2:7] == [
        "x = 10",
        "x = 2",
        "in[5] = 5 in all 32 active lanes",
        "i * 2 + 1 = 15",
        "n = 38 in all 32 active lanes",
    ]
    assert found[7].startswith("there is no variable nosuch; there are i, in, n, out, x")
    assert found[8] == "in = 0 1 2 3 4 5 6 7 …"


def test_what_is_printed_is_what_the_lanes_store() -> None:
    """The values of the variable at the end are those that come to memory."""
    found = replies("until 14", "print x", "print out[i]")
    assert found[2].replace("x by lane", "") == found[3].replace("out[i] by lane", "")
    assert "31: 94" in found[2]


def test_back_is_the_step_before_and_the_way_forward_is_the_same() -> None:
    forward = replies(*["next"] * 6)
    found = replies(*["next"] * 6, "back", "back", "next", "next", "print x 3")
    assert found[7] == f"back\n{forward[5]}"
    assert found[8] == f"back\n{forward[4]}"
    assert found[9:11] == forward[5:7]
    assert replies("back")[1] == "this is the first step of the warp"


def test_back_from_the_end_and_values_before_a_store() -> None:
    found = replies("continue", "print out[3]", "back", "next", breaks=("13:lane == 3",))
    assert "breakpoint at line 13: lane == 3 holds in lane 3" in found[0]
    text = replies("continue", "continue", "back", "where")
    assert text[1].startswith("the run is over")
    assert "'back' goes to the step before" in text[2]
    assert text[3].startswith("back\nline")


def test_a_watched_element_stops_where_it_changes() -> None:
    found = replies("continue", watches=("out[3]",))
    assert found[0].startswith("out[3] was 0 and is 10: block 0 warp 0 executed line 13\n")
    assert found[1].startswith("the run is over")


def test_a_watched_variable_tells_its_lanes() -> None:
    found = replies("continue", "continue", watches=("x",))
    assert "x held nothing and is 31 in lane 31" in found[0]
    assert "x was 3 and is 10 in lane 3" in found[2] or "x was 3 and is 10 in lane 3" in found[1]


def test_without_questions_every_stop_is_told_and_the_run_goes_on() -> None:
    told: list[str] = []
    code = step(
        KernelFile(str(PARITY)),
        SimulateOptions(block=(40, 1, 1), arguments=GIVEN),
        Stepping(("10",), (), told.append, None),
    )
    assert code == 0
    assert [one for one in told if one.startswith("breakpoint")] == ["breakpoint at line 10"] * 2
    assert told[-1].startswith("the run is over")


def test_loops_shared_memory_and_barriers() -> None:
    found = replies("until 6", "next", "next", "print i 7", "until 10", "print s[3]", "lanes", text=LOOP)
    assert "7 of 8 lanes" in found[1] and ".######" not in found[1]
    assert found[6] == "s[3] = 3 in all 8 active lanes"
    found = replies("c", "why 0", breaks=("6:i == 3",), text=LOOP)
    assert "holds in lanes 4-7" in found[0]
    assert "at line 5" in found[2] or "at line 5" in found[1]


@pytest.mark.parametrize(
    ("breaks", "watches", "message"),
    [
        (("900",), (), "no instruction of parity is there"),
        (("10:y > 3",), (), "there is no variable y"),
        (("10:b[1] > 3",), (), "there is no array b"),
        (("ten",), (), "names no line"),
        (("10:x = 3",), (), "is no expression"),
        ((), ("__import__('os')",), "is no expression"),
        ((), ("y",), "there is no variable y"),
    ],
)
def test_what_makes_no_sense_is_said_before_the_run(
    breaks: tuple[str, ...], watches: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        replies(breaks=breaks, watches=watches)
    assert message in caught.value.findings[0].message


def test_a_mistake_ends_the_run_and_one_can_go_back_before_it() -> None:
    heard: list[str] = []
    left = iter(["continue", "back", "print i"])
    options = SimulateOptions(block=(32, 1, 1), arguments=("n=32", "in=iota:i32[n]", "out=zeros:i32[20]"))
    step(KernelFile(str(PARITY)), options, Stepping((), (), heard.append, lambda: next(left, None)))
    text = "\n".join(heard)
    assert "line 13: out of bounds: out[20]: out has 20 elements of 4 bytes (block 0 thread 20)" in text
    assert "back\nline 13: out[i] = x;" in text


def test_an_unknown_command_and_help() -> None:
    found = replies("dance", "help", "print", "why", "until")
    assert found[1] == "'dance' is no command; 'help' lists them"
    assert "why LANE" in found[2]
    assert "say which lane" in found[4]
