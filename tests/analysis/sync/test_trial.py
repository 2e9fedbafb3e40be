"""Loops whose variable has few values, and what is known of threads and sums where it has one of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.analysis.test_kernel import HEAD
from warpsmith.analysis.memory.presence import Presences
from warpsmith.analysis.memory.solved import solved_forms
from warpsmith.analysis.sync import trial as tried
from warpsmith.analysis.sync.trial import Orbit, Trial, orbits
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.uniformity import uniformity
from warpsmith.ssa.nodes import Constant, Undefined
from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.types import I1, I32

BLOCK = (16, 1, 1)


def presences(body: str) -> Presences:
    module = parse_module(f"{HEAD}{body}\n  return\nend\n")
    answer = uniformity(module.functions[0], Threads("block", BLOCK))
    forms = solved_forms(module, answer, LaunchShape(BLOCK))
    forms.solve(answer.definitions)
    return Presences(forms)


def loop(start: str, step: str, test: str, body: str = "", more: str = "") -> str:
    return f"""
  jump head
head:
  %s:i32 = phi start {start} {"tail" if body else "head"} %r
{body}
  %r:i32 = {step}
  %c:i1 = {test}
  branch %c head done
done:
{more}"""


def orbit(start: str, step: str, test: str) -> Orbit | None:
    return orbits(presences(loop(start, step, test)).forms).get("head")


def values(found: Orbit | None) -> list[int]:
    assert found is not None
    return [row[0] for row in found.steps]


def test_a_variable_that_is_halved_has_few_values() -> None:
    found = orbit("8:i32", "lshr %s 1:i32", "ne %r 0:i32")
    assert values(found) == [8, 4, 2, 1]
    assert found is not None and found.closed and found.sure
    # the last of the atoms is the number of the iteration
    assert [row[-1] for row in found.steps] == [0, 1, 2, 3]
    assert [len(row) for row in found.steps] == [len(found.atoms)] * 4


def test_a_counter_is_known_by_its_iterations() -> None:
    found = orbit("0:i32", "add %s 3:i32", "slt %r 10:i32")
    assert found is not None and found.closed
    assert [row[-1] for row in found.steps] == [0, 1, 2, 3]


def test_an_end_that_is_not_known_leaves_all_states() -> None:
    found = orbit("8:i32", "lshr %s 1:i32", "slt %r %n")
    assert found is not None
    assert (sorted(values(found)), found.closed, found.sure) == ([0, 1, 2, 4, 8], False, False)


@pytest.mark.parametrize(
    ("start", "step", "test"),
    [
        ("%n", "lshr %s 1:i32", "ne %r 0:i32"),
        ("%x", "lshr %s 1:i32", "ne %r 0:i32"),
        ("1:i32", "add %s %n", "slt %r 10:i32"),
        ("1:i32", "mul %s 3:i32", "slt %r %n"),
        ("0:i32", "add %s 1:i32", "slt %r 74:i32"),
    ],
)
def test_a_loop_of_many_or_unknown_values_has_no_orbit(start: str, step: str, test: str) -> None:
    assert orbit(start, step, test) is None


def test_so_many_iterations_are_few() -> None:
    found = orbit("0:i32", "add %s 1:i32", "slt %r 73:i32")
    assert found is not None and len(found.steps) == 73


def test_a_loop_that_is_left_elsewhere_as_well_may_have_fewer_iterations() -> None:
    body = "  %l:i1 = slt %n 3:i32\n  branch %l done tail\ntail:"
    found = orbits(presences(loop("8:i32", "lshr %s 1:i32", "ne %r 0:i32", body)).forms)["head"]
    assert (values(found), found.closed, found.sure) == ([8, 4, 2, 1], True, False)


def test_a_loop_that_is_tested_at_its_head_ends_with_the_state_that_fails() -> None:
    body = """
  jump head
head:
  %s:i32 = phi start 8:i32 tail %r
  %c:i1 = ne %s 0:i32
  branch %c tail done
tail:
  %r:i32 = lshr %s 1:i32
  jump head
done:"""
    found = orbits(presences(body).forms)["head"]
    assert (values(found), found.closed, found.sure, found.entered) == ([8, 4, 2, 1, 0], True, True, True)
    never = orbits(presences(body.replace("ne %s 0", "slt %s 0")).forms)["head"]
    assert (values(never), never.entered) == ([8], False)


def test_variables_of_a_loop_within_another_one_start_from_those_of_that() -> None:
    body = """
  jump head
head:
  %k:i32 = phi start 8:i32 tail %k2
  jump inner
