"""Branches whose arms only compute become selects, so that what is left has as little control flow as it needs.

    before:  branch c then other                        after:   …then…  …other…
    then:    x = …   jump join                                   z = select c x y
    other:   y = …   jump join                                   …join…
    join:    z = phi then x other y

    branch a other test;  test: branch b other join          branch (a or b) other join

Both arms run then; that is harmless, as a fetch beyond a resource gives the element at its edge, and nothing else here
can fail. If-conversion (Allen, Kennedy, Porterfield and Warren, 1983), innermost branches first, arms of `MOST`
instructions at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from warpsmith.ssa.nodes import BasicBlock, Branch, Function, Instruction, Jump, Operand, Phi, Value, successors
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.types import I1

__all__ = ["MOST", "flatten_branches"]

MOST: Final = 64


def flatten_branches(function: Function) -> Function:
    """Return the function without branches whose arms only compute and load."""
    blocks = {block.name: block for block in function.blocks}
    changed = True
    while changed:
        changed = any(_change(blocks, name) for name in list(blocks) if name in blocks)
    return replace(function, blocks=tuple(blocks.values()))


def _change(blocks: dict[str, BasicBlock], name: str) -> bool:
    return _join_jump(blocks, name) or _convert(blocks, name) or _join_tests(blocks, name)


def _count_before(blocks: Mapping[str, BasicBlock]) -> dict[str, int]:
    found: dict[str, int] = dict.fromkeys(blocks, 0)
    for block in blocks.values():
        for after in set(successors(block.terminator)):
            found[after] += 1
    return found


def _join_jump(blocks: dict[str, BasicBlock], name: str) -> bool:
    """Write a block behind the only one that leads to it."""
    first = blocks[name]
    end = first.terminator
    if not isinstance(end, Jump) or end.target == name or _count_before(blocks)[end.target] != 1:
        return False
    second = blocks[end.target]
    if second.phis or end.target == next(iter(blocks)):
        return False
    blocks[name] = replace(
        first, instructions=(*first.instructions, *second.instructions), terminator=second.terminator
    )
    del blocks[second.name]
    _rename_way(blocks, second.name, name)
    return True


def _rename_way(blocks: dict[str, BasicBlock], old: str, new: str) -> None:
    """Have phis name another block that control comes from."""
    for name, block in list(blocks.items()):
        if any(way == old for phi in block.phis for way, _ in phi.incoming):
            phis = (
                replace(phi, incoming=tuple((new if way == old else way, value) for way, value in phi.incoming))
                for phi in block.phis
            )
            blocks[name] = replace(block, phis=tuple(phis))


def _convert(blocks: dict[str, BasicBlock], name: str) -> bool:
    """Make a branch that begins here selects; return whether it was one that can be."""
    block = blocks[name]
    end = block.terminator
    if not isinstance(end, Branch) or end.then == end.other:
        return False
    before = _count_before(blocks)
    ways = [_arm(blocks, before, name, target) for target in (end.then, end.other)]
    joins = [join for _, join, _ in ways]
    # an arm may be the place where both meet
    if joins[0] != joins[1]:
        ways = [
            (name, target, ()) if target == other_join else way
            for way, target, other_join in zip(ways, (end.then, end.other), reversed(joins), strict=True)
        ]
    (one, join, first), (other, other_join, second) = ways
    if join != other_join or not join or join == name or one == other or len(first) + len(second) > MOST:
        return False
    made = (*block.instructions, *first, *second)
    target = blocks[join]
    selects: list[Instruction] = []
    phis = [_select(phi, (one, other), end, selects, (name, end.condition)) for phi in target.phis]
    blocks[name] = replace(block, instructions=(*made, *selects), terminator=Jump(join, end.span))
    for arm in (one, other):
        if arm != name:
            del blocks[arm]
    alone = _count_before(blocks)[join] == 1
    values = {phi.result: phi.incoming[0][1] for phi in phis} if alone else {}
    blocks[join] = replace(target, phis=() if alone else tuple(phis))
    _substitute(blocks, values)
    return True


def _join_tests(blocks: dict[str, BasicBlock], name: str) -> bool:
    """Make two tests one, the second of which only one way of the first leads to: `a || b`, `a && b`."""
    block = blocks[name]
    end = block.terminator
    if not isinstance(end, Branch) or end.then == end.other:
        return False
    for target, shared in ((end.other, end.then), (end.then, end.other)):
        second = blocks[target]
        test = second.terminator
        if not isinstance(test, Branch) or second.phis or target == name or _count_before(blocks)[target] != 1:
            continue
        if shared not in (test.then, test.other) or test.then == test.other or name in (test.then, test.other):
            continue
        if len(second.instructions) <= MOST and all(map(_is_harmless, second.instructions)):
            _put_together(blocks, block, second, shared)
            return True
    return False


def _put_together(blocks: dict[str, BasicBlock], block: BasicBlock, second: BasicBlock, shared: str) -> None:
    """Write a test and the one behind it as one; the place `shared` is led to from both."""
    first, test = block.terminator, second.terminator
    assert isinstance(first, Branch) and isinstance(test, Branch)
    instructions = [*block.instructions, *second.instructions]

    def emit(op: str, *operands: Operand) -> Value:
        value = Value(I1)
        instructions.append(Instruction(op, operands, (value,), None, test.span))
        return value

    early = first.condition if first.then == shared else emit("not", first.condition)
    selects: list[Instruction] = []
    target = blocks[shared]
    phis = tuple(_select(phi, (block.name, second.name), first, selects, (block.name, early)) for phi in target.phis)
    blocks[shared] = replace(target, phis=phis)
    if first.other == test.other == shared:
        end = replace(test, condition=emit("and", first.condition, test.condition))
    else:
        late = test.condition if test.then == shared else emit("not", test.condition)
        other = test.other if test.then == shared else test.then
        end = replace(test, condition=emit("or", early, late), then=shared, other=other)
    blocks[block.name] = replace(block, instructions=(*instructions, *selects), terminator=end)
    del blocks[second.name]
    _rename_way(blocks, second.name, block.name)


def _arm(
    blocks: Mapping[str, BasicBlock], before: Mapping[str, int], name: str, target: str
) -> tuple[str, str, tuple[Instruction, ...]]:
    """Return the block of an arm, where it leads ("": it is none), and what it computes."""
    block = blocks[target]
    plain = not block.phis and before[target] == 1 and isinstance(block.terminator, Jump) and target != name
    if plain and isinstance(block.terminator, Jump) and all(map(_is_harmless, block.instructions)):
        return target, block.terminator.target, block.instructions
    return name, "", ()


def _is_harmless(i: Instruction) -> bool:
    return i.op == "load" or (i.op in OPS and OPS[i.op].pure and i.op != "lanewise")


def _select(phi: Phi, arms: tuple[str, str], end: Branch, selects: list[Instruction], ways: tuple[str, Operand]) -> Phi:
    """Return a phi with one way in place of the two, whose value is selected; `ways`: from where, and by what."""
    name, condition = ways
    given = dict(phi.incoming)
    one, other = (given[arm] for arm in arms)
    value: Operand = one
    if one != other:
        value = Value(phi.result.type, phi.result.name)
        selects.append(Instruction("select", (condition, one, other), (value,), None, end.span))
    rest = tuple((way, operand) for way, operand in phi.incoming if way not in arms)
    return replace(phi, incoming=(*rest, (name, value)))


def _substitute(blocks: dict[str, BasicBlock], values: Mapping[Value, Operand]) -> None:
    """Put operands in place of values everywhere."""
    if not values:
        return

    def now(operand: Operand) -> Operand:
        while isinstance(operand, Value) and operand in values:
            operand = values[operand]
        return operand

    for name, block in list(blocks.items()):
        phis = tuple(replace(p, incoming=tuple((way, now(value)) for way, value in p.incoming)) for p in block.phis)
        made = tuple(replace(i, operands=tuple(map(now, i.operands))) for i in block.instructions)
        end = block.terminator
        if isinstance(end, Branch):
            end = replace(end, condition=now(end.condition))
        blocks[name] = replace(block, phis=phis, instructions=made, terminator=end)
