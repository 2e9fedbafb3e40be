"""Functions that are called, and call themselves: as the interpreter runs them, in every respect."""

from __future__ import annotations

import struct

import pytest
from msgspec.structs import replace

from tests.simt.engine.agree import ALL, QUICKLY, Case, agree
from tests.simt.engine.agree_policy import agree_under
from tests.simt.engine.recursive import (
    DANGLING,
    DEEP,
    ENDS,
    FORGOTTEN,
    LEFT,
    OUTSIDE,
    RECURSIVE,
    UNWRITTEN,
    Recursive,
    case_of,
    text_case,
)
from tests.simt.engine.recursive_programs import recursive_case
from warpsmith.simt.choose import EngineChoice, execute
from warpsmith.simt.engine import tables
from warpsmith.simt.engine.engine import Checks, Run, run
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import KernelProblem, Outcome
from warpsmith.simt.policies.machine import PolicyName

WIDTHS = (1, 2, 5, 8, 16, 31, 32, 33, 64)
CHECKS = (
    ALL,
    QUICKLY,
    Checks(lost=False, requests=False, uninitialized=False, races=False),
    Checks(uninitialized=False, quick=True),
    Checks(requests=False, races=False, quick=True),
)


def _made(case: Case, checks: Checks = QUICKLY, workers: int = 1) -> tuple[Run, bytes]:
    """Return what the machine does, and the first array."""
    memory, launch = case.placed(checks=True)
    made = run(case.module, case.name, launch, memory, checks, workers=workers)
    return made, bytes(memory.buffers[0].data)


def _interpreted(case: Case) -> Outcome:
    memory, launch = case.placed(checks=True)
    return interpret(case.module, case.name, launch, memory)


def _told(problem: KernelProblem | None) -> tuple[object, ...]:
    """Return what a problem says of the kernel, whoever of its threads has it."""
    assert problem is not None and problem.span is not None
    return problem.message, problem.span.line, problem.kind


@pytest.mark.parametrize("name", RECURSIVE)
def test_a_function_that_calls_itself_does_the_same(name: str) -> None:
    assert agree(case_of(RECURSIVE[name]), QUICKLY) == ""


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", RECURSIVE)
def test_it_does_so_at_every_width_whatever_is_looked_for(name: str, width: int) -> None:
    for checks in (ALL, CHECKS[(width + len(name)) % len(CHECKS)]):
        assert agree(case_of(RECURSIVE[name], width), checks) == ""


@pytest.mark.parametrize("seed", [0, 2])
def test_random_functions_do_the_same(seed: int) -> None:
    agree(recursive_case(seed), QUICKLY)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(3, 203, 20))
def test_many_random_functions_do_the_same(start: int) -> None:
    for seed in range(start, start + 20):
        # what threads that race compute is looked at only where races are looked for
        if not agree(recursive_case(seed), QUICKLY):
            agree(recursive_case(seed), CHECKS[seed % len(CHECKS)])


@pytest.mark.parametrize("policy", ["maximal", "structurized"])
@pytest.mark.parametrize("name", ["loop", "arrays"])
def test_they_do_the_same_under_a_policy_that_keeps_blocks_in_line(name: str, policy: PolicyName) -> None:
    assert agree_under(policy, case_of(RECURSIVE[name], 8)) == ""


def test_policies_that_do_not_are_the_interpreters() -> None:
    assert "cannot be inlined" in agree_under("per-lane", case_of(RECURSIVE["fibonacci"]))


@pytest.mark.parametrize("width", [32, 5])
@pytest.mark.parametrize("text", [ENDS, LEFT], ids=["ends", "left"])
def test_lanes_that_end_in_a_call_do_not_come_back(text: str, width: int) -> None:
    assert agree(text_case(text, width), QUICKLY) == ""


# --- what must not be


def test_calls_may_be_as_deep_as_the_interpreter_has_them() -> None:
    assert agree(case_of(Recursive(DEEP, 199), threads=4, blocks=1), QUICKLY) == ""
    deep = case_of(Recursive(DEEP, 200), threads=4, blocks=1)
    made, found = _made(deep)
    assert made.stop is Stop.DEPTH and not any(found)
    (problem,) = _interpreted(deep).problems
    assert _told(made.problem) == _told(problem)
    assert problem.message == "run is called more than 200 deep"


