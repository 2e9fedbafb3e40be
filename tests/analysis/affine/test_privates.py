"""An array of the thread's own is a value: each store makes a new one, phis stand where different ones meet."""

from __future__ import annotations

import pytest

from warpsmith.analysis.affine.privates import Privates, privates
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Constant, Value
from warpsmith.ssa.reader import parse_module

KERNEL = """
kernel @k(n 4 align 4 i32, p 8 align 8 i64)
  local @t i32 x 8 align 4
  local @u i32 x 8 align 4
start:
  %n:i32 = param [n+0]
  %p:i64 = param [p+0]
  %a:i64 = address [@t]
  %b:i64 = address [@u]
BODY
end
"""
STORE, LOAD = "  store [local +0 align 4] %a %n", "  %v:i32 = load [local +0 align 4] %a"


def found(body: str) -> Privates:
    if "return" not in body:
        body += "\n  return"
    (function,) = parse_module(KERNEL.replace("BODY", body)).functions
    return privates(function, Graph.of(function))


def test_a_load_looks_into_what_the_last_store_made() -> None:
    made = found(f"{STORE}\n{STORE}\n{LOAD}")
    one, two = made.stores.values()
    (seen,) = made.loads.values()
    assert two.operands[-1] is one.result
    assert seen is two.result
    assert isinstance(one.operands[-1], Constant) and not made.phis


def test_an_array_that_nobody_has_written_holds_nothing() -> None:
    (seen,) = found(LOAD).loads.values()
    assert isinstance(seen, Constant)


def test_arrays_are_apart() -> None:
    made = found(f"{STORE}\n  store [local +0 align 4] %b %n\n{LOAD}")
    first, second = made.stores.values()
    (seen,) = made.loads.values()
    assert seen is first.result
    assert second.operands[-1] is not first.result


def test_where_a_way_with_a_store_meets_one_without_there_is_a_phi() -> None:
    made = found(f"""
  %c:i1 = slt %n 3:i32
  branch %c yes join
yes:
{STORE}
  jump join
join:
{LOAD}
  return""")
    ((phi,),) = made.phis.values()
    assert list(made.phis) == ["join"]
    (store,) = made.stores.values()
    assert dict(phi.incoming)["yes"] is store.result
    assert isinstance(dict(phi.incoming)["start"], Constant)
    assert list(made.loads.values()) == [phi.result]


def test_a_store_in_a_loop_is_met_at_its_head() -> None:
    made = found(f"""
  jump head
head:
{LOAD}
{STORE}
  %c:i1 = slt %v 3:i32
  branch %c head done
done:
  %w:i32 = load [local +0 align 4] %a
  return""")
    ((phi,),) = made.phis.values()
    (store,) = made.stores.values()
    assert list(made.phis) == ["head"]
    assert {type(operand) for _, operand in phi.incoming} == {Constant, Value}
    assert list(made.loads.values()) == [phi.result, store.result]


def test_a_way_without_stores_needs_no_phi() -> None:
    made = found(f"""
  %c:i1 = slt %n 3:i32
  branch %c yes join
yes:
{LOAD}
  jump join
join:
  return""")
    assert not made.phis and len(made.loads) == 1


def test_an_address_may_be_moved_and_seen_as_a_generic_one() -> None:
    body = f"""
  %i:i64 = sext %n
  %q:i64 = add %i %a
  %r:i64 = sub %q 4:i64
  %s:i64 = to_generic ['local'] %r
{STORE}
  %v:i32 = load [generic +0 align 4] %s"""
    assert len(found(body).loads) == 1


@pytest.mark.parametrize(
    "leak",
    [
        "store [global +0 align 8] %p %a",
        "%q:i64 = sub %p %a",
        "%q:i64 = mul %a 2:i64",
        "%q:i64 = add %b %a",
        "%c:i1 = eq %a %p",
        "%w:i32 = load [local +0 align 4 volatile] %a",
        "%w:i32 = atomic_add [local +0 align 4] %a %n",
        "%q:i64 = to_generic ['shared'] %a",
    ],
)
def test_an_array_whose_address_goes_elsewhere_is_no_value(leak: str) -> None:
    made = found(f"{STORE}\n  {leak}\n{LOAD}")
    assert not made.stores and not made.loads and made.exposed
    assert not found(f"{STORE}\n{LOAD}").exposed


def test_an_address_that_goes_around_a_loop_is_lost() -> None:
    made = found(f"""
{STORE}
  jump head
head:
  %q:i64 = phi start %a head %r
  %r:i64 = add %a 4:i64
  %v:i32 = load [local +0 align 4] %r
  %c:i1 = slt %v 3:i32
  branch %c head done
done:
  return""")
    assert not made.loads


def test_a_kernel_without_arrays_of_its_own_has_none() -> None:
    module = parse_module("shared @s i32 x 8 align 4\nkernel @k()\nstart:\n  %a:i64 = address [@s]\n"
                          "  %v:i32 = load [shared +0 align 4] %a\n  return\nend\n")  # fmt: skip
    (function,) = module.functions
    assert privates(function, Graph.of(function)) == Privates()
