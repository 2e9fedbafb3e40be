"""Random programs over a few variables, run as written and run as SSA: the values that come out are the same."""

from __future__ import annotations

import random

from msgspec import Struct, field

from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import (
    BasicBlock,
    Branch,
    Constant,
    Function,
    Jump,
    Operand,
    Phi,
    Return,
    Undefined,
    Value,
    successors,
)
from warpsmith.ssa.reader import parse_module
from warpsmith.ssa.text import print_function
from warpsmith.ssa.types import I1, I32
from warpsmith.ssa.verify import faults

NAMES = ("a", "b", "c")


class Source(Struct):
    """Blocks of `x = y + z` with jumps between them; conditions are `x < 8` for the variable x."""

    code: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)
    ends: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _source(seed: int) -> Source:
    chosen = random.Random(seed)
    names = [f"b{n}" for n in range(chosen.randint(2, 8))]
    source = Source()
    for name in names:
        source.code[name] = [
            (chosen.choice(NAMES), chosen.choice(NAMES), chosen.choice((*NAMES, "1", "3")))
            for _ in range(chosen.randint(0, 3))
        ]
        kind = chosen.choice(("end", "jump", "branch", "branch"))
        later = names[1:]
        if kind == "jump":
            source.ends[name] = (chosen.choice(later),)
        elif kind == "branch":
            source.ends[name] = (chosen.choice(NAMES), chosen.choice(later), chosen.choice(later))
        else:
            source.ends[name] = ()
    return source


def _run_source(source: Source, steps: int) -> list[int] | None:
    """Return the variables at the end; None where it does not end within `steps` blocks."""
    held = dict.fromkeys(NAMES, 2)
    name = "b0"
    for _ in range(steps):
        for target, left, right in source.code[name]:
            held[target] = (held[left] + (held[right] if right in held else int(right))) % 2**32
        match source.ends[name]:
            case ():
                return [held[n] for n in NAMES]
            case (name,):
                pass
            case (variable, then, other):
                name = then if held[variable] < 8 else other
    return None


def _built(source: Source, seed: int) -> Function:
    b = Builder("b0")
    for name in NAMES:
        b.write(name, constant(I32, 2))
    order = [name for name in source.code if name != "b0"]
    random.Random(seed).shuffle(order)
    _write(b, source, "b0")
    for name in order:
        b.start(name)
        _write(b, source, name)
    sealing = list(source.code)
    random.Random(seed + 1).shuffle(sealing)
    for name in sealing:
        b.seal(name)
    return Function("f", True, (), (I32, I32, I32), b.finish())


def _write(b: Builder, source: Source, name: str) -> None:
    for target, left, right in source.code[name]:
        other = b.read(right, I32) if right in NAMES else constant(I32, int(right))
        b.write(target, b.emit("add", (b.read(left, I32), other), I32, name=target))
    match source.ends[name]:
        case ():
            b.end(Return(tuple(b.read(n, I32) for n in NAMES)))
        case (target,):
            b.end(Jump(target))
        case (variable, then, other_block):
            b.end(Branch(b.emit("ult", (b.read(variable, I32), constant(I32, 8)), I1), then, other_block))


def _run(function: Function, steps: int) -> list[int] | None:
    blocks = {block.name: block for block in function.blocks}
    held: dict[Value, int] = {}
    before, block = "", function.blocks[0]
    for _ in range(steps):
        held |= _phis(block, before, held)
        for i in block.instructions:
            x, y = (_number(o, held) for o in i.operands)
            held[i.result] = (x + y) % 2**32 if i.op == "add" else int(x < y)
        match block.terminator:
            case Return(operands=operands):
                return [_number(o, held) for o in operands]
            case Branch(condition=condition, then=then, other=other):
                before, block = block.name, blocks[then if _number(condition, held) else other]
            case terminator:
                (after,) = successors(terminator)
                before, block = block.name, blocks[after]
    return None


def _phis(block: BasicBlock, before: str, held: dict[Value, int]) -> dict[Value, int]:
    return {phi.result: _number(dict(phi.incoming)[before], held) for phi in block.phis}


def _number(operand: Operand, held: dict[Value, int]) -> int:
    match operand:
        case Value():
            return held[operand]
        case Constant():
            return operand.bits
        case Undefined():
            raise AssertionError("every variable is written first")


def test_ssa_computes_what_the_variables_held() -> None:
    ended = 0
    for seed in range(600):
        source = _source(seed)
        function = _built(source, seed)
        assert not faults(function)
        expected = _run_source(source, 60)
        assert _run(function, 60) == expected
        ended += expected is not None
    assert ended > 200


def test_the_text_of_a_function_is_that_function() -> None:
    for seed in range(100):
        function = _built(_source(seed), seed)
        text = print_function(function)
        (again,) = parse_module(text).functions
        assert print_function(again) == text
        assert not faults(again)
        assert _run(again, 60) == _run(function, 60)


def test_a_variable_that_no_block_changes_needs_no_phi() -> None:
    b = Builder()
    b.write("x", constant(I32, 5))
    b.end(Jump("head"))
    b.start("head")
    read = b.read("x", I32)
    b.end(Branch(b.emit("eq", (read, constant(I32, 0)), I1), "head", "done"))
    b.seal("head")
    b.start("done")
    b.end(Return((b.read("x", I32),)))
    blocks = b.finish()
    assert not any(block.phis for block in blocks)
    assert isinstance(blocks[-1].terminator, Return)
    assert blocks[-1].terminator.operands == (constant(I32, 5),)


def test_thousands_of_joins_are_no_trouble() -> None:
    b = Builder()
    b.write("x", constant(I32, 1))
    count = 5_000
    for n in range(count):
        b.end(Branch(b.emit("eq", (b.read("y", I32), constant(I32, n)), I1), f"then{n}", f"join{n}"))
        b.seal(f"then{n}")
        b.start(f"then{n}")
        b.end(Jump(f"join{n}"))
        b.seal(f"join{n}")
        b.start(f"join{n}")
    b.end(Return((b.read("x", I32),)))
    blocks = b.finish()
    assert len(blocks) == 2 * count + 1
    assert not any(block.phis for block in blocks)


def test_a_variable_read_before_it_is_written_is_undefined() -> None:
    b = Builder()
    b.end(Return((b.read("x", I32),)))
    (block,) = b.finish()
    assert isinstance(block.terminator, Return)
    assert block.terminator.operands == (Undefined(I32),)


def test_a_phi_names_each_predecessor_once() -> None:
    b = Builder()
    b.write("x", constant(I32, 1))
    b.end(Branch(constant(I1, 1), "join", "join"))
    b.start("join")
    b.seal("join")
    b.end(Return((b.read("x", I32),)))
    assert all(isinstance(phi, Phi) and len(phi.incoming) == 1 for block in b.finish() for phi in block.phis)
