"""Constant folding, and loads that are merged."""

from __future__ import annotations

import pytest

from tests.ssa.passes.test_tidy import one
from warpsmith.base.source import SourceFile, Span
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Branch, Function, Operand, Param, Parameter, Query, Return
from warpsmith.ssa.nodes import Memory as MemoryDetail
from warpsmith.ssa.passes.fold import fold_instruction
from warpsmith.ssa.passes.prune import prune_unused
from warpsmith.ssa.passes.rebuild import rebuild_function
from warpsmith.ssa.passes.tidy import tidy
from warpsmith.ssa.text import print_function
from warpsmith.ssa.types import I1, I32, I64


def test_what_is_known_is_folded_and_what_is_loaded_twice_is_loaded_once() -> None:
    text = """
kernel @k(p 8 align 8 i64)
entry:
  %p:i64 = param [p+0]
  %a:i32 = mul 6:i32 7:i32
  %b:i1 = slt %a 50:i32
  %z:i8 = zext %b
  %c:i1 = ne %z 0:i8
  branch if %c yes no
yes:
  %q:i64 = add %p 8:i64
  %r:i64 = add %q 4:i64
  %v:i32 = load [global +4 align 4] %r
  %w:i32 = load [global +16 align 4] %p
  %x:i32 = add %v %w
  store [global +0 align 4] %p %x
  %y:i32 = load [global +16 align 4] %p
  store [global +4 align 4] %p %y
  return
no:
  trap
end
"""
    made = prune_unused(rebuild_function(one(text), fold_instruction))
    assert [block.name for block in made.blocks] == ["entry", "yes"]
    loads = [i for _, i in made.instructions() if i.op == "load"]
    assert len(loads) == 2
    assert all(isinstance(i.detail, MemoryDetail) and i.detail.offset == 16 for i in loads)


def test_a_query_keeps_the_words_that_it_was_written_with() -> None:
    source = SourceFile("k.cl", "get_global_id(0) get_local_id(0)")
    global_id, local_id = Span(source, 0, 16), Span(source, 17, 32)
    b = Builder("start")
    sums: list[Operand] = []
    for span in (global_id, local_id, global_id):
        b.span = span
        b.write(str(len(sums)), b.emit("query", (), I32, Query("tid.x")))
        sums.append(b.emit("add", (b.read(str(len(sums)), I32), b.emit("param", (), I32, Param("n"))), I32))
    test = b.emit("slt", (b.read("1", I32), constant(I32, 3)), I1)
    none = b.emit("sub", (b.read("0", I32), b.read("1", I32)), I32)
    b.emit_many("store", (b.emit("zext", (sums[0],), I64), sums[1], sums[2], none), (), MemoryDetail("global", 0, 4))
    b.end(Branch(test, "yes", "no"))
    for name in ("yes", "no"):
        b.start(name)
        b.end(Return())
    made = tidy(Function("k", True, (Parameter("n", 4, 4, I32),), (), b.finish()))
    queries = [i for _, i in made.instructions() if i.op == "query"]
    assert [i.span for i in queries] == [global_id, local_id]
    (asked,) = (i for _, i in made.instructions() if i.op == "slt")
    assert asked.operands[0] == queries[1].result
    # what is computed from them is one all the same, and their difference is known
    (store,) = (i for _, i in made.instructions() if i.op == "store")
    assert store.operands[1] == store.operands[2]
    assert store.operands[3] == constant(I32, 0)