inner:
  %s:i32 = phi head %k inner %r
  %r:i32 = lshr %s 1:i32
  %c:i1 = slt %r %n
  branch %c inner tail
tail:
  %k2:i32 = lshr %k 1:i32
  %d:i1 = ne %k2 1:i32
  branch %d head done
done:"""
    found = orbits(presences(body).forms)["inner"]
    assert (sorted(values(found)), found.closed) == ([0, 1, 2, 4, 8], False)


def test_what_comes_behind_the_last_state_is_known() -> None:
    found = orbit("0:i32", "xor %s 1:i32", "slt %r %n")
    assert found is not None and (values(found), found.back) == ([0, 1], 0)


def test_a_loop_with_two_ways_back_has_no_orbit() -> None:
    body = """
  jump head
head:
  %s:i32 = phi start 8:i32 one %r two %r
  %r:i32 = lshr %s 1:i32
  %c:i1 = slt %n 3:i32
  branch %c one two
one:
  jump head
two:
  %d:i1 = ne %r 0:i32
  branch %d head done
done:"""
    assert orbits(presences(body).forms) == {}


def trial(body: str, number: int) -> Trial:
    found = presences(body)
    one = orbits(found.forms)["head"]
    (row,) = (row for row in one.steps if row[0] == number)
    return Trial(found.forms, found, dict(zip(one.atoms, row, strict=True)))


REDUCTION = loop(
    "8:i32", "lshr %s 1:i32", "ne %r 0:i32",
    "  %e:i32 = add %x %s\n  %f:i32 = sdiv %e 3:i32\n  %l:i1 = slt %x %s\n  branch %l work tail\nwork:\n"
    "  store [shared +0 align 4] %t %e\n  jump tail\ntail:",
    "  %g:i32 = add %s 1:i32",
)  # fmt: skip


def test_with_a_value_sums_are_numbers_for_each_thread() -> None:
    of = trial(REDUCTION, 4)
    named = {value.name: value for value in of.forms.found}
    assert of.numbers(named["e"], "head") == tuple(x + 4 for x in range(16))
    # what has no form of its own is computed
    assert of.numbers(named["f"], "head") == tuple((x + 4) // 3 for x in range(16))
    assert of.numbers(named["n"], "head") is None
    assert of.numbers(Constant(I32, 7), "head") == (7,) * 16
    assert of.numbers(Undefined(I1), "head") is None
    assert of.numbers(named["e"], "head", depth=9) is None


def test_with_a_value_a_guard_says_who_is_there() -> None:
    assert trial(REDUCTION, 4).threads("work") == (frozenset(range(4)), True)
    assert trial(REDUCTION, 1).threads("work") == (frozenset({0}), True)
    assert trial(REDUCTION, 4).threads("head") == (frozenset(range(16)), True)
    unknown = REDUCTION.replace("slt %x %s", "slt %x %n")
    assert trial(unknown, 4).threads("work") == (frozenset(range(16)), False)


def test_sums_with_numbers_put_in() -> None:
    of = trial(REDUCTION, 2)
    (atom,) = (atom for atom, number in of.assignment.items() if number == 2 and atom.name == "s")
    x = of.forms.lanes.axis(0, 32)
    product = x.times(type(x)(32, {(atom,): 3, (): 1}))
    assert product is not None
    assert of.substitute(product).same(x.scale(7))
    assert Trial(of.forms, of.presences, {}).substitute(product) is product


BUGS = [
    (tried, "_MOST_STEPS", 71, test_so_many_iterations_are_few),
    (tried, "_leaves_at", lambda *_: {"tail"}, test_a_loop_that_is_left_elsewhere_as_well_may_have_fewer_iterations),
    (tried, "_goes", lambda *given: None, test_a_variable_that_is_halved_has_few_values),
    (tried, "_goes", lambda *given: True, test_a_counter_is_known_by_its_iterations),
    (tried, "_nested", lambda *given: None, test_variables_of_a_loop_within_another_one_start_from_those_of_that),
    (tried, "lane", lambda made, given: given, test_what_comes_behind_the_last_state_is_known),
    (Trial, "_guards", lambda self, block, diverging: [], test_with_a_value_a_guard_says_who_is_there),
    (Trial, "_number", lambda self, atom: None, test_sums_with_numbers_put_in),
    (tried, "_DEEPEST", 9, test_with_a_value_sums_are_numbers_for_each_thread),
]  # fmt: skip


@pytest.mark.parametrize(("where", "name", "wrong", "test"), BUGS)
def test_a_bug_is_seen(
    where: object, name: str, wrong: object, test: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, wrong)
    with pytest.raises((AssertionError, KeyError)):
        test()
