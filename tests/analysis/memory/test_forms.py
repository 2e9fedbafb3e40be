"""Values of loops and joins as sums over unknowns: inductions, what threads share, what they do not."""

from __future__ import annotations

import pytest

from tests.analysis.memory.test_transfer import forms
from warpsmith.analysis.affine.symbols import Form, text_of
from warpsmith.analysis.memory.forms import Forms
from warpsmith.ssa.nodes import Constant, Undefined
from warpsmith.ssa.types import F32, I32


def named(of: Forms, name: str) -> Form:
    return next(form for value, form in of.found.items() if value.name == name)


def loop(start: str, step: str, limit: str = "%n", body: str = "") -> Forms:
    """Return the forms of a loop over %i from `start`, whose last line computes %j."""
    return forms(f"""
  jump head
head:
  %i:i32 = phi start {start} head %j
{body}
  %j:i32 = {step}
  %c:i1 = slt %j {limit}
  branch %c head done
done:
  %after:i32 = add %i 0:i32""")


@pytest.mark.parametrize(
    ("start", "step", "expected"),
    [
        ("0:i32", "add %i 1:i32", "i1"),
        ("%x", "add %i 4:i32", "4·i1 + tid.x"),
        ("5:i32", "sub %i %n", "-n·i1 + 5"),
        ("%x", "add %i 0:i32", "tid.x"),
        ("%n", "add %i %x", "n + tid.x·i1"),
    ],
)
def test_a_counter_is_its_start_and_so_many_steps(start: str, step: str, expected: str) -> None:
    assert text_of(named(loop(start, step), "i")) == expected


def test_a_counter_that_doubles_is_shared_and_one_that_starts_apart_is_not_known() -> None:
    shared = named(loop("1:i32", "shl %i 1:i32"), "i")
    (atom,) = shared.atoms()
    assert (atom.kind, atom.cycles) == ("shared", frozenset({"head"}))
    apart = named(loop("%x", "shl %i 1:i32"), "i")
    assert [atom.kind for atom in apart.atoms()] == ["own"]


def test_what_is_added_may_change_if_all_threads_add_the_same() -> None:
    of = loop("%x", "add %i %k", body="  %k:i32 = load [global +0 align 4] %a")
    found = named(of, "i")
    assert found.varying().same(of.lanes.axis(0, 32))
    assert {atom.kind for atom in found.atoms()} == {"index", "shared"}


def test_behind_a_loop_that_threads_leave_apart_nothing_of_it_is_shared() -> None:
    together, apart = loop("0:i32", "add %i 1:i32"), loop("0:i32", "add %i 1:i32", "%x")
    assert [atom.kind for atom in named(together, "after").atoms()] == ["shared"]
    assert {atom.kind for atom in named(apart, "after").atoms()} == {"own"}
    # inside of it, it is
    assert [atom.kind for atom in named(apart, "j").atoms()] == ["shared"]


def test_an_inner_loop_starts_anew_from_the_counter_of_the_outer_one() -> None:
    of = forms("""
  jump outer
outer:
  %i:i32 = phi start 0:i32 next %k
  jump inner
inner:
  %j:i32 = phi outer %i inner %l
  %l:i32 = add %j 2:i32
  %c:i1 = slt %l %n
  branch %c inner next
next:
  %k:i32 = add %i 16:i32
  %d:i1 = slt %k %n
  branch %d outer done
done:""")
    assert text_of(named(of, "i")) == "16·i1"
    found = named(of, "j")
    assert sorted((sum(1 for _ in m), c) for m, c in found.terms.items()) == [(1, 2), (1, 16)]
    assert sorted(sorted(a.cycles) for a in found.atoms()) == [["inner", "outer"], ["outer"]]


def test_a_counter_that_the_inner_loop_moves_is_no_induction_of_the_outer_one() -> None:
    of = forms("""
  jump outer
outer:
  %i:i32 = phi start 0:i32 next %j
  jump inner
inner:
  %j:i32 = phi outer %i inner %l
  %l:i32 = add %j 1:i32
  %c:i1 = slt %l %n
  branch %c inner next
next:
  %d:i1 = slt %j %n
  branch %d outer done
done:""")
    assert {atom.kind for atom in named(of, "i").atoms()} == {"shared"}
    assert not any(a.name == "i1" for a in named(of, "i").atoms())


def join(condition: str, one: str, other: str) -> Form:
    return named(forms(f"""
  %p:i32 = {one}
  %q:i32 = {other}
  %c:i1 = {condition}
  branch %c yes no
yes:
  jump end
no:
  jump end
end:
  %v:i32 = phi yes %p no %q
  %e:i32 = add %v 0:i32"""), "v")  # fmt: skip


SHARED, APART = "slt %n 3:i32", "slt %x %n"


def test_where_two_ways_meet() -> None:
    assert text_of(join(APART, "add %x 1:i32", "add %x 1:i32")) == "tid.x + 1"
    found = join(SHARED, "add %x 4:i32", "add %x 20:i32")
    assert text_of(found.varying()) == "tid.x"
    (atom,) = found.common().atoms()
    assert (atom.kind, atom.range, atom.residue) == ("shared", (4, 20), (4, 4))
    other = join(SHARED, "mul %x 2:i32", "add %x 20:i32")
    assert [(a.kind, a.range) for a in other.atoms()] == [("own", (0, 27))]


def test_where_threads_meet_that_came_different_ways_nothing_is_shared() -> None:
    found = join(APART, "add %x 4:i32", "add %x 20:i32")
    assert [(a.kind, a.range, a.residue) for a in found.atoms()] == [("own", (4, 27), (0, 0))]


def test_a_residue_of_all_ways() -> None:
    found = join(SHARED, "add %x 6:i32", "add %x 10:i32")
    (atom,) = found.common().atoms()
    assert atom.residue == (2, 2)


def test_operands_that_are_no_whole_numbers_have_no_form() -> None:
    of = forms("")
    assert of.of(Constant(F32, 0)) is None and of.of(Undefined(I32)) is None
    minus = of.of(Constant(I32, 2**32 - 1))
    assert minus is not None and minus.constant == -1


def test_a_loop_with_two_entries_is_not_known() -> None:
    of = forms("""
  %c:i1 = slt %n 3:i32
  branch %c l r
l:
  %i:i32 = phi start 0:i32 r %k
  %j:i32 = add %i 1:i32
  jump r
r:
  %k:i32 = phi start 1:i32 l %j
  %d:i1 = slt %k %n
  branch %d l done
done:""")
    assert len(list(named(of, "i").atoms())) == 1 and not named(of, "i").numeric


def test_what_comes_out_of_memory_on_one_way_comes_out_of_memory() -> None:
    loaded = "load [global +0 align 4] %a"
    assert [a.memory for a in join(SHARED, loaded, "add %n 1:i32").atoms()] == [True]
    assert [a.memory for a in join(SHARED, "add %n 4:i32", "add %n 1:i32").atoms()] == [False]