def test_deep_calls_of_large_functions_have_their_stack() -> None:
    numbers = "".join(f"double x{i} = sqrt(x + {i}) / (n + {i}.5);" for i in range(40))
    sums = " + ".join(f"x{i} * made" for i in range(40))
    text = f"""
__device__ double run(double x, int n) {{
    if (n == 0) return x;
    {numbers}
    double made = run(x + 1.0, n - 1);
    return {sums};
}}
__global__ void k(int *out, const int *in, int n) {{ out[threadIdx.x] = (int)run(1.0 + threadIdx.x, n); }}
"""
    case = case_of(Recursive(text, 199), 64, threads=64, blocks=1, max_steps=10_000_000)
    quick, better = (_made(case, checks) for checks in (QUICKLY, ALL))
    assert not quick[0].why and not better[0].why
    assert quick[1] == better[1]


def test_a_mistake_in_a_call_has_its_line() -> None:
    case = case_of(Recursive(OUTSIDE), threads=1, blocks=1)
    made, _ = _made(case)
    assert _told(made.problem) == _told(_interpreted(case).problems[0])


@pytest.mark.parametrize("n", [1, 2])
def test_an_array_of_a_call_that_is_over_is_not_there(n: int) -> None:
    made, _ = _made(case_of(Recursive(DANGLING, n), blocks=1))
    assert made.stop is Stop.BOUNDS and made.problem is None
    assert agree(case_of(Recursive(DANGLING, n), blocks=1), QUICKLY)


def test_it_is_not_there_either_where_it_was_just_read() -> None:
    assert "out of bounds" in agree(case_of(Recursive(FORGOTTEN, 1), blocks=1), QUICKLY)


def test_an_array_of_a_call_holds_nothing_at_first() -> None:
    case = case_of(Recursive(UNWRITTEN), blocks=1)
    assert "never written" in agree(case, QUICKLY)
    assert agree(case, Checks(uninitialized=False, quick=True)) == ""


def test_arrays_that_there_is_no_memory_for_are_the_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_MOST_LOCAL", 1)
    case = case_of(RECURSIVE["arrays"])
    made, _ = _made(case)
    assert made.stop is Stop.LEVELS and made.problem is None
    memory, launch = case.placed(checks=True)
    done = execute(case.module, "k", launch, memory, EngineChoice(engine="compiled"))
    assert done.outcome.complete and "local arrays" in done.note


def test_who_calls_without_end_runs_out_of_steps() -> None:
    twice = DEEP.replace("+ n", "+ run(n - 1)")
    case = case_of(Recursive(twice, 60), blocks=1, max_steps=200_000)
    made, _ = _made(case)
    assert made.stop is Stop.BUDGET
    assert made.problem is not None and "200,000 steps" in made.problem.message
    assert 200_000 < made.counts.totals.lane_instructions < 500_000


# --- launches


def test_several_threads_of_this_computer_have_calls_of_their_own() -> None:
    case = case_of(RECURSIVE["arrays"], threads=32, blocks=8)
    (one, first), (two, second) = (_made(case, workers=workers) for workers in (1, 3))
    assert not one.why and not two.why and not two.alone
    assert (one.counts.totals, first) == (two.counts.totals, second)


def test_the_same_code_serves_another_launch() -> None:
    one = case_of(RECURSIVE["arrays"], blocks=1)
    other = replace(one, launch=replace(one.launch, block=(20, 1, 1), arguments={"n": struct.pack("<i", 3)}))
    assert [agree(case, QUICKLY) for case in (one, other)] == ["", ""]


def test_a_function_that_is_called_is_compiled_with_its_kernel() -> None:
    # the kernels are alike, and what they call is not
    made = [_made(case_of(Recursive(DEEP.replace("+ n", how), 3), blocks=1))[1] for how in ("+ n", "- n")]
    assert [struct.unpack_from("<i", data)[0] for data in made] == [6, -6]
