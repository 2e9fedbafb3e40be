"""Random kernels for the analyses: any control flow at all, over a few variables, a little shared memory, and votes."""

from __future__ import annotations

import random
from collections.abc import Sequence

from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Branch, Exchange, Function, Jump, Module, Operand, Param, Query, Return
from warpsmith.ssa.types import I1, I32

__all__ = ["random_module"]

VARIABLES = ("a", "b", "c", "d")
ALL = 0xFFFFFFFF


def random_module(seed: int, *, structured: bool) -> Module:
    """Return a module with a kernel `k(n)`; not `structured`: edges lead anywhere, loops may have many entries."""
    chosen = random.Random(seed)
    b = Builder("start")
    values: list[Operand] = [_query(b, name) for name in ("tid.x", "tid.y", "ctaid.x", "laneid")]
    values += [b.emit("param", (), I32, Param("n")), constant(I32, 3)]
    for name in VARIABLES:
        b.write(name, chosen.choice(values))
    if structured:
        _statements(b, chosen, 3, [])
        b.end(Return())
    else:
        _anywhere(b, chosen)
    return Module((Function("k", True, (), (), b.finish()),))


def _query(b: Builder, name: str) -> Operand:
    return b.emit("query", (), I32, Query(name), name.replace(".", ""))


def _read(b: Builder, chosen: random.Random) -> Operand:
    return chosen.choice([b.read(chosen.choice(VARIABLES), I32), constant(I32, chosen.choice((0, 1, 2, 5, ALL)))])


def _assign(b: Builder, chosen: random.Random) -> None:
    op = chosen.choice(("add", "sub", "mul", "and", "xor", "shl", "lshr", "umin", "vote", "idx", "tid", "select"))
    x, y = _read(b, chosen), _read(b, chosen)
    if op == "vote":
        ballot = chosen.random() < 0.5
        made = b.emit(
            "vote", (_test(b, chosen),), I32 if ballot else I1, Exchange("ballot" if ballot else "any", False)
        )
        value = made if ballot else b.emit("select", (made, x, y), I32)
    elif op == "idx":
        value = b.emit("add", (b.emit("mul", (_query(b, "ctaid.x"), x), I32), _query(b, "tid.x")), I32)
    elif op == "tid":
        value = b.emit("sub", (b.emit("add", (_query(b, "tid.x"), x), I32), _query(b, "tid.x")), I32)
    elif op == "select":
        value = b.emit("select", (_test(b, chosen), x, y), I32)
    elif op == "lshr":
        value = b.emit("lshr", (_query(b, "tid.x") if chosen.random() < 0.5 else x, constant(I32, 2)), I32)
    else:
        value = b.emit(op, (x, y), I32)
    b.write(chosen.choice(VARIABLES), value)


def _test(b: Builder, chosen: random.Random) -> Operand:
    op = chosen.choice(("eq", "ne", "ult", "slt", "eq"))
    x = _read(b, chosen)
    if chosen.random() < 0.5:
        x = b.emit("and", (x, constant(I32, chosen.choice((1, 3, 4)))), I32)
    return b.emit(op, (x, _read(b, chosen)), I1)


def _statements(b: Builder, chosen: random.Random, depth: int, exits: Sequence[str]) -> None:
    """Write a run of statements; `exits` are the ends of the loops around and of their bodies, innermost last."""
    for _ in range(chosen.randint(1, 4)):
        kind = chosen.choice(("assign", "assign", "if", "loop", "leave")) if depth else "assign"
        if kind == "assign":
            _assign(b, chosen)
        elif kind == "if":
            _if(b, chosen, depth, exits)
        elif kind == "loop":
            _loop(b, chosen, depth, exits)
        elif exits:
            _leave(b, chosen, chosen.choice(exits))


def _leave(b: Builder, chosen: random.Random, target: str) -> None:
    """Leave a loop or begin its next iteration, perhaps with a number that tells this way there from others."""
    way, stay = b.fresh("way"), b.fresh("stay")
    b.end(Branch(_test(b, chosen), way, stay))
    b.start(way)
    if chosen.random() < 0.5:
        b.write(chosen.choice(VARIABLES), constant(I32, chosen.choice((0, 1, 2, 5))))
    b.end(Jump(target))
    b.start(stay)


def _if(b: Builder, chosen: random.Random, depth: int, exits: Sequence[str]) -> None:
    then, other, join = b.fresh("then"), b.fresh("else"), b.fresh("join")
    b.end(Branch(_test(b, chosen), then, other))
    for name in (then, other):
        b.start(name)
        _statements(b, chosen, depth - 1, exits)
        b.end(Jump(join))
    b.start(join)


def _loop(b: Builder, chosen: random.Random, depth: int, exits: Sequence[str]) -> None:
    head, again, done = b.fresh("head"), b.fresh("again"), b.fresh("done")
    counter = f"i{head}"
    b.write(counter, constant(I32, 0))
    b.end(Jump(head))
    b.start(head)
    _statements(b, chosen, depth - 1, [*exits, done, done, again])
    b.end(Jump(again))
    b.start(again)
    b.write(counter, b.emit("add", (b.read(counter, I32), constant(I32, 1)), I32))
    limit = chosen.choice((constant(I32, 3), b.emit("and", (_read(b, chosen), constant(I32, 3)), I32)))
    b.end(Branch(b.emit("slt", (b.read(counter, I32), limit), I1), head, done))
    b.start(done)
    if chosen.random() < 0.5:
        b.write(chosen.choice(VARIABLES), b.read(counter, I32))


def _anywhere(b: Builder, chosen: random.Random) -> None:
    names = [f"b{n}" for n in range(chosen.randint(2, 9))]
    b.end(Jump(names[0]))
    for name in names:
        b.start(name)
        for _ in range(chosen.randint(0, 2)):
            _assign(b, chosen)
        kind = chosen.random()
        if kind < 0.15:
            b.end(Return())
        elif kind < 0.35:
            b.end(Jump(chosen.choice(names)))
        else:
            b.end(Branch(_test(b, chosen), chosen.choice(names), chosen.choice(names)))
