"""The origins of a value, and which expressions must be equal."""

from __future__ import annotations

from msgspec.structs import replace

from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.origins import Numbers, ValueOrigin, is_compiled, origin
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.source import SourceFile
from warpsmith.ssa.nodes import Constant, Undefined, Value
from warpsmith.ssa.types import I32, I64


def values(lines: str) -> tuple[KernelFacts, dict[str, Value]]:
    facts = told("\n".join(f"  {line.strip()}" for line in lines.split(";")), ROW)
    return facts, {value.name: value for value in facts.warp_level.definitions}


def made_of(lines: str) -> ValueOrigin:
    facts, named = values(lines)
    return origin(facts, named["e"])


def test_indices_and_parameters() -> None:
    found = made_of("%d:i32 = mul %x %n; %e:i32 = add %d %b")
    assert found == ValueOrigin(frozenset({"n"}), frozenset({"tid.x", "ctaid.x"}))
    assert (found.of_thread, found.of_block, found.plain, found.of_launch) == (True, True, True, False)


def test_what_is_the_same_in_all_threads_of_the_launch() -> None:
    assert made_of("%e:i32 = mul %n %w").of_launch
    assert not made_of("%e:i32 = mul %b %w").of_launch
    assert not made_of("%e:i32 = add %t %n").of_launch
    assert made_of("%e:i32 = add %t %n").symbols == {"tile"}
    assert made_of("%q:i32 = query [lanemask_lt]; %e:i32 = add %q 1:i32").of_thread


def test_loads_end_an_expression() -> None:
    facts, named = values(
        "%o:i64 = smulwide %x 4:i32; %p:i64 = add %a %o; %u:i32 = load [global +0 align 4] %p;"
        "%v:i32 = load [global +4 align 4] %p; %w2:i32 = load [global +8 align 4] %p; %f:i32 = add %u %v;"
        "%e:i32 = add %f %w2"
    )
    found = origin(facts, named["e"])
    assert len(found.loads) == 2 and not found.registers and not found.plain


def test_what_is_no_pure_op_is_unknown() -> None:
    assert made_of("%c:i1 = slt %x 3:i32; %v:i32 = vote [ballot] %c 0xffffffff:i32; %e:i32 = add %v 1:i32").unknown
    assert not made_of("%e:i32 = add %x 1:i32").unknown


def test_a_loop_and_what_it_starts_with() -> None:
    loop = "jump head\nhead:\n  %j:i32 = phi start %x head %k\n  %k:i32 = add %j %n\n  %e:i32 = add %k 1:i32\n"
    found = made_of(f"{loop}  %c:i1 = slt %e 4:i32\n  branch %c head done\ndone:")
    assert found == ValueOrigin(frozenset({"n"}), frozenset({"tid.x"}), loop=True)


def test_a_join_is_made_of_both_ways_and_no_loop() -> None:
    body = "%c:i1 = slt %b 4:i32\n  branch %c yes no\nyes:\n  jump no\nno:\n  %e:i32 = phi start %x yes %n"
    assert made_of(body) == ValueOrigin(frozenset({"n"}), frozenset({"tid.x"}))


def test_several_operands_and_constants() -> None:
    facts, named = values("")
    assert origin(facts, named["x"], named["n"]) == ValueOrigin(frozenset({"n"}), frozenset({"tid.x"}))
    assert origin(facts, Constant(I32, 3)) == ValueOrigin() == origin(facts)


def test_a_kernel_with_a_listing_was_compiled() -> None:
    facts, _ = values("")
    assert not is_compiled(facts)
    assert is_compiled(replace(facts, function=replace(facts.function, listing=SourceFile("k.ptx", ""))))


def test_equal_expressions_have_one_number() -> None:
    facts, named = values(
        "%c:i32 = add %x 4:i32; %d:i32 = add %x 4:i32; %e:i32 = add %x 5:i32; %f:i64 = sext %c; %g:i64 = sext %d;"
        "%h:i32 = add %n 4:i32; %u:i32 = load [global +0 align 4] %a; %v:i32 = load [global +0 align 4] %a"
    )
    numbers = Numbers(facts)
    of = {name: numbers.of(value) for name, value in named.items()}
    assert of["c"] == of["d"] and of["f"] == of["g"]
    assert len({of[name] for name in ("c", "e", "f", "h", "u", "v", "x")}) == 7
    assert numbers.of(Constant(I32, 3)) == numbers.of(Constant(I32, 3)) != numbers.of(Constant(I64, 3))
    assert numbers.of(Undefined(I32)) != numbers.of(Undefined(I32))