RULES = {
    "add %n 0:i32": "%n", "add 0:i32 %n": "%n", "add 2:i32 %n": "add %n 2:i32", "sub %n 0:i32": "%n",
    "sub %n %n": "0:i32", "sub 0:i32 %n": "sub 0:i32 %n", "mul %n 1:i32": "%n", "mul 0:i32 %n": "0:i32",
    "mul %n 2:i32": "mul %n 2:i32", "and %n %n": "%n", "and %n 4294967295:i32": "%n", "and %n 0:i32": "0:i32",
    "or %n 0:i32": "%n", "or 4294967295:i32 %n": "4294967295:i32", "xor %n 0:i32": "%n", "xor 0:i32 %n": "xor 0:i32 %n",
    "shl %n 0:i32": "%n", "shl 0:i32 %n": "shl 0:i32 %n", "add 3:i32 4:i32": "7:i32", "sdiv %n 1:i32": "sdiv %n 1:i32",
    "select 1:i1 %n 5:i32": "%n", "select 0:i1 %n 5:i32": "5:i32", "select %p %n %n": "%n",
    "select %p %n 5:i32": "select %p %n 5:i32", "trunc %wide": "%n", "bitcast %bits": "%n",
}  # fmt: skip


@pytest.mark.parametrize("text", RULES)
def test_rules(text: str) -> None:
    function = one(f"""
function @f(n 4 align 4 i32, p 1 align 1 i1) -> i32
entry:
  %n:i32 = param [n+0]
  %p:i1 = param [p+0]
  %wide:i64 = sext %n
  %bits:f32 = bitcast %n
  %r:i32 = {text}
  return %r
end
""")
    made = prune_unused(rebuild_function(function, fold_instruction))
    lines = [line.strip() for line in print_function(made).splitlines()]
    (end,) = (line.removeprefix("return ") for line in lines if line.startswith("return"))
    found = next((line.partition(" = ")[2] for line in lines if line.startswith(f"{end}:")), end)
    assert (end if end == "%n" else found) == RULES[text]


def test_offsets_and_sums_of_constants() -> None:
    function = one("""
function @f(p 8 align 8 i64, n 4 align 4 i32) -> i32 i1 i1
entry:
  %p:i64 = param [p+0]
  %n:i32 = param [n+0]
  %a:i32 = add [nsw] %n 2147483647:i32
  %b:i32 = add [nsw] %a 1:i32
  %back:i64 = add %p 18446744073709551608:i64
  %x:i32 = load [global +4 align 4] %back
  %c:i1 = slt %n 3:i32
  %z:i32 = zext %c
  %same:i1 = ne %z 0:i32
  %not:i1 = eq %z 0:i32
  %twice:i1 = not %not
  store [global +0 align 4] %p %b
  return %x %same %twice
end
""")
    text = print_function(prune_unused(rebuild_function(function, fold_instruction)))
    assert "add %n 2147483648:i32" in text and "nsw" not in text  # the sum of the constants wraps
    assert "load [global -4 align 4] %p" in text and "return %x %c %c" in text


def test_a_load_is_repeated_behind_what_may_write() -> None:
    for between, loads in {"fence [device]": 2, "%y:i32 = add %n %n": 1, "%y:i32 = call [@g] %n": 2}.items():
        function = one(f"""
function @f(p 8 align 8 i64, n 4 align 4 i32) -> i32 i32
entry:
  %p:i64 = param [p+0]
  %n:i32 = param [n+0]
  %a:i32 = load [global +0 align 4] %p
  {between}
  %b:i32 = load [global +0 align 4] %p
  %v:i32 = load [global +0 align 4 volatile] %p
  %w:i32 = load [global +0 align 4 volatile] %p
  return %a %b
end
""")
        made = rebuild_function(function, fold_instruction)
        assert [i.op for _, i in made.instructions()].count("load") == loads + 2, between


def test_a_clock_says_another_number_each_time() -> None:
    text = """
kernel @k(p 8 align 8 i64)
entry:
  %p:i64 = param [p+0]
  %a:i64 = query [REGISTER]
  barrier [waits] 0:i32
  %b:i64 = query [REGISTER]
  %c:i64 = sub %b %a
  store [global +0 align 8] %p %c
  return
end
"""
    for register, count in (("clock64", 2), ("globaltimer", 2), ("gridid", 0)):
        made = tidy(one(text.replace("REGISTER", register)))
        assert sum(i.op == "query" for _, i in made.instructions()) == count, register
